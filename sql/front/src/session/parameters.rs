//! Values of parameters: `NAME=VALUE`, where the spelling decides, and `NAME:TYPE=VALUE`.

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::ScalarValue;
use yunti_base::{Code, Error, Result};

/// Names of types, for messages.
const TYPES: &str = "text, int, float, bool, decimal, date, timestamp, timestamptz, binary (in hex), null";
/// Digits of a decimal number, at most.
const DIGITS_MAX: usize = 38;

/// Returns the name and the value of a parameter.
pub fn value_of(name: &str, text: &str) -> Result<(String, ScalarValue)> {
    let Some((name, data_type)) = name.split_once(':') else { return Ok((name.into(), by_spelling(text))) };
    let of = |data_type: DataType| ScalarValue::try_from_string(text.into(), &data_type).ok();
    let value = match data_type {
        "text" => Some(ScalarValue::Utf8(Some(text.into()))),
        "int" => of(DataType::Int64),
        "float" => text.parse().ok().map(|value| ScalarValue::Float64(Some(value))),
        "bool" => of(DataType::Boolean),
        "decimal" => decimal(text),
        "date" => of(DataType::Date32),
        "timestamp" => of(DataType::Timestamp(TimeUnit::Microsecond, None)),
        "timestamptz" => of(DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))),
        "binary" => bytes(text).map(|bytes| ScalarValue::Binary(Some(bytes))),
        "null" => Some(ScalarValue::Null),
        other => {
            let error = Error::new(Code::Usage, format!("parameter '{name}': there is no type '{other}'"));
            return Err(error.hint(format!("one of {TYPES}")));
        }
    };
    let shown: String = text.chars().take(40).collect();
    let value =
        value.ok_or_else(|| Error::new(Code::Usage, format!("parameter '{name}': '{shown}' is no {data_type}")))?;
    Ok((name.into(), value))
}

/// Returns a number if the text is spelled as one, else text.
fn by_spelling(text: &str) -> ScalarValue {
    match (text.parse::<i64>(), text.parse::<f64>()) {
        _ if text.eq_ignore_ascii_case("null") => ScalarValue::Null,
        _ if text.eq_ignore_ascii_case("true") => ScalarValue::Boolean(Some(true)),
        _ if text.eq_ignore_ascii_case("false") => ScalarValue::Boolean(Some(false)),
        (Ok(number), _) => ScalarValue::Int64(Some(number)),
        (_, Ok(number)) if text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.') => {
            ScalarValue::Float64(Some(number))
        }
        _ => ScalarValue::Utf8(Some(text.into())),
    }
}

/// Returns digits with an optional sign and point as a decimal number of as many places.
fn decimal(text: &str) -> Option<ScalarValue> {
    let (sign, plain) = match text.strip_prefix('-') {
        Some(plain) => (-1, plain),
        None => (1, text),
    };
    let (whole, places) = plain.split_once('.').unwrap_or((plain, ""));
    let digits = [whole, places].concat();
    if digits.is_empty() || digits.len() > DIGITS_MAX || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = digits.parse::<i128>().ok()? * sign;
    Some(ScalarValue::Decimal128(Some(value), digits.len().max(1) as u8, places.len() as i8))
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let pair = |pair: &[u8]| Some((digit(pair.first()?)? << 4 | digit(pair.get(1)?)?) as u8);
    hex.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_wins_over_the_spelling() {
        let text = |text: &str| ScalarValue::Utf8(Some(text.into()));
        for (name, value, expect) in [
            ("a", "5", ScalarValue::Int64(Some(5))),
            ("a", "x", text("x")),
            ("a:text", "5", text("5")),
            ("a:text", "null", text("null")),
            ("a:int", "-5", ScalarValue::Int64(Some(-5))),
            ("a:float", "1e3", ScalarValue::Float64(Some(1000.0))),
            ("a:bool", "true", ScalarValue::Boolean(Some(true))),
            ("a:date", "1970-01-03", ScalarValue::Date32(Some(2))),
            ("a:decimal", "-1.50", ScalarValue::Decimal128(Some(-150), 3, 2)),
            ("a:binary", "00fF", ScalarValue::Binary(Some(vec![0, 255]))),
            ("a:null", "", ScalarValue::Null),
        ] {
            assert_eq!(value_of(name, value).unwrap(), ("a".into(), expect), "{name}={value}");
        }
        for (name, value) in [("a:int", "x"), ("a:decimal", "1e3"), ("a:decimal", ""), ("a:binary", "abc"), ("a:x", "")]
        {
            assert_eq!(value_of(name, value).unwrap_err().code(), Code::Usage, "{name}={value}");
        }
    }
}
