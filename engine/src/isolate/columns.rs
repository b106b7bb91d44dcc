//! Emitted records as columns: the form of languages that work on arrays.
//!
//! ```text
//!   n u64 | key form u32 | value form u32 | keys | values          each column: offsets, lengths, data
//!   form 0: slices of the column's own data    1: slices of the batch    2: numbers of eight bytes, in the data
//! ```
//!
//! Offsets and lengths are numbers of four bytes. Every array has its length in bytes (u64) before it.

use super::wire::Take;
use super::worker::unexpected;
use crate::operator::Out;
use crate::operator::cursor::Form;
use crate::operator::replay::Replay;
use yunti_base::Result;

enum Column<'c> {
    Slices { offsets: &'c [u8], lengths: &'c [u8], data: &'c [u8] },
    Eights(&'c [u8]),
}

impl<'c> Column<'c> {
    /// Reads a column of `n` items. Errors: `UserCode` if its arrays do not have as many.
    fn take(take: &mut Take<'c>, form: u32, n: usize, batch: &'c [u8]) -> Result<Column<'c>> {
        let (offsets, lengths, data) = (take.bytes()?, take.bytes()?, take.bytes()?);
        let has_slices = Some(offsets.len()) == n.checked_mul(4) && offsets.len() == lengths.len();
        match form {
            0 if has_slices => Ok(Column::Slices { offsets, lengths, data }),
            1 if has_slices => Ok(Column::Slices { offsets, lengths, data: batch }),
            2 if Some(data.len()) == n.checked_mul(8) => Ok(Column::Eights(data)),
            _ => Err(unexpected()),
        }
    }

    /// Returns offset and length of item `i`, for slices.
    fn slice(&self, i: usize) -> Option<(u32, u32)> {
        let Column::Slices { offsets, lengths, .. } = self else { return None };
        Some((number(offsets, i)?, number(lengths, i)?))
    }

    fn item(&self, i: usize) -> Option<&'c [u8]> {
        match self {
            Column::Eights(data) => data.get(8 * i..8 * i + 8),
            Column::Slices { data, .. } => {
                let (offset, len) = self.slice(i)?;
                data.get(offset as usize..(offset as usize).checked_add(len as usize)?)
            }
        }
    }
}

fn number(bytes: &[u8], i: usize) -> Option<u32> {
    bytes.get(4 * i..).and_then(|rest| rest.first_chunk()).map(|n| u32::from_le_bytes(*n))
}

/// Emits the records of columns. `batch`: bytes that slices may name; `base`: number to add to offsets of references.
/// Errors: `UserCode` for columns that do not fit.
///
/// `replay` decides which records are passed on. It sees records, not messages, since an attempt may divide a batch.
pub fn emit(payload: &[u8], batch: &[u8], base: u32, mut replay: Option<&mut Replay>, out: &mut Out) -> Result<()> {
    let mut take = Take(payload);
    let n = take.u64()? as usize;
    let (key_form, value_form) = (take.u32()?, take.u32()?);
    let keys = Column::take(&mut take, key_form, n, batch)?;
    let values = Column::take(&mut take, value_form, n, batch)?;
    for i in 0..n {
        let (key, value) = (keys.item(i).ok_or_else(unexpected)?, values.item(i).ok_or_else(unexpected)?);
        if let Some(replay) = &mut replay
            && !replay.is_fresh(key, value)?
        {
            continue;
        }
        match out.form() {
            Form::Copy => out.emit(key, value)?,
            Form::One | Form::Ref if key_form == 1 => {
                let ((offset, len), value) = (keys.slice(i).ok_or_else(unexpected)?, value.first_chunk());
                let value = u64::from_le_bytes(*value.ok_or_else(unexpected)?);
                if out.form() == Form::One && value != 1 {
                    return Err(unexpected());
                }
                out.emit_ref(base + offset, len, value)?;
            }
            _ => return Err(unexpected()),
        }
    }
    Ok(())
}
