//! Report as a message of RFC 5424: docs/formats/crash-reports.md.

use std::fmt::Write;

use jiff::Timestamp;

use super::stack::cut;
use super::{Kind, Report};

/// Structured data needs an enterprise number. This one is reserved for documentation (RFC 5612), since Yunti has
/// none.
const DATA_ID: &str = "crash@32473";
const HOST_BYTES_MAX: usize = 255;
const BOM: &str = "\u{feff}";
/// Bytes of a value; a known value that is longer is an invented name.
const VALUE_BYTES_MAX: usize = 220;

/// Report that is being sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Number of the report, unique in this run on this host; a collector recognises duplicates by it.
    pub id: u64,
    /// The report.
    pub report: Report,
    /// Occurrences of this signature so far.
    pub count: u64,
    /// True for a report of repeated occurrences.
    pub is_again: bool,
}

/// Sender of messages.
#[derive(Clone, Debug)]
pub struct Teller {
    /// Host name, as printable ASCII.
    pub host: String,
    /// Process that sends.
    pub pid: u32,
    /// `boot_id` of the kernel, the scope of process numbers and times since boot.
    pub boot: String,
    /// Start of this run in milliseconds since 1970; it makes ids unique across runs.
    pub begun_ms: u128,
}

impl Teller {
    /// Returns a sender. `host`: the name that the system has for itself.
    pub fn new(host: &str, pid: u32, boot: &str, begun_ms: u128) -> Teller {
        Teller { host: header(host), pid, boot: boot.trim().to_owned(), begun_ms }
    }

    /// Returns the message. `lost`: reports before this one that did not fit into the queue. `bytes_max`: facts and
    /// frames above it are left out; at least 2048, which every collector must accept.
    pub fn message(&self, outgoing: &Outgoing, lost: u64, bytes_max: usize) -> String {
        let report = &outgoing.report;
        let (facility, severity) = match report.kind {
            Kind::Oops => (0, 2),
            Kind::OomKill | Kind::FileSystem => (0, 3),
            Kind::HungTask => (0, 4),
            Kind::JvmFatal => (1, 3),
        };
        let time = Timestamp::try_from(report.time).unwrap_or(Timestamp::UNIX_EPOCH);
        let mut text = format!(
            "<{}>1 {time:.6} {} yunti-observe {} {} [{DATA_ID}",
            facility * 8 + severity,
            self.host,
            self.pid,
            report.kind.name()
        );
        // A quarter is reserved for the text.
        let data_bytes_max = bytes_max / 4 * 3;
        let mut add = |name: &str, value: &str| {
            let value = escaped(&cut(value, VALUE_BYTES_MAX));
            if text.len() + name.len() + value.len() < data_bytes_max {
                let _ = write!(text, " {name}=\"{value}\"");
            }
        };
        add("id", &format!("{}-{}", self.begun_ms, outgoing.id));
        add("signature", &format!("{:016x}", report.signature));
        add("class", &report.class);
        add("count", &outgoing.count.to_string());
        add("boot", &self.boot);
        if lost > 0 {
            add("lost", &lost.to_string());
        }
        report.facts.iter().for_each(|(name, value)| add(name, value));
        let _ = write!(text, "] {BOM}");
        if outgoing.is_again {
            let _ = write!(text, "again, {} times: ", outgoing.count);
        }
        text += &cut(&report.title, bytes_max.saturating_sub(text.len() + 5));
        for (n, frame) in report.stack.iter().enumerate() {
            let before = if n == 0 { ": " } else { " < " };
            if text.len() + before.len() + frame.len() + 3 > bytes_max {
                text += " ..";
                break;
            }
            text += before;
            text += frame;
        }
        text
    }
}

/// Header field: printable ASCII only; an empty one is `-`.
fn header(text: &str) -> String {
    let text: String = text.chars().filter(char::is_ascii_graphic).take(HOST_BYTES_MAX).collect();
    if text.is_empty() { "-".to_owned() } else { text }
}

fn escaped(value: &str) -> String {
    value.chars().flat_map(|c| matches!(c, '"' | '\\' | ']').then_some('\\').into_iter().chain([c])).collect()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    fn message(frames: usize, lost: u64, bytes_max: usize) -> String {
        let teller = Teller { host: "node-7".into(), pid: 12, boot: "b-1".into(), begun_ms: 99 };
        let stack = (0..frames).map(|n| format!("frame_{n}")).collect();
        let time = SystemTime::UNIX_EPOCH + Duration::from_micros(1_795_213_539_123_456);
        let report = Report::new(Kind::OomKill, "a \"class\" [x]".into(), "it was killed".into(), time, stack, &[])
            .fact("process", "a\\b")
            .fact("pid", "");
        let signature = format!("{:016x}", report.signature);
        let text = teller.message(&Outgoing { id: 3, report, count: 1, is_again: false }, lost, bytes_max);
        text.replace(&signature, "SIGNATURE")
    }

    #[test]
    fn formats_a_message() {
        assert_eq!(
            message(2, 0, 2048),
            "<3>1 2026-11-20T22:25:39.123456Z node-7 yunti-observe 12 oom-kill [crash@32473 id=\"99-3\" \
             signature=\"SIGNATURE\" \
             class=\"a \\\"class\\\" [x\\]\" count=\"1\" boot=\"b-1\" process=\"a\\\\b\"] \u{feff}it was killed: \
                 frame_0 < frame_1"
        );
        assert!(message(0, 4, 2048).contains(" lost=\"4\" process="));
    }

    #[test]
    fn respects_the_requested_length() {
        let text = message(1000, 0, 480);
        assert!((460..=480).contains(&text.len()) && text.ends_with(" .."), "{text}");
    }

    /// A datagram that is too long could never be sent, and would block the queue.
    #[test]
    fn limits_the_length_of_any_report() {
        let teller = Teller::new(&"n".repeat(400), 12, "b-1", 99);
        let long = "\"é".repeat(5000);
        let mut report =
            Report::new(Kind::OomKill, long.clone(), long.clone(), SystemTime::UNIX_EPOCH, vec![long.clone(); 40], &[]);
        for name in ["process", "cgroup", "anon-rss", "file-rss", "device", "thread", "compiles"] {
            report = report.fact(name, long.clone());
        }
        let text = teller.message(&Outgoing { id: u64::MAX, report, count: u64::MAX, is_again: true }, u64::MAX, 2048);
        assert!(
            text.len() <= 2048 && text.contains("\"] \u{feff}again, ") && text.contains(" lost=\""),
            "{} {text}",
            text.len()
        );
    }

    #[test]
    fn cleans_host_names() {
        for (text, expected) in [("node", "node"), ("a b\u{7}ä", "ab"), ("", "-")] {
            assert_eq!(header(text), expected);
        }
    }
}
