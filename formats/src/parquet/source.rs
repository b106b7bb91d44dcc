//! The source: row groups as units, records from the columns that the job asks for.
//!
//! Each unit is read in batches of about a megabyte, whatever its rows are. A column whose pages all have a dictionary
//! arrives as codes: its values stand in memory once, and are written as text only for the records that are emitted.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, FieldRef, Schema, TimeUnit};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::{Encoding, Type as PhysicalType};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use yunti_api::{Bytes, Class, Context, Counter, Out, Result, Scan, Sink, Source, SourceFile, Unit};

use super::failure::{guarded, of_parquet, of_text};
use super::input::Input;
use super::{columns, describe, metadata, prune};
use crate::block::BlockWriter;
use crate::bounds;
use crate::emit::{OpenBatch, SeenCodes};
use crate::scan::Picked;

/// Bytes of decoded columns in a batch, about.
const BATCH_BYTES: u64 = 1 << 20;
/// Rows of a batch, at most.
const BATCH_ROWS_MAX: u64 = 4096;
/// Bytes of a column's open page and dictionary, at most, as far as the budget is concerned.
const PAGE_BYTES: u64 = 3 << 20;

/// Reader of Parquet files.
pub struct ParquetSource {
    /// Rows of the units that were opened.
    rows: Counter,
    foot: Option<(ArrowReaderMetadata, u64)>,
    unit: Option<OpenUnit>,
}

/// A row group that is being read.
struct OpenUnit {
    picked: Picked,
    marks_nulls: bool,
    reader: ParquetRecordBatchReader,
    /// Rows of the row group that were not decoded yet.
    rows_left: u64,
    batch: Option<OpenBatch>,
    /// For records of a single column without values: the codes that were emitted.
    seen: Option<SeenCodes>,
    /// For a scan of blocks.
    blocks: Option<BlockWriter>,
}

impl Class for ParquetSource {
    fn create(context: &Context) -> Result<Self> {
        Ok(ParquetSource { rows: context.counter("Formats", "ROWS")?, foot: None, unit: None })
    }
}

impl Source for ParquetSource {
    type Key = Bytes;
    type Value = Bytes;
    const GIVES_BLOCKS: bool = true;

    fn plan(&mut self, file: &SourceFile, scan: &Scan) -> Result<Vec<Unit>> {
        let (foot, _) = metadata::load(file, metadata::options())?;
        let picked = Picked::find(scan, foot.schema())?;
        let leaves = columns::leaves(&picked, foot.parquet_schema());
        let bounds = bounds::parse(&scan.condition);
        let is_wanted = |group: &RowGroupMetaData| group.num_rows() > 0 && !prune::excludes(&bounds, &foot, group);
        let groups = foot.metadata().row_groups().iter().enumerate().filter(|(_, group)| is_wanted(group));
        Ok(groups.map(|(number, group)| unit(number, group, &leaves)).collect())
    }

    fn open(&mut self, file: &SourceFile, scan: &Scan, unit: u64) -> Result<()> {
        self.unit = None;
        if self.foot.is_none() {
            self.foot = Some(metadata::load(file, metadata::options())?);
        }
        let Some((foot, foot_bytes)) = &self.foot else { unreachable!("it was just loaded") };
        let number = unit as usize;
        let Some(group) = foot.metadata().row_groups().get(number) else {
            return Err(of_text("it has fewer row groups than before"));
        };
        let picked = Picked::find(scan, foot.schema())?;
        let leaves = columns::leaves(&picked, foot.parquet_schema());
        file.hold(foot_bytes + memory_bytes(group, &leaves))?;
        self.rows.add(group.num_rows() as u64);
        let schema = schema_to_decode(foot.schema(), group, &picked);
        let reader = guarded(|| {
            let options = metadata::options().with_schema(schema);
            let typed = ArrowReaderMetadata::try_new(foot.metadata().clone(), options).map_err(of_parquet)?;
            ParquetRecordBatchReaderBuilder::new_with_metadata(Input(file.clone()), typed)
                .with_projection(columns::mask(&picked, foot.parquet_schema()))
                .with_row_groups(vec![number])
                .with_batch_size(batch_rows(group, &leaves))
                .build()
                .map_err(of_parquet)
        })?;
        let seen = SeenCodes::for_keys_alone(scan, &picked);
        self.unit = Some(OpenUnit {
            picked,
            marks_nulls: scan.marks_nulls,
            reader,
            rows_left: group.num_rows() as u64,
            batch: None,
            seen,
            blocks: scan.blocks.then(BlockWriter::default),
        });
        Ok(())
    }

    fn next(&mut self, out: &mut Out<'_, Bytes, Bytes>) -> Result<bool> {
        let Some(unit) = &mut self.unit else { return Ok(false) };
        if let Some(mut blocks) = unit.blocks.take() {
            let Some(batch) = guarded(|| unit.next_batch())? else {
                self.unit = None;
                return Ok(false);
            };
            out.emit(b"", blocks.block(&batch, &unit.picked)?)?;
            unit.blocks = Some(blocks);
            return Ok(true);
        }
        if unit.batch.is_none() {
            unit.batch = guarded(|| {
                let batch = unit.next_batch()?;
                batch.map(|batch| OpenBatch::of(&batch, &unit.picked)).transpose()
            })?;
        }
        let Some(batch) = &mut unit.batch else {
            self.unit = None;
            return Ok(false);
        };
        if !batch.emit(unit.marks_nulls, &mut unit.seen, out)? {
            unit.batch = None;
        }
        Ok(true)
    }

    fn describe(&mut self, file: &SourceFile, out: &mut Sink<'_>) -> Result<()> {
        let (foot, _) = metadata::load(file, metadata::options())?;
        out.put(describe::document(&foot).as_bytes())?;
        Ok(())
    }
}

fn unit(number: usize, group: &RowGroupMetaData, leaves: &[usize]) -> Unit {
    let columns = || leaves.iter().map(|&leaf| group.column(leaf));
    let start = |column: &ColumnChunkMetaData| column.byte_range().0;
    Unit {
        number: number as u64,
        position: group.columns().iter().map(start).min().unwrap_or(0),
        bytes: columns().map(|column| column.byte_range().1).sum(),
        records: group.num_rows() as u64,
    }
}

/// Returns the memory of reading columns of a row group: pages, dictionaries and batches.
fn memory_bytes(group: &RowGroupMetaData, leaves: &[usize]) -> u64 {
    let pages = leaves.iter().map(|&leaf| (group.column(leaf).uncompressed_size().max(0) as u64).min(PAGE_BYTES));
    pages.sum::<u64>() + 2 * BATCH_BYTES
}

/// Returns the rows of a batch: about `BATCH_BYTES` of decoded columns.
fn batch_rows(group: &RowGroupMetaData, leaves: &[usize]) -> usize {
    let bytes: u64 = leaves.iter().map(|&leaf| group.column(leaf).uncompressed_size().max(0) as u64).sum();
    // Codes and offsets of a column take four bytes a row, however small its pages are.
    let each = (bytes / (group.num_rows().max(1) as u64)).max(4 * leaves.len() as u64).max(1);
    (BATCH_BYTES / each).clamp(1, BATCH_ROWS_MAX) as usize
}

/// Returns the schema as this source decodes it: columns with nothing but dictionary pages are codes, and UTC is an
/// offset, for which no table of time zones is needed.
fn schema_to_decode(schema: &Schema, group: &RowGroupMetaData, picked: &Picked) -> Arc<Schema> {
    let coded = |field: &Field| {
        let is_text = matches!(field.data_type(), DataType::Utf8 | DataType::Binary);
        let path = [field.name().clone()];
        let column = group.columns().iter().find(|column| column.column_path().parts() == path);
        is_text && picked.paths().any(|p| p[..] == path) && column.is_some_and(has_only_codes)
    };
    let old_times: Vec<&[String]> = group
        .columns()
        .iter()
        .filter(|column| column.column_type() == PhysicalType::INT96)
        .map(|column| column.column_path().parts())
        .collect();
    let fields = schema.fields().iter().map(|field| match coded(field) {
        true => {
            let codes = DataType::Dictionary(Box::new(DataType::Int32), Box::new(field.data_type().clone()));
            Arc::new(field.as_ref().clone().with_data_type(codes))
        }
        false => Arc::new(with_times(field, &mut Vec::new(), &old_times)),
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Returns the field with UTC as an offset, and with microseconds for `old_times`, wherever it is nested.
///
/// Nanoseconds since 1970 end in 2262, and dates such as 9999-12-31 are frequent in files with INT96.
fn with_times(field: &Field, path: &mut Vec<String>, old_times: &[&[String]]) -> Field {
    path.push(field.name().clone());
    let is_old = old_times.contains(&&path[..]);
    let mut below = |field: &FieldRef| Arc::new(with_times(field, path, old_times));
    let kind = match field.data_type() {
        DataType::Timestamp(_, None) if is_old => DataType::Timestamp(TimeUnit::Microsecond, None),
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, Some("+00:00".into())),
        DataType::List(item) => DataType::List(below(item)),
        DataType::Map(entries, sorted) => DataType::Map(below(entries), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(below).collect()),
        other => other.clone(),
    };
    path.pop();
    field.clone().with_data_type(kind)
}

/// Returns true if every data page of a column chunk has codes, as far as the metadata say.
fn has_only_codes(column: &ColumnChunkMetaData) -> bool {
    let codes = |encoding: Encoding| matches!(encoding, Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY);
    column.column_type() == PhysicalType::BYTE_ARRAY
        && column.dictionary_page_offset().is_some()
        && column.page_encoding_stats_mask().is_some_and(|mask| mask.encodings().all(codes))
}

impl OpenUnit {
    /// Decodes the next batch; None at the end of the row group.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let miscounted = || of_text("a row group has another number of rows than its metadata say");
        let Some(batch) = self.reader.next() else {
            return if self.rows_left == 0 { Ok(None) } else { Err(miscounted()) };
        };
        let batch = batch.map_err(|e| of_text(&e.to_string()))?;
        self.rows_left = self.rows_left.checked_sub(batch.num_rows() as u64).ok_or_else(miscounted)?;
        Ok(Some(batch))
    }
}
