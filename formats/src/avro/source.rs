//! The source: stretches of blocks as units, records from the columns that the job asks for.
//!
//! ```text
//!   unit      blocks that begin in a stretch of the file; its number: offset of the first one, stretch in 64 KiB
//!   block     read, decompressed, and decoded in batches of about a megabyte (blocks.rs)
//! ```
//!
//! A plan walks the headers of the blocks, and has some tens of thousands of units at most, whatever the file's size. A
//! plan of a range searches for the first marker in it, as Avro's own readers do.

use yunti_api::{Bytes, Class, Context, Counter, Error, Out, Result, Scan, Sink, Source, SourceFile, Unit};

use super::blocks::Blocks;
use super::describe;
use super::header::Header;
use crate::emit::{self, Emission};
use crate::failure::guarded;
use crate::file::input::Input;
use crate::file::stretch::Stretch;
use crate::scan::Picked;

/// Reader of Avro files.
pub struct AvroSource {
    /// Rows of the blocks that were decoded.
    rows: Counter,
    header: Option<Header>,
    unit: Option<OpenUnit>,
}

/// Blocks that are being read.
struct OpenUnit {
    blocks: Blocks,
    emission: Emission,
}

impl Class for AvroSource {
    fn create(context: &Context) -> Result<Self> {
        Ok(AvroSource { rows: context.counter("Formats", "ROWS")?, header: None, unit: None })
    }
}

fn of_panic(text: &str) -> Error {
    Error::damaged(format!("the Avro file is damaged ({})", crate::failure::line(text)))
}

impl AvroSource {
    fn header(&mut self, file: &SourceFile) -> Result<&Header> {
        if self.header.is_none() {
            self.header = Some(guarded(of_panic, || Header::load(&Input::File(file.clone())))?);
        }
        Ok(self.header.as_ref().expect("it was just loaded"))
    }
}

impl Source for AvroSource {
    type Key = Bytes;
    type Value = Bytes;
    const GIVES_BLOCKS: bool = true;

    fn plan(&mut self, file: &SourceFile, scan: &Scan) -> Result<Vec<Unit>> {
        let header = self.header(file)?;
        Picked::find(scan, &header.columns)?;
        let stretch = Stretch::of_file(file.len());
        let file = Input::File(file.clone());
        let Some(mut offset) = header.first_block(&file, scan.from)? else { return Ok(Vec::new()) };
        let (mut units, mut end) = (Vec::new(), 0);
        // The marker behind the last block is checked too: the next range searches for it.
        while let Some(block) = header.block(&file, offset)?.filter(|block| block.offset < scan.end()) {
            if block.offset >= end {
                let number = stretch.number_within(block.offset, scan.end())?;
                end = Stretch::range(number).end;
                units.push(Unit { number, position: block.offset, bytes: 0, records: 0 });
            }
            if let Some(unit) = units.last_mut() {
                unit.bytes += block.bytes;
                unit.records = unit.records.saturating_add(block.records);
            }
            offset = block.next();
        }
        units.retain(|unit| unit.records > 0);
        Ok(units)
    }

    fn open(&mut self, file: &SourceFile, scan: &Scan, unit: u64) -> Result<()> {
        self.unit = None;
        let header = self.header(file)?;
        file.hold(header.memory)?;
        let picked = Picked::find(scan, &header.columns)?;
        let blocks = Blocks::open(Input::File(file.clone()), header, &picked, Stretch::range(unit))?;
        self.unit = Some(OpenUnit { blocks, emission: Emission::of(scan, picked) });
        Ok(())
    }

    fn next(&mut self, out: &mut Out<'_, Bytes, Bytes>) -> Result<bool> {
        let Some(header) = &self.header else { return Ok(false) };
        let decode = |unit: &mut OpenUnit| unit.blocks.next_batch(header, |rows| self.rows.add(rows));
        emit::next(&mut self.unit, |unit| &mut unit.emission, of_panic, decode, out)
    }

    fn describe(&mut self, file: &SourceFile, out: &mut Sink<'_>) -> Result<()> {
        let header = self.header(file)?;
        out.put(describe::document(&Input::File(file.clone()), header)?.as_bytes())?;
        Ok(())
    }
}
