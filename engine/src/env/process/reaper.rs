//! Reaper: a process that outlives this one for a moment, and kills its programs if it was killed.
//!
//! ```text
//!   this process -- "+GROUP" at the start of a program, "-GROUP" after its end --> standard input of the reaper
//! ```
//! At the end of its input, which comes even after SIGKILL, the reaper kills the groups that are left. Rejected:
//! PR_SET_PDEATHSIG, which reaches no grandchildren, and also fires when a thread ends.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;

use rustix::process::{Pid, Signal, kill_process_group};

use super::Launcher;

/// A running reaper. Dropping it ends the process.
pub struct Reaper {
    child: Child,
    input: Mutex<Option<ChildStdin>>,
}

impl Reaper {
    /// Starts a reaper, in a group of its own: ctrl-C does not reach it. Fails if the system cannot start it.
    pub fn start(launcher: &Launcher) -> io::Result<Reaper> {
        let mut command = Command::new(&launcher.program);
        command.args(&launcher.arguments).stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0);
        let mut child = command.spawn()?;
        let input = Mutex::new(child.stdin.take());
        Ok(Reaper { child, input })
    }

    /// Notes that a process group has begun.
    pub fn begin(&self, group: u32) {
        self.note('+', group);
    }

    /// Notes that a process group has ended.
    pub fn end(&self, group: u32) {
        self.note('-', group);
    }

    fn note(&self, sign: char, group: u32) {
        if let Some(input) = &mut *self.input.lock().unwrap_or_else(|e| e.into_inner()) {
            // Without a reaper, programs still end with this process unless it is killed.
            let _ = input.write_all(format!("{sign}{group}\n").as_bytes());
        }
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        *self.input.lock().unwrap_or_else(|e| e.into_inner()) = None;
        // Nobody needs its exit code.
        let _ = self.child.wait();
    }
}

/// Does the reaper's work: reads the groups from `input` to its end, then kills the groups that are left.
pub fn reap(input: impl BufRead) {
    let mut groups = BTreeSet::new();
    for line in input.lines().map_while(Result::ok) {
        match line.split_at_checked(1) {
            Some(("+", group)) => drop(group.parse::<i32>().map(|group| groups.insert(group))),
            Some(("-", group)) => drop(group.parse::<i32>().map(|group| groups.remove(&group))),
            _ => {}
        }
    }
    for group in groups.into_iter().filter(|&group| group > 1).filter_map(Pid::from_raw) {
        // It fails if none of them is left.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn kills_the_groups_that_are_left() {
        let sleeper = || Command::new("sleep").arg("100").process_group(0).spawn().unwrap();
        let (mut left, mut ended) = (sleeper(), sleeper());
        reap(format!("+{}\nx\n+{}\n-{}\n", left.id(), ended.id(), ended.id()).as_bytes());
        assert_eq!(left.wait().unwrap().signal(), Some(9));
        assert!(ended.try_wait().unwrap().is_none());
        ended.kill().unwrap();
        ended.wait().unwrap();
    }
}
