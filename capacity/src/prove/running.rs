//! Running copy: its start, the moment from which it listens, its last words, and its end.

use std::io::Read;
use std::net::IpAddr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use yunti_base::{Cancel, Code, Error, Result};

use super::keeper;
use super::plan::Recipe;
use super::ports;

/// Longest wait for a copy to listen.
const START: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(50);
/// Bytes of a copy's output that are kept for an error.
const TAIL_BYTES: usize = 8 << 10;
const LINE_CHARS: usize = 300;

/// Copy of a service. Dropping it ends the copy.
pub struct Running {
    keeper: Child,
    /// Open as long as the copy may run.
    input: Option<ChildStdin>,
    output: Option<JoinHandle<()>>,
    tail: Arc<Mutex<Vec<u8>>>,
    pub port: u16,
}

impl Running {
    /// Starts a copy at a free port.
    pub fn start(recipe: &Recipe) -> Result<Running> {
        let failed = |e: std::io::Error| Error::io(Code::Input, "cannot start a copy", &e);
        // Two runs of this program at once begin at different ports.
        let mut start = std::process::id().wrapping_mul(37);
        let mut free = || -> Result<u16> {
            let port = ports::free(start)?;
            start = u32::from(port) + 1;
            Ok(port)
        };
        let port = free()?;
        let recipe = recipe.at(port, &mut free)?;
        let (mut reader, writer) = std::io::pipe().map_err(failed)?;
        let mut command = Command::new(keeper::SELF);
        command.arg(keeper::KEEP).args(options(&recipe)).arg("--").arg(&recipe.program).args(&recipe.words);
        if let Some(environment) = &recipe.environment {
            command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
        }
        if let Some(folder) = &recipe.folder {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(writer.try_clone().map_err(failed)?).stderr(writer);
        let mut keeper = command.spawn().map_err(failed)?;
        // The ends of the pipe that the command holds must close, or its output never ends.
        drop(command);
        let tail = Arc::new(Mutex::new(Vec::new()));
        let kept = tail.clone();
        let output = thread::spawn(move || {
            let mut block = [0; 4096];
            while let Ok(n @ 1..) = reader.read(&mut block) {
                let mut kept = kept.lock().unwrap_or_else(|e| e.into_inner());
                kept.extend(&block[..n]);
                let excess = kept.len().saturating_sub(TAIL_BYTES);
                kept.drain(..excess);
            }
        });
        let input = keeper.stdin.take();
        Ok(Running { keeper, input, output: Some(output), tail, port })
    }

    /// Waits until the copy listens on its port. Returns the addresses at which it listens.
    pub fn listens(&mut self, cancel: &Cancel) -> Result<Vec<IpAddr>> {
        let end = Instant::now() + START;
        loop {
            cancel.check()?;
            self.check()?;
            // The port was free, so it is the copy that listens, if by a process elsewhere, as of a container.
            let found = ports::at(self.port);
            if !found.is_empty() {
                return Ok(found.iter().map(|listener| listener.address).collect());
            }
            if Instant::now() > end {
                let (port, seconds) = (self.port, START.as_secs());
                let error = Error::new(
                    Code::Input,
                    format!("the copy does not listen on its port {port} after {seconds} s{}", self.last_words()),
                );
                return Err(error.hint("give a command that takes its port: --copy 'COMMAND --port {port}'"));
            }
            thread::sleep(POLL);
        }
    }

    /// Returns the process of the copy that listens on its port.
    pub fn pid(&self) -> Option<u32> {
        let has_port = |pid: &u32| ports::of_process(*pid).iter().any(|listener| listener.port == self.port);
        keeper::below(self.keeper.id()).into_iter().find(has_port)
    }

    /// Returns an error if the copy has ended.
    pub fn check(&mut self) -> Result<()> {
        let Ok(Some(status)) = self.keeper.try_wait() else { return Ok(()) };
        if let Some(output) = self.output.take() {
            // All writers have ended.
            let _ = output.join();
        }
        let code = status.code().map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
        let error = Error::new(Code::Input, format!("the copy has ended with {code}{}", self.last_words()));
        Err(error.hint("try its command by hand, or give another: --copy 'COMMAND --port {port}'"))
    }

    /// Returns the last line of the copy's output, after a colon.
    fn last_words(&self) -> String {
        let tail = self.tail.lock().unwrap_or_else(|e| e.into_inner());
        let text = String::from_utf8_lossy(&tail);
        let line = text.lines().map(str::trim).rfind(|line| !line.is_empty());
        line.map_or_else(String::new, |line| {
            let shown: String = line.chars().filter(|c| !c.is_control()).take(LINE_CHARS).collect();
            format!(": {shown}")
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The keeper ends the copy when its standard input ends.
        drop(self.input.take());
        let _ = self.keeper.wait();
        if let Some(output) = self.output.take() {
            let _ = output.join();
        }
    }
}

/// Returns the options of the keeper.
fn options(recipe: &Recipe) -> Vec<String> {
    let mut all = Vec::new();
    let is_other = |user: u32| rustix::process::geteuid().as_raw() != user;
    if let Some((user, group)) = recipe.user.filter(|(user, _)| is_other(*user)) {
        all.extend(["--user".to_owned(), user.to_string(), "--group".to_owned(), group.to_string()]);
    }
    if !recipe.processors.is_empty() {
        let numbers: Vec<String> = recipe.processors.iter().map(usize::to_string).collect();
        all.extend(["--processors".to_owned(), numbers.join(",")]);
    }
    if let Some(files) = recipe.files_max {
        all.extend(["--files-max".to_owned(), files.to_string()]);
    }
    all
}
