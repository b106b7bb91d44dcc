//! Compressors that a job's writers share. A writer takes one for each member, and returns it when the member is
//! finished.
//!
//! There are as many as workers that write at once. Their memory is reserved before the job begins
//! (`job/plan/sizing.rs`).

use crate::codec::encode::{Compression, Encoder};
use crate::env::sync::Mutex;
use yunti_base::Result;

/// Bytes compressed at a time.
pub const STEP_BYTES: usize = 256 << 10;

/// Pool of compressors for one kind of compression.
pub struct CompressorPool {
    compression: Compression,
    idle: Mutex<Vec<Member>>,
    /// Contents of a file without records: readers take no file of zero bytes for a compressed one.
    empty_file: Vec<u8>,
}

/// A stretch of a compressed file in the making: one member, or several if it is long.
pub struct Member {
    encoder: Box<dyn Encoder>,
    /// Compressed bytes to write.
    pub packed: Vec<u8>,
    /// Bytes compressed since the encoder began a member of the file.
    raw_bytes: u64,
    raw_bytes_max: u64,
}

impl CompressorPool {
    /// Makes an empty pool. Errors are those of the compressor.
    pub fn new(compression: Compression) -> Result<CompressorPool> {
        Ok(CompressorPool { compression, idle: Mutex::default(), empty_file: compression.of_nothing()? })
    }

    /// Returns the contents of a file without records.
    pub fn empty_file(&self) -> &[u8] {
        &self.empty_file
    }

    /// Takes an idle compressor, or makes one.
    pub fn begin(&self) -> Result<Member> {
        let idle = self.idle.lock().unwrap_or_else(|e| e.into_inner()).pop();
        let raw_bytes_max = self.compression.member_bytes();
        let make =
            || Ok(Member { encoder: self.compression.encoder()?, packed: Vec::new(), raw_bytes: 0, raw_bytes_max });
        idle.map_or_else(make, Ok)
    }

    /// Returns the compressor of a finished member, whose bytes are written.
    pub fn give_back(&self, mut member: Member) {
        member.packed.clear();
        self.idle.lock().unwrap_or_else(|e| e.into_inner()).push(member);
    }
}

impl Member {
    /// Compresses `bytes`. A long member becomes several, so that readers can cut the file.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            if self.raw_bytes >= self.raw_bytes_max {
                self.finish()?;
            }
            let room = (self.raw_bytes_max - self.raw_bytes).min(bytes.len() as u64);
            let (now, rest) = bytes.split_at(room as usize);
            self.raw_bytes += room;
            self.encoder.write(now, &mut self.packed)?;
            bytes = rest;
        }
        Ok(())
    }

    /// Ends the member.
    pub fn finish(&mut self) -> Result<()> {
        self.raw_bytes = 0;
        self.encoder.finish(&mut self.packed)
    }
}
