//! Values that come from several expressions, each for some of the rows: `case`, `coalesce`.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::expression::Side;
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::{Bytes, Data, Value, Vector};

use super::operand::{Operand, Units, bools, floats, ints, nothing, shapes_differ, some_nulls, units};

/// Values of all rows, put together from parts. Rows that no part has are null.
pub struct Merge {
    kind: Kind,
    rows: usize,
    values: Values,
    nulls: Vec<bool>,
}

enum Values {
    Numbers(Data),
    /// The vector of each row's text and its row there, which are put together at the end.
    Texts {
        vectors: Vec<Arc<Vector>>,
        places: Vec<(u32, u32)>,
    },
}

impl Merge {
    /// Returns nulls for all rows.
    pub fn new(kind: Kind, rows: usize) -> Merge {
        let values = match kind {
            Kind::Text => Values::Texts { vectors: Vec::new(), places: vec![(u32::MAX, 0); rows] },
            Kind::Decimal { .. } => Values::Numbers(Data::SmallDecimals(vec![0; rows])),
            kind => Values::Numbers(Data::zeros(kind, rows)),
        };
        Merge { kind, rows, values, nulls: vec![true; rows] }
    }

    /// Puts values at some rows; `values` has one for each of `at`.
    pub fn put(&mut self, values: Operand, at: &[u32]) -> Result<()> {
        if values.is_null() {
            return Ok(());
        }
        match values.nulls() {
            None => at.iter().for_each(|&row| self.nulls[row as usize] = false),
            Some(nulls) => at.iter().zip(nulls).for_each(|(&row, &null)| self.nulls[row as usize] = null),
        }
        match &mut self.values {
            Values::Texts { vectors, places } => {
                let number = vectors.len() as u32;
                let is_constant = matches!(values, Operand::Constant(_));
                for (place, &row) in at.iter().enumerate() {
                    places[row as usize] = (number, if is_constant { 0 } else { place as u32 });
                }
                vectors.push(values.into_vector(Kind::Text, 1));
                Ok(())
            }
            Values::Numbers(data) => put_numbers(data, &values, at),
        }
    }

    /// Returns all values.
    pub fn finish(self) -> Vector {
        let data = match self.values {
            Values::Numbers(data) => data,
            Values::Texts { vectors, .. } if vectors.is_empty() => return nothing(self.kind, self.rows),
            Values::Texts { vectors, places } => {
                let mut texts = Bytes::with_capacity(self.rows, 0);
                for ((vector, row), null) in places.iter().zip(&self.nulls) {
                    texts.push(if *null { b"" } else { vectors[*vector as usize].bytes(*row as usize) });
                }
                Data::Bytes(texts)
            }
        };
        Vector { data, nulls: some_nulls(Some(self.nulls)) }
    }
}

fn put_numbers(data: &mut Data, values: &Operand, at: &[u32]) -> Result<()> {
    match data {
        Data::Bools(out) => put(out, bools(values).ok_or_else(shapes_differ)?, at),
        Data::Ints(out) => put(out, ints(values).ok_or_else(shapes_differ)?, at),
        Data::Floats(out) => put(out, floats(values).ok_or_else(shapes_differ)?, at),
        Data::SmallDecimals(out) => {
            let units = units(values).ok_or_else(shapes_differ)?;
            match units.small() {
                Some(side) => put(out, side, at),
                None => {
                    let mut out: Vec<i128> = out.iter().map(|&unit| unit.into()).collect();
                    put_wide(&mut out, &units, at);
                    *data = Data::Decimals(out);
                }
            }
        }
        Data::Decimals(out) => put_wide(out, &units(values).ok_or_else(shapes_differ)?, at),
        Data::Bytes(_) | Data::Codes(..) | Data::NumberCodes(..) => return Err(shapes_differ()),
    }
    Ok(())
}

fn put_wide(out: &mut [i128], units: &Units<'_>, at: &[u32]) {
    put(out, units.side(&units.wide()), at);
}

fn put<T: Copy>(out: &mut [T], side: Side<'_, T>, at: &[u32]) {
    match side {
        Side::Many(values) => at.iter().zip(values).for_each(|(&row, &value)| out[row as usize] = value),
        Side::One(value) => at.iter().for_each(|&row| out[row as usize] = value),
    }
}

/// Returns the rows for which a condition is true, and the others, as numbers among `rows`.
pub fn split(condition: &Operand, rows: usize) -> Result<(Vec<u32>, Vec<u32>)> {
    let all = || (0..rows as u32).collect();
    let values = match bools(condition) {
        _ if condition.is_null() => return Ok((Vec::new(), all())),
        None => return Err(shapes_differ()),
        Some(Side::One(true)) => return Ok((all(), Vec::new())),
        Some(Side::One(false)) => return Ok((Vec::new(), all())),
        Some(Side::Many(values)) => values,
    };
    let holds = |row: usize| values[row] & !condition.nulls().is_some_and(|nulls| nulls[row]);
    // Without a branch: each row is written to both, and counts in one.
    let (mut hits, mut rest) = (vec![0; rows], vec![0; rows]);
    let (mut n, mut m) = (0, 0);
    for row in 0..rows {
        hits[n] = row as u32;
        rest[m] = row as u32;
        let holds = holds(row);
        n += usize::from(holds);
        m += usize::from(!holds);
    }
    hits.truncate(n);
    rest.truncate(m);
    Ok((hits, rest))
}

/// Returns the codes of texts by branch.
pub struct Branches {
    codes: Vec<u32>,
    nulls: Vec<bool>,
}

impl Branches {
    /// Returns nulls for all rows.
    pub fn new(rows: usize) -> Branches {
        Branches { codes: vec![0; rows], nulls: vec![true; rows] }
    }

    /// Puts the text of a branch at some rows.
    pub fn put(&mut self, branch: usize, text: &Value, at: &[u32]) {
        if *text == Value::Null {
            return;
        }
        for &row in at {
            self.codes[row as usize] = branch as u32;
            self.nulls[row as usize] = false;
        }
    }

    /// Returns the texts.
    pub fn finish(self, texts: &Arc<Bytes>) -> Vector {
        Vector { data: Data::Codes(self.codes, texts.clone()), nulls: some_nulls(Some(self.nulls)) }
    }
}
