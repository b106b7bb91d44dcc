//! Stamp of a line: seconds since the start of the JVM, a date, or both.

use super::Scan;

/// Times that a line names.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stamp {
    /// Seconds since the start of the JVM.
    pub uptime_s: Option<f64>,
    /// Seconds since 1970.
    pub unix_s: Option<f64>,
}

impl Stamp {
    /// Returns true if the line names no time.
    pub fn is_empty(&self) -> bool {
        self.uptime_s.is_none() && self.unix_s.is_none()
    }
}

/// Takes a date of ISO 8601 with a time: `2026-01-31T10:00:00.123+0800`. Returns seconds since 1970.
pub fn date(scan: &mut Scan) -> Option<f64> {
    let mut rest = *scan;
    let year = digits(&mut rest, 4)?;
    let month = (rest.eat(b"-")).then(|| digits(&mut rest, 2)).flatten().filter(|m| (1..=12).contains(m))?;
    let day = (rest.eat(b"-")).then(|| digits(&mut rest, 2)).flatten().filter(|d| (1..=31).contains(d))?;
    if !rest.eat(b"T") && !rest.eat(b" ") {
        return None;
    }
    let hour = digits(&mut rest, 2)?;
    let minute = rest.eat(b":").then(|| digits(&mut rest, 2)).flatten()?;
    let second = rest.eat(b":").then(|| rest.number()).flatten().filter(|s| *s < 61.0)?;
    let zone = match rest.0.first() {
        Some(b'Z') => {
            rest.0 = &rest.0[1..];
            0
        }
        Some(sign @ (b'+' | b'-')) => {
            rest.0 = &rest.0[1..];
            let hours = digits(&mut rest, 2)?;
            rest.eat(b":");
            let seconds = (hours * 60 + digits(&mut rest, 2)?) * 60;
            if *sign == b'-' { -seconds } else { seconds }
        }
        _ => 0,
    };
    *scan = rest;
    Some((days(year, month, day) * 86_400 + hour * 3600 + minute * 60 - zone) as f64 + second)
}

fn digits(scan: &mut Scan, count: usize) -> Option<i64> {
    let text = scan.0.get(..count).filter(|text| text.iter().all(u8::is_ascii_digit))?;
    scan.0 = &scan.0[count..];
    Some(text.iter().fold(0, |n, c| n * 10 + i64::from(c - b'0')))
}

/// Returns the days from 1970 to a date of the Gregorian calendar.
///
/// See Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_seconds_since_1970() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00.000+0000", Some(0.0)),
            ("2000-02-29T00:00:00.500Z", Some(951_782_400.5)),
            ("2026-11-22T05:04:59.999+0100", Some(1_795_320_299.999)),
            ("2026-11-22T05:04:59,5-01:30", Some(1_795_323_899.5 + 5400.0)),
            ("2026-13-22T05:04:59.999+0100", None),
            ("2026-11-22X05:04", None),
            ("20", None),
        ] {
            assert_eq!(date(&mut Scan(text.as_bytes())), seconds, "{text}");
        }
    }
}
