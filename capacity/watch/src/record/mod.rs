//! Record: one measurement of a service, as the store keeps it (docs/formats/watch.md).
//!
//! ```text
//!   Record = Head (time, label, host, windows, load figures)
//!          + functions (own and total processor time, by window)
//!          + attachments (documents of `yunti capacity`)
//! ```

mod lines;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use lines::{from_line, from_lines, head_of, to_line, to_lines};

/// Completeness of a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// All windows belong to one process.
    #[default]
    Complete,
    /// The process ended or restarted, or the measurement was cut short. Statistics leave it out.
    Partial,
    /// No process, or no measurement of it.
    Missing,
}

impl State {
    /// Returns the name in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            State::Complete => "complete",
            State::Partial => "partial",
            State::Missing => "missing",
        }
    }
}

/// Machine and runtime of a measured process. Unknown texts are empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    pub name: String,
    pub processors: u32,
    pub kernel: String,
    /// Version of the JVM or other runtime.
    pub runtime: String,
    pub pid: u32,
    /// Age of the process in seconds: code of a young JVM is not compiled yet.
    pub age_seconds: f64,
}

/// Figures of some seconds. Unknown figures are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Window {
    pub seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<f64>,
    /// Processor time of the process in milliseconds, as the kernel counts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated_bytes: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ms: Option<f64>,
    /// Processor time of the calibration loop in milliseconds: the speed of the host in this window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration_ms: Option<f64>,
    /// Processor time of the process's compilers, which is in `cpu_ms` and no cost of a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiler_ms: Option<f64>,
    /// Processor time of all other programs of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others_ms: Option<f64>,
    /// Processor time that the hypervisor gave to other machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stolen_ms: Option<f64>,
}

impl Window {
    /// Returns the processor time of the process without its compilers.
    pub fn own_cpu_ms(&self) -> Option<f64> {
        self.cpu_ms.map(|cpu| (cpu - self.compiler_ms.unwrap_or(0.0)).max(0.0))
    }
}

/// Returns a figure as records keep it: three decimals are finer than a sample, and short in files.
pub fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// Figures of the bounded load run. Unknown figures are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadFigures {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_second: Option<f64>,
    /// Part of the requests that failed: no answer, or a status that is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<f64>,
    /// Largest rate that the service carried, if the run searched for it or the model predicts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_per_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ms: Option<f64>,
}

/// Everything of a record but functions and attachments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Head {
    /// Number of the record in its history. It grows even if the clock goes back.
    pub sequence: u64,
    /// Unix time of the beginning in milliseconds.
    pub time_ms: u64,
    /// Local date on which the schedule demanded the record; absent for other runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<String>,
    /// Release label; empty if unknown.
    pub label: String,
    pub state: State,
    pub notes: Vec<String>,
    pub host: Host,
    pub windows: Vec<Window>,
    pub load: LoadFigures,
    /// Processor time that one sample of the profile stands for, in milliseconds.
    pub sample_ms: f64,
    /// Bytes that one sample of an allocation stands for; 0 if bytes are exact or unknown.
    pub sample_bytes: f64,
}

/// Processor time of a function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Function {
    pub name: String,
    /// Place of the function that calls it most, if that has most of its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<usize>,
    /// Sampled milliseconds of the function itself, by window.
    #[serde(rename = "self_ms")]
    pub own_ms: Vec<f64>,
    /// Sampled milliseconds of the function with its callees, by window.
    pub total_ms: Vec<f64>,
}

/// One measurement of a service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    #[serde(flatten)]
    pub head: Head,
    /// Sampled milliseconds of all stacks, by window.
    #[serde(default)]
    pub sampled_ms: Vec<f64>,
    #[serde(default)]
    pub functions: Vec<Function>,
    /// Document of `yunti capacity -p PID --json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Value>,
    /// Document of `yunti capacity load --json`.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "load_run")]
    pub load_run: Option<Value>,
}
