//! Scanner over the bytes of a line: numbers, sizes, durations and words. It never fails; what is not there is `None`.

pub mod stamp;

/// Cursor over the rest of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scan<'a>(pub &'a [u8]);

/// Largest accepted number; the product with any unit stays a finite and exact integer.
const NUMBER_MAX: f64 = 1e15;

/// Digits of the largest accepted integer.
const DIGITS_MAX: usize = 18;
/// Powers of ten, for fractions.
const POWERS: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
/// Integers below it are exact as doubles.
const EXACT: f64 = 9e15;

impl<'a> Scan<'a> {
    /// Skips a prefix; returns false if the rest does not begin with it.
    pub fn eat(&mut self, prefix: &[u8]) -> bool {
        self.0.strip_prefix(prefix).map(|rest| self.0 = rest).is_some()
    }

    /// Skips spaces and tabs.
    pub fn spaces(&mut self) -> &mut Scan<'a> {
        while let [b' ' | b'\t', rest @ ..] = self.0 {
            self.0 = rest;
        }
        self
    }

    /// Takes an unsigned integer.
    pub fn integer(&mut self) -> Option<u64> {
        let (number, digits) = self.digits(0);
        if digits == 0 || digits > DIGITS_MAX {
            return None;
        }
        self.0 = &self.0[digits..];
        Some(number)
    }

    /// Returns an integer that goes on with the digits here, and their count; wrong beyond [`DIGITS_MAX`] digits.
    fn digits(&self, start: u64) -> (u64, usize) {
        let (mut number, mut digits) = (start, 0);
        while let Some(c) = self.0.get(digits).filter(|c| c.is_ascii_digit()) {
            number = number.wrapping_mul(10).wrapping_add(u64::from(c - b'0'));
            digits += 1;
        }
        (number, digits)
    }

    /// Takes a number with an optional fraction, after a point or, in logs of some locales, a comma.
    pub fn number(&mut self) -> Option<f64> {
        let whole = self.integer()?;
        let mut value = whole as f64;
        if let [b'.' | b',', digit, ..] = self.0
            && digit.is_ascii_digit()
        {
            let point = Scan(&self.0[1..]);
            let (all, digits) = point.digits(whole);
            value = match POWERS.get(digits) {
                Some(scale) if value < EXACT / scale => all as f64 / scale,
                // Digits beyond those of a double are left out.
                _ => {
                    let kept = Scan(&point.0[..digits.min(POWERS.len() - 1)]);
                    value + kept.digits(0).0 as f64 / POWERS[kept.0.len()]
                }
            };
            self.0 = &self.0[1 + digits..];
        }
        (value < NUMBER_MAX).then_some(value)
    }

    /// Takes a size in bytes: `24M`, `3072.0K`, `0.0B`, `512`.
    pub fn size(&mut self) -> Option<u64> {
        let number = self.number()?;
        let shift = match self.0.first() {
            Some(b'B') => 0,
            Some(b'K' | b'k') => 10,
            Some(b'M' | b'm') => 20,
            Some(b'G' | b'g') => 30,
            Some(b'T' | b't') => 40,
            _ => return Some(number as u64),
        };
        self.0 = &self.0[1..];
        Some((number * (1u64 << shift) as f64).min(NUMBER_MAX * 1000.0) as u64)
    }

    /// Takes the bytes before a separator, and skips the separator.
    pub fn until(&mut self, separator: u8) -> Option<&'a [u8]> {
        let at = memchr::memchr(separator, self.0)?;
        let (before, rest) = self.0.split_at(at);
        self.0 = &rest[1..];
        Some(before)
    }
}

/// Splits a text at its last duration in milliseconds: `Pause Remark 1.234ms` is `(Pause Remark, 1.234)`.
pub fn split_milliseconds(text: &[u8]) -> Option<(&[u8], f64)> {
    let text = text.trim_ascii_end().strip_suffix(b"ms")?.trim_ascii_end();
    let (before, number) = split_number(text)?;
    Some((before, number))
}

/// Splits a text at the number that ends it.
pub fn split_number(text: &[u8]) -> Option<(&[u8], f64)> {
    let mut at = text.len();
    while at > 0 && matches!(text[at - 1], b'0'..=b'9' | b'.' | b',') {
        at -= 1;
    }
    let (before, number) = text.split_at(at);
    let mut scan = Scan(number);
    let value = scan.number().filter(|_| scan.0.is_empty())?;
    Some((before.trim_ascii_end(), value))
}

/// Returns what follows the first occurrence of a word.
pub fn after<'a>(text: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    find(text, word).map(|at| &text[at + word.len()..])
}

/// Returns where a word begins. Lines are short, so that a searcher would take longer to build than to use.
pub fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    let first = *word.first()?;
    let mut from = 0;
    loop {
        let at = from + memchr::memchr(first, &text[from..])?;
        if text[at..].starts_with(word) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Returns the contents of the bracket that opens at the start of a text, and the text after it.
pub fn bracket(text: &[u8], open: u8, close: u8) -> Option<(&[u8], &[u8])> {
    if text.first() != Some(&open) {
        return None;
    }
    let mut depth = 0usize;
    for at in memchr::memchr2_iter(open, close, text) {
        if text[at] == close {
            depth = depth.checked_sub(1)?;
        } else if !is_address_range(&text[at..]) {
            depth += 1;
        }
        if depth == 0 {
            return (at > 0).then(|| (&text[1..at], &text[at + 1..]));
        }
    }
    None
}

/// Returns true for a half-open range of addresses, whose bracket never closes: `[0x00c0, 0x00cc)`.
pub fn is_address_range(text: &[u8]) -> bool {
    text.starts_with(b"[0x") && memchr::memchr2(b')', b']', text).is_none_or(|at| text[at] == b')')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sizes_are_scanned() {
        for (text, number) in [("12", 12.0), ("0.125s", 0.125), ("0,5 secs", 0.5), ("3, 4", 3.0), ("7.x", 7.0)] {
            assert_eq!(Scan(text.as_bytes()).number(), Some(number), "{text}");
        }
        for text in ["", "x", ".5", "99999999999999999999", "1000000000000000000"] {
            assert_eq!(Scan(text.as_bytes()).number(), None, "{text}");
        }
        for (text, size) in [("24M", 24 << 20), ("1.5K", 1536), ("0.0B", 0), ("512", 512), ("2G(", 2 << 30)] {
            assert_eq!(Scan(text.as_bytes()).size(), Some(size), "{text}");
        }
    }

    #[test]
    fn ends_of_lines_are_split() {
        assert_eq!(split_milliseconds(b"Pause Remark 1.25ms"), Some((&b"Pause Remark"[..], 1.25)));
        assert_eq!(split_milliseconds(b"Pause Remark 1.25 ms "), Some((&b"Pause Remark"[..], 1.25)));
        assert_eq!(split_milliseconds(b"Pause Remark ms"), None);
        assert_eq!(bracket(b"(a (b)) c", b'(', b')'), Some((&b"a (b)"[..], &b" c"[..])));
        assert_eq!(bracket(b"(a", b'(', b')'), None);
        assert!(is_address_range(b"[0x00c0, 0x00cc)") && !is_address_range(b"[0x00c0,0x00cc], size = 7776B"));
        assert_eq!(bracket(b"a)", b'(', b')'), None);
    }
}
