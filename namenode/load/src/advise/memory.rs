//! The heap: is it large enough for the name space, and does collecting it stop calls?

use super::report::{Advice, Line, Place, Report, Sure};
use super::seen::Seen;
use super::settings::Settings;

/// "1 GB of heap for each million blocks": Cloudera, *Sizing NameNode Heap Memory*, and Cloudera Manager's default; a million files without blocks need less.
const BYTES_PER_BLOCK: f64 = 1_000.0;
const GB: f64 = (1u64 << 30) as f64;
const LIVE_SHARE_MAX: f64 = 0.75;
const GC_SHARE_MAX: f64 = 0.05;
/// Above it one thread, or one that stops all, takes seconds.
const OLD_COLLECTOR_BYTES_MAX: f64 = 8.0 * GB;
const PAUSE_MS_MAX: f64 = 1_000.0;

pub fn judge(_: &Settings, seen: &Seen, report: &mut Report) {
    let Some(max) = seen.heap_max_bytes() else {
        report.unseen("the heap: java.lang:type=Memory is not told");
        return;
    };
    let collectors = seen.collectors();
    let share: f64 = collectors.iter().map(|(_, share, _)| share).sum();
    let needed = seen.blocks().max(seen.files()) * BYTES_PER_BLOCK;
    let live = seen.heap_live_bytes();
    let is_full = live.is_some_and(|live| live > max * LIVE_SHARE_MAX);
    let is_small = needed > max;
    if is_full || is_small || share > GC_SHARE_MAX {
        let wanted =
            (needed.max(live.unwrap_or(0.0) / 0.5).max(max * if share > GC_SHARE_MAX { 2.0 } else { 1.0 }) / GB).ceil();
        let mut figures =
            vec![format!("{:.1} GB of heap for {:.0} files and {:.0} blocks", max / GB, seen.files(), seen.blocks())];
        figures.extend(live.map(|live| {
            format!("{:.0} % of it were in use after the last collection of old objects", live / max * 100.0)
        }));
        figures.push(format!("the world was stopped {:.1} % of the time", share * 100.0));
        report.add(Advice {
            name: "heap",
            change: format!("Give it {wanted:.0} GB of heap"),
            sure: if is_full || share > GC_SHARE_MAX { Sure::Certain } else { Sure::Likely },
            seen: figures,
            why: "The whole name space is in the heap; the guides' rule is 1 GB for each million blocks, and collectors need room.".to_owned(),
            brings: format!("up to {:.0} % of the time, and no end by OutOfMemoryError", share * 100.0),
            lines: vec![heap_line(&format!("-Xms{wanted:.0}g -Xmx{wanted:.0}g"))],
        });
    }
    collector(seen, max, &collectors, report);
}

fn heap_line(options: &str) -> Line {
    Line { place: Place::HadoopEnv, text: format!("export HDFS_NAMENODE_OPTS=\"$HDFS_NAMENODE_OPTS {options}\"") }
}

fn collector(seen: &Seen, max: f64, collectors: &[(String, f64, f64)], report: &mut Report) {
    let is_old = collectors.iter().any(|(name, ..)| name.starts_with("PS ") || name == "MarkSweepCompact");
    let worst = collectors.iter().map(|(.., ms)| *ms).fold(0.0, f64::max);
    let long = seen.long_pauses().unwrap_or(0.0);
    if !is_old || (max < OLD_COLLECTOR_BYTES_MAX && worst < PAUSE_MS_MAX && long == 0.0) {
        return;
    }
    let names: Vec<&str> = collectors.iter().map(|(name, ..)| name.as_str()).collect();
    report.add(Advice {
        name: "collector",
        change: "Collect the heap by G1".to_owned(),
        sure: Sure::Likely,
        seen: vec![
            format!("{:.1} GB are collected by {}", max / GB, names.join(" and ")),
            format!("a collection took {worst:.0} ms; {long:.0} pauses of 10 s and more since the start"),
        ],
        why: "These collectors stop all calls while they look at the whole heap, seconds for each 10 GB.".to_owned(),
        brings: "pauses of tenths of a second in place of seconds, for some percent of processor time".to_owned(),
        lines: vec![heap_line("-XX:+UseG1GC")],
    });
}
