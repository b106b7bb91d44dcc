//! Lines of JSON as batches, by Arrow's reader. A record that is longer than a line is read too, but a large file is
//! cut at lines.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_json::ReaderBuilder;
use arrow_json::reader::Decoder;
use arrow_schema::{ArrowError, SchemaRef};
use memchr::{memchr, memchr_iter, memrchr};
use yunti_base::{Code, Error, Result};
use yunti_engine::env::Env;
use yunti_engine::memory::Budget;
use yunti_sql_plan::{Batch, MorselReader};

use crate::arrays;
use crate::bytes::Bytes;
use crate::failure::failed;
use crate::limits::{BATCH_BYTES, BATCH_ROWS_MAX, READ_BYTES};
use crate::memory::Memory;

/// Copies of a record's bytes: in the buffer, in the decoder, in its arrays, and in vectors.
const COPIES: u64 = 4;

/// Stretch of a file. A line belongs to the stretch in which it begins.
#[derive(Clone, Debug)]
pub struct Stretch {
    pub path: PathBuf,
    pub begin: u64,
    pub end: u64,
}

pub struct Lines {
    bytes: Bytes,
    stretch: Stretch,
    /// Path for messages.
    path: Arc<str>,
    env: Env,
    budget: Arc<Budget>,
    schema: SchemaRef,
    decoder: Decoder,
    /// Bytes of the stretch that have been read. The decoder has those before `decoded`.
    buffer: Vec<u8>,
    decoded: usize,
    /// Place of the buffer in the file.
    at: u64,
    /// Place of the first line.
    first: u64,
    /// Line ends of the stretch before the buffer.
    lines: u64,
    /// True if the rest of the stretch is in the buffer.
    is_last: bool,
    memory: Memory,
}

fn decoder(schema: &SchemaRef) -> std::result::Result<Decoder, ArrowError> {
    ReaderBuilder::new(schema.clone()).with_batch_size(BATCH_ROWS_MAX).build_decoder()
}

fn line_ends(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

impl Lines {
    /// Returns the reader of a stretch. `bytes` begin with the byte before it, or with the file. `schema`: the columns
    /// that are read.
    ///
    /// Errors: `Memory`; those of the file.
    pub fn new(bytes: Bytes, stretch: Stretch, schema: SchemaRef, env: &Env, budget: &Arc<Budget>) -> Result<Lines> {
        let path: Arc<str> = stretch.path.to_string_lossy().into();
        let at = stretch.begin.saturating_sub(1);
        let mut lines = Lines {
            bytes,
            decoder: decoder(&schema).map_err(|e| failed(&e, &path))?,
            stretch,
            path,
            env: env.clone(),
            budget: budget.clone(),
            schema,
            buffer: Vec::new(),
            decoded: 0,
            at,
            first: at,
            lines: 0,
            is_last: false,
            memory: Memory::new(budget),
        };
        if lines.stretch.begin > 0 {
            lines.pass_line()?;
        }
        Ok(lines)
    }

    /// Passes over the rest of the line that begins before the stretch.
    fn pass_line(&mut self) -> Result<()> {
        loop {
            self.read()?;
            let end = memchr(b'\n', &self.buffer).map(|at| at + 1);
            let passed = end.unwrap_or(self.buffer.len());
            self.buffer.drain(..passed);
            self.at += passed as u64;
            self.first = self.at;
            if end.is_some() || self.is_last {
                return Ok(());
            }
        }
    }

    /// Appends bytes of the stretch to the buffer.
    fn read(&mut self) -> Result<()> {
        let filled = self.buffer.len();
        let bytes = COPIES * (filled + READ_BYTES) as u64;
        self.memory.set(bytes).map_err(|e| e.at_path(&*self.path))?;
        self.buffer.resize(filled + READ_BYTES, 0);
        let read = self.bytes.read(&mut self.buffer[filled..])?;
        self.buffer.truncate(filled + read);
        self.is_last = read == 0;
        // The last line of the stretch ends with the first line end at or behind the byte before the stretch's end.
        let end = usize::try_from(self.stretch.end.saturating_sub(self.at)).unwrap_or(usize::MAX).saturating_sub(1);
        let from = end.max(filled);
        if let Some(after) = self.buffer.get(from..).and_then(|rest| memchr(b'\n', rest)) {
            self.buffer.truncate(from + after + 1);
            self.is_last = true;
        }
        Ok(())
    }

    /// Decodes records until a batch is full or the stretch ends.
    fn fill(&mut self) -> Result<()> {
        loop {
            let lines = memrchr(b'\n', &self.buffer).map_or(0, |at| at + 1);
            let whole = if self.is_last { self.buffer.len() } else { lines.max(self.decoded) };
            let used = self.decoder.decode(&self.buffer[self.decoded..whole]).map_err(|e| self.failed(&e))?;
            self.decoded += used;
            let is_between = !self.decoder.has_partial_record();
            if self.decoder.len() >= BATCH_ROWS_MAX || is_between && self.decoded >= BATCH_BYTES {
                return Ok(());
            }
            if self.decoded < whole {
                continue;
            }
            match self.is_last {
                false => self.read()?,
                true if is_between => return Ok(()),
                true => return Err(self.failed(&ArrowError::JsonError("the file ends within a record".into()))),
            }
        }
    }

    /// Returns the error of a batch with the line in which it is: each line of the batch is decoded on its own.
    fn failed(&self, error: &ArrowError) -> Error {
        let lines = self.buffer.split(|&byte| byte == b'\n');
        let wrong = lines.enumerate().find_map(|(n, line)| Some((n as u64, self.of_line(line).err()?)));
        match (wrong, self.lines_before()) {
            (Some((number, error)), Ok(before)) => {
                failed(&error, &self.path).within(&format!("line {}", before + self.lines + number + 1))
            }
            _ => failed(error, &self.path),
        }
    }

    fn of_line(&self, line: &[u8]) -> std::result::Result<(), ArrowError> {
        let mut decoder = decoder(&self.schema)?;
        decoder.decode(line)?;
        decoder.flush().map(drop)
    }

    /// Returns the number of line ends before the first line.
    fn lines_before(&self) -> Result<u64> {
        let mut left = self.first;
        if left == 0 {
            return Ok(0);
        }
        let mut bytes = Bytes::open(&*self.env.files, &self.stretch.path, None, 0, &self.budget)?;
        let (mut piece, mut lines) = (vec![0; READ_BYTES], 0);
        while left > 0 {
            let wanted = usize::try_from(left).unwrap_or(READ_BYTES).min(READ_BYTES);
            let read = bytes.read(&mut piece[..wanted])?;
            if read == 0 {
                return Err(Error::new(Code::Input, "the file has become shorter").at_path(&*self.path));
            }
            lines += line_ends(&piece[..read]);
            left -= read as u64;
        }
        Ok(lines)
    }
}

impl MorselReader for Lines {
    fn next(&mut self) -> Result<Option<Batch>> {
        self.fill()?;
        let batch = match self.decoder.flush() {
            Ok(batch) => batch,
            Err(e) => return Err(self.failed(&e)),
        };
        self.lines += line_ends(&self.buffer[..self.decoded]);
        self.at += self.decoded as u64;
        self.buffer.drain(..self.decoded);
        self.decoded = 0;
        let bytes = COPIES * self.buffer.len().max(READ_BYTES) as u64;
        self.memory.set(bytes).map_err(|e| e.at_path(&*self.path))?;
        match batch {
            Some(batch) => arrays::batch_of(&batch).map(Some).map_err(|e| e.at_path(&*self.path)),
            None => Ok(None),
        }
    }
}
