//! Records of CSV as batches, by Arrow's reader. A file is read from its start: a line end within quotes makes any
//! other place a guess.

use std::sync::Arc;

use arrow_csv::ReaderBuilder;
use arrow_csv::reader::Decoder;
use arrow_schema::SchemaRef;
use yunti_base::{Code, Error, Result};
use yunti_engine::memory::Budget;
use yunti_sql_plan::{Batch, MorselReader};

use crate::arrays;
use crate::bytes::Bytes;
use crate::failure::failed;
use crate::limits::{BATCH_BYTES, BATCH_ROWS_MAX, READ_BYTES};
use crate::memory::Memory;

/// Rows of a batch, at least, however many columns there are.
const BATCH_ROWS_MIN: usize = 64;
/// Bytes that Arrow's reader reserves for a value, with those of its vector.
const VALUE_BYTES: usize = 32;
/// Copies of a record's bytes: in the decoder, in its arrays, and in vectors.
const COPIES: u64 = 3;

/// How records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    pub delimiter: u8,
    /// True if the first record has the names of the columns.
    pub header: bool,
}

pub struct Records {
    bytes: Bytes,
    path: Arc<str>,
    decoder: Decoder,
    buffer: Vec<u8>,
    /// Bytes `from..to` of the buffer are read and not decoded yet.
    from: usize,
    to: usize,
    is_last: bool,
    /// Bytes of the records of the next batch so far.
    batch_bytes: u64,
    memory: Memory,
    own_bytes: u64,
}

impl Records {
    /// Returns the reader of some columns of a file. Errors: `Memory`.
    pub fn new(
        bytes: Bytes,
        path: Arc<str>,
        dialect: Dialect,
        schema: SchemaRef,
        columns: &[usize],
        budget: &Arc<Budget>,
    ) -> Result<Records> {
        let row_bytes = VALUE_BYTES * schema.fields().len().max(1);
        let rows = (BATCH_BYTES / row_bytes).clamp(BATCH_ROWS_MIN, BATCH_ROWS_MAX);
        let own_bytes = (READ_BYTES + rows * row_bytes) as u64;
        let mut memory = Memory::new(budget);
        memory.set(own_bytes).map_err(|e| e.at_path(&*path))?;
        let decoder = ReaderBuilder::new(schema)
            .with_delimiter(dialect.delimiter)
            .with_header(dialect.header)
            .with_batch_size(rows)
            .with_projection(columns.to_vec())
            .build_decoder();
        let buffer = vec![0; READ_BYTES];
        Ok(Records { bytes, path, decoder, buffer, from: 0, to: 0, is_last: false, batch_bytes: 0, memory, own_bytes })
    }

    /// Decodes records until a batch is full or the file ends.
    fn fill(&mut self) -> Result<()> {
        loop {
            if self.from == self.to && !self.is_last {
                self.from = 0;
                self.to = self.bytes.read(&mut self.buffer)?;
                self.is_last = self.to == 0;
            }
            // No bytes are the end for the decoder.
            let used = self.decoder.decode(&self.buffer[self.from..self.to]).map_err(|e| failed(&e, &self.path))?;
            self.from += used;
            self.batch_bytes += used as u64;
            let bytes = self.own_bytes + COPIES * self.batch_bytes;
            self.memory.set(bytes).map_err(|e| e.at_path(&*self.path))?;
            if used == 0 || self.decoder.capacity() == 0 {
                return Ok(());
            }
        }
    }
}

impl MorselReader for Records {
    fn next(&mut self) -> Result<Option<Batch>> {
        self.fill()?;
        let batch = self.decoder.flush().map_err(|e| failed(&e, &self.path))?;
        self.batch_bytes = 0;
        self.memory.set(self.own_bytes).map_err(|e| e.at_path(&*self.path))?;
        match batch {
            Some(batch) => arrays::batch_of(&batch).map(Some).map_err(|e| e.at_path(&*self.path)),
            None if self.from < self.to => {
                Err(Error::new(Code::Internal, "records stay undecoded").at_path(&*self.path))
            }
            None => Ok(None),
        }
    }
}
