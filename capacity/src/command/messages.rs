//! `yunti capacity messages`: what turning objects into bytes and back costs, and what alternatives would save.

use clap::Args;
use yunti_base::Result;
use yunti_program::failure::Outcome;
use yunti_program::terminal::paint;
use yunti_program::terminal::stdout;

use crate::messages::advice::Bottleneck;
use crate::messages::report::Report;
use crate::messages::{observe, text};

/// Find out what reading and writing messages costs a JVM, and what other libraries would save
///
/// Profiles the process for its shares. With --capture, tries other libraries on the service's own objects.
#[derive(Debug, Args)]
pub struct MessagesFlags {
    /// Process number
    #[arg(short, long, value_name = "PID")]
    pid: u32,
    /// Profile for this long; allocation and requests for at most 5 seconds more each
    #[arg(short, long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    seconds: f64,
    /// Resource that bounds the service, such as cpu or a pool's name; gains are given for cpu only
    #[arg(long, value_name = "NAME")]
    bottleneck: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> std::result::Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| (1.0..=3600.0).contains(value));
    value.ok_or_else(|| format!("'{text}' is no time; give seconds from 1 to 3600"))
}

/// Longest measurement of allocation, and of requests.
const SHORT_SECONDS: f64 = 5.0;

/// Runs the command.
pub fn messages(flags: &MessagesFlags) -> Outcome {
    let report = measure(flags)?;
    if flags.json {
        let document = serde_json::to_value(&report).unwrap_or_default();
        return stdout::print_json(&document);
    }
    stdout::print(&text::render(&report, paint::for_stdout()))
}

fn measure(flags: &MessagesFlags) -> Result<Report> {
    let short = flags.seconds.min(SHORT_SECONDS);
    let cpu = observe::profile(flags.pid, "cpu", flags.seconds)?;
    let requests = observe::requests(flags.pid, short)?;
    let alloc = observe::profile(flags.pid, "alloc", short)?;
    let mut report = Report::of(flags.pid, &cpu, &alloc, requests);
    report.bottleneck = Bottleneck { resource: flags.bottleneck.clone() };
    Ok(report)
}
