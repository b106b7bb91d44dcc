//! The writer: the records of a part become a Parquet file.

use arrow_schema::{DataType, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use yunti_api::{Any, Class, Context, Result, Sink, Writer, fail};

use crate::rows::{Bin, Rows};

/// Bytes of an encoded row group, about, unless `parquet.row.group.bytes` sets them.
const ROW_GROUP_BYTES: usize = 32 << 20;
/// Rows of a row group, at most.
const ROW_GROUP_ROWS_MAX: usize = 1 << 20;

/// Writer of one part.
pub struct ParquetWriter {
    rows: Rows,
    properties: WriterProperties,
    writer: Option<ArrowWriter<Bin>>,
    /// Memory of an open row group, at most: it is written earlier, so that the job stays in its budget.
    memory_max: usize,
    bin: Bin,
}

impl Class for ParquetWriter {
    fn create(context: &Context) -> Result<Self> {
        let rows = Rows::create_as(context, "parquet", stored)?;
        let codec = codec(context.setting("parquet.compression").unwrap_or("zstd"))?;
        let row_group = context.parse::<usize>("parquet.row.group.bytes")?.unwrap_or(ROW_GROUP_BYTES);
        let properties = WriterProperties::builder()
            .set_compression(codec)
            .set_created_by(concat!("yunti version ", env!("CARGO_PKG_VERSION")).into())
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS_MAX))
            .set_max_row_group_bytes(Some(row_group.max(1)))
            .build();
        let memory_max = context.parse::<usize>("yunti.writer.memory.bytes")?.unwrap_or(usize::MAX);
        Ok(ParquetWriter { rows, properties, writer: None, memory_max, bin: Bin::default() })
    }
}

/// Returns the type in which Parquet stores a type: it has no seconds, and the encoder would leave plain numbers.
fn stored(kind: DataType) -> DataType {
    match kind {
        DataType::Timestamp(TimeUnit::Second, zone) => DataType::Timestamp(TimeUnit::Millisecond, zone),
        DataType::Time32(TimeUnit::Second) => DataType::Time32(TimeUnit::Millisecond),
        other => other,
    }
}

fn codec(name: &str) -> Result<Compression> {
    Ok(match name {
        "none" => Compression::UNCOMPRESSED,
        "snappy" => Compression::SNAPPY,
        "gzip" => Compression::GZIP(GzipLevel::default()),
        "zstd" => Compression::ZSTD(ZstdLevel::try_new(1)?),
        "lz4" => Compression::LZ4_RAW,
        "brotli" => Compression::BROTLI(BrotliLevel::default()),
        _ => return fail(format!("parquet.compression={name}: use none, snappy, gzip, zstd, lz4 or brotli")),
    })
}

impl ParquetWriter {
    fn write_batch(&mut self) -> Result<()> {
        let Some(batch) = self.rows.take()? else { return Ok(()) };
        let memory_max = self.memory_max;
        let writer = self.writer()?;
        writer.write(&batch)?;
        if writer.memory_size() > memory_max {
            writer.flush()?;
        }
        Ok(())
    }

    fn writer(&mut self) -> Result<&mut ArrowWriter<Bin>> {
        match &mut self.writer {
            Some(writer) => Ok(writer),
            None => fail("a part has not begun"),
        }
    }
}

impl Writer for ParquetWriter {
    type Key = Any;
    type Value = Any;
    const WHOLE_PART: bool = true;
    const EXTENSION: Option<&'static std::ffi::CStr> = Some(c".parquet");

    fn begin(&mut self, _: &mut Sink<'_>) -> Result<()> {
        let properties = Some(self.properties.clone());
        self.writer = Some(ArrowWriter::try_new(self.bin.clone(), self.rows.schema().clone(), properties)?);
        Ok(())
    }

    fn write(&mut self, key: &[u8], value: &[u8], out: &mut Sink<'_>) -> Result<()> {
        if self.rows.push(key, value)? {
            self.write_batch()?;
            out.put(&self.bin.take())?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Sink<'_>) -> Result<()> {
        self.write_batch()?;
        self.writer()?.finish()?;
        out.put(&self.bin.take())?;
        self.writer = None;
        Ok(())
    }
}
