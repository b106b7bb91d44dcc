//! File of an access log, read as a script.

use std::io::{self, BufRead};

use yunti_base::{Code, Error, Result};

use super::line;
use crate::request::Template;
use crate::request::script::{Draft, Script};

/// Requests of a log, at most.
const REQUESTS_MAX: usize = 10_000_000;
/// Longest line; a longer one is left out.
const LINE_BYTES_MAX: u64 = 64 << 10;
const SECOND_NS: u64 = 1_000_000_000;

/// Lines of a log that are not in the script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Requests whose method needs a body, or changes data.
    pub other_methods: u64,
    /// Lines that are no requests.
    pub unreadable: u64,
    /// First of these: its number from 1, and the reason.
    pub example: Option<(u64, &'static str)>,
}

/// Requests of a log.
pub struct Log {
    pub script: Script,
    pub left_out: LeftOut,
    /// Seconds from the first to the last request, with its second; None without times.
    pub seconds: Option<u64>,
}

/// Reads a log. Requests of one second are spread evenly over it.
///
/// Only GET, HEAD and OPTIONS are replayed: a log has no bodies, and the rest changes data.
pub fn read(mut input: impl BufRead, template: Template) -> Result<Log> {
    let mut left_out = LeftOut::default();
    let mut draft = Draft::new(template);
    // Time and number of each request.
    let mut entries: Vec<(i64, u32)> = Vec::new();
    let (mut timed, mut number) = (0usize, 0);
    let mut bytes = Vec::new();
    while next_line(&mut input, &mut bytes).map_err(|e| Error::io(Code::Input, "cannot read the log", &e))? {
        number += 1;
        let text = String::from_utf8_lossy(&bytes);
        if text.trim().is_empty() || text.starts_with('#') {
            continue;
        }
        match line::parse(&text) {
            Ok(entry) if !matches!(entry.method, "GET" | "HEAD" | "OPTIONS") => left_out.other_methods += 1,
            Ok(entry) => {
                if entries.len() == REQUESTS_MAX {
                    return Err(Error::new(Code::Usage, "the log has more than ten million requests")
                        .hint("replay a part of it"));
                }
                timed += usize::from(entry.time_s.is_some());
                entries.push((entry.time_s.unwrap_or(0), draft.number(entry.method, entry.path)));
            }
            Err(why) => {
                left_out.unreadable += 1;
                left_out.example.get_or_insert((number, why));
            }
        }
    }
    if entries.is_empty() {
        let why = left_out.example.map_or(String::new(), |(number, why)| format!("; line {number}: {why}"));
        return Err(Error::new(Code::Usage, format!("the log has no GET, HEAD or OPTIONS{why}"))
            .hint("give lines of the Common Log Format, or one path a line"));
    }
    let has_times = timed == entries.len();
    if has_times {
        // Servers write a line when a request ends, so times are not in order.
        entries.sort_by_key(|(time_s, _)| *time_s);
    }
    let (times, order): (Vec<i64>, Vec<u32>) = entries.into_iter().unzip();
    let seconds = has_times.then(|| (times[times.len() - 1] - times[0]) as u64 + 1);
    Ok(Log { script: draft.finish(order, has_times.then(|| spread(&times))), left_out, seconds })
}

/// Reads a line without its end, at most the longest length of it. Returns false at the end.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let n = io::Read::take(&mut *input, LINE_BYTES_MAX).read_until(b'\n', line)?;
    if n as u64 == LINE_BYTES_MAX && line.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
        // A cut path would be another request.
        line.truncate(20);
        line.insert(0, b'?');
    }
    Ok(n > 0)
}

/// Returns nanoseconds since the first time: `n` equal times become n equal parts of their second.
fn spread(times_s: &[i64]) -> Vec<u64> {
    let mut all = Vec::with_capacity(times_s.len());
    for second in times_s.chunk_by(|a, b| a == b) {
        let from_ns = (second[0] - times_s[0]) as u64 * SECOND_NS;
        all.extend((0..second.len() as u64).map(|n| from_ns + n * SECOND_NS / second.len() as u64));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> Result<Log> {
        read(text.as_bytes(), Template::default())
    }

    #[test]
    fn orders_and_spreads_requests() {
        let line =
            |second: u32, request: &str| format!("h - - [10/Oct/2000:13:55:{second:02} +0000] \"{request}\" 200 1\n");
        let text = line(37, "GET /c")
            + &line(36, "GET /a HTTP/1.1")
            + &line(36, "GET /b HTTP/1.1")
            + "broken\n"
            + &line(36, "POST /x HTTP/1.1")
            + "\n# a comment\n"
            + &line(40, "HEAD /a HTTP/1.1");
        let log = log(&text).unwrap();
        let paths: Vec<&str> = (0..4).map(|n| log.script.request(log.script.at(n)).path.as_str()).collect();
        assert_eq!(paths, ["/a", "/b", "/c", "/a"]);
        assert_eq!(log.script.times_ns().unwrap()[..], [0, 500_000_000, 1_000_000_000, 4_000_000_000]);
        let example = Some((4, "it is neither a log line nor a path"));
        assert_eq!(log.left_out, LeftOut { other_methods: 1, unreadable: 1, example });
        assert_eq!(log.seconds, Some(5));
    }

    #[test]
    fn plain_lines_have_no_times() {
        let log = log("/b\n/a\nGET /c\n").unwrap();
        assert!(log.script.times_ns().is_none() && log.seconds.is_none());
        assert_eq!(log.script.request(log.script.at(0)).path, "/b");
    }

    #[test]
    fn long_lines_and_other_bytes_are_left_out() {
        let text = format!("/{}\n/ok\n\u{0}\u{1}\n", "x".repeat(200_000));
        let found = log(&text).unwrap();
        assert_eq!((found.script.len(), found.left_out.unreadable), (1, 2));
        assert!(log("POST /a\n").err().unwrap().to_string().contains("no GET"));
        assert!(log("").is_err());
    }
}
