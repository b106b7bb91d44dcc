//! Parsers of numbers in flags, whose messages say what is expected, with the unit.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Returns the parser of a whole number within a range.
pub fn whole<N>(range: RangeInclusive<N>) -> impl Fn(&str) -> Result<N, String> + Clone + Send + Sync + 'static
where
    N: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text| match text.trim().parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!("'{text}' is not a whole number from {} to {}", range.start(), range.end())),
    }
}

/// Returns a number of seconds. Errors: for a negative one, and for what is no number.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && seconds >= 0.0 => Ok(seconds),
        _ => Err(format!("'{text}' is not a number of seconds: write it without a unit, as in 90 or 0.5")),
    }
}

/// Returns a number. Errors: for what is none.
pub fn number(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(format!("'{text}' is not a number: write it as in 1.5")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_or_explained() {
        assert_eq!((whole(1..=9u32)("7"), whole(0..=usize::MAX)(" 0 ")), (Ok(7), Ok(0)));
        for text in ["0", "-1", "x", "1.5", "99999999999", "10", ""] {
            assert_eq!(whole(1..=9u32)(text).unwrap_err(), format!("'{text}' is not a whole number from 1 to 9"));
        }
        assert_eq!((seconds("0.5"), seconds("90"), number("-1.5")), (Ok(0.5), Ok(90.0), Ok(-1.5)));
        for text in ["abc", "-1", "10s", "inf", "nan"] {
            assert!(seconds(text).unwrap_err().contains("is not a number of seconds"), "{text}");
        }
        assert!(number("x").is_err());
    }
}
