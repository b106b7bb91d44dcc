//! Periods to compare, from words: times or release labels.

use jiff::Zoned;
use yunti_base::{Code, Error, Result};
use yunti_record::{Entry, Period};

use crate::history::{self, Source, Span, SpanKind};

/// Days before a time that are compared with what comes after it.
const DAYS_BEFORE: u64 = 7;
const DAY_MS: u64 = 86_400_000;

/// Two periods, and how they were named.
#[derive(Clone, Debug)]
pub struct Periods {
    pub before: Period,
    pub after: Period,
    /// Words of the user: `since v812`.
    pub words: String,
}

impl Periods {
    /// Returns the time since a moment or the first slice of a release, and the days before it.
    pub fn since(text: &str, source: &Source, entries: &[Entry], now: &Zoned) -> Result<Periods> {
        let end_ms = u64::try_from(now.timestamp().as_millisecond()).unwrap_or(0);
        let boundary = match history::span(text, now) {
            // Today is compared with yesterday and the days before.
            Ok(span) if text.trim() == "yesterday" => span.to_ms,
            Ok(span) => span.from_ms,
            Err(wrong) => {
                extent(text, source, entries)?.ok_or_else(|| no_release(text, &wrong, source, entries))?.from_ms
            }
        };
        if boundary >= end_ms {
            return Err(Error::new(Code::Usage, format!("'{text}' is still to come")));
        }
        Ok(Periods {
            before: Period { from_ms: boundary.saturating_sub(DAYS_BEFORE * DAY_MS), to_ms: boundary },
            after: Period { from_ms: boundary, to_ms: end_ms },
            words: format!("since {text}"),
        })
    }

    /// Returns two periods that the user named.
    pub fn between(before: &str, after: &str, source: &Source, entries: &[Entry], now: &Zoned) -> Result<Periods> {
        let of = |text: &str| -> Result<Period> {
            match history::span(text, now) {
                Ok(Span { from_ms, to_ms, .. }) => Ok(Period { from_ms, to_ms }),
                Err(wrong) => extent(text, source, entries)?.ok_or_else(|| no_release(text, &wrong, source, entries)),
            }
        };
        let (first, second) = (of(before)?, of(after)?);
        if first.from_ms < second.to_ms && second.from_ms < first.to_ms {
            let error = Error::new(Code::Usage, format!("{before} and {after} are partly the same time"));
            return Err(error.hint("name two times, or two releases of which one came after the other"));
        }
        Ok(Periods { before: first, after: second, words: format!("between {before} and {after}") })
    }

    /// Formats a period in the local time zone.
    pub fn text(&self, period: Period, now: &Zoned) -> String {
        Span { from_ms: period.from_ms, to_ms: period.to_ms, kind: SpanKind::Range }.text(now.time_zone())
    }
}

/// Returns the time from the first to the last slice of a release; `None` without any.
fn extent(release: &str, source: &Source, entries: &[Entry]) -> Result<Option<Period>> {
    let mut extent: Option<Period> = None;
    for entry in entries {
        // Removed, or damaged: others tell.
        let Ok(facts) = source.facts(entry) else { continue };
        if facts.service.release != release {
            continue;
        }
        let known = extent.get_or_insert(Period { from_ms: entry.begin_ms, to_ms: entry.end_ms() });
        known.from_ms = known.from_ms.min(entry.begin_ms);
        known.to_ms = known.to_ms.max(entry.end_ms());
    }
    Ok(extent)
}

fn no_release(text: &str, wrong: &str, source: &Source, entries: &[Entry]) -> Error {
    let mut releases: Vec<String> = Vec::new();
    for facts in entries.iter().rev().filter_map(|entry| source.facts(entry).ok()) {
        if !facts.service.release.is_empty() && !releases.contains(&facts.service.release) {
            releases.push(facts.service.release);
        }
    }
    releases.truncate(8);
    match &releases[..] {
        [] => Error::new(Code::Usage, wrong.to_owned()),
        known => Error::new(Code::Input, format!("'{text}' is no release in the store, and no time"))
            .hint(format!("the releases are {}", known.join(", "))),
    }
}
