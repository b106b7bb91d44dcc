//! The process `yunti-stores`: started when it is needed, and once more if it dies.
//!
//! Requests have numbers, and answers come in any order. One thread receives them. When the process dies, requests that
//! may be made twice go to a new one; the others fail.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};

use yunti_base::descriptors;
use yunti_base::store_protocol::{
    Answer, Ask, Failure, FailureKind, MESSAGE_BYTES_MAX, Reply, Traffic, UsageError, VERSION,
};

use super::window::Window;
use crate::env::real;

/// Program that serves stores.
#[derive(Clone, Debug)]
pub enum StoreProgram {
    At(PathBuf),
    /// It is not installed; the line says what to do.
    Missing(String),
}

/// Processes that a job starts one after the other, at most.
const STARTS_MAX: u32 = 4;

/// Time that the process has to end its uploads before this one goes on.
const END_STEP: std::time::Duration = std::time::Duration::from_millis(2);
const END_STEPS: u32 = 1000;

/// Link to the process.
pub struct Link {
    program: StoreProgram,
    settings: BTreeMap<String, String>,
    temp_dir: PathBuf,
    state: Mutex<State>,
    answered: Condvar,
    own: Weak<Link>,
    pub window: Window,
    /// Bytes that wait for their upload: a scratch file without a name, made with the first process.
    staging: std::sync::OnceLock<File>,
    staged_end: std::sync::atomic::AtomicU64,
}

#[derive(Default)]
struct State {
    process: Option<Process>,
    starts: u32,
    next: u64,
    /// Requests without an answer.
    open: HashMap<u64, Ask>,
    answers: HashMap<u64, Answer>,
    /// Requests whose callers are gone, with the slots that their bytes go to.
    left: HashMap<u64, u32>,
    /// Totals of the process, and of those before it.
    traffic: Traffic,
    before: Traffic,
}

struct Process {
    child: Child,
    socket: Arc<UnixStream>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It ends its uploads when the socket is closed, and then itself.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        // With a store that is gone, that takes longer than this process may wait.
        for _ in 0..END_STEPS {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(END_STEP);
        }
    }
}

/// Request that is under way.
#[derive(Debug, PartialEq, Eq)]
pub struct Ticket(u64);

/// Returns the error of an answer that does not fit the request.
pub fn odd_answer() -> io::Error {
    io::Error::other("yunti-stores answered something else; install yunti again")
}

/// Returns a failure as the error of a file operation.
fn error_of(failure: Failure) -> io::Error {
    let kind = match failure.kind {
        FailureKind::NotFound => io::ErrorKind::NotFound,
        FailureKind::Denied => io::ErrorKind::PermissionDenied,
        FailureKind::Exists => io::ErrorKind::AlreadyExists,
        FailureKind::Unsupported => io::ErrorKind::Unsupported,
        FailureKind::Usage => return io::Error::other(UsageError(failure.text)),
        FailureKind::Changed | FailureKind::Other => io::ErrorKind::Other,
    };
    io::Error::new(kind, failure.text)
}

/// Returns true if a request may be made again after the process that had it died.
fn may_repeat(ask: &Ask) -> bool {
    match ask {
        Ask::Stat { .. } | Ask::List { .. } | Ask::Get { .. } | Ask::Upload { .. } | Ask::Abort { .. } => true,
        // A file of HDFS is lost with its writer.
        Ask::Part { url, .. } => !url.starts_with("hdfs:"),
        Ask::Hello { .. } | Ask::Begin { .. } | Ask::Commit { .. } | Ask::End { .. } => false,
    }
}

impl Link {
    pub fn new(program: StoreProgram, settings: BTreeMap<String, String>, temp_dir: PathBuf) -> Arc<Link> {
        Arc::new_cyclic(|own| Link {
            program,
            settings,
            temp_dir,
            state: Mutex::default(),
            answered: Condvar::new(),
            own: own.clone(),
            window: Window::default(),
            staging: std::sync::OnceLock::new(),
            staged_end: std::sync::atomic::AtomicU64::new(0),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Sends a request and waits for its answer. A failure becomes an error.
    pub fn call(&self, ask: Ask) -> io::Result<Answer> {
        let ticket = self.submit(ask)?;
        self.wait(ticket)
    }

    /// Sends a request.
    pub fn submit(&self, ask: Ask) -> io::Result<Ticket> {
        let mut state = self.lock();
        self.ensure_started(&mut state)?;
        let number = state.next;
        state.next += 1;
        state.open.insert(number, ask.clone());
        if let Some(process) = &state.process {
            // A process that is gone is noticed by the receiver, which sends the request to the next one.
            let _ = send(&process.socket, &(number, ask));
        }
        Ok(Ticket(number))
    }

    /// Waits for an answer. A failure becomes an error.
    pub fn wait(&self, ticket: Ticket) -> io::Result<Answer> {
        let mut state = self.lock();
        loop {
            if let Some(answer) = state.answers.remove(&ticket.0) {
                return match answer {
                    Answer::Failed(failure) => Err(error_of(failure)),
                    answer => Ok(answer),
                };
            }
            state = self.answered.wait(state).unwrap_or_else(|e| e.into_inner());
        }
    }

    /// Returns true if an answer is there.
    pub fn is_done(&self, ticket: &Ticket) -> bool {
        self.lock().answers.contains_key(&ticket.0)
    }

    /// Leaves a request alone; its slot is free again when the process has answered.
    pub fn leave(&self, ticket: Ticket, slot: u32) {
        let mut state = self.lock();
        if state.answers.remove(&ticket.0).is_some() || !state.open.contains_key(&ticket.0) {
            drop(state);
            self.window.release(slot);
        } else {
            state.left.insert(ticket.0, slot);
        }
    }

    /// Returns the file of bytes that wait for their upload.
    pub fn staging(&self) -> io::Result<&File> {
        self.staging.get().ok_or_else(|| io::Error::other("no process for stores"))
    }

    /// Returns the place of a new stretch of staging.
    pub fn stage(&self, len: u64) -> u64 {
        self.staged_end.fetch_add(len, std::sync::atomic::Ordering::Relaxed)
    }

    /// Takes a share of a job's memory for the window, if a store is in use. Returns its bytes.
    pub fn share(&self, limit: u64) -> u64 {
        if self.lock().process.is_none() { 0 } else { self.window.grow(limit) }
    }

    /// Returns the totals of all processes; None if there was none.
    pub fn traffic(&self) -> Option<Traffic> {
        let state = self.lock();
        (state.starts > 0).then(|| state.before + state.traffic)
    }

    fn ensure_started(&self, state: &mut State) -> io::Result<()> {
        if state.process.is_some() {
            return Ok(());
        }
        if state.starts >= STARTS_MAX {
            return Err(io::Error::other("yunti-stores ended several times; its last lines say why"));
        }
        let program = match &self.program {
            StoreProgram::At(program) => program,
            StoreProgram::Missing(line) => return Err(io::Error::other(UsageError(line.clone()))),
        };
        state.starts += 1;
        if self.staging.get().is_none() {
            let _ = self.staging.set(real::unnamed(&self.temp_dir)?);
        }
        let (own, theirs) = UnixStream::pair()?;
        let mut command = Command::new(program);
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null());
        // A group of its own: ctrl-C in a terminal ends the job, which then ends its uploads.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command
            .spawn()
            .map_err(|e| io::Error::new(e.kind(), format!("cannot start {}: {e}", program.display())))?;
        drop(command);
        let process = Process { child, socket: Arc::new(own) };
        let hello = Ask::Hello { version: VERSION, settings: self.settings.clone() };
        greet(&process.socket, &(0, hello), self.window.file()?, self.staging()?)?;
        let Some(Reply { answer, .. }) = receive(&mut &*process.socket) else {
            return Err(io::Error::other("yunti-stores ended at its start"));
        };
        if let Answer::Failed(failure) = answer {
            state.starts = STARTS_MAX;
            return Err(error_of(failure));
        }
        state.next = state.next.max(1);
        let (socket, link, start) = (process.socket.clone(), self.own.clone(), state.starts);
        std::thread::Builder::new().name("stores".into()).spawn(move || {
            let mut from = &*socket;
            while let Some(reply) = receive(&mut from) {
                let Some(link) = link.upgrade() else { return };
                link.take(reply);
            }
            if let Some(link) = link.upgrade() {
                link.lost(start);
            }
        })?;
        state.process = Some(process);
        Ok(())
    }

    fn take(&self, reply: Reply) {
        let mut state = self.lock();
        state.traffic = reply.traffic;
        state.open.remove(&reply.number);
        if let Some(slot) = state.left.remove(&reply.number) {
            drop(state);
            self.window.release(slot);
            return;
        }
        state.answers.insert(reply.number, reply.answer);
        drop(state);
        self.answered.notify_all();
    }

    /// Starts another process after one died, and repeats what may be repeated.
    fn lost(&self, start: u32) {
        let mut state = self.lock();
        if state.starts != start {
            return;
        }
        state.process = None;
        state.before = state.before + std::mem::take(&mut state.traffic);
        let open = std::mem::take(&mut state.open);
        if !open.is_empty() {
            let started = self.ensure_started(&mut state);
            for (number, ask) in open {
                match (&started, &state.process) {
                    (Ok(()), Some(process)) if may_repeat(&ask) => {
                        let _ = send(&process.socket, &(number, ask.clone()));
                        state.open.insert(number, ask);
                    }
                    _ => {
                        let text = started.as_ref().map_or_else(ToString::to_string, |()| {
                            "yunti-stores ended while it wrote; run the job again".to_string()
                        });
                        let failure = Failure { kind: FailureKind::Other, text };
                        state.answers.insert(number, Answer::Failed(failure));
                    }
                }
            }
        }
        drop(state);
        self.answered.notify_all();
    }
}

fn frame(message: &(u64, Ask)) -> io::Result<Vec<u8>> {
    let text = serde_json::to_vec(message)?;
    if text.len() > MESSAGE_BYTES_MAX {
        return Err(io::Error::other("a request is too large"));
    }
    let mut bytes = (text.len() as u32).to_le_bytes().to_vec();
    bytes.extend_from_slice(&text);
    Ok(bytes)
}

fn send(mut socket: &UnixStream, message: &(u64, Ask)) -> io::Result<()> {
    socket.write_all(&frame(message)?)
}

/// Sends the first message, with the descriptors of the shared files.
fn greet(socket: &UnixStream, message: &(u64, Ask), window: &File, staging: &File) -> io::Result<()> {
    descriptors::send(socket, &frame(message)?, &[window.as_fd(), staging.as_fd()])
}

fn receive(socket: &mut &UnixStream) -> Option<Reply> {
    let mut length = [0; 4];
    socket.read_exact(&mut length).ok()?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MESSAGE_BYTES_MAX {
        return None;
    }
    let mut bytes = vec![0; length];
    socket.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}
