//! Worker processes of a simulation: threads of its schedule behind real shared memory.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::process::Process;
use super::trouble::Trouble;
use crate::env::Processes;
use crate::env::process::{
    Command, Ended, Head, Launcher, PipedProcess, SharedMemory, Side, WorkerHandle, WorkerProcess,
};
use crate::env::threads::schedule::{self, Key};

/// Work of a worker with its memory, until its process is killed: `isolate::serve` with some classes.
pub type Serve = Arc<dyn Fn(OwnedFd) + Send + Sync>;

/// Processes that are threads. There are no programs.
pub struct SimulatedProcesses {
    pub process: Arc<Process>,
    pub serve: Serve,
}

impl Processes for SimulatedProcesses {
    fn find(&self, _: &str) -> Option<PathBuf> {
        None
    }
    fn directory(&self) -> Option<&Path> {
        None
    }
    fn passes_on(&self, _: &str) -> bool {
        false
    }
    fn start(&self, _: &Command) -> io::Result<Box<dyn PipedProcess>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn start_worker(&self, _: &Launcher) -> io::Result<WorkerProcess> {
        let memory = SharedMemory::create()?;
        let descriptor = memory.descriptor().try_clone()?;
        let (serve, schedule) = (self.serve.clone(), self.process.schedule.clone());
        let thread = schedule.spawn(move || serve(descriptor))?;
        match self.process.next_worker_trouble() {
            Some(Trouble::WorkerDies { nth }) => {
                let dying = schedule.clone();
                schedule.at_point(thread, nth, Box::new(move || dying.kill(thread)));
            }
            Some(Trouble::WorkerHangs { nth }) => {
                schedule.at_point(
                    thread,
                    nth,
                    Box::new(|| {
                        schedule::wait(Key::Nothing, None);
                    }),
                );
            }
            Some(Trouble::WorkerDamages { nth }) => {
                let (dying, descriptor) = (schedule.clone(), memory.descriptor().try_clone()?);
                let damage = move || {
                    if let Ok(memory) = SharedMemory::open(descriptor) {
                        let garbage = Head { kind: u32::MAX, len: usize::MAX, value: 7, block: usize::MAX };
                        memory.pass(Side::Worker, garbage);
                    }
                    dying.kill(thread);
                };
                schedule.at_point(thread, nth, Box::new(damage));
            }
            _ => {}
        }
        Ok(WorkerProcess { process: Box::new(WorkerThread { process: self.process.clone(), thread }), memory })
    }
}

struct WorkerThread {
    process: Arc<Process>,
    thread: usize,
}

impl WorkerHandle for WorkerThread {
    fn ended(&mut self) -> Option<Ended> {
        self.process.schedule.has_ended(self.thread).then_some(Ended::Signal(libc::SIGKILL))
    }
    fn kill(&mut self) {
        self.process.schedule.kill(self.thread);
    }
}

impl Drop for WorkerThread {
    fn drop(&mut self) {
        self.kill();
        self.process.schedule.join(self.thread);
    }
}
