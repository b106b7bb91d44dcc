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
use crate::operator::cursor::{Form, HEADER_BYTES};
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

/// Bytes of records that are passed on together.
const GATHERED_BYTES: usize = 32 << 10;

/// Emits the records of columns. `batch`: bytes that slices may name; `base`: number to add to offsets of references.
/// Errors: `UserCode` for columns that do not fit.
///
/// `replay` decides which records are passed on. It sees bytes of records, not messages, since an attempt may divide
/// a batch.
pub fn emit(payload: &[u8], batch: &[u8], base: u32, mut replay: Option<&mut Replay>, out: &mut Out) -> Result<()> {
    let mut take = Take(payload);
    let n = take.u64()? as usize;
    let (key_form, value_form) = (take.u32()?, take.u32()?);
    let keys = Column::take(&mut take, key_form, n, batch)?;
    let values = Column::take(&mut take, value_form, n, batch)?;
    let refers = matches!(out.form(), Form::One | Form::Ref);
    if refers && key_form != 1 {
        return Err(unexpected());
    }
    let mut gathered = Vec::with_capacity(GATHERED_BYTES + 64);
    for i in 0..n {
        let (key, value) = (keys.item(i).ok_or_else(unexpected)?, values.item(i).ok_or_else(unexpected)?);
        let bytes = HEADER_BYTES + key.len() + value.len();
        if gathered.len() + bytes > GATHERED_BYTES {
            pass_on(&mut gathered, &mut replay, out)?;
        }
        if refers {
            let (offset, len) = keys.slice(i).ok_or_else(unexpected)?;
            let value = value.first_chunk::<8>().ok_or_else(unexpected)?;
            gathered.extend_from_slice(&(base + offset).to_le_bytes());
            gathered.extend_from_slice(&len.to_le_bytes());
            if out.form() == Form::Ref {
                gathered.extend_from_slice(value);
            } else if u64::from_le_bytes(*value) != 1 {
                return Err(unexpected());
            }
        } else if bytes > GATHERED_BYTES {
            let is_fresh = replay.as_mut().map_or(Ok(true), |replay| replay.is_fresh(key, value))?;
            if is_fresh {
                out.emit(key, value)?;
            }
        } else {
            gathered.extend_from_slice(&(key.len() as u32).to_le_bytes());
            gathered.extend_from_slice(&(value.len() as u32).to_le_bytes());
            gathered.extend_from_slice(key);
            gathered.extend_from_slice(value);
            gathered.resize(gathered.len().next_multiple_of(8), 0);
        }
    }
    pass_on(&mut gathered, &mut replay, out)
}

/// Emits the gathered records that no earlier attempt emitted.
fn pass_on(gathered: &mut Vec<u8>, replay: &mut Option<&mut Replay>, out: &mut Out) -> Result<()> {
    let fresh = match replay {
        Some(replay) => replay.fresh(gathered)?,
        None => &gathered[..],
    };
    if out.form() == Form::Copy {
        out.append_checked(fresh)?;
    } else {
        out.append_checked_entries(fresh)?;
    }
    gathered.clear();
    Ok(())
}
