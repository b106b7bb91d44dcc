//! Loop of `yunti watch daemon`: measures what is due, one after another, until a signal.

use std::time::Duration;

use jiff::Zoned;
use yunti_base::{Cancel, Code, Result};

use super::due::due_date;
use super::measure::{Measured, measure};
use crate::clock::wait;
use crate::collect::Collector;
use crate::store::Store;

/// Time between two readings of the clock. It is short against a time of day, and long against its cost.
const EVERY: Duration = Duration::from_secs(5);
/// Last records that are searched for a date.
const SEARCHED: usize = 60;

/// Measures what is due until cancellation, or once. `report` gets the name of each watch and its result. An error of
/// one watch does not end the loop.
pub fn run(
    store: &Store,
    collector: &dyn Collector,
    is_once: bool,
    cancel: &Cancel,
    report: &mut dyn FnMut(&str, &Result<Measured>),
) -> Result<()> {
    loop {
        for name in store.names()? {
            let due = store.settings(&name).and_then(|settings| {
                let history = store.history(&name)?;
                let last = history.sequences()?.into_iter().rev().take(SEARCHED);
                Ok(due_date(&settings, last.filter_map(|n| history.head(n).ok()), &Zoned::now()))
            });
            let result = match due {
                Ok(None) => continue,
                Ok(Some(date)) => measure(store, &name, None, Some(&date), collector, cancel),
                Err(e) => Err(e),
            };
            cancel.check()?;
            // Another process measures; the watch stays due.
            if !is_once && result.as_ref().is_err_and(|e| e.code() == Code::Exists) {
                continue;
            }
            report(&name, &result);
        }
        if is_once {
            return Ok(());
        }
        wait(EVERY, cancel)?;
    }
}
