//! Differences as text.

use yunti_probe::answer::bytes;
use yunti_program::text::numbers::count;

/// Formats a difference of counts: `+1,234`.
pub fn signed(n: i64) -> String {
    format!("{}{}", if n < 0 { "-" } else { "+" }, count(n.unsigned_abs()))
}

/// Formats a difference of bytes.
pub fn signed_bytes(n: i64) -> String {
    format!("{}{}", if n < 0 { "-" } else { "+" }, bytes(n.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_a_sign() {
        assert_eq!([signed(0), signed(-1_234), signed_bytes(2_000)], ["+0", "-1,234", "+2.0 kB"]);
    }
}
