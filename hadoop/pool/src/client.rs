//! Client of the pool: starts and ends it, and runs programs by it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use yunti_base::{Code, Error, Result};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::stdout;

use super::socket::{self, Answer, Program, Request};

/// Time that the keeper has to open its socket.
const START: Duration = Duration::from_secs(5);
const START_PULSE: Duration = Duration::from_millis(10);
/// Variables that a shell changes with each command.
const IGNORED: [&str; 3] = ["_", "SHLVL", "OLDPWD"];

/// Starts the keeper, if none runs.
pub fn start(idle: u64, jvms: usize) -> Outcome {
    if connect()?.is_some() {
        return stdout::print("the pool runs already\n");
    }
    let program = std::env::current_exe().map_err(|e| Error::io(Code::Internal, "/proc/self/exe", &e))?;
    let mut command = Command::new(&program);
    command.args(["keep".into(), idle.to_string(), jvms.to_string()]).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.spawn().map_err(|e| Error::io(Code::Internal, &program.to_string_lossy(), &e))?;
    let begun = Instant::now();
    while connect()?.is_none() {
        if begun.elapsed() > START {
            return Err(Error::new(Code::Internal, "the pool did not start").into());
        }
        std::thread::sleep(START_PULSE);
    }
    stdout::print("the pool starts; the first program of a directory starts its own JVM, the next one finds one\n")
}

/// Ends the keeper.
pub fn stop() -> Outcome {
    let text = match connect()? {
        None => "no pool runs".to_owned(),
        Some(stream) => ask(&stream, &Request::Stop)?,
    };
    stdout::print(&format!("{text}\n"))
}

/// Shows what waits.
pub fn status() -> Outcome {
    let text = match connect()? {
        None => "no pool runs: yunti hadoop pool start".to_owned(),
        Some(stream) => ask(&stream, &Request::Status)?,
    };
    stdout::print(&format!("{text}\n"))
}

fn connect() -> Result<Option<UnixStream>> {
    Ok(UnixStream::connect(socket::path()?).ok())
}

fn ask(stream: &UnixStream, request: &Request) -> Result<String> {
    let failed = |e: std::io::Error| Error::new(Code::Internal, format!("the pool does not answer: {e}"));
    socket::send(stream, request).map_err(failed)?;
    match socket::receive(stream).map_err(failed)?.0 {
        Answer::Text(text) => Ok(text),
        _ => Err(Error::new(Code::Internal, "the pool gave another answer")),
    }
}

/// Runs a Java command: in a JVM that waits for it, or in one of its own in place of this process.
pub fn run(main: &str, java: Vec<PathBuf>) -> Outcome {
    let waited = program(main, &java).and_then(|program| in_pool(&program));
    if let Some(code) = waited {
        std::process::exit(code);
    }
    let mut words = java.iter();
    let Some(name) = words.next() else { return Err(Error::new(Code::Usage, "there is no command").into()) };
    let error = Command::new(name).args(words).exec();
    Err(Failure::Error(Error::io(Code::Usage, &name.to_string_lossy(), &error)))
}

/// Returns the program of a command; None if parts of it are not UTF-8, which few are.
fn program(main: &str, java: &[PathBuf]) -> Option<Program> {
    let words: Option<Vec<String>> = java.iter().map(|word| word.to_str().map(str::to_owned)).collect();
    let mut words = words?;
    let at = words.iter().position(|word| word == main)?;
    let arguments = words.split_off(at + 1);
    words.pop();
    let mut environment = Vec::new();
    for (name, value) in std::env::vars_os() {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        if !IGNORED.contains(&name.as_str()) {
            environment.push((name, value));
        }
    }
    environment.sort();
    let directory = std::env::current_dir().ok()?.to_str()?.to_owned();
    let jars = words.iter().skip_while(|word| *word != "-cp").nth(1).map_or(0, |path| hash(path));
    Some(Program { java: words, directory, environment, arguments, jars })
}

/// Returns a hash of the sizes and times of a class path's files.
fn hash(class_path: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    for entry in class_path.split(':') {
        if let Ok(found) = std::fs::metadata(entry) {
            (found.len(), found.mtime(), found.mtime_nsec(), found.ino()).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Runs a program in the pool, and returns its exit code; None if no JVM waits for it.
fn in_pool(program: &Program) -> Option<i32> {
    let stream = connect().ok()??;
    let (input, output, error) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let streams = [input.as_fd(), output.as_fd(), error.as_fd()];
    socket::send_with(&stream, &Request::Run(program.clone()), &streams).ok()?;
    let Answer::Runs(number) = socket::receive(&stream).ok()?.0 else {
        // The keeper sees the end of this program by the end of the connection, and lets a JVM wait for the next one.
        // So the descriptor goes on to the JVM that takes the place of this process.
        let _ = rustix::io::fcntl_setfd(&stream, rustix::io::FdFlags::empty());
        std::mem::forget(stream);
        return None;
    };
    pass_signals(number);
    match socket::receive(&stream) {
        Ok((Answer::Ended(code), _)) => Some(code),
        _ => {
            eprintln!("yunti: the pool ended before the program: see yunti hadoop pool status");
            Some(i32::from(Code::Internal as u8))
        }
    }
}

/// Passes the signals of a terminal on to the program.
fn pass_signals(number: u32) {
    let Some(process) = i32::try_from(number).ok().and_then(Pid::from_raw) else { return };
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let signal = match signal {
                SIGHUP => Signal::HUP,
                SIGINT => Signal::INT,
                _ => Signal::TERM,
            };
            let _ = kill_process(process, signal);
        }
    });
}
