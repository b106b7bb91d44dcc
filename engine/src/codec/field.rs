//! A field of a few bytes that may be spread over several calls.

/// Up to `N` bytes, gathered over calls.
pub struct Field<const N: usize> {
    bytes: [u8; N],
    have: usize,
}

impl<const N: usize> Default for Field<N> {
    fn default() -> Self {
        Field { bytes: [0; N], have: 0 }
    }
}

impl<const N: usize> Field<N> {
    /// Returns true if no byte has been gathered.
    pub fn is_empty(&self) -> bool {
        self.have == 0
    }

    /// Returns the bytes gathered so far.
    pub fn have(&self) -> &[u8] {
        &self.bytes[..self.have]
    }

    /// Takes bytes from the front of the input until there are `wanted`; returns their number.
    pub fn gather(&mut self, input: &[u8], wanted: usize) -> usize {
        let take = wanted.saturating_sub(self.have).min(input.len());
        self.bytes[self.have..self.have + take].copy_from_slice(&input[..take]);
        self.have += take;
        take
    }

    /// Returns the first `wanted` bytes, if they are complete.
    pub fn peek(&self, wanted: usize) -> Option<&[u8]> {
        self.have().get(..wanted)
    }

    /// Returns the field, if it has `wanted` bytes, and starts the next one.
    pub fn take(&mut self, wanted: usize) -> Option<[u8; N]> {
        (self.have == wanted).then(|| {
            self.have = 0;
            self.bytes
        })
    }
}
