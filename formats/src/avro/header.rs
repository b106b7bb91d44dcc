//! The header of a file, and the headers of its blocks: read by positions, before anything is decoded.
//!
//! ```text
//!   Obj 01 | metadata: map of bytes (avro.schema, avro.codec) | sync: 16 bytes
//!   block ..:  records: long | stored bytes: long | stored bytes .. | sync
//! ```

use std::sync::Arc;

use arrow_schema::Schema as ArrowSchema;
use yunti_api::{Error, Result};

use super::builder;
use super::input::{Input as Values, damaged};
use super::schema::Schema;
use crate::file::codec::Codec;
use crate::file::input::Input;

/// Bytes of the marker behind the header and behind each block.
pub const SYNC_BYTES: u64 = 16;
/// Bytes of two numbers, at most.
const NUMBERS_BYTES: u64 = 20;
/// Bytes of the header that are read at first.
const HEADER_BYTES: u64 = 16 << 10;
/// Bytes of a header, at most.
const HEADER_BYTES_MAX: u64 = 64 << 20;
/// Bytes that are searched for a marker at once.
const SEARCH_BYTES: u64 = 64 << 10;
/// Memory of a parsed schema, in its bytes.
const PARSED_FACTOR: u64 = 40;

/// Header of a file.
pub struct Header {
    pub schema: Arc<Schema>,
    /// The same as its columns are built.
    pub columns: ArrowSchema,
    /// JSON of the schema.
    pub text: Vec<u8>,
    pub codec: Codec,
    /// Name of the codec.
    pub codec_name: String,
    sync: [u8; SYNC_BYTES as usize],
    /// Offset of the first block.
    pub end: u64,
    /// Memory that the header takes.
    pub memory: u64,
}

/// Header of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Offset of the header.
    pub offset: u64,
    pub records: u64,
    /// Offset and number of the stored bytes.
    pub start: u64,
    pub bytes: u64,
}

impl Block {
    /// Returns the offset of the next block.
    pub fn next(&self) -> u64 {
        self.start + self.bytes + SYNC_BYTES
    }
}

impl Header {
    /// Reads the header of a file.
    pub fn load(file: &Input) -> Result<Header> {
        let mut magic = [0; 4];
        if file.len() < 4 {
            return Err(Error::damaged("this is not an Avro file: it is too short"));
        }
        file.read_at(&mut magic, 0)?;
        if magic != *b"Obj\x01" {
            return Err(match magic {
                [b'O', b'b', b'j', version] => {
                    Error::unsupported(format!("version {version} of Avro files is not known"))
                }
                _ => Error::damaged("this is not an Avro file: it does not begin with 'Obj' and 1"),
            });
        }
        // The end of the metadata is known only when they are read.
        let mut bytes = HEADER_BYTES.min(file.len());
        loop {
            file.hold(2 * bytes)?;
            let mut head = vec![0; bytes as usize];
            file.read_at(&mut head, 0)?;
            match metadata(&head) {
                Ok((entries, at)) => {
                    let memory = entries.schema.len() as u64 * PARSED_FACTOR;
                    file.hold(2 * bytes + memory)?;
                    return Header::of(entries, &head[at..], at as u64, memory);
                }
                Err(_) if bytes < file.len().min(HEADER_BYTES_MAX) => bytes = (bytes * 4).min(file.len()),
                Err(error) => return Err(error),
            }
        }
    }

    fn of(entries: Entries, rest: &[u8], at: u64, memory: u64) -> Result<Header> {
        let sync = *rest.first_chunk().ok_or_else(|| damaged("no marker behind its header"))?;
        let codec = match &entries.codec[..] {
            b"" | b"null" => Codec::None,
            b"deflate" => Codec::Deflate,
            b"snappy" => Codec::Snappy,
            b"zstandard" => Codec::Zstd,
            b"bzip2" => Codec::Bzip2,
            b"xz" => Codec::Xz,
            other => {
                let name: String = String::from_utf8_lossy(other).escape_default().take(60).collect();
                return Err(Error::unsupported(format!("the codec '{name}' of the Avro file is not known")));
            }
        };
        if entries.schema.is_empty() {
            return Err(damaged("no schema"));
        }
        let schema = Arc::new(Schema::parse(&entries.schema)?);
        let columns = builder::arrow_schema(&schema)?;
        Ok(Header {
            schema,
            text: entries.schema,
            codec,
            codec_name: String::from_utf8_lossy(if entries.codec.is_empty() { b"null" } else { &entries.codec }).into(),
            sync,
            end: at + SYNC_BYTES,
            memory: memory + columns.fields().size() as u64,
            columns,
        })
    }

    /// Returns the offset of the first block that begins at `from` or behind, by its marker; None if there is none.
    pub fn first_block(&self, file: &Input, from: u64) -> Result<Option<u64>> {
        if from <= self.end {
            return Ok(Some(self.end));
        }
        file.hold(self.memory + SEARCH_BYTES)?;
        let mut at = from - SYNC_BYTES;
        let mut bytes = Vec::new();
        while at + SYNC_BYTES <= file.len() {
            bytes.resize(SEARCH_BYTES.min(file.len() - at) as usize, 0);
            file.read_at(&mut bytes, at)?;
            if let Some(found) = memchr::memmem::find(&bytes, &self.sync) {
                return Ok(Some(at + found as u64 + SYNC_BYTES));
            }
            // A marker may lie across the border.
            at += bytes.len() as u64 - (SYNC_BYTES - 1);
        }
        Ok(None)
    }

    /// Reads the header of the block at an offset, and checks the marker before it; None at the end of the file.
    pub fn block(&self, file: &Input, offset: u64) -> Result<Option<Block>> {
        let n = (SYNC_BYTES + NUMBERS_BYTES).min(file.len() - (offset - SYNC_BYTES));
        let mut bytes = [0; (SYNC_BYTES + NUMBERS_BYTES) as usize];
        let bytes = &mut bytes[..n as usize];
        file.read_at(bytes, offset - SYNC_BYTES)?;
        if bytes[..SYNC_BYTES as usize] != self.sync {
            return Err(damaged(&format!("no marker at byte {}", offset - SYNC_BYTES)));
        }
        if bytes.len() == SYNC_BYTES as usize {
            return Ok(None);
        }
        let mut no_memory = |_| Ok(());
        let mut input = Values::new(bytes, SYNC_BYTES as usize, &mut no_memory);
        let at_offset = |what: &str| damaged(&format!("{what} at byte {offset}"));
        let (records, stored) = match (input.long(), input.long()) {
            (Ok(records), Ok(stored)) if records >= 0 && stored >= 0 => (records as u64, stored as u64),
            _ => return Err(at_offset("no header of a block")),
        };
        let start = offset - SYNC_BYTES + input.at() as u64;
        let block = Block { offset, records, start, bytes: stored };
        if stored > file.len() || block.next() > file.len() {
            return Err(at_offset("a block that goes beyond its end"));
        }
        Ok(Some(block))
    }
}

#[derive(Default)]
struct Entries {
    schema: Vec<u8>,
    codec: Vec<u8>,
}

/// Returns the metadata that matter, and the offset of the marker.
fn metadata(head: &[u8]) -> Result<(Entries, usize)> {
    let mut no_memory = |_| Ok(());
    let mut input = Values::new(head, 4, &mut no_memory);
    let mut entries = Entries::default();
    input.items(|input| {
        let (name, value) = (input.bytes()?, input.bytes()?);
        match name {
            b"avro.schema" => entries.schema = value.to_vec(),
            b"avro.codec" => entries.codec = value.to_vec(),
            _ => {}
        }
        Ok(())
    })?;
    let at = input.at();
    input.take(SYNC_BYTES as usize)?;
    Ok((entries, at))
}
