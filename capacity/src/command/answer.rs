//! `yunti capacity -p PID`: the answer from the traffic that is there.

use std::path::PathBuf;

use clap::Args;
use yunti_base::{Code, Error, Result, whole_file};
use yunti_model::advice::{Advice, Known, advice};
use yunti_model::curve::{Curve, Options, curve};
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;

use super::process::ProcessFlags;
use crate::measured::Measured;
use crate::report::{Report, page, text};

/// Name of the page in errors.
const PAGE: &str = "the page";

/// Process and output.
#[derive(Debug, Args)]
pub struct AnswerFlags {
    #[command(flatten)]
    process: ProcessFlags,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Also write the answer as a self-contained HTML page, with sliders for changes
    #[arg(short, long, value_name = "FILE.html")]
    output: Option<PathBuf>,
}

/// Runs the command.
pub fn answer(flags: &AnswerFlags) -> Outcome {
    // First, so that a page that cannot be written fails before the measurement.
    if let Some(path) = &flags.output {
        if flags.process.saves_to(path) {
            let error = Error::new(Code::Usage, "-o names the file of the demands").at_path(path.to_string_lossy());
            return Err(error.hint("name two files").into());
        }
        whole_file::check(path, PAGE)?;
    }
    let measured = flags.process.measured()?;
    let (curve, advice) = answered(&measured, &Known::default(), &Options::default())?;
    let report = Report { demands: &measured.demands, curve: &curve, advice: &advice, skips: &measured.skips };
    let written = flags.output.as_deref().map_or(Ok(()), |path| whole_file::write(path, &page(&report), PAGE));
    // Without its page, the answer of a measurement is still worth printing.
    if flags.json { stdout::print_json(&report.json()) } else { stdout::print(&text(&report)) }?;
    Ok(written?)
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
