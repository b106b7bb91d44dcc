//! Ordered bytes: keys of several parts whose bytes sort as the parts do, one after the other.
//!
//! Each part ends itself. No key made of the same kinds of parts is a prefix of another, and the first parts alone
//! identify a group.
//!
//! ```text
//!   text      bytes, 00 as 00 ff | 00 00
//!   decimal   00 negative | 01 zero | 02 positive, then: digits before the point u32 big-endian | digits | 00
//! ```
//!
//! A negative number's digits are inverted bit by bit, and so is each descending part. `yunti/key_order.hpp` writes the
//! same bytes.

/// Appends the parts of one key to a vector.
pub struct OrderedBytes<'a>(pub &'a mut Vec<u8>);

impl OrderedBytes<'_> {
    /// Appends a text part: any bytes.
    pub fn text(&mut self, text: &[u8], descending: bool) {
        let start = self.0.len();
        let mut rest = text;
        while let Some(nul) = rest.iter().position(|&b| b == 0) {
            self.0.extend_from_slice(&rest[..nul]);
            self.0.extend_from_slice(&[0, 0xff]);
            rest = &rest[nul + 1..];
        }
        self.0.extend_from_slice(rest);
        self.0.extend_from_slice(&[0, 0]);
        self.turn(start, descending);
    }

    /// Appends the decimal number at the start of a text, after blanks. The number may have any length. A text without
    /// a number counts as 0, as in `sort -n`.
    pub fn decimal(&mut self, text: &[u8], descending: bool) {
        let start = self.0.len();
        let blanks = text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let (negative, digits) = match text[blanks..].split_first() {
            Some((b'-', rest)) => (true, rest),
            _ => (false, &text[blanks..]),
        };
        let (whole, rest) = digits.split_at(digits.iter().take_while(|b| b.is_ascii_digit()).count());
        let fraction = rest.strip_prefix(b".").unwrap_or(&[]);
        let fraction = &fraction[..fraction.iter().take_while(|b| b.is_ascii_digit()).count()];
        let whole = &whole[whole.iter().take_while(|&&b| b == b'0').count()..];
        let fraction = &fraction[..fraction.iter().rposition(|&b| b != b'0').map_or(0, |last| last + 1)];
        if whole.is_empty() && fraction.is_empty() {
            self.0.push(1);
        } else {
            self.0.push(if negative { 0 } else { 2 });
            let from = self.0.len();
            self.0.extend_from_slice(&(whole.len() as u32).to_be_bytes());
            self.0.extend_from_slice(whole);
            self.0.extend_from_slice(fraction);
            self.0.push(0);
            self.turn(from, negative);
        }
        self.turn(start, descending);
    }

    fn turn(&mut self, from: usize, turned: bool) {
        if turned {
            self.0[from..].iter_mut().for_each(|b| *b = !*b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ascend(parts: &[&str], write: impl Fn(&mut OrderedBytes<'_>, &[u8], bool)) {
        for descending in [false, true] {
            let forms: Vec<Vec<u8>> = (parts.iter())
                .map(|part| {
                    let mut form = Vec::new();
                    write(&mut OrderedBytes(&mut form), part.as_bytes(), descending);
                    form
                })
                .collect();
            for (pair, of) in forms.windows(2).zip(parts.windows(2)) {
                assert!(if descending { pair[0] > pair[1] } else { pair[0] < pair[1] }, "{of:?} {descending}");
            }
            for (i, a) in forms.iter().enumerate() {
                assert!(forms.iter().enumerate().all(|(j, b)| i == j || !b.starts_with(a)), "{:?}", parts[i]);
            }
        }
    }

    #[test]
    fn texts_order_as_bytes() {
        ascend(&["", "\0", "\0\0", "\0a", "a", "a\0", "a\0b", "a\u{1}", "aa", "b", "é"], |to, part, d| {
            to.text(part, d)
        });
    }

    #[test]
    fn decimals_order_as_numbers_of_any_length() {
        let numbers = [
            "-100000000000000000000001",
            "-100000000000000000000000",
            "-12.5",
            "-12",
            "-0.06",
            "-0.05",
            "none",
            "0.0000000000000000000000000001",
            ".05",
            "0.5",
            "1",
            "  1.01",
            "2",
            "10",
            "1000000000000000000000.1",
            "1000000000000000000000.10000001",
        ];
        ascend(&numbers, |to, part, d| to.decimal(part, d));
        let form = |text: &str| {
            let mut form = Vec::new();
            OrderedBytes(&mut form).decimal(text.as_bytes(), false);
            form
        };
        for (a, b) in [("1", "01.00"), ("-0", ""), ("1.5x", "1.50"), ("\t7", "7.")] {
            assert_eq!(form(a), form(b), "{a} {b}");
        }
    }
}
