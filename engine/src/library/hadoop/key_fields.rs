//! Fields of keys by Hadoop's options `-k2,3.4nr`: a subset of the options of `sort`.
//!
//! ```text
//!   -kBEGIN[,END]   position: FIELD[.CHARACTER][n][r], both from 1; END's character 0, the default, is the field's end
//!   -n -r -nr       for fields without letters of their own
//! ```

use std::ops::Range;

use crate::operator::TaskContext;
use memchr::memmem;
use yunti_base::{Code, Error, Result};

/// Setting: separator of the fields in a key.
const SEPARATOR: &str = "mapreduce.map.output.key.field.separator";

/// A stretch of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyField {
    begin_field: usize,
    begin_character: usize,
    /// Last field; 0: the end of the key.
    end_field: usize,
    /// Last character in the last field; 0: its end.
    end_character: usize,
    pub numeric: bool,
    pub descending: bool,
}

/// Field that is the whole key.
const WHOLE: KeyField =
    KeyField { begin_field: 1, begin_character: 1, end_field: 0, end_character: 0, numeric: false, descending: false };

/// Fields of keys, in the order in which they count.
pub struct KeyFields {
    pub fields: Vec<KeyField>,
    separator: Vec<u8>,
    /// Start and end of the fields of the last key.
    ends: Vec<Range<usize>>,
}

impl KeyFields {
    /// Reads the options from the setting `options`; without it there are no fields. Errors: `Usage`.
    pub fn of(context: &TaskContext, options: &str) -> Result<KeyFields> {
        let text = context.setting(options).unwrap_or_default();
        let wrong = || {
            Error::new(Code::Usage, format!("{options}: '{text}' does not name fields")).hint("as in -k1,2 or -k2,2nr")
        };
        let fields = parse(text).ok_or_else(wrong)?;
        Self::with_fields(context, fields)
    }

    /// Returns the first `n` fields as one stretch.
    pub fn first(context: &TaskContext, n: usize) -> Result<KeyFields> {
        let fields = if n == 0 { Vec::new() } else { vec![KeyField { end_field: n, ..WHOLE }] };
        Self::with_fields(context, fields)
    }

    fn with_fields(context: &TaskContext, fields: Vec<KeyField>) -> Result<KeyFields> {
        let separator = context.setting(SEPARATOR).unwrap_or("\t").as_bytes().to_vec();
        if separator.is_empty() {
            return Err(Error::new(Code::Usage, format!("{SEPARATOR} is empty")).hint("leave it out for a tab"));
        }
        Ok(KeyFields { fields, separator, ends: Vec::new() })
    }

    /// Calls `take` with each field and its stretch of the key; None: the key has too few fields or characters.
    pub fn each(&mut self, key: &[u8], mut take: impl FnMut(&KeyField, Option<&[u8]>)) {
        self.ends.clear();
        let mut start = 0;
        for at in memmem::find_iter(key, &self.separator) {
            self.ends.push(start..at);
            start = at + self.separator.len();
        }
        self.ends.push(start..key.len());
        for field in &self.fields {
            take(field, field.stretch(key, &self.ends));
        }
    }
}

impl KeyField {
    fn stretch<'k>(&self, key: &'k [u8], ends: &[Range<usize>]) -> Option<&'k [u8]> {
        let start = ends.get(self.begin_field - 1)?.start + self.begin_character - 1;
        if start >= key.len() {
            return None;
        }
        let end = match self.end_field.checked_sub(1).and_then(|i| ends.get(i)) {
            None => key.len(),
            Some(field) if self.end_character == 0 => field.end,
            Some(field) => (field.start + self.end_character).min(key.len()),
        };
        Some(key.get(start..end).unwrap_or_default())
    }
}

/// Parses options such as `-k2,2nr -k1.3`. None if they are wrong. As in Hadoop, other words have no effect.
fn parse(options: &str) -> Option<Vec<KeyField>> {
    let (mut fields, mut all) = (Vec::new(), WHOLE);
    let mut words = options.split_ascii_whitespace();
    while let Some(word) = words.next() {
        match word {
            "-n" => all.numeric = true,
            "-r" => all.descending = true,
            "-nr" => (all.numeric, all.descending) = (true, true),
            "-k" => fields.push(field(words.next()?)?),
            _ => fields.extend(word.strip_prefix("-k").map(field).map_or(Some(None), |field| field.map(Some))?),
        }
    }
    for field in fields.iter_mut().filter(|field| !field.numeric && !field.descending) {
        (field.numeric, field.descending) = (all.numeric, all.descending);
    }
    if fields.is_empty() && !options.is_empty() {
        fields.push(all);
    }
    Some(fields)
}

fn field(text: &str) -> Option<KeyField> {
    let mut field = WHOLE;
    let (begin, end) = match text.split_once(',') {
        Some((begin, end)) => (begin, Some(end)),
        None => (text, None),
    };
    let mut position = |text: &str| {
        let letters = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        if !letters.bytes().all(|b| matches!(b, b'n' | b'r')) {
            return None;
        }
        field.numeric |= letters.contains('n');
        field.descending |= letters.contains('r');
        let numbers = &text[..text.len() - letters.len()];
        match numbers.split_once('.') {
            Some((field, character)) => Some((field.parse().ok()?, Some(character.parse().ok()?))),
            None => Some((numbers.parse().ok()?, None)),
        }
    };
    let (begin_field, begin_character) = position(begin)?;
    let (end_field, end_character) = end.map_or(Some((0, None)), &mut position)?;
    (field.begin_field, field.begin_character) = (begin_field, begin_character.unwrap_or(1));
    (field.end_field, field.end_character) = (end_field, end_character.unwrap_or(0));
    (field.begin_field > 0 && field.begin_character > 0).then_some(field)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::context::JobContext;

    #[test]
    fn stretches_are_hadoops() {
        for (options, key, expect) in [
            ("-k1,1", "a\tb\tc", &[Some("a")][..]),
            ("-k2", "a\tb\tc", &[Some("b\tc")]),
            ("-k 1,2 -k3", "a\tb\tc", &[Some("a\tb"), Some("c")]),
            ("-k1.2,1.3", "abcd\tb", &[Some("bc")]),
            ("-k1.9,1", "abcd", &[None]),
            ("-k1.4,1", "ab\tcd", &[Some("")]),
            ("-k3,3", "a\tb", &[None]),
            ("-k2,2", "a\t\tb", &[Some("")]),
            ("-k2,9", "a\tb\tc", &[Some("b\tc")]),
            ("-nr", "a\tb", &[Some("a\tb")]),
            ("-k1,1", "", &[None]),
            ("", "a", &[]),
        ] {
            let settings = [("options".to_string(), options.to_string())].into();
            let context = TaskContext::new(JobContext::new(settings, Default::default(), Vec::new()), false, 0, 1);
            let mut fields = KeyFields::of(&context, "options").unwrap();
            let mut found = Vec::new();
            fields
                .each(key.as_bytes(), |_, stretch| found.push(stretch.map(|s| String::from_utf8(s.to_vec()).unwrap())));
            let expect: Vec<_> = expect.iter().map(|s| s.map(String::from)).collect();
            assert_eq!(found, expect, "{options} {key:?}");
        }
    }

    #[test]
    fn letters_of_a_field_replace_those_of_all() {
        let flags = |options: &str| -> Vec<_> {
            parse(options).unwrap().iter().map(|field| (field.numeric, field.descending)).collect()
        };
        assert_eq!(flags("-k2,2nr -k1,1"), [(true, true), (false, false)]);
        assert_eq!(flags("-k2n,2 -k1r,1 -n"), [(true, false), (false, true)]);
        assert_eq!(flags("-r -k1,1"), [(false, true)]);
        for wrong in ["-k0", "-kx", "-k1,2x", "-k", "-k1.0"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
