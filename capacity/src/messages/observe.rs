//! Measurements of the service by `yunti observe`.

use serde::Serialize;
use serde_json::Value;
use yunti_base::{Code, Error, Result};

use super::flame::Profile;
use crate::observe;

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
    let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    words.extend(["--pid".to_owned(), pid.to_string(), "--seconds".to_owned(), seconds.to_string()]);
    Ok(serde_json::from_str(&observe::run(&words)?).unwrap_or_default())
}

fn unknown(command: &str) -> Error {
    Error::new(Code::Internal, format!("yunti observe {command} printed an unknown document"))
        .hint("install yunti observe and yunti capacity of the same version")
}
