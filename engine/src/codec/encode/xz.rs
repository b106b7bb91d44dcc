//! The encoder of xz streams, with a CRC64 as the tool has it.

use liblzma::stream::{Action, Check, Status, Stream};

use super::{Encoder, failed};
use yunti_base::{Code, Error, Result};

/// Bytes of room before each call.
const ROOM_BYTES: usize = 32 << 10;

/// Returns the memory for compression in bytes, by level, as xz(1) documents it.
pub fn memory_bytes(level: i32) -> u64 {
    const MIB: [u64; 10] = [3, 9, 17, 32, 48, 94, 94, 186, 370, 674];
    (MIB[level.clamp(0, 9) as usize] + 1) << 20
}

/// Encoder of xz streams.
pub struct Xz {
    level: u32,
    /// Encoder of the current stream.
    open: Option<Stream>,
}

impl Xz {
    /// Returns an encoder; levels are 0 to 9.
    pub fn new(level: i32) -> Xz {
        Xz { level: level.clamp(0, 9) as u32, open: None }
    }

    fn open(&mut self) -> Result<&mut Stream> {
        let stream = match self.open.take() {
            Some(stream) => stream,
            None => Stream::new_easy_encoder(self.level, Check::Crc64)
                .map_err(|_| Error::new(Code::Memory, "no memory for an xz encoder"))?,
        };
        Ok(self.open.insert(stream))
    }
}

impl Encoder for Xz {
    fn write(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let stream = self.open()?;
        while !bytes.is_empty() {
            out.reserve(ROOM_BYTES);
            let before = stream.total_in();
            stream.process_vec(bytes, out, Action::Run).map_err(|e| failed("xz", e))?;
            bytes = &bytes[(stream.total_in() - before) as usize..];
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let stream = self.open()?;
        loop {
            out.reserve(ROOM_BYTES);
            if stream.process_vec(&[], out, Action::Finish).map_err(|e| failed("xz", e))? == Status::StreamEnd {
                self.open = None;
                return Ok(());
            }
        }
    }
}
