//! Places where a sorted column has another value than in the row before: there partitions and peers begin.

use yunti_engine::columns::normal::ordered_float;
use yunti_engine::columns::vector::{Cell, Data, Value, Vector};

/// Sets the mark of each row whose value differs from the row before. The first row's stays.
pub fn mark(column: &Vector, marks: &mut [bool]) {
    let column = column.decoded();
    let nulls = column.nulls.as_deref();
    match &column.data {
        Data::Bools(v) => mark_by(nulls, marks, |row| v[row - 1] != v[row]),
        Data::Ints(v) | Data::SmallDecimals(v) => mark_by(nulls, marks, |row| v[row - 1] != v[row]),
        Data::Floats(v) => mark_by(nulls, marks, |row| ordered_float(v[row - 1]) != ordered_float(v[row])),
        Data::Decimals(v) => mark_by(nulls, marks, |row| v[row - 1] != v[row]),
        Data::Bytes(v) => mark_by(nulls, marks, |row| v.get(row - 1) != v.get(row)),
        // A dictionary may have a text twice.
        Data::Codes(codes, v) => mark_by(nulls, marks, |row| {
            let (before, code) = (codes[row - 1], codes[row]);
            before != code && v.get(before as usize) != v.get(code as usize)
        }),
        Data::NumberCodes(..) => {}
    }
}

#[inline(always)]
fn mark_by(nulls: Option<&[bool]>, marks: &mut [bool], differ: impl Fn(usize) -> bool) {
    match nulls {
        None => marks.iter_mut().enumerate().skip(1).for_each(|(row, mark)| *mark |= differ(row)),
        Some(nulls) => marks.iter_mut().enumerate().skip(1).for_each(|(row, mark)| {
            let (before, null) = (nulls[row - 1], nulls[row]);
            *mark |= before != null || !null && differ(row);
        }),
    }
}

/// Returns true if two values of one column are the same, a null like a null.
pub fn are_same((a, x): (&Vector, usize), (b, y): (&Vector, usize)) -> bool {
    match (a.cell(x), b.cell(y)) {
        (Cell::Null, Cell::Null) => true,
        (Cell::Bytes(a), Cell::Bytes(b)) => a == b,
        (Cell::Other(Value::Float(a)), Cell::Other(Value::Float(b))) => ordered_float(a) == ordered_float(b),
        (Cell::Other(a), Cell::Other(b)) => a == b,
        _ => false,
    }
}
