//! The tracing agent, from start to end. It changes methods so that they report their calls.
//!
//! ```text
//!   observer                                        JVM
//!   listen on a socket in its /tmp
//!   load yunti-trace.jar, with the socket's name ->  a thread of the agent
//!                                               <-  connects
//!   remove the socket's name
//!   request                                     ->  changes methods
//!                                               <-  frames: methods, calls
//!   '.', or the end of the socket               ->  changes them back, ends
//! ```

mod frames;

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use yunti_base::{Code, Error, Result};

use frames::Frames;
pub use frames::{Chunk, Event, Message, Record};

use super::attach::{java_release, load_jar, wait_until_up};
use super::folder::Folder;
use super::release::{Agent, LoadedAgent};
use yunti_probe::target::Process;

const JAR: &str = "yunti-trace.jar";
/// Oldest Java release with Unix domain sockets.
const JAVA_MIN: u32 = 17;
/// Time after the end of the trace at which the agent ends by itself.
const GRACE: Duration = Duration::from_secs(30);
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// Time to change the methods, or to change them back. Thousands of classes take long.
const CHANGE_TIME_MAX: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(5);

/// Request to the agent.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub methods: Vec<String>,
    pub with_texts: bool,
    pub over: Duration,
    pub calls_max: u64,
    pub time: Duration,
    /// True if the classes may be loaded later.
    pub waits: bool,
    /// True for events at places, where the methods are requests: `PlaceRewriter.java`.
    pub is_of_events: bool,
    /// Classes whose monitors are places.
    pub monitors: Vec<String>,
}

impl Request {
    fn as_text(&self) -> String {
        let mut text = format!(
            "texts {}\nover {}\ncalls {}\nmillis {}\nwaits {}\n",
            self.with_texts,
            self.over.as_nanos(),
            self.calls_max,
            (self.time + GRACE).as_millis(),
            self.waits
        );
        if self.is_of_events {
            text += "events true\n";
        }
        for method in &self.methods {
            text += &format!("method {method}\n");
        }
        for class in &self.monitors {
            text += &format!("monitors {class}\n");
        }
        text + "\n"
    }
}

/// A running trace.
pub struct Tracer {
    process: Process,
    // Dropped before the agent's files, because the agent ends when the stream closes.
    stream: Option<UnixStream>,
    frames: Frames,
    loaded: LoadedAgent,
}

impl Tracer {
    pub fn start(process: &Process, request: &Request) -> Result<Tracer> {
        if request.waits {
            wait_until_up(process)?;
        }
        if let Some(old) = java_release(process)?.filter(|release| *release < JAVA_MIN) {
            let error = Error::new(Code::Input, format!("the JVM {} runs Java {old}", process.pid));
            return Err(error.hint(format!("tracing needs Java {JAVA_MIN} or newer")));
        }
        let loaded = LoadedAgent::of(process, Agent::Tracer, Some(JAR))?;
        let mut tracer = Tracer { process: process.clone(), stream: None, frames: Frames::default(), loaded };
        let mut stream = tracer.connect()?;
        stream.write_all(request.as_text().as_bytes()).map_err(|e| tracer.broken(&e))?;
        stream.set_nonblocking(true).map_err(|e| tracer.broken(&e))?;
        tracer.stream = Some(stream);
        Ok(tracer)
    }

    fn connect(&self) -> Result<UnixStream> {
        let path = self.loaded.folder.path(&self.loaded.cleanup.socket());
        let failed = |e: std::io::Error| {
            Error::io(Code::Input, &format!("cannot create a socket for the JVM {}", self.process.pid), &e)
                .at_path(self.process.path(&Folder::inside(&self.loaded.cleanup.socket())).to_string_lossy())
                .hint("run as its owner, or as root")
        };
        let listener = UnixListener::bind(&path).map_err(failed)?;
        // Only the JVM may connect, because arguments of methods are private.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        if let Some((user, group)) = self.process.owner() {
            std::os::unix::fs::chown(&path, Some(user), Some(group)).map_err(failed)?;
        }
        listener.set_nonblocking(true).map_err(failed)?;
        load_jar(
            &self.process,
            &self.loaded.cleanup.library,
            &format!("{}|{}", Folder::inside(&self.loaded.cleanup.socket()), self.loaded.cleanup.library),
        )?;
        let end = Instant::now() + CONNECT_TIME_MAX;
        let stream = loop {
            match listener.accept() {
                Ok((stream, _)) => break stream,
                Err(e) if e.kind() != ErrorKind::WouldBlock => return Err(failed(e)),
                Err(_) if !self.process.is_alive() => return Err(self.process.has_ended()),
                Err(_) if Instant::now() > end => {
                    let error =
                        Error::new(Code::Input, format!("the agent in the JVM {} does not answer", self.process.pid));
                    return Err(error.hint("the JVM is stopped, or in a long pause"));
                }
                Err(_) => std::thread::sleep(POLL),
            }
        };
        // No other process needs its name.
        let _ = fs::remove_file(&path);
        stream.set_nonblocking(false).map_err(failed)?;
        Ok(stream)
    }

    fn broken(&self, error: &std::io::Error) -> Error {
        Error::io(Code::Input, &format!("lost the connection to the agent in the JVM {}", self.process.pid), error)
    }

    /// Waits until calls are recorded.
    pub fn wait_until_ready(&mut self, mut each: impl FnMut(Message)) -> Result<()> {
        let end = Instant::now() + CHANGE_TIME_MAX;
        loop {
            let mut is_ready = false;
            let is_open = self.read(|message| {
                is_ready |= message == Message::Ready;
                each(message);
            })?;
            if is_ready {
                return Ok(());
            }
            if !is_open && !self.process.is_alive() {
                return Err(self.process.has_ended());
            }
            if !is_open || Instant::now() > end {
                return Err(Error::new(
                    Code::Input,
                    format!("the agent in the JVM {} does not begin", self.process.pid),
                ));
            }
            std::thread::sleep(POLL);
        }
    }

    /// Passes the messages since the last call to `each`. Returns false if the agent has ended.
    pub fn read(&mut self, mut each: impl FnMut(Message)) -> Result<bool> {
        let mut buffer = vec![0; 1 << 16];
        let mut is_open = true;
        while let Some(stream) = self.stream.as_mut() {
            match stream.read(&mut buffer) {
                Ok(n @ 1..) => self.frames.add(&buffer[..n]),
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // The kernel closes the socket when the JVM ends.
                Ok(_) | Err(_) => {
                    is_open = false;
                    break;
                }
            }
        }
        while let Some(message) = self.frames.next()? {
            match message {
                Message::NoSuchMethod { pattern, hint } => {
                    return Err(Error::new(Code::Input, format!("no method matches '{pattern}'")).hint(hint));
                }
                Message::Busy => {
                    let what = format!("another trace is running in the JVM {}", self.process.pid);
                    return Err(Error::new(Code::Input, what).hint("wait until it has ended"));
                }
                Message::Failed(reason) => {
                    let what = format!("the agent fails in the JVM {}: {reason}", self.process.pid);
                    return Err(Error::new(Code::Input, what));
                }
                message => each(message),
            }
        }
        Ok(is_open)
    }

    /// Ends the trace. The agent restores the methods and sends the remaining messages.
    pub fn stop(mut self, mut each: impl FnMut(Message)) -> Result<()> {
        if let Some(stream) = self.stream.as_mut() {
            let _ = stream.write_all(b".");
        }
        let end = Instant::now() + CHANGE_TIME_MAX;
        while self.read(&mut each)? {
            if Instant::now() > end {
                return Err(Error::new(Code::Input, format!("the agent in the JVM {} does not end", self.process.pid)));
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }
}
