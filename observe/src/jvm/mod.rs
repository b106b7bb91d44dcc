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
/// Until a launcher has loaded libjvm.
const LOAD_TIME_MAX: Duration = Duration::from_millis(300);
/// Until a JVM is up.
const START_TIME_MAX: Duration = Duration::from_secs(5);
/// The last thread that HotSpot starts before `main`, behind the moment in which agents may be loaded; some settings leave it away.
const LAST_THREAD: &str = "VM Periodic Tas";

/// Whether a process is a HotSpot JVM: it has libjvm in it.
fn is_jvm(process: &Process) -> Result<bool> {
    Ok(process.mapped_files()?.iter().any(|file| file.ends_with("/libjvm.so")))
}

fn has_thread(process: &Process, name: &str) -> bool {
    process.threads().into_iter().any(|tid| process.thread_name(tid).as_deref() == Some(name))
}

/// Whether a process is a JVM; one that has just been started is given the time to become one that can be attached to.
pub fn recognise(process: &Process, is_fresh: bool) -> Result<bool> {
    let begin = Instant::now();
    loop {
        let is_jvm = is_jvm(process)?;
        let waited = begin.elapsed();
        let is_up = !is_fresh || waited > START_TIME_MAX || has_thread(process, LAST_THREAD);
        let may_become_one = is_fresh && waited < LOAD_TIME_MAX && process.is_alive();
        if is_jvm && is_up || !is_jvm && !may_become_one {
            return Ok(is_jvm);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
