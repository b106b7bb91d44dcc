//! Service that this program starts: a process group of its own, its processor time, and its end.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use yunti_base::{Code, Error, Result};

/// Clock ticks a second in /proc, on every machine.
const TICKS: f64 = 100.0;

/// Running service. Dropping it kills its processes.
pub struct Service {
    child: Child,
    group: Pid,
    ended: bool,
}

/// Start of a service.
pub struct Start {
    pub words: Vec<OsString>,
    pub directory: PathBuf,
    pub variables: Vec<(String, OsString)>,
    /// File for its output; its output is this process's own without one.
    pub output: Option<PathBuf>,
}

impl Start {
    /// Starts the service.
    pub fn start(&self) -> Result<Service> {
        let (program, arguments) = self.words.split_first().expect("a command has a program");
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.directory).process_group(0);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let cannot = |e: &std::io::Error| {
            Error::io(Code::Usage, "cannot start the program", e).at_path(program.to_string_lossy())
        };
        if let Some(path) = &self.output {
            let file = fs::File::create(path)
                .map_err(|e| Error::io(Code::Output, "cannot write", &e).at_path(path.to_string_lossy()))?;
            command.stdin(Stdio::null()).stdout(file.try_clone().map_err(|e| cannot(&e))?).stderr(file);
        }
        let child = command.spawn().map_err(|e| cannot(&e).hint("check the command after --"))?;
        let group = Pid::from_child(&child);
        Ok(Service { child, group, ended: false })
    }
}

impl Service {
    /// Returns the status if the first process of the service has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.child.try_wait().ok().flatten();
        self.ended |= status.is_some();
        status
    }

    /// Returns the processor seconds that all processes of the service have used, their dead children included.
    pub fn cpu_seconds(&self) -> f64 {
        let group = self.group.as_raw_nonzero().get();
        let ours = processes().into_iter().filter_map(|pid| Fields::of(&pid)).filter(|fields| fields.group == group);
        ours.map(|fields| fields.ticks).sum::<u64>() as f64 / TICKS
    }

    /// Returns the process of the service that runs `java`.
    pub fn java(&self) -> Option<PathBuf> {
        let is_java = |pid: &PathBuf| {
            let is_ours = Fields::of(pid).is_some_and(|fields| fields.group == self.group.as_raw_nonzero().get());
            is_ours
                && fs::read_link(pid.join("exe")).is_ok_and(|exe| exe.file_name().is_some_and(|name| name == "java"))
        };
        processes().into_iter().find(is_java)
    }

    /// Waits for the end of the service, for at most `patience`.
    pub fn wait(&mut self, patience: Duration) -> Option<ExitStatus> {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.ended() {
                return Some(status);
            }
            if begin.elapsed() >= patience {
                return None;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends the service by SIGTERM. Returns its status, or `None` if it does not end within `patience`.
    pub fn stop(&mut self, patience: Duration) -> Option<ExitStatus> {
        let _ = kill_process_group(self.group, Signal::TERM);
        self.wait(patience)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Processes that outlive the first one are in its group too.
        let _ = kill_process_group(self.group, Signal::KILL);
        if !self.ended {
            let _ = self.child.wait();
        }
    }
}

/// Fields of /proc/PID/stat.
struct Fields {
    group: i32,
    ticks: u64,
}

impl Fields {
    fn of(pid: &Path) -> Option<Fields> {
        let stat = fs::read_to_string(pid.join("stat")).ok()?;
        // The name in parentheses may have spaces. The first field behind it is field 3 of proc(5).
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = fields.get(11..15)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
        Some(Fields { group: fields.get(2)?.parse().ok()?, ticks })
    }
}

fn processes() -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_process =
        |path: &PathBuf| path.file_name().is_some_and(|n| n.as_encoded_bytes().iter().all(u8::is_ascii_digit));
    entries.map(|entry| entry.path()).filter(is_process).collect()
}
