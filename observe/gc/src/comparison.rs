//! Comparison of two logs, before and after a change.

use crate::model::event::Kind;
use crate::model::log::Log;
use crate::summary::Summary;

/// Difference of the allocation rates from which on two logs are of different loads.
const SAME_LOAD: f64 = 0.3;

/// Unit of a compared value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Share of one.
    Share,
    Milliseconds,
    Bytes,
    BytesPerSecond,
    PerMinute,
}

/// Value in both logs, as far as they name it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: &'static str,
    pub unit: Unit,
    pub before: Option<f64>,
    pub after: Option<f64>,
}

/// Comparison of two logs.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub rows: Vec<Row>,
    /// Sentence about the change.
    pub sentence: String,
}

impl Comparison {
    pub fn of(before: (&Log, &Summary), after: (&Log, &Summary)) -> Comparison {
        let row = |name, unit, value: fn(&Log, &Summary) -> Option<f64>| Row {
            name,
            unit,
            before: value(before.0, before.1),
            after: value(after.0, after.1),
        };
        let rows = vec![
            row("pauses, share of the time", Unit::Share, |_, s| timed(s, s.pause_share())),
            row("pauses", Unit::PerMinute, |_, s| timed(s, per_minute(s, s.pauses.count))),
            row("young collections", Unit::PerMinute, |_, s| {
                let count = [Kind::Young, Kind::ConcurrentStart, Kind::PrepareMixed].map(|kind| s.of_kind(kind).count);
                timed(s, per_minute(s, count.iter().sum()))
            }),
            row("full collections", Unit::PerMinute, |_, s| timed(s, per_minute(s, s.of_kind(Kind::Full).count))),
            row("longest pause", Unit::Milliseconds, |_, s| paused(s, s.pauses.max_ms)),
            row("median pause", Unit::Milliseconds, |_, s| paused(s, s.percentiles_ms[0])),
            row("90 % of pauses below", Unit::Milliseconds, |_, s| paused(s, s.percentiles_ms[1])),
            row("99 % of pauses below", Unit::Milliseconds, |_, s| paused(s, s.percentiles_ms[2])),
            row("left to the program in the worst 200 ms", Unit::Share, |_, s| s.utilization[1]),
            row("left to the program in the worst second", Unit::Share, |_, s| s.utilization[2]),
            row("allocation", Unit::BytesPerSecond, |_, s| s.allocation),
            row("promotion", Unit::BytesPerSecond, |_, s| s.promotion),
            row("live set", Unit::Bytes, |_, s| s.live.map(|live| live.bytes as f64)),
            row("largest heap", Unit::Bytes, |_, s| (s.heap_max > 0).then_some(s.heap_max as f64)),
            row("allocation stalls", Unit::Milliseconds, |_, s| (s.stalls.count > 0).then_some(s.stalls.total_ms)),
            row("other stops, share of the time", Unit::Share, |_, s| {
                (!s.stops.is_empty()).then(|| s.share(s.other_stops().total_ms))
            }),
        ];
        let rows: Vec<Row> = rows.into_iter().filter(|row| row.before.is_some() || row.after.is_some()).collect();
        Comparison { sentence: sentence(before.1, after.1), rows }
    }
}

fn timed(summary: &Summary, value: f64) -> Option<f64> {
    (summary.seconds > 0.0).then_some(value)
}

fn paused(summary: &Summary, value: f64) -> Option<f64> {
    (summary.pauses.count > 0).then_some(value)
}

fn per_minute(summary: &Summary, count: u64) -> f64 {
    count as f64 * 60.0 / summary.seconds.max(1e-9)
}

fn sentence(before: &Summary, after: &Summary) -> String {
    let percent = |s: &Summary| format!("{:.2} %", s.pause_share() * 100.0);
    let ms = |s: &Summary| yunti_program::text::numbers::milliseconds(s.pauses.max_ms);
    let mut text = if before.seconds > 0.0 && after.seconds > 0.0 {
        format!("pauses take {} of the time instead of {}, ", percent(after), percent(before))
    } else {
        String::new()
    };
    text += &format!("the longest {} instead of {}", ms(after), ms(before));
    if let Some((a, b)) = before.allocation.zip(after.allocation) {
        let ratio = b / a;
        if !(1.0 / (1.0 + SAME_LOAD)..=1.0 + SAME_LOAD).contains(&ratio) {
            text += &format!(
                "; the loads differ: the program allocates {:.0} MB a second instead of {:.0}",
                b / 1e6,
                a / 1e6
            );
        }
    }
    text
}
