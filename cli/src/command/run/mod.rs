//! `yunti run`: builds a job from flags, runs it, and prints its result and report.

pub mod common_flags;
pub mod flags;
mod list;
mod on_yarn;
mod results;
mod shipment;
mod spec;
mod user_code;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use yunti_base::{Code, Error};
use yunti_engine::env::Env;
use yunti_engine::env::process::{Launcher, RealProcesses};
use yunti_engine::job;
use yunti_engine::job::spec::file::spec_to_toml;
use yunti_engine::job::spec::{JobSpec, OutputTarget};
use yunti_engine::job::{Completion, Control, Outcome as JobOutcome, TopRecord};

use crate::command::columns::library;
use crate::command::part::stores;
use crate::console::{self, paint, progress, signals, stdout, stdout_watch};
use crate::failure::{Failure, Outcome};
use crate::guard::{self, ErrorOutput};
use crate::text::table::{Side, Table, cut};
use crate::text::{numbers, report};
use crate::{page, whole_file};
use flags::{Cluster, RunFlags};
use results::Results;
use shipment::Shipment;

pub fn run(flags: RunFlags) -> Outcome {
    run_in(flags, None)
}

/// Runs the job of the flags. `directory`: temporary working directory of its programs, if it is not this one.
pub fn run_in(flags: RunFlags, directory: Option<PathBuf>) -> Outcome {
    // A job without it runs just as well, until it is killed.
    let own = std::env::current_exe().ok();
    let own_directory = directory.iter().flat_map(|path| ["--directory".into(), path.into()]);
    let arguments = std::iter::once("reap".into()).chain(own_directory).collect();
    let reaper = own.map(|program| Launcher { program, arguments, variables: Vec::new(), memory_bytes: None });
    let processes = RealProcesses::new(directory.clone(), reaper);
    if flags.list {
        return if flags.reports.json { stdout::print_json(&list::document()) } else { stdout::print(&list::text()) };
    }
    let (env, closed) =
        stdout_watch::watch(Env { maps_files: !flags.no_mmap, processes: Arc::new(processes), ..Env::real() });
    let mut spec = spec::job_spec(&flags, &*env.files)?;
    let env = stores::with_stores(env, stores::settings_of(&spec.settings));
    if flags.reports.print_job {
        return stdout::print(&spec_to_toml(&spec)?);
    }
    if flags.on == Cluster::Yarn {
        if flags.resources.cgroup.is_some() {
            let error =
                Error::new(Code::Usage, "--cgroup is for jobs on this machine: a cluster limits its containers");
            return Err(error.hint("leave it out, or set mapreduce.map.memory.mb by -D").into());
        }
        let completion = on_yarn::completion(&flags, &mut spec, &env)?;
        let control = Control::new();
        signals::cancel_on_signals(control.cancelled());
        let show = ErrorOutput { json: flags.reports.json, bar: false };
        let report = guard::watch(env, show, |mut env| {
            let classes = user_code::classes(&flags, &spec, &mut env)?;
            let shipment = Shipment::of(&flags, &spec, &classes, directory.as_deref())?;
            on_yarn::run(&spec, &env, &classes, &shipment, completion, &control)
        })?;
        let more = report.job.id.as_ref().map_or(String::new(), |id| format!("; see yunti hadoop report {id}"));
        return write_and_print(&flags, &spec, &JobOutcome { report, top: Vec::new() }, &more);
    }
    shipment::check_here(&flags)?;
    if flags.reports.json && spec.output == OutputTarget::Stdout {
        let error = Error::new(Code::Usage, "standard output cannot take both the records and the report");
        return Err(error.hint("leave out --json and use --report FILE").into());
    }
    if let Some(group) = &flags.resources.cgroup {
        // Before the budget is derived from the group's limit, and before the job's programs start.
        group.enter()?;
    }
    let control = Control::new();
    signals::cancel_on_signals(control.cancelled());
    let show =
        ErrorOutput { json: flags.reports.json, bar: !flags.reports.quiet && console::is_rich(&std::io::stderr()) };
    let (spec, outcome) = guard::watch(env, show, |env| {
        let outcome = {
            // Files are opened under the guard alone.
            complete(&flags, &mut spec, &env)?;
            let _display = progress::show_job(&control, flags.reports.quiet);
            run_job(&flags, &spec, &env, &control)
        };
        outcome.map(|outcome| (spec.clone(), outcome)).map_err(|e| {
            let gone = closed.is_set() && spec.output == OutputTarget::Stdout && !control.is_cancelled();
            if gone { Failure::OutputClosed } else { e.into() }
        })
    })?;
    let output = &outcome.report.job.output;
    let more = output.as_ref().map_or(String::new(), |path| format!("; see yunti report {path}"));
    write_and_print(&flags, &spec, &outcome, &more)
}

/// Completes a job by its first files: their format, and the types of their columns.
fn complete(flags: &RunFlags, spec: &mut JobSpec, env: &Env) -> yunti_base::Result<()> {
    let with = Completion {
        recognises: flags.input_format.is_none(),
        keeps_format: flags.output_format.is_none(),
        stores_are_near: false,
        load: &library::load,
    };
    job::complete(spec, with, env)
}

fn write_and_print(flags: &RunFlags, spec: &JobSpec, outcome: &JobOutcome, more: &str) -> Outcome {
    if let Some(path) = &flags.reports.report {
        let text = serde_json::to_string_pretty(&outcome.report).expect("a report can be written as JSON") + "\n";
        whole_file::write(path, &text, "the report")?;
    }
    if let Some(path) = &flags.reports.html {
        whole_file::write(path, &page::of_report(&outcome.report), "the page")?;
    }
    print_result(flags, spec, outcome, more)
}

fn run_job(flags: &RunFlags, spec: &JobSpec, env: &Env, control: &Arc<Control>) -> yunti_base::Result<JobOutcome> {
    let mut env = env.clone();
    let classes = user_code::classes(flags, spec, &mut env)?;
    job::run(spec, &env, &classes, control)
}

fn print_result(flags: &RunFlags, spec: &JobSpec, outcome: &JobOutcome, more: &str) -> Outcome {
    let report = &outcome.report;
    if flags.reports.json {
        let mut document = serde_json::to_value(report).expect("a report can be written as JSON");
        if matches!(spec.output, OutputTarget::Top(_)) {
            let records = outcome.top.iter().map(TopRecord::printable);
            document["top"] = records.map(|(key, value)| json!({ "key": key, "value": value })).collect();
            if let Some(results) = Results::of(spec, &outcome.top) {
                document["rows"] = results.document();
            }
        }
        return stdout::print_json(&document);
    }
    if matches!(spec.output, OutputTarget::Top(_)) {
        let (width, paint) = (console::width(), paint::for_stdout());
        let results = Results::of(spec, &outcome.top);
        let table = results.map_or_else(|| top_table(&outcome.top, width), |r| r.table(report.job.output_records));
        return stdout::print(&(table + "\n" + &report::brief(report, width, paint)));
    }
    if !flags.reports.quiet {
        eprintln_quietly(&(report::summary_line(report) + &more.replace(['\n', '\r'], " ")));
    }
    Ok(())
}

/// Prints a line on standard error and ignores failures: a finished job does not fail because standard error is closed.
fn eprintln_quietly(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn top_table(top: &[TopRecord], width: usize) -> String {
    let mut table = Table::new(&[("", Side::Right), ("", Side::Left)]);
    for (key, value) in top.iter().map(TopRecord::printable) {
        let value = value.parse().map_or_else(|_| value.clone(), numbers::count);
        // Keys without values take the whole width.
        let room = width.saturating_sub(8 + value.chars().count()).max(20);
        table.row(vec![value, cut(&key, room)]);
    }
    if table.is_empty() { "  no records\n".into() } else { table.print(paint::Paint::OFF) }
}
