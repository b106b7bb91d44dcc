//! The source: row groups as units, records from the columns that the job asks for.
//!
//! Each unit is read in batches of about a megabyte, whatever its rows are. A column whose pages all have a dictionary
//! arrives as codes: its values stand in memory once, and are written as text only for the records that are emitted.

use arrow_array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use yunti_api::{Bytes, Class, Context, Counter, Out, Result, Scan, Sink, Source, SourceFile, Unit};

use super::failure::{guarded, of_parquet, of_text};
use super::input::Input;
use super::schema::schema_to_decode;
use super::{bloom, columns, describe, metadata, pages, prune};
use crate::bounds::{self, Bound};
use crate::emit::{self, Emission};
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
    unit: Reading,
    /// Condition of the last unit, with its bounds: a large set of values is parsed once.
    bounds: (String, Vec<Bound>),
}

/// A row group that is being read.
enum Reading {
    /// Flat columns, as blocks.
    Pages(pages::Unit),
    Batches(Option<OpenUnit>),
}

/// A row group that the crate's decoder reads.
struct OpenUnit {
    reader: ParquetRecordBatchReader,
    /// Rows of the row group that were not decoded yet.
    rows_left: u64,
    emission: Emission,
}

impl Class for ParquetSource {
    fn create(context: &Context) -> Result<Self> {
        Ok(ParquetSource {
            rows: context.counter("Formats", "ROWS")?,
            foot: None,
            unit: Reading::Batches(None),
            bounds: Default::default(),
        })
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
        let is_wanted = |group: &RowGroupMetaData| {
            group.num_rows() > 0
                && !prune::excludes(&bounds, &foot, group)
                && !bloom::excludes(file, &bounds, &foot, group)
        };
        let groups = foot.metadata().row_groups().iter().enumerate().filter(|(_, group)| is_wanted(group));
        let units = groups.map(|(number, group)| unit(number, group, &leaves));
        Ok(units.filter(|unit| scan.covers(unit.position)).collect())
    }

    fn open(&mut self, file: &SourceFile, scan: &Scan, unit: u64) -> Result<()> {
        self.unit = Reading::Batches(None);
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
        if self.bounds.0 != scan.condition {
            self.bounds = (scan.condition.clone(), bounds::parse(&scan.condition));
        }
        let bounds = &self.bounds.1;
        // The plan had fewer bounds, if the values of a set came later.
        if prune::excludes(bounds, foot, group) {
            return Ok(());
        }
        file.hold(foot_bytes + memory_bytes(group, &leaves))?;
        self.rows.add(group.num_rows() as u64);
        if scan.blocks {
            let open = || pages::Unit::open(file, foot, group, (&picked, bounds), batch_rows(group, &leaves));
            if let Some(unit) = guarded(open)? {
                self.unit = Reading::Pages(unit);
                return Ok(());
            }
        }
        let schema = schema_to_decode(foot.schema(), group, &picked);
        let reader = guarded(|| {
            let options = metadata::options().with_schema(schema);
            let typed = ArrowReaderMetadata::try_new(foot.metadata().clone(), options).map_err(of_parquet)?;
            ParquetRecordBatchReaderBuilder::new_with_metadata(Input(file.clone()), typed)
                .with_projection(ProjectionMask::leaves(foot.parquet_schema(), leaves.iter().copied()))
                .with_row_groups(vec![number])
                .with_batch_size(batch_rows(group, &leaves))
                .build()
                .map_err(of_parquet)
        })?;
        let emission = Emission::of(scan, picked);
        self.unit = Reading::Batches(Some(OpenUnit { reader, rows_left: group.num_rows() as u64, emission }));
        Ok(())
    }

    fn next(&mut self, out: &mut Out<'_, Bytes, Bytes>) -> Result<bool> {
        match &mut self.unit {
            Reading::Batches(unit) => emit::next(unit, |unit| &mut unit.emission, of_text, OpenUnit::next_batch, out),
            Reading::Pages(unit) => match guarded(|| unit.next_block())? {
                Some(block) => {
                    out.emit(b"", block)?;
                    Ok(true)
                }
                None => {
                    self.unit = Reading::Batches(None);
                    Ok(false)
                }
            },
        }
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
    let window = pages::window_bytes(leaves.len());
    let windows = leaves.iter().map(|&leaf| (group.column(leaf).compressed_size().max(0) as u64).min(window));
    pages.sum::<u64>() + windows.sum::<u64>() + 2 * BATCH_BYTES
}

/// Returns the rows of a batch: about `BATCH_BYTES` of decoded columns.
fn batch_rows(group: &RowGroupMetaData, leaves: &[usize]) -> usize {
    let bytes: u64 = leaves.iter().map(|&leaf| group.column(leaf).uncompressed_size().max(0) as u64).sum();
    // Codes and offsets of a column take four bytes a row, however small its pages are.
    let each = (bytes / (group.num_rows().max(1) as u64)).max(4 * leaves.len() as u64).max(1);
    (BATCH_BYTES / each).clamp(1, BATCH_ROWS_MAX) as usize
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
