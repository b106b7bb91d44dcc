//! The guard of a job: a class library that ends the process, or crashes it, becomes the one-line error of a class.
//!
//! ```text
//!   exit, quick_exit ---\                       /-- who: the class that runs on this thread (running.rs), or the library (libraries.rs)
//!                        >-- handlers.rs -- claim (state.rs) -- one line (line.rs) -- temporary directory away (removal.rs) -- _exit
//!   SIGSEGV, SIGABRT .. /
//! ```
//!
//! Classes, files and threads reach the job through wrappers that note what runs, once a batch. Only the `yunti` command has a guard:
//! in a JVM the process and its signals are the host's, and the engine knows nothing of this folder (docs/decisions/process-guard.md).
//!
//! Everything that a handler calls is async-signal-safe: system calls, atomics, thread-local words and buffers on the stack.

mod classes;
mod files;
mod handlers;
mod libraries;
mod line;
mod removal;
mod running;
mod state;
mod threads;

use std::path::PathBuf;
use std::sync::Arc;

use yunti_base::{Code, Result};
use yunti_engine::env::Env;
use yunti_engine::operator::ClassSource;
use yunti_engine::{abi, library};

use crate::failure::{Failure, Outcome};

/// How the line of a job that ends early is shown.
#[derive(Clone, Copy)]
pub struct Show {
    /// One JSON document on standard output.
    pub json: bool,
    /// A progress bar may be on the last line of the terminal.
    pub bar: bool,
}

/// Runs a job under the guard. `job` gets the environment to run in; its class libraries come from `load`.
pub fn watch<T>(env: Env, show: Show, job: impl FnOnce(Env) -> Outcome<T>) -> Outcome<T> {
    running::mark_thread();
    state::begin(show);
    handlers::install();
    let outcome = job(Env {
        files: Arc::new(files::WatchedFiles(env.files)),
        threads: Arc::new(threads::WatchedThreads(env.threads)),
        ..env
    });
    state::job_done(match &outcome {
        Ok(_) | Err(Failure::OutputClosed) => 0,
        Err(Failure::Error(error)) => error.code() as u8,
        Err(Failure::Reported(code)) => *code as u8,
    });
    outcome
}

/// The classes of the job's libraries, then the built-in ones; each call of them is noted.
pub fn load(paths: &[PathBuf]) -> Result<Vec<Arc<dyn ClassSource>>> {
    let builtin = library::builtin_classes();
    if paths.is_empty() {
        return Ok(vec![builtin]);
    }
    let mut sources: Vec<Arc<dyn ClassSource>> = Vec::new();
    for path in paths {
        let name = path.to_string_lossy();
        let loaded = {
            let _loading = running::enter(running::intern(&name, running::Kind::Loading));
            abi::load(path)?
        };
        libraries::add(path);
        sources.push(Arc::new(classes::WatchedSource { inner: loaded, foreign: true }));
    }
    // Handlers run in reverse: this one runs before the destructors of the libraries, the first one behind them.
    handlers::register_exit();
    sources.push(Arc::new(classes::WatchedSource { inner: builtin, foreign: false }));
    Ok(sources)
}

/// The command has printed all that it prints: whatever the libraries do from now on, the process ends with `code`.
pub fn over(code: u8) {
    state::over(code);
}

/// Exit code of a job that a class ended.
const USER_CODE: Code = Code::UserCode;
