//! Values as text, as Arrow shows them: floats with the fewest digits that read back, the rest as the engine does.

use std::io::Write;

use arrow_schema::DataType;
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::text;
use yunti_engine::columns::vector::{Bytes, Value};

use super::super::arithmetic::Typed;
use super::super::operand::Operand;

/// Returns the texts of values; anything for a null.
pub fn texts(values: &Operand, from: Typed<'_>, rows: usize) -> Bytes {
    let mut texts = Bytes::with_capacity(rows, 8 * rows);
    let mut one = Vec::new();
    for row in 0..rows {
        one.clear();
        put(&values.value(row), from, &mut one);
        texts.push(&one);
    }
    texts
}

/// Appends the text of a value.
pub fn put(value: &Value, from: Typed<'_>, out: &mut Vec<u8>) {
    match (value, from.kind) {
        (Value::Float(value), Kind::Float) => put_float(*value, &format!("{value:e}"), 16, -5, out),
        (Value::Float(value), _) if *from.data_type == DataType::Float16 => {
            // Writing to a vector cannot fail.
            let _ = write!(out, "{}", *value as f32);
        }
        (Value::Float(value), _) => put_float(*value, &format!("{:e}", *value as f32), 13, -6, out),
        (value, kind) => text::put(kind, value, out),
    }
}

/// Appends a float from its shortest form `d.ddde±n`: with an exponent if its point is behind the digit `high`, or at
/// `low` before the first or further.
fn put_float(value: f64, shortest: &str, high: i32, low: i32, out: &mut Vec<u8>) {
    if !value.is_finite() {
        let text = if value.is_nan() {
            "NaN"
        } else if value > 0.0 {
            "inf"
        } else {
            "-inf"
        };
        return out.extend_from_slice(text.as_bytes());
    }
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    if value.is_sign_negative() {
        out.push(b'-');
    }
    let len = digits.len() as i32;
    // Digits before the point; none if it is zero or less.
    let point = exponent + 1;
    if value == 0.0 {
        out.extend_from_slice(b"0.0");
    } else if len <= point && point <= high {
        out.extend_from_slice(&digits);
        out.extend(std::iter::repeat_n(b'0', (point - len) as usize));
        out.extend_from_slice(b".0");
    } else if 0 < point && point <= high {
        let (whole, fraction) = digits.split_at(point as usize);
        out.extend_from_slice(whole);
        out.push(b'.');
        out.extend_from_slice(fraction);
    } else if low < point && point <= 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', -point as usize));
        out.extend_from_slice(&digits);
    } else {
        out.push(digits[0]);
        if len > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        // Writing to a vector cannot fail.
        let _ = write!(out, "e{exponent}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: f64, data_type: DataType) -> String {
        let kind = if data_type == DataType::Float64 { Kind::Float } else { Kind::Float32 };
        let mut out = Vec::new();
        put(&Value::Float(value), Typed { data_type: &data_type, kind }, &mut out);
        String::from_utf8(out).unwrap()
    }

    /// Texts that ryu, Arrow's formatter, is known to give.
    #[test]
    fn floats_as_arrow_shows_them() {
        for (value, expect) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-1.5, "-1.5"),
            (0.3, "0.3"),
            (1234000000000000.0, "1234000000000000.0"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e16"),
            (1.25e16, "1.25e16"),
            (123456789012345.6, "123456789012345.6"),
            (0.00001234, "0.00001234"),
            (1e-5, "0.00001"),
            (1e-6, "1e-6"),
            (1.234e-7, "1.234e-7"),
            (f64::MAX, "1.7976931348623157e308"),
            (5e-324, "5e-324"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(text(value, DataType::Float64), expect);
        }
        for (value, expect) in [
            (0.1f32, "0.1"),
            (1e12, "1000000000000.0"),
            (1e13, "1e13"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (16777216.0, "16777216.0"),
        ] {
            assert_eq!(text(value.into(), DataType::Float32), expect);
        }
    }
}
