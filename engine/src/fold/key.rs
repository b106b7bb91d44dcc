//! A key on its way into the table.

use super::slot::SHORT_BYTES;

/// Key as the table compares it; see the drawing in slot.rs. For a long key, `k0` is the hash and `k1` is 0.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Key {
    /// First eight bytes of a short key, little-endian.
    pub k0: u64,
    /// Next eight bytes.
    pub k1: u64,
    /// Length and order, as in a slot.
    pub meta: u64,
    /// First slot of the key's home, in the slot array that the batch was hashed for.
    pub home: u64,
}

impl Key {
    /// Returns true for keys of more than 16 bytes.
    #[inline(always)]
    pub fn is_long(&self) -> bool {
        self.meta as u32 as usize > SHORT_BYTES
    }
}
