//! A record in collect, run and reduce: the key and the value side by side, with the number of the input split; and the
//! bytes of many records, for counters.

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

/// Bytes of emitted records, for counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordBytes {
    /// Bytes of keys and values.
    pub content: u64,
    /// Bytes beyond the first of the length that Hadoop writes before each key, if it is text.
    pub key_lengths: u64,
    /// The same of values.
    pub value_lengths: u64,
}

/// Longest text whose length Hadoop writes in one byte.
pub const ONE_BYTE_LENGTH_MAX: usize = 127;

/// Returns the bytes beyond the first of a length in Hadoop's variable form (`WritableUtils.writeVInt`).
#[inline]
pub fn length_bytes_beyond_one(len: usize) -> u64 {
    match len {
        0..=ONE_BYTE_LENGTH_MAX => 0,
        _ => u64::from((usize::BITS - len.leading_zeros()).div_ceil(8)),
    }
}

impl RecordBytes {
    /// Returns the bytes of `n` records of the same lengths.
    pub fn of_equal(n: usize, key: usize, value: usize) -> RecordBytes {
        let mut bytes = RecordBytes::default();
        bytes.add_equal(n, key, value);
        bytes
    }

    /// Adds one record.
    #[inline]
    pub fn add(&mut self, key: usize, value: usize) {
        self.add_equal(1, key, value);
    }

    /// Adds `n` records of the same lengths.
    #[inline]
    pub fn add_equal(&mut self, n: usize, key: usize, value: usize) {
        self.content += (n * (key + value)) as u64;
        if key | value > ONE_BYTE_LENGTH_MAX {
            self.key_lengths += n as u64 * length_bytes_beyond_one(key);
            self.value_lengths += n as u64 * length_bytes_beyond_one(value);
        }
    }
}

impl std::ops::AddAssign for RecordBytes {
    #[inline]
    fn add_assign(&mut self, other: RecordBytes) {
        self.content += other.content;
        self.key_lengths += other.key_lengths;
        self.value_lengths += other.value_lengths;
    }
}

impl std::ops::Sub for RecordBytes {
    type Output = RecordBytes;

    fn sub(self, before: RecordBytes) -> RecordBytes {
        RecordBytes {
            content: self.content - before.content,
            key_lengths: self.key_lengths - before.key_lengths,
            value_lengths: self.value_lengths - before.value_lengths,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_hadoop() {
        // Bytes of WritableUtils.getVIntSize, less one.
        for (len, more) in
            [(0, 0), (127, 0), (128, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 3), (0xff_ffff, 3), (0x100_0000, 4)]
        {
            assert_eq!(length_bytes_beyond_one(len), more, "{len}");
        }
        let mut bytes = RecordBytes::default();
        bytes.add(3, 300);
        bytes.add_equal(2, 200, 5);
        assert_eq!(bytes, RecordBytes { content: 713, key_lengths: 2, value_lengths: 2 });
        assert_eq!(bytes - bytes, RecordBytes::default());
    }
}
