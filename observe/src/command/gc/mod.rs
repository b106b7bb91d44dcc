//! `yunti observe gc`: what a garbage collection log says of a program, and what would help.

mod facts;
mod report;
mod timelines;

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use yunti_base::{Code, Error};
use yunti_gc::{Comparison, Finding, Log, Summary, findings, read, verdict};
use yunti_probe::answer::Answer;
use yunti_probe::options::AnswerFlags;
use yunti_probe::stopping::End;
use yunti_program::failure::Outcome;

/// Read a garbage collection log: pauses, heap, causes, and the settings that would help
///
/// Reads logs of HotSpot: -Xlog:gc*,safepoint of JDK 9 and later, and -XX:+PrintGCDetails of JDK 8. Prints `nothing is
/// wrong` if the collector costs the program little.
#[derive(Debug, Args)]
pub struct GcFlags {
    /// Files of one log, also rotated or gzip; `-` reads standard input
    #[arg(value_name = "FILE", required_unless_present = "compare")]
    files: Vec<PathBuf>,
    /// Compare two logs, before and after a change
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"], conflicts_with = "files")]
    compare: Vec<PathBuf>,
    #[command(flatten)]
    pub answer: AnswerFlags,
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
        let summary = Summary::of(&log);
        let findings = findings(&log, &summary);
        Ok(GcReport { log, summary, findings })
    }
}

pub fn gc(flags: &GcFlags) -> Outcome {
    match &flags.compare[..] {
        [before, after] => compare(before, after, &flags.answer),
        _ => one(&flags.files, &flags.answer),
    }
}

fn one(files: &[PathBuf], flags: &AnswerFlags) -> Outcome {
    let report = GcReport::read(files)?;
    let mut answer = Answer::of_file("gc", report::subject(files));
    answer.lead = verdict(&report.summary, &report.findings);
    report::fill(&report, &mut answer);
    answer.timelines = timelines::of(&report, "");
    answer.give(flags, End::Enough, facts::of(&report))
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
