//! Inspector that opens too late: a loop that is held up gets SIGUSR1 when it goes on, perhaps after the measurement. A
//! small process waits for that, and closes the inspector then.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use yunti_probe::target::Process;

/// Hidden command of this program that closes a late inspector.
pub const COMMAND: &str = "close-inspector";
const WAITS_TIME_MAX: Duration = Duration::from_secs(120);
const EVERY: Duration = Duration::from_millis(200);

/// Starts the process that closes the inspector when it opens. Returns false if it cannot be started.
pub fn start(process: &Process) -> bool {
    let command = |program| {
        Command::new(program)
            .args([COMMAND, &process.pid.to_string(), &process.started().to_string()])
            // ctrl-C must not reach it.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    };
    std::env::current_exe().and_then(command).is_ok()
}

/// Tries to close the inspector of a process until that is done.
pub fn repeat(process: &Process, close: impl Fn(&Process) -> bool) {
    let end = Instant::now() + WAITS_TIME_MAX;
    while Instant::now() < end && process.is_alive() {
        if close(process) {
            return;
        }
        thread::sleep(EVERY);
    }
}
