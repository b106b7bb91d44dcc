//! The edit log: who waits for the disk, and how long.

use super::report::{Advice, Line, Place, Report, Sure};
use super::seen::Seen;
use super::settings::Settings;

const ASYNC: &str = "dfs.namenode.edits.asynclogging";
const WRITES_MIN: f64 = 100.0;
/// A sync of a disk that has nothing else to do takes less, also one that turns.
const SYNC_MS_MAX: f64 = 20.0;

pub fn judge(settings: &Settings, seen: &Seen, report: &mut Report) {
    let Some((count, ms)) = seen.syncs().filter(|_| seen.is_active()) else { return };
    let figure = format!("{count:.0} waits for the disk in {:.0} s, {ms:.1} ms each", seen.seconds);
    if let Some(writes) = seen.transactions_per_second().filter(|writes| *writes >= WRITES_MIN)
        && !settings.is(ASYNC, true)
    {
        report.add(Advice {
            name: "async-edits",
            change: "Let a thread of its own write the edit log".to_owned(),
            sure: Sure::Certain,
            seen: vec![format!("{writes:.0} changes a second; {ASYNC} is false"), figure.clone()],
            why: "Else each handler that changes something waits for the disk, and does nothing meanwhile.".to_owned(),
            brings: "handlers are free while the disk works; more changes go with each sync. It is stock's default"
                .to_owned(),
            lines: vec![Line::property(Place::HdfsSite, ASYNC, true)],
        });
    }
    if ms > SYNC_MS_MAX {
        let mut figures = vec![figure];
        figures.extend(
            seen.journals()
                .map(|(times, syncs)| format!("since the start {syncs:.0} syncs; of each journal: {times} ms")),
        );
        report.add(Advice {
            name: "slow-journal",
            change: "Give the edit log a disk of its own, or look for the slow journal".to_owned(),
            sure: Sure::Likely,
            seen: figures,
            why: "A change is answered when all journals, or most JournalNodes, have it on disk; the slowest counts."
                .to_owned(),
            brings: format!("writes are answered up to {ms:.0} ms earlier"),
            lines: vec![Line::property(Place::HdfsSite, "dfs.namenode.edits.dir", "file:///A/DISK/OF/ITS/OWN")],
        });
    }
}
