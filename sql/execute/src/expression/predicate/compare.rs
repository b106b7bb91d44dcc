//! Comparisons: a loop for each operation and shape.

use std::cmp::Ordering;
use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::expression::{Side, zip};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::normal::ordered_float;
use yunti_engine::columns::vector::{Data, Vector, either};
use yunti_sql_plan::Comparison;

use crate::expression::operand::{Operand, Texts, Units, bools, floats, ints, nothing, shapes_differ, units};

/// Compares the values of two sides. `scales` are those of decimals.
pub fn compare(how: Comparison, left: &Operand, right: &Operand, scales: [u8; 2], rows: usize) -> Result<Vector> {
    let tests_nulls = matches!(how, Comparison::NotDistinct | Comparison::Distinct);
    if left.is_null() || right.is_null() {
        return Ok(match tests_nulls {
            false => nothing(Kind::Boolean, rows),
            true => {
                let other = if left.is_null() { right } else { left };
                Vector::of(Data::Bools(with_null(other, how == Comparison::Distinct, rows)))
            }
        });
    }
    let mut values = values(how, left, right, scales, rows)?;
    if !tests_nulls {
        return Ok(Vector { data: Data::Bools(values), nulls: either(left.nulls(), right.nulls()) });
    }
    if left.nulls().is_some() || right.nulls().is_some() {
        let null = |operand: &Operand, row: usize| operand.nulls().is_some_and(|nulls| nulls[row]);
        for (row, value) in values.iter_mut().enumerate() {
            let (a, b) = (null(left, row), null(right, row));
            if a | b {
                *value = (a & b) == (how == Comparison::NotDistinct);
            }
        }
    }
    Ok(Vector::of(Data::Bools(values)))
}

/// Compares values with null.
fn with_null(other: &Operand, distinct: bool, rows: usize) -> Vec<bool> {
    match (other.is_null(), other.nulls()) {
        (true, _) => vec![!distinct; rows],
        (false, None) => vec![distinct; rows],
        (false, Some(nulls)) => nulls.iter().map(|null| null ^ distinct).collect(),
    }
}

fn values(how: Comparison, left: &Operand, right: &Operand, scales: [u8; 2], rows: usize) -> Result<Vec<bool>> {
    if let (Some(a), Some(b)) = (ints(left), ints(right)) {
        return Ok(ordered(how, a, b, rows));
    }
    if let (Some(a), Some(b)) = (floats(left), floats(right)) {
        // NaN equals NaN and is larger than infinity, so that an order of floats is total.
        return Ok(match has_nan(a) || has_nan(b) {
            true => zip(a, b, rows, |a, b| holds(how, ordered_float(a).cmp(&ordered_float(b)))),
            false => ordered(how, a, b, rows),
        });
    }
    if let (Some(a), Some(b)) = (units(left), units(right)) {
        return Ok(decimals(how, &a, &b, scales, rows));
    }
    if let (Some(a), Some(b)) = (bools(left), bools(right)) {
        return Ok(ordered(how, a, b, rows));
    }
    let (a, b) = (Texts::of(left).ok_or_else(shapes_differ)?, Texts::of(right).ok_or_else(shapes_differ)?);
    if let (Operand::Vector(x), Operand::Vector(y)) = (left, right)
        && let (Data::Codes(x, of), Data::Codes(y, other)) = (&x.data, &y.data)
        && Arc::ptr_eq(of, other)
    {
        let order = |x: u32, y: u32| if x == y { Ordering::Equal } else { of.get(x as usize).cmp(of.get(y as usize)) };
        return Ok(zip(Side::Many(x), Side::Many(y), rows, |x, y| holds(how, order(x, y))));
    }
    Ok(texts(how, a, b, rows))
}

fn has_nan(side: Side<'_, f64>) -> bool {
    match side {
        Side::Many(values) => values.iter().fold(false, |any, value| any | value.is_nan()),
        Side::One(value) => value.is_nan(),
    }
}

fn holds(how: Comparison, order: Ordering) -> bool {
    match how {
        Comparison::Equal | Comparison::NotDistinct => order.is_eq(),
        Comparison::NotEqual | Comparison::Distinct => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }
}

/// Compares values of an ordered shape, with a loop for each operation.
fn ordered<T: Copy + PartialOrd>(how: Comparison, a: Side<'_, T>, b: Side<'_, T>, rows: usize) -> Vec<bool> {
    match how {
        Comparison::Equal | Comparison::NotDistinct => zip(a, b, rows, |a, b| a == b),
        Comparison::NotEqual | Comparison::Distinct => zip(a, b, rows, |a, b| a != b),
        Comparison::Less => zip(a, b, rows, |a, b| a < b),
        Comparison::LessOrEqual => zip(a, b, rows, |a, b| a <= b),
        Comparison::Greater => zip(a, b, rows, |a, b| a > b),
        Comparison::GreaterOrEqual => zip(a, b, rows, |a, b| a >= b),
    }
}

fn texts(how: Comparison, a: Texts<'_>, b: Texts<'_>, rows: usize) -> Vec<bool> {
    match (how, a, b) {
        // Equal texts have equal lengths: most are not read.
        (Comparison::Equal | Comparison::NotDistinct, a, Texts::One(b)) => a.map(rows, |a| a == b),
        (Comparison::NotEqual | Comparison::Distinct, a, Texts::One(b)) => a.map(rows, |a| a != b),
        (Comparison::Equal | Comparison::NotDistinct, a, b) => (0..rows).map(|row| a.get(row) == b.get(row)).collect(),
        (Comparison::NotEqual | Comparison::Distinct, a, b) => (0..rows).map(|row| a.get(row) != b.get(row)).collect(),
        (_, a, Texts::One(b)) => a.map(rows, |a| holds(how, a.cmp(b))),
        (_, Texts::One(a), b) => b.map(rows, |b| holds(how, a.cmp(b))),
        (_, a, b) => (0..rows).map(|row| holds(how, a.get(row).cmp(b.get(row)))).collect(),
    }
}

fn decimals(how: Comparison, a: &Units<'_>, b: &Units<'_>, scales: [u8; 2], rows: usize) -> Vec<bool> {
    if scales[0] == scales[1] {
        if let (Some(a), Some(b)) = (a.small(), b.small()) {
            return ordered(how, a, b, rows);
        }
        let (x, y) = (a.wide(), b.wide());
        return ordered(how, a.side(&x), b.side(&y), rows);
    }
    let (x, y) = (a.wide(), b.wide());
    zip(a.side(&x), b.side(&y), rows, |a, b| holds(how, order_of_decimals(a, b, scales)))
}

/// Returns the order of two decimals of different scales.
fn order_of_decimals(a: i128, b: i128, scales: [u8; 2]) -> Ordering {
    if scales[0] > scales[1] {
        return order_of_decimals(b, a, [scales[1], scales[0]]).reverse();
    }
    // The left side has the smaller scale. What does not fit 128 bits is larger than all that does.
    let factor = 10i128.checked_pow((scales[1] - scales[0]).into());
    match factor.and_then(|factor| a.checked_mul(factor)) {
        Some(a) => a.cmp(&b),
        None if a == 0 => 0.cmp(&b),
        None => a.cmp(&0),
    }
}
