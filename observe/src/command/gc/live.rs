//! Live JVM: its log of collections and stops for some seconds, or its counters.
//!
//! ```text
//!   settings of the JVM as lines | lines that it writes then | a line at the end   -> the parser of logs
//! ```
//!
//! JFR has the same pauses, but it takes longer to start, writes megabytes, and knows less about phases and the heap.
//! The log costs a line for each step of a collection. A JVM before 9 cannot start one; its counters are read instead.

use std::io::{Cursor, Read};
use std::time::Duration;

use yunti_base::{Code, Error, Result};
use yunti_gc::{Log, parse};
use yunti_probe::answer::Answer;
use yunti_probe::stopping::{PULSE, Stopping, Watched};
use yunti_probe::target::Process;

use super::counters::Counters;
use crate::jvm::{LogFile, diagnose, java_release};

/// Bytes of a log after which it ends: much more than collectors write in a minute.
const LOG_BYTES_MAX: u64 = 256 << 20;
/// Tags and levels. Age tables are at the level of traces.
const WHAT: &str = "gc*=info,gc+age=trace,safepoint=info";

/// Observes a JVM. Returns its log with the settings that its first lines would have named.
pub fn observe(process: &Process, time: Duration, only_counters: bool, answer: &mut Answer) -> Result<(Log, Watched)> {
    let mut stopping = Stopping::new()?;
    let is_old = !only_counters && java_release(process)?.is_some_and(|release| release < 9);
    if is_old || only_counters {
        if is_old {
            answer
                .skips
                .push("phases, single pauses, stops: a JVM before 9 starts no log; read from counters".to_owned());
        }
        return from_counters(process, time, &mut stopping);
    }
    let head = head(process)?;
    let file = LogFile::start(process, WHAT, "uptime,tags")?;
    let mut has_room = true;
    let watched = stopping.wait(process, time, PULSE, || {
        has_room = file.bytes() < LOG_BYTES_MAX;
        has_room
    });
    if !has_room {
        answer.skips.push("the rest of the time: the JVM has written 256 MiB of log".to_owned());
    }
    let tail = format!("\n[{:.3}s][gc,init] CPUs: 0\n", head.uptime_s + watched.time.as_secs_f64());
    let written = file.stop()?;
    let mut whole = Cursor::new(head.lines).chain(written).chain(Cursor::new(tail));
    Ok((parsed(&mut whole)?, watched))
}

fn from_counters(process: &Process, time: Duration, stopping: &mut Stopping) -> Result<(Log, Watched)> {
    let mut counters = Counters::of(process)?;
    let watched = stopping.wait(process, time, PULSE, || {
        counters.sample();
        true
    });
    Ok((parsed(&mut Cursor::new(counters.finish(watched.time)))?, watched))
}

fn parsed(lines: &mut dyn Read) -> Result<Log> {
    parse(lines).map_err(|e| Error::io(Code::Input, "cannot read the JVM's log file", &e))
}

/// Lines before a log.
struct Head {
    lines: String,
    uptime_s: f64,
}

/// Returns the settings of a JVM as lines of a log. The order of the last ones matters: the first time begins the log.
fn head(process: &Process) -> Result<Head> {
    let flags = diagnose(process, "VM.flags")?;
    let version = diagnose(process, "VM.version")?;
    let uptime = diagnose(process, "VM.uptime")?;
    let uptime_s = uptime.split_whitespace().find_map(|word| word.parse().ok()).unwrap_or_default();
    Ok(Head { lines: head_lines(&flags, &version, uptime_s), uptime_s })
}

fn head_lines(flags: &str, version: &str, uptime_s: f64) -> String {
    let flags = flags.split_whitespace().filter(|flag| flag.starts_with("-XX:")).collect::<Vec<_>>().join(" ");
    let release = version.lines().find_map(|line| line.trim().strip_prefix("JDK ")).unwrap_or_default();
    let generational = release.split('.').next().and_then(|n| n.parse().ok()).is_some_and(|n: u32| n >= 24)
        && flags.contains("-XX:+UseZGC");
    let flags = if generational { format!("{flags} -XX:+ZGenerational") } else { flags };
    format!("CommandLine flags: {flags}\n[{uptime_s:.3}s][gc,init] Version: {release}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_gc::Collector;

    #[test]
    fn settings_are_lines() {
        let of = |flags: &str, version: &str| {
            let text = head_lines(flags, version, 12.5) + "[13.000s][gc] GC(7) Pause Remark 1.0ms\n";
            parse(&mut text.as_bytes()).unwrap()
        };
        let log =
            of("1234:\n-XX:MaxHeapSize=67108864 -XX:+UseZGC \n", "OpenJDK 64-Bit Server VM version 25+1\nJDK 25.0.1\n");
        assert_eq!((log.collector, log.settings.heap_max), (Some(Collector::GenerationalZ), 64 << 20));
        assert_eq!((&*log.settings.version, log.seconds(), log.foreign), ("25.0.1", 0.5, 0));
        let log = of("-XX:+UseG1GC", "x\nJDK 17.0.2\n");
        assert_eq!((log.collector, log.events.len()), (Some(Collector::G1), 1));
    }
}
