//! Normal form of keys of several typed columns: bytes that sort as the values do, column by column, nulls first.
//!
//! ```text
//!   null       00
//!   boolean    01 00 | 01 01
//!   integer    01, 8 bytes big-endian with the sign bit inverted; dates and times too
//!   float      01, 8 bytes big-endian: positive with the sign bit inverted, negative with all bits; -0 as 0, NaN last
//!   decimal    01, 16 bytes big-endian with the sign bit inverted
//!   text       01, its bytes, 00 as 00 ff, then 00 00
//! ```

use super::kind::Kind;
use super::vector::{Cell, Value};
use crate::bytes::ordered_bytes::OrderedBytes;

/// Appends the form of a value.
pub fn put(cell: Cell<'_>, out: &mut Vec<u8>) {
    out.push(u8::from(!matches!(cell, Cell::Null | Cell::Other(Value::Null))));
    match cell {
        Cell::Null | Cell::Other(Value::Null) => {}
        Cell::Other(Value::Bool(v)) => out.push(v.into()),
        Cell::Other(Value::Int(v)) => put_int(v, out),
        Cell::Other(Value::Float(v)) => put_float(v, out),
        Cell::Other(Value::Decimal(v)) => put_decimal(v, out),
        Cell::Other(Value::Bytes(v)) => OrderedBytes(out).text(&v, false),
        Cell::Bytes(v) => OrderedBytes(out).text(v, false),
    }
}

/// Appends a form by which rows are ordered: ascending, or descending. Nulls are last in both.
pub fn put_last(cell: Cell<'_>, descending: bool, out: &mut Vec<u8>) {
    let start = out.len();
    put(cell, out);
    out[start] ^= 1;
    if descending {
        out[start + 1..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

fn put_int(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(&(value as u64 ^ 1 << 63).to_be_bytes());
}

fn put_decimal(value: i128, out: &mut Vec<u8>) {
    out.extend_from_slice(&(value as u128 ^ 1 << 127).to_be_bytes());
}

fn put_float(value: f64, out: &mut Vec<u8>) {
    out.extend_from_slice(&ordered_float(value).to_be_bytes());
}

/// Returns a number that orders floats: -0 is 0, and all NaN are one, behind infinity.
pub fn ordered_float(value: f64) -> u64 {
    let bits = match value {
        v if v.is_nan() => f64::NAN.to_bits() & !(1 << 63),
        v => (v + 0.0).to_bits(),
    };
    if bits >> 63 == 0 { bits ^ 1 << 63 } else { !bits }
}

/// Returns the float of such a number.
pub fn float_of(ordered: u64) -> f64 {
    f64::from_bits(if ordered >> 63 == 1 { ordered ^ 1 << 63 } else { !ordered })
}

/// Takes a value from the front of a key without making it; None if the key is no normal form.
pub fn skip(kind: Kind, key: &mut &[u8]) -> Option<()> {
    let len = match (key.first()?, kind) {
        (0, _) => 1,
        (_, Kind::Boolean) => 2,
        (_, Kind::Decimal { .. }) => 17,
        (_, Kind::Text) => return take(kind, key).map(drop),
        _ => 9,
    };
    *key = key.get(len..)?;
    Some(())
}

/// Takes the value of a column from the front of a key; None if the key is no normal form.
pub fn take(kind: Kind, key: &mut &[u8]) -> Option<Value> {
    let (mark, rest) = key.split_first()?;
    *key = rest;
    if *mark == 0 {
        return Some(Value::Null);
    }
    fn number<const N: usize>(key: &mut &[u8]) -> Option<[u8; N]> {
        let (bytes, rest) = key.split_first_chunk::<N>()?;
        *key = rest;
        Some(*bytes)
    }
    Some(match kind {
        Kind::Boolean => Value::Bool(number::<1>(key)?[0] != 0),
        Kind::Float | Kind::Float32 => Value::Float(float_of(u64::from_be_bytes(number(key)?))),
        Kind::Decimal { .. } => Value::Decimal((u128::from_be_bytes(number(key)?) ^ 1 << 127) as i128),
        Kind::Int | Kind::Date | Kind::Time(_) | Kind::Timestamp { .. } => {
            Value::Int((u64::from_be_bytes(number(key)?) ^ 1 << 63) as i64)
        }
        Kind::Text => {
            let mut text = Vec::new();
            loop {
                let nul = memchr::memchr(0, key)?;
                text.extend_from_slice(&key[..nul]);
                let end = *key.get(nul + 1)?;
                *key = &key[nul + 2..];
                match end {
                    0 => break Value::Bytes(text),
                    _ => text.push(0),
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_sort_as_values_and_come_back() {
        let ints = |v: &[i64]| v.iter().map(|&v| Value::Int(v)).collect::<Vec<_>>();
        let floats = [f64::NEG_INFINITY, -1.5, -5e-324, 0.0, 5e-324, 1.0, f64::INFINITY].map(Value::Float).to_vec();
        let texts = ["", "\0", "\0a", "a", "a\0", "aa", "b"].map(|t| Value::Bytes(t.into())).to_vec();
        for (kind, values) in [
            (Kind::Boolean, vec![Value::Bool(false), Value::Bool(true)]),
            (Kind::Int, ints(&[i64::MIN, -1, 0, 1, i64::MAX])),
            (Kind::Float, floats),
            (Kind::Decimal { scale: 2 }, [i128::MIN, -1, 0, 7, i128::MAX].map(Value::Decimal).to_vec()),
            (Kind::Text, texts),
        ] {
            let values = [vec![Value::Null], values].concat();
            let forms: Vec<Vec<u8>> = values
                .iter()
                .map(|value| {
                    let mut form = Vec::new();
                    put(value.cell(), &mut form);
                    form
                })
                .collect();
            assert!(forms.is_sorted_by(|a, b| a < b && !b.starts_with(a)), "{kind}");
            for descending in [false, true] {
                let mut rest = values[1..].to_vec();
                if descending {
                    rest.reverse();
                }
                rest.push(Value::Null);
                let last = |value: &Value| {
                    let mut form = Vec::new();
                    put_last(value.cell(), descending, &mut form);
                    form
                };
                let forms: Vec<_> = rest.iter().map(last).collect();
                assert!(forms.is_sorted_by(|a, b| a < b && !b.starts_with(a)), "{kind}, descending: {descending}");
            }
            for (form, value) in forms.iter().zip(&values) {
                // Behind it stands another column.
                let both = [&form[..], b"\x01rest"].concat();
                let mut rest = &both[..];
                assert_eq!(take(kind, &mut rest).as_ref(), Some(value));
                assert_eq!(rest, b"\x01rest");
                rest = &both[..];
                assert!(skip(kind, &mut rest).is_some() && rest == b"\x01rest");
                assert!((0..form.len()).all(|len| take(kind, &mut &form[..len]).is_none() || form[0] == 0));
            }
        }
        assert_eq!(ordered_float(-0.0), ordered_float(0.0));
        assert_eq!(ordered_float(-f64::NAN), ordered_float(f64::NAN));
    }
}
