//! Demands of a process: measured by `yunti observe demands`, a program beside this one, or read from a file.

use std::fs;
use std::path::Path;

use yunti_base::{Code, Error, Result};
use yunti_model::demands::{Demands, parse};

use crate::observe;

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
    /// Also a heap dump, with the seconds for which it may stop the process.
    pub held: Option<f64>,
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
    let mut words = vec!["demands".to_owned(), "-s".to_owned(), measurement.seconds.to_string()];
    if let Some(pid) = measurement.pid {
        words.extend(["-p".to_owned(), pid.to_string()]);
    }
    if let Some(method) = measurement.method {
        words.extend(["--method".to_owned(), method.to_owned()]);
    }
    if let Some(pause_max) = measurement.held {
        words.extend(["--held".to_owned(), "--pause-max".to_owned(), pause_max.to_string()]);
    }
    words.extend(measurement.name.map(str::to_owned));
    of_text(observe::run(&words)?)
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
