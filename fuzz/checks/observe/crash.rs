//! Arbitrary bytes as the sources of crash reports: each report becomes a valid message. The tests of `machine/crash/`
//! replay these corpora, so this module is not in `mod.rs`, which belongs to the engine.

use std::time::{Duration, SystemTime};

use yunti_crash::kernel::KernelReports;
use yunti_crash::record::parse;
use yunti_crash::syslog::{Outgoing, Teller};
use yunti_crash::{Report, fatal_error};

/// Checks records of the kernel log, one per line.
pub fn kernel_log(bytes: &[u8]) {
    let all = reports_of(bytes);
    all.iter().for_each(check);
    assert_eq!(all, reports_of(bytes));
}

fn reports_of(bytes: &[u8]) -> Vec<Report> {
    let mut kernel = KernelReports::default();
    let mut all = Vec::new();
    for record in bytes.split(|b| *b == b'\n').filter_map(parse) {
        all.extend(
            kernel.take(&record, SystemTime::UNIX_EPOCH + Duration::from_micros(record.time_us & (u64::MAX >> 8))),
        );
    }
    all.extend(kernel.end());
    all
}

/// Checks the fatal-error log of a JVM (hs_err).
pub fn hs_err(bytes: &[u8]) {
    if let Some(report) = fatal_error::report(&String::from_utf8_lossy(bytes), SystemTime::UNIX_EPOCH) {
        check(&report);
    }
}

/// Checks the message: one line of RFC 5424 within the limit of the transport.
fn check(report: &Report) {
    let teller = Teller::new("node", 1, "boot", 1);
    for bytes_max in [2048, 8192] {
        let outgoing = Outgoing { id: 1, report: report.clone(), count: 2, is_again: true };
        let message = teller.message(&outgoing, 3, bytes_max);
        assert!(message.len() <= bytes_max, "{} {message}", message.len());
        assert!(!message.chars().any(char::is_control), "{message:?}");
        let (head, data) = message.split_once(" [crash@32473").unwrap();
        assert_eq!(head.split(' ').count(), 6, "{head}");
        let rest = values(data).unwrap_or_else(|| panic!("{message}"));
        assert!(rest.starts_with("] \u{feff}again, 2 times: "), "{message}");
    }
}

/// Returns the text after the ` name="value"` pairs, or None if a pair is malformed.
///
/// Values escape quotes, brackets and backslashes.
fn values(mut data: &str) -> Option<&str> {
    while let Some(rest) = data.strip_prefix(' ') {
        let (name, value) = rest.split_once("=\"")?;
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        let mut is_escaped = false;
        let end = value.char_indices().find(|(_, c)| {
            let was_escaped = is_escaped;
            is_escaped = !was_escaped && *c == '\\';
            !was_escaped && matches!(c, '"' | ']')
        });
        let (at, mark) = end?;
        if !is_name || mark != '"' {
            return None;
        }
        data = &value[at + 1..];
    }
    Some(data)
}
