//! Flags that name what is measured: a process, or demands that were saved.

use std::path::{Path, PathBuf};

use clap::Args;
use yunti_base::{Code, Error, Result, whole_file};

use crate::measured::{Measured, Measurement, measure, read};

/// Longest measurement.
pub const SECONDS_MAX: f64 = 600.0;

/// Process to measure.
#[derive(Debug, Args)]
pub struct ProcessFlags {
    /// Process to measure, by its number
    #[arg(short, long, value_name = "PID")]
    pid: Option<u32>,
    /// Process to measure, by a part of its name, its jar or its main class
    #[arg(short, long, value_name = "NAME", conflicts_with = "pid")]
    name: Option<String>,
    /// Seconds to measure
    #[arg(short, long, value_name = "N", default_value = "15", value_parser = seconds)]
    seconds: f64,
    /// Define a request as a call of this Java method; by default, an HTTP request of the server in the JVM
    #[arg(short, long, value_name = "Class.method")]
    method: Option<String>,
    /// JVM: also find what to release before remote calls, by a heap dump, which stops the service
    #[arg(long)]
    held: bool,
    /// Take the heap dump only if it is expected to stop the service for no more than this
    #[arg(long, value_name = "SECONDS", default_value = "5", requires = "held", value_parser = seconds)]
    pause_max: f64,
    /// Take the demands that an earlier run saved, and measure nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pid", "name", "method", "save", "held"])]
    demands: Option<PathBuf>,
    /// Save the measured demands
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

fn seconds(text: &str) -> std::result::Result<f64, String> {
    seconds_up_to(SECONDS_MAX, text)
}

/// Parses a number of seconds from 1 on.
pub fn seconds_up_to(max: f64, text: &str) -> std::result::Result<f64, String> {
    let is_fit = |s: &f64| (1.0..=max).contains(s);
    text.parse().ok().filter(is_fit).ok_or_else(|| format!("'{text}' is no time: 1 to {max} seconds"))
}

impl ProcessFlags {
    /// Returns whether the measured demands go to this file, or are read from it.
    pub fn saves_to(&self, path: &Path) -> bool {
        [&self.save, &self.demands].into_iter().flatten().any(|used| used == path)
    }

    /// Returns the seconds to measure.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Returns the number of the process, if it is named by its number.
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Returns the Java method whose calls are requests.
    pub fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// Returns whether a process is measured, and no file is read.
    pub fn is_process(&self) -> bool {
        self.demands.is_none()
    }

    /// Returns the demands: measured, or read.
    pub fn measured(&self) -> Result<Measured> {
        self.measured_for(self.seconds)
    }

    /// Returns the demands, measured for another time.
    pub fn measured_for(&self, seconds: f64) -> Result<Measured> {
        self.measure(seconds, self.held.then_some(self.pause_max))
    }

    /// Returns the demands, measured for another time and without a heap dump.
    pub fn measured_without_dump(&self, seconds: f64) -> Result<Measured> {
        self.measure(seconds, None)
    }

    fn measure(&self, seconds: f64, held: Option<f64>) -> Result<Measured> {
        if let Some(path) = &self.demands {
            return read(path);
        }
        if self.pid.is_none() && self.name.is_none() {
            let error = Error::new(Code::Usage, "no process is named");
            return Err(error.hint("name one: -p PID, or -n with a part of its name"));
        }
        if let Some(path) = &self.save {
            whole_file::check(path, "demands")?;
        }
        let (name, method) = (self.name.as_deref(), self.method.as_deref());
        let measured = measure(&Measurement { pid: self.pid, name, seconds, method, held })?;
        if let Some(path) = &self.save {
            whole_file::write(path, &measured.document, "demands")?;
        }
        Ok(measured)
    }
}
