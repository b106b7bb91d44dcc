//! Our agent in a JVM, which changes methods so that they tell of their calls, from start to end.
//!
//! ```text
//!   we                                              the JVM
//!   listen at a socket in its /tmp
//!   load yunti-trace.jar, with the socket's name ->  a thread of the agent
//!                                               <-  connects
//!   remove the socket's name
//!   what is wanted                              ->  changes methods
//!                                               <-  frames: methods, calls
//!   '.', or the end of the socket               ->  changes them back, ends
//! ```

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use yunti_base::{Code, Error, Result};

use super::attach::{java_release, load_jar, wait_until_up};
use super::folder::Folder;
use super::frames::{Frames, Told};
use super::release::{Agent, Guest};
use yunti_probe::target::Process;

const JAR: &str = "yunti-trace.jar";
/// Java before it has no sockets by name.
const JAVA_MIN: u32 = 17;
/// Beyond the time that is asked for: it ends by itself, if nobody else has ended it.
const GRACE: Duration = Duration::from_secs(30);
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// Until the methods are changed, or changed back: thousands of classes take their time.
const CHANGE_TIME_MAX: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(5);

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Request {
    pub methods: Vec<String>,
    pub with_texts: bool,
    pub over: Duration,
    pub calls_max: u64,
    pub time: Duration,
    /// Methods may be of classes that have yet to come.
    pub waits: bool,
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
        for method in &self.methods {
            text += &format!("method {method}\n");
        }
        text + "\n"
    }
}

pub struct Tracer<'a> {
    process: &'a Process,
    // Before the guest: its end is what the agent waits for.
    stream: Option<UnixStream>,
    frames: Frames,
    guest: Guest<'a>,
}

impl<'a> Tracer<'a> {
    pub fn start(process: &'a Process, request: &Request) -> Result<Tracer<'a>> {
        if request.waits {
            wait_until_up(process)?;
        }
        if let Some(old) = java_release(process)?.filter(|release| *release < JAVA_MIN) {
            let error = Error::new(Code::Input, format!("the JVM {} is of Java {old}", process.pid));
            return Err(error.hint(format!("methods are traced from Java {JAVA_MIN} on")));
        }
        let guest = Guest::of(process, Agent::Tracer, Some(JAR))?;
        let mut tracer = Tracer { process, stream: None, frames: Frames::default(), guest };
        let mut stream = tracer.connect()?;
        stream.write_all(request.as_text().as_bytes()).map_err(|e| tracer.broken(&e))?;
        stream.set_nonblocking(true).map_err(|e| tracer.broken(&e))?;
        tracer.stream = Some(stream);
        Ok(tracer)
    }

    fn connect(&self) -> Result<UnixStream> {
        let path = self.guest.folder.path(&self.guest.left.socket());
        let failed = |e: std::io::Error| {
            Error::io(Code::Input, &format!("the JVM {} cannot be given a socket", self.process.pid), &e)
                .at_path(self.process.path(&Folder::inside(&self.guest.left.socket())).to_string_lossy())
                .hint("run as its owner, or as root")
        };
        let listener = UnixListener::bind(&path).map_err(failed)?;
        // For the JVM alone: arguments of methods are nobody else's business.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        if let Some((user, group)) = self.process.owner() {
            std::os::unix::fs::chown(&path, Some(user), Some(group)).map_err(failed)?;
        }
        listener.set_nonblocking(true).map_err(failed)?;
        load_jar(
            self.process,
            &self.guest.left.library,
            &format!("{}|{}", Folder::inside(&self.guest.left.socket()), self.guest.left.library),
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
        // Nobody else needs its name.
        let _ = fs::remove_file(&path);
        stream.set_nonblocking(false).map_err(failed)?;
        Ok(stream)
    }

    fn broken(&self, error: &std::io::Error) -> Error {
        Error::io(Code::Input, &format!("the agent in the JVM {} is not heard any more", self.process.pid), error)
    }

    /// Waits until calls are seen.
    pub fn wait_until_ready(&mut self, mut each: impl FnMut(Told)) -> Result<()> {
        let end = Instant::now() + CHANGE_TIME_MAX;
        loop {
            let mut is_ready = false;
            let is_open = self.read(|told| {
                is_ready |= told == Told::Ready;
                each(told);
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

    /// What has been told since the last time; false: the agent has ended.
    pub fn read(&mut self, mut each: impl FnMut(Told)) -> Result<bool> {
        let mut buffer = vec![0; 1 << 16];
        let mut is_open = true;
        while let Some(stream) = self.stream.as_mut() {
            match stream.read(&mut buffer) {
                Ok(n @ 1..) => self.frames.add(&buffer[..n]),
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // As the system closes it when the JVM has ended.
                Ok(_) | Err(_) => {
                    is_open = false;
                    break;
                }
            }
        }
        while let Some(told) = self.frames.next()? {
            match told {
                Told::NoSuchMethod { pattern, hint } => {
                    return Err(Error::new(Code::Input, format!("no method is called '{pattern}'")).hint(hint));
                }
                Told::Busy => {
                    let what = format!("another trace is at work in the JVM {}", self.process.pid);
                    return Err(Error::new(Code::Input, what).hint("wait until it has ended"));
                }
                Told::Failed(reason) => {
                    let what = format!("the agent fails in the JVM {}: {reason}", self.process.pid);
                    return Err(Error::new(Code::Input, what));
                }
                told => each(told),
            }
        }
        Ok(is_open)
    }

    /// The agent changes all back, and tells the rest.
    pub fn stop(mut self, mut each: impl FnMut(Told)) -> Result<()> {
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
