//! Scanner over the bytes of a line: numbers, sizes, durations and words. It never fails; what is not there is `None`.

pub mod stamp;

/// Cursor over the rest of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scan<'a>(pub &'a [u8]);

/// Largest accepted number; the product with any unit stays a finite and exact integer.
const NUMBER_MAX: f64 = 1e15;

impl<'a> Scan<'a> {
    /// Skips a prefix; returns false if the rest does not begin with it.
    pub fn eat(&mut self, prefix: &[u8]) -> bool {
        self.0.strip_prefix(prefix).map(|rest| self.0 = rest).is_some()
    }

    /// Skips spaces and tabs.
    pub fn spaces(&mut self) -> &mut Scan<'a> {
        let spaces = self.0.iter().take_while(|c| matches!(c, b' ' | b'\t')).count();
        self.0 = &self.0[spaces..];
        self
    }

    /// Takes an unsigned integer.
    pub fn integer(&mut self) -> Option<u64> {
        let digits = self.0.iter().take_while(|c| c.is_ascii_digit()).count();
        if digits == 0 || digits > 18 {
            return None;
        }
        let number = self.0[..digits].iter().fold(0, |n: u64, c| n * 10 + u64::from(c - b'0'));
        self.0 = &self.0[digits..];
        Some(number)
    }

    /// Takes a number with an optional fraction, after a point or, in logs of some locales, a comma.
    pub fn number(&mut self) -> Option<f64> {
        let mut value = self.integer()? as f64;
        if let [b'.' | b',', digit, ..] = self.0
            && digit.is_ascii_digit()
        {
            let (mut scale, mut fraction, mut digits) = (1.0, 0.0, 0);
            for c in self.0[1..].iter().take_while(|c| c.is_ascii_digit()) {
                digits += 1;
                if digits <= 15 {
                    (scale, fraction) = (scale * 10.0, fraction * 10.0 + f64::from(c - b'0'));
                }
            }
            self.0 = &self.0[1 + digits..];
            value += fraction / scale;
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
    let digits = text.iter().rev().take_while(|c| c.is_ascii_digit() || matches!(c, b'.' | b',')).count();
    let (before, number) = text.split_at(text.len() - digits);
    let mut scan = Scan(number);
    let value = scan.number().filter(|_| scan.0.is_empty())?;
    Some((before.trim_ascii_end(), value))
}

/// Returns what follows the first occurrence of a word.
pub fn after<'a>(text: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    memchr::memmem::find(text, word).map(|at| &text[at + word.len()..])
}

/// Returns the contents of the bracket that opens at the start of a text, and the text after it.
pub fn bracket(text: &[u8], open: u8, close: u8) -> Option<(&[u8], &[u8])> {
    let mut depth = 0usize;
    for (at, c) in text.iter().enumerate() {
        if *c == open && !is_address_range(&text[at..]) {
            depth += 1;
        } else if *c == close {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some((&text[1..at], &text[at + 1..]));
            }
        } else if depth == 0 {
            return None;
        }
    }
    None
}

/// Returns true for a half-open range of addresses, whose bracket never closes: `[0x00c0, 0x00cc)`.
pub fn is_address_range(text: &[u8]) -> bool {
    text.starts_with(b"[0x")
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
        assert_eq!(bracket(b"a)", b'(', b')'), None);
    }
}
