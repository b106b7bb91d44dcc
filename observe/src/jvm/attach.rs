//! HotSpot's attach mechanism: a socket in the target's /tmp that it opens when it is asked to by a file and SIGQUIT.
//!
//! ```text
//!   we                                          the JVM
//!   .attach_pid7 into its working directory
//!   SIGQUIT                                 ->  sees the file, opens /tmp/.java_pid7
//!   "1\0load\0path\0true\0options\0"        ->  loads the library, calls its Agent_OnAttach
//!                                           <-  "0\n" and what the command says
//! ```
//!
//! SIGQUIT ends a process that has no handler for it, as a JVM has none before it is up or with -Xrs (which opens its socket at once): without
//! one it is never sent.
//! In a container both files are reached through /proc/PID/root, under the number that the JVM has there.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use yunti_base::{Code, Error, Result};

use super::SIGQUIT;
use super::folder::Folder;
use yunti_probe::target::Process;

const OPEN_TIME_MAX: Duration = Duration::from_secs(10);
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(20);

/// Has the JVM load a library, or call it again, with options. The library's own return code is 0, or the error.
pub fn load_library(process: &Process, library: &str, options: &str) -> Result<()> {
    load(process, library, &["load", library, "true", options])
}

/// The same, where the library's return code has a meaning.
pub fn call_library(process: &Process, library: &str, options: &str) -> Result<u32> {
    let answer = command_when_up(process, &["load", library, "true", options])?;
    match returned(&answer) {
        ("0", "") => Ok(0),
        ("0", code) if code.parse::<u32>().is_ok() => Ok(code.parse().unwrap_or_default()),
        _ => Err(refuses(process, library, &answer)),
    }
}

/// Has the JVM load a jar with an agent in Java, or call its agent again.
pub fn load_jar(process: &Process, jar: &str, options: &str) -> Result<()> {
    load(process, jar, &["load", "instrument", "false", &format!("{jar}={options}")])
}

fn load(process: &Process, agent: &str, words: &[&str]) -> Result<()> {
    let answer = command_when_up(process, words)?;
    match returned(&answer) {
        ("0", "0" | "") => Ok(()),
        _ => Err(refuses(process, agent, &answer)),
    }
}

/// The attach mechanism's status, and what the agent has returned: "return code: 0", on old JVMs "0".
fn returned(answer: &str) -> (&str, &str) {
    let (status, said) = parts(answer);
    (status, said.rsplit(' ').next().unwrap_or_default())
}

/// The first line, and the first behind it that says something.
fn parts(answer: &str) -> (&str, &str) {
    let mut lines = answer.lines().map(str::trim);
    (lines.next().unwrap_or_default(), lines.find(|line| !line.is_empty()).unwrap_or_default())
}

fn refuses(process: &Process, agent: &str, answer: &str) -> Error {
    let (status, said) = parts(answer);
    Error::new(Code::Input, format!("the JVM {} refuses {agent}: {status} {said}", process.pid).trim().to_owned())
}

/// What `jcmd` would print, of one of its commands: `GC.heap_info`.
pub fn diagnose(process: &Process, diagnostic: &str) -> Result<String> {
    let answer = command(process, &["jcmd", diagnostic])?;
    match answer.split_once('\n') {
        Some(("0", text)) => Ok(text.to_owned()),
        _ => {
            let said = answer.lines().nth(1).unwrap_or_default();
            Err(Error::new(Code::Input, format!("the JVM {} refuses {diagnostic}: {said}", process.pid)))
        }
    }
}

/// Waits until a JVM that is starting takes agents. One in Java must not be asked for earlier: its module would be looked for before there are modules.
/// What is asked for here there is not, and a JVM that is up says so.
pub fn wait_until_up(process: &Process) -> Result<()> {
    command_when_up(process, &["load", "no-such-agent-of-yunti", "true", ""]).map(drop)
}

/// The release of Java that a JVM is of; None: it does not say so.
pub fn java_release(process: &Process) -> Result<Option<u32>> {
    let answer = command_when_up(process, &["jcmd", "VM.version"])?;
    // 0, a line with the version of the JVM, and `JDK 17.0.15`; before Java 9 `JDK 8.0_402`.
    let version = answer.lines().find_map(|line| line.strip_prefix("JDK "));
    Ok(version.and_then(|v| v.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()))
}

/// A JVM that is still starting is given the time to be up.
fn command_when_up(process: &Process, words: &[&str]) -> Result<String> {
    let end = Instant::now() + OPEN_TIME_MAX;
    loop {
        let answer = command(process, words)?;
        if !answer.contains("live phase") || Instant::now() > end {
            return Ok(answer);
        }
        std::thread::sleep(POLL);
    }
}

fn command(process: &Process, words: &[&str]) -> Result<String> {
    let mut socket = connect(process)?;
    let failed = |e: std::io::Error| Error::io(Code::Input, &format!("the JVM {} does not answer", process.pid), &e);
    socket
        .set_read_timeout(Some(ANSWER_TIME_MAX))
        .and_then(|()| socket.set_write_timeout(Some(ANSWER_TIME_MAX)))
        .map_err(failed)?;
    // Version 1: the command and three arguments, each with a NUL behind it.
    let mut message = b"1\0".to_vec();
    for i in 0..4 {
        message.extend_from_slice(words.get(i).copied().unwrap_or_default().as_bytes());
        message.push(0);
    }
    socket.write_all(&message).map_err(failed)?;
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).map_err(failed)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn connect(process: &Process) -> Result<UnixStream> {
    let socket = process.path(&format!("/tmp/.java_pid{}", process.pid_inside));
    if let Ok(stream) = UnixStream::connect(&socket) {
        return Ok(stream);
    }
    if !process.handles(SIGQUIT) {
        let error = Error::new(
            Code::Input,
            format!("the JVM {} cannot be attached to: it has no handler for SIGQUIT", process.pid),
        );
        return Err(
            error.hint("it is still starting, which passes; or it runs with -Xrs and -XX:+DisableAttachMechanism")
        );
    }
    let _asking = Trigger::place(process)?;
    let gone = || Error::new(Code::Input, format!("process {} has ended", process.pid));
    // The number may be another's by now, who may have no handler.
    if !process.is_alive() {
        return Err(gone());
    }
    let pid = Pid::from_raw(process.pid as i32).ok_or_else(gone)?;
    kill_process(pid, Signal::QUIT).map_err(|e| refused(process, &e.into()))?;
    let end = Instant::now() + OPEN_TIME_MAX;
    while Instant::now() < end {
        match UnixStream::connect(&socket) {
            Ok(stream) => return Ok(stream),
            Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => return Err(refused(process, &e)),
            Err(_) if !process.is_alive() => return Err(gone()),
            Err(_) => std::thread::sleep(POLL),
        }
    }
    let error = Error::new(Code::Input, format!("the JVM {} opens no socket to be attached to", process.pid))
        .at_path(socket.to_string_lossy());
    Err(error.hint("it was started with -XX:+DisableAttachMechanism, is stopped, or is in a long pause"))
}

fn refused(process: &Process, error: &std::io::Error) -> Error {
    Error::io(Code::Input, &format!("the JVM {} cannot be attached to", process.pid), error)
        .hint("run as its owner, or as root")
}

/// The file that tells the JVM that SIGQUIT is no wish for a list of threads.
struct Trigger {
    folder: Folder,
    name: String,
}

impl Trigger {
    fn place(process: &Process) -> Result<Trigger> {
        let name = format!(".attach_pid{}", process.pid_inside);
        for path in [PathBuf::from(format!("/proc/{}/cwd", process.pid)), process.path("/tmp")] {
            let Ok(folder) = Folder::open(&path) else { continue };
            if let Ok(file) = File::create(folder.path(&name)) {
                // A JVM that is not root's wants a file of its own user.
                if let Some((user, group)) = process.owner() {
                    let _ = rustix::fs::fchown(
                        &file,
                        Some(rustix::fs::Uid::from_raw(user)),
                        Some(rustix::fs::Gid::from_raw(group)),
                    );
                }
                return Ok(Trigger { folder, name });
            }
        }
        let error = Error::new(Code::Input, format!("the JVM {} cannot be asked to be attached to", process.pid));
        Err(error.hint("its working directory and its /tmp cannot be written; run as its owner, or as root"))
    }
}

impl Drop for Trigger {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.folder.path(&self.name));
    }
}
