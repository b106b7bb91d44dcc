//! One measurement: under the lock of the machine, stored, compared, and sent to the hook.

use yunti_base::{Cancel, Code, Error, Result};

use crate::clock::now_ms;
use crate::collect::Collector;
use crate::compare::{Against, Comparison, Day, compare};
use crate::hook;
use crate::record::{Head, Record, State};
use crate::report::document;
use crate::store::{History, Store};

/// Records whose functions are compared: the rest of the history needs its heads alone.
const PROFILES: usize = 64;

/// Measurement that is stored.
pub struct Measured {
    pub record: Record,
    pub comparison: Comparison,
    /// Days up to this one, oldest first.
    pub days: Vec<Day>,
    /// Failure of the web hook.
    pub hook_failure: Option<String>,
    /// Error of the collector, which the record has as a note.
    pub failure: Option<Error>,
}

/// Measures a watch now. Errors: another measurement runs ([`Code::Exists`]), a store that cannot be written,
/// cancellation.
pub fn measure(
    store: &Store,
    name: &str,
    label: Option<&str>,
    due: Option<&str>,
    collector: &dyn Collector,
    cancel: &Cancel,
) -> Result<Measured> {
    let settings = store.settings(name)?;
    let history = store.history(name)?;
    let Some(lock) = store.measuring()? else {
        let error = Error::new(Code::Exists, "another measurement of this machine runs");
        return Err(error.hint("two at once would disturb one another; run it again later"));
    };
    let (mut record, failure) = match collector.collect(&settings, label, cancel) {
        Ok(record) => (record, None),
        Err(e) if e.code() == Code::Cancelled => return Err(e),
        // A record that says so shows the gap in the history.
        Err(e) => (failed(&e, label), Some(e)),
    };
    record.head.due = due.map(str::to_owned);
    if let Some(before) = last_time(&history).filter(|before| *before > record.head.time_ms) {
        let seconds = (before - record.head.time_ms) / 1000;
        record.head.notes.push(format!("the clock is {seconds} s before the last record"));
    }
    record.head.sequence = history.append(&record)?;
    // The record is safe; a failure to remove old ones must not hide it.
    let _ = history.expire(settings.keep_days);
    drop(lock);
    let days = recent_days(&history, record.head.sequence)?;
    let comparison = compare(&days, &Day::of(&record), &Against::History);
    let hook_failure = settings
        .hook
        .as_deref()
        .and_then(|url| hook::post(url, &document::verdict(name, &record.head, &comparison)).err());
    Ok(Measured { record, comparison, days, hook_failure, failure })
}

fn failed(error: &Error, label: Option<&str>) -> Record {
    let head = Head {
        time_ms: now_ms(),
        label: label.unwrap_or_default().to_owned(),
        state: State::Missing,
        notes: vec![error.to_string()],
        ..Head::default()
    };
    Record { head, ..Record::default() }
}

fn last_time(history: &History) -> Option<u64> {
    let last = *history.sequences().ok()?.last()?;
    history.head(last).ok().map(|head| head.time_ms)
}

/// Returns the days of a history up to a record: the last ones with functions, older ones without.
fn recent_days(history: &History, until: u64) -> Result<Vec<Day>> {
    let mut heads = history.heads()?;
    heads.retain(|head| head.sequence <= until);
    days_of(history, &heads, |_| false)
}

/// Returns the days of records. The last ones have functions, and the ones that `is_needed` names.
pub fn days_of(history: &History, heads: &[Head], is_needed: impl Fn(&Head) -> bool) -> Result<Vec<Day>> {
    let whole_from = heads.len().saturating_sub(PROFILES);
    let days = heads.iter().enumerate().map(|(at, head)| {
        let is_whole = at >= whole_from || is_needed(head);
        let record = match is_whole {
            true => history.read(head.sequence)?,
            false => Record { head: head.clone(), ..Record::default() },
        };
        Ok(Day::of(&record))
    });
    days.collect()
}
