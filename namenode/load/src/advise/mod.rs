//! What would make a NameNode take more, judged by what it is told and what it tells.
//!
//! ```text
//!   settings.rs  hdfs-site.xml and core-site.xml, or /conf   --.
//!   seen.rs      /jmx, twice, and how many waited between    --+-> rules -> Report: advice, and what could not be seen
//!                                                                 lock calls ports audit memory edits
//! ```
//!
//! A rule says something only where a figure says that something is wrong: a setting that is not as a book has it, on a
//! NameNode that has no trouble, is left alone.

mod audit;
mod calls;
mod edits;
mod lock;
mod memory;
mod ports;
pub mod report;
pub mod seen;
pub mod settings;
mod site_xml;
#[cfg(test)]
mod tests;

use report::Report;
use seen::Seen;
use settings::Settings;

pub fn judge(settings: &Settings, seen: &Seen) -> Report {
    let mut report = Report::default();
    if !seen.is_active() {
        report.unseen(format!(
            "what load does: this NameNode is {}; look at the active one",
            seen.state().unwrap_or("in no state that it tells")
        ));
    } else if seen.client_port(settings).is_none_or(|port| port.per_second < 1.0) {
        report.unseen("what load does: there was none");
    }
    for rule in [lock::judge, calls::judge, ports::judge, audit::judge, memory::judge, edits::judge] {
        rule(settings, seen, &mut report);
    }
    report
}
