//! Stops of threads that others cause: by a tracer (ptrace), by SIGSTOP, by the freezer of control groups.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use super::super::{Process, cgroup};

/// Samples of stopped threads, of all samples.
#[derive(Clone, Debug, Default)]
pub struct Stops {
    /// Samples of threads in a stop of a tracer: state t.
    pub traced: u64,
    /// Samples of threads stopped by a signal: state T.
    pub stopped: u64,
    /// Samples in state t, by tracer.
    pub tracers: HashMap<u32, u64>,
}

impl Stops {
    /// Counts a thread that is neither running nor waiting.
    pub fn count(&mut self, process: &Process, tid: u32, state: char, weight: u64) {
        match state {
            'T' => self.stopped += weight,
            't' => {
                self.traced += weight;
                if let Some(tracer) = tracer_of(process, tid) {
                    *self.tracers.entry(tracer).or_default() += weight;
                }
            }
            _ => {}
        }
    }

    /// Returns the tracer with the most stops.
    pub fn tracer(&self) -> Option<u32> {
        self.tracers.iter().max_by_key(|(_, n)| **n).map(|(pid, _)| *pid)
    }
}

/// Returns the process that traces a thread.
pub fn tracer_of(process: &Process, tid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{}/task/{tid}/status", process.pid)).ok()?;
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"))?.trim().parse().ok()?;
    (tracer != 0).then_some(tracer)
}

/// Returns true if the process is stopped or frozen now. It answers no request then, and no agent can be loaded.
pub fn is_held(process: &Process) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.pid)).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, tail)| tail.chars().next());
    matches!(state, Some('T' | 't')) || Freezer::of(process).is_frozen()
}

/// Freezer of a process's control group.
pub struct Freezer {
    files: Vec<PathBuf>,
}

impl Freezer {
    pub fn of(process: &Process) -> Freezer {
        // The innermost group of each hierarchy shows the state that it has by itself or from a group above.
        let version_1 = cgroup::folders(process, "freezer").into_iter().map(|folder| folder.join("freezer.state"));
        let version_2 = cgroup::folders(process, "").into_iter().map(|folder| folder.join("cgroup.events"));
        let first = |mut files: Box<dyn Iterator<Item = PathBuf>>| files.find(|file| file.is_file());
        Freezer { files: [first(Box::new(version_1)), first(Box::new(version_2))].into_iter().flatten().collect() }
    }

    pub fn is_frozen(&self) -> bool {
        let is_frozen = |file: &PathBuf| {
            let text = fs::read_to_string(file).unwrap_or_default();
            text.trim() == "FROZEN" || text.lines().any(|line| line == "frozen 1")
        };
        self.files.iter().any(is_frozen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_state() {
        let me = Process::of(std::process::id()).unwrap();
        let mut stops = Stops::default();
        for state in ['T', 't', 'Z', 'X', 'I'] {
            stops.count(&me, me.pid, state, 2);
        }
        // Nobody traces this process.
        assert_eq!((stops.stopped, stops.traced, stops.tracer()), (2, 2, None));
        assert!(!is_held(&me));
    }
}
