//! The writers: the records of a part become an Arrow file or an Arrow stream.

use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use yunti_api::{Any, Class, Context, Result, Sink, Writer, fail};

use crate::rows::{Bin, Rows};

/// Writer of one part as a file.
pub struct ArrowWriter(Part);
/// Writer of one part as a stream.
pub struct ArrowStreamWriter(Part);

struct Part {
    rows: Rows,
    options: IpcWriteOptions,
    encoder: Option<Encoder>,
    bin: Bin,
}

enum Encoder {
    File(Box<FileWriter<Bin>>),
    Stream(Box<StreamWriter<Bin>>),
}

impl Encoder {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Encoder::File(writer) => writer.write(batch)?,
            Encoder::Stream(writer) => writer.write(batch)?,
        }
        Ok(())
    }
}

impl Part {
    fn create(context: &Context) -> Result<Part> {
        let codec = match context.setting("arrow.compression").unwrap_or("lz4") {
            "none" => None,
            "lz4" => Some(CompressionType::LZ4_FRAME),
            "zstd" => Some(CompressionType::ZSTD),
            other => return fail(format!("arrow.compression={other}: use none, lz4 or zstd")),
        };
        let options = IpcWriteOptions::default().try_with_compression(codec)?;
        Ok(Part { rows: Rows::create(context, "arrow")?, options, encoder: None, bin: Bin::default() })
    }

    fn begin(&mut self, is_file: bool, out: &mut Sink<'_>) -> Result<()> {
        let (bin, schema, options) = (self.bin.clone(), self.rows.schema(), self.options.clone());
        self.encoder = Some(match is_file {
            true => Encoder::File(Box::new(FileWriter::try_new_with_options(bin, schema, options)?)),
            false => Encoder::Stream(Box::new(StreamWriter::try_new_with_options(bin, schema, options)?)),
        });
        out.put(&self.bin.take())?;
        Ok(())
    }

    fn write(&mut self, key: &[u8], value: &[u8], out: &mut Sink<'_>) -> Result<()> {
        if self.rows.push(key, value)? { self.write_batch(out) } else { Ok(()) }
    }

    fn write_batch(&mut self, out: &mut Sink<'_>) -> Result<()> {
        if let (Some(batch), Some(encoder)) = (self.rows.take()?, &mut self.encoder) {
            encoder.write(&batch)?;
            out.put(&self.bin.take())?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Sink<'_>) -> Result<()> {
        self.write_batch(out)?;
        match self.encoder.take() {
            Some(Encoder::File(mut writer)) => writer.finish()?,
            Some(Encoder::Stream(mut writer)) => writer.finish()?,
            None => return fail("a part has not begun"),
        }
        out.put(&self.bin.take())?;
        Ok(())
    }
}

impl Class for ArrowWriter {
    fn create(context: &Context) -> Result<Self> {
        Part::create(context).map(ArrowWriter)
    }
}

impl Class for ArrowStreamWriter {
    fn create(context: &Context) -> Result<Self> {
        Part::create(context).map(ArrowStreamWriter)
    }
}

impl Writer for ArrowWriter {
    type Key = Any;
    type Value = Any;
    const WHOLE_PART: bool = true;
    const EXTENSION: Option<&'static std::ffi::CStr> = Some(c".arrow");

    fn begin(&mut self, out: &mut Sink<'_>) -> Result<()> {
        self.0.begin(true, out)
    }

    fn write(&mut self, key: &[u8], value: &[u8], out: &mut Sink<'_>) -> Result<()> {
        self.0.write(key, value, out)
    }

    fn end(&mut self, out: &mut Sink<'_>) -> Result<()> {
        self.0.end(out)
    }
}

impl Writer for ArrowStreamWriter {
    type Key = Any;
    type Value = Any;
    const WHOLE_PART: bool = true;
    const EXTENSION: Option<&'static std::ffi::CStr> = Some(c".arrows");

    fn begin(&mut self, out: &mut Sink<'_>) -> Result<()> {
        self.0.begin(false, out)
    }

    fn write(&mut self, key: &[u8], value: &[u8], out: &mut Sink<'_>) -> Result<()> {
        self.0.write(key, value, out)
    }

    fn end(&mut self, out: &mut Sink<'_>) -> Result<()> {
        self.0.end(out)
    }
}
