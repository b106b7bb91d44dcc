//! A row group as blocks: the columns that have bounds first, then the rows that are left in the others.

use std::collections::HashMap;
use std::iter::Peekable;
use std::ops::Range;

use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::basic::Encoding;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use yunti_api::{Result, SourceFile};

use super::column::Column;
use super::form::Form;
use super::index;
use crate::block::put_head;
use crate::bounds::{Bound, Test};
use crate::parquet::schema::given_schema;
use crate::scan::Picked;

/// Bytes of a block, about.
const BLOCK_BYTES: usize = 1 << 20;
/// Rows of a block without a column.
const ROWS_WITHOUT_COLUMN: usize = 1 << 16;
/// Bytes of all windows, about, and of each.
const WINDOWS_BYTES: u64 = 4 << 20;
const WINDOW_BYTES: std::ops::RangeInclusive<u64> = 64 << 10..=1 << 20;
/// Bytes of a column chunk of texts, at most, so that 32 bits count those of a block.
const TEXTS_BYTES_MAX: i64 = 2 << 30;

/// A row group that is being read.
pub struct Unit {
    columns: Vec<Column>,
    /// Numbers of the columns with bounds, the cheapest first.
    tested: Vec<usize>,
    /// Rows that are not read yet.
    left: Range<usize>,
    /// Rows that no bound allows.
    excluded: Peekable<std::vec::IntoIter<Range<usize>>>,
    batch_rows: usize,
    /// Rows that may count, of the batch.
    kept: Vec<u32>,
    block: Vec<u8>,
}

/// Returns the bytes of a window if `columns` have one each.
pub fn window_bytes(columns: usize) -> u64 {
    (WINDOWS_BYTES / columns.max(1) as u64).clamp(*WINDOW_BYTES.start(), *WINDOW_BYTES.end())
}

impl Unit {
    /// Opens a row group; None if one of the columns has values that this decoder does not know.
    pub fn open(
        file: &SourceFile,
        foot: &ArrowReaderMetadata,
        group: &RowGroupMetaData,
        (picked, all): (&Picked, &[Bound]),
        batch_rows: usize,
    ) -> Result<Option<Unit>> {
        let schema = given_schema(foot);
        // Of columns with one name, the first counts.
        let chunks: HashMap<&[String], &ColumnChunkMetaData> =
            group.columns().iter().rev().map(|chunk| (chunk.column_path().parts(), chunk)).collect();
        let fields: HashMap<&str, &DataType> =
            schema.fields().iter().rev().map(|field| (&field.name()[..], field.data_type())).collect();
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        let (mut chosen, mut excluded) = (Vec::new(), Vec::new());
        for path in &picked.value {
            let [name] = &path[..] else { return Ok(None) };
            let (Some(&chunk), Some(&kind)) = (chunks.get(&path[..]), fields.get(&name[..])) else { return Ok(None) };
            let form = Form::of(kind, chunk.column_descr()).filter(|form| is_known(chunk, *form));
            let Some(form) = form else { return Ok(None) };
            let own: Vec<&Bound> = all.iter().filter(|bound| bound.column == *name).collect();
            excluded.extend(index::excluded(file, chunk, kind, &own, rows));
            let tests: Vec<Test> = own.iter().map(|bound| bound.test()).collect();
            chosen.push((chunk, form, tests));
        }
        let window = window_bytes(chosen.len());
        let columns = chosen.into_iter();
        let columns = columns.map(|(chunk, form, tests)| {
            let cost = tests.first().map(|_| chunk.dictionary_page_offset().is_none());
            Ok((cost, Column::open(file, chunk, rows, (form, tests), window)?))
        });
        let (costs, columns): (Vec<_>, Vec<_>) = columns.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let mut tested: Vec<usize> = (0..columns.len()).filter(|&n| costs[n].is_some()).collect();
        tested.sort_by_key(|&n| costs[n]);
        let excluded = index::union(excluded).into_iter().peekable();
        let batch_rows = if columns.is_empty() { ROWS_WITHOUT_COLUMN } else { batch_rows };
        Ok(Some(Unit { columns, tested, left: 0..rows, excluded, batch_rows, kept: Vec::new(), block: Vec::new() }))
    }

    /// Decodes the next block; None at the end.
    pub fn next_block(&mut self) -> Result<Option<&[u8]>> {
        let mut filled = 0;
        while !self.left.is_empty() && filled < self.batch_rows.div_ceil(2) {
            filled += self.next_batch()?;
            if self.columns.iter().map(Column::bytes).sum::<usize>() >= BLOCK_BYTES {
                break;
            }
        }
        if filled == 0 {
            return Ok(None);
        }
        self.block.clear();
        put_head(filled, self.columns.len(), &mut self.block);
        self.columns.iter_mut().try_for_each(|column| column.put(&mut self.block))?;
        Ok(Some(&self.block))
    }

    /// Reads some rows. Returns how many of them may count.
    fn next_batch(&mut self) -> Result<usize> {
        let Unit { columns, tested, left, excluded, kept, .. } = self;
        if let Some(range) = excluded.next_if(|range| range.start == left.start) {
            columns.iter_mut().for_each(|column| column.skip(range.len()));
            left.start = range.end;
            return Ok(0);
        }
        // Rows up to the next that are excluded.
        let mut rows = self.batch_rows.min(excluded.peek().map_or(left.end, |range| range.start) - left.start);
        for &number in &*tested {
            rows = rows.min(columns[number].page_rows()?);
            if columns[number].has_none() {
                left.start = left.end;
                return Ok(0);
            }
        }
        left.start += rows;
        if tested.is_empty() {
            columns.iter_mut().try_for_each(|column| column.read(rows, None))?;
            return Ok(rows);
        }
        kept.clear();
        kept.extend(0..rows as u32);
        for &number in &*tested {
            match kept.is_empty() {
                true => columns[number].skip(rows),
                false => columns[number].test(rows, kept)?,
            }
        }
        if kept.is_empty() {
            columns.iter_mut().filter(|column| column.tests.is_empty()).for_each(|column| column.skip(rows));
            return Ok(0);
        }
        let chosen = (kept.len() < rows).then_some(&kept[..]);
        for column in columns {
            match column.tests.is_empty() {
                true => column.read(rows, chosen)?,
                false => column.push(chosen.map(|kept| (kept, 0)))?,
            }
        }
        Ok(kept.len())
    }
}

/// Returns true if a column chunk has encodings that are known, and sizes that a block can have.
fn is_known(chunk: &ColumnChunkMetaData, form: Form) -> bool {
    let is_text = form.stored_bytes().is_none();
    chunk.encodings().all(|encoding| {
        matches!(
            encoding,
            Encoding::PLAIN
                | Encoding::PLAIN_DICTIONARY
                | Encoding::RLE_DICTIONARY
                | Encoding::RLE
                | Encoding::DELTA_BINARY_PACKED
                | Encoding::DELTA_LENGTH_BYTE_ARRAY
                | Encoding::DELTA_BYTE_ARRAY
                | Encoding::BYTE_STREAM_SPLIT
        ) || format!("{encoding}") == "BIT_PACKED"
    }) && (!is_text || chunk.uncompressed_size() < TEXTS_BYTES_MAX)
}
