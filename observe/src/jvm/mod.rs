//! A JVM as a target: agents are loaded into it, measure, are stopped and removed.
//!
//! ```text
//!   attach.rs     commands over its attach socket
//!   classes/      its loaded classes, and methods of HTTP servers that handle a request
//!   folder.rs     a folder that both processes reach
//!   installed.rs  paths of the agents
//!   perf_data.rs  the JVM's own counters
//!   release.rs    removal of agents, by a guard process if the observer is killed
//!   profiler.rs   async-profiler, from start to stop
//!   recording.rs  its recording: a JFR file
//!   locks/        the lock agent, from start to stop
//!   memory/       address ranges of its areas, objects by class, and what keeps some alive
//!   log/          the JVM's own log: to a file, its pauses, and a silenced warning
//!   tracer/       the tracing agent, from start to end, and its messages
//!   virtual_threads.rs   virtual threads, by the JVM's own dump
//! ```

mod attach;
mod classes;
mod folder;
mod installed;
mod locks;
mod log;
mod memory;
mod perf_data;
mod profiler;
mod recording;
pub mod release;
mod tracer;
mod virtual_threads;

use std::time::{Duration, Instant};

use yunti_base::Result;

pub use attach::{diagnose, java_release};
pub use classes::{loaded_classes, servers};
pub use locks::{IS_VIRTUAL, LockAgent, Wait, WaitKind};
pub use log::{CollectionLog, Pause, PauseLog, overlaps};
pub use memory::{Counted, HeapDump, Histogram, OldObject, OldObjects, areas};
pub use perf_data::{PerfData, perf_data, perf_data_file};
pub use profiler::{Profiler, Rates, Sampling};
pub use recording::{Call, Event, Recording, Sample};
pub use tracer::{Chunk, Event as PlaceEvent, Message, Record, Request, Tracer};
pub use virtual_threads::{State, virtual_threads};

use yunti_probe::target::{Process, Start, Target};

const SIGQUIT: u32 = 3;
/// Time for a program that was started to load its libraries.
const EXEC_TIME_MAX: Duration = Duration::from_millis(15);
/// Time for a JVM to be up.
const START_TIME_MAX: Duration = Duration::from_secs(5);
/// Name of the last thread that HotSpot starts before `main`, when agents may be loaded. Some settings leave it out.
const LAST_THREAD: &str = "VM Periodic Tas";

fn has_thread(process: &Process, name: &str) -> bool {
    process.threads().into_iter().any(|tid| process.thread_name(tid).as_deref() == Some(name))
}

/// Returns true if a process runs the `java` launcher.
pub fn is_launcher(process: &Process) -> bool {
    process.mapped_files().is_ok_and(|files| files.iter().any(|file| file.ends_with("/libjli.so")))
}

/// Returns true if a process is a HotSpot JVM now.
pub fn is_jvm(process: &Process) -> bool {
    process.mapped_files().is_ok_and(|files| files.iter().any(|file| file.ends_with("/libjvm.so")))
}

/// Returns true if a process is a HotSpot JVM, which maps libjvm. Waits for a process that was just started, until
/// the JVM can be attached to.
pub fn recognise(target: &Target) -> Result<bool> {
    let (process, is_fresh) = (&target.process, target.is_ours() && !target.is_held());
    let begin = Instant::now();
    loop {
        let files = process.mapped_files()?;
        let has = |library: &str| files.iter().any(|file| file.ends_with(library));
        let waited = begin.elapsed();
        let is_up = !is_fresh || waited > START_TIME_MAX || has_thread(process, LAST_THREAD);
        // The launcher `java` links libjli, which loads libjvm. Before that a new process maps only its own file.
        // A slow disk delays even this, but the program's name is known at once.
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

/// Start mode of commands: held until the measurement begins, to record them from the first instruction. A JVM is not
/// held, because agents need a JVM that is up.
pub const HELD: Start = Start::Held(|process| !is_launcher(process));
