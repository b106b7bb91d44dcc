//! Encoders that a job's writers share: one is taken for each member, and given back when the member is done.
//!
//! There are as many as workers write at once; what each takes was reserved before the job began (`job/plan/sizing.rs`).

use std::sync::Mutex;

use crate::codec::encode::{Compression, Encoder};
use yunti_base::Result;

/// Bytes that are compressed at a time.
pub const STEP_BYTES: usize = 256 << 10;

pub struct CompressorPool {
    compression: Compression,
    idle: Mutex<Vec<Member>>,
    /// What a file without a record consists of: no reader takes a file of zero bytes for a compressed one.
    empty_file: Vec<u8>,
}

/// What becomes of a worker's bytes.
pub struct Member {
    encoder: Box<dyn Encoder>,
    /// Compressed, to be written.
    pub packed: Vec<u8>,
}

impl CompressorPool {
    pub fn new(compression: Compression) -> Result<CompressorPool> {
        Ok(CompressorPool { compression, idle: Mutex::default(), empty_file: compression.of_nothing()? })
    }

    pub fn empty_file(&self) -> &[u8] {
        &self.empty_file
    }

    pub fn begin(&self) -> Result<Member> {
        let idle = self.idle.lock().unwrap_or_else(|e| e.into_inner()).pop();
        idle.map_or_else(|| Ok(Member { encoder: self.compression.encoder()?, packed: Vec::new() }), Ok)
    }

    /// A member that is finished, its bytes written.
    pub fn give_back(&self, mut member: Member) {
        member.packed.clear();
        self.idle.lock().unwrap_or_else(|e| e.into_inner()).push(member);
    }
}

impl Member {
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.encoder.write(bytes, &mut self.packed)
    }

    pub fn finish(&mut self) -> Result<()> {
        self.encoder.finish(&mut self.packed)
    }
}
