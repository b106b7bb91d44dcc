//! `yunti capacity load`: load on a server of HTTP.

mod flags;
mod prepare;
mod progress;
mod text;

use serde::Serialize;
use serde_json::{Value, json};
use yunti_base::{Cancel, Code, Error};
use yunti_load::curve::steps::{self, Ladder};
use yunti_load::curve::sweep;
use yunti_load::guard::End;
use yunti_load::report::{Report, Second};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::signals::cancel_on_signals;
use yunti_program::terminal::stdout;

pub use flags::LoadFlags;
pub use prepare::prepare;
use prepare::{LogNotes, Prepared};
use progress::Progress;

/// Runs the command.
pub fn load(flags: &LoadFlags) -> Outcome {
    let prepared = prepare(flags)?;
    let cancel = Cancel::default();
    cancel_on_signals(&cancel);
    match (flags.steps, flags.sweep.is_empty()) {
        (true, _) => climb(flags, &prepared, &cancel),
        (false, false) => sweep(flags, &prepared, &cancel),
        (false, true) => run(flags, &prepared, &cancel),
    }
}

fn run(flags: &LoadFlags, prepared: &Prepared, cancel: &Cancel) -> Outcome {
    let progress = Progress::new(flags.json);
    let report = yunti_load::run(&prepared.plan, cancel, &mut |second: &Second| progress.show(second))?;
    progress.clear();
    print(flags, prepared, "run", &report, || text::report(&report) + &log_notes(prepared))?;
    outcome(&report)
}

fn climb(flags: &LoadFlags, prepared: &Prepared, cancel: &Cancel) -> Outcome {
    let ladder = Ladder { from: flags.from, factor: flags.factor, spacing: flags.arrivals.into() };
    let progress = Progress::new(flags.json);
    let climb = steps::run(&prepared.plan, &ladder, cancel, &mut |second| progress.show(second), &mut |step| {
        progress.keep(&text::step_line(step))
    })?;
    progress.clear();
    print(flags, prepared, "steps", &climb, || text::climb(&prepared.plan, &climb) + &log_notes(prepared))?;
    if cancel.is_set() {
        return Err(Failure::Reported(Code::Cancelled));
    }
    climb.steps.last().map_or(Ok(()), |step| if climb.peak_per_second > 0.0 { Ok(()) } else { outcome(&step.report) })
}

fn sweep(flags: &LoadFlags, prepared: &Prepared, cancel: &Cancel) -> Outcome {
    let clients: Vec<usize> = flags.sweep.iter().map(|&n| n as usize).collect();
    let progress = Progress::new(flags.json);
    let points = sweep::run(&prepared.plan, &clients, cancel, &mut |second| progress.show(second), &mut |point| {
        progress.keep(&text::point_line(point))
    })?;
    progress.clear();
    print(flags, prepared, "sweep", &points, || text::sweep(&prepared.plan, &points) + &log_notes(prepared))?;
    points.last().map_or(Ok(()), |point| outcome(&point.report))
}

/// Prints a result as JSON or text.
fn print(
    flags: &LoadFlags,
    prepared: &Prepared,
    mode: &str,
    result: &impl Serialize,
    text: impl FnOnce() -> String,
) -> Outcome {
    if !flags.json {
        return stdout::print(&text());
    }
    let mut document = json!({
        "format": "yunti-load/1",
        "version": env!("CARGO_PKG_VERSION"),
        "mode": mode,
        "log": prepared.log.as_ref().map(log_json),
    });
    document[mode] = serde_json::to_value(result)
        .map_err(|e| Error::new(Code::Internal, format!("cannot write the report: {e}")))?;
    stdout::print_json(&document)
}

fn log_json(log: &LogNotes) -> Value {
    json!({
        "requests": log.requests,
        "seconds": log.seconds,
        "other_methods": log.left_out.other_methods,
        "unreadable": log.left_out.unreadable,
    })
}

fn log_notes(prepared: &Prepared) -> String {
    prepared.log.as_ref().map_or(String::new(), text::log)
}

/// Returns the exit code of a run that was reported.
fn outcome(report: &Report) -> Outcome {
    if report.end == End::Cancelled {
        return Err(Failure::Reported(Code::Cancelled));
    }
    if report.done > 0 {
        return Ok(());
    }
    let what = report.examples.first().map_or("the server did not answer", |example| example.text.as_str());
    eprintln!("yunti: no request succeeded: {}: {what}", report.target);
    Err(Failure::Reported(Code::Input))
}
