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

/// A member of a compressed file in the making.
pub struct Member {
    encoder: Box<dyn Encoder>,
    /// Compressed bytes to write.
    pub packed: Vec<u8>,
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
        idle.map_or_else(|| Ok(Member { encoder: self.compression.encoder()?, packed: Vec::new() }), Ok)
    }

    /// Returns the compressor of a finished member, whose bytes are written.
    pub fn give_back(&self, mut member: Member) {
        member.packed.clear();
        self.idle.lock().unwrap_or_else(|e| e.into_inner()).push(member);
    }
}

impl Member {
    /// Compresses `bytes`.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.encoder.write(bytes, &mut self.packed)
    }

    /// Ends the member.
    pub fn finish(&mut self) -> Result<()> {
        self.encoder.finish(&mut self.packed)
    }
}
