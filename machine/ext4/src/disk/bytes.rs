//! Fields of structures: little endian, at an offset.
//!
//! Offsets are of the structure's definition, and buffers are as long as the structure: that they fit is ours to know, not the image's.

pub fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// Of two halves that lie apart.
pub fn u64_of(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

pub fn bit(bitmap: &[u8], at: usize) -> bool {
    bitmap[at / 8] >> (at % 8) & 1 == 1
}
