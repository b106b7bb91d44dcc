//! Inspector of a Node.js process: opened by SIGUSR1 for the measurement, and closed after it.
//!
//! Opening is safe only if Node.js itself gets the signal: one that is not caught ends the process, and one that the
//! program catches does what the program likes. An inspector that was open before stays open.

use std::fs::{self, File};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde_json::json;

use super::late;
use super::own_handler::has_own_handler;
use super::session::Session;
use yunti_probe::target::{Process, arguments, listeners};

const PORT: u16 = 9229;
const SIGUSR1: u32 = 10;
/// Time for a connection or a simple call. A blocked loop takes longer.
pub const CALL_TIME_MAX: Duration = Duration::from_secs(2);
/// Time between two looks for the open port, and looks after the end of the measurement.
const OPENS_EVERY: Duration = Duration::from_millis(20);
const OPENS_ROUNDS_OVER: u32 = 25;
const CLOSES_TIME_MAX: Duration = Duration::from_secs(2);
/// Time after the end of the measurement at which the process closes its inspector by itself.
const LEFT_OPEN_MAX: Duration = Duration::from_secs(20);

const CLOSE: &str = "(typeof require === 'function' ? require : process.getBuiltinModule)('inspector').close()";

/// Reason why there is no inspector.
pub struct Refusal {
    pub text: String,
    /// True if it may open when the program has run for longer.
    pub is_early: bool,
}

impl From<String> for Refusal {
    fn from(text: String) -> Refusal {
        Refusal { text, is_early: false }
    }
}

impl From<&str> for Refusal {
    fn from(text: &str) -> Refusal {
        text.to_owned().into()
    }
}

/// Inspector with a session.
pub struct Inspector {
    pub session: Session,
    /// Reference to the timer in the process that closes the inspector if the observer is killed. `None`: it was open
    /// before.
    timer: Option<String>,
}

impl Inspector {
    /// Opens the inspector of a process for a measurement. The calling thread enters the process's network namespace.
    ///
    /// @param time of the measurement
    /// @param goes_on waits; false if the measurement is over
    pub fn open(
        process: &Process,
        time: Duration,
        goes_on: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<Inspector, Refusal> {
        enter_network(process)?;
        let open_before = flagged(process).filter(|address| listens_at(process, address.port()));
        let address = match open_before {
            Some(address) => address,
            None => open_by_signal(process, goes_on)?,
        };
        let mut session = Session::open(address, CALL_TIME_MAX)?;
        let pid = session.evaluate("process.pid", true, CALL_TIME_MAX)?;
        if pid["value"].as_u64() != Some(process.pid_inside.into()) {
            return Err(format!("the inspector at {address} is of another process").into());
        }
        let mut inspector = Inspector { session, timer: None };
        if open_before.is_none() {
            let limit = (time + LEFT_OPEN_MAX).as_millis();
            let timer = format!("(() => {{ const t = setTimeout(() => {CLOSE}, {limit}); t.unref(); return t; }})()");
            let timer = inspector.session.evaluate(&timer, false, CALL_TIME_MAX)?;
            inspector.timer = timer["objectId"].as_str().map(str::to_owned);
        }
        Ok(inspector)
    }

    /// Returns true if it was opened for this measurement.
    pub fn was_opened(&self) -> bool {
        self.timer.is_some()
    }

    /// Leaves the inspector as it was found.
    pub fn close(mut self) -> Result<(), String> {
        let Some(timer) = &self.timer else { return Ok(()) };
        let clear = json!({"objectId": timer, "functionDeclaration": "function () { clearTimeout(this); }"});
        self.session.call("Runtime.callFunctionOn", clear, CALL_TIME_MAX)?;
        self.session.evaluate_last(CLOSE, CLOSES_TIME_MAX)
    }
}

/// Closes the inspector of a process. Returns false if it is not open.
pub fn close_if_open(process: &Process) -> bool {
    let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port(process));
    if !listens_at(process, address.port()) || enter_network(process).is_err() {
        return false;
    }
    let Ok(mut session) = Session::open(address, CALL_TIME_MAX) else { return false };
    let pid = session.evaluate("process.pid", true, CALL_TIME_MAX).unwrap_or_default();
    pid["value"].as_u64() == Some(process.pid_inside.into()) && session.evaluate_last(CLOSE, CLOSES_TIME_MAX).is_ok()
}

/// Returns the port at which SIGUSR1 opens the inspector.
fn port(process: &Process) -> u16 {
    let flag = |word: &String| word.strip_prefix("--inspect-port=")?.rsplit(':').next()?.parse().ok();
    arguments(process.pid).iter().find_map(flag).unwrap_or(PORT)
}

/// Returns the address at which an inspector listens by the options of the process.
fn flagged(process: &Process) -> Option<SocketAddr> {
    let environment = fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
    let options = environment.split(|byte| *byte == 0).find_map(|line| line.strip_prefix(b"NODE_OPTIONS="));
    let options = String::from_utf8_lossy(options.unwrap_or_default()).into_owned();
    let all = arguments(process.pid);
    all.iter().map(String::as_str).chain(options.split_whitespace()).find_map(address_of_option)
}

/// Parses `--inspect`, `--inspect=9230`, `--inspect-brk=127.0.0.1:9230`.
fn address_of_option(option: &str) -> Option<SocketAddr> {
    let rest = option.strip_prefix("--inspect")?;
    let rest = rest.strip_prefix("-brk").or_else(|| rest.strip_prefix("-wait")).unwrap_or(rest);
    let local = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    match rest.strip_prefix('=') {
        None if rest.is_empty() => Some(local(PORT)),
        None => None,
        Some(place) => match place.rsplit_once(':') {
            // An inspector on all addresses is on this one too.
            Some((_, port)) => Some(local(port.parse().ok()?)),
            None => Some(local(place.parse().unwrap_or(PORT))),
        },
    }
}

fn listens_at(process: &Process, port: u16) -> bool {
    listeners(process).iter().any(|listener| listener.port == port)
}

/// Sends SIGUSR1 and waits for the port that the process opens then.
fn open_by_signal(process: &Process, goes_on: &mut dyn FnMut(Duration) -> bool) -> Result<SocketAddr, Refusal> {
    if !process.handles(SIGUSR1) {
        let text = "it does not catch SIGUSR1, by which Node.js opens its inspector".to_owned();
        return Err(Refusal { text, is_early: true });
    }
    match has_own_handler(process, SIGUSR1) {
        Some(false) => {}
        Some(true) => return Err("the program catches SIGUSR1 itself, by which Node.js opens its inspector".into()),
        None => {
            return Err("whether the program catches SIGUSR1 itself cannot be read; start it with --inspect".into());
        }
    }
    let before = listeners(process);
    let pid = Pid::from_raw(process.pid as i32).ok_or("it has ended")?;
    kill_process(pid, Signal::USR1).map_err(|e| format!("it cannot be sent a signal: {e}"))?;
    // A loop that is held up opens it later.
    let mut rounds_over = 0;
    while rounds_over < OPENS_ROUNDS_OVER && process.is_alive() {
        let is_new = |listener: &&yunti_probe::target::Listener| before.iter().all(|old| old.inode != listener.inode);
        if let Some(listener) = listeners(process).iter().find(is_new) {
            return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), listener.port));
        }
        if !goes_on(OPENS_EVERY) {
            rounds_over += 1;
            std::thread::sleep(OPENS_EVERY);
        }
    }
    // An inspector that the program opened itself does not open again.
    match listens_at(process, port(process)) {
        true => Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port(process))),
        false if late::start(process) => {
            Err("its inspector did not open: its port is taken, or its event loop is held up".into())
        }
        false => Err("its inspector did not open; it may open later, and stay open".into()),
    }
}

fn enter_network(process: &Process) -> Result<(), String> {
    let (theirs, mine) = (format!("/proc/{}/ns/net", process.pid), "/proc/thread-self/ns/net");
    let inode = |path: &str| fs::metadata(path).map(|m| (m.dev(), m.ino())).ok();
    if inode(&theirs) == inode(mine) {
        return Ok(());
    }
    let failed = |e: std::io::Error| format!("it has a network of its own, which cannot be entered: {e}");
    let file = File::open(&theirs).map_err(failed)?;
    move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network)).map_err(|e| failed(e.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_options() {
        let port = |option: &str| address_of_option(option).map(|address| address.port());
        assert_eq!(
            (port("--inspect"), port("--inspect=9300"), port("--inspect-brk=0.0.0.0:9301")),
            (Some(9229), Some(9300), Some(9301))
        );
        assert_eq!((port("--inspect-port=9300"), port("--inspector"), port("app.js")), (None, None, None));
    }
}
