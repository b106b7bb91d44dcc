//! `yunti capacity messages`: what turning objects into bytes and back costs, and what alternatives would save.

use std::time::Duration;

use clap::Args;
use yunti_base::{Cancel, Code, Error, Result};
use yunti_program::failure::Outcome;
use yunti_program::terminal::paint;
use yunti_program::terminal::signals::cancel_on_signals;
use yunti_program::terminal::stdout;

use crate::messages::advice::{self, Bottleneck};
use crate::messages::capture::{self, Request};
use crate::messages::class_path::ClassPath;
use crate::messages::forks::{self, ALTERNATIVES, Plan};
use crate::messages::report::Report;
use crate::messages::service::{self, Service};
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
    /// Capture at most N messages of the service, redacted, and try other libraries on them
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "100",
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    capture: Option<u32>,
    /// Capture for at most this long; at most 60
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds, requires = "capture")]
    capture_seconds: f64,
    /// Leave the texts and numbers of captured messages as they are
    #[arg(long, requires = "capture")]
    no_redact: bool,
    /// Keep the folder with the captured messages, and print its name
    #[arg(long, requires = "capture")]
    keep: bool,
    /// Spend about this time on the trials
    #[arg(long, value_name = "SECONDS", default_value = "180", value_parser = seconds, requires = "capture")]
    trial_seconds: f64,
    /// Start each library in this number of JVMs
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u32).range(1..=20))]
    forks: u32,
    /// Try the N types of messages that are captured most often
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u32).range(1..=50))]
    types: u32,
    /// Try only these libraries: jackson-blackbird, fastjson2, kryo-registered, protobuf-derived ..
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "capture")]
    tries: Vec<String>,
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

/// Longest capture.
const CAPTURE_SECONDS_MAX: f64 = 60.0;

/// Measurement for a what-if, which tries few libraries.
const PROFILE_SECONDS: f64 = 10.0;
const TRIAL_SECONDS: f64 = 30.0;
const CAPTURED: u32 = 100;

/// Runs the command.
pub fn messages(flags: &MessagesFlags) -> Outcome {
    let report = measure(flags)?;
    if flags.json {
        let document = serde_json::to_value(&report).unwrap_or_default();
        return stdout::print_json(&document);
    }
    stdout::print(&text::render(&report, paint::for_stdout()))
}

/// Measures the messages of a process for a what-if.
///
/// @param tries libraries that are tried on captured and redacted messages; empty: only shares are measured
pub fn measured(pid: u32, tries: Vec<String>) -> Result<Report> {
    measure(&MessagesFlags {
        pid,
        seconds: PROFILE_SECONDS,
        bottleneck: None,
        capture: (!tries.is_empty()).then_some(CAPTURED),
        capture_seconds: PROFILE_SECONDS,
        no_redact: false,
        keep: false,
        trial_seconds: TRIAL_SECONDS,
        forks: 2,
        types: 4,
        tries,
        json: true,
    })
}

fn measure(flags: &MessagesFlags) -> Result<Report> {
    service::must_be_jvm(flags.pid)?;
    if let Some(name) = flags.tries.iter().find(|name| !ALTERNATIVES.contains(&&***name)) {
        return Err(Error::new(Code::Usage, format!("there is no library '{name}' to try"))
            .hint(format!("there are {}", ALTERNATIVES.join(", "))));
    }
    // First, so that a capture that cannot be fails before the measurements.
    let service = flags.capture.map(|count| Ok((Service::find(flags.pid)?, capture::jars()?, count))).transpose()?;
    let cancel = Cancel::default();
    cancel_on_signals(&cancel);
    let short = flags.seconds.min(SHORT_SECONDS);
    let cpu = observe::profile(flags.pid, "cpu", flags.seconds)?;
    cancel.check()?;
    let requests = observe::requests(flags.pid, short)?;
    cancel.check()?;
    let alloc = observe::profile(flags.pid, "alloc", short)?;
    cancel.check()?;
    let mut report = Report::of(flags.pid, &cpu, &alloc, requests);
    report.bottleneck = Bottleneck { resource: flags.bottleneck.clone() };
    let Some((service, jars, count)) = service else { return Ok(report) };
    let request = Request {
        count,
        time: Duration::from_secs_f64(flags.capture_seconds.min(CAPTURE_SECONDS_MAX)),
        is_redacted: !flags.no_redact,
    };
    let captured = capture::capture(&service, &jars, &request, &cancel)?;
    if captured.libraries.is_empty() {
        report.notes.push(
            "No message was captured: the service called none of the libraries that a capture knows in this time."
                .to_owned(),
        );
        return Ok(report);
    }
    let path = ClassPath::of(&captured, &jars, &service);
    let plan = Plan {
        seconds: flags.trial_seconds,
        forks: flags.forks,
        groups: flags.types as usize,
        names: flags.tries.clone(),
    };
    let mut trial = forks::run(&captured, &path, &service, &plan, &cancel)?;
    trial.is_redacted = request.is_redacted;
    if flags.keep {
        trial.folder = Some(captured.folder.keep(capture::MESSAGES).to_string_lossy().into_owned());
    }
    report.advice = advice::advise(&trial, |library| report.share_of(library), &report.bottleneck);
    report.trial = Some(trial);
    Ok(report)
}
