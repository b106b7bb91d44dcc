//! Services: the processes to record, found again at each slice, with the names that the store keeps them under.

use std::collections::HashMap;

use yunti_probe::target::{Process, arguments, matching, processes, program_words};
use yunti_record::Service;

use super::container::container;
use super::release::Releases;
use super::settings::{Chosen, Settings};

/// Processes recorded of a whole machine, and the share of a processor from which on one is.
const BUSIEST: usize = 12;
const BUSY_SHARE: f64 = 0.01;
/// Programs that run another program.
const HOSTS: [&str; 8] = ["java", "python", "node", "ruby", "perl", "php", "bash", "sh"];
/// Programs of Yunti's own measurements.
const OWN: &str = "yunti-observe";

/// Finder of processes.
pub struct Services {
    chosen: Chosen,
    releases: Releases,
    host: String,
    /// Processor time at the last search by process and start time.
    cpu_seconds: HashMap<(u32, u64), f64>,
    searched_at: Option<std::time::Instant>,
}

impl Services {
    pub fn new(chosen: &Chosen) -> Services {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Services {
            chosen: chosen.clone(),
            releases: Releases::default(),
            host,
            cpu_seconds: HashMap::new(),
            searched_at: None,
        }
    }

    /// Returns the processes to record now.
    pub fn find(&mut self) -> Vec<Process> {
        let mut found: Vec<Process> = self.chosen.pids.iter().filter_map(|pid| Process::of(*pid).ok()).collect();
        for name in &self.chosen.names {
            found.extend(matching(name).into_iter().map(|(process, ..)| process).filter(|process| !is_own(process)));
        }
        if self.chosen.is_machine {
            found.extend(self.busiest());
        }
        found.retain(Process::is_alive);
        found.sort_by_key(|process| process.pid);
        found.dedup_by_key(|process| process.pid);
        found
    }

    /// Returns the processes that have used the most processor time since the last search.
    fn busiest(&mut self) -> Vec<Process> {
        let passed = self.searched_at.replace(std::time::Instant::now()).map(|at| at.elapsed().as_secs_f64());
        let mut now = HashMap::new();
        let mut found = Vec::new();
        for process in processes().filter_map(|pid| Process::of(pid).ok()) {
            // The kernel's own threads have no program.
            let Some(seconds) = process.cpu_seconds().filter(|_| process.executable().is_some()) else { continue };
            let key = (process.pid, process.started());
            let (before, time) = match (self.cpu_seconds.get(&key), passed) {
                (Some(before), Some(passed)) => (*before, passed),
                _ => (0.0, process.age_seconds()),
            };
            now.insert(key, seconds);
            let share = (seconds - before) / time.max(0.1);
            if share >= BUSY_SHARE && !is_own(&process) {
                found.push((share, process));
            }
        }
        self.cpu_seconds = now;
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.into_iter().take(BUSIEST).map(|(_, process)| process).collect()
    }

    /// Returns the description of a process in the store.
    pub fn service(&mut self, process: &Process, settings: &Settings) -> Service {
        let name = settings.service.clone().unwrap_or_else(|| name(process));
        let release = settings.label(&name).map_or_else(|| self.releases.of(process), str::to_owned);
        let mut command = flate2::Crc::new();
        command.update(arguments(process.pid).join("\0").as_bytes());
        Service {
            name,
            release,
            host: self.host.clone(),
            container: container(process),
            pid: process.pid,
            command_hash: format!("{:08x}", command.sum()),
        }
    }
}

fn is_own(process: &Process) -> bool {
    process.executable().is_some_and(|path| path.ends_with(OWN)) || process.pid == std::process::id()
}

/// Returns the name of a service: its jar without a version, its main class or script, or its program.
fn name(process: &Process) -> String {
    let words = program_words(process);
    let file = process.executable().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let program = file.unwrap_or_else(|| process.name.clone());
    match &words[..] {
        [host, run, ..] if is_host(host) && !is_code(run) => without_version(run),
        _ => program,
    }
}

/// Returns true for a program that runs another one: `java`, `python3.11`.
fn is_host(program: &str) -> bool {
    let rest = HOSTS.iter().find_map(|host| program.strip_prefix(host));
    rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | 'v')))
}

/// Returns true for code on the command line, which is no name.
fn is_code(word: &str) -> bool {
    word.contains(|c: char| c.is_whitespace() || matches!(c, ';' | '(' | '"' | '\''))
}

/// Returns the name of a jar without its version and its ending: `shop` of `shop-1.4.2.jar`.
fn without_version(file: &str) -> String {
    let Some(stem) = file.strip_suffix(".jar").or_else(|| file.strip_suffix(".war")) else { return file.to_owned() };
    let at = stem.match_indices(['-', '_']).map(|(at, _)| at).find(|at| {
        let rest = &stem[at + 1..];
        rest.strip_prefix('v').unwrap_or(rest).starts_with(|c: char| c.is_ascii_digit())
    });
    at.filter(|at| *at > 0).map_or(stem, |at| &stem[..at]).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_services() {
        for (file, name) in [
            ("shop-1.4.2.jar", "shop"),
            ("shop-web_v2.jar", "shop-web"),
            ("shop.jar", "shop"),
            ("com.shop.Server", "com.shop.Server"),
            ("serve.py", "serve.py"),
            ("-1.jar", "-1"),
        ] {
            assert_eq!(without_version(file), name);
        }
        assert!(is_host("java") && is_host("python3.11") && !is_host("short") && !is_host("shop"));
        assert!(is_code("import os; os.fork()") && !is_code("serve.py"));
    }

    #[test]
    fn finds_processes_by_number_once() {
        let me = std::process::id();
        let mut services = Services::new(&Chosen { pids: vec![me, me, u32::MAX], ..Chosen::default() });
        assert_eq!(services.find().iter().map(|process| process.pid).collect::<Vec<_>>(), [me]);
        let settings = Settings::of_test();
        let service = services.service(&Process::of(me).unwrap(), &settings);
        assert!(service.name.starts_with("yunti") && service.release == "v1" && service.pid == me, "{service:?}");
    }
}
