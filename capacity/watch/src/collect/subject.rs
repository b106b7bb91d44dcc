//! Subject: the process of a watch, found by its command line, with its host and runtime.

use std::fs;
use std::path::Path;

use regex::Regex;
use yunti_base::{Code, Error, Result};

use crate::record::Host;

/// Clock ticks a second of `/proc/PID/stat` on Linux.
pub(super) const TICKS: f64 = 100.0;
/// Programs that only start others: their command lines contain the ones of their children.
const LAUNCHERS: [&str; 8] = ["sh", "bash", "dash", "zsh", "sudo", "su", "timeout", "nohup"];
/// Command lines shown in an error, and columns of each.
const SHOWN: usize = 3;
const COLUMNS: usize = 60;

/// Process that is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub pid: u32,
    /// Start in ticks since the boot: a process with the same number and another start is another process.
    pub started: u64,
    pub command: String,
}

/// Checks a pattern. Errors have the code [`Code::Usage`].
pub fn check_pattern(pattern: &str) -> Result<Regex> {
    let regex = Regex::new(pattern).map_err(|e| {
        let line = e.to_string().lines().last().unwrap_or_default().trim().to_owned();
        Error::new(Code::Usage, format!("--pid-of '{pattern}' is no regular expression: {line}"))
    })?;
    if pattern.is_empty() || regex.is_match("") {
        let error = Error::new(Code::Usage, format!("--pid-of '{pattern}' matches every process"));
        return Err(error.hint("name the program and its jar: --pid-of 'java .*shop.jar'"));
    }
    Ok(regex)
}

impl Subject {
    /// Returns the one process that a pattern matches; `None` if there is none. Several are an error.
    pub fn find(pattern: &str) -> Result<Option<Subject>> {
        let regex = check_pattern(pattern)?;
        let found: Vec<Subject> = processes()
            .filter(|subject| regex.is_match(&subject.command))
            .filter(|subject| !is_own(subject) && !is_launcher(&subject.command))
            .collect();
        match &found[..] {
            [] => Ok(None),
            [one] => Ok(Some(one.clone())),
            several => {
                let shown = several.iter().take(SHOWN).map(|s| format!("{} '{}'", s.pid, shortened(&s.command)));
                let shown: Vec<String> = shown.collect();
                let rest = if several.len() > SHOWN { ", .." } else { "" };
                let what = format!("{} processes match '{pattern}': {}{rest}", several.len(), shown.join(", "));
                Err(Error::new(Code::Input, what).hint("give a narrower --pid-of"))
            }
        }
    }

    /// Returns true while the same process runs.
    pub fn is_alive(&self) -> bool {
        stat(self.pid).is_some_and(|(state, started)| started == self.started && !matches!(state, 'Z' | 'X'))
    }

    /// Returns its machine and runtime.
    pub fn host(&self) -> Host {
        let kernel =
            |name: &str| fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default().trim().to_owned();
        let uptime = fs::read_to_string("/proc/uptime").unwrap_or_default();
        let uptime: f64 = uptime.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
        Host {
            name: kernel("hostname"),
            processors: std::thread::available_parallelism().map_or(0, |n| n.get() as u32),
            kernel: kernel("osrelease"),
            runtime: runtime(self.pid),
            pid: self.pid,
            age_seconds: (uptime - self.started as f64 / TICKS).max(0.0),
        }
    }
}

fn processes() -> impl Iterator<Item = Subject> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let command = String::from_utf8_lossy(&words).trim_end_matches('\0').replace('\0', " ");
        let (state, started) = stat(pid)?;
        (!command.is_empty() && state != 'Z').then_some(Subject { pid, started, command })
    })
}

/// Returns the state and the start of a process.
fn stat(pid: u32) -> Option<(char, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat_fields(&text);
    Some((fields.next()?.chars().next()?, fields.nth(18)?.parse().ok()?))
}

/// Returns the fields of `/proc/PID/stat` from the state on, the third one. The name of the program before it may
/// contain spaces and parentheses.
pub(super) fn stat_fields(text: &str) -> impl Iterator<Item = &str> {
    text.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace()
}

/// Returns true for this program and other commands of Yunti, whose arguments contain the pattern itself.
fn is_own(subject: &Subject) -> bool {
    let program = subject.command.split(' ').next().unwrap_or_default();
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    subject.pid == std::process::id() || name == "yunti" || name.starts_with("yunti-")
}

fn is_launcher(command: &str) -> bool {
    let program = command.split(' ').next().unwrap_or_default();
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    LAUNCHERS.contains(&name.trim_start_matches('-'))
}

fn shortened(command: &str) -> String {
    let short: String = command.chars().filter(|c| !c.is_control()).take(COLUMNS).collect();
    if short.len() < command.len() { short + ".." } else { short }
}

/// Returns `Java 17.0.15` for a JVM, and the name of the program for others.
fn runtime(pid: u32) -> String {
    let Ok(program) = fs::read_link(format!("/proc/{pid}/exe")) else { return String::new() };
    let release = program.parent().and_then(Path::parent).map(|home| home.join("release"));
    let text = release.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    let version = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="));
    match version {
        Some(version) => format!("Java {}", version.trim_matches('"')),
        None => program.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn one_process_is_found() {
        let seconds = format!("8{}.5", std::process::id());
        let mut child = Command::new("sleep").arg(&seconds).spawn().unwrap();
        let pattern = format!("^sleep {seconds}$");
        // The program is replaced some moments after the fork.
        let found = (0..200).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            Subject::find(&pattern).unwrap()
        });
        let subject = found.expect("the program runs");
        assert!(subject.pid == child.id() && subject.is_alive());
        assert!(!Subject { started: subject.started + 1, ..subject.clone() }.is_alive());
        assert_eq!((subject.host().runtime.as_str(), subject.host().pid), ("sleep", subject.pid));
        let mut second = Command::new("sleep").arg(&seconds).spawn().unwrap();
        let error = (0..200).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            Subject::find(&pattern).err()
        });
        let error = error.expect("two programs run").to_string();
        assert!(error.starts_with("2 processes match") && error.contains("narrower"), "{error}");
        for child in [&mut child, &mut second] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(!subject.is_alive() && Subject::find(&pattern).unwrap().is_none());
    }

    #[test]
    fn patterns_are_checked() {
        for wrong in ["", "(", ".*", "a|"] {
            assert_eq!(check_pattern(wrong).unwrap_err().code(), Code::Usage, "{wrong}");
        }
        assert!(is_launcher("/bin/sh -c java") && is_launcher("-bash") && !is_launcher("java -jar sh.jar"));
    }
}
