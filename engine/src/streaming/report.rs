//! Standard error of a program: counters (`reporter:counter:GROUP,COUNTER,AMOUNT`), the status
//! (`reporter:status:TEXT`), and lines for the user.

use std::collections::BTreeMap;

use memchr::memchr;

/// Longest line kept whole. The rest of a longer line is the next line.
const LINE_BYTES_MAX: usize = 64 << 10;

/// Parsed standard error of one program.
pub struct Report {
    /// Start of the lines for the engine, `reporter:` by default.
    prefix: String,
    rest: Vec<u8>,
    pub counters: BTreeMap<(String, String), u64>,
    pub status: Option<String>,
    /// Last line for the user that was not blank, for the error of a program that fails.
    pub last_line: Option<String>,
}

impl Report {
    /// Returns an empty report. `prefix`: start of the lines for the engine.
    pub fn new(prefix: &str) -> Report {
        let (rest, counters, status, last_line) = Default::default();
        Report { prefix: prefix.into(), rest, counters, status, last_line }
    }

    /// Takes bytes of standard error; `ended`: the last ones. Calls `show` with each line for the user.
    pub fn take(&mut self, bytes: &[u8], ended: bool, mut show: impl FnMut(&str)) {
        self.rest.extend_from_slice(bytes);
        let all = std::mem::take(&mut self.rest);
        let mut at = 0;
        while let Some(len) = memchr(b'\n', &all[at..]) {
            self.line(&all[at..at + len], &mut show);
            at += len + 1;
        }
        while all.len() - at > LINE_BYTES_MAX || (ended && at < all.len()) {
            let end = all.len().min(at + LINE_BYTES_MAX);
            self.line(&all[at..end], &mut show);
            at = end;
        }
        self.rest = all[at..].to_vec();
    }

    fn line(&mut self, line: &[u8], show: &mut impl FnMut(&str)) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches('\r');
        let own = line.strip_prefix(&*self.prefix);
        if let Some(counter) = own.and_then(|line| line.strip_prefix("counter:")) {
            // The name of a group contains no comma; the amount comes last.
            let parts = counter.split_once(',').and_then(|(group, rest)| Some((group, rest.rsplit_once(',')?)));
            let amount = parts.and_then(|(_, (_, amount))| amount.trim().parse::<i64>().ok());
            if let (Some((group, (name, _))), Some(amount)) = (parts, amount) {
                let sum = self.counters.entry((group.to_owned(), name.to_owned())).or_insert(0);
                *sum = sum.wrapping_add_signed(amount);
                return;
            }
        } else if let Some(status) = own.and_then(|line| line.strip_prefix("status:")) {
            self.status = Some(status.to_owned());
            return;
        }
        if !line.trim().is_empty() {
            self.last_line = Some(line.trim().to_owned());
        }
        show(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(parts: &[&[u8]]) -> (Report, Vec<String>) {
        let (mut report, mut lines) = (Report::new("reporter:"), Vec::new());
        for (i, part) in parts.iter().enumerate() {
            report.take(part, i + 1 == parts.len(), |line| lines.push(line.to_owned()));
        }
        (report, lines)
    }

    #[test]
    fn counts_and_passes_lines() {
        let (report, lines) = read(&[
            b"hello\nreporter:counter:G,a,2\nreporter:cou",
            b"nter:G,a,3\nreporter:counter:H,b c,d,1\nreporter:status:half\n",
            b"reporter:counter:G,a,x\n\nlast",
        ]);
        let of = |group: &str, name: &str| report.counters.get(&(group.into(), name.into())).copied();
        assert_eq!((of("G", "a"), of("H", "b c,d"), report.counters.len()), (Some(5), Some(1), 2));
        assert_eq!(report.status.as_deref(), Some("half"));
        assert_eq!(lines, ["hello", "reporter:counter:G,a,x", "", "last"]);
        assert_eq!(report.last_line.as_deref(), Some("last"));
    }

    #[test]
    fn cuts_a_line_without_an_end() {
        let long = vec![b'x'; LINE_BYTES_MAX + 1];
        let (_, lines) = read(&[&long, b"y\n"]);
        assert_eq!(lines.iter().map(String::len).collect::<Vec<_>>(), [LINE_BYTES_MAX, 2]);
    }
}
