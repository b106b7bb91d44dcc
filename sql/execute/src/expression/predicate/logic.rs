//! Logic of three values: true, false and null.

use yunti_base::Result;
use yunti_engine::columns::expression::Side;
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::{Data, Vector};

use crate::expression::operand::{Operand, bools, nothing, shapes_differ, some_nulls};

/// `and` of parts so far, or with `or` its opposite. A null has the value false.
pub struct Logic {
    or: bool,
    values: Vec<bool>,
    nulls: Option<Vec<bool>>,
}

impl Logic {
    /// Returns what no part has decided yet.
    pub fn new(or: bool, rows: usize) -> Logic {
        Logic { or, values: vec![!or; rows], nulls: None }
    }

    /// Returns the number of rows that a further part can change: true or null for `and`.
    pub fn open(&self) -> usize {
        match (&self.nulls, self.or) {
            (None, false) => self.values.iter().filter(|value| **value).count(),
            (None, true) => self.values.iter().filter(|value| !**value).count(),
            // A null has the value false.
            (Some(nulls), false) => self.values.iter().zip(nulls).filter(|(value, null)| **value | **null).count(),
            (Some(_), true) => self.values.iter().filter(|value| !**value).count(),
        }
    }

    /// Returns the rows that a further part can change.
    pub fn open_rows(&self) -> Vec<u32> {
        let mut rows = vec![0; self.values.len()];
        let mut n = 0;
        for (row, &value) in self.values.iter().enumerate() {
            rows[n] = row as u32;
            let open = match (self.or, &self.nulls) {
                (true, _) => !value,
                (false, None) => value,
                (false, Some(nulls)) => value | nulls[row],
            };
            n += usize::from(open);
        }
        rows.truncate(n);
        rows
    }

    /// Adds a part, which has a value for all rows.
    pub fn add(&mut self, part: &Operand) -> Result<()> {
        let rows = self.values.len();
        if part.is_null() {
            let nulls = self.nulls.get_or_insert_with(|| vec![false; rows]);
            let or = self.or;
            self.values
                .iter_mut()
                .zip(nulls)
                .for_each(|(value, null)| (*value, *null) = both(or, (*value, *null), (false, true)));
            return Ok(());
        }
        let one;
        let values = match bools(part).ok_or_else(shapes_differ)? {
            Side::Many(values) => values,
            Side::One(value) => {
                one = vec![value; rows];
                &one
            }
        };
        match (&mut self.nulls, part.nulls()) {
            (None, None) if self.or => self.values.iter_mut().zip(values).for_each(|(a, b)| *a |= b),
            (None, None) => self.values.iter_mut().zip(values).for_each(|(a, b)| *a &= b),
            (nulls, more) => {
                let nulls = nulls.get_or_insert_with(|| vec![false; rows]);
                let or = self.or;
                for row in 0..rows {
                    let part = (values[row], more.is_some_and(|more| more[row]));
                    (self.values[row], nulls[row]) = both(or, (self.values[row], nulls[row]), part);
                }
            }
        }
        Ok(())
    }

    /// Adds a part, which has a value for each of some rows.
    pub fn add_at(&mut self, part: &Operand, at: &[u32]) -> Result<()> {
        let rows = self.values.len();
        let side = if part.is_null() { Side::One(false) } else { bools(part).ok_or_else(shapes_differ)? };
        let null = |number: usize| part.is_null() || part.nulls().is_some_and(|nulls| nulls[number]);
        if part.is_null() || part.nulls().is_some() {
            self.nulls.get_or_insert_with(|| vec![false; rows]);
        }
        for (number, &row) in at.iter().enumerate() {
            let row = row as usize;
            let value = match side {
                Side::Many(values) => values[number],
                Side::One(value) => value,
            };
            let before = (self.values[row], self.nulls.as_ref().is_some_and(|nulls| nulls[row]));
            let (value, is_null) = both(self.or, before, (value, null(number)));
            self.values[row] = value;
            if let Some(nulls) = &mut self.nulls {
                nulls[row] = is_null;
            }
        }
        Ok(())
    }

    /// Returns the values.
    pub fn finish(self) -> Vector {
        Vector { data: Data::Bools(self.values), nulls: some_nulls(self.nulls) }
    }
}

/// Returns `and` of two values with their nulls, or with `or` its opposite.
#[inline]
fn both(or: bool, a: (bool, bool), b: (bool, bool)) -> (bool, bool) {
    if or {
        let value = (a.0 & !a.1) | (b.0 & !b.1);
        (value, !value & (a.1 | b.1))
    } else {
        let is_false = (!a.0 & !a.1) | (!b.0 & !b.1);
        let null = !is_false & (a.1 | b.1);
        (!is_false & !null, null)
    }
}

/// Computes `not`.
pub fn not(operand: &Operand, rows: usize) -> Result<Vector> {
    if operand.is_null() {
        return Ok(nothing(Kind::Boolean, rows));
    }
    let values = match bools(operand).ok_or_else(shapes_differ)? {
        Side::Many(values) => values.iter().map(|value| !value).collect(),
        Side::One(value) => vec![!value; rows],
    };
    Ok(Vector { data: Data::Bools(values), nulls: operand.nulls().cloned() })
}

/// Returns true for each null.
pub fn is_null(operand: &Operand, rows: usize) -> Vector {
    let nulls = match operand.nulls() {
        Some(nulls) => nulls.clone(),
        None => vec![operand.is_null(); rows],
    };
    Vector::of(Data::Bools(nulls))
}
