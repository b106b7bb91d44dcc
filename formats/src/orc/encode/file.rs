//! An ORC file of version 0.12: stripes as they become large enough, then footer and postscript.
//!
//! Files have statistics, but no index in their stripes.

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use yunti_api::{Result, fail};

use super::column::ColumnWriter;
use super::{BLOCK_BYTES, Message, Packer};
use crate::orc::store::Codec;

/// Rows of a stripe, at most.
const STRIPE_ROWS_MAX: u64 = 1 << 20;
/// Number of this writer in footers: none of the well-known ones.
const WRITER: u64 = 89;
/// Version of writers that keep bounds of timestamps in UTC.
const WRITER_VERSION: u64 = 6;
const MAGIC: &[u8] = b"ORC";

/// Encoder of a file.
pub struct FileWriter {
    columns: Vec<ColumnWriter>,
    packer: Packer,
    /// Memory of an open stripe, at most.
    stripe_bytes: usize,
    /// Rows of the open stripe, and of the file.
    rows: u64,
    all_rows: u64,
    /// Bytes of the file so far.
    at: u64,
    stripes: Vec<Message>,
}

impl FileWriter {
    /// Begins a file. Fails for an unknown codec, and for a type that ORC does not have.
    pub fn begin(schema: &Schema, codec: &str, stripe_bytes: usize, out: &mut Vec<u8>) -> Result<FileWriter> {
        let columns = schema.fields().iter().map(|field| ColumnWriter::create(field.name(), field.data_type()));
        let (columns, packer) = (columns.collect::<Result<_>>()?, Packer::named(codec)?);
        out.extend_from_slice(MAGIC);
        let at = MAGIC.len() as u64;
        Ok(FileWriter { columns, packer, stripe_bytes, rows: 0, all_rows: 0, at, stripes: Vec::new() })
    }

    /// Adds rows. Appends stripes to `out`.
    pub fn add(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        for (column, array) in self.columns.iter_mut().zip(batch.columns()) {
            column.push(array, &mut self.packer)?;
        }
        self.rows += batch.num_rows() as u64;
        let bytes: usize = self.columns.iter_mut().map(ColumnWriter::bytes).sum();
        if bytes >= self.stripe_bytes || self.rows >= STRIPE_ROWS_MAX {
            self.end_stripe(out)?;
        }
        Ok(())
    }

    fn end_stripe(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut footer = Message::default();
        // The column of the whole row comes first.
        let mut encodings = vec![Message::default().number(1, 0)];
        let mut data_bytes = 0;
        for (number, column) in self.columns.iter_mut().enumerate() {
            let (streams, encoding) = column.finish(&mut self.packer)?;
            for (kind, bytes) in streams {
                let stream = Message::default().number(1, kind).number(2, number as u64 + 1);
                footer = footer.message(1, &stream.number(3, bytes.len() as u64));
                data_bytes += bytes.len() as u64;
                out.extend_from_slice(&bytes);
            }
            encodings.push(encoding);
        }
        footer = encodings.iter().fold(footer, |footer, encoding| footer.message(2, encoding));
        let footer = self.packed(&footer.bytes_of(3, b"UTC"))?;
        out.extend_from_slice(&footer);
        let place = Message::default().number(1, self.at).number(2, 0).number(3, data_bytes);
        self.stripes.push(place.number(4, footer.len() as u64).number(5, self.rows));
        self.at += data_bytes + footer.len() as u64;
        self.all_rows += self.rows;
        self.rows = 0;
        Ok(())
    }

    /// Ends the file: appends its last stripe and its end.
    pub fn finish(mut self, out: &mut Vec<u8>) -> Result<()> {
        self.end_stripe(out)?;
        let tail = self.tail()?;
        out.extend_from_slice(&tail);
        Ok(())
    }

    fn packed(&mut self, message: &Message) -> Result<Vec<u8>> {
        let mut packed = Vec::new();
        self.packer.pack(message.bytes(), &mut packed)?;
        Ok(packed)
    }

    /// Returns footer and postscript.
    fn tail(&mut self) -> Result<Vec<u8>> {
        let mut footer = Message::default().number(1, MAGIC.len() as u64).number(2, self.at);
        footer = self.stripes.iter().fold(footer, |footer, stripe| footer.message(3, stripe));
        let numbers: Vec<u32> = (1..=self.columns.len() as u32).collect();
        let top = Message::default().number(1, 12).packed(2, &numbers);
        let top = self.columns.iter().fold(top, |top, column| top.bytes_of(3, column.name.as_bytes()));
        footer = footer.message(4, &top);
        footer = self.columns.iter().fold(footer, |footer, column| footer.message(4, &column.kind()));
        let rows = Message::default().number(1, self.all_rows).number(10, 0);
        footer = footer.number(6, self.all_rows).message(7, &rows);
        footer = self.columns.iter().fold(footer, |footer, column| footer.message(7, &column.statistics.message()));
        let software = concat!("yunti version ", env!("CARGO_PKG_VERSION"));
        let footer = footer.number(8, 0).number(9, WRITER).bytes_of(12, software.as_bytes());
        let mut tail = self.packed(&footer)?;
        let codec = match self.packer.codec {
            Codec::None => 0,
            Codec::Zlib => 1,
            Codec::Snappy => 2,
            Codec::Lz4 => 4,
            Codec::Zstd => 5,
        };
        let post = Message::default().number(1, tail.len() as u64).number(2, codec).number(3, BLOCK_BYTES as u64);
        let post = post.packed(4, &[0, 12]).number(5, 0).number(6, WRITER_VERSION).bytes_of(8000, MAGIC);
        tail.extend_from_slice(post.bytes());
        let Ok(n) = u8::try_from(post.bytes().len()) else { return fail("the postscript is too long") };
        tail.push(n);
        Ok(tail)
    }
}
