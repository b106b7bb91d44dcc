//! Map of a dump: its top-level records, found by one walk over their headers.
//!
//! ```text
//!   "JAVA PROFILE 1.0.2\0" | u4 bytes of an id | u8 time      then records: u1 tag | u4 time | u4 length | body
//! ```
//!
//! Strings stay in the file: only their places are kept, because few of them are class or field names. A length of zero
//! is what a JVM leaves that died while it wrote; the segment then reaches to the end of the file.

use std::collections::HashMap;

use yunti_base::{Code, Error, Result};

use super::source::Source;

const STRING: u8 = 0x01;
const LOAD_CLASS: u8 = 0x02;
const STACK_FRAME: u8 = 0x04;
const STACK_TRACE: u8 = 0x05;
const HEAP_DUMP: u8 = 0x0c;
const HEAP_DUMP_SEGMENT: u8 = 0x1c;
const HEAP_DUMP_END: u8 = 0x2c;
const HEADER_BYTES: usize = 9;
/// Bytes read at once by the walk.
const WINDOW_BYTES: usize = if cfg!(debug_assertions) { 64 } else { 1 << 16 };
/// Bytes of a string that are read; longer names are cut.
const NAME_BYTES_MAX: u32 = 4096;

/// Part of the file with records of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Offset of the first record.
    pub begin: u64,
    /// Offset behind the last record.
    pub end: u64,
}

/// Frame of a thread's stack.
#[derive(Clone, Copy, Debug)]
pub struct StackFrame {
    /// Id of the method's name.
    pub method: u64,
    /// Id of the source file's name.
    pub source: u64,
    /// Serial number of the class.
    pub class: u32,
    /// Line; zero and less if unknown.
    pub line: i32,
}

/// Top-level records of a dump.
#[derive(Default)]
pub struct DumpMap {
    /// Bytes of an id: 4 or 8.
    pub id_bytes: usize,
    /// Time of the dump in milliseconds since 1970.
    pub time_ms: u64,
    /// Places of strings by id: offset and length.
    strings: HashMap<u64, (u64, u32)>,
    /// Ids of names by id of the class.
    pub class_names: HashMap<u64, u64>,
    /// Ids of classes by serial number.
    pub classes_by_serial: HashMap<u32, u64>,
    /// Frames by id.
    pub frames: HashMap<u64, StackFrame>,
    /// Frames of stack traces by serial number, innermost first.
    pub traces: HashMap<u32, Vec<u64>>,
    /// Segments of the heap, in the order of the file.
    pub segments: Vec<Segment>,
    /// Remarks about missing parts.
    pub notes: Vec<String>,
}

impl DumpMap {
    /// Walks the top-level records.
    pub fn read(source: &Source) -> Result<DumpMap> {
        let mut window = Window { source, bytes: vec![0; WINDOW_BYTES], begin: 0, filled: 0 };
        let (id_bytes, time_ms, mut at) = header(&mut window)?;
        let mut map = DumpMap { id_bytes, time_ms, ..DumpMap::default() };
        let mut is_open = false;
        while let Some(head) = window.get(at, HEADER_BYTES)? {
            let tag = head[0];
            let length = u64::from(be32(&head[5..]));
            let begin = at + HEADER_BYTES as u64;
            let mut end = begin + length;
            let is_heap = matches!(tag, HEAP_DUMP | HEAP_DUMP_SEGMENT);
            if is_heap && is_unfinished(&mut window, tag, begin, length)? {
                end = source.bytes();
                map.notes.push(format!(
                    "The dump has no length for its segment at byte {at}: its writer did not finish. The segment is \
                     read to the end of the file."
                ));
            }
            if end > source.bytes() {
                map.notes.push(format!(
                    "The dump is cut at byte {}: {} bytes of its last segment are missing, and all behind it. Totals are \
                     of what is there.",
                    source.bytes(),
                    end - source.bytes()
                ));
                end = source.bytes();
            }
            match tag {
                HEAP_DUMP | HEAP_DUMP_SEGMENT => {
                    is_open = tag == HEAP_DUMP_SEGMENT;
                    map.segments.push(Segment { begin, end });
                }
                HEAP_DUMP_END if !map.segments.is_empty() => {
                    is_open = false;
                    break;
                }
                STRING | LOAD_CLASS | STACK_FRAME | STACK_TRACE => map.add(&mut window, tag, begin, end)?,
                _ if is_known(tag) => {}
                _ => {
                    map.notes.push(format!(
                        "The dump is damaged at byte {at}: no record begins with {tag:#04x}. What comes before is \
                         analysed."
                    ));
                    break;
                }
            }
            at = end;
        }
        if is_open && map.notes.is_empty() {
            map.notes.push(format!(
                "The dump is cut at byte {}: the record of its end is missing. Totals are of what is there.",
                source.bytes()
            ));
        }
        if map.segments.is_empty() {
            let what = match source.note {
                Some(_) => "the compressed dump is cut or damaged before its first heap segment",
                None => "the dump has no heap segment",
            };
            return Err(source.corrupt(what, at).hint("write it again, for example with `jcmd PID GC.heap_dump FILE`"));
        }
        Ok(map)
    }

    fn add(&mut self, window: &mut Window, tag: u8, begin: u64, end: u64) -> Result<()> {
        let id_bytes = self.id_bytes;
        let length = end - begin;
        let fixed = match tag {
            STRING => id_bytes,
            LOAD_CLASS => 8 + 2 * id_bytes,
            STACK_FRAME => 8 + 4 * id_bytes,
            _ => 12,
        };
        if length < fixed as u64 {
            return Ok(());
        }
        let Some(body) = window.get(begin, fixed)? else { return Ok(()) };
        let id = |at: usize| be_id(&body[at..], id_bytes);
        match tag {
            STRING => {
                let bytes = (length - id_bytes as u64).min(u64::from(NAME_BYTES_MAX)) as u32;
                self.strings.insert(id(0), (begin + id_bytes as u64, bytes));
            }
            LOAD_CLASS => {
                self.classes_by_serial.insert(be32(body), id(4));
                self.class_names.insert(id(4), id(8 + id_bytes));
            }
            STACK_FRAME => {
                let frame = StackFrame {
                    method: id(id_bytes),
                    source: id(3 * id_bytes),
                    class: be32(&body[4 * id_bytes..]),
                    line: be32(&body[4 * id_bytes + 4..]) as i32,
                };
                self.frames.insert(id(0), frame);
            }
            _ => {
                let serial = be32(body);
                let count = u64::from(be32(&body[8..])).min((length - 12) / id_bytes as u64);
                let mut frames = Vec::new();
                for i in 0..count {
                    let Some(frame) = window.get(begin + 12 + i * id_bytes as u64, id_bytes)? else { break };
                    frames.push(be_id(frame, id_bytes));
                }
                self.traces.insert(serial, frames);
            }
        }
        Ok(())
    }

    /// Returns a string by its id, or `None` if the dump has none.
    pub fn string(&self, source: &Source, id: u64) -> Result<Option<String>> {
        let Some(&(at, bytes)) = self.strings.get(&id) else { return Ok(None) };
        let mut text = vec![0; bytes as usize];
        let read = source.read_at(at, &mut text)?;
        text.truncate(read);
        Ok(Some(String::from_utf8_lossy(&text).into_owned()))
    }
}

/// Window over the file that moves forward.
struct Window<'a> {
    source: &'a Source,
    bytes: Vec<u8>,
    begin: u64,
    filled: usize,
}

impl Window<'_> {
    /// Returns `count` bytes at `at`, or `None` if the file ends before.
    fn get(&mut self, at: u64, count: usize) -> Result<Option<&[u8]>> {
        let inside = at >= self.begin && at + count as u64 <= self.begin + self.filled as u64;
        if !inside {
            self.begin = at;
            self.filled = self.source.read_at(at, &mut self.bytes)?;
            if self.filled < count {
                return Ok(None);
            }
        }
        let from = (at - self.begin) as usize;
        Ok(Some(&self.bytes[from..from + count]))
    }
}

fn header(window: &mut Window) -> Result<(usize, u64, u64)> {
    const VERSIONS: [&[u8]; 3] = [b"JAVA PROFILE 1.0.1\0", b"JAVA PROFILE 1.0.2\0", b"JAVA PROFILE 1.0\0"];
    let wrong = |what: &str| {
        Error::new(Code::Input, what)
            .at_path(window.source.path())
            .hint("give a dump of `jcmd PID GC.heap_dump FILE` or `jmap -dump:format=b,file=FILE PID`")
    };
    let not_a_dump = wrong("is no heap dump of a JVM (hprof)");
    let wrong_ids = wrong("is a heap dump with ids of neither 4 nor 8 bytes");
    for version in VERSIONS {
        let all = version.len() + 12;
        let Some(head) = window.get(0, all)? else { continue };
        if head.starts_with(version) {
            let id_bytes = be32(&head[version.len()..]) as usize;
            let time_ms = be_id(&head[version.len() + 4..], 8);
            return if matches!(id_bytes, 4 | 8) { Ok((id_bytes, time_ms, all as u64)) } else { Err(wrong_ids) };
        }
    }
    Err(not_a_dump)
}

/// Returns true for a segment without a length that does not end where its header says.
fn is_unfinished(window: &mut Window, tag: u8, begin: u64, length: u64) -> Result<bool> {
    let end = window.source.bytes();
    // JDK 6 writes one record, whose length wraps at 4 GiB.
    let left = end.saturating_sub(begin);
    if tag == HEAP_DUMP && left >= 1 << 32 && (left - length).is_multiple_of(1 << 32) {
        return Ok(true);
    }
    if length > 0 || begin >= end {
        return Ok(false);
    }
    let next = window.get(begin, HEADER_BYTES)?;
    Ok(next.is_none_or(|head| !matches!(head[0], HEAP_DUMP | HEAP_DUMP_SEGMENT | HEAP_DUMP_END)))
}

fn is_known(tag: u8) -> bool {
    matches!(tag, 0x01..=0x07 | 0x0a..=0x0e | HEAP_DUMP_SEGMENT | HEAP_DUMP_END)
}

/// Returns the first four bytes as a number.
pub fn be32(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |four| u32::from_be_bytes(*four))
}

/// Returns the id at the beginning of `bytes`.
#[inline]
pub fn be_id(bytes: &[u8], id_bytes: usize) -> u64 {
    if id_bytes == 8 {
        bytes.first_chunk().map_or(0, |eight| u64::from_be_bytes(*eight))
    } else {
        u64::from(be32(bytes))
    }
}
