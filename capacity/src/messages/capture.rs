//! Capture of messages by an agent in the service.
//!
//! ```text
//!   this process                                   the service
//!   folder: jar, socket
//!   a short JVM attaches and loads the jar     ->  thread yunti-messages
//!   "COUNT MILLIS REDACT"                      ->  changes the methods of the libraries
//!                                              <-  "running", messages into the folder's file
//!                                              <-  "done", when all methods are restored
//! ```
//!
//! If this process ends before, the socket closes; the agent restores the methods and removes the folder.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;
use yunti_base::{Cancel, Code, Error, Result};

use super::folder::{Folder, JAR};
use super::service::Service;

/// File with the messages, a line each, and a last line of facts.
pub const MESSAGES: &str = "messages.jsonl";
const SOCKET: &str = "socket";
const ATTACH_TIME_MAX: Duration = Duration::from_secs(30);
/// Time for the agent to restore the methods, after the capture.
const END_TIME_MAX: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);

/// Request for a capture.
pub struct Request {
    /// Messages at most.
    pub count: u32,
    pub time: Duration,
    pub is_redacted: bool,
}

/// Facts about the service's JVM: the last line of the file.
#[derive(Debug, Deserialize)]
pub struct Facts {
    /// The property `java.class.path`, and the folder that its relative paths start from.
    pub class_path: String,
    pub folder: String,
    /// Addresses of further class loaders.
    pub sources: Vec<String>,
    /// Classes that the JVM refused to change.
    pub refused: Vec<String>,
}

/// Captured messages.
pub struct Captured {
    pub folder: Folder,
    pub facts: Facts,
    /// Libraries of the messages, each once.
    pub libraries: Vec<String>,
    pub seconds: f64,
}

/// Returns the folder with the jars, beside the program.
pub fn jars() -> Result<PathBuf> {
    let program = std::env::current_exe().map_err(|e| Error::io(Code::Internal, "cannot find this program", &e))?;
    let jars = program.parent().and_then(Path::parent).map(|dist| dist.join("lib/yunti/messages")).unwrap_or_default();
    if jars.join(JAR).is_file() {
        return Ok(jars);
    }
    Err(Error::new(Code::Usage, "the jars for --capture are not installed")
        .at_path(jars.to_string_lossy())
        .hint("run 'make capacity' in the sources, with a JDK and Maven"))
}

/// Captures messages of the service by the agent in the folder `jars`. Returns when all methods are restored.
pub fn capture(service: &Service, jars: &Path, request: &Request, cancel: &Cancel) -> Result<Captured> {
    let folder = Folder::make(service)?;
    let copy = folder.path(JAR);
    let failed =
        |e: std::io::Error| Error::io(Code::Output, "cannot prepare the capture", &e).at_path(copy.to_string_lossy());
    fs::copy(jars.join(JAR), &copy).map_err(failed)?;
    folder.give(JAR, service)?;
    let listener = UnixListener::bind(folder.path(SOCKET)).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    folder.give(SOCKET, service)?;
    let mut attach = attach(service, &folder)?;
    let stream = accept(&listener, &mut attach, service, &folder, cancel);
    if stream.is_err() {
        let _ = attach.kill();
    }
    let _ = attach.wait();
    let begun = Instant::now();
    talk(stream?, request, service, cancel)?;
    let seconds = begun.elapsed().as_secs_f64();
    let (libraries, facts) = read(&folder.path(MESSAGES))?;
    Ok(Captured { folder, facts, libraries, seconds })
}

fn attach(service: &Service, folder: &Folder) -> Result<Child> {
    let (jar, errors) = (folder.path(JAR), folder.path("attach.txt"));
    let options = format!("{}|{}", folder.path("").display(), jar.display());
    let failed = |e: std::io::Error| {
        Error::io(Code::Input, "cannot start the service's Java", &e).at_path(service.home.to_string_lossy())
    };
    let errors = fs::File::create(errors).map_err(failed)?;
    service
        .java()
        .args([
            "-Xmx64m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",
            "--add-modules=jdk.attach",
        ])
        .arg("-cp")
        .arg(&jar)
        .args(["org.yunti.messages.Attach", &service.pid.to_string()])
        .arg(&jar)
        .arg(options)
        .stderr(Stdio::from(errors))
        .spawn()
        .map_err(failed)
}

/// Waits for the agent.
fn accept(
    listener: &UnixListener,
    attach: &mut Child,
    service: &Service,
    folder: &Folder,
    cancel: &Cancel,
) -> Result<UnixStream> {
    let end = Instant::now() + ATTACH_TIME_MAX;
    let mut is_attached = false;
    loop {
        cancel.check()?;
        if let Ok((stream, _)) = listener.accept() {
            return Ok(stream);
        }
        if let Ok(Some(status)) = attach.try_wait() {
            if !status.success() {
                let text = fs::read_to_string(folder.path("attach.txt")).unwrap_or_default();
                let line = text.lines().next().unwrap_or("no reason given");
                let error = format!("the JVM {} cannot be attached to: {line}", service.pid);
                return Err(Error::new(Code::Input, error).hint(
                    "remove -XX:+DisableAttachMechanism or -XX:-EnableDynamicAgentLoading from its options; a JRE \
                     without jdk.attach needs a JDK of the same release",
                ));
            }
            is_attached = true;
        }
        if Instant::now() > end {
            let what = if is_attached { "loaded the agent, which did not answer" } else { "does not answer" };
            return Err(Error::new(Code::Input, format!("the JVM {} {what}", service.pid))
                .hint("it is stopped, or in a long pause"));
        }
        std::thread::sleep(POLL);
    }
}

fn talk(stream: UnixStream, request: &Request, service: &Service, cancel: &Cancel) -> Result<()> {
    let gone = |e: &std::io::Error| Error::io(Code::Input, &format!("the JVM {} has gone", service.pid), e);
    let line = format!("{} {} {}\n", request.count, request.time.as_millis(), request.is_redacted);
    let mut writer = &stream;
    stream.set_nonblocking(false).and_then(|()| writer.write_all(line.as_bytes())).map_err(|e| gone(&e))?;
    stream.set_read_timeout(Some(POLL)).map_err(|e| gone(&e))?;
    let end = Instant::now() + request.time + END_TIME_MAX;
    let (mut reader, mut line) = (BufReader::new(&stream), String::new());
    loop {
        // Without the socket the agent restores the methods by itself.
        cancel.check()?;
        match reader.read_line(&mut line) {
            Ok(0) => return Err(Error::new(Code::Input, format!("the JVM {} ended during the capture", service.pid))),
            Ok(_) => {
                let (word, rest) = line.trim_end().split_once(' ').unwrap_or((line.trim_end(), ""));
                match word {
                    "done" => return Ok(()),
                    "error" => return Err(Error::new(Code::Input, format!("the agent failed: {rest}"))),
                    _ => line.clear(),
                }
            }
            Err(e) if matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
                if Instant::now() > end {
                    return Err(Error::new(Code::Input, format!("the JVM {} does not answer", service.pid)));
                }
            }
            Err(e) => return Err(gone(&e)),
        }
    }
}

/// Returns the libraries of the messages, and the facts of the last line.
fn read(path: &Path) -> Result<(Vec<String>, Facts)> {
    #[derive(Deserialize)]
    struct Line {
        library: String,
    }
    let wrong = |what: String| Error::new(Code::Internal, what).at_path(path.to_string_lossy());
    let text = fs::read_to_string(path).map_err(|e| wrong(format!("cannot read the messages: {e}")))?;
    let mut lines: Vec<&str> = text.lines().collect();
    let facts = lines.pop().ok_or_else(|| wrong("there are no facts about the JVM".to_owned()))?;
    let facts = serde_json::from_str(facts).map_err(|e| wrong(format!("no facts about the JVM: {e}")))?;
    let mut libraries = Vec::new();
    for line in lines {
        let line: Line = serde_json::from_str(line).map_err(|e| wrong(format!("no message: {e}")))?;
        if !libraries.contains(&line.library) {
            libraries.push(line.library);
        }
    }
    Ok((libraries, facts))
}
