//! The outside world in one process and from one seed: disks, time, threads, workers, memory, and their troubles.
//!
//! ```text
//!   Disks --> Simulation::run(job) --> Finished { disks, trace }
//!               | files     operations on the disks; each is a point of the schedule
//!               | clock     virtual time
//!               | threads   one runs at a time (threads/schedule.rs)
//!               | workers   threads that may die, hang or send garbage
//!               | memory    what others leave
//!               `-- troubles, by the number of the operation
//! ```
//!
//! The same disks, troubles and seed give the same operations, and so the same trace. Tests alone use it; it is part of
//! the library so that all of it goes through the traits of `env/`, as a job does. docs/decisions/simulation.md says
//! why it is so, and what it does not simulate: programs of streaming jobs, mapped files, standard streams, a file
//! system without locks.

pub mod disks;
#[cfg(test)]
mod disks_test;
mod files;
mod journal;
mod kernel;
pub mod process;
pub mod trace;
pub mod trouble;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;

pub use disks::Disks;
pub use process::{Finished, Host};
pub use trace::Trace;
pub use trouble::Trouble;
pub use worker::Serve;

use self::files::SimulatedFiles;
use self::kernel::Kernel;
use self::process::Process;
use self::worker::SimulatedProcesses;
use super::{Env, Files};

/// A process to simulate.
pub struct Simulation {
    pub disks: Disks,
    pub troubles: Vec<Trouble>,
    /// Seed of the schedule, and of what a crash leaves.
    pub seed: u64,
    /// Seed of the random choices of the job. An attempt that goes on has the seed of the one before.
    pub job_seed: u64,
    /// Files that may be open at once.
    pub open_max: usize,
    /// True if the file system can exchange two names.
    pub exchanges: bool,
    /// Number of the machine's start: a loss of power ends one.
    pub boot: u64,
    /// Threads that the system gives to a crew, at most.
    pub threads_max: usize,
    /// Bytes of memory that others leave at first.
    pub left_bytes: u64,
    pub host: Box<dyn Host>,
    /// The work of a worker process.
    pub serve: Serve,
    /// Wraps the files: a test plants bugs there.
    pub around: fn(Arc<dyn Files>) -> Arc<dyn Files>,
}

impl Simulation {
    /// Runs `job` in the simulated world to its end.
    pub fn run<T>(self, job: impl FnOnce(&Env) -> T) -> (T, Finished) {
        let process = Process::new(self.disks, self.troubles, self.seed, self.left_bytes, self.host);
        let process = Arc::new(process);
        let kernel = Arc::new(Kernel {
            process: process.clone(),
            threads_max: self.threads_max,
            processors: 4,
            boot: self.boot,
        });
        let files =
            Arc::new(SimulatedFiles { process: process.clone(), open_max: self.open_max, exchanges: self.exchanges });
        let env = Env {
            files: (self.around)(files),
            clock: kernel.clone(),
            threads: kernel.clone(),
            seed: self.job_seed,
            maps_files: false,
            processes: Arc::new(SimulatedProcesses { process: process.clone(), serve: self.serve }),
            messages: Arc::new(()),
            system: kernel,
            temp_dir: PathBuf::from("/s"),
            cache_dir: None,
        };
        let entered = process.schedule.enter();
        let result = job(&env);
        drop(env);
        drop(entered);
        (result, process.finish())
    }
}
