//! The writer: the records of a part become an ORC file with a column for each of theirs.
//!
//! ```text
//!   records  ->  batches (rows.rs)  ->  streams of each column  ->  a stripe, when these are large enough
//! ```

use std::sync::Arc;

use arrow_schema::Schema;
use yunti_api::{Any, Class, Context, Result, Sink, Writer, fail};

use super::encode::FileWriter;
use crate::rows::Rows;

/// Bytes of the streams of a stripe, about, unless `orc.stripe.bytes` sets them.
const STRIPE_BYTES: usize = 32 << 20;

/// Writer of one part.
pub struct OrcWriter {
    records: Rows,
    codec: String,
    /// Memory of an open stripe, at most.
    stripe_bytes: usize,
    /// File of the part that has begun.
    file: Option<FileWriter>,
    /// Encoded bytes that wait for the engine.
    encoded: Vec<u8>,
}

impl Class for OrcWriter {
    fn create(context: &Context) -> Result<Self> {
        let records = Rows::create(context, "orc")?;
        let codec = context.setting("orc.compression").unwrap_or("zstd").to_string();
        let stripe = context.parse::<usize>("orc.stripe.bytes")?.unwrap_or(STRIPE_BYTES);
        let memory = context.parse::<usize>("yunti.writer.memory.bytes")?.unwrap_or(usize::MAX);
        // A wrong setting is found before the job begins.
        FileWriter::begin(records.schema(), &codec, 0, &mut Vec::new())?;
        Ok(OrcWriter { records, codec, stripe_bytes: stripe.min(memory), file: None, encoded: Vec::new() })
    }
}

impl OrcWriter {
    /// Encodes the records that wait.
    fn encode(&mut self, out: &mut Sink<'_>) -> Result<()> {
        let Some(file) = &mut self.file else { return fail("a part has not begun") };
        if let Some(batch) = self.records.take()? {
            file.add(&batch, &mut self.encoded)?;
        }
        self.put(out)
    }

    fn put(&mut self, out: &mut Sink<'_>) -> Result<()> {
        out.put(&self.encoded)?;
        self.encoded.clear();
        Ok(())
    }
}

impl Writer for OrcWriter {
    type Key = Any;
    type Value = Any;
    const WHOLE_PART: bool = true;
    const EXTENSION: Option<&'static std::ffi::CStr> = Some(c".orc");

    fn begin(&mut self, _: &mut Sink<'_>) -> Result<()> {
        let schema: &Arc<Schema> = self.records.schema();
        self.file = Some(FileWriter::begin(schema, &self.codec, self.stripe_bytes, &mut self.encoded)?);
        Ok(())
    }

    fn write(&mut self, key: &[u8], value: &[u8], out: &mut Sink<'_>) -> Result<()> {
        if self.records.push(key, value)? { self.encode(out) } else { Ok(()) }
    }

    fn end(&mut self, out: &mut Sink<'_>) -> Result<()> {
        self.encode(out)?;
        match self.file.take() {
            Some(file) => file.finish(&mut self.encoded)?,
            None => return fail("a part has not begun"),
        }
        self.put(out)
    }
}
