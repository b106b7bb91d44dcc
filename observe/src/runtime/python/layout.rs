//! Offsets in CPython's structures. From 3.13 on the interpreter has a table of them at the beginning of `_PyRuntime`;
//! those of earlier versions are fixed per version (`Include/internal` of its sources, 64 bits).

use super::memory::{Memory, number};

/// Newest version whose structures are known.
const NEWEST: u32 = 14;

/// Offsets of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Second number of the version: 11 for 3.11.
    pub minor: u32,
    /// True if it was built to run without the lock of the interpreter.
    pub is_free_threaded: bool,
    /// In `_PyRuntime`: the first interpreter.
    pub interpreters: u64,
    pub gil: Gil,
    /// In the lock: last holder, and whether it is taken.
    pub gil_holder: u64,
    pub gil_locked: u64,
    /// In an interpreter: whether the cyclic collector runs. In `_PyRuntime` for 3.8.
    pub collecting: u64,
    pub next_interpreter: u64,
    pub threads: u64,
    pub next_thread: u64,
    /// Number of the thread for pthreads.
    pub thread_id: u64,
    /// Number of the thread for the kernel, from 3.11 on.
    pub native_id: Option<u64>,
    pub frame: FrameAt,
    /// In a frame.
    pub previous: u64,
    pub code: u64,
    /// Kind of owner of a frame; those from 3 on run no Python.
    pub owner: Option<u64>,
    /// Arguments of a frame, up to 3.10.
    pub arguments: u64,
    /// In a code object.
    pub file: u64,
    pub name: u64,
    pub qualified_name: Option<u64>,
    pub first_line: u64,
    /// Size of a text's head.
    pub ascii_head: u64,
    /// Size of the head of a text with other letters.
    pub text_head: u64,
}

/// Place of the interpreter's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gil {
    /// In `_PyRuntime`.
    Runtime(u64),
    /// Behind a pointer in the interpreter.
    Interpreter(u64),
}

/// Place of the innermost frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameAt {
    /// Behind a pointer in the thread's state.
    Thread(u64),
    /// Behind a pointer in a structure that the thread's state points to.
    Through(u64, u64),
}

const OF_3_8: Layout = Layout {
    minor: 8,
    is_free_threaded: false,
    interpreters: 32,
    gil: Gil::Runtime(1152),
    gil_holder: 8,
    gil_locked: 16,
    collecting: 544,
    next_interpreter: 0,
    threads: 8,
    next_thread: 8,
    thread_id: 176,
    native_id: None,
    frame: FrameAt::Thread(24),
    previous: 24,
    code: 32,
    owner: None,
    arguments: 360,
    file: 104,
    name: 112,
    qualified_name: None,
    first_line: 40,
    ascii_head: 48,
    text_head: 72,
};

const OF_3_9: Layout = Layout { minor: 9, gil: Gil::Runtime(352), collecting: 816, ..OF_3_8 };

const OF_3_10: Layout = Layout { minor: 10, arguments: 352, ..OF_3_9 };

const OF_3_11: Layout = Layout {
    minor: 11,
    interpreters: 40,
    gil: Gil::Runtime(360),
    collecting: 848,
    threads: 16,
    thread_id: 152,
    native_id: Some(160),
    frame: FrameAt::Through(56, 8),
    previous: 48,
    code: 32,
    owner: Some(69),
    file: 112,
    name: 120,
    qualified_name: Some(128),
    first_line: 72,
    ..OF_3_10
};

const OF_3_12: Layout = Layout {
    minor: 12,
    gil: Gil::Interpreter(384),
    collecting: 312,
    threads: 72,
    thread_id: 136,
    native_id: Some(144),
    frame: FrameAt::Through(56, 0),
    previous: 8,
    code: 0,
    owner: Some(70),
    first_line: 68,
    ascii_head: 40,
    text_head: 56,
    ..OF_3_11
};

/// First bytes of the interpreter's own table.
const COOKIE: &[u8; 8] = b"xdebugpy";
/// Words of the table that are read.
const TABLE_WORDS: usize = 84;

impl Layout {
    /// Returns the offsets for a version; `Err` names a version that is not known.
    ///
    /// @param runtime address of `_PyRuntime`
    pub fn of(minor: u32, memory: &Memory, runtime: u64) -> Result<Layout, String> {
        match minor {
            8 => Ok(OF_3_8),
            9 => Ok(OF_3_9),
            10 => Ok(OF_3_10),
            11 => Ok(OF_3_11),
            12 => Ok(OF_3_12),
            13..=NEWEST => {
                let mut table = [0; TABLE_WORDS * 8];
                memory.read(runtime, &mut table).ok_or("its table of offsets cannot be read")?;
                Layout::of_table(minor, &table).ok_or_else(|| "its table of offsets is of another form".to_owned())
            }
            _ => Err(format!("3.8 to 3.{NEWEST} are read, and it is 3.{minor}")),
        }
    }

    /// Takes the offsets out of the interpreter's own table: `_Py_DebugOffsets`.
    fn of_table(minor: u32, table: &[u8]) -> Option<Layout> {
        if table.get(..8)? != COOKIE {
            return None;
        }
        let word = |at: usize| number(table, at as u64 * 8);
        // The first words of each group. 3.14 has added to three of them.
        let (interpreter, thread, frame, code, text, collector) = match minor {
            13 => (6, 19, 28, 34, 67, 71),
            _ => (6, 22, 31, 39, 77, 81),
        };
        // In the group of the interpreter, all behind the list of threads.
        let more = usize::from(minor > 13);
        let lock = word(interpreter + 9 + more);
        let found = Layout {
            minor,
            is_free_threaded: word(2) != 0,
            interpreters: word(5),
            gil: Gil::Interpreter(word(interpreter + 8 + more)),
            gil_locked: word(interpreter + 11 + more).wrapping_sub(lock),
            gil_holder: word(interpreter + 12 + more).wrapping_sub(lock),
            collecting: word(interpreter + 4 + more).wrapping_add(word(collector + 1)),
            next_interpreter: word(interpreter + 2),
            threads: word(interpreter + 3),
            next_thread: word(thread + 2),
            thread_id: word(thread + 5),
            native_id: Some(word(thread + 6)),
            frame: FrameAt::Thread(word(thread + 4)),
            previous: word(frame + 1),
            code: word(frame + 2),
            owner: Some(word(frame + 5)),
            arguments: 0,
            file: word(code + 1),
            name: word(code + 2),
            qualified_name: Some(word(code + 3)),
            first_line: word(code + 5),
            ascii_head: word(text + 3),
            text_head: word(text + 3) + 16,
        };
        found.is_sound().then_some(found)
    }

    /// Returns true if all offsets could be some.
    fn is_sound(&self) -> bool {
        let small = [self.gil_locked, self.gil_holder, self.previous, self.code, self.file, self.name, self.first_line];
        let (FrameAt::Thread(frame) | FrameAt::Through(frame, _)) = self.frame;
        let large = [self.interpreters, self.collecting, self.threads, self.next_thread, self.thread_id, frame];
        small.iter().all(|at| *at < 1 << 10)
            && large.iter().all(|at| *at < 1 << 20)
            && self.owner.is_none_or(|at| at < 256)
            && (16..128).contains(&self.ascii_head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_table_of_an_interpreter() {
        let mut words = [0u64; TABLE_WORDS];
        words[0] = u64::from_le_bytes(*COOKIE);
        // 3.13.0, from its own memory.
        for (at, value) in [
            (5, 632),
            (8, 7264),
            (9, 7344),
            (10, 7488),
            (14, 16),
            (15, 18000),
            (17, 18016),
            (18, 18008),
            (21, 8),
            (23, 72),
            (24, 152),
            (25, 160),
            (29, 8),
            (33, 70),
            (35, 112),
            (36, 120),
            (37, 128),
            (39, 68),
            (70, 40),
            (72, 112),
        ] {
            words[at] = value;
        }
        let table: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let layout = Layout::of_table(13, &table).unwrap();
        assert_eq!((layout.gil_locked, layout.gil_holder, layout.collecting), (16, 8, 7600));
        assert_eq!((layout.code, layout.first_line, layout.native_id), (0, 68, Some(160)));
        assert!(Layout::of_table(13, &[0; TABLE_WORDS * 8]).is_none());
    }
}
