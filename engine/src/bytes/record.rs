//! A record in collect, run and reduce: the key and the value side by side, with the number of the input split.

/// A key and a value side by side. Splits are numbered in the order of the input; the number breaks ties between equal
/// keys.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The key, then the value.
    pub bytes: &'a [u8],
    /// Length of the key in bytes.
    pub key_len: u32,
    /// Number of the input split.
    pub split: u32,
}

impl<'a> Record<'a> {
    /// Returns the key.
    #[inline]
    pub fn key(&self) -> &'a [u8] {
        &self.bytes[..self.key_len as usize]
    }
    /// Returns the value.
    #[inline]
    pub fn value(&self) -> &'a [u8] {
        &self.bytes[self.key_len as usize..]
    }
}
