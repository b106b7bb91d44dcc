//! `yunti warmup record`: a training run, whose archive and requests become a profile.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use clap::Args;
use yunti_base::{Cancel, Code, Error, Result};
use yunti_program::failure::Outcome;
use yunti_program::terminal::signals::cancel_on_signals;
use yunti_program::text::numbers;
use yunti_replay::closed_loop::{ClosedLoop, Tally};
use yunti_replay::request::Request;

use super::flags::{Subject, address, seconds, text_of, variable};
use crate::java::archive::Kind;
use crate::java::command_line::CommandLine;
use crate::java::release::Release;
use crate::measure::first_seconds::free;
use crate::measure::service::{Service, Start};
use crate::profile::{Draft, Profile, Stamps, requests_of};

/// Longest wait for the first answer.
const START: Duration = Duration::from_secs(180);
/// Longest wait for an answer.
const ANSWER: Duration = Duration::from_secs(30);
/// Longest wait for the end of the program, which writes the archive then.
const STOP: Duration = Duration::from_secs(180);

/// Run the program once, send it requests, and keep its classes and the requests
///
/// The program is ended by SIGTERM after --seconds; without requests and --seconds it runs to its own end.
#[derive(Debug, Args)]
pub struct RecordFlags {
    /// Request to send and to keep: [METHOD ]http://HOST:PORT/PATH; repeatable
    #[arg(long, value_name = "URL")]
    url: Vec<String>,

    /// File of requests, one a line; indented lines are headers, or a body after '='
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    requests: Option<PathBuf>,

    /// Length of the training after the first answer, or after the start without requests [default with requests: 10]
    #[arg(long, value_name = "N", value_parser = seconds)]
    seconds: Option<f64>,

    /// Connections that send the requests
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
    connections: u8,

    #[command(flatten)]
    subject: Subject,
}

/// Runs the command.
pub fn record(flags: &RecordFlags) -> Outcome {
    let line = flags.subject.line()?;
    let requests = requests(flags)?;
    let release = flags.subject.release(&line)?;
    if let Some(option) = line.own_archive() {
        return Err(Error::new(Code::Usage, format!("the command has {option}"))
            .hint("remove it: record sets the archive itself")
            .into());
    }
    let place = flags.subject.folder(&line)?;
    let before = Stamps::of(&line, &release);
    missing_entry(&before)?;
    let archive = archive_of(&line, &release, &before);
    if let Err(why) = &archive {
        if requests.is_empty() {
            return Err(Error::new(Code::Usage, format!("nothing to record: {why}"))
                .hint("name requests with --url to record them alone")
                .into());
        }
        eprintln!("yunti: no archive: {why}");
    }
    for request in &requests {
        free(address(request)?)?;
    }
    let cancel = Cancel::default();
    cancel_on_signals(&cancel);
    let draft = Draft::begin(&place)?;
    let mut service = start(&line, &archive, &draft)?.start()?;
    let (requests, seen) = drive(flags, &requests, &mut service, &line, &cancel)?;
    // A script's class path is the one of the java that it started.
    let stamps = seen.map_or(before, |line| Stamps::of(&line, &release));
    finish(&archive, &draft)?;
    let archive_bytes =
        archive.as_ref().map_or(0, |kind| std::fs::metadata(draft.path(kind.file())).map_or(0, |f| f.len()));
    let what = match &archive {
        Ok(kind) => format!("{} of {}, ", kind.name(), numbers::bytes(archive_bytes)),
        Err(_) => String::new(),
    };
    let command = line.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    draft.commit(&Profile::new(command, stamps, archive), &requests)?;
    eprintln!("yunti: recorded {what}{} in {}", numbers::several(requests.len() as u64, "request"), place.display());
    Ok(())
}

fn requests(flags: &RecordFlags) -> Result<Vec<Request>> {
    if let Some(path) = &flags.requests {
        let requests = requests_of(path)?;
        if requests.is_empty() {
            return Err(Error::new(Code::Usage, "the file has no request").at_path(path.to_string_lossy()));
        }
        return Ok(requests);
    }
    let of_url = |url: &String| Request::of_line(url).map_err(|what| Error::new(Code::Usage, format!("--url: {what}")));
    flags.url.iter().map(of_url).collect()
}

/// Returns an error if an entry of the class path is absent: the program would not start.
fn missing_entry(stamps: &Stamps) -> Result<()> {
    match stamps.class_path.first() {
        Some(entry) if !entry.path.exists() => Err(Error::new(Code::Input, "there is no such jar or directory")
            .at_path(entry.path.to_string_lossy())
            .hint("check the command after --")),
        _ => Ok(()),
    }
}

/// Returns the archive that this run can write, or the reason why it writes none, with what to do.
fn archive_of(line: &CommandLine, release: &Release, stamps: &Stamps) -> std::result::Result<Kind, String> {
    if let Some(option) = line.no_archive() {
        return Err(format!("the JVM writes none with {option}"));
    }
    if let Some(folder) = stamps.full_directory() {
        let folder = folder.display();
        return Err(format!(
            "the class path has the directory {folder}: put it into a jar: jar cf conf.jar -C {folder} ."
        ));
    }
    if let Some(jar) = stamps.nested_jar() {
        eprintln!(
            "yunti: {0} has jars within, whose classes no archive holds: java -Djarmode=tools -jar {0} extract",
            jar.display()
        );
    }
    Kind::of(release)
}

fn start(line: &CommandLine, archive: &std::result::Result<Kind, String>, draft: &Draft) -> Result<Start> {
    let options = match archive {
        Ok(kind) => kind.options_to_write(&text_of(&draft.path(kind.file()))?),
        Err(_) => Vec::new(),
    };
    let (words, variables) = line.with_options(&options, line.is_script(), variable);
    Ok(Start { words, directory: line.directory.clone(), variables, output: None })
}

/// Sends the requests and ends the program. Returns the requests that were answered, and the command line of the java
/// that a script started.
fn drive(
    flags: &RecordFlags,
    requests: &[Request],
    service: &mut Service,
    line: &CommandLine,
    cancel: &Cancel,
) -> Result<(Vec<Request>, Option<CommandLine>)> {
    let mut kept = Vec::new();
    let mut ended = None;
    if !requests.is_empty() {
        let seconds = Duration::from_secs_f64(flags.seconds.unwrap_or(10.0));
        let servers = requests.iter().map(address).collect::<Result<_>>()?;
        let training =
            ClosedLoop { requests, servers, from: None, connections: flags.connections.into(), timeout: ANSWER };
        let mut first = None;
        let tallies = training.run(|answered, elapsed| {
            first = first.or((answered > 0).then_some(elapsed));
            ended = ended.or_else(|| service.ended());
            let is_late = elapsed > first.map_or(START, |first| first + seconds);
            is_late || ended.is_some() || cancel.is_set()
        });
        cancel.check()?;
        if let Some(status) = ended {
            return Err(ended_early(status));
        }
        kept = answered(requests, &tallies)?;
    } else {
        let begin = Instant::now();
        let is_over = |begin: Instant| flags.seconds.is_some_and(|seconds| begin.elapsed().as_secs_f64() >= seconds);
        while ended.is_none() && !is_over(begin) {
            cancel.check()?;
            std::thread::sleep(Duration::from_millis(20));
            ended = service.ended();
        }
    }
    let seen = if line.is_script() { java_of(service) } else { None };
    let status = match ended {
        Some(status) => Some(status),
        None => service.stop(STOP),
    };
    match status.map(|status| (status, status.code())) {
        None => Err(Error::new(Code::Input, format!("the program did not end within {} s of SIGTERM", STOP.as_secs()))
            .hint("let it end on SIGTERM: the JVM writes the archive then")),
        // A JVM that SIGTERM ends exits with 143; a script that the signal ends has no code.
        Some((_, Some(0 | 143))) => Ok((kept, seen)),
        Some((_, None)) if flags.seconds.is_some() || !requests.is_empty() => Ok((kept, seen)),
        Some((status, _)) => Err(ended_early(status)),
    }
}

fn ended_early(status: ExitStatus) -> Error {
    Error::new(Code::Input, format!("the program ended by itself: {status}")).hint("run it without yunti first")
}

fn answered(requests: &[Request], tallies: &[Tally]) -> Result<Vec<Request>> {
    let mut kept = Vec::new();
    for (request, tally) in requests.iter().zip(tallies) {
        if tally.good > 0 {
            kept.push(request.clone());
            continue;
        }
        let why = match &tally.failure {
            _ if tally.status != 0 => format!("status {}", tally.status),
            Some(failure) => failure.clone(),
            None => "no answer".into(),
        };
        if requests.len() == 1 {
            return Err(unanswered(request, &why));
        }
        eprintln!("yunti: left out: {}: {why}", request.url());
    }
    match kept.is_empty() {
        true => Err(unanswered(&requests[0], "no request has an answer below 400")),
        false => Ok(kept),
    }
}

fn unanswered(request: &Request, why: &str) -> Error {
    Error::new(Code::Input, format!("the program did not answer: {why}"))
        .at_path(request.url())
        .hint("check --url or --requests")
}

/// Returns the command line of the java in the service.
fn java_of(service: &Service) -> Option<CommandLine> {
    let process = service.java()?;
    let words = std::fs::read(process.join("cmdline")).ok()?;
    let words =
        String::from_utf8_lossy(&words).trim_end_matches('\0').split('\0').map(OsString::from).collect::<Vec<_>>();
    let directory = std::fs::read_link(process.join("cwd")).ok()?;
    CommandLine::of(&words, &directory, variable).ok()
}

/// Checks that the JVM has written the archive.
fn finish(archive: &std::result::Result<Kind, String>, draft: &Draft) -> Result<()> {
    let Ok(kind) = archive else { return Ok(()) };
    let path = draft.path(kind.file());
    // The AOT cache is written by a second JVM, which the first one waits for.
    match std::fs::metadata(&path) {
        Ok(facts) if facts.len() > 0 => Ok(()),
        _ => Err(Error::new(Code::Input, format!("the JVM wrote no {}", kind.name()))
            .hint("its lines above say why; a program that ends by kill -9 or Runtime.halt writes none")),
    }
}
