//! Sizes of batches, for the budget.

use std::collections::HashSet;
use std::sync::Arc;

use yunti_engine::columns::vector::{Data, Vector};
use yunti_sql_plan::Batch;

/// Returns the bytes of values of a fixed size, or of codes.
pub fn fixed_bytes(data: &Data) -> u64 {
    let value = match data {
        Data::Bools(_) => 1,
        Data::Ints(_) | Data::SmallDecimals(_) | Data::Floats(_) => 8,
        Data::Decimals(_) => 16,
        Data::Codes(..) | Data::NumberCodes(..) => 4,
        Data::Bytes(values) => return values.used_bytes() as u64,
    };
    value * data.len() as u64
}

/// Returns the bytes of a vector as a batch has it, without its dictionary.
pub fn vector_bytes(vector: &Vector) -> u64 {
    fixed_bytes(&vector.data) + vector.nulls.as_ref().map_or(0, Vec::len) as u64
}

/// Returns the bytes of a batch without dictionaries.
pub fn batch_bytes(batch: &Batch) -> u64 {
    batch.columns.iter().map(|column| vector_bytes(column)).sum()
}

/// Dictionaries that are kept already: their bytes count once.
#[derive(Default)]
pub struct Dictionaries(HashSet<usize>);

impl Dictionaries {
    /// Returns the bytes of the dictionaries of a batch that were not kept before, and keeps them.
    pub fn add(&mut self, batch: &Batch) -> u64 {
        let mut bytes = 0;
        for column in &batch.columns {
            let (place, size) = match &column.data {
                Data::Codes(_, values) => (Arc::as_ptr(values) as usize, values.used_bytes() as u64),
                Data::NumberCodes(_, values) => (Arc::as_ptr(values) as usize, fixed_bytes(values)),
                _ => continue,
            };
            if self.0.insert(place) {
                bytes += size;
            }
        }
        bytes
    }
}

/// Returns the bytes that a batch takes as rows of `Rows`, and while `Rows` is made: the batch, its values as whole
/// columns where those are wider, and its widest column once more.
pub fn granted_bytes(batch: &Batch) -> u64 {
    let kept = |vector: &Vector| {
        let nulls = vector.nulls.as_ref().map_or(0, Vec::len) as u64;
        let rows = vector.len() as u64;
        nulls
            + match &vector.data {
                Data::Codes(..) => 8 * rows,
                Data::NumberCodes(_, values) => rows * fixed_bytes(values) / (values.len().max(1) as u64),
                Data::Bytes(values) => values.used_bytes() as u64 + 8 * rows,
                data => fixed_bytes(data),
            }
    };
    let all = || batch.columns.iter().map(|column| kept(column));
    all().sum::<u64>() + all().max().unwrap_or(0)
}
