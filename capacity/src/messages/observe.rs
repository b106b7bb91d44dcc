//! Measurements of the service by `yunti observe`, which runs as a process beside this one.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use serde::Serialize;
use serde_json::Value;
use yunti_base::{Code, Error, Result};
use yunti_program::part::Part;

use super::flame::Profile;

/// Requests of the service, and their processor time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Requests {
    pub per_second: f64,
    /// Processor time of a request in milliseconds: the service's time by its requests.
    pub cpu_ms: f64,
}

/// Profiles a process for some seconds. `event`: `cpu` or `alloc`.
pub fn profile(pid: u32, event: &str, seconds: f64) -> Result<Profile> {
    let document = run(&["flame", "--event", event], pid, seconds)?;
    Profile::of(&document).ok_or_else(|| unknown("flame"))
}

/// Counts the requests that the service answers. `None`: no requests in this time.
pub fn requests(pid: u32, seconds: f64) -> Result<Option<Requests>> {
    let document = run(&["why"], pid, seconds)?;
    let served = document["requests"]["served"]["requests"].as_f64();
    let (cpu, seconds) = (document["cpu_seconds"].as_f64(), document["seconds"].as_f64());
    let (Some(served), Some(cpu), Some(seconds)) = (served, cpu, seconds) else { return Err(unknown("why")) };
    Ok((served >= 1.0).then(|| Requests { per_second: served / seconds.max(0.001), cpu_ms: cpu * 1000.0 / served }))
}

fn run(words: &[&str], pid: u32, seconds: f64) -> Result<Value> {
    let observe = Part::named("observe").ok_or_else(|| Error::new(Code::Internal, "there is no part 'observe'"))?;
    let program = observe.installed()?;
    let words = words.iter().map(OsStr::new);
    let output = Command::new(&program)
        .args(words)
        .args(["--json", "--pid", &pid.to_string(), "--seconds", &seconds.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|e| Error::io(Code::Internal, "cannot start", &e).at_path(program.to_string_lossy()))?;
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    if let Some(message) = document["error"]["message"].as_str() {
        let code = match document["error"]["exit_code"].as_u64() {
            Some(2) => Code::Usage,
            Some(130) => Code::Cancelled,
            _ => Code::Input,
        };
        let error = Error::new(code, message);
        return Err(match document["error"]["hint"].as_str() {
            Some(hint) => error.hint(hint),
            None => error,
        });
    }
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let line = text.lines().last().unwrap_or("it printed nothing").to_owned();
        return Err(Error::new(Code::Input, format!("yunti observe failed: {line}")));
    }
    Ok(document)
}

fn unknown(command: &str) -> Error {
    Error::new(Code::Internal, format!("yunti observe {command} printed an unknown document"))
        .hint("install yunti observe and yunti capacity of the same version")
}
