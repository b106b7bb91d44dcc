//! The guard of a job: if a class library ends or crashes the process, the guard prints a one-line error.
//!
//! ```text
//!   exit, quick_exit ---\                 /-- the class on this thread (running.rs), or the library (libraries.rs)
//!                        >-- handlers.rs -- claim (state.rs) -- removal (removal.rs) -- line (line.rs) -- _exit
//!   SIGSEGV, SIGABRT .. /
//! ```
//!
//! Wrappers of classes, files and threads note the running class once per batch. Only the `yunti` command has a guard:
//! in a JVM the host owns the process and its signals. The engine does not depend on it
//! (docs/decisions/process-guard.md).
//!
//! Everything that a handler calls is async-signal-safe: system calls, atomics, thread-local words and stack buffers.

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
use yunti_engine::{abi, library, streaming};

use crate::failure::{Failure, Outcome};

/// Form of the error line of a job that ends early.
#[derive(Clone, Copy)]
pub struct ErrorOutput {
    /// Print one JSON document on standard output.
    pub json: bool,
    /// Erase a progress bar, which may be on the last line of the terminal.
    pub bar: bool,
}

/// Runs a job under the guard. `job` gets the environment to run in; its class libraries come from `load`.
pub fn watch<T>(env: Env, output: ErrorOutput, job: impl FnOnce(Env) -> Outcome<T>) -> Outcome<T> {
    running::mark_thread();
    state::begin(output);
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

/// Returns the classes of the job's libraries, then the built-in ones, each of whose calls is noted, and programs.
pub fn load(paths: &[PathBuf], env: &Env) -> Result<Vec<Arc<dyn ClassSource>>> {
    let builtin = library::builtin_classes();
    if paths.is_empty() {
        return Ok(vec![builtin, streaming::programs(env)]);
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
    // Handlers run in reverse order: this one before the destructors of the libraries, the first one after them.
    handlers::register_exit();
    sources.push(Arc::new(classes::WatchedSource { inner: builtin, foreign: false }));
    sources.push(streaming::programs(env));
    Ok(sources)
}

/// Marks the command's output as complete: from now on, the process ends with `code`, whatever the libraries do.
pub fn over(code: u8) {
    state::over(code);
}

/// Exit code of a job that a class ended.
const USER_CODE: Code = Code::UserCode;
