//! `yunti capacity -p PID`: the answer from the traffic that is there.

use std::path::PathBuf;

use clap::Args;
use yunti_base::{Code, Error, Result, whole_file};
use yunti_load::curve::sweep;
use yunti_model::advice::{Advice, Known, REQUESTS_MIN, advice};
use yunti_model::curve::{Curve, Options, curve};
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;

use super::own_load::{OwnLoad, OwnLoadFlags, SHARE, clients_around};
use super::process::{ProcessFlags, SECONDS_MAX};
use crate::measured::Measured;
use crate::report::{Report, Tried, page, predicted, text};

/// Name of the page in errors.
const PAGE: &str = "the page";

/// Seconds of a first measurement, whose peak gives the rate of the second.
const FIRST_SECONDS: f64 = 5.0;

/// Process and output.
#[derive(Debug, Args)]
pub struct AnswerFlags {
    #[command(flatten)]
    process: ProcessFlags,
    #[command(flatten)]
    own_load: OwnLoadFlags,
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
    let load = flags.own_load.load()?;
    let measured = match &load {
        Some(load) => under_load(&flags.process, load)?,
        None => flags.process.measured()?,
    };
    let (curve, advice) = answered(&measured, &Known::default(), &Options::default())?;
    let tried = match &load {
        Some(load) => tried(load, &curve)?,
        None => Vec::new(),
    };
    let report =
        Report { demands: &measured.demands, curve: &curve, advice: &advice, skips: &measured.skips, tried: &tried };
    let written = flags.output.as_deref().map_or(Ok(()), |path| whole_file::write(path, &page(&report), PAGE));
    // Without its page, the answer of a measurement is still worth printing.
    if flags.json { stdout::print_json(&report.json()) } else { stdout::print(&text(&report)) }?;
    Ok(written?)
}

/// Measures a process under load of our own: first at the rate of one client, then at a share of the peak that follows,
/// for as long as an answer needs.
fn under_load(process: &ProcessFlags, load: &OwnLoad) -> Result<Measured> {
    let options = Options::default().quick();
    let first = load.begin(load.of_one_client()?, FIRST_SECONDS);
    let measured = process.measured_without_dump(FIRST_SECONDS)?;
    first.end()?;
    let peak = curve(&measured.demands, &options)?.peak_now.value;
    let rate = peak * SHARE;
    // A slow service needs longer for the requests of an answer; some of them come at the edges.
    let seconds = process.seconds().max((1.5 * REQUESTS_MIN / rate).ceil()).min(SECONDS_MAX);
    let second = load.begin(rate, seconds);
    let measured = process.measured_for(seconds)?;
    second.end()?;
    Ok(measured)
}

/// Tries numbers of clients around the one that reaches the peak.
fn tried(load: &OwnLoad, curve: &Curve) -> Result<Vec<Tried>> {
    let points = load.try_clients(&clients_around(curve.threads.value))?;
    let of = |point: sweep::Point| Tried {
        clients: point.clients,
        per_second: point.report.done_per_second,
        mean_ms: point.report.service.mean_ms,
        errors: point.report.errors,
        predicted: predicted(curve, point.clients as f64),
    };
    Ok(points.into_iter().map(of).collect())
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
        Some(further) if further + measured.demands.seconds <= SECONDS_MAX => {
            let seconds = (further + measured.demands.seconds).ceil();
            error.hint(format!("measure {further:.0} seconds longer: -s {seconds:.0}"))
        }
        _ => error.hint("measure when there is more traffic, or send some: yunti capacity load"),
    })
}
