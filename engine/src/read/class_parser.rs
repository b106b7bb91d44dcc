//! Records that a class finds in the bytes of files. Its calls are checked against its contract.

use std::sync::Arc;

use crate::format::emit_buffer::{EmitBuffer, RecordPlaces};
use crate::memory::Budget;
use crate::operator::context::JobContext;
use crate::operator::{Batch, Chunk, Class, Emitter, Form, Reader, TaskContext};
use yunti_base::{Code, Error, Result};

/// Class and contexts for the readers of a job's splits.
#[derive(Clone)]
pub struct ReaderClass {
    pub class: Arc<dyn Class>,
    pub job: Arc<JobContext>,
    pub partitions: u32,
}

/// Returns the bytes of memory of a reader beside its buffer, if it emits no more than its input; the buffer doubles.
pub fn memory_bytes(read_bytes: usize) -> u64 {
    2 * read_bytes as u64
}

/// Parser of records by a class. Call order: `begin` for each split; for each piece, `find` if it begins at a cut, then
/// `read` repeatedly, with `clear` between batches.
pub struct ClassParser {
    of: ReaderClass,
    split: u32,
    reader: Option<(Box<dyn Reader>, Arc<TaskContext>)>,
    emitter: Emitter<EmitBuffer>,
    places: RecordPlaces,
}

/// Progress of a reader in a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadProgress {
    pub bytes: usize,
    /// True if the reader needs more bytes than the chunk has.
    pub wants_more: bool,
}

impl ClassParser {
    /// Makes a parser whose records are granted by `budget`.
    pub fn new(of: ReaderClass, budget: &Arc<Budget>, read_bytes: usize) -> Result<ClassParser> {
        let grant = budget.grant(read_bytes as u64, "the records of a reader")?;
        let emitter = EmitBuffer::emitter(Form::Copy, grant, "the records of a reader")?;
        Ok(ClassParser { of, split: 0, reader: None, emitter, places: RecordPlaces::default() })
    }

    /// Begins a split, which gets a new reader.
    pub fn begin(&mut self, split: u32) {
        self.end();
        self.split = split;
    }

    /// Ends the split. Returns the context with the reader's counters, if it was used.
    pub fn end(&mut self) -> Option<Arc<TaskContext>> {
        let (reader, context) = self.reader.take()?;
        drop(reader);
        Some(context)
    }

    fn reader(&mut self) -> Result<&mut dyn Reader> {
        if self.reader.is_none() {
            let ReaderClass { class, job, partitions } = &self.of;
            let context = TaskContext::new(job.clone(), false, self.split, *partitions);
            self.reader = Some((class.reader(&context)?, context));
        }
        let (reader, _) = self.reader.as_mut().ok_or_else(|| Error::new(Code::Internal, "there is no reader"))?;
        Ok(&mut **reader)
    }

    fn broken_contract(&self, what: String) -> Error {
        Error::new(Code::UserCode, format!("{} {what}", self.of.class.info().name))
    }

    /// Finds the first record of a piece in the chunk. Errors: `UserCode` if the class breaks its contract.
    pub fn find(&mut self, chunk: &Chunk<'_>) -> Result<FirstRecord> {
        let (bytes, before) = (chunk.bytes.len() as u64, u64::from(chunk.before));
        match self.reader()?.find(chunk)? {
            None if chunk.last => Ok(FirstRecord::Nowhere),
            None => Ok(FirstRecord::WantsMore),
            Some(at) if at < before => {
                Err(self.broken_contract(format!("found a record {} bytes before the cut", before - at)))
            }
            Some(at) if at >= chunk.limit => Ok(FirstRecord::Nowhere),
            Some(at) if at > bytes => Err(self.broken_contract(format!("found a record at byte {at} of {bytes}"))),
            Some(at) => Ok(FirstRecord::At(at as usize)),
        }
    }

    /// Drops the records of the last batch.
    pub fn clear(&mut self) -> Result<()> {
        self.places.clear();
        self.emitter.sink_mut().clear();
        self.emitter.hand_over()
    }

    /// Reads until the chunk is used up, the reader needs more, or at least `enough` bytes of records were emitted.
    ///
    /// Errors: `UserCode`, with the offset, if the class fails or breaks its contract.
    pub fn read(&mut self, chunk: &Chunk<'_>, enough: usize) -> Result<ReadProgress> {
        let mut at = 0;
        loop {
            let rest = Chunk {
                bytes: &chunk.bytes[at..],
                first: chunk.first && at == 0,
                limit: if chunk.limit == u64::MAX { u64::MAX } else { chunk.limit.saturating_sub(at as u64) },
                position: chunk.position + at as u64,
                ..*chunk
            };
            self.reader()?;
            let before = self.emitter.sink().bytes().len();
            let mut taken = 0;
            let ClassParser { reader: Some((reader, _)), emitter, .. } = self else { unreachable!("made above") };
            let read = emitter.run(&[], |out| {
                taken = reader.read(&rest, out)?;
                Ok(())
            });
            read.and_then(|()| self.emitter.hand_over()).map_err(|e| e.at_offset(rest.position))?;
            let (there, emitted) = (rest.bytes.len(), self.emitter.sink().bytes().len() - before);
            let lie = match taken {
                0 if emitted > 0 && there > 0 => "emitted records and took no byte of the file".into(),
                n if n > there as u64 => format!("took {n} bytes of {there}"),
                _ => {
                    at += taken as usize;
                    let gathered = self.emitter.sink().bytes().len();
                    if taken == 0 || at == chunk.bytes.len() || gathered >= enough || at as u64 >= chunk.limit {
                        return Ok(ReadProgress { bytes: at, wants_more: taken == 0 });
                    }
                    continue;
                }
            };
            return Err(self.broken_contract(lie).at_offset(rest.position));
        }
    }

    /// Returns true if records were read since `clear`.
    pub fn has_records(&self) -> bool {
        !self.emitter.sink().bytes().is_empty()
    }

    /// Returns the records read since `clear`.
    pub fn batch(&mut self) -> Result<Batch<'_>> {
        let info = self.of.class.info();
        let bytes = self.emitter.sink().bytes();
        let types = (info.key_type, info.value_type);
        self.places.find(bytes, types).map_err(|e| Error::new(e.code(), format!("{}: {}", info.name, e.what())))?;
        Ok(self.places.batch(bytes))
    }

    /// Returns the error `Corrupt` for a file that ends within a record. `rest`: bytes that the reader does not take.
    pub fn cut(&self, rest: usize) -> Error {
        let what =
            format!("the file ends within a record: {} takes none of the last {rest} bytes", self.of.class.info().name);
        Error::new(Code::Corrupt, what).hint("copy the file again, or check that it has this reader's format")
    }
}

/// Position of the first record after a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstRecord {
    /// At this byte of the chunk.
    At(usize),
    /// Not in this piece.
    Nowhere,
    /// Unknown: the reader needs more bytes.
    WantsMore,
}
