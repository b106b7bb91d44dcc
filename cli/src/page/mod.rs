//! The report as a page: one HTML file with its style and drawings. It has no scripts and fetches nothing.
//!
//! ```text
//!   report -> header, advice, figures -> timeline -> stages -> memory -> skew -> tasks, counters -> page
//!             summary.rs                 timeline.rs stages.rs memory.rs skew.rs tables.rs
//! ```
//!
//! Drawings are shapes that stretch with the window. Their labels are text beside them, readable at any width.

mod colour;
mod comparison;
mod memory;
mod skew;
mod stages;
mod summary;
mod tables;
mod timeline;

use yunti_engine::job::report::Report;

use crate::compare::Comparison;
use yunti_program::page::Page;
use yunti_program::page::markup::{self, Tag, tag};

const STYLE: &str = include_str!("style.css");

/// Returns the page of one job, or of all jobs of a chain in order.
pub fn of_report(report: &Report) -> String {
    let main: Vec<Tag> = match &report.before[..] {
        [] => sections(report).collect(),
        before => {
            let jobs = before.iter().chain([report]).zip(1..);
            jobs.map(|(job, n)| tag("article").all(sections(job)).with_ids_of(&format!("job-{n}"))).collect()
        }
    };
    document(&format!("{} - Yunti job report", report.job.name), main, &report.job.version)
}

fn sections(report: &Report) -> impl Iterator<Item = Tag> {
    summary::header(report)
        .into_iter()
        .chain([timeline::section(report), stages::section(report), memory::section(report), skew::section(report)])
        .chain(tables::tasks(report))
        .chain(tables::counters(report))
}

/// Returns the page that compares two jobs.
pub fn of_comparison(comparison: &Comparison) -> String {
    let title = format!("{} and {} - Yunti job reports", comparison.a.name, comparison.b.name);
    document(&title, comparison::sections(comparison), env!("CARGO_PKG_VERSION"))
}

fn document(title: &str, main: impl IntoIterator<Item = Tag>, version: &str) -> String {
    let foot = format!("Yunti {version}. docs/guide/report.md explains the terms.");
    Page { title, style: STYLE, script: None, foot: &foot }.of(main)
}
