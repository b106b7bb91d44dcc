//! Numbers for people: three digits and a unit. Data uses decimal units (MB), memory binary units (MiB).

/// Returns three significant digits: `1.23`, `12.3`, `123`. Trailing zeros after the point are omitted.
pub fn three(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

fn scaled(value: f64, step: f64, units: &[&str]) -> String {
    let mut value = value;
    let mut unit = 0;
    // 999.5 rounds to 1000, which is 1 of the next unit.
    while value >= step * 0.9995 && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    format!("{} {}", three(value), units[unit])
}

/// Returns bytes of data: `1.23 GB`.
pub fn bytes(n: u64) -> String {
    scaled(n as f64, 1000.0, &["B", "kB", "MB", "GB", "TB", "PB"])
}

/// Returns bytes of memory: `512 MiB`.
pub fn memory(n: u64) -> String {
    scaled(n as f64, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB"])
}

/// Returns a rate: `340 MB/s`, `1.2 GB/s`; `-` if it is not positive and finite.
pub fn rate(mb_per_s: f64) -> String {
    match mb_per_s {
        v if v <= 0.0 || !v.is_finite() => "-".into(),
        v if v < 0.9995 => scaled(v * 1e6, 1000.0, &["B/s", "kB/s"]),
        v => scaled(v, 1000.0, &["MB/s", "GB/s", "TB/s"]),
    }
}

/// Returns a count: `1,234,567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a count rounded to three digits from 10,000 on: `92.1 M`.
pub fn about(n: u64) -> String {
    if n < 10_000 { count(n) } else { scaled(n as f64, 1000.0, &["", "k", "M", "G", "T"]) }
}

/// Returns a time in milliseconds: `8.5 ms`, `1.23 s`, `2 min 5 s`, `1 h 2 min`.
pub fn milliseconds(ms: f64) -> String {
    if ms < 999.5 { format!("{} ms", three(ms)) } else { seconds(ms / 1000.0) }
}

/// Returns a time in seconds: `1.23 s`, `2 min 5 s`, `1 h 2 min`.
pub fn seconds(s: f64) -> String {
    if s < 119.5 {
        return format!("{} s", three(s));
    }
    let whole = s.round() as u64;
    if whole < 3600 {
        format!("{} min {} s", whole / 60, whole % 60)
    } else {
        format!("{} h {} min", whole / 3600, whole % 3600 / 60)
    }
}

/// Returns a share in whole percent: 0.25 is `25 %`.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Returns a Unix time in milliseconds as `2026-11-22 05:04 UTC`.
pub fn utc(unix_ms: u64) -> String {
    let minutes = unix_ms / 60_000;
    let (day, minute) = (minutes / 1440, minutes % 1440);
    // Days since 0000-03-01, in eras of 400 years that begin in March.
    // See Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    let days = day + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year}-{month:02}-{of_month:02} {:02}:{:02} UTC", minute / 60, minute % 60)
}

/// Returns a rounded count with its noun: `1 split`, `92.1 M records`.
pub fn several_about(n: u64, word: &str) -> String {
    format!("{} {word}{}", about(n), if n == 1 { "" } else { "s" })
}

/// Returns a count with its noun: `1 split`, `2 splits`.
pub fn several(n: u64, word: &str) -> String {
    format!("{} {word}{}", count(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        for (n, expect) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1 kB"),
            (1234, "1.23 kB"),
            (999_999, "1 MB"),
            (12_340_000_000, "12.3 GB"),
        ] {
            assert_eq!(bytes(n), expect);
        }
        assert_eq!(memory(512 << 20), "512 MiB");
        assert_eq!(memory((1 << 30) + (1 << 29)), "1.5 GiB");
        for (mb, expect) in [
            (0.0, "-"),
            (f64::NAN, "-"),
            (0.5, "500 kB/s"),
            (340.4, "340 MB/s"),
            (999.9, "1 GB/s"),
            (61_000.0, "61 GB/s"),
        ] {
            assert_eq!(rate(mb), expect);
        }
        for (n, expect) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")] {
            assert_eq!(count(n), expect);
        }
        assert_eq!(about(92_100_000), "92.1 M");
        for (ms, expect) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400_000, "2000-02-29 00:00 UTC"),
            (1_795_323_899_999, "2026-11-22 05:04 UTC"),
            (4_107_542_399_000, "2100-02-28 23:59 UTC"),
        ] {
            assert_eq!(utc(ms), expect);
        }
        for (ms, expect) in
            [(8.5, "8.5 ms"), (999.7, "1 s"), (1234.0, "1.23 s"), (125_000.0, "2 min 5 s"), (3_720_000.0, "1 h 2 min")]
        {
            assert_eq!(milliseconds(ms), expect);
        }
    }
}
