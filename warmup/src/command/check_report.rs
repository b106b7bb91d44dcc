//! Report of a check: its facts for `--json`, and its text with a table of the starts.

use std::path::PathBuf;

use serde::Serialize;
use yunti_program::terminal::paint;
use yunti_program::text::numbers::{count, milliseconds, seconds, several, three};
use yunti_program::text::table::{Side, Table};

use crate::java::archive::Kind;
use crate::measure::classes::Classes;
use crate::measure::first_seconds::FirstSeconds;

/// Result of a check.
#[derive(Debug, Serialize)]
pub struct Check {
    pub profile: PathBuf,
    /// Archive of the profile: `aot-cache`, `app-cds`, or null with a reason.
    pub archive: Option<Kind>,
    pub no_archive: String,
    /// Reason why the archive does not fit, or null.
    pub stale: Option<String>,
    /// Classes of a start with the archive.
    pub classes: Option<Classes>,
    /// True if classes came from the archive; null if that was not tried.
    pub used: Option<bool>,
    pub rate_per_s: f64,
    pub seconds: f64,
    pub rounds: Vec<Round>,
}

/// Starts of one round.
#[derive(Debug, Serialize)]
pub struct Round {
    pub plain: FirstSeconds,
    /// With the archive alone, or null.
    pub archive: Option<FirstSeconds>,
    pub applied: FirstSeconds,
    /// Report of the gate on its replay, or null.
    pub replay: Option<serde_json::Value>,
}

/// Returns the text of a check.
pub fn text(check: &Check) -> String {
    let mut out = format!("Profile: {}\n", check.profile.display());
    out += &archive(check);
    if let Some(classes) = &check.classes {
        out += &format!(
            "Classes: {} from the archive, {} from jars and modules, {} made while it runs\n",
            count(classes.archived as u64),
            count(classes.from_files as u64),
            count(classes.made as u64)
        );
        if let Some((source, n)) = classes.most_from.as_ref().filter(|(_, n)| *n > classes.archived / 10) {
            out += &format!(
                "         {} of them from {source}: no archive holds classes of a class loader of one's own\n",
                count(*n as u64)
            );
        }
    }
    if !check.rounds.is_empty() {
        out += &starts(check);
    }
    out
}

fn archive(check: &Check) -> String {
    let Some(kind) = check.archive else { return format!("Archive: none: {}\n", check.no_archive) };
    let name = kind.name();
    match (&check.stale, check.used) {
        (Some(why), _) => format!("Archive: {name}, not valid: {why}\n"),
        (None, Some(false)) => {
            format!("Archive: {name}, valid by its stamps, but the JVM did not use it: record the profile again\n")
        }
        (None, _) => format!("Archive: {name}, valid and used\n"),
    }
}

/// Figures of a start: the name, the value, and how it is written.
type Figure = (&'static str, fn(&FirstSeconds) -> f64, fn(f64) -> String);

const FIGURES: [Figure; 7] = [
    ("port opens", |s| s.open_s, seconds),
    ("first answer", |s| s.first_answer_s, seconds),
    ("CPU until then", |s| s.cpu_s, seconds),
    ("first request", |s| s.first_ms, milliseconds),
    ("p50", |s| s.p50_ms, milliseconds),
    ("p99", |s| s.p99_ms, milliseconds),
    ("CPU under load", |s| s.cpu_loaded_s, seconds),
];

fn starts(check: &Check) -> String {
    let mut out = format!(
        "\n{} in turn, {} requests a second for {} from the open port; medians:\n\n",
        several(check.rounds.len() as u64, "round"),
        three(check.rate_per_s),
        seconds(check.seconds)
    );
    let columns = [("", Side::Left), ("plain", Side::Right), ("archive", Side::Right), ("ratio", Side::Right)];
    let mut table = Table::new(&[&columns[..], &[("applied", Side::Right), ("ratio", Side::Right)]].concat());
    for (name, value, write) in FIGURES {
        let cells = |pick: fn(&Round) -> Option<&FirstSeconds>| {
            let starts: Vec<_> = check.rounds.iter().filter_map(|round| Some((&round.plain, pick(round)?))).collect();
            let ratios = starts.iter().map(|(plain, other)| value(other) / value(plain)).collect();
            match starts.is_empty() {
                true => [String::new(), String::new()],
                false => [
                    write(median(starts.iter().map(|(_, other)| value(other)).collect())),
                    format!("{:.2}", median(ratios)),
                ],
            }
        };
        let [plain, _] = cells(|round| Some(&round.plain));
        let (archive, applied) = (cells(|round| round.archive.as_ref()), cells(|round| Some(&round.applied)));
        table.row([name.into(), plain].into_iter().chain(archive).chain(applied).collect());
    }
    out += &table.print(paint::for_stdout());
    let failed: usize = check.rounds.iter().map(|round| round.plain.failed + round.applied.failed).sum();
    if failed > 0 {
        out += &format!("\n  {} failed\n", several(failed as u64, "request"));
    }
    let replays: Vec<f64> =
        check.rounds.iter().filter_map(|round| round.replay.as_ref()?.get("seconds")?.as_f64()).collect();
    if !replays.is_empty() {
        out += &format!("\n  The replay held the port for {} of each applied start.\n", seconds(median(replays)));
    }
    out
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        n if n % 2 == 0 => (values[middle - 1] + values[middle]) / 2.0,
        _ => values[middle],
    }
}
