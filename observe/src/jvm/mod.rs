//! A JVM as a target: an agent is brought into it, looks, and is stopped and taken away.
//!
//! ```text
//!   areas.rs      where its heap and its code lie
//!   attach.rs     words with the JVM over its socket
//!   classes.rs    what it has loaded
//!   folder.rs     where files lie that both see
//!   installed.rs  where the agents lie
//!   perf_data.rs  what a JVM counts of itself
//!   release.rs    how they are taken away, by a process of its own should we be killed
//!   profiler.rs   async-profiler, from start to stop
//!   recording.rs  what it recorded: a file of JFR
//!   locks/        our own, which writes down waits for locks, from start to stop
//!   log/          its own log: when all of it stood still; silent about what we change
//!   tracer.rs     our own, which tells of calls of methods, from start to end
//!   frames.rs     what it tells
//! ```

mod areas;
mod attach;
mod classes;
mod folder;
mod frames;
mod installed;
mod locks;
mod log;
mod perf_data;
mod profiler;
mod recording;
pub mod release;
mod tracer;

use std::time::{Duration, Instant};

use yunti_base::Result;

pub use areas::areas;
pub use attach::diagnose;
pub use classes::loaded_classes;
pub use frames::{Chunk, Record, Told};
pub use locks::{IS_VIRTUAL, LockAgent, Wait, WaitKind};
pub use log::{Pause, PauseLog};
pub use perf_data::{PerfData, perf_data, perf_data_file};
pub use profiler::{Event, Profiler, Sampling};
pub use recording::{Call, Recording, Sample};
pub use tracer::{Request, Tracer};

use yunti_probe::target::{Process, Start, Target};

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

/// Whether a process is `java` before it has become a JVM.
pub fn is_launcher(process: &Process) -> bool {
    process.mapped_files().is_ok_and(|files| files.iter().any(|file| file.ends_with("/libjli.so")))
}

/// Whether a process is a HotSpot JVM: it has libjvm in it. One that has just been started, and runs, is given the time to become one that
/// can be attached to.
pub fn recognise(target: &Target) -> Result<bool> {
    let (process, is_fresh) = (&target.process, target.is_ours() && !target.is_held());
    let begin = Instant::now();
    loop {
        let files = process.mapped_files()?;
        let has = |library: &str| files.iter().any(|file| file.ends_with(library));
        let waited = begin.elapsed();
        let is_up = !is_fresh || waited > START_TIME_MAX || has_thread(process, LAST_THREAD);
        // The launcher `java` is linked to libjli, which loads libjvm; before that, a new process has but its own file.
        // Where the disk is slow even that takes its time, but the program's name is known at once.
        let is_launcher = || has("/libjli.so") || process.executable().is_some_and(|path| path.ends_with("java"));
        let may_become_one =
            is_fresh && process.is_alive() && (waited < EXEC_TIME_MAX || is_launcher() && waited < START_TIME_MAX);
        match has("/libjvm.so") {
            true if is_up => return Ok(true),
            false if !may_become_one => return Ok(false),
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// A command is seen from its first instruction on. A JVM is looked at when it is up: before that it has nobody to ask for stacks.
pub const HELD: Start = Start::Held(|process| !is_launcher(process));
