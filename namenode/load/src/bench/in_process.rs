//! A NameNode that is asked by threads of its own process (`InProcess.java`), without sockets and frames.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use yunti_base::{Code, Error, Result};

use super::home::{Home, Setting};
use super::variant::Variant;

const SOURCE: &str = include_str!("InProcess.java");

pub struct InProcess {
    process: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
    home: Home,
    source: PathBuf,
}

/// What one run showed.
pub struct Worked {
    pub calls_per_second: f64,
    pub cpu_us: f64,
}

/// How its threads ask.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// They do what a handler does.
    Direct,
    /// By the call queue, and the handlers behind it.
    Queue,
}

impl InProcess {
    pub fn start(setting: &Setting, variant: &Variant, threads: u32) -> Result<InProcess> {
        let home = Home::make(setting, variant)?;
        let source = std::env::temp_dir().join(format!("yunti-nn-{}-InProcess.java", std::process::id()));
        fs::write(&source, SOURCE)
            .map_err(|e| Error::io(Code::Output, "cannot write a program", &e).at_path(source.to_string_lossy()))?;
        let words = [&*source.to_string_lossy(), &threads.to_string()];
        let mut process = home.java(&words, Stdio::piped(), Stdio::piped())?;
        let (Some(asks), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(home.not_up());
        };
        let mut started = InProcess { process, asks, answers: BufReader::new(answers), home, source };
        match started.line()?.trim() {
            "ready" => Ok(started),
            _ => Err(started.home.not_up()),
        }
    }

    pub fn run(&mut self, seconds: f64, reads_percent: f64, way: Way) -> Result<Worked> {
        let way = if way == Way::Queue { "queue" } else { "direct" };
        if writeln!(self.asks, "{seconds} {reads_percent} {way}").is_err() {
            return Err(self.ended());
        }
        let line = self.line()?;
        let words: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [calls, seconds, cpu_seconds] = words[..] else { return Err(self.ended()) };
        Ok(Worked { calls_per_second: calls / seconds, cpu_us: cpu_seconds * 1e6 / calls.max(1.0) })
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
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
