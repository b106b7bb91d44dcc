//! Floating-point numbers as Java prints them: `1.0`, `1.5E10`, `NaN`.
//!
//! The digits are the shortest that identify the number, as in Java 19 and later. Java 17 prints a digit more for a few
//! numbers.

use std::fmt::LowerExp;

/// Returns the text of `Double.toString`.
pub fn double_text(number: f64) -> String {
    text(number, number.abs(), number.is_nan())
}

/// Returns the text of `Float.toString`.
pub fn float_text(number: f32) -> String {
    text(number, f64::from(number).abs(), number.is_nan())
}

fn text(number: impl LowerExp, size: f64, is_nan: bool) -> String {
    if is_nan {
        return "NaN".into();
    }
    // `-1.234e-5`: the shortest digits and the exponent of ten.
    let shortest = format!("{number:e}");
    let (sign, unsigned) = match shortest.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", &shortest[..]),
    };
    if size.is_infinite() {
        return format!("{sign}Infinity");
    }
    let (mantissa, exponent) = unsigned.split_once('e').unwrap_or((unsigned, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(|&c| c != '.').collect();
    if size == 0.0 {
        return format!("{sign}0.0");
    }
    let or_zero = |part: &str| if part.is_empty() { "0".to_string() } else { part.to_string() };
    if (1e-3..1e7).contains(&size) {
        if exponent < 0 {
            return format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize));
        }
        let whole = exponent as usize + 1;
        let padded = format!("{digits:0<whole$}");
        return format!("{sign}{}.{}", &padded[..whole], or_zero(&padded[whole..]));
    }
    format!("{sign}{}.{}E{exponent}", &digits[..1], or_zero(&digits[1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_java() {
        for (number, expect) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-2.5, "-2.5"),
            (100.0, "100.0"),
            (0.001, "0.001"),
            (0.00099, "9.9E-4"),
            (9999999.5, "9999999.5"),
            (1e7, "1.0E7"),
            (123456789.125, "1.23456789125E8"),
            (1e300, "1.0E300"),
            (0.1 + 0.2, "0.30000000000000004"),
            (f64::MAX, "1.7976931348623157E308"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(double_text(number), expect);
        }
        assert_eq!(float_text(0.1), "0.1");
        assert_eq!(float_text(16777216.0), "1.6777216E7");
    }
}
