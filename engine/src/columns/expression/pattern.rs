//! Patterns of `like`: % stands for any characters, _ for one, a backslash for the next character itself.

/// A pattern in parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    /// Any number of characters.
    Any,
    /// One character.
    One,
    Bytes(Vec<u8>),
}

/// Test that a pattern stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form<'a> {
    Equal(&'a [u8]),
    Prefix(&'a [u8]),
    Suffix(&'a [u8]),
    Infix(&'a [u8]),
    /// A pattern with wildcards within, which has to be matched itself.
    Other,
}

impl Pattern {
    /// Returns the pattern of a text.
    pub fn of(text: &str) -> Pattern {
        Pattern::escaped(text, '\\')
    }

    /// Returns the pattern of a text with another character than the backslash.
    pub fn escaped(text: &str, escape: char) -> Pattern {
        let mut parts: Vec<Part> = Vec::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '%' if c != escape && parts.last() == Some(&Part::Any) => {}
                '%' if c != escape => parts.push(Part::Any),
                '_' if c != escape => parts.push(Part::One),
                c => {
                    let c = if c == escape { chars.next().unwrap_or(escape) } else { c };
                    let mut buffer = [0; 4];
                    let bytes = c.encode_utf8(&mut buffer).as_bytes();
                    match parts.last_mut() {
                        Some(Part::Bytes(before)) => before.extend_from_slice(bytes),
                        _ => parts.push(Part::Bytes(bytes.to_vec())),
                    }
                }
            }
        }
        Pattern { parts }
    }

    /// Returns the simplest test that does the same.
    pub fn form(&self) -> Form<'_> {
        match &self.parts[..] {
            [] => Form::Equal(b""),
            [Part::Bytes(bytes)] => Form::Equal(bytes),
            [Part::Any] => Form::Prefix(b""),
            [Part::Bytes(bytes), Part::Any] => Form::Prefix(bytes),
            [Part::Any, Part::Bytes(bytes)] => Form::Suffix(bytes),
            [Part::Any, Part::Bytes(bytes), Part::Any] => Form::Infix(bytes),
            _ => Form::Other,
        }
    }

    /// Returns true if a text matches. A byte that is no UTF-8 counts as a character.
    pub fn matches(&self, text: &[u8]) -> bool {
        let (mut at, mut part) = (0, 0);
        // Where the last `%` can take one character more: its part, and the place behind what it has taken.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let fits = match self.parts.get(part) {
                None if at == text.len() => return true,
                None => None,
                Some(Part::Any) if part + 1 == self.parts.len() => return true,
                Some(Part::Any) => {
                    retry = Some((part + 1, at));
                    part += 1;
                    continue;
                }
                Some(Part::One) => (at < text.len()).then(|| char_len(&text[at..])),
                Some(Part::Bytes(bytes)) => text[at..].starts_with(bytes).then_some(bytes.len()),
            };
            match (fits, &mut retry) {
                (Some(len), _) => (at, part) = (at + len, part + 1),
                (None, Some((behind, taken))) if *taken < text.len() => {
                    *taken += match self.parts.get(*behind) {
                        // To the next place where the bytes behind the % are.
                        Some(Part::Bytes(bytes)) => match memchr::memmem::find(&text[*taken + 1..], bytes) {
                            Some(skipped) => skipped + 1,
                            None => return false,
                        },
                        _ => char_len(&text[*taken..]),
                    };
                    (at, part) = (*taken, *behind);
                }
                _ => return false,
            }
        }
    }
}

/// Returns the bytes of the first character.
pub fn char_len(text: &[u8]) -> usize {
    let len = match text.first() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => 1,
    };
    let continues = text.len() >= len && text[1..len].iter().all(|byte| byte & 0xc0 == 0x80);
    if continues { len } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_texts() {
        for (pattern, text, expect) in [
            ("", "", true),
            ("", "a", false),
            ("%", "", true),
            ("a%", "abc", true),
            ("%c", "abc", true),
            ("%b%", "abc", true),
            ("%bb%", "abc", false),
            ("a_c", "abc", true),
            ("a_c", "aéc", true),
            ("_", "", false),
            ("%_", "", false),
            ("%_%_", "a", false),
            ("%ab%ab", "abab", true),
            ("%ab%ab", "ab", false),
            ("%aab", "aaab", true),
            ("a\\%", "a%", true),
            ("a\\%", "ab", false),
            ("%\\_x", "a_x", true),
            ("a%%%c", "ac", true),
        ] {
            assert_eq!(Pattern::of(pattern).matches(text.as_bytes()), expect, "{text} like {pattern}");
        }
    }

    #[test]
    fn other_escapes_and_simple_forms() {
        for (pattern, escape, text, expect) in [
            ("a#%", '#', "a%", true),
            ("a#%", '#', "ab", false),
            ("a\\%", '#', "a\\b", true),
            ("%%", '%', "%", true),
            ("_%_", '_', "%", false),
            ("__%", '_', "_b", true),
        ] {
            assert_eq!(Pattern::escaped(pattern, escape).matches(text.as_bytes()), expect, "{text} like {pattern}");
        }
        for (pattern, form) in [
            ("", Form::Equal(b"")),
            ("ab", Form::Equal(b"ab")),
            ("a%%", Form::Prefix(b"a")),
            ("%", Form::Prefix(b"")),
            ("%a\\_", Form::Suffix(b"a_")),
            ("%ab%", Form::Infix(b"ab")),
            ("a_", Form::Other),
            ("a%b", Form::Other),
        ] {
            assert_eq!(Pattern::of(pattern).form(), form, "{pattern}");
        }
    }

    /// The plain definition, by trying everything.
    fn plainly(pattern: &[u8], text: &[u8]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some((b'%', rest)) => (0..=text.len()).any(|at| plainly(rest, &text[at..])),
            Some((b'_', rest)) => !text.is_empty() && plainly(rest, &text[1..]),
            Some((byte, rest)) => text.first() == Some(byte) && plainly(rest, &text[1..]),
        }
    }

    #[test]
    fn agrees_with_the_definition() {
        let words = |alphabet: &[u8], len: u32, n: usize| -> Vec<u8> {
            (0..len).map(|i| alphabet[n / alphabet.len().pow(i) % alphabet.len()]).collect()
        };
        for pattern in (0..4u32).flat_map(|len| (0..4usize.pow(len)).map(move |n| words(b"ab%_", len, n))) {
            for text in (0..6u32).flat_map(|len| (0..2usize.pow(len)).map(move |n| words(b"ab", len, n))) {
                let found = Pattern::of(std::str::from_utf8(&pattern).unwrap()).matches(&text);
                assert_eq!(found, plainly(&pattern, &text), "{pattern:?} {text:?}");
            }
        }
    }
}
