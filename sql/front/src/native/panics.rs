//! Panics of DataFusion's functions as errors of one line. Some functions panic for values that they do not expect, as
//! `rpad` for a negative length of a column.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use yunti_base::error::of_panic;
use yunti_base::{Code, Error, Result};

static HOOK: Once = Once::new();

thread_local! {
    /// True while this thread runs a function whose panic becomes an error.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Returns what `f` returns, or `Invalid` if it panics. The hook of panics prints nothing for it.
pub fn caught<T>(f: impl FnOnce() -> Result<T>) -> Result<T> {
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_CAUGHT.get() {
                before(panic);
            }
        }));
    });
    let outer = IS_CAUGHT.replace(true);
    let done = catch_unwind(AssertUnwindSafe(f));
    IS_CAUGHT.set(outer);
    done.unwrap_or_else(|panic| {
        let text = of_panic(&*panic).what().replace("a task panicked: ", "");
        let line = text.lines().next().unwrap_or_default();
        Err(Error::new(Code::Invalid, format!("the function has no result for some of its arguments ({line})")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let error = caught(|| -> Result<()> { panic!("capacity overflow\nmore") }).unwrap_err();
        assert_eq!(error.what(), "the function has no result for some of its arguments (capacity overflow)");
        assert_eq!(caught(|| Ok(1)).unwrap(), 1);
        assert!(!IS_CAUGHT.get());
    }
}
