//! A JVM as a target: async-profiler is brought into it, records into a file of JFR, and is stopped and taken away.
//!
//! ```text
//!   attach.rs     words with the JVM over its socket
//!   folder.rs     where files lie that both see
//!   profiler.rs   start, stop, and where async-profiler and its file lie
//!   release.rs    a process that stops it should we be killed
//!   recording.rs  what it recorded
//! ```

mod attach;
mod folder;
mod profiler;
mod recording;
pub mod release;

use std::time::{Duration, Instant};

use yunti_engine::base::Result;

pub use profiler::{Event, Profiler};

use crate::target::Process;

const SIGQUIT: u32 = 3;
/// Until a program that has been started has its libraries.
const EXEC_TIME_MAX: Duration = Duration::from_millis(15);
/// Until a JVM is up.
const START_TIME_MAX: Duration = Duration::from_secs(5);
/// The last thread that HotSpot starts before `main`, behind the moment in which agents may be loaded; some settings leave it away.
const LAST_THREAD: &str = "VM Periodic Tas";

fn has_thread(process: &Process, name: &str) -> bool {
    process.threads().into_iter().any(|tid| process.thread_name(tid).as_deref() == Some(name))
}

/// Whether a process is a HotSpot JVM: it has libjvm in it. One that has just been started is given the time to become one that can be
/// attached to.
pub fn recognise(process: &Process, is_fresh: bool) -> Result<bool> {
    let begin = Instant::now();
    loop {
        let files = process.mapped_files()?;
        let has = |library: &str| files.iter().any(|file| file.ends_with(library));
        let waited = begin.elapsed();
        let is_up = !is_fresh || waited > START_TIME_MAX || has_thread(process, LAST_THREAD);
        // The launcher `java` is linked to libjli, which loads libjvm; before that, a new process has but its own file.
        let may_become_one =
            is_fresh && process.is_alive() && (waited < EXEC_TIME_MAX || has("/libjli.so") && waited < START_TIME_MAX);
        match has("/libjvm.so") {
            true if is_up => return Ok(true),
            false if !may_become_one => return Ok(false),
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}
