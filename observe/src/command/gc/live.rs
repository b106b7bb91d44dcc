//! Live JVM: its log of collections and stops for some seconds, or its counters.
//!
//! ```text
//!   settings of the JVM as lines | lines that it writes then | a line at the end   -> the parser of logs
//! ```
//!
//! JFR has the same pauses, but it takes longer to start, writes megabytes, and knows less about phases and the heap.
//! The log costs a line for each step of a collection. A JVM before 9 cannot start one; its counters are read instead.

use std::io::Cursor;
use std::time::Duration;

use yunti_base::{Code, Error, Result};
use yunti_gc::{Log, parse};
use yunti_probe::answer::Answer;
use yunti_probe::stopping::{PULSE, Stopping, Watched};
use yunti_probe::target::Process;

use super::counters::Counters;
use crate::jvm::{CollectionLog, java_release};

/// Bytes of a log after which it ends: much more than collectors write in a minute.
const LOG_BYTES_MAX: u64 = 256 << 20;

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
    let file = CollectionLog::start(process)?;
    let mut has_room = true;
    let watched = stopping.wait(process, time, PULSE, || {
        has_room = file.bytes() < LOG_BYTES_MAX;
        has_room
    });
    if !has_room {
        answer.skips.push("the rest of the time: the JVM has written 256 MiB of log".to_owned());
    }
    Ok((file.stop(watched.time)?, watched))
}

fn from_counters(process: &Process, time: Duration, stopping: &mut Stopping) -> Result<(Log, Watched)> {
    let mut counters = Counters::of(process)?;
    let watched = stopping.wait(process, time, PULSE, || {
        counters.sample();
        true
    });
    let lines = counters.finish(watched.time);
    let log =
        parse(&mut Cursor::new(lines)).map_err(|e| Error::io(Code::Input, "cannot read the JVM's counters", &e))?;
    Ok((log, watched))
}
