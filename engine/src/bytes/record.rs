//! A record on its way through collect, run and reduce: key and value side by side, and the split that it came from.

/// `bytes` is the key, then the value. The split breaks ties of equal keys (a number that grows with the input's order).
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    pub bytes: &'a [u8],
    pub key_len: u32,
    pub split: u32,
}

impl<'a> Record<'a> {
    #[inline]
    pub fn key(&self) -> &'a [u8] {
        &self.bytes[..self.key_len as usize]
    }
    #[inline]
    pub fn value(&self) -> &'a [u8] {
        &self.bytes[self.key_len as usize..]
    }
}
