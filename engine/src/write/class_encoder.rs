//! Records through a class that encodes the output: in batches, one call a batch.

use std::sync::Arc;

use crate::env::sync::Mutex;
use crate::format::emit_buffer::{EmitBuffer, RecordPlaces};
use crate::memory::Budget;
use crate::operator::context::{CounterTable, JobContext, add_counters};
use crate::operator::{Class, Emitter, Form, Out, Sink, TaskContext, Writer};
use yunti_base::Result;

/// Class and contexts for the writers of a job's parts.
#[derive(Clone, Copy)]
pub struct WriterClass<'a> {
    pub class: &'a Arc<dyn Class>,
    pub job: &'a Arc<JobContext>,
    pub is_reduce: bool,
    pub partitions: u32,
    /// Counters of the job, to which those of the writers are added.
    pub counters: &'a Mutex<CounterTable>,
    pub budget: &'a Arc<Budget>,
}

/// Approximate bytes of records in a batch.
const BATCH_BYTES: usize = if cfg!(debug_assertions) { 512 } else { 64 << 10 };
/// Bytes of memory of a writer if records are not large: two buffers, which double.
pub const MEMORY_BYTES: u64 = 8 * BATCH_BYTES as u64;
/// First size of both buffers in bytes: small, because a task may write to many parts.
const FIRST_BYTES: u64 = 4096 - 64;

/// One writer with its waiting records and its output. Call order as of `Writer`, with `take` after each call except
/// `push`.
pub struct ClassEncoder<'a> {
    of: WriterClass<'a>,
    writer: Box<dyn Writer>,
    context: Arc<TaskContext>,
    records: EmitBuffer,
    places: RecordPlaces,
    made: Emitter<EmitBuffer>,
}

impl<'a> ClassEncoder<'a> {
    /// Makes the writer of part `part`. Errors: `Memory`, and those of the class.
    pub fn new(of: WriterClass<'a>, part: u32) -> Result<ClassEncoder<'a>> {
        let context = TaskContext::new(of.job.clone(), of.is_reduce, part, of.partitions);
        let writer = of.class.writer(&context)?;
        let grant = |what| of.budget.grant(FIRST_BYTES, what);
        let records = EmitBuffer::new(Form::Bytes, grant("records to be written")?, "records to be written")?;
        let made = EmitBuffer::emitter(Form::Bytes, grant("the bytes of a writer")?, "the bytes of a writer")?;
        Ok(ClassEncoder { of, writer, context, records, places: RecordPlaces::default(), made })
    }

    /// Adds a record. Returns true if there are enough records for a batch.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<bool> {
        let at = self.records.bytes().len();
        self.records.large(key, value)?;
        self.places.push(at, key.len(), value.len());
        Ok(self.records.bytes().len() >= BATCH_BYTES || self.places.len() >= BATCH_BYTES / 8)
    }

    /// Calls `begin` of the class.
    pub fn begin(&mut self) -> Result<()> {
        self.call(|writer, out| writer.begin(out))
    }

    /// Writes the added records.
    pub fn write(&mut self) -> Result<()> {
        if self.places.is_empty() {
            return Ok(());
        }
        let batch = self.places.batch(self.records.bytes());
        let writer = &mut self.writer;
        self.made.run(&[], |out| writer.write(&batch, out))?;
        self.records.clear();
        self.places.clear();
        Ok(())
    }

    /// Calls `end` of the class.
    pub fn end(&mut self) -> Result<()> {
        self.call(|writer, out| writer.end(out))
    }

    fn call(&mut self, call: impl FnOnce(&mut dyn Writer, &mut Out) -> Result<()>) -> Result<()> {
        let writer = &mut *self.writer;
        self.made.run(&[], |out| call(writer, out))
    }

    /// Passes the output to `to` and drops it.
    pub fn take(&mut self, to: impl FnOnce(&[u8]) -> Result<()>) -> Result<()> {
        to(self.made.sink().bytes())?;
        self.made.sink_mut().clear();
        self.made.hand_over()
    }

    /// Ends the writer: its counters are added to the job's.
    pub fn finish(self) {
        let ClassEncoder { of, writer, context, .. } = self;
        drop(writer);
        let own = std::mem::take(&mut *context.counters.lock().unwrap_or_else(|e| e.into_inner()));
        add_counters(&mut of.counters.lock().unwrap_or_else(|e| e.into_inner()), own);
    }
}
