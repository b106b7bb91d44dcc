//! Edit log rules: handlers that wait for the disk, and slow journals.

use super::report::{Advice, Confidence, ConfigFile, Line, Report};
use super::sample::MetricsSample;
use super::settings::Settings;

const ASYNC: &str = "dfs.namenode.edits.asynclogging";
/// Changes per second.
const WRITES_MIN: f64 = 100.0;
/// Milliseconds of a sync; an otherwise idle disk takes less, even a rotating one.
const SYNC_MS_MAX: f64 = 20.0;

pub fn judge(settings: &Settings, sample: &MetricsSample, report: &mut Report) {
    let Some((count, ms)) = sample.syncs().filter(|_| sample.is_active()) else { return };
    let figure = format!("{count:.0} syncs of the edit log in {:.0} s, {ms:.1} ms each", sample.seconds);
    if let Some(writes) = sample.transactions_per_second().filter(|writes| *writes >= WRITES_MIN)
        && !settings.is(ASYNC, true)
    {
        report.add(Advice {
            name: "async-edits",
            change: "Write the edit log in its own thread".to_owned(),
            confidence: Confidence::Certain,
            figures: vec![format!("{writes:.0} changes a second; {ASYNC} is false"), figure.clone()],
            why: "Without it each handler waits for the disk after a change, and serves no other call.".to_owned(),
            brings: "handlers are free during a sync, and each sync covers more changes. It is stock's default"
                .to_owned(),
            lines: vec![Line::property(ConfigFile::HdfsSite, ASYNC, true)],
        });
    }
    if ms > SYNC_MS_MAX {
        let mut figures = vec![figure];
        figures.extend(
            sample.journals().map(|(times, syncs)| {
                format!("since the start {syncs:.0} syncs; total time of each journal: {times} ms")
            }),
        );
        report.add(Advice {
            name: "slow-journal",
            change: "Give the edit log its own disk, or replace the slow journal".to_owned(),
            confidence: Confidence::Likely,
            figures,
            why: "A change has its response once all journals, or most JournalNodes, have it on disk; the slowest \
                counts."
                .to_owned(),
            brings: format!("responses to writes come up to {ms:.0} ms earlier"),
            lines: vec![Line::property(ConfigFile::HdfsSite, "dfs.namenode.edits.dir", "file:///A/DISK/OF/ITS/OWN")],
        });
    }
}
