//! Decoders of columns: values of the next rows of a stripe as arrays of Arrow.
//!
//! ```text
//!   PRESENT bits  ->  rows that have a value      rows below a null have no bit and no value
//!   DATA ..       ->  values one after another    ->  spread over the rows
//! ```
//!
//! Texts are arrays of bytes at the top, where nothing needs them to be UTF-8, and arrays of text below. Memory is
//! taken from the budget before it is allocated, by what the lengths and counts say.

#[cfg(test)]
mod damage_test;
mod ints;
mod memory;
mod nested;
mod reader;
mod runs;
mod times;
mod values;
mod zone;

pub use memory::Memory;
pub use reader::StripeReader;
pub use times::decimal_text;

use arrow_array::{Array, ArrayRef};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer};
use yunti_api::Result;

use super::columns::Want;
use super::failure::{damaged, unsupported};
use super::schema::{Kind, Type};
use super::stripe::{StreamKind, Stripe};
use ints::Ints;
use runs::{Bits, ByteRuns};
use values::Values;

/// Decoder of a column.
pub struct Column {
    present: Option<Bits>,
    values: Values,
}

impl Column {
    /// Returns the decoder of what `want` names of a column. `is_top`: its texts are bytes.
    pub fn open(of: &Type, want: &Want, is_top: bool, stripe: &mut Stripe, memory: &mut Memory) -> Result<Column> {
        let present = stripe.has(of.number, StreamKind::Present);
        let present = present.then(|| Bits::new(stripe.stream(of.number, StreamKind::Present)));
        Ok(Column { present, values: Values::open(of, want, is_top, stripe, memory)? })
    }

    /// Decodes the next `n` rows. `above`: rows in which the column exists; the others are null and have no value.
    pub fn read(&mut self, n: usize, above: Option<&NullBuffer>, memory: &mut Memory) -> Result<ArrayRef> {
        memory.take(n as u64 / 4)?;
        let rows = match &mut self.present {
            None => above.cloned(),
            Some(present) => {
                let mut bits = Vec::with_capacity(n);
                for row in 0..n {
                    bits.push(above.is_none_or(|above| above.is_valid(row)) && present.next()?);
                }
                Some(NullBuffer::new(BooleanBuffer::from(bits)))
            }
        };
        let rows = rows.filter(|rows| rows.null_count() > 0);
        let array = self.values.read(n, rows, memory)?;
        if array.len() != n {
            return Err(damaged("a column has another number of rows"));
        }
        Ok(array)
    }
}

/// Returns the decoder of a column's integers, whose version its encoding says.
fn ints(of: &Type, kind: StreamKind, is_signed: bool, stripe: &mut Stripe) -> Result<Ints> {
    let is_version_2 = stripe.encoding(of.number)?.is_version_2;
    Ok(Ints::new(stripe.stream(of.number, kind), is_signed, is_version_2))
}

/// Spreads values over the rows that have one.
fn spread<T: Copy + Default>(values: Vec<T>, n: usize, rows: Option<&NullBuffer>) -> Vec<T> {
    let Some(rows) = rows else { return values };
    let mut values = values.into_iter();
    (0..n).map(|row| if rows.is_valid(row) { values.next().unwrap_or_default() } else { T::default() }).collect()
}

/// Returns the offsets of rows, from the lengths of the rows that have a value. Their sum fits 32 bits.
fn offsets(lengths: Vec<i64>, n: usize, rows: Option<&NullBuffer>) -> OffsetBuffer<i32> {
    let mut offsets = Vec::with_capacity(n + 1);
    let mut at = 0i32;
    offsets.push(0);
    for length in spread(lengths, n, rows) {
        at += length as i32;
        offsets.push(at);
    }
    OffsetBuffer::new(offsets.into())
}

/// Returns the number of rows that have a value.
fn count(n: usize, rows: Option<&NullBuffer>) -> usize {
    rows.map_or(n, |rows| n - rows.null_count())
}

#[cfg(test)]
pub mod tests {
    use super::ints::Ints;
    use crate::orc::store::{Codec, Stream, Unpacker};

    /// Returns the integers of version 2 in plain bytes, if these have `n` of them and no more.
    pub fn ints_of(bytes: &[u8], is_signed: bool, n: usize) -> Option<Vec<i64>> {
        let mut ints = Ints::new(stream(bytes), is_signed, true);
        ints.take(n).ok().filter(|_| ints.take(1).is_err())
    }

    /// Returns a stream of plain bytes, without a file.
    pub fn stream(bytes: &[u8]) -> Stream {
        Stream::of_bytes(bytes, &Unpacker::new(Codec::None, 1 << 18))
    }
}
