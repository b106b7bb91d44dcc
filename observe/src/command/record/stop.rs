//! `yunti observe record stop`: ends a recorder.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use yunti_base::{Code, Error, Result};
use yunti_probe::target::Process;
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;

use crate::history::default_store;
use crate::recorder::Recorder;

/// End the recorder of a store
///
/// The last slice is written, shorter than the others, and the profilers in JVMs are stopped.
#[derive(Debug, Args)]
pub struct StopFlags {
    /// Folder of the slices
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
}

/// Time for the end of the last slice: each JVM stops its profiler.
const STOP_TIME_MAX: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

pub fn stop(flags: &StopFlags) -> Outcome {
    let store = flags.store.clone().unwrap_or_else(default_store);
    let running = || Recorder::of(&store).map(|recorder| recorder.filter(|recorder| recorder.is_running));
    let Some(recorder) = running()? else { return Err(nothing_records(&store).into()) };
    end(recorder.state.pid)?;
    let begun = Instant::now();
    while running()?.is_some() {
        if begun.elapsed() > STOP_TIME_MAX {
            let error = Error::new(Code::Input, format!("the recorder {} does not end", recorder.state.pid));
            return Err(error.hint("`kill -9` it: its profilers in JVMs are stopped then too").into());
        }
        std::thread::sleep(POLL);
    }
    let state = Recorder::of(&store)?.map(|recorder| recorder.state).unwrap_or_default();
    stdout::print(&format!("stopped, with {} slices in {}\n", state.slices, store.display()))
}

/// Returns the error for a store without a recorder.
pub fn nothing_records(store: &std::path::Path) -> Error {
    Error::new(Code::Input, "nothing records into this store").at_path(store.to_string_lossy())
}

fn end(pid: u32) -> Result<()> {
    let process = Process::of(pid)?;
    // A recorder in another container has another number here.
    if !process.executable().is_some_and(|path| path.to_string_lossy().contains("yunti-observe")) {
        let error = Error::new(Code::Input, format!("process {pid} is no recorder"));
        return Err(error.hint("stop the recorder in the container where it runs"));
    }
    let failed = |e: rustix::io::Errno| {
        Error::io(Code::Input, &format!("the recorder {pid} cannot be stopped"), &e.into())
            .hint("run as its user, or as root")
    };
    Pid::from_raw(pid as i32).map_or(Ok(()), |pid| kill_process(pid, Signal::TERM)).map_err(failed)
}
