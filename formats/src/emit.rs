//! Records of a decoded batch: keys and values from its columns, or a block of them, as the scan of a job wants.
//!
//! A column of codes has each of its values once. A job that needs the set of keys alone gets each code once a unit.

use arrow_array::{Array, ArrayRef, RecordBatch};
use yunti_api::{Bytes, Error, Out, Result, Scan};

use crate::block::BlockWriter;
use crate::cells::Cells;
use crate::cells::record::put_escaped;
use crate::failure;
use crate::scan::{Picked, column};

/// Bytes of records that a call emits, about.
pub const EMIT_BYTES: usize = 256 << 10;

/// Records of a unit.
pub struct Emission {
    picked: Picked,
    marks_nulls: bool,
    seen: Option<SeenCodes>,
    /// For a scan of blocks.
    blocks: Option<BlockWriter>,
    batch: Option<OpenBatch>,
}

/// Codes that were emitted, of the values to which they belong; the last place is the null's.
#[derive(Default)]
struct SeenCodes {
    values: Option<ArrayRef>,
    codes: Vec<bool>,
}

impl SeenCodes {
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
enum OpenBatch {
    Records { key: Vec<Cells>, value: Vec<Cells>, row: usize, rows: usize },
    Block,
}

impl Emission {
    /// Begins a unit.
    pub fn of(scan: &Scan, picked: Picked) -> Emission {
        // A job that needs the set of keys alone gets each code of a column once.
        let seen = (scan.no_value && picked.key.len() == 1).then(SeenCodes::default);
        let blocks = scan.blocks.then(BlockWriter::default);
        Emission { picked, marks_nulls: scan.marks_nulls, seen, blocks, batch: None }
    }

    /// Begins a batch. Fails if it lacks a column, or a value has no text.
    fn begin(&mut self, batch: &RecordBatch) -> Result<()> {
        let picked = &self.picked;
        let cells = |paths: &[Vec<String>]| paths.iter().map(|path| cells(batch, path)).collect::<Result<Vec<_>>>();
        self.batch = Some(match &mut self.blocks {
            Some(blocks) => {
                blocks.write(batch, picked)?;
                OpenBatch::Block
            }
            None => OpenBatch::Records {
                key: cells(&picked.key)?,
                value: cells(&picked.value)?,
                row: 0,
                rows: batch.num_rows(),
            },
        });
        Ok(())
    }

    /// Emits records of the batch, about a quarter of a megabyte, or its block.
    fn emit(&mut self, out: &mut Out<'_, Bytes, Bytes>) -> Result<()> {
        let (key_columns, value_columns, row, rows) = match &mut self.batch {
            Some(OpenBatch::Records { key, value, row, rows }) => (&*key, &*value, row, *rows),
            Some(OpenBatch::Block) => {
                out.emit(b"", self.blocks.as_ref().map_or(b"", BlockWriter::block))?;
                self.batch = None;
                return Ok(());
            }
            None => return Ok(()),
        };
        let (mut key, mut value) = (Vec::new(), Vec::new());
        let mut emitted = 0;
        let codes = match (&mut self.seen, &key_columns[..]) {
            (Some(seen), [only]) => only.codes().map(|(codes, values)| (codes, values, seen)),
            _ => None,
        };
        if let Some((codes, values, seen)) = codes {
            let null = values.len();
            seen.of(values);
            for (row, &code) in codes.iter().enumerate() {
                let code = if key_columns[0].is_null(row) { null } else { code as usize };
                if !std::mem::replace(&mut seen.codes[code], true) {
                    out.emit(put(key_columns, row, self.marks_nulls, &mut key), b"")?;
                }
            }
            self.batch = None;
            return Ok(());
        }
        while *row < rows && emitted < EMIT_BYTES {
            let key = put(key_columns, *row, self.marks_nulls, &mut key);
            let value = put(value_columns, *row, self.marks_nulls, &mut value);
            out.emit(key, value)?;
            emitted += key.len() + value.len() + 8;
            *row += 1;
        }
        if *row == rows {
            self.batch = None;
        }
        Ok(())
    }
}

/// Emits records of an open unit; decodes its next batch if none is open. Returns false at the end, and closes the
/// unit.
///
/// `failed`: the error for a panic of the decoder.
pub fn next<U>(
    unit: &mut Option<U>,
    emission: fn(&mut U) -> &mut Emission,
    failed: fn(&str) -> Error,
    decode: impl FnOnce(&mut U) -> Result<Option<RecordBatch>>,
    out: &mut Out<'_, Bytes, Bytes>,
) -> Result<bool> {
    let Some(open) = unit else { return Ok(false) };
    if emission(open).batch.is_none() {
        let more = failure::guarded(failed, || {
            let Some(batch) = decode(open)? else { return Ok(false) };
            emission(open).begin(&batch)?;
            Ok(true)
        })?;
        if !more {
            *unit = None;
            return Ok(false);
        }
    }
    emission(open).emit(out)?;
    Ok(true)
}

/// Returns the values of the column at a path.
fn cells(batch: &RecordBatch, path: &[String]) -> Result<Cells> {
    let (array, above) = column(batch, path)?;
    Cells::of(&array, above.as_ref()).map_err(|e| failure::of_value(&e))
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
