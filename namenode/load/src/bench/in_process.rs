//! Load from threads inside the NameNode's process (`InProcess.java`), without sockets and frames.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use yunti_base::{Code, Error, Result};

use super::home::{Home, Setting};
use super::variant::Variant;

const SOURCE: &str = include_str!("InProcess.java");

/// A NameNode with the program that loads it, ended on drop.
pub struct InProcess {
    process: Child,
    requests: ChildStdin,
    responses: BufReader<ChildStdout>,
    home: Home,
    source: PathBuf,
}

/// Figures of one run.
pub struct InProcessSample {
    pub calls_per_second: f64,
    pub cpu_us: f64,
}

/// Way of a call from its thread to the NameNode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// The thread runs the call itself, as a handler does.
    Direct,
    /// Through the call queue and its handlers.
    Queue,
}

impl InProcess {
    /// Starts the NameNode and returns once its name space exists.
    pub fn start(setting: &Setting, variant: &Variant, threads: u32) -> Result<InProcess> {
        let home = Home::make(setting, variant)?;
        let source = std::env::temp_dir().join(format!("yunti-nn-{}-InProcess.java", std::process::id()));
        fs::write(&source, SOURCE).map_err(|e| {
            Error::io(Code::Output, "cannot write InProcess.java", &e).at_path(source.to_string_lossy())
        })?;
        let words = [&*source.to_string_lossy(), &threads.to_string()];
        let mut process = home.java(&words, Stdio::piped(), Stdio::piped())?;
        let (Some(requests), Some(responses)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(home.not_up());
        };
        let mut started = InProcess { process, requests, responses: BufReader::new(responses), home, source };
        match started.line()?.trim() {
            "ready" => Ok(started),
            _ => Err(started.home.not_up()),
        }
    }

    /// Runs all threads for this time.
    pub fn run(&mut self, seconds: f64, reads_percent: f64, way: Way) -> Result<InProcessSample> {
        let way = if way == Way::Queue { "queue" } else { "direct" };
        if writeln!(self.requests, "{seconds} {reads_percent} {way}").is_err() {
            return Err(self.ended());
        }
        let line = self.line()?;
        let words: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [calls, seconds, cpu_seconds] = words[..] else { return Err(self.ended()) };
        Ok(InProcessSample { calls_per_second: calls / seconds, cpu_us: cpu_seconds * 1e6 / calls.max(1.0) })
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        match self.responses.read_line(&mut line) {
            Ok(1..) => Ok(line),
            _ => Err(self.ended()),
        }
    }

    fn ended(&self) -> Error {
        self.home.not_up()
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_file(&self.source);
    }
}
