//! `yunti capacity load`: load on a server of HTTP.

mod flags;
mod prepare;
mod text;

use serde_json::json;
use yunti_base::{Cancel, Code, Error};
use yunti_load::guard::End;
use yunti_load::report::{Report, Second};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::signals::cancel_on_signals;
use yunti_program::terminal::stdout;

pub use flags::LoadFlags;

/// Runs the command.
pub fn load(flags: &LoadFlags) -> Outcome {
    let plan = prepare::plan(flags)?;
    let cancel = Cancel::default();
    cancel_on_signals(&cancel);
    let mut progress = text::Progress::new(flags.json);
    let report = yunti_load::run(&plan, &cancel, &mut |second: &Second| progress.show(second))?;
    progress.clear();
    if flags.json {
        let mut document = json!({ "format": "yunti-load/1", "mode": "run" });
        document["run"] = serde_json::to_value(&report).expect("a report is JSON");
        stdout::print_json(&document)?;
    } else {
        stdout::print(&text::report(&report))?;
    }
    outcome(&report)
}

/// Returns the exit code of a run that was reported.
fn outcome(report: &Report) -> Outcome {
    match report.end {
        End::Cancelled => Err(Failure::Reported(Code::Cancelled)),
        _ if report.done > 0 => Ok(()),
        _ => {
            let what = report.examples.first().map_or("the server did not answer", |example| example.text.as_str());
            Err(Error::new(Code::Input, what).at_path(report.target.clone()).hint("check the server").into())
        }
    }
}
