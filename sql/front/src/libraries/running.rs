//! The function of a class library that runs on each thread, for a handler that runs on the same thread.

use std::cell::Cell;
use std::sync::atomic::{Ordering, compiler_fence};

thread_local! {
    // Constant and without a destructor, so an access needs no initialisation, not even in a signal handler.
    static RUNNING: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Marks a function as running until it is dropped.
pub struct Entered(Option<&'static str>);

/// Notes that a function runs on this thread from now on.
pub fn enter(name: &'static str) -> Entered {
    let before = RUNNING.replace(Some(name));
    // A handler runs on this thread, between two instructions.
    compiler_fence(Ordering::SeqCst);
    Entered(before)
}

impl Drop for Entered {
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        RUNNING.set(self.0);
    }
}

/// Returns the function that runs on this thread.
pub fn now() -> Option<&'static str> {
    RUNNING.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_nest() {
        assert_eq!(now(), None);
        let outer = enter("A.a");
        drop(enter("B.b"));
        assert_eq!(now(), Some("A.a"));
        drop(outer);
        assert_eq!(now(), None);
    }
}
