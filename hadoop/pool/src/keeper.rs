//! Keeper of the pool: a process in the background that owns the waiting JVMs and the programs that they became.

use std::collections::VecDeque;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use yunti_base::{Code, Error};
use yunti_program::failure::Outcome;

use super::socket::{self, Answer, Program, Request};

/// Class of a JVM that waits.
const WAITING: &str = "org.yunti.hadoop.runner.launch.Spare";
const PULSE: Duration = Duration::from_millis(200);
/// Memory that the machine keeps for others; with less, no JVM waits.
const FREE_BYTES_MIN: u64 = 1 << 30;
/// Number that a shell adds to a signal's for the exit code.
const SIGNALS: i32 = 128;

/// JVM that waits for a program.
struct Spare {
    program: Program,
    child: Child,
    socket: UnixStream,
    is_ready: Arc<AtomicBool>,
}

impl Spare {
    /// Returns true if the JVM can become this program, which differs in its arguments alone.
    fn fits(&self, program: &Program) -> bool {
        self.program.java == program.java
            && self.program.jars == program.jars
            && self.program.directory == program.directory
            && self.program.environment == program.environment
    }

    fn end(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct State {
    /// The oldest first.
    spares: VecDeque<Spare>,
    jvms_max: usize,
    running: usize,
    used: Instant,
    is_ending: bool,
}

#[derive(Clone)]
struct Keeper(Arc<Mutex<State>>);

/// Keeps the pool until it is idle for `idle` seconds, or stopped.
pub fn keep(idle: u64, jvms: usize) -> Outcome {
    let path = socket::path()?;
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).map_err(|e| Error::io(Code::Output, &path.to_string_lossy(), &e))?;
    let state = State { spares: VecDeque::new(), jvms_max: jvms, running: 0, used: Instant::now(), is_ending: false };
    let keeper = Keeper(Arc::new(Mutex::new(state)));
    let server = keeper.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let keeper = server.clone();
            std::thread::spawn(move || keeper.serve(&stream));
        }
    });
    while !keeper.is_over(Duration::from_secs(idle), &path) {
        std::thread::sleep(PULSE);
    }
    Ok(())
}

impl Keeper {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the pool if it is idle; returns true when nothing of it is left.
    fn is_over(&self, idle: Duration, path: &Path) -> bool {
        let mut state = self.state();
        if state.running > 0 {
            state.used = Instant::now();
        }
        state.is_ending |= state.used.elapsed() > idle;
        if state.is_ending {
            let _ = std::fs::remove_file(path);
            state.spares.drain(..).for_each(Spare::end);
        }
        state.is_ending && state.running == 0
    }

    fn serve(&self, stream: &UnixStream) {
        let Ok((request, streams)) = socket::receive(stream) else { return };
        match request {
            Request::Run(program) => self.run(stream, program, streams),
            Request::Stop => {
                let running = {
                    let mut state = self.state();
                    state.is_ending = true;
                    state.running
                };
                let text = if running == 0 { "the pool ends" } else { "the pool ends with the programs that run" };
                let _ = socket::send(stream, &Answer::Text(text.to_owned()));
            }
            Request::Status => {
                let _ = socket::send(stream, &Answer::Text(self.text()));
            }
        }
    }

    fn text(&self) -> String {
        let state = self.state();
        let mut lines = vec![format!("{} programs run in JVMs of the pool", state.running)];
        for spare in &state.spares {
            let how = if spare.is_ready.load(Ordering::Acquire) { "waits" } else { "starts" };
            lines.push(format!("process {} {how} for programs in {}", spare.child.id(), spare.program.directory));
        }
        lines.join("\n")
    }

    fn run(&self, stream: &UnixStream, program: Program, streams: Vec<OwnedFd>) {
        let spare = {
            let mut state = self.state();
            state.used = Instant::now();
            let found =
                state.spares.iter().position(|spare| spare.fits(&program) && spare.is_ready.load(Ordering::Acquire));
            let spare = found.and_then(|at| state.spares.remove(at));
            state.running += usize::from(spare.is_some());
            spare
        };
        match spare {
            Some(spare) => {
                self.become_program(stream, &program, spare, streams);
                self.state().running -= 1;
            }
            None => {
                drop(streams);
                let _ = socket::send(stream, &Answer::None);
                // The program's own JVM holds the other end.
                let mut end = stream;
                let _ = end.read(&mut [0]);
            }
        }
        self.start_spare(program);
    }

    fn become_program(&self, stream: &UnixStream, program: &Program, mut spare: Spare, streams: Vec<OwnedFd>) {
        let [input, output, error] = streams.as_slice() else {
            spare.end();
            return;
        };
        let number = spare.child.id();
        let sent =
            socket::hand_over(&spare.socket, &program.arguments, &[input.as_fd(), output.as_fd(), error.as_fd()]);
        drop(streams);
        if sent.is_err() || socket::send(stream, &Answer::Runs(number)).is_err() {
            spare.end();
            return;
        }
        let is_over = Arc::new(AtomicBool::new(false));
        if let Ok(mut client) = stream.try_clone() {
            let is_over = is_over.clone();
            std::thread::spawn(move || {
                // A client that is gone ends its program, as a terminal that is closed does.
                let _ = client.read(&mut [0]);
                if !is_over.load(Ordering::Acquire)
                    && let Some(process) = i32::try_from(number).ok().and_then(Pid::from_raw)
                {
                    let _ = kill_process(process, Signal::HUP);
                }
            });
        }
        let status = spare.child.wait();
        is_over.store(true, Ordering::Release);
        let code = status.map_or(i32::from(Code::Internal as u8), |status| {
            status.code().unwrap_or_else(|| SIGNALS + status.signal().unwrap_or(0))
        });
        let _ = socket::send(stream, &Answer::Ended(code));
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }

    /// Lets a JVM wait for programs like this one.
    fn start_spare(&self, program: Program) {
        let mut state = self.state();
        if state.is_ending || state.jvms_max == 0 || free_bytes().is_some_and(|bytes| bytes < FREE_BYTES_MIN) {
            return;
        }
        if state.spares.iter().any(|spare| spare.fits(&program)) {
            return;
        }
        while state.spares.len() >= state.jvms_max {
            if let Some(oldest) = state.spares.pop_front() {
                oldest.end();
            }
        }
        if let Some(spare) = spawn(program) {
            state.spares.push_back(spare);
        }
    }
}

/// Starts a JVM that waits. Its standard input is the socket, until it becomes a program.
fn spawn(program: Program) -> Option<Spare> {
    let (ours, theirs) = UnixStream::pair().ok()?;
    let (java, options) = program.java.split_first()?;
    let child = Command::new(java)
        .args(options)
        .arg(WAITING)
        .current_dir(&program.directory)
        .env_clear()
        .envs(program.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let is_ready = Arc::new(AtomicBool::new(false));
    let mut ready = ours.try_clone().ok()?;
    let flag = is_ready.clone();
    std::thread::spawn(move || {
        if matches!(ready.read(&mut [0]), Ok(1)) {
            flag.store(true, Ordering::Release);
        }
    });
    Some(Spare { program, child, socket: ours, is_ready })
}

/// Returns the memory that the kernel could give to programs, if it says so.
fn free_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes << 10)
}
