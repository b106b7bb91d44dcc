//! Columns of a batch as the inputs of a program: their shapes, and their values where they stand.

use std::sync::Arc;

use yunti_engine::columns::expression::{Side, bits};
use yunti_engine::columns::vector::{Data, Dictionary, Vector};
use yunti_sql_plan::Batch;

use super::interval::Interval;
use super::lower::class_of;
use crate::code::{Column, Element, Input, Values};

/// Knowledge of one worker about the dictionaries of its columns.
#[derive(Default)]
pub struct Shapes {
    /// For each column, the dictionary that came last, which stays so that no other takes its place in memory, and the
    /// bits of its numbers.
    known: Vec<Option<(Dictionary, u32)>>,
}

impl Shapes {
    /// Returns the shapes of the columns of a batch; None for columns that no program takes, such as texts without
    /// codes, and for columns that are not wanted.
    pub fn of(&mut self, batch: &Batch, wanted: &[bool]) -> Vec<Option<Input>> {
        self.known.resize_with(batch.columns.len(), || None);
        let columns = batch.columns.iter().zip(&mut self.known).enumerate();
        columns.map(|(n, (column, known))| wanted.get(n).filter(|is| **is).and_then(|_| shape(column, known))).collect()
    }
}

fn shape(vector: &Vector, known: &mut Option<(Dictionary, u32)>) -> Option<Input> {
    let has_nulls = vector.nulls.is_some();
    let Some((_, dictionary)) = vector.data.codes() else {
        let element = element(&vector.data)?;
        return Some(Input { element, is_coded: false, has_nulls, bits: class_of(bits_of(&vector.data)) });
    };
    // The code of a null may be any, and there is none in an empty dictionary.
    if dictionary.is_empty() {
        return None;
    }
    let element = match &dictionary {
        Dictionary::Texts(_) => Element::Text,
        Dictionary::Numbers(values) => element(values)?,
    };
    if !known.as_ref().is_some_and(|(known, _)| known.is(&dictionary)) {
        let bits = match &dictionary {
            Dictionary::Texts(_) => 0,
            Dictionary::Numbers(values) => bits_of(values),
        };
        *known = Some((dictionary, class_of(bits)));
    }
    let bits = known.as_ref().map_or(127, |(_, bits)| *bits);
    Some(Input { element, is_coded: true, has_nulls, bits })
}

fn element(data: &Data) -> Option<Element> {
    Some(match data {
        Data::Bools(_) => Element::Bool,
        Data::Ints(_) | Data::SmallDecimals(_) => Element::I64,
        Data::Floats(_) => Element::F64,
        Data::Decimals(_) => Element::I128,
        Data::Bytes(_) | Data::Codes(..) | Data::NumberCodes(..) => return None,
    })
}

/// Returns the bits of the largest number, without its sign; 0 for what is no number.
fn bits_of(data: &Data) -> u32 {
    match data {
        Data::Ints(values) | Data::SmallDecimals(values) => bits(Side::Many(values)),
        Data::Decimals(values) => {
            let (low, high) = values.iter().fold((0, 0), |(low, high), &v| (v.min(low), v.max(high)));
            Interval { low, high }.bits()
        }
        _ => 0,
    }
}

/// Returns true if code for the first shape can run on columns of the second.
pub fn covers(code: Input, column: Input) -> bool {
    (code.element, code.is_coded) == (column.element, column.is_coded)
        && code.bits >= column.bits
        && (code.has_nulls || !column.has_nulls)
}

/// Returns a column of a batch as the input of a program. `no_nulls` has false for each row.
pub fn column<'a>(vector: &'a Vector, shape: Input, no_nulls: &'a [bool]) -> Option<Column<'a>> {
    let (data, codes): (&Data, Option<&[u32]>) = match &vector.data {
        Data::NumberCodes(codes, values) => (values, Some(codes)),
        Data::Codes(codes, values) => {
            let column = Column { values: Values::Texts(values.len()), codes: Some(codes), nulls: None };
            return with_nulls(column, vector, shape, no_nulls);
        }
        data => (data, None),
    };
    let values = match data {
        Data::Bools(values) => Values::Bools(values),
        Data::Ints(values) | Data::SmallDecimals(values) => Values::Ints(values),
        Data::Floats(values) => Values::Floats(values),
        Data::Decimals(values) => Values::Wide(values),
        Data::Bytes(_) | Data::Codes(..) | Data::NumberCodes(..) => return None,
    };
    with_nulls(Column { values, codes, nulls: None }, vector, shape, no_nulls)
}

fn with_nulls<'a>(column: Column<'a>, of: &'a Vector, shape: Input, no_nulls: &'a [bool]) -> Option<Column<'a>> {
    let nulls = match (shape.has_nulls, &of.nulls) {
        (true, Some(nulls)) => Some(&nulls[..]),
        (true, None) => Some(no_nulls.get(..of.len())?),
        (false, None) => None,
        (false, Some(_)) => return None,
    };
    Some(Column { nulls, ..column })
}

/// Returns a batch with further columns.
pub fn with_columns(batch: &Batch, more: Vec<Arc<Vector>>) -> Batch {
    let columns = batch.columns.iter().cloned().chain(more).collect();
    Batch { columns, rows: batch.rows }
}
