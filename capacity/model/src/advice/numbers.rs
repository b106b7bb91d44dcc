//! Numbers in sentences: as many digits as they are known to.

use crate::curve::Estimate;

/// Returns a number with three digits that count, or all before the point.
pub fn short(number: f64) -> String {
    let digits = match number.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{number:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// Returns `120 (110 to 130)`.
pub fn range(estimate: &Estimate) -> String {
    format!("{} ({} to {})", short(estimate.value), short(estimate.low), short(estimate.high))
}

/// Returns a share as percent without digits after the point.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Returns bytes as megabytes or kilobytes.
pub fn bytes(bytes: f64) -> String {
    if bytes >= 1048576.0 {
        format!("{} MB", short(bytes / 1048576.0))
    } else {
        format!("{} KB", short(bytes / 1024.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_size() {
        let found = [1234.56, 120.4, 99.94, 12.0, 1.239, 0.5, 0.0].map(short);
        assert_eq!(found, ["1235", "120", "99.9", "12", "1.24", "0.5", "0"]);
        assert_eq!(range(&Estimate { value: 120.0, low: 110.2, high: 130.0 }), "120 (110 to 130)");
        assert_eq!((percent(0.126), bytes(3.1e6), bytes(2048.0)), ("13 %".into(), "2.96 MB".into(), "2 KB".into()));
    }
}
