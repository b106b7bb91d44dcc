//! The encoder of bzip2 streams.

use ::bzip2::{Action, Compress, Compression, Status};

use super::{Encoder, failed};
use yunti_base::Result;

/// Bytes of room before each call.
const ROOM_BYTES: usize = 32 << 10;

/// Encoder of bzip2 streams.
pub struct Bzip2 {
    level: Compression,
    /// Encoder of the current stream.
    open: Option<Compress>,
}

impl Bzip2 {
    /// Returns an encoder; levels are 1 to 9.
    pub fn new(level: i32) -> Bzip2 {
        Bzip2 { level: Compression::new(level.clamp(1, 9) as u32), open: None }
    }

    fn open(&mut self) -> &mut Compress {
        let level = self.level;
        self.open.get_or_insert_with(|| Compress::new(level, 0))
    }
}

impl Encoder for Bzip2 {
    fn write(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let stream = self.open();
        while !bytes.is_empty() {
            out.reserve(ROOM_BYTES);
            let before = stream.total_in();
            stream.compress_vec(bytes, out, Action::Run).map_err(|e| failed("bzip2", e))?;
            bytes = &bytes[(stream.total_in() - before) as usize..];
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let stream = self.open();
        loop {
            out.reserve(ROOM_BYTES);
            if stream.compress_vec(&[], out, Action::Finish).map_err(|e| failed("bzip2", e))? == Status::StreamEnd {
                self.open = None;
                return Ok(());
            }
        }
    }
}
