//! Named outputs: files beside the parts, one for each task that writes a record to the output, as with Hadoop's
//! MultipleOutputs.
//!
//! ```text
//!   OUT/part-r-00000 ..    OUT/NAME-m-00003 (of the fourth split)    OUT/NAME-r-00000 (of the first partition)
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::commit::OutputDirectory;
use super::super::plan;
use super::super::spec::{Compress, JobSpec, OutputFormat};
use crate::codec::encode::{Compression, Encoder as Compressor};
use crate::env::NamedFile;
use crate::format::columns::Columns;
use crate::memory::{Budget, Grant};
use crate::operator::context::{NamedOutput, Outputs};
use crate::operator::cursor::{RecordSink, RecordTarget, Scratch};
use crate::operator::{Sink, TaskContext, Type};
use crate::write::Encoder;
use yunti_base::{Code, Error, Result};

/// Bytes written at a time.
const STAGED_BYTES: usize = 64 << 10;
/// Counter group: records of each named output.
const RECORDS: &str = "Yunti outputs";

/// Named outputs of a job. Each task opens its own files through `Outputs::open`.
pub struct NamedOutputs {
    directory: OutputDirectory,
    formats: BTreeMap<String, OutputFormat>,
    compress: Compress,
    durable: bool,
    budget: Arc<Budget>,
    bytes: Arc<AtomicU64>,
}

impl NamedOutputs {
    /// Makes the named outputs of `spec` in `directory`. The buffers are granted by `budget`.
    pub fn new(spec: &JobSpec, directory: OutputDirectory, budget: Arc<Budget>) -> NamedOutputs {
        let bytes = Arc::default();
        NamedOutputs {
            directory,
            formats: spec.outputs.clone(),
            compress: spec.compress,
            durable: spec.durable,
            budget,
            bytes,
        }
    }

    /// Adds the bytes of files that earlier attempts wrote.
    pub fn add_kept(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the bytes of all closed files so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Outputs for NamedOutputs {
    fn open(&self, task: &Arc<TaskContext>, name: &str, types: (Type, Type)) -> Result<Box<dyn NamedOutput>> {
        let Some(format) = self.formats.get(name) else {
            let known: Vec<&str> = self.formats.keys().map(String::as_str).collect();
            let hint = match known[..] {
                [] => {
                    format!("declare it: --named-output {name}=text; in a chain, only the last job has named outputs")
                }
                _ => format!("the outputs are {}", known.join(", ")),
            };
            return Err(Error::new(Code::UserCode, format!("the job has no output {name}")).hint(hint));
        };
        let extension = self.compress.map_or("", |c| c.target.extension());
        let letter = if task.is_reduce { 'r' } else { 'm' };
        let memory = (Scratch::BYTES + 2 * STAGED_BYTES) as u64;
        let compressor = self.compress.map_or(0, Compression::memory_bytes);
        let to = NamedOutputFile {
            directory: self.directory.clone(),
            file_name: format!("{name}-{letter}-{:05}{extension}", task.task),
            file: None,
            encoder: plan::encoder(&Columns::default(), format, types)?,
            compressor: self.compress.map(|c| c.encoder()).transpose()?,
            durable: self.durable,
            staged: Vec::new(),
            packed: Vec::new(),
            bytes: 0,
            all_bytes: self.bytes.clone(),
            records: 0,
            task: task.clone(),
            name: name.into(),
            _memory: self.budget.grant(memory + compressor, "a named output")?,
        };
        Ok(Box::new(RecordSink::new(to)?))
    }
}

/// Named outputs that drop all records, for tasks that only sample the input.
pub struct DiscardedOutputs;

impl Outputs for DiscardedOutputs {
    fn open(&self, _: &Arc<TaskContext>, _: &str, _: (Type, Type)) -> Result<Box<dyn NamedOutput>> {
        Ok(Box::new(DiscardSink(Scratch::new()?)))
    }
}

struct DiscardSink(Scratch);

impl Sink for DiscardSink {
    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        Ok(self.0.block())
    }
    fn filled(&mut self, _: usize, _: usize, _: &[u8]) -> Result<(*mut u8, usize)> {
        Ok(self.0.block())
    }
    fn large(&mut self, _: &[u8], _: &[u8]) -> Result<(*mut u8, usize)> {
        Ok(self.0.block())
    }
}

impl NamedOutput for DiscardSink {
    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

struct NamedOutputFile {
    directory: OutputDirectory,
    file_name: String,
    /// Created with the first bytes, because most tasks of a large job write nothing to it.
    file: Option<NamedFile>,
    encoder: Encoder,
    compressor: Option<Box<dyn Compressor>>,
    durable: bool,
    staged: Vec<u8>,
    packed: Vec<u8>,
    bytes: u64,
    all_bytes: Arc<AtomicU64>,
    records: u64,
    task: Arc<TaskContext>,
    name: String,
    _memory: Grant,
}

impl RecordTarget for NamedOutputFile {
    fn append(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.encoder.check(key, value)?;
        self.encoder.encode(key, value, &mut self.staged);
        self.records += 1;
        if self.staged.len() >= STAGED_BYTES { self.write() } else { Ok(()) }
    }
}

impl NamedOutputFile {
    fn write(&mut self) -> Result<()> {
        match &mut self.compressor {
            Some(compressor) => compressor.write(&self.staged, &mut self.packed)?,
            None => std::mem::swap(&mut self.staged, &mut self.packed),
        }
        self.staged.clear();
        self.write_packed()
    }

    fn write_packed(&mut self) -> Result<()> {
        if self.packed.is_empty() {
            return Ok(());
        }
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(self.directory.create(&self.file_name)?),
        };
        file.write_all(&self.packed, self.bytes)?;
        self.bytes += self.packed.len() as u64;
        self.packed.clear();
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        if self.records == 0 {
            return Ok(());
        }
        self.write()?;
        if let Some(compressor) = &mut self.compressor {
            compressor.finish(&mut self.packed)?;
            self.write_packed()?;
        }
        if let Some(file) = self.file.take()
            && self.durable
        {
            file.sync()?;
        }
        self.task.count(RECORDS, &self.name, self.records);
        self.all_bytes.fetch_add(self.bytes, Ordering::Relaxed);
        Ok(())
    }
}

impl NamedOutput for RecordSink<NamedOutputFile> {
    fn close(&mut self) -> Result<()> {
        self.target_mut().close()
    }
}
