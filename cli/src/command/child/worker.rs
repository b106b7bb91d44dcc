//! `yunti worker`: serves class libraries to an engine in another process (`yunti run --isolate`).

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use rustix::process::{Pid, getppid};
use yunti_base::{Code, Error};
use yunti_engine::abi;
use yunti_engine::isolate::serve;
use yunti_engine::map::folding::FoldingClasses;

use crate::failure::Outcome;

/// Serve class libraries to `yunti run --isolate`, which starts this
#[derive(Debug, Args)]
pub struct WorkerFlags {
    /// Class library to load; may be repeated
    #[arg(short, long, value_name = "FILE.so")]
    lib: Vec<PathBuf>,

    /// Process that is served
    #[arg(long, value_name = "PID")]
    engine: i32,
}

/// Interval at which a worker checks that its engine lives.
const TICK: Duration = Duration::from_secs(1);

pub fn worker(flags: &WorkerFlags) -> Outcome {
    let engine = Pid::from_raw(flags.engine);
    let ended = move || getppid() != engine;
    let failed = |e: rustix::io::Errno| Error::io(Code::Internal, "cannot set up standard input", &e.into());
    // Standard input is the shared memory. A class that reads standard input gets nothing.
    let memory = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).map_err(failed)?;
    let nothing =
        std::fs::File::open("/dev/null").map_err(|e| Error::io(Code::Internal, "cannot open /dev/null", &e))?;
    rustix::stdio::dup2_stdin(nothing.as_fd()).map_err(failed)?;
    // A class may loop forever after its engine was killed.
    let watch = std::thread::Builder::new().name("yunti-watch".into()).spawn(move || {
        while !ended() {
            std::thread::sleep(TICK);
        }
        std::process::exit(0);
    });
    watch.map_err(|e| Error::io(Code::Internal, "cannot start a thread", &e))?;
    let loaded: yunti_base::Result<Vec<_>> = flags.lib.iter().map(|path| abi::load(path)).collect();
    match loaded {
        Ok(mut sources) => {
            sources.push(Arc::new(FoldingClasses(sources.clone())));
            serve::serve(sources, memory, ended)?
        }
        Err(e) => serve::refuse(&e, memory, ended)?,
    }
    Ok(())
}
