//! The writer: the records of a part become an Avro file.

use std::hash::{DefaultHasher, Hasher};

use yunti_api::{Any, Class, Context, Result, Sink, Writer, fail};

use super::encode;
use crate::file::codec::Codec;
use crate::rows::Rows;

/// Plain bytes of a block, about, unless `avro.block.bytes` sets them.
const BLOCK_BYTES: usize = 256 << 10;

/// Writer of one part.
pub struct AvroWriter {
    rows: Rows,
    schema: String,
    codec: Codec,
    codec_name: String,
    block_bytes: usize,
    /// Encoded rows of the open block, and their number.
    plain: Vec<u8>,
    records: u64,
    /// Marker behind the header and each block, once the header is written.
    sync: Option<[u8; 16]>,
    stored: Vec<u8>,
}

impl Class for AvroWriter {
    fn create(context: &Context) -> Result<Self> {
        let rows = Rows::create(context, "avro")?;
        let schema = encode::schema_text(rows.schema())?;
        let name = context.setting("avro.compression").unwrap_or("zstd").to_string();
        let (codec, codec_name) = match &name[..] {
            "none" => (Codec::None, "null"),
            "deflate" => (Codec::Deflate, "deflate"),
            "snappy" => (Codec::Snappy, "snappy"),
            "zstd" => (Codec::Zstd, "zstandard"),
            "bzip2" => (Codec::Bzip2, "bzip2"),
            "xz" => (Codec::Xz, "xz"),
            _ => return fail(format!("avro.compression={name}: use none, deflate, snappy, zstd, bzip2 or xz")),
        };
        let block_bytes = context.parse::<usize>("avro.block.bytes")?.unwrap_or(BLOCK_BYTES);
        Ok(AvroWriter {
            rows,
            schema,
            codec,
            codec_name: codec_name.into(),
            block_bytes,
            plain: Vec::new(),
            records: 0,
            sync: None,
            stored: Vec::new(),
        })
    }
}

impl AvroWriter {
    /// Encodes the waiting rows, and writes the blocks that are full.
    fn write_batch(&mut self, out: &mut Sink<'_>) -> Result<()> {
        let Some(batch) = self.rows.take()? else { return Ok(()) };
        let mut plain = std::mem::take(&mut self.plain);
        encode::put_rows(&batch, &mut plain, |plain| {
            self.records += 1;
            if plain.len() >= self.block_bytes { self.write_block(plain, out) } else { Ok(()) }
        })?;
        self.plain = plain;
        Ok(())
    }

    fn write_block(&mut self, plain: &mut Vec<u8>, out: &mut Sink<'_>) -> Result<()> {
        let sync = self.write_header(plain, out)?;
        self.stored.clear();
        self.codec.encode(plain, &mut self.stored)?;
        if self.codec == Codec::Snappy {
            self.stored.extend_from_slice(&crc32fast::hash(plain).to_be_bytes());
        }
        let mut head = Vec::new();
        encode::put_long(self.records as i64, &mut head);
        encode::put_long(self.stored.len() as i64, &mut head);
        out.put(&head)?;
        out.put(&self.stored)?;
        out.put(&sync)?;
        plain.clear();
        self.records = 0;
        Ok(())
    }

    /// Writes the header unless it is written. Returns the marker: it depends on the schema and the first block alone,
    /// so that a job writes the same bytes each time.
    fn write_header(&mut self, plain: &[u8], out: &mut Sink<'_>) -> Result<[u8; 16]> {
        if let Some(sync) = self.sync {
            return Ok(sync);
        }
        let mut sync = [0; 16];
        for (number, half) in sync.chunks_mut(8).enumerate() {
            let mut hasher = DefaultHasher::new();
            hasher.write_usize(number);
            hasher.write(self.schema.as_bytes());
            hasher.write(plain);
            half.copy_from_slice(&hasher.finish().to_le_bytes());
        }
        let mut head = b"Obj\x01".to_vec();
        let entries = [("avro.codec", &self.codec_name), ("avro.schema", &self.schema)];
        encode::put_long(entries.len() as i64, &mut head);
        for (name, value) in entries {
            for text in [name, value] {
                encode::put_long(text.len() as i64, &mut head);
                head.extend_from_slice(text.as_bytes());
            }
        }
        head.push(0);
        head.extend_from_slice(&sync);
        out.put(&head)?;
        self.sync = Some(sync);
        Ok(sync)
    }
}

impl Writer for AvroWriter {
    type Key = Any;
    type Value = Any;
    const WHOLE_PART: bool = true;
    const EXTENSION: Option<&'static std::ffi::CStr> = Some(c".avro");

    fn write(&mut self, key: &[u8], value: &[u8], out: &mut Sink<'_>) -> Result<()> {
        if self.rows.push(key, value)? {
            self.write_batch(out)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Sink<'_>) -> Result<()> {
        self.write_batch(out)?;
        let mut plain = std::mem::take(&mut self.plain);
        match self.records {
            0 => self.write_header(&[], out).map(|_| ())?,
            _ => self.write_block(&mut plain, out)?,
        }
        (self.sync, self.plain) = (None, plain);
        Ok(())
    }
}
