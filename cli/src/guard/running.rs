//! The class that runs on each thread, and the input of its batch. Written once per batch, read by a handler on the
//! same thread.
//!
//! A note is a pointer to a name that is never freed, so a handler reads one word to get the whole name.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{Ordering, compiler_fence};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Class,
    /// Class library during loading, when its initialisers run.
    Loading,
    Input,
}

/// Name of a class, a library or an input.
pub struct Note {
    pub kind: Kind,
    pub name: Box<str>,
}

/// Copy of the thread's notes, for a handler.
#[derive(Clone, Copy)]
pub struct Now {
    pub of: Option<&'static Note>,
    pub input: Option<(&'static Note, u64)>,
    /// True for the main thread and for threads that the engine made.
    pub is_own: bool,
    /// True if Yunti's code panicked on this thread since a class was entered.
    pub has_panicked: bool,
}

struct Running {
    of: Cell<Option<&'static Note>>,
    input: Cell<Option<&'static Note>>,
    byte: Cell<u64>,
    is_own: Cell<bool>,
    has_panicked: Cell<bool>,
}

thread_local! {
    // Constant and without a destructor, so an access needs no initialisation, not even in a signal handler.
    static RUNNING: Running = const {
        Running {
            of: Cell::new(None),
            input: Cell::new(None),
            byte: Cell::new(0),
            is_own: Cell::new(false),
            has_panicked: Cell::new(false),
        }
    };
}

/// Returns the note of a name of a class, a library or an input file of the job.
pub fn intern(name: &str, kind: Kind) -> &'static Note {
    static NOTES: Mutex<BTreeMap<(Kind, String), &'static Note>> = Mutex::new(BTreeMap::new());
    let mut notes = NOTES.lock().unwrap_or_else(|e| e.into_inner());
    notes.entry((kind, name.to_string())).or_insert_with(|| Box::leak(Box::new(Note { kind, name: name.into() })))
}

/// Marks a class as running until it is dropped; then the previous class runs again.
pub struct Entered(Option<&'static Note>);

/// Notes that a class, or the loading of a library, runs on this thread from now on.
#[inline]
pub fn enter(note: &'static Note) -> Entered {
    RUNNING.with(|running| {
        let before = running.of.replace(Some(note));
        running.has_panicked.set(false);
        // A handler runs on this thread, between two instructions.
        compiler_fence(Ordering::SeqCst);
        Entered(before)
    })
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        RUNNING.with(|running| running.of.set(self.0));
    }
}

/// Notes that the batch of this thread begins at `byte` of an input file. The note stays until the next batch, because
/// folders, combiners and partitioners get the batch's records after the mapper has returned.
#[inline]
pub fn set_input(input: Option<&'static Note>, byte: u64) {
    RUNNING.with(|running| {
        running.input.set(None);
        running.byte.set(byte);
        compiler_fence(Ordering::SeqCst);
        running.input.set(input);
    });
}

/// Marks this thread as one of the engine, not of a library.
pub fn mark_thread() {
    RUNNING.with(|running| running.is_own.set(true));
}

pub fn mark_panic() {
    RUNNING.with(|running| running.has_panicked.set(true));
}

pub fn now() -> Now {
    RUNNING.with(|running| Now {
        of: running.of.get(),
        input: running.input.get().map(|input| (input, running.byte.get())),
        is_own: running.is_own.get(),
        has_panicked: running.has_panicked.get(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_nest_and_the_input_stays() {
        let (a, b) = (intern("A", Kind::Class), intern("B", Kind::Class));
        assert!(std::ptr::eq(a, intern("A", Kind::Class)) && now().of.is_none());
        set_input(Some(intern("in", Kind::Input)), 7);
        {
            let _a = enter(a);
            {
                let _b = enter(b);
                assert_eq!(&*now().of.unwrap().name, "B");
            }
            assert_eq!(&*now().of.unwrap().name, "A");
        }
        assert!(now().of.is_none() && now().input.is_some_and(|(note, byte)| &*note.name == "in" && byte == 7));
        assert!(std::thread::spawn(|| now().input.is_none() && !now().is_own).join().unwrap());
    }
}
