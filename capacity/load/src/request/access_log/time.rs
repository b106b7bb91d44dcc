//! Time of the Common Log Format: `10/Oct/2000:13:55:36 -0700`.

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Returns the Unix time in seconds.
pub fn unix_seconds(text: &str) -> Option<i64> {
    let (stamp, zone) = text.split_once(' ').unwrap_or((text, "+0000"));
    let mut parts = stamp.split([':', '/']);
    let mut part = || parts.next();
    let day = number(part()?, 1, 31)?;
    let month = part()?;
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))? as i64 + 1;
    let year = number(part()?, 1970, 9999)?;
    let hour = number(part()?, 0, 23)?;
    let minute = number(part()?, 0, 59)?;
    // 60 is a leap second.
    let second = number(part()?, 0, 60)?;
    if part().is_some() {
        return None;
    }
    let (sign, digits) = match zone.as_bytes() {
        [b'+', ..] => (1, &zone[1..]),
        [b'-', ..] => (-1, &zone[1..]),
        _ => return None,
    };
    let offset = number(digits, 0, 2359).filter(|_| digits.len() == 4)?;
    let offset_s = sign * (offset / 100 * 3600 + offset % 100 * 60);
    Some(days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset_s)
}

fn number(text: &str, least: i64, most: i64) -> Option<i64> {
    let is_digits = !text.is_empty() && text.len() <= 4 && text.bytes().all(|b| b.is_ascii_digit());
    is_digits.then(|| text.parse().ok()).flatten().filter(|n| (least..=most).contains(n))
}

/// Returns the days from 1970-01-01 (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times() {
        for (text, expect) in [
            ("01/Jan/1970:00:00:00 +0000", Some(0)),
            ("10/Oct/2000:13:55:36 -0700", Some(971_211_336)),
            ("29/Feb/2024:23:59:60 +0530", Some(1_709_231_400)),
            ("10/oct/2000:13:55:36", Some(971_186_136)),
            ("10/Oct/2000:13:55 -0700", None),
            ("10/Oct/2000:24:00:00 -0700", None),
            ("0/Oct/2000:13:55:36 -0700", None),
            ("10/Okt/2000:13:55:36 -0700", None),
            ("10/Oct/2000:13:55:36 0700", None),
            ("10/Oct/2000:13:55:36 -07", None),
            ("", None),
        ] {
            assert_eq!(unix_seconds(text), expect, "{text}");
        }
    }
}
