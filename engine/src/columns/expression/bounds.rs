//! Simple bounds of a condition, for sources that know the least and the largest values of a unit.
//!
//! A condition `a and b and ..` holds only where each of its parts does. Parts that compare a column with a constant
//! are passed on, a line each: `name TAB operator TAB value`. The value is in the shape of a block of columns:
//!
//! ```text
//!   integers, dates, times   the number        decimals   the units       floats   the shortest digits
//!   booleans                 true, false       texts      the bytes, with \t \n \r \\ escaped
//! ```
//!
//! A set of whole numbers stands behind the operator `in`, as `[-3,5,9]` or, from the least number on, as bits:
//! `-3:g0P..`, six a character, the lowest first, added to '0'.
//!
//! A source may leave out rows for which one of the lines is surely not true, and no others.

use super::bind::{Node, Typed};
use super::parse::Op;
use crate::columns::expression::Field;
use crate::columns::vector::Value;
use crate::format::columns::put_escaped;

/// Returns the bounds of a condition over columns.
pub fn bounds(condition: &Typed, fields: &[Field]) -> String {
    let mut lines = Vec::new();
    put(condition, fields, &mut lines);
    // Names are UTF-8, and a text that is not is no bound.
    lines.into_iter().filter_map(|line| String::from_utf8(line).ok()).collect::<Vec<_>>().join("\n")
}

fn put(condition: &Typed, fields: &[Field], lines: &mut Vec<Vec<u8>>) {
    match &condition.node {
        Node::And(left, right) => {
            put(left, fields, lines);
            put(right, fields, lines);
        }
        Node::Compare(op, left, right) => match (&left.node, &right.node) {
            (Node::Column(place), Node::Constant(value)) => lines.extend(line(&fields[*place].name, *op, value)),
            (Node::Constant(value), Node::Column(place)) => {
                lines.extend(line(&fields[*place].name, turned(*op), value));
            }
            _ => {}
        },
        _ => {}
    }
}

/// Returns the operator with its sides exchanged.
fn turned(op: Op) -> Op {
    match op {
        Op::Less => Op::Greater,
        Op::LessOrEqual => Op::GreaterOrEqual,
        Op::Greater => Op::Less,
        Op::GreaterOrEqual => Op::LessOrEqual,
        op => op,
    }
}

fn line(name: &str, op: Op, value: &Value) -> Option<Vec<u8>> {
    let op = match op {
        Op::Equal => "=",
        Op::Less => "<",
        Op::LessOrEqual => "<=",
        Op::Greater => ">",
        Op::GreaterOrEqual => ">=",
        _ => return None,
    };
    bound(name, op, value)
}

/// Returns the line of one bound; None for a null, which nothing is compared with.
///
/// `operator`: `=`, `<`, `<=`, `>` or `>=`.
pub fn bound(name: &str, operator: &str, value: &Value) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    put_escaped(name.as_bytes(), &mut line);
    line.extend_from_slice(format!("\t{operator}\t").as_bytes());
    match value {
        Value::Null => return None,
        Value::Bool(v) => line.extend_from_slice(v.to_string().as_bytes()),
        Value::Int(v) => line.extend_from_slice(v.to_string().as_bytes()),
        Value::Decimal(v) => line.extend_from_slice(v.to_string().as_bytes()),
        Value::Float(v) => line.extend_from_slice(format!("{v:?}").as_bytes()),
        Value::Bytes(v) => put_escaped(v, &mut line),
    }
    Some(line)
}

/// Returns whole numbers, which ascend, as a set.
pub fn list_of(values: &[i64]) -> String {
    let values: Vec<String> = values.iter().map(i64::to_string).collect();
    format!("[{}]", values.join(","))
}

/// Returns the numbers whose bits are set, as a set. The first bit stands for `least`.
pub fn bits_of(least: i64, bits: &[u64]) -> String {
    let mut text = format!("{least}:");
    text.reserve(bits.len() * 64 / 6 + 1);
    let (mut rest, mut len) = (0u128, 0);
    let digit = |six: u128| char::from(b'0' + (six & 63) as u8);
    for &word in bits {
        rest |= u128::from(word) << len;
        len += 64;
        while len >= 6 {
            text.push(digit(rest));
            (rest, len) = (rest >> 6, len - 6);
        }
    }
    text.push(digit(rest));
    text
}

/// Returns the line of a column that has a value of a set.
pub fn within(name: &str, set: &str) -> Vec<u8> {
    let mut line = Vec::with_capacity(name.len() + 4 + set.len());
    put_escaped(name.as_bytes(), &mut line);
    line.extend_from_slice(b"\tin\t");
    line.extend_from_slice(set.as_bytes());
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::expression::{bind, parse};
    use crate::columns::kind::Kind;

    #[test]
    fn sets_of_numbers() {
        assert_eq!(within("a\tb", &list_of(&[-3, 5])), b"a\\tb\tin\t[-3,5]");
        // 0, 5, 6 and 64 of 70 bits: digits of 1 + 32, 1, .., 16 (the fifth bit of the eleventh digit).
        assert_eq!(bits_of(-3, &[1 | 1 << 5 | 1 << 6, 1]), format!("-3:{}1{}@{}", 'Q', "0".repeat(8), "0".repeat(11)));
    }

    #[test]
    fn parts_that_compare_a_column_with_a_constant() {
        let fields: Vec<Field> = [
            ("n", Kind::Int),
            ("price", Kind::Decimal { scale: 2 }),
            ("day", Kind::Date),
            ("x", Kind::Float),
            ("a\tb", Kind::Text),
        ]
        .map(|(name, kind)| Field { name: name.into(), kind })
        .to_vec();
        for (text, expect) in [
            ("n > 3", "n\t>\t3"),
            ("3 >= n and n <> 2", "n\t<=\t3"),
            ("price between 1 and 2.5", "price\t>=\t100\nprice\t<=\t250"),
            ("day = '1970-01-02'", "day\t=\t1"),
            ("x < 1 and (n = 1 or n = 2)", "x\t<\t1.0"),
            ("\"a\tb\" > 'x\ny'", "a\\tb\t>\tx\\ny"),
            ("not n > 3", ""),
            ("n > 3 or n < 1", ""),
            ("n > 2.5", ""),
            ("n = null", ""),
            ("n > n", ""),
        ] {
            let condition = bind(&parse(text).unwrap(), &fields).unwrap();
            assert_eq!(bounds(&condition, &fields), expect, "{text}");
        }
    }
}
