//! Groups: where the rows of 16 slots are, if rows have different lengths.
//!
//! ```text
//!   base, 8 bytes | 17 offsets from it, of 2 or 4 bytes: where each slot begins, and where the last one ends
//! ```

use std::ops::Range;

/// Slots of a group.
pub const GROUP: u64 = 16;
/// Bytes of a group with offsets of 2 bytes, and of 4.
pub const SHORT: usize = bytes(2);
pub const LONG: usize = bytes(4);

/// Returns the bytes of a group whose offsets have `offset_bytes` each.
pub const fn bytes(offset_bytes: usize) -> usize {
    8 + (GROUP as usize + 1) * offset_bytes
}

/// Returns where the bytes of a slot are among all rows; `None` if the numbers of the group contradict each other.
#[inline(always)]
pub fn in_short(group: &[u8; SHORT], slot: u64) -> Option<Range<u64>> {
    // One read of two offsets: where the slot begins and ends.
    let two = u32::from_le_bytes(*group.get(8 + 2 * (slot % GROUP) as usize..)?.first_chunk()?);
    range(group, u64::from(two & 0xffff), u64::from(two >> 16))
}

/// The same in a group with offsets of 4 bytes.
#[inline(always)]
pub fn in_long(group: &[u8; LONG], slot: u64) -> Option<Range<u64>> {
    let two = u64::from_le_bytes(*group.get(8 + 4 * (slot % GROUP) as usize..)?.first_chunk()?);
    range(group, two & 0xffff_ffff, two >> 32)
}

#[inline(always)]
fn range(group: &[u8], begin: u64, end: u64) -> Option<Range<u64>> {
    let base = u64::from_le_bytes(*group.first_chunk()?);
    let range = base.checked_add(begin)?..base.checked_add(end)?;
    (range.start <= range.end).then_some(range)
}
