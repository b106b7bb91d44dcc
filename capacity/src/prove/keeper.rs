//! Keeper of a copy: a process between this one and the copy, which ends all that the copy has started.
//!
//! ```text
//!   yunti -- pipe --> keeper: reaps orphans, starts --> launch: as the user, dies with the keeper -- exec --> copy
//! ```
//! The pipe closes when this process ends, also by SIGKILL; then the keeper ends the copy: SIGTERM first, and SIGKILL
//! after some seconds. `launch` asks the kernel to kill the copy should the keeper be killed itself. Both run this
//! program, because a death signal can only be set by the process that gets it, after it has become the user.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio, exit};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::process::{
    Pid, Resource, Signal, WaitOptions, getppid, getrlimit, kill_process, set_child_subreaper,
    set_parent_process_death_signal, setrlimit, setsid, wait,
};
use rustix::thread::{CpuSet, sched_setaffinity};
use yunti_base::{Cancel, Code, Error};
use yunti_program::failure::Outcome;

/// Path of this program, also after an update has replaced its file.
pub const SELF: &str = "/proc/self/exe";
pub const KEEP: &str = "keep";
const LAUNCH: &str = "launch";
const POLL: Duration = Duration::from_millis(20);
/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(3);
/// Longest wait for processes that were killed.
const KILLED: Duration = Duration::from_secs(10);

/// Keep the copy of a service, until standard input ends
#[derive(Debug, Args)]
pub struct KeepFlags {
    #[arg(long)]
    user: Option<u32>,
    #[arg(long)]
    group: Option<u32>,
    #[arg(long, value_delimiter = ',')]
    processors: Vec<usize>,
    #[arg(long)]
    files_max: Option<u64>,
    /// Program, and its words from the first on
    #[arg(required = true, num_args = 2.., trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Become the copy of a service
#[derive(Debug, Args)]
pub struct LaunchFlags {
    #[arg(long)]
    keeper: i32,
    #[arg(required = true, num_args = 2.., trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Becomes the copy.
pub fn launch(flags: &LaunchFlags) -> Outcome {
    let failed = |e: io::Error| Error::io(Code::Input, "cannot start the copy", &e);
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|e| failed(e.into()))?;
    if getppid().is_none_or(|pid| pid.as_raw_nonzero().get() != flags.keeper) {
        return Err(Error::new(Code::Cancelled, "the keeper has ended").into());
    }
    let [program, name, words @ ..] = &flags.command[..] else {
        return Err(Error::new(Code::Internal, "the copy has no command").into());
    };
    let error = Command::new(program).arg0(name).args(words).exec();
    Err(failed(error).at_path(program.to_string_lossy()).into())
}

/// Starts the copy and ends it when standard input ends. Exits with the exit code of the copy.
pub fn keep(flags: &KeepFlags) -> Outcome {
    let failed = |e: io::Error| Error::io(Code::Input, "cannot start the copy", &e);
    // Ctrl-C of the terminal must not reach the copy before the keeper ends it in order.
    let _ = setsid();
    let own = rustix::process::getpid();
    set_child_subreaper(Some(own)).map_err(|e| failed(e.into()))?;
    if !flags.processors.is_empty() {
        let mut set = CpuSet::new();
        flags.processors.iter().filter(|one| **one < CpuSet::MAX_CPU).for_each(|one| set.set(*one));
        sched_setaffinity(None, &set).map_err(|e| failed(e.into()))?;
    }
    if let Some(files) = flags.files_max {
        let mut limit = getrlimit(Resource::Nofile);
        limit.maximum = limit.maximum.map(|maximum| maximum.max(files));
        limit.current = Some(files);
        // With fewer files than the original, the copy may still work.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    let mut command = Command::new(SELF);
    command.arg(LAUNCH).args(["--keeper", &own.as_raw_nonzero().to_string(), "--"]).args(&flags.command);
    if let (Some(user), Some(group)) = (flags.user, flags.group) {
        command.uid(user).gid(group);
    }
    let child = command.stdin(Stdio::null()).spawn().map_err(failed)?;
    let child = Pid::from_raw(child.id() as i32);
    let end = Cancel::default();
    let at_end = end.clone();
    thread::spawn(move || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        at_end.set();
    });
    let mut code = 0;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if Some(pid) == child => {
                code = status.exit_status().unwrap_or_else(|| 128 + status.terminating_signal().unwrap_or(0));
            }
            Ok(Some(_)) => {}
            Ok(None) if end.is_set() => break,
            Ok(None) => thread::sleep(POLL),
            // No process is left.
            Err(_) => exit(code),
        }
    }
    end_all(own.as_raw_nonzero().get());
    exit(code)
}

/// Ends all descendants: SIGTERM, and SIGKILL to the ones that stay.
fn end_all(own: i32) {
    let signal = |signal: Signal| {
        for pid in descendants(own, &parents()).into_iter().filter_map(Pid::from_raw) {
            // It may have ended by itself.
            let _ = kill_process(pid, signal);
        }
    };
    let all_end_within = |limit: Duration, repeated: Option<Signal>| {
        let end = Instant::now() + limit;
        while Instant::now() < end {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => {
                    repeated.into_iter().for_each(signal);
                    thread::sleep(POLL);
                }
                Err(_) => return true,
            }
        }
        false
    };
    signal(Signal::TERM);
    if !all_end_within(GRACE, None) {
        // Repeated, as processes may start others.
        all_end_within(KILLED, Some(Signal::KILL));
    }
}

/// Returns all processes below one.
fn descendants(of: i32, parents: &BTreeMap<i32, i32>) -> Vec<i32> {
    let is_below = |pid: i32| {
        let mut at = pid;
        // A process cannot be deeper than there are processes.
        for _ in 0..parents.len() {
            match parents.get(&at) {
                Some(parent) if *parent == of => return true,
                Some(parent) => at = *parent,
                None => return false,
            }
        }
        false
    };
    parents.keys().copied().filter(|pid| is_below(*pid)).collect()
}

/// Returns the parent of each process.
fn parents() -> BTreeMap<i32, i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name may hold blanks and brackets.
        let parent = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()?;
        Some((pid, parent))
    })
    .collect()
}

/// Returns the processes below one, by their number.
pub fn below(top: u32) -> Vec<u32> {
    descendants(top as i32, &parents()).into_iter().map(|pid| pid as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_below_one() {
        let parents = BTreeMap::from([(2, 1), (3, 2), (4, 3), (5, 1), (6, 6)]);
        assert_eq!(descendants(2, &parents), [3, 4]);
        assert_eq!(descendants(1, &parents), [2, 3, 4, 5]);
        let mut child = Command::new("sleep").arg("9").spawn().unwrap();
        let below = below(std::process::id());
        assert!(below.contains(&child.id()) && !below.contains(&1));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
