//! Log of a JVM's collections and stops during a measurement, with its settings as first lines.

use std::io::{Cursor, Read};
use std::time::Duration;

use yunti_base::{Code, Error, Result};
use yunti_gc::{Log, parse};

use super::LogFile;
use crate::jvm::attach::diagnose;
use crate::jvm::release::Agent;
use yunti_probe::target::Process;

/// Tags and levels. Age tables are at the level of traces.
const WHAT: &str = "gc*=info,gc+age=trace,safepoint=info";

/// Log that the JVM is writing.
pub struct CollectionLog {
    file: LogFile,
    head: Head,
}

impl CollectionLog {
    /// Starts the log, which JVMs from 9 on can do.
    pub fn start(process: &Process) -> Result<CollectionLog> {
        let head = head(process)?;
        Ok(CollectionLog { file: LogFile::start(process, Agent::Collections, WHAT, "uptime,tags")?, head })
    }

    /// Returns the bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.file.bytes()
    }

    /// Ends the log, which has lasted for a time, and reads it.
    pub fn stop(self, time: Duration) -> Result<Log> {
        let tail = format!("\n[{:.3}s][gc,init] CPUs: 0\n", self.head.uptime_s + time.as_secs_f64());
        let written = self.file.stop()?;
        let mut whole = Cursor::new(self.head.lines).chain(written).chain(Cursor::new(tail));
        parse(&mut whole).map_err(|e| Error::io(Code::Input, "cannot read the JVM's log file", &e))
    }
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
