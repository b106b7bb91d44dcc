//! `yunti report`: explains a finished job, or compares two.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;
use yunti_base::{Code, Error, Result};
use yunti_engine::env::Files;
use yunti_engine::job::report::{REPORT_FORMAT, Report, advice};

use crate::command::part::stores::StoreFlags;
use crate::console::paint::Paint;
use crate::console::{self, paint, stdout};
use crate::facts::{self, FACTS_FORMAT, JobFacts};
use crate::failure::Outcome;
use crate::{compare, page, text, whole_file};

/// Explain where the time of a job went
///
/// Shows its stages, the workers' time, memory, spills, counters, the bottleneck and advice. With a second job,
/// compares the two, the largest difference first.
#[derive(Debug, Args)]
pub struct ReportFlags {
    /// Output directory of `yunti run`, a report file, or a facts file of a cluster's job
    pub path: PathBuf,

    /// Second job, to compare with the first
    pub other: Option<PathBuf>,

    /// Print the stored report, or the comparison, as one JSON document
    #[arg(long)]
    pub json: bool,

    /// Print one self-contained HTML page, with light and dark colours
    #[arg(long, conflicts_with = "json")]
    pub html: bool,

    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub stores: StoreFlags,
}

pub fn report(flags: &ReportFlags) -> Outcome {
    let env = flags.stores.env();
    let (report, document) = read(&flags.path, &*env.files)?;
    // A file gets no colours.
    let paint = if flags.output.is_some() { Paint::OFF } else { paint::for_stdout() };
    let json = |document: &serde_json::Value| format!("{document:#}\n");
    let text = match &flags.other {
        None if flags.json => json(&document),
        None if flags.html => page::of_report(&report),
        None => text::report::full(&report, console::width(), paint),
        Some(other) => {
            let (second, _) = read(other, &*env.files)?;
            let (a, b) = (flags.path.to_string_lossy(), other.to_string_lossy());
            let comparison = compare::compare((&a, &report), (&b, &second));
            match (flags.json, flags.html) {
                (true, _) => json(&compare::as_json(&comparison)),
                (_, true) => page::of_comparison(&comparison),
                _ => text::compare::print(&comparison, console::width(), paint),
            }
        }
    };
    match &flags.output {
        Some(path) => Ok(whole_file::write(path, &text, if flags.html { "the page" } else { "the report" })?),
        None => stdout::print(&text),
    }
}

/// Returns the report and its source document, which may have fields that this version does not know. Facts of a
/// cluster's job are converted to a report.
pub fn read(path: &Path, files: &dyn Files) -> Result<(Report, serde_json::Value)> {
    let is_dir = files.meta(path).is_ok_and(|meta| meta.is_dir);
    let file = if is_dir { path.join("_yunti/report.json") } else { path.to_path_buf() };
    let named = |e: Error| e.at_path(file.to_string_lossy());
    let bytes = bytes_of(&file, files).map_err(|e| {
        named(Error::io(Code::Input, "cannot read the report", &e))
            .hint("name the output directory of a yunti job, or a report file")
    })?;
    let bad = |e: serde_json::Error| {
        named(Error::new(Code::Corrupt, format!("this is not a report of a job ({e})")))
            .hint("name the report.json that a job wrote")
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
    let mut report = Report::deserialize(&document).map_err(bad)?;
    // Versions before 'advice' wrote none.
    if document.get("advice").is_none() {
        report.advice = advice::give(&report);
    }
    Ok((report, document))
}

/// Reads a whole file; a pipe too.
fn bytes_of(path: &Path, files: &dyn Files) -> std::io::Result<Vec<u8>> {
    let file = files.open(path)?;
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 256 << 10]);
    loop {
        match file.read_at(&mut buffer, bytes.len() as u64) {
            Ok(0) => return Ok(bytes),
            Ok(n) => bytes.extend_from_slice(&buffer[..n]),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}
