//! Types of columns, as Arrow spells them, and the few shapes in which values of them are computed.
//!
//! ```text
//!   Boolean                                  bool
//!   Int8 .. Int64, UInt8 .. UInt32           i64
//!   Date32, Time32, Time64, Timestamp        i64: days; units since midnight; units since 1970
//!   Float16 .. Float64                       f64; the text of those below Float64 has single precision
//!   Decimal32 .. Decimal128, UInt64          i128, with a scale
//!   Utf8, Binary, and all others             bytes
//! ```

use std::fmt;

use yunti_base::{Code, Error, Result};

/// Unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
}

impl Unit {
    /// Returns the units in a second.
    pub fn per_second(self) -> i64 {
        10i64.pow(self.digits() as u32)
    }

    /// Returns the digits of a fraction of a second.
    pub fn digits(self) -> usize {
        3 * self as usize
    }

    fn parse(name: &str) -> Option<Unit> {
        Some(match name {
            "Second" | "s" => Unit::Second,
            "Millisecond" | "ms" => Unit::Millisecond,
            "Microsecond" | "us" | "µs" => Unit::Microsecond,
            "Nanosecond" | "ns" => Unit::Nanosecond,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        ["Second", "Millisecond", "Microsecond", "Nanosecond"][self as usize]
    }
}

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Boolean,
    Int,
    Float,
    /// A float of single precision, or half.
    Float32,
    /// Digits behind the point.
    Decimal {
        scale: u8,
    },
    Text,
    Date,
    Time(Unit),
    Timestamp {
        unit: Unit,
        /// True if it counts from 1970 in UTC; otherwise in a zone that is not known.
        utc: bool,
    },
}

/// Digits of a decimal, at most.
pub const DECIMAL_DIGITS: u8 = 38;

impl Kind {
    /// Parses a type as Arrow spells it. Types without a shape of their own are text.
    pub fn parse(text: &str) -> Result<Kind> {
        let text = text.trim();
        let (name, arguments) = match text.split_once('(') {
            Some((name, rest)) => (name, rest.trim_end_matches(')')),
            None => (text, ""),
        };
        let mut arguments = arguments.split(',').map(str::trim);
        let wrong = || {
            let error = Error::new(Code::Usage, format!("'{text}' is not the type of a column"));
            error.hint(
                "use a type of Arrow: Int64, Float64, Decimal128(10, 2), Utf8, Date32, Timestamp(Microsecond, None)",
            )
        };
        Ok(match name {
            "Boolean" => Kind::Boolean,
            "Int8" | "Int16" | "Int32" | "Int64" | "UInt8" | "UInt16" | "UInt32" => Kind::Int,
            "UInt64" => Kind::Decimal { scale: 0 },
            "Float16" | "Float32" => Kind::Float32,
            "Float64" => Kind::Float,
            "Decimal32" | "Decimal64" | "Decimal128" => {
                let digits: u8 = arguments.next().and_then(|text| text.parse().ok()).ok_or_else(wrong)?;
                let scale: i8 = arguments.next().and_then(|text| text.parse().ok()).ok_or_else(wrong)?;
                match u8::try_from(scale) {
                    Ok(scale) if scale <= digits && digits <= DECIMAL_DIGITS => Kind::Decimal { scale },
                    _ if scale < 0 => Kind::Text,
                    _ => return Err(wrong()),
                }
            }
            "Date32" => Kind::Date,
            "Time32" | "Time64" => Kind::Time(arguments.next().and_then(Unit::parse).ok_or_else(wrong)?),
            "Timestamp" => {
                let unit = arguments.next().and_then(Unit::parse).ok_or_else(wrong)?;
                let zone = arguments.next().unwrap_or("None");
                Kind::Timestamp { unit, utc: zone != "None" }
            }
            "Utf8" | "LargeUtf8" | "Utf8View" | "Binary" | "LargeBinary" | "BinaryView" | "FixedSizeBinary" => {
                Kind::Text
            }
            "Null" | "Date64" | "Interval" | "Duration" | "Decimal256" | "List" | "LargeList" | "FixedSizeList"
            | "Struct" | "Map" | "Union" | "Dictionary" => Kind::Text,
            _ => return Err(wrong()),
        })
    }

    /// Returns true for a type of numbers.
    pub fn is_number(self) -> bool {
        matches!(self, Kind::Int | Kind::Float | Kind::Float32 | Kind::Decimal { .. })
    }
}

/// Writes the type as Arrow spells it.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Boolean => f.write_str("Boolean"),
            Kind::Int => f.write_str("Int64"),
            Kind::Float => f.write_str("Float64"),
            Kind::Float32 => f.write_str("Float32"),
            Kind::Decimal { scale } => write!(f, "Decimal128({DECIMAL_DIGITS}, {scale})"),
            Kind::Text => f.write_str("Utf8"),
            Kind::Date => f.write_str("Date32"),
            Kind::Time(unit @ (Unit::Second | Unit::Millisecond)) => write!(f, "Time32({})", unit.name()),
            Kind::Time(unit) => write!(f, "Time64({})", unit.name()),
            Kind::Timestamp { unit, utc } => {
                write!(f, "Timestamp({}, {})", unit.name(), if *utc { "\"+00:00\"" } else { "None" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_arrow_in_both_spellings() {
        let timestamp = |unit, utc| Kind::Timestamp { unit, utc };
        for (text, kind) in [
            ("Int32", Kind::Int),
            ("UInt64", Kind::Decimal { scale: 0 }),
            ("Decimal128(10, 2)", Kind::Decimal { scale: 2 }),
            ("Timestamp(Microsecond, None)", timestamp(Unit::Microsecond, false)),
            ("Timestamp(µs)", timestamp(Unit::Microsecond, false)),
            ("Timestamp(ms, \"+00:00\")", timestamp(Unit::Millisecond, true)),
            ("Time64(ns)", Kind::Time(Unit::Nanosecond)),
            ("List(nullable Int64)", Kind::Text),
        ] {
            assert_eq!(Kind::parse(text).unwrap(), kind, "{text}");
        }
        for kind in [Kind::Int, Kind::Decimal { scale: 4 }, Kind::Time(Unit::Second), timestamp(Unit::Nanosecond, true)]
        {
            assert_eq!(Kind::parse(&kind.to_string()).unwrap(), kind);
        }
        for wrong in ["", "Whole", "Decimal128(99, 2)", "Decimal128", "Time32(hours)"] {
            assert!(Kind::parse(wrong).is_err(), "{wrong}");
        }
    }
}
