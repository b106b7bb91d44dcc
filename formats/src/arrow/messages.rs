//! Messages of a file or stream: where they begin, and how long they are. Footers and lengths are checked, not trusted.
//!
//! ```text
//!   file      ARROW1 00 00 | stream | footer | length of the footer: i32 | ARROW1
//!   stream    message (schema) | messages (dictionaries, record batches) .. | ff ff ff ff 00 00 00 00
//!   message   ff ff ff ff | length of the head: i32 | head | body        before version 0.15 without ff ff ff ff
//! ```

use std::sync::Arc;

use arrow_ipc::{Endianness, MessageHeader, MetadataVersion};
use arrow_schema::SchemaRef;
use yunti_api::{Error, Result, SourceFile};

use crate::failure::line;

/// Magic number of files, without its padding.
const MAGIC: &[u8; 6] = b"ARROW1";
/// Bytes of the head of a message, at most.
const HEAD_BYTES_MAX: u64 = 256 << 20;
/// Memory of a parsed schema or footer, in its bytes.
const PARSED_FACTOR: u64 = 8;

/// Place of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub offset: u64,
    /// Bytes before the body.
    pub head: u64,
    pub body: u64,
}

impl Place {
    /// Returns the offset behind the message.
    pub fn end(&self) -> u64 {
        self.offset + self.head + self.body
    }
}

/// A message without its body.
pub struct Message {
    pub place: Place,
    head: Vec<u8>,
    /// Where the message begins in `head`.
    at: usize,
}

impl Message {
    /// Returns the parsed message, which was checked when it was read.
    pub fn parsed(&self) -> Result<arrow_ipc::Message<'_>> {
        arrow_ipc::root_as_message(&self.head[self.at..]).map_err(|e| damaged(&format!("a message is wrong: {e}")))
    }
}

/// Schema of a file, and the places of its messages.
pub struct Layout {
    pub schema: SchemaRef,
    pub version: MetadataVersion,
    pub kind: Kind,
    /// Memory of the layout.
    pub memory: u64,
}

/// Files know their messages; streams are walked.
pub enum Kind {
    File {
        dictionaries: Vec<Place>,
        batches: Vec<Place>,
    },
    /// Offset of the first message behind the schema.
    Stream {
        start: u64,
    },
}

impl Layout {
    /// Reads the layout of a file.
    pub fn load(file: &SourceFile) -> Result<Layout> {
        let mut head = [0; 8];
        if file.len() < 8 {
            return Err(Error::damaged("this is not an Arrow file: it is too short"));
        }
        file.read_at(&mut head, 0)?;
        match &head {
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => of_file(file),
            [b'F', b'E', b'A', b'1', ..] => {
                Err(Error::unsupported("the first version of Feather is not supported: write version 2"))
            }
            _ => of_stream(file),
        }
    }
}

fn of_file(file: &SourceFile) -> Result<Layout> {
    const TAIL: u64 = 4 + MAGIC.len() as u64;
    let mut tail = [0; TAIL as usize];
    let end = file.len().checked_sub(TAIL).filter(|end| *end >= 8);
    let end = end.ok_or_else(|| damaged("it has no footer"))?;
    file.read_at(&mut tail, end)?;
    let (length, magic) = tail.split_at(4);
    if magic != MAGIC {
        return Err(damaged("it does not end with ARROW1: it was cut, or is not complete"));
    }
    let length = i32::from_le_bytes(*length.first_chunk().expect("it has four bytes"));
    let length = u64::try_from(length).ok().filter(|length| *length > 0 && *length <= end - 8);
    let length = length.ok_or_else(|| damaged("its footer has a wrong length"))?;
    let memory = length * PARSED_FACTOR;
    file.hold(memory)?;
    let mut bytes = vec![0; length as usize];
    file.read_at(&mut bytes, end - length)?;
    let wrong = |e: &dyn std::fmt::Display| damaged(&format!("its footer is wrong: {}", line(&e.to_string())));
    let footer = arrow_ipc::root_as_footer(&bytes).map_err(|e| wrong(&e))?;
    let places = |blocks: Option<flatbuffers::Vector<'_, arrow_ipc::Block>>| -> Result<Vec<Place>> {
        let place = |block: &arrow_ipc::Block| {
            let number = |n: i64| u64::try_from(n).ok();
            let head = number(block.metaDataLength().into())?;
            let place = Place { offset: number(block.offset())?, head, body: number(block.bodyLength())? };
            let inside = place.offset.checked_add(place.head)?.checked_add(place.body)? <= end - length;
            (inside && place.offset >= 8 && place.head >= 8).then_some(place)
        };
        let all =
            blocks.iter().flatten().map(|block| place(block).ok_or_else(|| damaged("a message lies outside of it")));
        all.collect()
    };
    let schema = footer.schema().ok_or_else(|| damaged("its footer has no schema"))?;
    Ok(Layout {
        schema: schema_of(schema)?,
        version: version(footer.version())?,
        kind: Kind::File { dictionaries: places(footer.dictionaries())?, batches: places(footer.recordBatches())? },
        memory,
    })
}

fn of_stream(file: &SourceFile) -> Result<Layout> {
    let message = next(file, 0)?.ok_or_else(|| damaged("it has no schema"))?;
    let memory = message.place.head * PARSED_FACTOR;
    file.hold(memory)?;
    let parsed = message.parsed()?;
    let schema = parsed.header_as_schema().ok_or_else(|| damaged("it does not begin with a schema"))?;
    Ok(Layout {
        schema: schema_of(schema)?,
        version: version(parsed.version())?,
        kind: Kind::Stream { start: message.place.end() },
        memory,
    })
}

fn schema_of(schema: arrow_ipc::Schema<'_>) -> Result<SchemaRef> {
    if schema.endianness() != Endianness::Little {
        return Err(Error::unsupported("Arrow files of machines with the highest byte first are not supported"));
    }
    let schema = arrow_ipc::convert::try_fb_to_schema(schema);
    Ok(Arc::new(schema.map_err(|e| damaged(&format!("its schema is wrong: {}", line(&e.to_string()))))?))
}

fn version(version: MetadataVersion) -> Result<MetadataVersion> {
    match version {
        MetadataVersion::V4 | MetadataVersion::V5 => Ok(version),
        other => Err(Error::unsupported(format!("the version {other:?} of Arrow's metadata is not supported"))),
    }
}

/// Reads the head of the message at an offset; None at the end of a stream.
pub fn next(file: &SourceFile, offset: u64) -> Result<Option<Message>> {
    let left = file.len().saturating_sub(offset);
    if left == 0 {
        return Ok(None);
    }
    let outside = || damaged(&format!("the message at byte {offset} goes beyond its end"));
    let mut prefix = [0; 8];
    let n = left.min(8);
    if n < 4 {
        return Err(outside());
    }
    file.read_at(&mut prefix[..n as usize], offset)?;
    let number = |at: usize| i32::from_le_bytes(*prefix[at..].first_chunk().expect("it has four bytes"));
    let (length, before) = match number(0) {
        -1 if n < 8 => return Err(outside()),
        -1 => (number(4), 8),
        length => (length, 4),
    };
    if length == 0 {
        return Ok(None);
    }
    let length = u64::try_from(length).ok().filter(|length| *length <= left - before && *length <= HEAD_BYTES_MAX);
    let message = read_head(file, offset, before + length.ok_or_else(outside)?)?;
    if message.place.end() > file.len() {
        return Err(outside());
    }
    Ok(Some(message))
}

/// Reads the head of a message that a footer names.
pub fn at(file: &SourceFile, place: Place) -> Result<Message> {
    if place.head > HEAD_BYTES_MAX {
        return Err(damaged("the head of a message is too long"));
    }
    let message = read_head(file, place.offset, place.head)?;
    if message.place.body > place.body {
        return Err(damaged(&format!("the message at byte {} is longer than the footer says", place.offset)));
    }
    Ok(message)
}

fn read_head(file: &SourceFile, offset: u64, bytes: u64) -> Result<Message> {
    if bytes > 1 << 20 {
        file.hold(bytes * PARSED_FACTOR)?;
    }
    let mut head = vec![0; bytes as usize];
    file.read_at(&mut head, offset)?;
    let at = if head.starts_with(&[0xff; 4]) { 8 } else { 4 };
    if head.len() < at {
        return Err(damaged("a message is too short"));
    }
    let mut message = Message { place: Place { offset, head: bytes, body: 0 }, head, at };
    let parsed = message.parsed()?;
    let (body, kind) = (parsed.bodyLength(), parsed.header_type());
    version(parsed.version())?;
    let known = matches!(kind, MessageHeader::Schema | MessageHeader::DictionaryBatch | MessageHeader::RecordBatch);
    if !known {
        return Err(Error::unsupported(format!("messages of Arrow of the kind {kind:?} are not supported")));
    }
    message.place.body = u64::try_from(body).map_err(|_| damaged("a message has a negative length"))?;
    if message.place.body > file.len() {
        return Err(damaged(&format!("the message at byte {offset} goes beyond its end")));
    }
    Ok(message)
}

/// Returns the error of a damaged file.
#[cold]
pub fn damaged(what: &str) -> Error {
    Error::damaged(format!("the Arrow file is damaged: {}", line(what)))
}

/// Returns the error of a message of the crate.
pub fn of_text(text: &str) -> Error {
    damaged(text)
}
