//! Process as /proc reports it. Its number may be reused, so the start time identifies it too.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use yunti_base::{Code, Error, Result};

/// Process, identified by number and start time.
#[derive(Clone, Debug)]
pub struct Process {
    /// Number.
    pub pid: u32,
    /// Start time since boot, in clock ticks.
    started: u64,
    /// Name, at most 15 characters.
    pub name: String,
    /// Number in its own PID namespace, which a process in a container uses.
    pub pid_inside: u32,
}

impl Process {
    /// Returns a process by its number. Fails if it does not exist.
    pub fn of(pid: u32) -> Result<Process> {
        let stat = Stat::of(pid).ok_or_else(|| {
            Error::new(Code::Input, format!("there is no process {pid}")).hint("`ps -e` lists what there is")
        })?;
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let pid_inside = last_of_namespaces(&status).unwrap_or(pid);
        Ok(Process { pid, started: stat.started, name: stat.name, pid_inside })
    }

    /// Returns this process.
    pub fn own() -> Process {
        let pid = std::process::id();
        Process::of(pid).unwrap_or(Process { pid, started: 0, name: String::new(), pid_inside: pid })
    }

    /// Returns true if this process is running, and not only a zombie.
    pub fn is_alive(&self) -> bool {
        Stat::of(self.pid).is_some_and(|stat| stat.started == self.started && !matches!(stat.state, 'Z' | 'X'))
    }

    /// Returns a descriptor that becomes readable when it ends; `None` on older kernels.
    pub fn death(&self) -> Option<OwnedFd> {
        pidfd_open(Pid::from_raw(self.pid as i32)?, PidfdFlags::empty()).ok()
    }

    /// Returns the error for a process that has ended.
    pub fn has_ended(&self) -> Error {
        Error::new(Code::Input, format!("process {} ({}) ended before it could be measured", self.pid, self.name))
    }

    /// Returns true if it started at this time and is running.
    pub fn is_same(&self, started: u64) -> bool {
        self.started == started && self.is_alive()
    }

    /// Returns the start time since boot, in clock ticks.
    pub fn started(&self) -> u64 {
        self.started
    }

    /// Returns the seconds since its start.
    pub fn age_seconds(&self) -> f64 {
        let uptime = fs::read_to_string("/proc/uptime").unwrap_or_default();
        let now = uptime.split_whitespace().next().and_then(|seconds| seconds.parse::<f64>().ok()).unwrap_or(0.0);
        (now - self.started as f64 / rustix::param::clock_ticks_per_second() as f64).max(0.0)
    }

    /// Returns a path of the process as this process reaches it.
    pub fn path(&self, inside: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{inside}", self.pid))
    }

    /// Returns true if it has the same root and mounts as this process.
    pub fn shares_files(&self) -> bool {
        let of = |pid: &str, what: &str| fs::metadata(format!("/proc/{pid}/{what}")).map(|m| (m.dev(), m.ino())).ok();
        let mine = std::process::id().to_string();
        let same = |what| of(&self.pid.to_string(), what).is_some_and(|it| Some(it) == of(&mine, what));
        same("ns/mnt") && same("root/")
    }

    /// Returns the program that it runs.
    pub fn executable(&self) -> Option<PathBuf> {
        fs::read_link(format!("/proc/{}/exe", self.pid)).ok()
    }

    /// Returns its effective user and group.
    pub fn owner(&self) -> Option<(u32, u32)> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let effective = |key: &str| -> Option<u32> {
            status.lines().find_map(|line| line.strip_prefix(key))?.split_whitespace().nth(1)?.parse().ok()
        };
        Some((effective("Uid:")?, effective("Gid:")?))
    }

    /// Returns true if it has a handler for a signal. Without one, most signals end a process.
    pub fn handles(&self, signal: u32) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        caught
            .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
            .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
    }

    /// Returns the mapped files, once each. Fails without the rights.
    pub fn mapped_files(&self) -> Result<Vec<String>> {
        let path = format!("/proc/{}/maps", self.pid);
        let maps = fs::read_to_string(&path).map_err(|e| {
            if !self.is_alive() {
                return self.has_ended();
            }
            let hint = format!("run as its owner, or as root: sudo yunti observe .. -p {}", self.pid);
            Error::io(Code::Input, &format!("process {} cannot be read", self.pid), &e).at_path(path).hint(hint)
        })?;
        let mut files: Vec<String> =
            maps.lines().filter_map(|line| line.splitn(6, ' ').nth(5)).map(|f| f.trim().to_owned()).collect();
        files.retain(|file| file.starts_with('/'));
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// Returns the numbers of its threads.
    pub fn threads(&self) -> Vec<u32> {
        let entries = fs::read_dir(format!("/proc/{}/task", self.pid)).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    /// Returns the name of a thread.
    pub fn thread_name(&self, tid: u32) -> Option<String> {
        let name = fs::read_to_string(format!("/proc/{}/task/{tid}/comm", self.pid)).ok()?;
        Some(name.trim_end().to_owned())
    }

    /// Returns the system call in which a thread waits: its number and its arguments. `None` for one that runs, and
    /// without access.
    pub fn waiting_call(&self, tid: u32) -> Option<(i64, Vec<u64>)> {
        let call = fs::read_to_string(format!("/proc/{}/task/{tid}/syscall", self.pid)).ok()?;
        let mut words = call.split_whitespace();
        let number = words.next()?.parse().ok()?;
        Some((number, words.map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap_or(0)).collect()))
    }

    /// Returns the number of a thread in its own PID namespace.
    pub fn tid_inside(&self, tid: u32) -> u32 {
        let status = fs::read_to_string(format!("/proc/{}/task/{tid}/status", self.pid)).unwrap_or_default();
        last_of_namespaces(&status).unwrap_or(tid)
    }

    /// Returns the processor time of all threads in seconds.
    pub fn cpu_seconds(&self) -> Option<f64> {
        Stat::of(self.pid).map(|stat| stat.cpu_ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
    }
}

/// Number in the innermost PID namespace, from /proc/../status.
fn last_of_namespaces(status: &str) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix("NSpid:"))?.split_whitespace().last()?.parse().ok()
}

/// Returns the arguments of a process, the program first.
pub fn arguments(pid: u32) -> Vec<String> {
    let line = fs::read(Path::new("/proc").join(pid.to_string()).join("cmdline")).unwrap_or_default();
    line.split(|b| *b == 0).filter(|a| !a.is_empty()).map(|a| String::from_utf8_lossy(a).into_owned()).collect()
}

/// Fields of /proc/PID/stat: proc_pid_stat(5).
struct Stat {
    name: String,
    state: char,
    cpu_ticks: u64,
    started: u64,
}

impl Stat {
    fn of(pid: u32) -> Option<Stat> {
        Stat::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Parses the line. The name may contain blanks and brackets.
    fn parse(line: &str) -> Option<Stat> {
        let (head, tail) = line.rsplit_once(')')?;
        let name = head.split_once('(')?.1.to_owned();
        let fields: Vec<&str> = tail.split_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Stat {
            name,
            state: fields.first()?.chars().next()?,
            cpu_ticks: number(14)? + number(15)?,
            started: number(22)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_names_with_brackets() {
        let line = "7 (a) R (b) S 1 7 7 0 -1 4194560 1 2 3 4 50 6 0 0 20 0 1 0 999 1 2";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.name.as_str(), stat.state, stat.cpu_ticks, stat.started), ("a) R (b", 'S', 56, 999));
        assert!(Stat::parse("").is_none() && Stat::parse("1 (x) S").is_none());
    }

    #[test]
    fn reads_this_process() {
        let me = Process::of(std::process::id()).unwrap();
        assert!(me.is_alive() && me.shares_files() && !me.is_same(me.started + 1));
        assert!(me.mapped_files().unwrap().iter().any(|f| f.contains("libc")));
        let error = Process::of(u32::MAX).unwrap_err();
        assert_eq!(error.code(), Code::Input);
    }
}
