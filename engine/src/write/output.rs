//! Destination of a job's records: part files, a stream, or a few shown records; and the writer of a task.

use std::sync::atomic::{AtomicU64, Ordering};

use super::class_encoder::{ClassEncoder, WriterClass};
use super::column_encoder::CellPlaces;
use super::compressor_pool::{CompressorPool, Member, STEP_BYTES};
use super::directories::{DirectoryFiles, OpenDirectory};
use super::encoder::Encoder;
use super::part_file::PartFile;
use super::top::Top;
use crate::env::Clock;
use crate::operator::cursor::RecordTarget;
use yunti_base::Cancel;
use yunti_base::{Code, Error, Result};

/// Destination of a job's records.
pub enum Output {
    /// One file a partition (in mode none: a split).
    Parts(Vec<PartFile>),
    /// One file a key, in the directory that the key names.
    Directories(Box<dyn DirectoryFiles>),
    /// All tickets of all parts, one after the other.
    Stream(PartFile),
    Top(Top),
}

/// Staged bytes before a write: enough to make a system call cheap, few enough to stay in L2.
pub const STAGING_BYTES: usize = 1 << 20;

/// Writer of a task. Call order: `write` for each record, then `finish` once. A writer dropped without `finish` has
/// failed, and so has the job.
pub struct OutputWriter<'a> {
    output: &'a Output,
    encoder: &'a Encoder,
    /// See `Encoder::verbatim_end`; None if records are shown, or encoded by a class or as columns.
    verbatim_end: Option<&'static [u8]>,
    /// True if records do not go through the encoder.
    bypasses_encoder: bool,
    class: Option<WriterClass<'a>>,
    /// Made with the first record, or at the beginning of a part that is written whole.
    writing: Option<Box<ClassEncoder<'a>>>,
    places: CellPlaces,
    /// Open file of an output in directories.
    open: Option<Box<OpenDirectory>>,
    part: usize,
    ticket: usize,
    ordered: bool,
    staging: Vec<u8>,
    /// Bytes staged at most.
    staging_bytes: usize,
    compressors: Option<&'a CompressorPool>,
    /// Compressed bytes staged at most, until earlier tickets are finished.
    packed_bytes: usize,
    /// Compressed member that this ticket has begun.
    member: Option<Member>,
    cancel: &'a Cancel,
    stop: &'a (dyn Fn() -> bool + Sync),
    clock: &'a dyn Clock,
    totals: &'a OutputTotals,
    records: u64,
    write_ns: u64,
    encode_ns: u64,
}

/// A writer that is done.
pub struct FinishedWriter {
    /// Staging buffer for the next task.
    pub staging: Vec<u8>,
    /// Nanoseconds spent in writes.
    pub write_ns: u64,
    /// Records written.
    pub records: u64,
}

/// Sums over all tasks, for counters and progress.
#[derive(Default)]
pub struct OutputTotals {
    pub records: AtomicU64,
    pub bytes: AtomicU64,
    pub write_ns: AtomicU64,
    /// Time of compressing and of writer classes.
    pub encode_ns: AtomicU64,
    /// Totals by part; empty if parts are not counted.
    pub parts: Vec<PartTotals>,
}

/// Records and bytes of one part.
#[derive(Default)]
pub struct PartTotals {
    pub records: AtomicU64,
    pub bytes: AtomicU64,
}

impl OutputTotals {
    /// Makes totals that count `parts` parts; 0: none.
    pub fn with_parts(parts: usize) -> OutputTotals {
        OutputTotals { parts: (0..parts).map(|_| PartTotals::default()).collect(), ..OutputTotals::default() }
    }

    /// Adds the records and bytes of a part that an earlier attempt wrote.
    pub fn add_kept(&self, part: usize, records: u64, bytes: u64) {
        self.records.fetch_add(records, Ordering::Relaxed);
        if let Some(part) = self.parts.get(part) {
            part.records.fetch_add(records, Ordering::Relaxed);
        }
        self.add_bytes(part, bytes);
    }

    fn add_bytes(&self, part: usize, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if let Some(part) = self.parts.get(part) {
            part.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }
}

/// Setup that all writers of a job share.
#[derive(Clone, Copy)]
pub struct WriterSetup<'a> {
    pub output: &'a Output,
    pub encoder: &'a Encoder,
    pub cancel: &'a Cancel,
    pub stop: &'a (dyn Fn() -> bool + Sync),
    pub clock: &'a dyn Clock,
    pub totals: &'a OutputTotals,
    pub staging_bytes: usize,
    /// Compressors, if the output is compressed.
    pub compressors: Option<&'a CompressorPool>,
    /// Writer class, if a class writes the output.
    pub class: Option<WriterClass<'a>>,
}

/// Edge of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    Head,
    Foot,
}

impl RecordTarget for OutputWriter<'_> {
    #[inline]
    fn append(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.write(key, value)
    }
}

impl<'a> OutputWriter<'a> {
    /// Makes the writer of a task. `ticket`: place of its records in the part (for a stream: in the job); `None`: any
    /// place. `staging`: buffer of the task before.
    pub fn new(setup: WriterSetup<'a>, part: usize, ticket: Option<usize>, mut staging: Vec<u8>) -> Self {
        // A member is staged again after compression. Without an order each stretch is a member and should be long.
        let staging_bytes = match (setup.compressors, ticket) {
            (Some(_), Some(_)) => setup.staging_bytes.min(STEP_BYTES),
            _ => setup.staging_bytes,
        };
        staging.clear();
        staging.reserve(staging_bytes);
        let bypasses_encoder =
            matches!(setup.output, Output::Top(_)) || setup.class.is_some() || setup.encoder.as_columns().is_some();
        // A file of a directory has one writer.
        let ticket = if matches!(setup.output, Output::Directories(_)) { Some(0) } else { ticket };
        OutputWriter {
            output: setup.output,
            encoder: setup.encoder,
            verbatim_end: setup.encoder.verbatim_end().filter(|_| !bypasses_encoder),
            bypasses_encoder,
            class: setup.class,
            writing: None,
            places: CellPlaces::default(),
            open: None,
            part,
            ticket: ticket.unwrap_or(0),
            ordered: ticket.is_some(),
            staging,
            staging_bytes,
            compressors: setup.compressors,
            packed_bytes: setup.staging_bytes,
            member: None,
            cancel: setup.cancel,
            stop: setup.stop,
            clock: setup.clock,
            totals: setup.totals,
            records: 0,
            write_ns: 0,
            encode_ns: 0,
        }
    }

    /// Writes a record. Errors: `UserCode` for a wrong length; `Output` for a failed write; `Cancelled`; the errors of
    /// a writer class.
    #[inline]
    pub fn write(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.bypasses_encoder {
            return self.write_bypassing(key, value);
        }
        self.encoder.check(key, value)?;
        self.records += 1;
        let need = self.encoder.bytes_max(key, value);
        if self.staging.len() + need > self.staging_bytes {
            self.flush()?;
            if need > self.staging_bytes {
                return self.write_large(key, value);
            }
        }
        self.encoder.encode(key, value, &mut self.staging);
        Ok(())
    }

    /// Writes a record whose key and value are adjacent.
    #[inline]
    pub fn write_adjacent(&mut self, record: &[u8], key_len: usize) -> Result<()> {
        let Some(end) = self.verbatim_end else {
            return self.write(&record[..key_len], &record[key_len..]);
        };
        self.records += 1;
        if self.staging.len() + record.len() + end.len() > self.staging_bytes {
            self.flush()?;
            if record.len() + end.len() > self.staging_bytes {
                return self.write_pieces(&[record, end]);
            }
        }
        append(&mut self.staging, record);
        self.staging.extend_from_slice(end);
        Ok(())
    }

    /// Writes `count` records of `len` bytes each, whose keys are the first `key_len` bytes. `record` returns them by
    /// number.
    ///
    /// The loop is short, so that the processor waits for the cache lines of several records at once.
    #[inline]
    pub fn write_fixed<'r>(
        &mut self,
        count: usize,
        len: usize,
        key_len: usize,
        record: impl Fn(usize) -> &'r [u8],
    ) -> Result<()> {
        let Some(end) = self.verbatim_end else {
            return (0..count).try_for_each(|i| self.write(&record(i)[..key_len], &record(i)[key_len..]));
        };
        let mut done = 0;
        while done < count {
            let room = (self.staging_bytes - self.staging.len().min(self.staging_bytes)) / (len + end.len()).max(1);
            if room == 0 {
                self.write_adjacent(record(done), key_len)?;
                done += 1;
                continue;
            }
            let next = count.min(done + room);
            for i in done..next {
                append(&mut self.staging, record(i));
                self.staging.extend_from_slice(end);
            }
            self.records += (next - done) as u64;
            done = next;
        }
        Ok(())
    }

    /// Writes a record that is shown, or encoded as columns or by a class.
    #[inline(never)]
    fn write_bypassing(&mut self, mut key: &[u8], value: &[u8]) -> Result<()> {
        if let Output::Directories(files) = self.output {
            self.turn_to(&**files, key)?;
            key = b"";
        }
        self.encoder.check(key, value)?;
        self.records += 1;
        if let Output::Top(top) = self.output {
            top.offer(key, value, (self.part << 32 | self.ticket, self.records));
            return Ok(());
        }
        if let Some(columned) = self.encoder.as_columns() {
            columned.encode(key, value, &mut self.places, &mut self.staging)?;
            // The remaining sixteenth has room for most records.
            if self.staging.len() >= self.staging_bytes - self.staging_bytes / 16 {
                self.flush()?;
                self.staging.shrink_to(2 * self.staging_bytes);
            }
            return Ok(());
        }
        let mut writing = self.begin_writing()?;
        if writing.push(key, value)? {
            self.call(&mut writing, ClassEncoder::write)?;
        }
        self.writing = Some(writing);
        Ok(())
    }

    /// Turns to the file of the directory that `key` names.
    fn turn_to(&mut self, files: &dyn DirectoryFiles, key: &[u8]) -> Result<()> {
        if self.open.as_ref().is_some_and(|open| open.key == key) {
            return Ok(());
        }
        self.cancel.check()?;
        self.close_directory(files)?;
        self.open = Some(Box::new(OpenDirectory { key: key.to_vec(), file: files.create(key)? }));
        match self.encoder.as_columns() {
            Some(columned) => self.stage(columned.head()),
            None => Ok(()),
        }
    }

    fn close_directory(&mut self, files: &dyn DirectoryFiles) -> Result<()> {
        if self.open.is_some() {
            self.finish_file()?;
        }
        self.open.take().map_or(Ok(()), |open| files.close(&open.file))
    }

    /// Returns true if one writer makes a file from start to end.
    fn makes_whole_files(&self, class: WriterClass<'_>) -> bool {
        class.class.info().flags.whole_part || matches!(self.output, Output::Directories(_))
    }

    /// Takes the class encoder for a call, or makes it.
    fn begin_writing(&mut self) -> Result<Box<ClassEncoder<'a>>> {
        if let Some(writing) = self.writing.take() {
            return Ok(writing);
        }
        let Some(class) = self.class else { return Err(Error::new(Code::Internal, "no class writes the output")) };
        let mut writing = Box::new(ClassEncoder::new(class, self.part as u32)?);
        if self.makes_whole_files(class) {
            self.call(&mut writing, ClassEncoder::begin)?;
        }
        Ok(writing)
    }

    /// Calls the class and stages its output: whole records, so that they stay together.
    fn call(
        &mut self,
        writing: &mut ClassEncoder<'a>,
        call: impl FnOnce(&mut ClassEncoder<'a>) -> Result<()>,
    ) -> Result<()> {
        let start = self.clock.now_ns();
        let made = call(writing);
        self.encode_ns += self.clock.now_ns() - start;
        made.map_err(|e| match self.file() {
            Some(file) => e.at_path(file.path()),
            None => e,
        })?;
        writing.take(|bytes| self.stage(bytes))
    }

    fn stage(&mut self, bytes: &[u8]) -> Result<()> {
        if self.staging.len() + bytes.len() > self.staging_bytes {
            self.flush()?;
            if bytes.len() > self.staging_bytes {
                return self.write_pieces(&[bytes]);
            }
        }
        self.staging.extend_from_slice(bytes);
        Ok(())
    }

    /// Passes the last records to the class.
    fn finish_writing(&mut self) -> Result<()> {
        let Some(class) = self.class.filter(|_| !matches!(self.output, Output::Top(_))) else { return Ok(()) };
        let whole = self.makes_whole_files(class);
        if self.writing.is_none() && !whole {
            return Ok(());
        }
        let mut writing = self.begin_writing()?;
        self.call(&mut writing, ClassEncoder::write)?;
        if whole {
            self.call(&mut writing, ClassEncoder::end)?;
        }
        writing.finish();
        Ok(())
    }

    /// Writes the head or the foot of the part, when no other writer writes to it. A class that writes whole parts does
    /// this itself.
    pub fn write_edge(mut self, edge: Edge) -> Result<()> {
        if let Some(class) = self.class.filter(|c| !c.class.info().flags.whole_part) {
            let mut writing = Box::new(ClassEncoder::new(class, self.part as u32)?);
            self.call(&mut writing, if edge == Edge::Head { ClassEncoder::begin } else { ClassEncoder::end })?;
            writing.finish();
        }
        if let (Edge::Head, Some(columned)) = (edge, self.encoder.as_columns()) {
            self.stage(columned.head())?;
        }
        self.class = None;
        self.finish().map(drop)
    }

    fn file(&self) -> Option<&PartFile> {
        match self.output {
            Output::Parts(parts) => Some(&parts[self.part]),
            Output::Stream(file) => Some(file),
            Output::Directories(_) => self.open.as_ref().map(|open| &open.file),
            Output::Top(_) => None,
        }
    }

    /// Writes a record that is larger than the staging buffer directly, without a copy.
    #[cold]
    fn write_large(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let mut printed = Vec::new();
        let encoder = self.encoder;
        self.write_pieces(&encoder.pieces(key, value, &mut printed))
    }

    fn flush(&mut self) -> Result<()> {
        if self.staging.is_empty() {
            return Ok(());
        }
        let staging = std::mem::take(&mut self.staging);
        let written = self.write_pieces(&[&staging]);
        self.staging = staging;
        self.staging.clear();
        written
    }

    fn write_pieces(&mut self, pieces: &[&[u8]]) -> Result<()> {
        match self.compressors {
            Some(compressors) => self.write_compressed(compressors, pieces),
            None => self.write_out(pieces),
        }
    }

    /// Compresses pieces that must stay together. Without an order they become a member, with large records whole in
    /// memory.
    fn write_compressed(&mut self, compressors: &CompressorPool, pieces: &[&[u8]]) -> Result<()> {
        let mut member = match self.member.take() {
            Some(member) => member,
            None => compressors.begin()?,
        };
        for step in pieces.iter().flat_map(|piece| piece.chunks(STEP_BYTES)) {
            self.encode(|| member.write(step))?;
            if self.ordered && member.packed.len() >= self.packed_bytes {
                self.write_out(&[&member.packed])?;
                member.packed.clear();
            }
        }
        if self.ordered {
            self.member = Some(member);
        } else {
            self.encode(|| member.finish())?;
            self.write_out(&[&member.packed])?;
            compressors.give_back(member);
        }
        Ok(())
    }

    fn encode(&mut self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        let start = self.clock.now_ns();
        let result = work();
        self.encode_ns += self.clock.now_ns() - start;
        result
    }

    fn write_out(&mut self, pieces: &[&[u8]]) -> Result<()> {
        let start = self.clock.now_ns();
        if let Some(file) = self.file() {
            if self.ordered {
                file.write(self.ticket, pieces, self.cancel, self.stop)?;
            } else {
                file.append(pieces)?;
            }
        }
        self.write_ns += self.clock.now_ns() - start;
        let bytes: usize = pieces.iter().map(|p| p.len()).sum();
        self.totals.add_bytes(self.part, bytes as u64);
        Ok(())
    }

    /// Writes the staged rest.
    pub fn finish(mut self) -> Result<FinishedWriter> {
        match self.output {
            Output::Directories(files) => self.close_directory(&**files)?,
            _ => self.finish_file()?,
        }
        self.finished()
    }

    fn finish_file(&mut self) -> Result<()> {
        self.finish_writing()?;
        if let Some(compressors) = self.compressors {
            return self.finish_compressed(compressors);
        }
        let staging = std::mem::take(&mut self.staging);
        self.staging = self.write_last(staging)?;
        Ok(())
    }

    fn finish_compressed(&mut self, compressors: &CompressorPool) -> Result<()> {
        self.flush()?;
        let mut member = self.member.take();
        if let Some(member) = &mut member {
            self.encode(|| member.finish())?;
        }
        let packed = member.as_mut().map_or_else(Vec::new, |m| std::mem::take(&mut m.packed));
        let buffer = self.write_last(packed)?;
        if let Some(mut member) = member {
            member.packed = buffer;
            compressors.give_back(member);
        }
        Ok(())
    }

    /// Writes the last bytes of the ticket. Returns a buffer for the next one.
    fn write_last(&mut self, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
        let start = self.clock.now_ns();
        self.totals.add_bytes(self.part, bytes.len() as u64);
        if let Some(file) = self.file() {
            if self.ordered {
                bytes = file.finish(self.ticket, bytes, self.cancel, self.stop)?;
            } else if !bytes.is_empty() {
                file.append(&[&bytes])?;
            }
        }
        self.write_ns += self.clock.now_ns() - start;
        Ok(bytes)
    }

    fn finished(self) -> Result<FinishedWriter> {
        self.totals.records.fetch_add(self.records, Ordering::Relaxed);
        if let Some(part) = self.totals.parts.get(self.part) {
            part.records.fetch_add(self.records, Ordering::Relaxed);
        }
        self.totals.write_ns.fetch_add(self.write_ns, Ordering::Relaxed);
        self.totals.encode_ns.fetch_add(self.encode_ns, Ordering::Relaxed);
        Ok(FinishedWriter { staging: self.staging, write_ns: self.write_ns, records: self.records })
    }
}

/// Appends bytes. A usual record of 64 to 128 bytes is copied without a call, as two stretches of 64 that may overlap.
#[inline(always)]
fn append(to: &mut Vec<u8>, bytes: &[u8]) {
    match (bytes.first_chunk::<64>(), bytes.last_chunk::<64>()) {
        (Some(first), Some(last)) if bytes.len() <= 128 => {
            let second = to.len() + bytes.len() - 64;
            to.extend_from_slice(first);
            to.truncate(second);
            to.extend_from_slice(last);
        }
        _ => to.extend_from_slice(bytes),
    }
}
