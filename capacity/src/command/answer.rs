//! `yunti capacity -p PID`: the answer from the traffic that is there.

use clap::Args;
use yunti_base::{Code, Error, Result};
use yunti_model::advice::{Advice, Known, advice};
use yunti_model::curve::{Curve, Options, curve};
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;

use super::process::ProcessFlags;
use crate::measured::Measured;
use crate::report::{Report, text};

/// Process and output.
#[derive(Debug, Args)]
pub struct AnswerFlags {
    #[command(flatten)]
    process: ProcessFlags,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn answer(flags: &AnswerFlags) -> Outcome {
    let measured = flags.process.measured()?;
    let (curve, advice) = answered(&measured, &Known::default(), &Options::default())?;
    let report = Report { demands: &measured.demands, curve: &curve, advice: &advice, skips: &measured.skips };
    if flags.json { stdout::print_json(&report.json()) } else { stdout::print(&text(&report)) }
}

/// Returns the curve and the advice. Without enough data there is no answer, but an error that says how long to wait.
fn answered(measured: &Measured, known: &Known, options: &Options) -> Result<(Curve, Advice)> {
    let curve = curve(&measured.demands, options)?;
    let advice = advice(&measured.demands, &curve, known, options)?;
    if advice.data.is_enough {
        return Ok((curve, advice));
    }
    let reason = advice.data.reason.unwrap_or_else(|| "the data are too few".to_owned());
    let error = Error::new(Code::Input, format!("no answer: {reason}"));
    Err(match advice.data.wait_seconds {
        Some(seconds) if seconds <= 600.0 => error.hint(format!("measure {seconds:.0} seconds: -s {seconds:.0}")),
        _ => error.hint("measure when there is more traffic, or send some: yunti capacity load"),
    })
}
