//! Supervisor: a small process between this program and one that it runs. It ends the program when its time is over,
//! or when its own input closes, which the kernel does if this program is killed. Nothing measures on after that.

use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// Exit code of a program that took too long, as `timeout` has it.
pub const LATE: u8 = 124;
const POLL: Duration = Duration::from_millis(20);
/// Time between the request to end and the kill.
pub const GRACE: Duration = Duration::from_secs(15);

/// Runs a program until it ends, `time` is over, or `input` closes. Returns its exit code.
///
/// The program gets one SIGTERM and some seconds; then its process group is killed.
pub fn supervise(
    mut command: Command,
    time: Duration,
    grace: Duration,
    input: impl Read + Send + 'static,
) -> io::Result<u8> {
    let child = command.stdin(Stdio::null()).process_group(0).spawn()?;
    let closed = watch_input(input);
    let end = Instant::now() + time;
    let mut running = Running { child };
    let is_late = loop {
        if let Some(code) = running.code()? {
            return Ok(code);
        }
        if Instant::now() >= end {
            break true;
        }
        match closed.recv_timeout(POLL) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => break false,
        }
    };
    running.ask_to_end();
    let end = Instant::now() + grace;
    while Instant::now() < end {
        if let Some(code) = running.code()? {
            return Ok(if is_late { LATE } else { code });
        }
        std::thread::sleep(POLL);
    }
    Ok(LATE)
}

fn watch_input(mut input: impl Read + Send + 'static) -> Receiver<()> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 64];
        while input.read(&mut buffer).is_ok_and(|count| count > 0) {}
        let _ = sender.send(());
    });
    receiver
}

/// Program whose group is killed in the end, with all that it left behind.
struct Running {
    child: Child,
}

impl Running {
    fn group(&self) -> Option<Pid> {
        Pid::from_raw(self.child.id().cast_signed())
    }

    fn ask_to_end(&self) {
        // The program alone: Yunti's programs take a second signal as impatience.
        let _ = self.group().map(|pid| kill_process(pid, Signal::TERM));
    }

    fn code(&mut self) -> io::Result<Option<u8>> {
        let status = self.child.try_wait()?;
        Ok(status.map(|status| match (status.code(), status.signal()) {
            (Some(code), _) => code as u8,
            (None, signal) => 128 + signal.unwrap_or_default() as u8,
        }))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // An empty group has nothing to end.
        let _ = self.group().map(|group| kill_process_group(group, Signal::KILL));
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        command
    }

    fn run(text: &str, time_ms: u64, input: impl Read + Send + 'static) -> (u8, Duration) {
        let begin = Instant::now();
        let time = Duration::from_millis(time_ms);
        let code = supervise(shell(text), time, Duration::from_millis(300), input).unwrap();
        (code, begin.elapsed())
    }

    /// Input that stays open.
    fn open() -> impl Read + Send + 'static {
        std::io::repeat(0).take(u64::MAX)
    }

    #[test]
    fn programs_end_or_are_ended() {
        assert_eq!(run("exit 3", 60_000, open()).0, 3);
        for (text, time_ms) in [("exec sleep 600", 100), ("trap '' TERM; sleep 600 & sleep 600; sleep 600", 100)] {
            let (code, time) = run(text, time_ms, open());
            assert!(code == LATE && time < Duration::from_secs(60), "{text}: {code} {time:?}");
        }
        let (code, time) = run("exec sleep 600", 600_000, std::io::empty());
        assert!(code == 128 + 15 && time < Duration::from_secs(60), "{code} {time:?}");
        assert!(supervise(Command::new("/no/such/program"), GRACE, GRACE, open()).is_err());
    }
}
