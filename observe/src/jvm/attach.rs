//! HotSpot's attach mechanism: the JVM opens a socket in its /tmp when it finds a trigger file and gets SIGQUIT.
//!
//! ```text
//!   observer                                    JVM
//!   .attach_pid7 in its working directory
//!   SIGQUIT                                 ->  finds the file, opens /tmp/.java_pid7
//!   "1\0load\0path\0true\0options\0"        ->  loads the library, calls its Agent_OnAttach
//!                                           <-  "0\n" and the command's output
//! ```
//!
//! SIGQUIT ends a process without a handler for it. A JVM has none before it is up, or with -Xrs, which opens the
//! socket at once. So SIGQUIT is only sent to a process with a handler.
//! In a container, both files are reached through /proc/PID/root, under the JVM's PID inside.

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

/// Makes the JVM load a library with options, or call it again. Returns an error unless its return code is 0.
pub fn load_library(process: &Process, library: &str, options: &str) -> Result<()> {
    load(process, library, &["load", library, "true", options])
}

/// Makes the JVM load a library, or call it again. Returns the library's return code.
pub fn call_library(process: &Process, library: &str, options: &str) -> Result<u32> {
    let answer = command_when_up(process, &["load", library, "true", options])?;
    match returned(&answer) {
        ("0", "") => Ok(0),
        ("0", code) if code.parse::<u32>().is_ok() => Ok(code.parse().unwrap_or_default()),
        _ => Err(refuses(process, library, &answer)),
    }
}

/// Makes the JVM load a jar with a Java agent, or call its agent again.
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

/// Returns the attach status and the agent's return code. JVMs print "return code: 0", old ones "0".
fn returned(answer: &str) -> (&str, &str) {
    let (status, text) = parts(answer);
    (status, text.rsplit(' ').next().unwrap_or_default())
}

/// Returns the first line, and the first non-empty line after it.
fn parts(answer: &str) -> (&str, &str) {
    let mut lines = answer.lines().map(str::trim);
    (lines.next().unwrap_or_default(), lines.find(|line| !line.is_empty()).unwrap_or_default())
}

fn refuses(process: &Process, agent: &str, answer: &str) -> Error {
    let (status, text) = parts(answer);
    Error::new(Code::Input, format!("the JVM {} refuses {agent}: {status} {text}", process.pid).trim().to_owned())
}

/// Runs a diagnostic command, such as `GC.heap_info`, and returns the text that `jcmd` would print.
pub fn diagnose(process: &Process, diagnostic: &str) -> Result<String> {
    let answer = command(process, &["jcmd", diagnostic])?;
    match answer.split_once('\n') {
        Some(("0", text)) => Ok(text.to_owned()),
        _ => {
            let text = answer.lines().nth(1).unwrap_or_default();
            Err(Error::new(Code::Input, format!("the JVM {} refuses {diagnostic}: {text}", process.pid)))
        }
    }
}

/// Waits until a starting JVM accepts agents. A Java agent must not be loaded earlier, because its module would be
/// resolved before the module system is up. The library named here does not exist; a JVM that is up reports that.
pub fn wait_until_up(process: &Process) -> Result<()> {
    command_when_up(process, &["load", "no-such-agent-of-yunti", "true", ""]).map(drop)
}

/// Returns the JVM's Java release; `None` if the JVM does not report it.
pub fn java_release(process: &Process) -> Result<Option<u32>> {
    let answer = command_when_up(process, &["jcmd", "VM.version"])?;
    // 0, a line with the version of the JVM, and `JDK 17.0.15`; before Java 9 `JDK 8.0_402`.
    let version = answer.lines().find_map(|line| line.strip_prefix("JDK "));
    Ok(version.and_then(|v| v.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()))
}

/// Sends a command, again and again until a starting JVM is up.
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
    command_within(process, words, ANSWER_TIME_MAX)
}

/// Sends a command whose answer may take some time, and returns the answer: a status and a text.
pub fn command_within(process: &Process, words: &[&str], time_max: Duration) -> Result<String> {
    let mut socket = connect(process)?;
    let failed = |e: std::io::Error| Error::io(Code::Input, &format!("the JVM {} does not answer", process.pid), &e);
    socket
        .set_read_timeout(Some(time_max))
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
        return Err(error
            .hint("try again if it is still starting; remove -Xrs or -XX:+DisableAttachMechanism from its options"));
    }
    let _trigger = Trigger::place(process)?;
    let gone = || Error::new(Code::Input, format!("process {} has ended", process.pid));
    // Another process, without a handler, may have this PID by now.
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
    let error = Error::new(Code::Input, format!("the JVM {} opens no attach socket", process.pid))
        .at_path(socket.to_string_lossy());
    Err(error.hint("it runs with -XX:+DisableAttachMechanism, is stopped, or is in a long pause"))
}

fn refused(process: &Process, error: &std::io::Error) -> Error {
    Error::io(Code::Input, &format!("the JVM {} cannot be attached to", process.pid), error)
        .hint("run as its owner, or as root")
}

/// The trigger file. With it the JVM takes SIGQUIT as a request to attach, not for a thread dump.
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
                // A JVM accepts only a file of its own user.
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
        let error = Error::new(
            Code::Input,
            format!("the JVM {} cannot be attached to: no place for the trigger file", process.pid),
        );
        Err(error.hint("its working directory and its /tmp are not writable; run as its owner, or as root"))
    }
}

impl Drop for Trigger {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.folder.path(&self.name));
    }
}
