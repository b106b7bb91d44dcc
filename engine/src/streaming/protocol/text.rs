//! Records as lines of text: the key, a separator, the value. The rules are those of Hadoop Streaming.

use memchr::{memchr, memchr_iter, memchr2_iter, memmem};

use super::Datum;
use crate::operator::TaskContext;
use yunti_base::{Code, Error, Result};

/// Form of a program's lines: where the key ends.
#[derive(Clone, Debug)]
pub struct KeyFields {
    separator: Vec<u8>,
    /// Number of fields that make the key, at least 1.
    fields: usize,
}

impl KeyFields {
    /// Reads the settings `separator` and `fields`. Errors: `Usage` for a value that is no number from 1, or an empty
    /// separator.
    pub fn of(context: &TaskContext, separator: &str, fields: &str) -> Result<KeyFields> {
        let wrong = |key: &str, value: &str, what: &str| {
            Err(Error::new(Code::Usage, format!("{key}: '{value}' is not {what}")))
        };
        let number = match context.setting(fields).map(|text| (text, text.trim().parse::<usize>())) {
            None => 1,
            Some((_, Ok(number))) if number > 0 => number,
            Some((text, _)) => return wrong(fields, text, "a whole number from 1"),
        };
        let text = context.setting(separator).unwrap_or("\t");
        if text.is_empty() {
            return wrong(separator, text, "a separator");
        }
        Ok(KeyFields { separator: text.into(), fields: number })
    }

    /// Splits a line into key and value. A line with too few separators is a key without a value.
    #[inline]
    pub fn split<'l>(&self, line: &'l [u8]) -> (&'l [u8], &'l [u8]) {
        let at = match (&self.separator[..], self.fields) {
            ([byte], 1) => memchr(*byte, line),
            ([byte], n) => memchr_iter(*byte, line).nth(n - 1),
            (text, n) => memmem::find_iter(line, text).nth(n - 1),
        };
        match at {
            Some(at) => (&line[..at], &line[at + self.separator.len()..]),
            None => (line, &[]),
        }
    }

    /// Returns the separator of key and value.
    pub fn separator(&self) -> &[u8] {
        &self.separator
    }
}

/// Appends a key or value.
pub fn append(datum: Datum<'_>, to: &mut Vec<u8>) {
    match datum {
        Datum::Text(bytes) | Datum::Bytes(bytes) | Datum::Typed(bytes) => to.extend_from_slice(bytes),
        Datum::Offset(offset) => to.extend_from_slice(offset.to_string().as_bytes()),
    }
}

/// Calls `take` with each whole line, without its end. Lines end with LF, CR LF or CR, as Hadoop reads the output of a
/// program. With `ended`, the bytes after the last line end are a line too. Returns the number of bytes that it took.
pub fn lines(bytes: &[u8], ended: bool, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<usize> {
    let mut at = 0;
    for end in memchr2_iter(b'\n', b'\r', bytes) {
        if end < at {
            // LF of a CR LF.
            continue;
        }
        let next = match (bytes[end], bytes.get(end + 1)) {
            (b'\r', Some(b'\n')) => end + 2,
            (b'\r', None) if !ended => break,
            _ => end + 1,
        };
        take(&bytes[at..end])?;
        at = next;
    }
    if ended && at < bytes.len() {
        take(&bytes[at..])?;
        at = bytes.len();
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::context::JobContext;

    fn fields(settings: &[(&str, &str)]) -> Result<KeyFields> {
        let settings = settings.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let job = JobContext::new(settings, Default::default(), Vec::new());
        KeyFields::of(&TaskContext::new(job, false, 0, 1), "separator", "fields")
    }

    #[test]
    fn splits_lines_into_key_and_value() {
        for (settings, line, key, value) in [
            (&[][..], "a\tb\tc", "a", "b\tc"),
            (&[], "abc", "abc", ""),
            (&[], "\tb", "", "b"),
            (&[("fields", "2")], "a\tb\tc", "a\tb", "c"),
            (&[("fields", "2")], "a\tb", "a\tb", ""),
            (&[("separator", ".")], "a.b.c", "a", "b.c"),
            (&[("separator", "::"), ("fields", "2")], "a::b::c", "a::b", "c"),
            (&[], "", "", ""),
        ] {
            let split = fields(settings).unwrap();
            assert_eq!(split.split(line.as_bytes()), (key.as_bytes(), value.as_bytes()), "{settings:?} {line}");
        }
        for wrong in [&[("fields", "0")][..], &[("fields", "x")], &[("separator", "")]] {
            assert_eq!(fields(wrong).unwrap_err().code(), Code::Usage, "{wrong:?}");
        }
    }

    #[test]
    fn takes_whole_lines() {
        for (bytes, ended, expected, taken) in [
            ("a\nb\r\nc", false, &["a", "b"][..], 5),
            ("a\nb\r\nc", true, &["a", "b", "c"], 6),
            ("a\rb\r", false, &["a"], 2),
            ("a\rb\r", true, &["a", "b"], 4),
            ("\n\n", true, &["", ""], 2),
            ("", true, &[], 0),
        ] {
            let mut found = Vec::new();
            let n = lines(bytes.as_bytes(), ended, |line| {
                found.push(String::from_utf8(line.to_vec()).unwrap());
                Ok(())
            });
            assert_eq!(
                (n.unwrap(), &found[..]),
                (taken, &expected.iter().map(|s| s.to_string()).collect::<Vec<_>>()[..])
            );
        }
    }
}
