//! The writer: the records of a part become a SequenceFile of version 6, plain or compressed in blocks.
//!
//! ```text
//!   number of the job's types     IntWritable, LongWritable, FloatWritable, DoubleWritable
//!   bytes                         Text, or the class of `sequence.types` for the column
//!   several columns               Text, with the columns as they stand in the record
//! ```

use std::hash::{DefaultHasher, Hasher};

use yunti_api::{Any, Class, Context, Error, Result, Sink, Writer, fail};

use super::codec;
use super::header::{Header, SYNC_BYTES};
use super::writable::{Writable, put_vlong};
use crate::cells::record;

/// Bytes between two markers of a plain file, as Hadoop has them.
const SYNC_INTERVAL_BYTES: u64 = 5 * 1024 * 20;
/// Plain bytes of a block, as of `io.seqfile.compress.blocksize`, unless `sequence.block.bytes` sets them.
const BLOCK_BYTES: usize = 1_000_000;
/// Bytes of a plain file that wait for the engine.
const STAGED_BYTES: usize = 64 << 10;

/// Writer of one part.
pub struct SequenceWriter {
    header: Header,
    sides: [Side; 2],
    block_bytes: usize,
    /// True once the header is written.
    has_begun: bool,
    records: u64,
    /// Lengths of keys, keys, lengths of values, values of the open block.
    parts: [Vec<u8>; 4],
    /// Records of a plain file.
    staged: Vec<u8>,
    /// Bytes since the last marker.
    since_sync: u64,
}

/// Key or value of the records.
struct Side {
    class: Writable,
    kind: Kind,
}

/// Type of the job.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nothing,
    /// One column of bytes; `marks`: escaped, and `\N` is a null.
    Column {
        marks: bool,
    },
    /// Several columns, which stay as they stand.
    Columns,
    I32,
    I64,
    U32,
    U64,
    F32,
    F64,
}

impl Side {
    fn of(kind: &str, names: &str, default: &str, is_named: bool, marks: bool, types: &str) -> Result<Side> {
        let n = names.lines().count();
        let name = names.lines().next().unwrap_or(default);
        let mut declared = None;
        for line in types.lines().filter(|line| !line.trim().is_empty()) {
            let wrong = || Error::new(format!("sequence.types: '{line}' is not NAME=CLASS, such as key=BytesWritable"));
            let (column, kind) = line.rsplit_once('=').ok_or_else(wrong)?;
            // Types without a class of their own stay text.
            let class = Writable::of_type(kind).unwrap_or(Writable::Text);
            // The first one of a name counts.
            if column == name && declared.is_none() {
                declared = Some(class);
            }
        }
        let number = |kind, class| Ok(Side { class: declared.unwrap_or(class), kind });
        match kind {
            "none" => Ok(Side { class: Writable::Null, kind: Kind::Nothing }),
            "bytes" if is_named && n == 0 => Ok(Side { class: Writable::Null, kind: Kind::Nothing }),
            "bytes" if n > 1 => Ok(Side { class: Writable::Text, kind: Kind::Columns }),
            "bytes" => Ok(Side { class: declared.unwrap_or(Writable::Text), kind: Kind::Column { marks } }),
            _ if n > 1 => fail(format!("the {default} is a number: it has one column, not {n}")),
            "i32" => number(Kind::I32, Writable::Int),
            "i64" => number(Kind::I64, Writable::Long),
            "u32" => number(Kind::U32, Writable::Long),
            "u64" => number(Kind::U64, Writable::Long),
            "f32" => number(Kind::F32, Writable::Float),
            "f64" => number(Kind::F64, Writable::Double),
            other => fail(format!("a SequenceFile cannot hold values of the type {other}")),
        }
    }

    /// Appends the key or value of a record.
    fn put(&self, bytes: &[u8], to: &mut Vec<u8>) -> Result<()> {
        fn number<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
            bytes.try_into().map_err(|_| Error::new("a number of a record has another length than its type"))
        }
        let text = match self.kind {
            Kind::Nothing => return Ok(()),
            Kind::Columns | Kind::Column { marks: false } => return self.class.put_text(bytes, to),
            Kind::Column { marks: true } => {
                let cell = record::split(bytes).next().flatten();
                return match cell {
                    Some(cell) => self.class.put_text(&cell, to),
                    None if matches!(self.class, Writable::Text | Writable::Bytes | Writable::Null) => {
                        self.class.put_text(b"", to)
                    }
                    None => fail(format!("a null is no {}: declare the column as Text", self.class.class())),
                };
            }
            Kind::I32 => i32::from_le_bytes(number(bytes)?).to_string(),
            Kind::I64 => i64::from_le_bytes(number(bytes)?).to_string(),
            Kind::U32 => u32::from_le_bytes(number(bytes)?).to_string(),
            Kind::U64 => u64::from_le_bytes(number(bytes)?).to_string(),
            Kind::F32 => ryu::Buffer::new().format(f32::from_le_bytes(number(bytes)?)).to_string(),
            Kind::F64 => ryu::Buffer::new().format(f64::from_le_bytes(number(bytes)?)).to_string(),
        };
        self.class.put_text(text.as_bytes(), to)
    }
}

impl Class for SequenceWriter {
    fn create(context: &Context) -> Result<Self> {
        let setting = |name: &str| context.setting(name).unwrap_or_default();
        let types = context.setting("yunti.writer.types").unwrap_or("bytes bytes");
        let (key, value) = types.split_once(' ').unwrap_or((types, "none"));
        let (keys, values) = (setting("yunti.writer.key.columns"), setting("yunti.writer.value.columns"));
        let is_named = !keys.is_empty() || !values.is_empty();
        let marks = setting("columns.mark.nulls").trim() == "true";
        let declared = setting("sequence.types");
        let side = |kind, names, default| Side::of(kind, names, default, is_named, marks, declared);
        let sides = [side(key, keys, "key")?, side(value, values, "value")?];
        let name = context.setting("sequence.compression").unwrap_or("deflate");
        let codec = match (name, codec::of_name(name)) {
            ("none", _) => None,
            (_, Some(codec)) => Some(codec),
            _ => {
                let known = "none, deflate, gzip, bzip2, snappy, lz4 or zstd";
                return fail(format!("sequence.compression={name}: use {known}"));
            }
        };
        let header = Header {
            version: 6,
            key: sides[0].class,
            value: sides[1].class,
            codec,
            in_blocks: codec.is_some(),
            metadata: Vec::new(),
            sync: [0; SYNC_BYTES],
            end: 0,
        };
        Ok(SequenceWriter {
            header,
            sides,
            block_bytes: context.parse::<usize>("sequence.block.bytes")?.unwrap_or(BLOCK_BYTES),
            has_begun: false,
            records: 0,
            parts: Default::default(),
            staged: Vec::new(),
            since_sync: 0,
        })
    }
}

impl SequenceWriter {
    /// Writes the header unless it is written. The marker depends on the classes and the first bytes alone, so that a
    /// job writes the same bytes each time.
    fn begin_with(&mut self, first: &[u8], out: &mut Sink<'_>) -> Result<()> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        let mut sync = [0; SYNC_BYTES];
        self.header.sync = sync;
        let head = self.header.bytes();
        for (number, half) in sync.chunks_mut(8).enumerate() {
            let mut hasher = DefaultHasher::new();
            hasher.write_usize(number);
            hasher.write(&head);
            hasher.write(first);
            half.copy_from_slice(&hasher.finish().to_le_bytes());
        }
        self.header.sync = sync;
        out.put(&self.header.bytes())?;
        Ok(())
    }

    fn write_staged(&mut self, out: &mut Sink<'_>) -> Result<()> {
        let staged = std::mem::take(&mut self.staged);
        self.begin_with(&staged, out)?;
        out.put(&staged)?;
        self.staged = staged;
        self.staged.clear();
        Ok(())
    }

    fn write_block(&mut self, out: &mut Sink<'_>) -> Result<()> {
        if self.records == 0 {
            return Ok(());
        }
        let Some(codec) = self.header.codec else { return fail("a block needs a codec") };
        let parts = std::mem::take(&mut self.parts);
        self.begin_with(&parts.concat(), out)?;
        let mut block = vec![0xff; 4];
        block.extend_from_slice(&self.header.sync);
        put_vlong(self.records as i64, &mut block);
        let mut stored = Vec::new();
        for part in &parts {
            stored.clear();
            codec.encode(part, &mut stored)?;
            put_vlong(stored.len() as i64, &mut block);
            block.extend_from_slice(&stored);
        }
        out.put(&block)?;
        self.parts = parts;
        self.parts.iter_mut().for_each(Vec::clear);
        self.records = 0;
        Ok(())
    }

    fn write_in_block(&mut self, key: &[u8], value: &[u8], out: &mut Sink<'_>) -> Result<()> {
        for (number, bytes) in [key, value].into_iter().enumerate() {
            let start = self.parts[2 * number + 1].len();
            self.sides[number].put(bytes, &mut self.parts[2 * number + 1])?;
            let length = self.parts[2 * number + 1].len() - start;
            put_vlong(length as i64, &mut self.parts[2 * number]);
        }
        self.records += 1;
        if self.parts[1].len() + self.parts[3].len() >= self.block_bytes { self.write_block(out) } else { Ok(()) }
    }

    fn write_plain(&mut self, key: &[u8], value: &[u8], out: &mut Sink<'_>) -> Result<()> {
        if self.since_sync >= SYNC_INTERVAL_BYTES {
            self.write_staged(out)?;
            self.staged.extend_from_slice(&[0xff; 4]);
            self.staged.extend_from_slice(&self.header.sync);
            self.since_sync = 0;
        }
        let start = self.staged.len();
        self.staged.extend_from_slice(&[0; 8]);
        self.sides[0].put(key, &mut self.staged)?;
        let middle = self.staged.len();
        self.sides[1].put(value, &mut self.staged)?;
        let lengths = [self.staged.len() - start - 8, middle - start - 8];
        for (number, length) in lengths.into_iter().enumerate() {
            let length = i32::try_from(length).map_err(|_| Error::new("a record has more than 2 GiB"))?;
            self.staged[start + 4 * number..][..4].copy_from_slice(&length.to_be_bytes());
        }
        self.since_sync += (self.staged.len() - start) as u64;
        if self.staged.len() >= STAGED_BYTES { self.write_staged(out) } else { Ok(()) }
    }
}

impl Writer for SequenceWriter {
    type Key = Any;
    type Value = Any;
    const WHOLE_PART: bool = true;
    const EXTENSION: Option<&'static std::ffi::CStr> = Some(c".seq");

    fn write(&mut self, key: &[u8], value: &[u8], out: &mut Sink<'_>) -> Result<()> {
        match self.header.in_blocks {
            true => self.write_in_block(key, value, out),
            false => self.write_plain(key, value, out),
        }
    }

    fn end(&mut self, out: &mut Sink<'_>) -> Result<()> {
        self.write_block(out)?;
        self.write_staged(out)?;
        (self.has_begun, self.since_sync) = (false, 0);
        Ok(())
    }
}
