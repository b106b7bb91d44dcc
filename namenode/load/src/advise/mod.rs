//! Advice for a NameNode: rules over its settings and its metrics.
//!
//! ```text
//!   settings.rs  hdfs-site.xml and core-site.xml, or /conf   --.
//!   sample.rs    /jmx at both ends, the lock's queue between --+-> rules -> Report: advice, and rules not checked
//!   fresh.rs     two updates of each rate of /jmx            --'   lock calls ports audit memory edits
//! ```
//!
//! A rule gives advice only where a figure shows a problem. It leaves an unusual setting alone on a NameNode that
//! has no problem.

mod audit;
mod calls;
mod edits;
pub mod fresh;
mod lock;
mod memory;
mod ports;
pub mod report;
pub mod sample;
pub mod settings;
mod site_xml;
#[cfg(test)]
mod tests;

use report::Report;
use sample::MetricsSample;
use settings::Settings;

/// Applies all rules to one sample.
pub fn judge(settings: &Settings, sample: &MetricsSample) -> Report {
    let mut report = Report::default();
    if !sample.is_active() {
        report.not_checked(format!(
            "advice on load: this NameNode is {}; give the active one",
            sample.state().unwrap_or("in an unknown state")
        ));
    } else if sample.client_port(settings).is_none_or(|port| port.per_second < 1.0) {
        report.not_checked("advice on load: there was no load");
    }
    for rule in [lock::judge, calls::judge, ports::judge, audit::judge, memory::judge, edits::judge] {
        rule(settings, sample, &mut report);
    }
    report
}
