//! `yunti warmup check`: is the archive valid, is it used, and what does the profile bring?

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use yunti_base::process::unique_token;
use yunti_base::{Cancel, Code, Error, Result};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::signals::cancel_on_signals;
use yunti_program::terminal::stdout;
use yunti_replay::client::Client;
use yunti_replay::request::Request;

use super::apply::{applied, usable_archive};
use super::check_report::{self, Check, Round};
use super::flags::{Replay, Subject, address, seconds, text_of, variable};
use crate::java::archive::Kind;
use crate::java::command_line::CommandLine;
use crate::measure::classes::Classes;
use crate::measure::first_seconds::{Load, free, measure, wait_for_port};
use crate::measure::service::Start;
use crate::profile::Profile;

/// Longest run of a program without requests, whose classes are counted.
const RUN: Duration = Duration::from_secs(60);
/// Longest wait for the end of a service.
const STOP: Duration = Duration::from_secs(60);

/// Say if the archive is valid and used, and measure starts with and without the profile, in turn
#[derive(Debug, Args)]
pub struct CheckFlags {
    /// Rounds; each starts the program once without and once with the profile. 0 measures nothing
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,

    /// Requests a second from the moment at which the port opens, however slow the answers are
    #[arg(long, value_name = "N", default_value = "60", value_parser = rate)]
    rate: f64,

    /// Length of the load
    #[arg(long, value_name = "N", default_value = "10", value_parser = seconds)]
    seconds: f64,

    /// Request of the load; repeatable [default: the requests of the profile]
    #[arg(long, value_name = "URL")]
    url: Vec<String>,

    /// Measure starts with the archive alone too, so that its part and the part of the replay can be seen
    #[arg(long, conflicts_with = "no_replay")]
    archive_alone: bool,

    /// Print one JSON document
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    replay: Replay,

    #[command(flatten)]
    subject: Subject,
}

/// Parses a rate in requests a second.
fn rate(text: &str) -> std::result::Result<f64, String> {
    let is_fit = |n: &f64| *n > 0.0 && *n <= 100_000.0;
    text.parse().ok().filter(is_fit).ok_or("a number above 0 and up to 100000 is needed".into())
}

/// Runs the command.
pub fn check(flags: &CheckFlags) -> Outcome {
    let line = flags.subject.line()?;
    let folder = flags.subject.folder(&line)?;
    let profile = Profile::load(&folder)?;
    let cancel = Cancel::default();
    cancel_on_signals(&cancel);
    let work = Work::begin()?;
    let mut requests = Profile::requests(&folder)?;
    let server_port = flags.replay.port;
    let own = flags
        .url
        .iter()
        .map(|url| Request::of_line(url).map_err(|what| Error::new(Code::Usage, format!("--url: {what}"))));
    let own: Vec<Request> = own.collect::<Result<_>>()?;
    if !own.is_empty() {
        requests = own;
    }
    for request in &mut requests {
        request.port = server_port.unwrap_or(request.port);
    }
    let options = usable_archive(&flags.subject, &line, &profile, &folder);
    let mut result = Check {
        profile: folder.clone(),
        archive: profile.archive,
        no_archive: profile.no_archive.clone(),
        stale: options.as_ref().err().map(ToString::to_string),
        classes: None,
        used: None,
        rate_per_s: flags.rate,
        seconds: flags.seconds,
        rounds: Vec::new(),
    };
    if let (Ok(options), Some(_)) = (&options, profile.archive) {
        let classes = classes_of(&line, options, requests.first(), &work, &cancel)?;
        // The JDK's own archive gives its classes alone.
        result.used = Some(is_used(&classes, profile.archive));
        result.classes = Some(classes);
    }
    let measures = flags.rounds > 0 && !requests.is_empty();
    for n in 1..=if measures { flags.rounds } else { 0 } {
        if !flags.json {
            eprintln!("yunti: round {n} of {}", flags.rounds);
        }
        result.rounds.push(round(flags, &line, &requests, &work, &cancel)?);
    }
    match flags.json {
        true => {
            stdout::print_json(&serde_json::to_value(&result).map_err(|e| Error::new(Code::Internal, e.to_string()))?)?
        }
        false => stdout::print(&check_report::text(&result))?,
    }
    let is_bad = result.stale.is_some() || result.used == Some(false);
    if is_bad { Err(Failure::Reported(Code::Invalid)) } else { Ok(()) }
}

/// Returns true if classes of the program came from its archive.
fn is_used(classes: &Classes, kind: Option<Kind>) -> bool {
    match kind {
        Some(Kind::AppCds) => classes.archived_on_top > 0,
        _ => classes.archived > classes.from_files,
    }
}

/// Starts the program with the archive until its first answer, and counts its classes.
fn classes_of(
    line: &CommandLine,
    options: &[String],
    first: Option<&Request>,
    work: &Work,
    cancel: &Cancel,
) -> Result<Classes> {
    let log = work.path("classes.log");
    let mut options = options.to_vec();
    options.push(format!("-Xlog:class+load=info:file={}", text_of(&log)?));
    let (words, variables) = line.with_options(&options, line.is_script(), variable);
    let start = Start { words, directory: line.directory.clone(), variables, output: Some(work.path("output")) };
    if let Some(request) = first {
        free(address(request)?)?;
    }
    let begin = Instant::now();
    let mut service = start.start()?;
    match first {
        Some(request) => {
            let server = address(request)?;
            wait_for_port(&mut service, server, begin, cancel)?;
            let mut client = Client::new(server, None, Duration::from_secs(30));
            let failed =
                |e: std::io::Error| Error::io(Code::Input, "the program did not answer", &e).at_path(request.url());
            client.send(&request.wire()).map_err(failed)?;
            service.stop(STOP);
        }
        None => {
            service.wait(RUN);
            service.stop(STOP);
        }
    }
    Classes::of_log(&log)
}

fn round(flags: &CheckFlags, line: &CommandLine, requests: &[Request], work: &Work, cancel: &Cancel) -> Result<Round> {
    let load = Load {
        requests: requests.to_vec(),
        server: address(&requests[0])?,
        per_second: flags.rate,
        seconds: flags.seconds,
    };
    let output = Some(work.path("output"));
    let start = |words: Vec<OsString>, variables| Start {
        words,
        directory: line.directory.clone(),
        variables,
        output: output.clone(),
    };
    let plain = measure(&start(line.words.clone(), Vec::new()), &load, cancel)?;
    let begin = |replay: &Replay| applied(&flags.subject, replay, line, line.is_script(), |_| Ok(()));
    let archive = match flags.archive_alone {
        true => {
            let alone = begin(&Replay { no_replay: true, ..flags.replay.clone() })?;
            Some(measure(&start(alone.words, alone.variables), &load, cancel)?)
        }
        false => None,
    };
    let mut applied = begin(&flags.replay)?;
    let report = work.path("replay.json");
    let _ = std::fs::remove_file(&report);
    applied.variables.push(("YUNTI_WARMUP_REPORT".into(), report.clone().into_os_string()));
    let applied = measure(&start(applied.words, applied.variables), &load, cancel)?;
    let replay = std::fs::read_to_string(&report).ok().and_then(|text| serde_json::from_str(&text).ok());
    Ok(Round { plain, archive, applied, replay })
}

/// Directory of a check's own files, which goes with it.
struct Work(PathBuf);

impl Work {
    fn begin() -> Result<Work> {
        let folder = std::env::temp_dir().join(format!("yunti-warmup-{}", unique_token()));
        std::fs::create_dir(&folder).map_err(|e| {
            Error::io(Code::Output, "cannot make a directory", &e).at_path(folder.to_string_lossy()).hint("set TMPDIR")
        })?;
        Ok(Work(folder))
    }

    fn path(&self, name: &str) -> PathBuf {
        Path::new(&self.0).join(name)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
