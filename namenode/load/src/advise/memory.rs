//! Heap rules: a heap too small for the name space, and a collector that pauses for long.

use super::report::{Advice, Confidence, ConfigFile, Line, Report};
use super::sample::MetricsSample;
use super::settings::Settings;

/// Bytes of heap; "1 GB of heap for each million blocks" (Cloudera, *Sizing NameNode Heap Memory*, and Cloudera
/// Manager's default). A million files without blocks need less.
const BYTES_PER_BLOCK: f64 = 1_000.0;
const GB: f64 = (1u64 << 30) as f64;
/// Share of the heap in use after a collection of the old generation.
const LIVE_SHARE_MAX: f64 = 0.75;
/// Share of the time in collections that stop all threads.
const GC_SHARE_MAX: f64 = 0.05;
/// Bytes of heap; above it a collector with one thread, or one that stops all threads, takes seconds.
const OLD_COLLECTOR_BYTES_MAX: f64 = 8.0 * GB;
/// Milliseconds of a collection.
const PAUSE_MS_MAX: f64 = 1_000.0;

pub fn judge(_: &Settings, sample: &MetricsSample, report: &mut Report) {
    let Some(max) = sample.heap_max_bytes() else {
        report.not_checked("the heap: /jmx has no java.lang:type=Memory");
        return;
    };
    let collectors = sample.collectors();
    let share: f64 = collectors.iter().map(|(_, share, _)| share).sum();
    let needed = sample.blocks().max(sample.files()) * BYTES_PER_BLOCK;
    let live = sample.heap_live_bytes();
    let is_full = live.is_some_and(|live| live > max * LIVE_SHARE_MAX);
    let is_small = needed > max;
    if is_full || is_small || share > GC_SHARE_MAX {
        let wanted =
            (needed.max(live.unwrap_or(0.0) / 0.5).max(max * if share > GC_SHARE_MAX { 2.0 } else { 1.0 }) / GB).ceil();
        let mut figures = vec![format!(
            "{:.1} GB of heap for {:.0} files and {:.0} blocks",
            max / GB,
            sample.files(),
            sample.blocks()
        )];
        figures.extend(live.map(|live| {
            format!("{:.0} % of it in use after the last collection of the old generation", live / max * 100.0)
        }));
        figures.push(format!("all threads were stopped {:.1} % of the time", share * 100.0));
        report.add(Advice {
            name: "heap",
            change: format!("Set the heap to {wanted:.0} GB"),
            confidence: if is_full || share > GC_SHARE_MAX { Confidence::Certain } else { Confidence::Likely },
            figures,
            why: "The whole name space is in the heap; the usual rule is 1 GB for each million blocks, and \
                collectors need room."
                .to_owned(),
            brings: format!("up to {:.0} % of the time, and no OutOfMemoryError", share * 100.0),
            lines: vec![heap_line(&format!("-Xms{wanted:.0}g -Xmx{wanted:.0}g"))],
        });
    }
    collector(sample, max, &collectors, report);
}

fn heap_line(options: &str) -> Line {
    Line { file: ConfigFile::HadoopEnv, text: format!("export HDFS_NAMENODE_OPTS=\"$HDFS_NAMENODE_OPTS {options}\"") }
}

fn collector(sample: &MetricsSample, max: f64, collectors: &[(String, f64, f64)], report: &mut Report) {
    let is_old = collectors.iter().any(|(name, ..)| name.starts_with("PS ") || name == "MarkSweepCompact");
    let worst = collectors.iter().map(|(.., ms)| *ms).fold(0.0, f64::max);
    let long = sample.long_pauses().unwrap_or(0.0);
    if !is_old || (max < OLD_COLLECTOR_BYTES_MAX && worst < PAUSE_MS_MAX && long == 0.0) {
        return;
    }
    let names: Vec<&str> = collectors.iter().map(|(name, ..)| name.as_str()).collect();
    report.add(Advice {
        name: "collector",
        change: "Use the G1 collector".to_owned(),
        confidence: Confidence::Likely,
        figures: vec![
            format!("{:.1} GB of heap, collected by {}", max / GB, names.join(" and ")),
            format!("a collection took {worst:.0} ms on average; {long:.0} pauses of 10 s or more since the start"),
        ],
        why: "These collectors stop all calls while they scan the whole heap: seconds for each 10 GB.".to_owned(),
        brings: "pauses of tenths of a second instead of seconds, for a few percent of processor time".to_owned(),
        lines: vec![heap_line("-XX:+UseG1GC")],
    });
}
