//! `yunti watch run`: measures now.

use clap::Args;
use yunti_base::{Cancel, Code, Error};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::signals::cancel_on_signals;
use yunti_program::terminal::{paint, stdout};

use super::store;
use crate::collect::Installed;
use crate::record::State;
use crate::report::{document, text};
use crate::schedule::measure;

/// Measure now, and compare with the measurements before
#[derive(Debug, Args)]
pub struct RunFlags {
    /// Name of the watch
    name: String,
    /// Release label, instead of the one of --label-cmd
    #[arg(long, value_name = "LABEL", value_parser = label)]
    label: Option<String>,
    /// End with 9 if the service is worse
    #[arg(long)]
    fail: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

fn label(text: &str) -> Result<String, String> {
    let is_fit = !text.is_empty() && text.chars().count() <= 100 && !text.chars().any(char::is_control);
    if is_fit { Ok(text.to_owned()) } else { Err("give a label of 1 to 100 characters".into()) }
}

/// Runs the command.
pub fn run(flags: &RunFlags) -> Outcome {
    let store = store();
    let cancel = Cancel::default();
    cancel_on_signals(&cancel);
    let settings = store.settings(&flags.name)?;
    if !flags.json {
        eprintln!("yunti: measuring for about {} s", settings.windows * settings.window_seconds);
    }
    let measured = measure(&store, &flags.name, flags.label.as_deref(), None, &Installed, &cancel)?;
    let head = &measured.record.head;
    if let Some(reason) = &measured.hook_failure {
        eprintln!("yunti: {reason}");
    }
    if let Some(error) = measured.failure {
        return Err(error.into());
    }
    if head.state == State::Missing {
        let what = if head.notes.is_empty() { "nothing was measured".into() } else { head.notes.join("; ") };
        return Err(Error::new(Code::Input, what).hint("the history has a record that says so").into());
    }
    let (comparison, days) = (&measured.comparison, &measured.days);
    if flags.json {
        stdout::print_json(&document::report(&flags.name, head, comparison, days, "history"))?;
    } else {
        stdout::print(&text::report(&flags.name, head, comparison, days, paint::for_stdout()))?;
    }
    if flags.fail && comparison.is_worse() { Err(Failure::Reported(Code::Invalid)) } else { Ok(()) }
}
