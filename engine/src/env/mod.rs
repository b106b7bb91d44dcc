//! Floor 1: the outside world, passed in: files, clock, threads, processes, randomness; real ones and
//! faulty ones.
//!
//! Higher floors never open a file, read a clock or start a thread directly. A test can make any operation fail, and a
//! host (a JVM, a simulation) can bring its own.

pub mod clock;
pub mod faulty;
pub mod files;
pub mod mapped;
pub mod messages;
pub mod metered;
pub mod process;
pub mod random;
pub mod real;
pub mod simulated;
pub mod stores;
pub mod system;
pub mod threads;

use std::path::PathBuf;
use std::sync::Arc;

pub use clock::Clock;

pub use files::{File, Files, LockScope, NamedFile};

pub use files::open_file_pool::OpenFilePool;
pub use files::storage::{Storage, StorageKind};
pub use files::uninterrupted::UninterruptedFiles;
pub use mapped::MappedFiles;
pub use messages::Messages;
pub use metered::MeteredFiles;
pub use metered::threads::MeteredThreads;
pub use process::Processes;
pub use system::System;
pub use threads::{Crew, Heartbeat, Threads, crew, heartbeat, sync};

/// The outside world as a job sees it.
#[derive(Clone)]
pub struct Env {
    /// Files and directories.
    pub files: Arc<dyn Files>,
    /// Monotonic, calendar and processor time.
    pub clock: Arc<dyn Clock>,
    /// Threads of the workers.
    pub threads: Arc<dyn Threads>,
    /// Seed of all random choices (sampling); the same seed gives the same job.
    pub seed: u64,
    /// True if input files may be mapped. A mapping needs a handler of SIGBUS, so a host that has its own (a JVM)
    /// leaves this false.
    pub maps_files: bool,
    /// Programs and workers.
    pub processes: Arc<dyn Processes>,
    /// Place for the lines of user code.
    pub messages: Arc<dyn Messages>,
    /// The machine and this process, as the kernel describes them.
    pub system: Arc<dyn System>,
    /// Directory of spills if the job names none.
    pub temp_dir: PathBuf,
    /// Directory that caches measurements of this machine, if there is one.
    pub cache_dir: Option<PathBuf>,
}

impl Env {
    /// Returns the operating system's files, clock and threads.
    pub fn real() -> Env {
        Env {
            files: Arc::new(real::RealFiles),
            clock: Arc::new(clock::RealClock::start()),
            threads: Arc::new(threads::RealThreads),
            seed: 0x59_75_6e_74_69,
            maps_files: false,
            processes: Arc::new(process::RealProcesses::default()),
            messages: Arc::new(messages::StandardError),
            system: Arc::new(system::RealSystem::default()),
            temp_dir: std::env::temp_dir(),
            cache_dir: std::env::var_os("XDG_CACHE_HOME")
                .map(PathBuf::from)
                .filter(|p| p.is_absolute())
                .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"))),
        }
    }
}
