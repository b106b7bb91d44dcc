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
use yunti_engine::base::{Code, Error, Result};

use super::SIGQUIT;
use crate::target::Process;

const OPEN_TIME_MAX: Duration = Duration::from_secs(10);
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(20);

/// Has the JVM load a library, or call it again, with options. The library's own return code is 0, or the error.
pub fn load_agent(process: &Process, library: &str, options: &str) -> Result<()> {
    let end = Instant::now() + OPEN_TIME_MAX;
    let answer = loop {
        let answer = command(process, &["load", library, "true", options])?;
        // A JVM that is still starting.
        if !answer.contains("live phase") || Instant::now() > end {
            break answer;
        }
        std::thread::sleep(POLL);
    };
    let mut lines = answer.lines();
    let status = lines.next().unwrap_or_default().trim();
    let said = lines.map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    // The first line is the attach mechanism's status, the second the agent's: "return code: 0", on old JVMs "0".
    let code = said.rsplit(' ').next().unwrap_or_default();
    match (status, code) {
        ("0", "0" | "") => Ok(()),
        _ => Err(Error::new(
            Code::Input,
            format!("the JVM {} refuses {library}: {} {said}", process.pid, status).trim().to_owned(),
        )),
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
    path: PathBuf,
}

impl Trigger {
    fn place(process: &Process) -> Result<Trigger> {
        let name = format!(".attach_pid{}", process.pid_inside);
        let beside = PathBuf::from(format!("/proc/{}/cwd/{name}", process.pid));
        for path in [beside, process.path(&format!("/tmp/{name}"))] {
            if let Ok(file) = File::create(&path) {
                // A JVM that is not root's wants a file of its own user.
                if let Some((user, group)) = process.owner() {
                    let _ = rustix::fs::fchown(
                        &file,
                        Some(rustix::fs::Uid::from_raw(user)),
                        Some(rustix::fs::Gid::from_raw(group)),
                    );
                }
                return Ok(Trigger { path });
            }
        }
        let error = Error::new(Code::Input, format!("the JVM {} cannot be asked to be attached to", process.pid));
        Err(error.hint("its working directory and its /tmp cannot be written; run as its owner, or as root"))
    }
}

impl Drop for Trigger {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
