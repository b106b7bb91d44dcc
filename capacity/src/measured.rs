//! Demands of a process: measured by `yunti observe demands`, a program beside this one, or read from a file.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use yunti_base::{Code, Error, Result};
use yunti_model::demands::{Demands, parse};
use yunti_program::part::Part;

/// Largest document that is read: thousands of requests with their steps have some megabytes.
const DOCUMENT_BYTES_MAX: u64 = 256 << 20;

/// Process to measure, and how.
#[derive(Clone, Debug)]
pub struct Measurement<'a> {
    pub pid: Option<u32>,
    pub name: Option<&'a str>,
    pub seconds: f64,
    /// Java method whose calls are requests.
    pub method: Option<&'a str>,
}

/// Demands with the document that they come from.
pub struct Measured {
    pub demands: Demands,
    pub document: String,
    /// Parts that were not measured, as `feature: reason`.
    pub skips: Vec<String>,
}

/// Measures a process. An error of the measurement is reported as it is.
pub fn measure(measurement: &Measurement<'_>) -> Result<Measured> {
    let observe = Part::named("observe").ok_or_else(|| Error::new(Code::Internal, "there is no part 'observe'"))?;
    let mut command = Command::new(observe.installed()?);
    command.arg("demands").arg("--json").arg("-s").arg(measurement.seconds.to_string());
    if let Some(pid) = measurement.pid {
        command.arg("-p").arg(pid.to_string());
    }
    if let Some(method) = measurement.method {
        command.arg("--method").arg(method);
    }
    if let Some(name) = measurement.name {
        command.arg(name);
    }
    let failed = |e: std::io::Error| Error::io(Code::Input, "cannot run yunti observe", &e);
    let done = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).output().map_err(failed)?;
    if !done.status.success() {
        // With --json, an error is a document on standard output or the last line of standard error.
        let said = if done.stdout.is_empty() { &done.stderr } else { &done.stdout };
        return Err(reported(said, done.status.code()));
    }
    of_text(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Reads the demands that an earlier measurement saved.
pub fn read(path: &Path) -> Result<Measured> {
    let failed =
        |e: std::io::Error| Error::io(Code::Input, "cannot read the demands", &e).at_path(path.to_string_lossy());
    let bytes = fs::metadata(path).map_err(failed)?.len();
    if bytes > DOCUMENT_BYTES_MAX {
        return Err(Error::new(Code::Corrupt, format!("demands of {bytes} bytes are too large"))
            .at_path(path.to_string_lossy())
            .hint("save them again with --save"));
    }
    of_text(fs::read_to_string(path).map_err(failed)?).map_err(|e| e.at_path(path.to_string_lossy()))
}

fn of_text(document: String) -> Result<Measured> {
    let demands = parse(&document)?;
    let value: serde_json::Value = serde_json::from_str(&document).unwrap_or_default();
    let skips = value["skips"].as_array().into_iter().flatten().filter_map(|skip| skip.as_str().map(str::to_owned));
    Ok(Measured { demands, skips: skips.collect(), document })
}

/// Returns the error that another program of Yunti has printed as JSON or as a line.
fn reported(said: &[u8], code: Option<i32>) -> Error {
    let text = String::from_utf8_lossy(said);
    let line = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("yunti observe printed nothing");
    let error: serde_json::Value = serde_json::from_str(&text).or(serde_json::from_str(line)).unwrap_or_default();
    let error = error.get("error").unwrap_or(&error);
    let code = match code {
        Some(2) => Code::Usage,
        Some(130) => Code::Cancelled,
        Some(1) | None => Code::Internal,
        _ => Code::Input,
    };
    let message = error["message"].as_str().unwrap_or(line).to_owned();
    let all = Error::new(code, message);
    match error["hint"].as_str() {
        Some(hint) => all.hint(hint.to_owned()),
        None => all,
    }
}
