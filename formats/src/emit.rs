//! Records of a decoded batch: keys and values from its columns, as the scan of a job wants them.
//!
//! A column of codes has each of its values once. A job that needs the set of keys alone gets each code once a unit.

use arrow_array::{Array, ArrayRef, RecordBatch, StructArray, cast::AsArray};
use arrow_buffer::NullBuffer;
use yunti_api::{Bytes, Error, Out, Result, Scan};

use crate::cells::Cells;
use crate::cells::record::put_escaped;
use crate::failure;
use crate::scan::Picked;

/// Bytes of records that a call emits, about.
const EMIT_BYTES: usize = 256 << 10;

/// Codes that were emitted, of the values to which they belong; the last place is the null's.
#[derive(Default)]
pub struct SeenCodes {
    values: Option<ArrayRef>,
    codes: Vec<bool>,
}

impl SeenCodes {
    /// Returns the codes of a unit's records, if the job needs the set of keys alone and the key is one column.
    pub fn for_keys_alone(scan: &Scan, picked: &Picked) -> Option<SeenCodes> {
        (scan.no_value && picked.key.len() == 1).then(SeenCodes::default)
    }

    /// Prepares for codes of `values`. Batches of a unit share them as a rule.
    fn of(&mut self, values: ArrayRef) {
        let same = |before: &ArrayRef| before.to_data().ptr_eq(&values.to_data());
        if !self.values.as_ref().is_some_and(same) {
            self.codes = vec![false; values.len() + 1];
            self.values = Some(values);
        }
    }
}

/// A batch that is being emitted.
pub struct OpenBatch {
    key: Vec<Cells>,
    value: Vec<Cells>,
    row: usize,
    rows: usize,
}

impl OpenBatch {
    /// Begins a batch. Fails if it lacks a column, or a value has no text.
    pub fn of(batch: &RecordBatch, picked: &Picked) -> Result<OpenBatch> {
        let cells = |paths: &[Vec<String>]| paths.iter().map(|path| cells(batch, path)).collect::<Result<Vec<_>>>();
        Ok(OpenBatch { key: cells(&picked.key)?, value: cells(&picked.value)?, row: 0, rows: batch.num_rows() })
    }

    /// Emits records. Returns false when all are emitted.
    pub fn emit(
        &mut self,
        marks_nulls: bool,
        seen: &mut Option<SeenCodes>,
        out: &mut Out<'_, Bytes, Bytes>,
    ) -> Result<bool> {
        let (mut key, mut value) = (Vec::new(), Vec::new());
        let mut emitted = 0;
        let codes = match (seen, &self.key[..]) {
            (Some(seen), [only]) => only.codes().map(|(codes, values)| (codes, values, seen)),
            _ => None,
        };
        if let Some((codes, values, seen)) = codes {
            let null = values.len();
            seen.of(values);
            for (row, &code) in codes.iter().enumerate() {
                let code = if self.key[0].is_null(row) { null } else { code as usize };
                if !std::mem::replace(&mut seen.codes[code], true) {
                    out.emit(put(&self.key, row, marks_nulls, &mut key), b"")?;
                }
            }
            return Ok(false);
        }
        while self.row < self.rows && emitted < EMIT_BYTES {
            let key = put(&self.key, self.row, marks_nulls, &mut key);
            let value = put(&self.value, self.row, marks_nulls, &mut value);
            out.emit(key, value)?;
            emitted += key.len() + value.len() + 8;
            self.row += 1;
        }
        Ok(self.row < self.rows)
    }
}

/// Returns the values of the column at a path.
fn cells(batch: &RecordBatch, path: &[String]) -> Result<Cells> {
    let (array, above) = column(batch, path)?;
    Cells::of(&array, above.as_ref()).map_err(|e| failure::of_value(&e))
}

/// Returns the column at a path, and the nulls of the structs that it is in.
pub fn column(batch: &RecordBatch, path: &[String]) -> Result<(ArrayRef, Option<NullBuffer>)> {
    let missing = || Error::damaged("a column of its schema has no values");
    let (first, below) = path.split_first().ok_or_else(missing)?;
    let mut column = batch.column_by_name(first).ok_or_else(missing)?.clone();
    let mut nulls: Option<NullBuffer> = None;
    for name in below {
        let parent: StructArray = column.as_struct().clone();
        nulls = NullBuffer::union(nulls.as_ref(), parent.nulls());
        column = parent.column_by_name(name).ok_or_else(missing)?.clone();
    }
    Ok((column, nulls))
}

/// Returns the columns of a row as one byte string, in `space` unless the only column has bytes of its own.
fn put<'a>(columns: &'a [Cells], row: usize, marks_nulls: bool, space: &'a mut Vec<u8>) -> &'a [u8] {
    let several = columns.len() > 1 || marks_nulls;
    if let ([only], false) = (columns, several) {
        if only.is_null(row) {
            return b"";
        }
        if let Some(bytes) = only.bytes(row) {
            return bytes;
        }
    }
    space.clear();
    for (number, column) in columns.iter().enumerate() {
        if number > 0 {
            space.push(b'\t');
        }
        if column.is_null(row) {
            space.extend_from_slice(if marks_nulls { b"\\N" } else { b"" });
            continue;
        }
        let mut digits = itoa::Buffer::new();
        let text = column.text(row, &mut digits);
        if several { put_escaped(text, space) } else { space.extend_from_slice(text) }
    }
    space
}
