//! First sentence of an answer: what the collector does to the program, and what would help.

use yunti_program::text::numbers::milliseconds;

use crate::finding::Finding;
use crate::summary::Summary;

/// Share of the time below which pauses are no trouble.
const SMALL: f64 = 0.01;
/// Cost from which on a finding belongs into the sentence.
const COST_MIN: f64 = 0.005;
/// Pause in milliseconds that users notice, however rare.
const LONG_MS: f64 = 500.0;

/// Returns the sentence about a log.
pub fn verdict(summary: &Summary, findings: &[Finding]) -> String {
    let pauses = &summary.pauses;
    if pauses.count == 0 {
        return match summary.stalls.count {
            0 => "the log has no pauses (ZGC writes them with -Xlog:gc* only)".to_owned(),
            _ => format!("no pauses, but {}", said(&findings[..findings.len().min(1)])),
        };
    }
    let longest = milliseconds(pauses.max_ms);
    let counted = if pauses.count == 1 { "1 pause".to_owned() } else { format!("{} pauses", pauses.count) };
    if summary.seconds == 0.0 {
        return format!(
            "{counted} take {}, the longest {longest}; without times in the log their share is unknown{}",
            milliseconds(pauses.total_ms),
            appended(findings)
        );
    }
    let share = share(summary.pause_share());
    let matters: Vec<Finding> = findings.iter().filter(|finding| finding.cost >= COST_MIN).cloned().collect();
    if matters.is_empty() && summary.pause_share() < SMALL && pauses.max_ms < LONG_MS {
        return format!("nothing is wrong: pauses take {share}, longest {longest}{}", appended(findings));
    }
    let lead = format!("pauses take {share} of the time ({counted}, longest {longest})");
    match matters.first() {
        Some(finding) => format!("{lead}; {}: {}", finding.text, finding.cure),
        None => format!("{lead}{}", appended(findings)),
    }
}

/// Returns a share in percent, with more digits if it is small.
fn share(share: f64) -> String {
    match share * 100.0 {
        percent if percent >= 0.095 => format!("{percent:.1} %"),
        percent if percent >= 0.0095 => format!("{percent:.2} %"),
        _ => "less than 0.01 %".to_owned(),
    }
}

fn appended(findings: &[Finding]) -> String {
    match findings.first() {
        Some(finding) => format!("; {}: {}", finding.text, finding.cure),
        None => String::new(),
    }
}

fn said(findings: &[Finding]) -> String {
    findings
        .first()
        .map_or_else(|| "threads stalled".to_owned(), |finding| format!("{}: {}", finding.text, finding.cure))
}
