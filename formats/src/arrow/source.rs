//! The source: record batches as units, records from the columns that the job asks for.
//!
//! ```text
//!   file      a unit is a record batch: its number in the footer
//!   stream    a unit is a stretch of the file: the batches that begin in it (stretch.rs)
//! ```
//!
//! A batch becomes texts in slices of about a megabyte.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::MessageHeader;
use arrow_schema::{DataType, Field, Schema};
use yunti_api::{Bytes, Class, Context, Counter, Out, Result, Scan, Sink, Source, SourceFile, Unit};

use super::body::{self, Wanted};
use super::dictionaries::Dictionaries;
use super::messages::{self, Kind, Layout, Message, damaged, of_text};
use super::plain::{Texts, coded, plain};
use super::{describe, messages::Place};
use crate::emit::{self, Emission};
use crate::failure::guarded;
use crate::file::stretch::Stretch;
use crate::scan::Picked;

/// Bytes of a slice, about.
const SLICE_BYTES: u64 = 1 << 20;
/// Rows of a slice, at most.
const SLICE_ROWS_MAX: u64 = 8192;
/// Units of a stream with dictionaries, about: each unit passes over the heads of all messages before it.
const CODED_UNITS: u64 = 64;

/// Reader of Arrow files and streams.
pub struct ArrowSource {
    /// Rows of the batches that were read.
    rows: Counter,
    layout: Option<Layout>,
    /// Dictionaries of a file, and the columns that they are of.
    dictionaries: Option<(Vec<usize>, Dictionaries)>,
    unit: Option<OpenUnit>,
}

/// Batches that are being read.
struct OpenUnit {
    file: SourceFile,
    wanted: Wanted,
    place: Next,
    batch: Option<OpenRecords>,
    /// Texts of the codes of each wanted column.
    texts: Vec<Texts>,
    emission: Emission,
}

/// Where the next batch of a unit is.
enum Next {
    /// The batch of a file, unless it was read.
    File(Option<Place>),
    /// The next message of a stream, and the end of the unit.
    Stream { offset: u64, end: u64 },
}

/// A batch, and its rows that were taken.
struct OpenRecords {
    batch: RecordBatch,
    row: usize,
    slice_rows: usize,
}

impl Class for ArrowSource {
    fn create(context: &Context) -> Result<Self> {
        let rows = context.counter("Formats", "ROWS")?;
        Ok(ArrowSource { rows, layout: None, dictionaries: None, unit: None })
    }
}

fn wanted(layout: &Layout, picked: &Picked) -> Result<Wanted> {
    let fields = layout.schema.fields();
    let is_wanted = |field: &Field| picked.paths().any(|path| path.first() == Some(field.name()));
    let columns: Vec<usize> = (0..fields.len()).filter(|number| is_wanted(&fields[*number])).collect();
    let schema = layout.schema.project(&columns).map_err(|e| of_text(&e.to_string()))?;
    Ok(Wanted { columns, schema: Arc::new(schema) })
}

fn has_codes(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(..) => true,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => has_codes(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_codes(field.data_type())),
        DataType::Union(fields, _) => fields.iter().any(|(_, field)| has_codes(field.data_type())),
        DataType::RunEndEncoded(_, values) => has_codes(values.data_type()),
        _ => false,
    }
}

impl ArrowSource {
    fn layout(&mut self, file: &SourceFile) -> Result<&Layout> {
        if self.layout.is_none() {
            self.layout = Some(guarded(of_text, || Layout::load(file))?);
        }
        Ok(self.layout.as_ref().expect("it was just loaded"))
    }

    /// Reads the dictionaries of the wanted columns that stand before `offset` in a stream, or anywhere in a file.
    fn load_dictionaries(&mut self, file: &SourceFile, wanted: &Wanted, offset: u64) -> Result<()> {
        let Some(layout) = &self.layout else { return Ok(()) };
        if let (Kind::File { .. }, Some((columns, _))) = (&layout.kind, &self.dictionaries)
            && *columns == wanted.columns
        {
            return Ok(());
        }
        let mut dictionaries = Dictionaries::new(&wanted.schema, layout.version);
        if wanted.schema.fields().iter().any(|field| has_codes(field.data_type())) {
            let mut entries = Vec::new();
            match &layout.kind {
                Kind::File { dictionaries: places, .. } => {
                    for place in places {
                        entries.extend(dictionaries.entry(&messages::at(file, *place)?)?);
                    }
                }
                Kind::Stream { start } => {
                    let mut at = *start;
                    while at < offset {
                        let Some(message) = messages::next(file, at)? else { break };
                        if message.parsed()?.header_type() == MessageHeader::DictionaryBatch {
                            entries.extend(dictionaries.entry(&message)?);
                        }
                        at = message.place.end();
                    }
                }
            }
            dictionaries.read_all(file, &entries, layout.memory)?;
        }
        self.dictionaries = Some((wanted.columns.clone(), dictionaries));
        Ok(())
    }
}

impl Source for ArrowSource {
    type Key = Bytes;
    type Value = Bytes;
    const GIVES_BLOCKS: bool = true;

    fn plan(&mut self, file: &SourceFile, scan: &Scan) -> Result<Vec<Unit>> {
        let layout = self.layout(file)?;
        let picked = Picked::find(scan, &layout.schema)?;
        let wanted = wanted(layout, &picked)?;
        guarded(of_text, || match &layout.kind {
            Kind::File { batches, .. } => {
                let needed = batches.iter().enumerate().filter(|(_, place)| scan.covers(place.offset));
                let units = needed.map(|(number, place)| {
                    let (bytes, records) = size(layout, &wanted, &messages::at(file, *place)?)?;
                    Ok(Unit { number: number as u64, position: place.offset, bytes, records })
                });
                units.collect()
            }
            Kind::Stream { start } => plan_stream(file, layout, &wanted, *start..scan.end()),
        })
    }

    fn open(&mut self, file: &SourceFile, scan: &Scan, unit: u64) -> Result<()> {
        self.unit = None;
        let layout = self.layout(file)?;
        file.hold(layout.memory)?;
        let picked = Picked::find(scan, &layout.schema)?;
        let wanted = wanted(layout, &picked)?;
        let place = match &layout.kind {
            Kind::File { batches, .. } => {
                let place = batches.get(unit as usize).ok_or_else(|| damaged("it has fewer batches than before"))?;
                Next::File(Some(*place))
            }
            Kind::Stream { .. } => {
                let range = Stretch::range(unit);
                Next::Stream { offset: range.start, end: range.end }
            }
        };
        let offset = if let Next::Stream { offset, .. } = place { offset } else { 0 };
        self.load_dictionaries(file, &wanted, offset)?;
        let emission = Emission::of(scan, picked);
        self.unit = Some(OpenUnit {
            file: file.clone(),
            texts: wanted.columns.iter().map(|_| Texts::default()).collect(),
            wanted,
            place,
            batch: None,
            emission,
        });
        Ok(())
    }

    fn next(&mut self, out: &mut Out<'_, Bytes, Bytes>) -> Result<bool> {
        let (Some(layout), Some((_, dictionaries))) = (&self.layout, &mut self.dictionaries) else { return Ok(false) };
        let decode = |unit: &mut OpenUnit| unit.next_slice(layout, dictionaries, &self.rows);
        emit::next(&mut self.unit, |unit| &mut unit.emission, of_text, decode, out)
    }

    fn describe(&mut self, file: &SourceFile, out: &mut Sink<'_>) -> Result<()> {
        let layout = self.layout(file)?;
        let document = guarded(of_text, || describe::document(file, layout))?;
        out.put(document.as_bytes())?;
        Ok(())
    }
}

/// Returns the stored bytes of the wanted columns of a batch, and its rows.
fn size(layout: &Layout, wanted: &Wanted, message: &Message) -> Result<(u64, u64)> {
    let parsed = message.parsed()?;
    let batch = parsed.header_as_record_batch().ok_or_else(|| damaged("a record batch is none"))?;
    let counts = body::counts(&batch, &layout.schema, layout.version)?;
    let bytes = wanted.columns.iter().map(|column| counts.columns[*column].0);
    Ok((bytes.fold(message.place.head, u64::saturating_add).min(message.place.head + message.place.body), counts.rows))
}

/// Returns the units up to the end of a range: their borders do not depend on it.
fn plan_stream(file: &SourceFile, layout: &Layout, wanted: &Wanted, range: Range<u64>) -> Result<Vec<Unit>> {
    let coded = wanted.schema.fields().iter().any(|field| has_codes(field.data_type()));
    let stretch = Stretch::of_units(file.len(), if coded { CODED_UNITS } else { u64::MAX });
    let (mut units, mut offset, mut end) = (Vec::new(), range.start, 0);
    while let Some(message) = messages::next(file, offset)? {
        let place = message.place;
        if message.parsed()?.header_type() == MessageHeader::RecordBatch {
            if place.offset >= end {
                if place.offset >= range.end {
                    break;
                }
                let number = stretch.number(place.offset)?;
                end = Stretch::range(number).end;
                units.push(Unit { number, position: place.offset, bytes: 0, records: 0 });
            }
            let (bytes, records) = size(layout, wanted, &message)?;
            if let Some(unit) = units.last_mut() {
                unit.bytes += bytes;
                unit.records = unit.records.saturating_add(records);
            }
        }
        offset = place.end();
    }
    Ok(units)
}

impl OpenUnit {
    /// Returns the next slice; None at the end of the unit.
    fn next_slice(
        &mut self,
        layout: &Layout,
        dictionaries: &mut Dictionaries,
        rows: &Counter,
    ) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(open) = &mut self.batch {
                let left = open.batch.num_rows() - open.row;
                if left > 0 {
                    let slice = open.batch.slice(open.row, left.min(open.slice_rows));
                    open.row += slice.num_rows();
                    return plain_rows(&slice).map(Some);
                }
                self.batch = None;
            }
            let Some(message) = self.next_message(layout, dictionaries)? else { return Ok(None) };
            let parsed = message.parsed()?;
            let Some(batch) = parsed.header_as_record_batch() else { return Err(damaged("a record batch is none")) };
            let held = layout.memory + dictionaries.memory() + 2 * SLICE_BYTES;
            let of = (&layout.schema, layout.version);
            let (batch, memory) =
                body::read(&self.file, message.place, &batch, of, &self.wanted, dictionaries.values(), held)?;
            rows.add(batch.num_rows() as u64);
            let each = memory / (batch.num_rows() as u64).max(1);
            let slice_rows = (SLICE_BYTES / each.max(1)).clamp(1, SLICE_ROWS_MAX) as usize;
            self.batch = Some(OpenRecords { batch: self.coded(&batch)?, row: 0, slice_rows });
        }
    }

    /// Returns the next message with a record batch; dictionaries before it are read.
    fn next_message(&mut self, layout: &Layout, dictionaries: &mut Dictionaries) -> Result<Option<Message>> {
        match &mut self.place {
            Next::File(place) => place.take().map(|place| messages::at(&self.file, place)).transpose(),
            Next::Stream { offset, end } => loop {
                if offset >= end {
                    return Ok(None);
                }
                let Some(message) = messages::next(&self.file, *offset)? else { return Ok(None) };
                *offset = message.place.end();
                match message.parsed()?.header_type() {
                    MessageHeader::RecordBatch => return Ok(Some(message)),
                    MessageHeader::DictionaryBatch => {
                        if let Some(entry) = dictionaries.entry(&message)? {
                            dictionaries.read(&self.file, &entry, layout.memory)?;
                        }
                    }
                    _ => return Err(damaged("it has two schemas")),
                }
            },
        }
    }

    /// Returns a batch whose columns of codes have texts as values, which its slices share.
    fn coded(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = batch.columns().iter().zip(&mut self.texts).map(|(column, texts)| coded(column, texts));
        with_columns(batch, columns.collect::<Result<Vec<_>>>()?)
    }
}

/// Returns rows whose columns texts can be made of.
fn plain_rows(batch: &RecordBatch) -> Result<RecordBatch> {
    let columns = batch.columns().iter().map(|column| match column.data_type() {
        DataType::Dictionary(..) => Ok(column.clone()),
        _ => plain(column),
    });
    with_columns(batch, columns.collect::<Result<Vec<_>>>()?)
}

fn with_columns(batch: &RecordBatch, columns: Vec<arrow_array::ArrayRef>) -> Result<RecordBatch> {
    let schema = batch.schema();
    let fields = schema.fields().iter().zip(&columns);
    let fields: Vec<Field> =
        fields.map(|(field, column)| Field::new(field.name(), column.data_type().clone(), true)).collect();
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let made = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options);
    made.map_err(|e| of_text(&e.to_string()))
}
