//! Reader of units: records that a source class emits, in batches of one buffer.

use std::sync::Arc;

use super::class_parser::ReaderClass;
use super::split::{InputFile, Piece, Split};
use crate::env::Files;
use crate::format::emit_buffer::{EmitBuffer, RecordPlaces};
use crate::memory::Budget;
use crate::operator::{Batch, Emitter, Form, Scan, Source, SourceFile, TaskContext, Unit};
use yunti_base::{Error, Result};

/// Bits of a position for the bytes of a unit. The others have its number.
const UNIT_BITS: u32 = 40;
const UNIT_MAX: u64 = (1 << (63 - UNIT_BITS)) - 1;

/// Files that units are read from, and the memory for them.
pub struct UnitInput {
    pub files: Arc<dyn Files>,
    pub budget: Arc<Budget>,
    pub inputs: Arc<Vec<InputFile>>,
}

/// A reader of one worker. Call order: for each split `begin`, `next_batch` until None, `end`.
pub struct SourceReader {
    of: ReaderClass,
    scan: Scan,
    input: UnitInput,
    split: u32,
    pieces: std::vec::IntoIter<Piece>,
    /// Instance of the split. It is dropped before its file.
    source: Option<(Box<dyn Source>, Arc<TaskContext>)>,
    file: Option<Arc<SourceFile>>,
    /// True while a unit has more records.
    is_open: bool,
    /// Position of the next batch: the number of its unit, and the emitted bytes of the unit before it. No two records
    /// of a file have the same, and splits do not change it.
    position: u64,
    emitter: Emitter<EmitBuffer>,
    places: RecordPlaces,
}

impl SourceReader {
    /// Makes a reader with a buffer of `read_bytes` for its records. Errors: `Memory`.
    pub fn new(of: ReaderClass, scan: &Scan, input: UnitInput, read_bytes: usize) -> Result<SourceReader> {
        let purpose = "the records of a source";
        let grant = input.budget.grant(read_bytes as u64, purpose)?;
        Ok(SourceReader {
            of,
            scan: scan.clone(),
            input,
            split: 0,
            pieces: Vec::new().into_iter(),
            source: None,
            file: None,
            is_open: false,
            position: 0,
            emitter: EmitBuffer::emitter(Form::Copy, grant, purpose)?,
            places: RecordPlaces::default(),
        })
    }

    /// Begins a split, which gets a new instance.
    pub fn begin(&mut self, split: &Split) {
        self.end();
        self.split = split.number;
        self.pieces = split.pieces.clone().into_iter();
    }

    /// Ends the split. Returns the context with the counters of the class, if it was used.
    pub fn end(&mut self) -> Option<Arc<TaskContext>> {
        let (source, context) = self.source.take()?;
        drop(source);
        (self.file, self.is_open) = (None, false);
        Some(context)
    }

    /// Returns the next batch of records; None at the end of the split. Adds the bytes read from files to `read`.
    ///
    /// Errors: `Corrupt`, `Input`, `Memory` with the file; those of the class.
    pub fn next_batch(&mut self, read: &mut u64) -> Result<Option<Batch<'_>>> {
        self.places.clear();
        self.emitter.sink_mut().clear();
        self.emitter.hand_over()?;
        while !self.is_open {
            let Some(piece) = self.pieces.next() else { return Ok(None) };
            self.open(piece)?;
        }
        let (Some((source, _)), Some(file)) = (&mut self.source, &self.file) else { unreachable!("a unit is open") };
        let place = |e: Error| if e.path().is_some() { e } else { e.at_path(file.path()) };
        let mut more = false;
        let emitted = self.emitter.run(&[], |out| {
            more = source.next(out)?;
            Ok(())
        });
        emitted.and_then(|()| self.emitter.hand_over()).map_err(place)?;
        self.is_open = more;
        *read += file.take_read_bytes();
        let index = file.index();
        let info = self.of.class.info();
        let bytes = self.emitter.sink().bytes();
        let types = (info.key_type, info.value_type);
        self.places.find(bytes, types).map_err(|e| e.within(&info.name))?;
        let batch = self.places.batch(bytes).at(index, self.position);
        self.position += bytes.len() as u64;
        Ok(Some(if self.scan.blocks { batch.with_blocks() } else { batch }))
    }

    fn open(&mut self, piece: Piece) -> Result<()> {
        if self.file.as_ref().is_none_or(|file| file.index() != piece.file) {
            // Each file gets an instance, so that nothing of the file before stays in memory.
            let ReaderClass { class, job, partitions } = &self.of;
            let context = match self.source.take() {
                Some((_, context)) => context,
                None => TaskContext::new(job.clone(), false, self.split, *partitions),
            };
            self.source = Some((class.source(&context)?, context));
            let UnitInput { files, budget, inputs } = &self.input;
            let path = &inputs[piece.file as usize].path;
            self.file = Some(Arc::new(SourceFile::open(&**files, path, piece.file, budget)?));
        }
        let (Some((source, _)), Some(file)) = (&mut self.source, &self.file) else { unreachable!("made above") };
        source.open(file, &self.scan, piece.start)?;
        self.is_open = true;
        self.position = (piece.start & UNIT_MAX) << UNIT_BITS;
        Ok(())
    }
}

/// Returns the units of files that a class plans, with the number of each file.
///
/// Errors: `Corrupt` and `Input` with the file; those of the class.
pub fn plan_units(
    of: &ReaderClass,
    scan: &Scan,
    inputs: &[InputFile],
    files: &dyn Files,
    budget: &Arc<Budget>,
) -> Result<Vec<(u32, Unit)>> {
    let context = TaskContext::new(of.job.clone(), false, 0, of.partitions);
    let mut units = Vec::new();
    // An empty file is a table without rows in every format, such as Hive and Spark leave them.
    for (index, input) in inputs.iter().enumerate().filter(|(_, input)| input.len > 0) {
        // A new instance a file: it holds no more than one at a time.
        let mut source = of.class.source(&context)?;
        let file = Arc::new(SourceFile::open(files, &input.path, index as u32, budget)?);
        units.extend(source.plan(&file, scan)?.into_iter().map(|unit| (index as u32, unit)));
    }
    Ok(units)
}
