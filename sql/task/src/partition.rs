//! The partitioner of blocks: their keys name the partition.

use yunti_api::{Bytes, Result, fail};

/// Sends each block to the partition in the first four bytes of its key.
#[derive(Default)]
pub struct Partitioner;

impl yunti_api::Partitioner for Partitioner {
    type InKey = Bytes;

    fn partition(&mut self, key: &[u8], _: &[u8], parts: u32) -> Result<u32> {
        match key.first_chunk::<4>().map(|first| u32::from_be_bytes(*first)) {
            Some(part) if part < parts => Ok(part),
            _ => fail("a block of rows names no partition"),
        }
    }
}
