//! The sink behind reducers, folders and map-only mappers: emitted records go straight to the output.

use crate::operator::Sink;
use crate::operator::cursor::{HEADER_BYTES, Scratch, copied};
use crate::write::OutputWriter;
use yunti_base::Result;

pub struct WriterSink<'a> {
    writer: OutputWriter<'a>,
    block: Scratch,
}

impl<'a> WriterSink<'a> {
    pub fn new(writer: OutputWriter<'a>) -> Result<Self> {
        Ok(WriterSink { writer, block: Scratch::new()? })
    }

    pub fn into_writer(self) -> OutputWriter<'a> {
        self.writer
    }
}

impl Sink for WriterSink<'_> {
    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        Ok(self.block.block())
    }

    fn filled(&mut self, len: usize, _: usize, _: &[u8]) -> Result<(*mut u8, usize)> {
        let bytes = self.block.bytes(len);
        for (at, klen, vlen) in copied(bytes) {
            let key = at + HEADER_BYTES;
            self.writer.write(&bytes[key..key + klen], &bytes[key + klen..key + klen + vlen])?;
        }
        Ok(self.block.block())
    }

    fn big(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        self.writer.write(key, value)?;
        Ok(self.block.block())
    }
}
