//! Counts and differences as text.

use yunti_probe::answer::bytes;

/// Formats a count with commas: `312,455`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a difference of counts: `+1,234`.
pub fn signed(n: i64) -> String {
    format!("{}{}", if n < 0 { "-" } else { "+" }, grouped(n.unsigned_abs()))
}

/// Formats a difference of bytes.
pub fn signed_bytes(n: i64) -> String {
    format!("{}{}", if n < 0 { "-" } else { "+" }, bytes(n.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")] {
            assert_eq!(grouped(n), text);
        }
    }
}
