//! Hash of ids: one multiplication, because ids are addresses and a scan looks up one for each object.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Map by id.
pub type IdMap<V> = HashMap<u64, V, BuildHasherDefault<IdHasher>>;

/// Map by the number of an object.
pub type NumberMap<V> = HashMap<u32, V, BuildHasherDefault<IdHasher>>;

/// Returns the hash of an id. The upper bits are the best of a product; tables take a place from the lower ones.
#[inline]
pub fn fold(id: u64) -> u64 {
    id.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)
}

/// Hasher of one id.
#[derive(Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = fold(self.0 ^ id);
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
