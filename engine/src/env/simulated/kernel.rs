//! Clock, threads and facts of the kernel of a simulated process.

use std::path::Path;
use std::sync::Arc;

use yunti_base::process::ProcessName;

use super::process::Process;
use crate::env::threads::schedule::{self, Key};
use crate::env::{Clock, System, Threads};

/// Virtual nanoseconds of reading the clock.
const CLOCK_NS: u64 = 50;

/// Clock, threads and facts of a process.
pub struct Kernel {
    pub process: Arc<Process>,
    /// Threads that the system gives to a crew, at most.
    pub threads_max: usize,
    pub processors: usize,
    pub boot: u64,
}

impl Clock for Kernel {
    fn now_ns(&self) -> u64 {
        schedule::point(CLOCK_NS);
        self.process.schedule.now_ns()
    }
    fn unix_ms(&self) -> u64 {
        self.process.unix_ms()
    }
    fn cpu_ns(&self) -> u64 {
        self.process.schedule.now_ns()
    }
    fn sleep_ms(&self, ms: u64) {
        if schedule::is_scheduled() {
            schedule::wait(Key::Time, Some(ms * 1_000_000));
        }
    }
}

impl Threads for Kernel {
    fn run(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
        self.process.schedule.run(n.min(self.threads_max), body);
    }
    fn processors(&self) -> usize {
        self.processors
    }
}

impl System for Kernel {
    fn read(&self, path: &Path) -> Option<String> {
        let memory = || format!("MemAvailable: {} kB\n", self.process.left_bytes() >> 10);
        (path == Path::new("/proc/meminfo")).then(memory)
    }
    fn is_dir(&self, _: &Path) -> bool {
        false
    }
    fn process(&self) -> ProcessName {
        ProcessName { pid: 1, host: "simulated".into(), boot: format!("boot-{}", self.boot) }
    }
    fn unique_token(&self) -> String {
        format!("{:016x}", self.process.unique())
    }
}
