//! Little-endian fields of structures, at a byte offset.
//!
//! Offsets come from a structure's definition, and a buffer is as long as its structure. No function checks bounds,
//! because no input can exceed them.

/// Returns the 16-bit number at `at`.
pub fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// Returns the 32-bit number at `at`.
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Returns the 64-bit number at `at`.
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// Joins the two halves of a 64-bit number.
pub fn u64_of(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Returns bit `at` of a bitmap, least significant bit of each byte first.
pub fn bit(bitmap: &[u8], at: usize) -> bool {
    bitmap[at / 8] >> (at % 8) & 1 == 1
}
