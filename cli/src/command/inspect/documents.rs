//! Yunti's documents (reports, facts, limits, comparisons, job files), and files of other programs.

use std::path::Path;

use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};
use yunti_engine::env::Files;
use yunti_engine::env::NamedFile;
use yunti_engine::job::report::limits::LIMITS_FORMAT;
use yunti_engine::job::report::{REPORT_FORMAT, Report};
use yunti_engine::job::spec::file::{read_job_file, spec_to_toml};

use super::Inspection;
use crate::command::report;
use crate::compare::COMPARISON_FORMAT;
use crate::console::paint::Paint;
use crate::facts::FACTS_FORMAT;
use crate::text::{self, numbers};

pub fn document(path: &Path, files: &dyn Files, width: usize) -> Result<Inspection> {
    let named = |e: Error| e.at_path(path.to_string_lossy());
    let bytes = std::fs::read(path).map_err(|e| named(Error::io(Code::Input, "cannot read", &e)))?;
    let document: Value = serde_json::from_slice(&bytes).map_err(|e| {
        named(Error::new(Code::Corrupt, format!("the file begins like a document of Yunti, but is not one ({e})")))
            .hint("copy the file again")
    })?;
    let format = document["format"].as_str().unwrap_or_default().to_string();
    let (kind, what) = match &*format {
        REPORT_FORMAT => ("report", "report of a job"),
        FACTS_FORMAT => ("job-facts", "facts of a job on a cluster"),
        LIMITS_FORMAT => ("limits", "limits that yunti machine limits measured"),
        COMPARISON_FORMAT => ("comparison", "comparison of two jobs"),
        _ => {
            let hint =
                format!("this version knows {REPORT_FORMAT}, {FACTS_FORMAT}, {LIMITS_FORMAT} and {COMPARISON_FORMAT}");
            return Err(named(Error::new(Code::Corrupt, format!("the document has the format '{format}'"))).hint(hint));
        }
    };
    let mut text = format!("{}: {what} ({format})\n", path.display());
    let mut more = json!({});
    match kind {
        "report" | "job-facts" => {
            let (report, _) = report::read(path, files)?;
            text += &format!("\n{}", text::report::brief(&report, width, Paint::OFF));
            text += &format!("\n  more: yunti report {}\n", path.display());
            more = summary(&report);
        }
        "limits" => {
            let measured = document["measured_unix_ms"].as_u64().unwrap_or(0);
            let rate = |name: &str| numbers::rate(document[name]["one"].as_f64().unwrap_or(0.0));
            text += &format!(
                "  measured {}, {} threads; one thread copies memory with {}, sorts with {}\n  more: yunti machine limits\n",
                numbers::utc(measured),
                document["threads"],
                rate("memory_copy"),
                rate("sort")
            );
        }
        _ => {
            let side = |letter: &str| document[letter]["name"].as_str().unwrap_or_default().to_string();
            text += &format!("  A is {}, B is {}\n", side("a"), side("b"));
        }
    }
    Ok(Inspection {
        text,
        document: json!({ "path": path.to_string_lossy(), "kind": kind, "format": format, "bytes": bytes.len(), "summary": more }),
    })
}

fn summary(report: &Report) -> Value {
    json!({ "name": report.job.name, "wall_ms": report.job.wall_ms, "input_bytes": report.job.input_bytes,
            "output_records": report.job.output_records, "bottleneck": report.bottleneck.text })
}

/// Shows a job file, with the defaults of all keys that it leaves out.
pub fn job_file(path: &Path, file: &NamedFile) -> Result<Inspection> {
    let named = |e: Error| e.at_path(path.to_string_lossy());
    let corrupt = |e: Error| {
        if e.code() != Code::Usage {
            return e;
        }
        let corrupt = named(Error::new(Code::Corrupt, e.what()));
        e.hint_text().map_or(corrupt.clone(), |hint| corrupt.hint(hint))
    };
    let len = file.len()?;
    let job = read_job_file(file, path).map_err(corrupt)?;
    let mut spec = job.ready_job().unwrap_or_default();
    job.change.apply(&mut spec).map_err(corrupt)?;
    let whole = spec_to_toml(&spec)?;
    let indented: String = whole.lines().map(|line| format!("  {line}\n")).collect();
    let from = job.application.as_ref().map_or(String::new(), |name| format!(", of the application {name}"));
    let text = format!("{}: a job file{from}; as yunti run reads it:\n\n{indented}", path.display());
    let document = json!({ "path": path.to_string_lossy(), "kind": "job-file", "bytes": len, "application": job.application, "job": whole });
    Ok(Inspection { text, document })
}

pub fn foreign(path: &Path, len: u64, what: &str, hint: &str) -> Inspection {
    Inspection {
        text: format!("{}: {what}, {}\n  {hint}\n", path.display(), numbers::bytes(len)),
        document: json!({ "path": path.to_string_lossy(), "kind": "foreign", "bytes": len, "what": what, "hint": hint }),
    }
}
