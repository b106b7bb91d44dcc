//! `yunti watch report`: compares a measurement with those before it.

use std::path::PathBuf;

use clap::Args;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use yunti_base::{Code, Error, Result, whole_file};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::{paint, stdout};

use super::store;
use crate::compare::{Against, compare};
use crate::record::{Head, State};
use crate::report::{document, junit, page, text};
use crate::schedule::days_of;

/// Compare the last measurement with those before it: what changed, in which functions, since which release
#[derive(Debug, Args)]
pub struct ReportFlags {
    /// Name of the watch
    name: String,
    /// Compare with this release, or this day (2026-11-28), instead of the last measurements
    #[arg(long, value_name = "LABEL|DAY")]
    against: Option<String>,
    /// Report this measurement, by its number or release, instead of the last one
    #[arg(long, value_name = "N|LABEL")]
    of: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Write a page with the history
    #[arg(short, long, value_name = "FILE.html")]
    output: Option<PathBuf>,
    /// Write JUnit XML: a test case a rule
    #[arg(long, value_name = "FILE.xml")]
    junit: Option<PathBuf>,
    /// End with 9 if the service is worse
    #[arg(long)]
    fail: bool,
}

/// Runs the command.
pub fn report(flags: &ReportFlags) -> Outcome {
    for (path, what) in [(&flags.output, "the page"), (&flags.junit, "the JUnit file")] {
        if let Some(path) = path {
            whole_file::check(path, what)?;
        }
    }
    let history = store().history(&flags.name)?;
    let heads = history.heads()?;
    let subject = subject(flags, &heads)?;
    let against = against(flags.against.as_deref(), &heads)?;
    let until = heads.partition_point(|head| head.sequence <= subject.sequence);
    let is_needed = |head: &Head| match &against {
        Against::History => false,
        Against::Label(label) => head.label == *label,
        Against::Time(from, to) => (*from..=*to).contains(&head.time_ms),
    };
    let days = days_of(&history, &heads[..until], is_needed)?;
    let today = days.last().cloned().unwrap_or_default();
    let comparison = compare(&days, &today, &against);
    let against = flags.against.as_deref().unwrap_or("history");
    if let Some(path) = &flags.output {
        whole_file::write(path, &page::page(&flags.name, subject, &comparison, &days), "the page")?;
    }
    if let Some(path) = &flags.junit {
        whole_file::write(path, &junit::report(&flags.name, subject, &comparison), "the JUnit file")?;
    }
    if flags.json {
        stdout::print_json(&document::report(&flags.name, subject, &comparison, &days, against))?;
    } else {
        stdout::print(&text::report(&flags.name, subject, &comparison, &days, paint::for_stdout()))?;
    }
    if flags.fail && comparison.is_worse() { Err(Failure::Reported(Code::Invalid)) } else { Ok(()) }
}

/// Returns the head of the measurement to report: the last one that has figures, if the user names none.
fn subject<'a>(flags: &ReportFlags, heads: &'a [Head]) -> Result<&'a Head> {
    let found = match &flags.of {
        Some(text) => {
            let number = text.parse().ok();
            heads.iter().rfind(|head| Some(head.sequence) == number || head.label == *text)
        }
        None => heads.iter().rfind(|head| head.state != State::Missing).or(heads.last()),
    };
    found.ok_or_else(|| {
        let what = match &flags.of {
            Some(text) => format!("'{}' has no measurement '{text}'", flags.name),
            None => format!("'{}' has no measurement yet", flags.name),
        };
        Error::new(Code::Input, what).hint(format!("measure with `yunti watch run {}`", flags.name))
    })
}

fn against(text: Option<&str>, heads: &[Head]) -> Result<Against> {
    let Some(text) = text else { return Ok(Against::History) };
    // A release may be named like a day; its measurements exist.
    if heads.iter().any(|head| head.label == text) {
        return Ok(Against::Label(text.to_owned()));
    }
    let unknown = || {
        let labels: Vec<&str> = heads.iter().map(|head| &*head.label).filter(|label| !label.is_empty()).collect();
        let last = labels.last().map_or(String::new(), |label| format!(", such as {label}"));
        Error::new(Code::Input, format!("there is no measurement of '{text}'"))
            .hint(format!("give a release{last}, or a day such as 2026-11-28"))
    };
    let date: Date = text.parse().map_err(|_| unknown())?;
    let begin = |date: Date| {
        let midnight = date.to_zoned(TimeZone::system()).ok()?;
        u64::try_from(midnight.timestamp().as_millisecond()).ok()
    };
    let from = begin(date).ok_or_else(unknown)?;
    let to = date.tomorrow().ok().and_then(begin).ok_or_else(unknown)? - 1;
    if !heads.iter().any(|head| (from..=to).contains(&head.time_ms)) {
        return Err(unknown());
    }
    Ok(Against::Time(from, to))
}
