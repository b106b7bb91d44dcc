//! Values of settings as a person writes them: numbers, sizes and ranges within limits.
//!
//! An error names what is wrong with the text (no number, negative, a fraction, an unknown unit, too small, too large),
//! and then what is allowed.

use crate::change::Refusal;

/// Limits of a number, and the reason for the larger one.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Least value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
    /// Origin of `max`, such as "half of this machine's memory", or empty.
    pub origin: &'a str,
}

/// Units of sizes, and their powers of two.
const UNITS: [(&str, u32); 5] = [("K", 10), ("M", 20), ("G", 30), ("T", 40), ("P", 50)];

/// Parses a whole number without a unit.
pub fn number(text: &str, limits: Limits) -> Result<u64, Refusal> {
    let allowed = format!("give a number from {} to {}", limits.min, limits.max);
    let (digits, rest) = split(text, "number", &allowed)?;
    if !rest.is_empty() {
        return Err(format!("'{text}' has a unit, '{rest}', and this setting has none; {allowed}"));
    }
    // More digits than any integer has are more than each maximum.
    within(digits.parse().ok(), text, "number", limits, &limits.max.to_string(), &allowed)
}

/// Parses a size in bytes with a unit of 1024, such as `512M`, `1G`, `1GiB` or `1073741824`.
pub fn size(text: &str, limits: Limits) -> Result<u64, Refusal> {
    let allowed = format!("give {} to {}, such as 512M or 1G", short(limits.min), short(limits.max));
    let (digits, rest) = split(text, "size", &allowed)?;
    let upper = rest.to_ascii_uppercase();
    let unit = upper.strip_suffix("IB").or(upper.strip_suffix('B')).unwrap_or(&upper);
    let shift = match UNITS.iter().find(|(name, _)| *name == unit) {
        Some((_, shift)) => *shift,
        None if unit.is_empty() && upper != "IB" => 0,
        None => return Err(format!("'{text}' has the unknown unit '{rest}'; K, M, G and T are units; {allowed}")),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    within(bytes, text, "size", limits, &short(limits.max), &allowed)
}

/// Parses `FROM-TO`, both within the limits.
pub fn range(text: &str, limits: Limits) -> Result<(u64, u64), Refusal> {
    let allowed = format!("give one such as {}-{}", limits.min, limits.max);
    let Some((from, to)) = text.split_once('-').filter(|(from, _)| !from.is_empty()) else {
        return Err(format!("'{text}' is not a range; {allowed}"));
    };
    let end = |end| number(end, limits).map_err(|why| format!("'{text}': {why}"));
    let (from, to) = (end(from)?, end(to)?);
    if from >= to {
        return Err(format!("'{text}' is an empty range: {from} is not below {to}; {allowed}"));
    }
    Ok((from, to))
}

/// Splits a text into its digits and what follows. Fails if it does not begin with a whole number.
fn split<'a>(text: &'a str, what: &str, allowed: &str) -> Result<(&'a str, &'a str), Refusal> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(at);
    if text.is_empty() {
        return Err(format!("the value is missing; {allowed}"));
    }
    if text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        return Err(format!("'{text}' is negative; {allowed}"));
    }
    if digits.is_empty() || rest.contains(char::is_whitespace) {
        return Err(format!("'{text}' is not a {what}; {allowed}"));
    }
    if rest.starts_with(['.', ',']) {
        return Err(format!("'{text}' is a fraction; {allowed}"));
    }
    Ok((digits, rest))
}

/// Checks a value against the limits. `None` is a value larger than an integer holds.
fn within(
    value: Option<u64>,
    text: &str,
    what: &str,
    limits: Limits,
    most: &str,
    allowed: &str,
) -> Result<u64, Refusal> {
    match value {
        Some(value) if value < limits.min => Err(format!("'{text}' is too small a {what}; {allowed}")),
        Some(value) if value <= limits.max => Ok(value),
        _ if limits.origin.is_empty() => Err(format!("'{text}' is too large a {what}; {allowed}")),
        _ => Err(format!("'{text}' is a {what}, but more than {most}, {}; {allowed}", limits.origin)),
    }
}

/// Returns a size in the largest unit that leaves three digits, rounded down: `3900M` of 4,089,446,400 bytes.
fn short(bytes: u64) -> String {
    let unit = UNITS.iter().rev().find(|(_, shift)| bytes >> shift >= 100 || bytes.trailing_zeros() >= *shift);
    match unit {
        Some((name, shift)) if bytes > 0 => format!("{}{name}", bytes >> shift),
        _ => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { min: 3, max: 4000, origin: "" };
    const SIZES: Limits = Limits { min: 1 << 20, max: 4_089_446_400, origin: "half of this machine's memory" };

    fn check<T: std::fmt::Debug>(parsed: Result<T, Refusal>, text: &str, expected: &str, allowed: &str) {
        let error = parsed.unwrap_err();
        let (said, allowed_there) = error.rsplit_once("; give").unwrap_or_else(|| panic!("{text}: {error}"));
        assert!(said.contains(expected) && allowed_there.contains(allowed), "{text}: {error}");
    }

    #[test]
    fn parses_numbers() {
        for (text, value) in [("3", 3), ("4000", 4000), ("0010", 10)] {
            assert_eq!(number(text, LIMITS), Ok(value));
        }
        for (text, expected) in [
            ("", "the value is missing"),
            ("x", "not a number"),
            ("+5", "not a number"),
            ("-5", "negative"),
            ("-", "not a number"),
            ("1.5", "a fraction"),
            ("1,5", "a fraction"),
            ("7 ", "not a number"),
            ("7s", "has a unit, 's'"),
            ("0x10", "has a unit"),
            ("\u{661}", "not a number"),
            ("2", "too small"),
            ("4001", "too large"),
            ("18446744073709551616", "too large"),
            ("99999999999999999999999999", "too large"),
        ] {
            check(number(text, LIMITS), text, expected, "a number from 3 to 4000");
        }
    }

    #[test]
    fn parses_sizes() {
        for (text, value) in [
            ("1048576", 1 << 20),
            ("2048K", 2 << 20),
            ("3MiB", 3 << 20),
            ("1G", 1 << 30),
            ("1GB", 1 << 30),
            ("1g", 1 << 30),
            ("1gib", 1 << 30),
            ("2000000B", 2_000_000),
            ("4089446400", 4_089_446_400),
        ] {
            assert_eq!(size(text, SIZES), Ok(value), "{text}");
        }
        for (text, expected) in [
            ("", "the value is missing"),
            ("G", "not a size"),
            ("x", "not a size"),
            ("1 G", "not a size"),
            ("-1G", "negative"),
            ("1.5G", "a fraction"),
            ("1X", "unknown unit 'X'"),
            ("5iB", "unknown unit 'iB'"),
            ("1GG", "unknown unit 'GG'"),
            ("10%", "unknown unit '%'"),
            ("0", "too small"),
            ("1023K", "too small"),
            ("4089446401", "more than 3900M, half of this machine's memory"),
            ("1T", "more than 3900M"),
            ("99999T", "is a size, but more than 3900M"),
            ("18446744073709551615G", "is a size, but more than 3900M"),
            ("99999999999999999999", "is a size, but more than 3900M"),
        ] {
            check(size(text, SIZES), text, expected, "1M to 3900M");
        }
    }

    #[test]
    fn parses_ranges() {
        assert_eq!(range("3-4000", LIMITS), Ok((3, 4000)));
        for (text, expected) in [
            ("", "not a range"),
            ("20", "not a range"),
            ("-20", "not a range"),
            ("a-b", "'a' is not a number"),
            ("20-", "the value is missing"),
            ("20-10", "empty range"),
            ("20-20", "empty range"),
            ("2-20", "'2' is too small"),
            ("20-4001", "'4001' is too large"),
            ("20--30", "'-30' is negative"),
        ] {
            let error = range(text, LIMITS).unwrap_err();
            assert!(error.contains(expected) && error.contains("; give"), "{text}: {error}");
        }
    }

    #[test]
    fn writes_sizes_rounded_down() {
        for (bytes, text) in [
            (0, "0"),
            (5, "5"),
            (1024, "1K"),
            (1 << 20, "1M"),
            (5000, "5000"),
            (4_089_446_400, "3900M"),
            (1 << 63, "8192P"),
        ] {
            assert_eq!(short(bytes), text);
        }
    }
}
