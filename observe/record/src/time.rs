//! Times of slices: Unix milliseconds as dates and times of day, in UTC.

/// Milliseconds of a day.
pub const DAY_MS: u64 = 86_400_000;

/// Latest time that a slice can have: the last millisecond of the year 9999.
pub const TIME_MS_MAX: u64 = 253_402_300_799_999;

/// Returns the date of a Unix time, as `2026-11-28`.
pub fn date_of(unix_ms: u64) -> String {
    let (year, month, day) = civil(unix_ms.min(TIME_MS_MAX) / DAY_MS);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Returns date and time of a Unix time, as `2026-11-28 03:10:00`.
pub fn date_time_of(unix_ms: u64) -> String {
    let time = time_of(unix_ms);
    format!("{} {}:{}:{}", date_of(unix_ms), &time[..2], &time[2..4], &time[4..])
}

/// Returns the time of day of a Unix time, as `031000`.
pub fn time_of(unix_ms: u64) -> String {
    let seconds = unix_ms % DAY_MS / 1000;
    format!("{:02}{:02}{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Returns the Unix time at which a date begins, or `None` for other text.
pub fn parse_date(text: &str) -> Option<u64> {
    let digits = |part: &str, width: usize| {
        (part.len() == width && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse::<u64>().ok())?
    };
    let mut parts = text.split('-');
    let (year, month, day) = (digits(parts.next()?, 4)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    if parts.next().is_some() || year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let days = days_of(year, month, day);
    (civil(days) == (year, month, day)).then_some(days * DAY_MS)
}

/// Returns the milliseconds since midnight of a time of day, or `None` for other text.
pub fn parse_time(text: &str) -> Option<u64> {
    if text.len() != 6 || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part = |at: usize| text[at..at + 2].parse::<u64>().ok();
    let (hours, minutes, seconds) = (part(0)?, part(2)?, part(4)?);
    (hours < 24 && minutes < 60 && seconds < 60).then_some((hours * 3600 + minutes * 60 + seconds) * 1000)
}

/// Days since 1970 as year, month and day of the Gregorian calendar. Years begin in March, so that a leap day is last.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

fn days_of(year: u64, month: u64, day: u64) -> u64 {
    let year = year - u64::from(month <= 2);
    let from_march = (month + 9) % 12;
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_round_trip() {
        for (text, unix_ms) in [
            ("1970-01-01", 0),
            ("2000-02-29", 951_782_400_000),
            ("2026-11-28", 1_795_824_000_000),
            ("9999-12-31", 253_402_214_400_000),
        ] {
            assert_eq!((date_of(unix_ms).as_str(), parse_date(text)), (text, Some(unix_ms)));
        }
        for day in (0..40_000).step_by(7) {
            assert_eq!(parse_date(&date_of(day * DAY_MS)), Some(day * DAY_MS));
        }
        for wrong in ["", "2026-02-29", "2026-13-01", "2026-1-01", "2026-01-01-", "+026-01-01", "1969-12-31"] {
            assert_eq!(parse_date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_round_trip() {
        assert_eq!((time_of(DAY_MS + 11_400_999).as_str(), parse_time("031000")), ("031000", Some(11_400_000)));
        assert_eq!(date_time_of(11_400_999), "1970-01-01 03:10:00");
        for wrong in ["", "240000", "036000", "0310", "03100a", "+31000"] {
            assert_eq!(parse_time(wrong), None, "{wrong}");
        }
    }
}
