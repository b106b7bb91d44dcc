//! Ends the tests when a simulated job does not end: a loop of the engine without an operation, which no schedule
//! notices, or a lock that it holds. Without this, the whole suite would run out of time and print no seed.

use std::io::Write;
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};

/// Real time for one job, at most. Most take milliseconds, and a large one a few seconds.
const JOB_MAX: Duration = Duration::from_secs(240);

/// Jobs that run now.
static RUNNING: Mutex<Vec<(u64, Instant, String)>> = Mutex::new(Vec::new());

/// Runs a simulation. If it takes too long, what it is goes to standard error and the process is aborted.
pub fn watched<T>(what: String, simulation: impl FnOnce() -> T) -> T {
    static WATCHER: Once = Once::new();
    WATCHER.call_once(|| drop(std::thread::spawn(watch)));
    let running = Running::add(what);
    let result = simulation();
    drop(running);
    result
}

struct Running(u64);

impl Running {
    fn add(what: String) -> Running {
        let mut all = RUNNING.lock().unwrap();
        let number = all.iter().map(|(number, ..)| number + 1).max().unwrap_or(0);
        all.push((number, Instant::now(), what));
        Running(number)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.lock().unwrap().retain(|(number, ..)| *number != self.0);
    }
}

fn watch() {
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let all = RUNNING.lock().unwrap();
        if let Some((.., what)) = all.iter().find(|(_, began, _)| began.elapsed() > JOB_MAX) {
            say(&format!("a simulated job does not end within {} s: {what}", JOB_MAX.as_secs()));
            std::process::abort();
        }
    }
}

/// Writes a line to standard error at once. `eprintln` of a test keeps its output until the test ends.
pub fn say(line: &str) {
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}
