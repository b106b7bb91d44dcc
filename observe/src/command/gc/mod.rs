//! `yunti observe gc`: what the garbage collector costs, by a log or a live JVM, and what would help.

mod counters;
mod facts;
mod live;
mod report;
mod requests;
mod timelines;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use requests::RequestCost;
use serde_json::json;
use yunti_base::{Code, Error};
use yunti_gc::{Comparison, Finding, Log, Summary, findings, read, verdict};
use yunti_probe::answer::{Answer, Subject};
use yunti_probe::options::{AnswerFlags, seconds};
use yunti_probe::stopping::End;
use yunti_probe::target::Target;
use yunti_program::failure::Outcome;

use crate::jvm;

/// Say what the garbage collector costs, of a live JVM or in a log, and which settings would help
///
/// Reads logs of HotSpot: -Xlog:gc*,safepoint of JDK 9 and later, and -XX:+PrintGCDetails of JDK 8. A live JVM writes
/// such a log for some seconds, to a file that is removed at the end. Prints `nothing is wrong` if the collector costs
/// the program little.
#[derive(Debug, Args)]
pub struct GcFlags {
    /// Files of one log, also rotated or gzip; `-` reads standard input. Or a process number, or a part of a JVM's name
    #[arg(value_name = "FILE|PID|NAME", required_unless_present = "compare")]
    files: Vec<PathBuf>,
    /// Compare two logs, before and after a change
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"], conflicts_with = "files")]
    compare: Vec<PathBuf>,
    /// JVM: observe for this long; 10 without this
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
    seconds: Option<Duration>,
    /// JVM: read its counters instead of a log; it needs no attach, and knows less
    #[arg(long)]
    counters: bool,
    /// Requests that the program serves a second; adds memory and pauses a request
    #[arg(long, value_name = "N", value_parser = requests, conflicts_with = "compare")]
    requests_per_second: Option<f64>,
    #[command(flatten)]
    pub answer: AnswerFlags,
}

const SECONDS: Duration = Duration::from_secs(10);

fn requests(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if number > 0.0 && f64::is_finite(number) => Ok(number),
        _ => Err(format!("'{text}' is not a number of requests a second; give one such as 250")),
    }
}

/// Log with what follows from it.
struct GcReport {
    log: Log,
    summary: Summary,
    findings: Vec<Finding>,
}

impl GcReport {
    fn read(files: &[PathBuf]) -> Result<GcReport, Error> {
        let log = read(files)?;
        let is_empty = log.events.is_empty() && log.heap.samples.is_empty() && log.collector.is_none();
        if is_empty && log.safepoints.0.is_empty() {
            let name = files.first().map_or_else(String::new, |path| path.display().to_string());
            return Err(Error::new(Code::Input, "no line of a garbage collection log").at_path(name).hint(
                "write one with -Xlog:gc*,safepoint:file=gc.log, or with -XX:+PrintGCDetails -Xloggc:gc.log (JDK 8)",
            ));
        }
        Ok(GcReport::of(log))
    }

    fn of(log: Log) -> GcReport {
        let summary = Summary::of(&log);
        let findings = findings(&log, &summary);
        GcReport { log, summary, findings }
    }
}

pub fn gc(flags: &GcFlags) -> Outcome {
    if let [before, after] = &flags.compare[..] {
        return compare(before, after, &flags.answer);
    }
    if let Some(target) = process(&flags.files)? {
        return live(flags, &target);
    }
    if flags.seconds.is_some() || flags.counters {
        let option = if flags.counters { "--counters" } else { "--seconds" };
        return Err(Error::new(Code::Usage, format!("{option} is for a live JVM"))
            .at_path(report::subject(&flags.files))
            .hint("leave it out, or give a process number instead of a log")
            .into());
    }
    let report = GcReport::read(&flags.files)?;
    give(&report, Answer::of_file("gc", report::subject(&flags.files)), End::Enough, flags)
}

/// Returns the JVM that is meant; `None` for files.
fn process(files: &[PathBuf]) -> Result<Option<Target>, Error> {
    let [file] = files else { return Ok(None) };
    let name = file.to_string_lossy();
    let is_file = name == "-" || file.exists() || name.contains(['/', '.']);
    if is_file {
        return Ok(None);
    }
    let target = Target::find(None, Some(&name), &[], jvm::HELD)
        .map_err(|error| error.hint("give a log, a process number, or a part of a process's name"))?;
    if jvm::recognise(&target)? {
        return Ok(Some(target));
    }
    let process = &target.process;
    Err(Error::new(Code::Usage, format!("process {} ({}) is not a JVM", process.pid, process.name)))
}

fn live(flags: &GcFlags, target: &Target) -> Outcome {
    let mut answer = Answer::new("gc", &target.process);
    let time = flags.seconds.unwrap_or(SECONDS);
    let (log, watched) = live::observe(&target.process, time, flags.counters, &mut answer)?;
    answer.watched(&watched);
    let report = GcReport::of(log);
    give(&report, answer, watched.end, flags)
}

fn give(report: &GcReport, mut answer: Answer, end: End, flags: &GcFlags) -> Outcome {
    answer.lead = match answer.subject {
        Subject::Process { .. } if report.summary.pauses.count == 0 && report.summary.stalls.count == 0 => {
            "no collection stopped the program in this time".to_owned()
        }
        _ => verdict(&report.summary, &report.findings),
    };
    report::fill(report, flags.requests_per_second, &mut answer);
    // Pages and documents of a long log take longer than reading it.
    if flags.answer.output.is_some() {
        answer.timelines = timelines::of(report, "");
    }
    if !flags.answer.json {
        return answer.give(&flags.answer, end, json!(null));
    }
    let mut document = facts::of(report);
    let cost = flags.requests_per_second.and_then(|rate| RequestCost::of(&report.log, &report.summary, rate));
    document["a_request"] = json!(cost.map(|cost| cost.facts()));
    answer.give(&flags.answer, end, document)
}

fn compare(before: &PathBuf, after: &PathBuf, flags: &AnswerFlags) -> Outcome {
    let [before_report, after_report] = [before, after].map(|path| GcReport::read(std::slice::from_ref(path)));
    let (before_report, after_report) = (before_report?, after_report?);
    let comparison =
        Comparison::of((&before_report.log, &before_report.summary), (&after_report.log, &after_report.summary));
    let mut answer = Answer::of_file("gc", format!("{} against {}", after.display(), before.display()));
    answer.lead = comparison.sentence.clone();
    answer.tables.push(report::comparison(&comparison));
    for (report, name) in [(&before_report, "before"), (&after_report, "after")] {
        let verdict = verdict(&report.summary, &report.findings);
        answer.notes.push(format!("{}: {verdict}.", if name == "before" { "Before" } else { "After" }));
        answer.timelines.extend(timelines::of(report, name));
    }
    let document = json!({
        "compared": facts::comparison(&comparison),
        "before": facts::of(&before_report),
        "after": facts::of(&after_report),
    });
    answer.give(flags, End::Enough, document)
}
