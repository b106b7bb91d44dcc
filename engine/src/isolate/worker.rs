//! One worker process, seen from the engine: requests and their replies, its death, its time.

use std::sync::Arc;
use std::time::Duration;

use super::message::{RemoteClass, VERSION, ask, reply, take_error};
use super::wire::{Put, Take};
use crate::env::process::shared_memory::REPLY_BYTES;
use crate::env::process::{Ended, Head, Launcher, SharedMemory, Side, WorkerProcess};
use crate::env::sync::Mutex;
use crate::env::{Clock, Processes};
use crate::operator::context::JobContext;
use yunti_base::{Code, Error, Result};

/// Interval at which the engine checks a worker that it waits for.
const TICK: Duration = Duration::from_millis(10);
/// Time for a worker to start and load its classes, and to take the context of a job.
const START_TIME: Duration = Duration::from_secs(60);

/// Worker processes that wait for work. A worker takes 2 to 7 ms to start, so one is used for many tasks.
pub struct WorkerPool {
    processes: Arc<dyn Processes>,
    launcher: Launcher,
    clock: Arc<dyn Clock>,
    idle: Mutex<Vec<Worker>>,
}

impl WorkerPool {
    /// Returns an empty pool.
    pub fn new(processes: Arc<dyn Processes>, launcher: Launcher, clock: Arc<dyn Clock>) -> Arc<WorkerPool> {
        Arc::new(WorkerPool { processes, launcher, clock, idle: Mutex::default() })
    }

    /// Returns a worker that waits, or a new one. Fails with `Code::UserCode` if none can be started.
    pub fn take(&self) -> Result<Worker> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(|e| e.into_inner()).pop();
            let Some(mut worker) = idle else { return self.start() };
            // It may have died while it waited.
            if worker.process.process.ended().is_none() {
                return Ok(worker);
            }
        }
    }

    /// Takes back a worker without an instance.
    pub fn put_back(&self, worker: Worker) {
        self.idle.lock().unwrap_or_else(|e| e.into_inner()).push(worker);
    }
}

/// Receiver of a worker's messages before the end of a call.
pub trait Replies {
    /// Takes the first `len` bytes of the block: emitted records. `scratch`: a buffer for a copy.
    fn block(&mut self, _memory: &SharedMemory, _len: usize, _scratch: &mut Vec<u8>) -> Result<()> {
        Err(unexpected())
    }
    /// Takes one record that does not fit in a block.
    fn large(&mut self, _key: &[u8], _value: &[u8]) -> Result<()> {
        Err(unexpected())
    }
    /// Takes emitted records as columns.
    fn columns(&mut self, _payload: &[u8]) -> Result<()> {
        Err(unexpected())
    }
    /// Takes the words of the sent span as records.
    fn words(&mut self) -> Result<()> {
        Err(unexpected())
    }
    /// Takes records for a named output; `close`: the last ones.
    fn output(&mut self, _payload: &[u8], _close: bool) -> Result<()> {
        Err(unexpected())
    }
    /// Takes the status of the task.
    fn status(&mut self, _text: String) {}
}

/// Replies of a call that emits nothing.
impl Replies for () {}

/// Returns the error for a reply that no sound worker sends.
pub fn unexpected() -> Error {
    Error::new(Code::UserCode, "a worker process sent a message that its class cannot send")
        .hint("its memory is damaged: check the class")
}

/// A running worker, seen from the engine.
pub struct Worker {
    process: WorkerProcess,
    clock: Arc<dyn Clock>,
    /// Bytes of the message that is being received.
    parts: Vec<u8>,
    /// Job whose context the worker has.
    job: Option<Arc<JobContext>>,
    /// True if the worker waits for a request.
    pub waits: bool,
    /// True if the worker was killed because a call took too long.
    pub timed_out: bool,
    /// Copy of a block, reused.
    block: Vec<u8>,
    /// Classes of the worker.
    pub classes: Arc<Vec<RemoteClass>>,
}

impl WorkerPool {
    fn start(&self) -> Result<Worker> {
        let is_interrupted = |worker: &mut Worker| worker.process.process.ended() == Some(Ended::Signal(libc::SIGINT));
        let mut worker = self.spawn()?;
        match worker.greet(&self.launcher) {
            // Ctrl-C reached it before it had a process group of its own. The job notices the same signal soon.
            Err(_) if is_interrupted(&mut worker) => {
                worker = self.spawn()?;
                worker.greet(&self.launcher)?;
            }
            greeted => greeted?,
        }
        Ok(worker)
    }

    fn spawn(&self) -> Result<Worker> {
        let process = self.processes.start_worker(&self.launcher).map_err(|e| {
            let error = Error::io(Code::UserCode, "cannot start a worker process", &e);
            let error = error.at_path(self.launcher.program.to_string_lossy());
            match e.kind() {
                std::io::ErrorKind::NotFound => error.hint("check the interpreter in its first line"),
                _ => error,
            }
        })?;
        Ok(Worker {
            process,
            clock: self.clock.clone(),
            parts: Vec::new(),
            job: None,
            waits: true,
            timed_out: false,
            block: Vec::new(),
            classes: Arc::default(),
        })
    }
}

impl Worker {
    /// Waits for the first message of a new worker: the version of its protocol, and its classes.
    fn greet(&mut self, launcher: &Launcher) -> Result<()> {
        let limits = Limits { timeout: Some(START_TIME), job: None };
        let (version, hello) = self.call("a worker process", ask::CONTINUE, VERSION, &[], &limits, &mut ())?;
        if version != VERSION {
            let what = format!("a worker speaks version {version} of the protocol, this engine version {VERSION}");
            let error = Error::new(Code::UserCode, what).at_path(launcher.program.to_string_lossy());
            return Err(error.hint("use a worker of the same release"));
        }
        self.classes = Arc::new(Take(&hello).list(RemoteClass::take)?);
        Ok(())
    }

    /// Sends the context of a job, unless the worker has it.
    pub fn set_job(&mut self, job: &Arc<JobContext>) -> Result<()> {
        if self.job.as_ref().is_some_and(|known| Arc::ptr_eq(known, job)) {
            return Ok(());
        }
        let put = Put::default().list(job.settings.iter(), |put, (key, value)| put.text(key).text(value));
        let put = put.list(job.side_files.iter(), |put, (name, bytes)| put.text(name).bytes(bytes));
        let put = put.list(job.inputs.iter(), |put, name| put.text(name));
        // No user code runs in this call: a worker that takes long is stuck.
        let limits = Limits { timeout: Some(START_TIME), job: Some(job) };
        self.call("a worker process", ask::JOB, 0, &[&put.0], &limits, &mut ())?;
        self.job = Some(job.clone());
        Ok(())
    }

    /// Makes a call. `name`: class, for messages. Returns the number and the bytes of its result.
    ///
    /// Errors: of the class; of `replies`, after which the worker is of no use; `UserCode` for a worker that died or
    /// took too long; `Cancelled`.
    pub fn call(
        &mut self,
        name: &str,
        kind: u32,
        value: u64,
        parts: &[&[u8]],
        limits: &Limits<'_>,
        replies: &mut dyn Replies,
    ) -> Result<(u64, Vec<u8>)> {
        let memory = &self.process.memory;
        self.waits = false;
        self.parts.clear();
        let failed = |e: std::io::Error| Error::io(Code::Memory, "cannot send a batch to a worker process", &e);
        memory.put_request(parts).map_err(failed)?;
        memory.pass(Side::Engine, Head { kind, len: parts.first().map_or(0, |part| part.len()), value, block: 0 });
        self.replies(name, limits, replies)
    }

    fn replies(&mut self, name: &str, limits: &Limits<'_>, replies: &mut dyn Replies) -> Result<(u64, Vec<u8>)> {
        let begin_ns = self.clock.now_ns();
        if let Some(job) = limits.job {
            job.host.messages.note_waiting();
        }
        loop {
            let Some(head) = self.process.memory.wait(Side::Engine, TICK) else {
                // A worker may die right after its last message.
                if let Some(ended) = self.process.process.ended() {
                    return Err(died(name, ended));
                }
                if let Some(job) = limits.job {
                    job.host.cancel.check()?;
                    job.host.messages.note_waiting();
                }
                let waited = Duration::from_nanos(self.clock.now_ns() - begin_ns);
                if let Some(timeout) = limits.timeout.filter(|timeout| waited > *timeout) {
                    self.process.process.kill();
                    self.timed_out = true;
                    let what = format!("{name} took more than {} s for one batch", timeout.as_secs_f64());
                    return Err(Error::new(Code::UserCode, what)
                        .hint("its process was killed; --timeout SECONDS gives it more time"));
                }
                continue;
            };
            if head.block > REPLY_BYTES || !self.process.memory.take_message(head.len, &mut self.parts) {
                return Err(unexpected());
            }
            if head.block > 0 {
                replies.block(&self.process.memory, head.block, &mut self.block)?;
            }
            match head.kind {
                reply::PART | reply::BLOCK => {}
                reply::LARGE => {
                    let parts = std::mem::take(&mut self.parts);
                    let (key, value) = parts.split_at_checked(head.value as usize).ok_or_else(unexpected)?;
                    replies.large(key, value)?;
                }
                reply::COLUMNS => {
                    let parts = std::mem::take(&mut self.parts);
                    replies.columns(&parts)?;
                }
                reply::WORDS => replies.words()?,
                reply::OUTPUT | reply::CLOSE => {
                    let parts = std::mem::take(&mut self.parts);
                    replies.output(&parts, head.kind == reply::CLOSE)?;
                }
                reply::STATUS => {
                    replies.status(String::from_utf8_lossy(&std::mem::take(&mut self.parts)).into_owned());
                }
                reply::DONE => {
                    self.waits = true;
                    return Ok((head.value, std::mem::take(&mut self.parts)));
                }
                reply::FAILED => {
                    self.waits = true;
                    let parts = std::mem::take(&mut self.parts);
                    return Err(take_error(&mut Take(&parts))?);
                }
                _ => return Err(unexpected()),
            }
            self.process.memory.pass(Side::Engine, Head { kind: ask::CONTINUE, ..Head::default() });
        }
    }
}

/// Limits of a call.
pub struct Limits<'j> {
    /// Time for one call; None: any.
    pub timeout: Option<Duration>,
    /// Job whose cancellation ends the call.
    pub job: Option<&'j Arc<JobContext>>,
}

fn died(name: &str, ended: Ended) -> Error {
    let how = match ended {
        Ended::Signal(signal) => format!("ended its process by signal {signal} ({})", signal_name(signal)),
        Ended::Code(code) => format!("ended its process with exit code {code}"),
    };
    Error::new(Code::UserCode, format!("{name} {how}"))
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => "SIGSEGV, a wrong address or a stack overflow",
        libc::SIGBUS => "SIGBUS",
        libc::SIGABRT => "SIGABRT",
        libc::SIGFPE => "SIGFPE",
        libc::SIGILL => "SIGILL",
        libc::SIGKILL => "SIGKILL, perhaps for memory",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGSYS => "SIGSYS, a system call that the sandbox forbids",
        libc::SIGTERM => "SIGTERM",
        _ => "a signal",
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::env::clock::RealClock;
    use crate::env::process::{Command, PipedProcess, WorkerHandle};

    /// Processes whose workers end before their first message.
    struct Dying {
        signal: i32,
        starts: AtomicU32,
    }

    struct Dead(i32);

    impl WorkerHandle for Dead {
        fn ended(&mut self) -> Option<Ended> {
            Some(Ended::Signal(self.0))
        }
        fn kill(&mut self) {}
    }

    impl Processes for Dying {
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
            self.starts.fetch_add(1, Ordering::Relaxed);
            Ok(WorkerProcess { process: Box::new(Dead(self.signal)), memory: SharedMemory::create()? })
        }
    }

    #[test]
    fn a_worker_that_ctrl_c_meets_is_started_again_once() {
        for (signal, starts) in [(libc::SIGINT, 2), (libc::SIGKILL, 1)] {
            let processes = Arc::new(Dying { signal, starts: AtomicU32::new(0) });
            let launcher =
                Launcher { program: "/x".into(), arguments: Vec::new(), variables: Vec::new(), memory_bytes: None };
            let pool = WorkerPool::new(processes.clone(), launcher, Arc::new(RealClock::start()));
            let error = pool.take().map(|_| ()).unwrap_err();
            assert!(error.what().contains(&format!("by signal {signal}")), "{error}");
            assert_eq!(processes.starts.load(Ordering::Relaxed), starts);
        }
    }
}
