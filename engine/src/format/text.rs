//! Lines of text: where lines end, and where a file may be split.
//!
//! Lines end as in Hadoop's LineReader: at LF, CRLF or CR, or only at the user's delimiter. Bytes behind the last line
//! end are a line too, unless there are none.
//!
//! A split [start, end) of a file has the bytes [boundary(start), boundary(end)). `boundary(0)` is 0; `boundary(x)` is
//! behind the first line end that begins at or after x. So each line is in one split, whatever the cuts. Both sides of
//! a cut find the same boundary by reading forward only.

use crate::bytes::masks::{line_ends, mask_any};

/// Line end of a text format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// LF, CRLF or CR.
    Any,
    /// LF alone, as in sort(1).
    Lf,
    /// The user's delimiter, not empty.
    Delimiter(Vec<u8>),
}

impl LineEnd {
    /// Returns true if a file may be split. A delimiter that can overlap itself is found at different offsets from
    /// different starts.
    pub fn splittable(&self) -> bool {
        match self {
            LineEnd::Any | LineEnd::Lf => true,
            LineEnd::Delimiter(d) => !(1..d.len()).any(|n| d[..n] == d[d.len() - n..]),
        }
    }

    /// Returns how many bytes before a cut a line end may begin that still extends to it.
    pub fn look_back(&self) -> usize {
        match self {
            LineEnd::Delimiter(d) => d.len() - 1,
            _ => 0,
        }
    }

    /// Returns the first line end in `bytes`: where it begins, and where the next line begins. A CR as the last byte
    /// counts only with `last`, because an LF may follow.
    pub fn find(&self, bytes: &[u8], last: bool) -> Option<(usize, usize)> {
        match self {
            LineEnd::Lf => memchr::memchr(b'\n', bytes).map(|at| (at, at + 1)),
            LineEnd::Any => {
                let at = memchr::memchr2(b'\n', b'\r', bytes)?;
                if bytes[at] == b'\n' {
                    return Some((at, at + 1));
                }
                match bytes.get(at + 1) {
                    Some(b'\n') => Some((at, at + 2)),
                    Some(_) => Some((at, at + 1)),
                    None => last.then_some((at, at + 1)),
                }
            }
            LineEnd::Delimiter(d) => memchr::memmem::find(bytes, d).map(|at| (at, at + d.len())),
        }
    }

    /// Returns the number of lines in `bytes`, which begin at a line. The last line may lack its end.
    pub fn count(&self, bytes: &[u8]) -> u64 {
        let (ends, open) = match self {
            LineEnd::Any => (line_ends(bytes), !matches!(bytes.last(), None | Some(b'\n' | b'\r'))),
            LineEnd::Lf => {
                (memchr::memchr_iter(b'\n', bytes).count() as u64, !matches!(bytes.last(), None | Some(b'\n')))
            }
            LineEnd::Delimiter(d) => {
                let (mut ends, mut behind) = (0, 0);
                for at in memchr::memmem::find_iter(bytes, d) {
                    (ends, behind) = (ends + 1, at + d.len());
                }
                (ends, behind < bytes.len())
            }
        };
        ends + u64::from(open)
    }

    /// Returns where the last whole line of `bytes` ends, its line end included; 0 if there is none.
    pub fn whole(&self, bytes: &[u8], last: bool) -> usize {
        match self {
            LineEnd::Lf => memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1),
            LineEnd::Any => {
                // A CR at the very end may be half of a CRLF.
                let sure = if !last && bytes.last() == Some(&b'\r') { &bytes[..bytes.len() - 1] } else { bytes };
                memchr::memrchr2(b'\n', b'\r', sure).map_or(0, |at| at + 1)
            }
            LineEnd::Delimiter(d) => match memchr::memmem::rfind(bytes, d) {
                // Search from the front, as all other functions do: from the back, the last one could be found
                // elsewhere.
                Some(_) if !self.splittable() => {
                    memchr::memmem::find_iter(bytes, d).last().map_or(0, |at| at + d.len())
                }
                at => at.map_or(0, |at| at + d.len()),
            },
        }
    }
}

/// Columns of the lines in a batch, without their ends.
#[derive(Default)]
pub struct LineSplitter {
    bits: Vec<u64>,
    /// Offset of each line in the batch.
    pub offsets: Vec<u32>,
    /// Length of each line in bytes.
    pub lengths: Vec<u32>,
}

impl LineSplitter {
    /// Sets the columns to the lines of `bytes`, which begin at a line. The last line may lack its end.
    pub fn split(&mut self, bytes: &[u8], end: &LineEnd) {
        self.offsets.clear();
        self.lengths.clear();
        let mut start = 0usize;
        match end {
            LineEnd::Any | LineEnd::Lf => {
                let set: &[u8] = if *end == LineEnd::Lf { b"\n" } else { b"\n\r" };
                self.bits.resize(bytes.len().div_ceil(64), 0);
                mask_any(bytes, set, &mut self.bits);
                for (w, &word) in self.bits.iter().enumerate() {
                    let mut word = word;
                    while word != 0 {
                        let at = w * 64 + word.trailing_zeros() as usize;
                        word &= word - 1;
                        if at < start {
                            // The LF of a CRLF.
                            continue;
                        }
                        self.offsets.push(start as u32);
                        self.lengths.push((at - start) as u32);
                        start = at + 1;
                        if bytes[at] == b'\r' && bytes.get(start) == Some(&b'\n') {
                            start += 1;
                        }
                    }
                }
            }
            LineEnd::Delimiter(d) => {
                for at in memchr::memmem::find_iter(bytes, d) {
                    self.offsets.push(start as u32);
                    self.lengths.push((at - start) as u32);
                    start = at + d.len();
                }
            }
        }
        if start < bytes.len() {
            self.offsets.push(start as u32);
            self.lengths.push((bytes.len() - start) as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, end: &LineEnd) -> Vec<String> {
        let mut s = LineSplitter::default();
        s.split(text.as_bytes(), end);
        assert_eq!(end.count(text.as_bytes()), s.offsets.len() as u64, "{text:?}");
        s.offsets.iter().zip(&s.lengths).map(|(&o, &l)| text[o as usize..(o + l) as usize].to_string()).collect()
    }

    #[test]
    fn ends_lines_as_hadoop_does() {
        let any = LineEnd::Any;
        for (text, expect) in [
            ("", &[][..]),
            ("a", &["a"]),
            ("a\n", &["a"]),
            ("\n\n", &["", ""]),
            ("a\r\nb\rc\n\rd", &["a", "b", "c", "", "d"]),
            ("\r\r\n\n", &["", "", ""]),
            ("a\0b\n\0", &["a\0b", "\0"]),
        ] {
            assert_eq!(lines(text, &any), expect, "{text:?}");
        }
        assert_eq!(lines("a\r\nb\rc\n", &LineEnd::Lf), ["a\r", "b\rc"]);
        assert_eq!(lines("a||b||", &LineEnd::Delimiter(b"||".to_vec())), ["a", "b"]);
        let long = format!("{}\r\n{}", "x".repeat(63), "y".repeat(130));
        assert_eq!(lines(&long, &any), ["x".repeat(63), "y".repeat(130)]);
    }

    #[test]
    fn does_not_split_at_a_delimiter_that_overlaps_itself() {
        assert!(!LineEnd::Delimiter(b"aa".to_vec()).splittable());
        assert!(!LineEnd::Delimiter(b"aba".to_vec()).splittable());
        assert!(LineEnd::Delimiter(b"ab".to_vec()).splittable());
        assert_eq!(LineEnd::Delimiter(b"aa".to_vec()).whole(b"xaaa", true), 3);
    }

    #[test]
    fn a_trailing_cr_waits_for_an_lf() {
        assert_eq!(LineEnd::Any.find(b"ab\r", false), None);
        assert_eq!(LineEnd::Any.find(b"ab\r", true), Some((2, 3)));
        assert_eq!(LineEnd::Any.find(b"ab\r\nc", false), Some((2, 4)));
        assert_eq!(LineEnd::Any.whole(b"a\nb\r", false), 2);
        assert_eq!(LineEnd::Any.whole(b"a\nb\r", true), 4);
    }
}
