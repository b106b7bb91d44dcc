//! `yunti capacity -p PID`: the answer from the traffic that is there.

use std::path::PathBuf;

use clap::Args;
use yunti_base::{Code, Error, whole_file};
use yunti_model::curve::{Options, curve};
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;

use crate::measured::{Measurement, measure, read};
use crate::report::{Report, text};

/// Process, time and output.
#[derive(Debug, Args)]
pub struct AnswerFlags {
    /// Process to measure, by its number
    #[arg(short, long, value_name = "PID", conflicts_with = "name")]
    pid: Option<u32>,
    /// Process to measure, by a part of its name, its jar or its main class
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Seconds to measure
    #[arg(short, long, value_name = "N", default_value = "15", value_parser = seconds)]
    seconds: f64,
    /// Define a request as a call of this Java method; by default, an HTTP request of the server in the JVM
    #[arg(short, long, value_name = "Class.method")]
    method: Option<String>,
    /// Take the demands that an earlier run saved, and measure nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pid", "name", "method", "save"])]
    demands: Option<PathBuf>,
    /// Save the measured demands
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let is_fit = |s: &f64| (1.0..=600.0).contains(s);
    text.parse().ok().filter(is_fit).ok_or_else(|| format!("'{text}' is no time: 1 to 600 seconds"))
}

/// Runs the command.
pub fn answer(flags: &AnswerFlags) -> Outcome {
    let measured = match &flags.demands {
        Some(path) => read(path)?,
        None if flags.pid.is_none() && flags.name.is_none() => {
            let error = Error::new(Code::Usage, "no process is named");
            return Err(error.hint("name one: -p PID, or a part of its name").into());
        }
        None => {
            if let Some(path) = &flags.save {
                whole_file::check(path, "demands")?;
            }
            let (name, method) = (flags.name.as_deref(), flags.method.as_deref());
            measure(&Measurement { pid: flags.pid, name, seconds: flags.seconds, method })?
        }
    };
    if let Some(path) = &flags.save {
        whole_file::write(path, &measured.document, "demands")?;
    }
    let curve = curve(&measured.demands, &Options::default())?;
    let report = Report { demands: &measured.demands, curve: &curve, skips: &measured.skips };
    if flags.json { stdout::print_json(&report.json()) } else { stdout::print(&text(&report)) }
}
