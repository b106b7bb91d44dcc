//! `yunti report`: explains a job that is done.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;
use yunti_engine::base::{Code, Error, Result};
use yunti_engine::job::report::{REPORT_FORMAT, Report};

use crate::console::{self, paint, stdout};
use crate::facts::{self, FACTS_FORMAT, JobFacts};
use crate::failure::Outcome;
use crate::text;

/// Explain where the time of a job went
///
/// Its stages, its workers' time, memory, spills, counters, and what bounded it.
#[derive(Debug, Args)]
pub struct ReportFlags {
    /// An output directory of `yunti run`, a report file, or a file of facts of a cluster's job
    pub path: PathBuf,

    /// Print the report as it is stored
    #[arg(long)]
    pub json: bool,
}

pub fn report(flags: &ReportFlags) -> Outcome {
    let (report, document) = read(&flags.path)?;
    if flags.json {
        return stdout::print_json(&document);
    }
    stdout::print(&text::report::full(&report, console::width(), paint::for_stdout()))
}

/// The report and the document that it comes from, which may have fields that this version does not know. Facts of a cluster's job
/// become their report.
pub fn read(path: &Path) -> Result<(Report, serde_json::Value)> {
    let file = if path.is_dir() { path.join("_yunti/report.json") } else { path.to_path_buf() };
    let named = |e: Error| e.at_path(file.to_string_lossy());
    let bytes = std::fs::read(&file).map_err(|e| {
        named(Error::io(Code::Input, "cannot read the report", &e))
            .hint("name the output directory of a yunti job, or a report file")
    })?;
    let bad = |e: serde_json::Error| {
        named(Error::new(Code::Corrupt, format!("this is no report of a job ({e})")))
            .hint("name the report.json that a job has written")
    };
    let document: serde_json::Value = serde_json::from_slice(&bytes).map_err(bad)?;
    let format = document["format"].as_str().unwrap_or("none").to_string();
    if format == FACTS_FORMAT {
        let report = facts::report_of(&JobFacts::deserialize(&document).map_err(bad)?);
        let document = serde_json::to_value(&report).map_err(bad)?;
        return Ok((report, document));
    }
    if format != REPORT_FORMAT {
        let what = format!("the report has the format '{format}'");
        return Err(named(Error::new(Code::Corrupt, what)).hint(format!("this version reads {REPORT_FORMAT}")));
    }
    let report = Report::deserialize(&document).map_err(bad)?;
    Ok((report, document))
}
