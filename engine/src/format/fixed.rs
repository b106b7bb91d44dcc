//! Records of a fixed length, the key first, as in Hadoop's FixedLengthInputFormat (and TeraSort: 100 bytes with a key
//! of 10).

/// Key and value columns of a batch. They never change, so they are kept and only grow.
pub struct FixedSplitter {
    record_bytes: u32,
    key_bytes: u32,
    /// Offset of each key in the batch.
    pub key_offsets: Vec<u32>,
    /// Length of each key in bytes.
    pub key_lengths: Vec<u32>,
    /// Offset of each value in the batch.
    pub value_offsets: Vec<u32>,
    /// Length of each value in bytes.
    pub value_lengths: Vec<u32>,
}

impl FixedSplitter {
    /// Returns empty columns for records of `record_bytes` with keys of `key_bytes`.
    pub fn new(record_bytes: u32, key_bytes: u32) -> FixedSplitter {
        FixedSplitter {
            record_bytes,
            key_bytes,
            key_offsets: Vec::new(),
            key_lengths: Vec::new(),
            value_offsets: Vec::new(),
            value_lengths: Vec::new(),
        }
    }

    /// Extends the columns to at least `n` records.
    pub fn cover(&mut self, n: usize) {
        for i in self.key_offsets.len()..n {
            let at = i as u32 * self.record_bytes;
            self.key_offsets.push(at);
            self.key_lengths.push(self.key_bytes);
            self.value_offsets.push(at + self.key_bytes);
            self.value_lengths.push(self.record_bytes - self.key_bytes);
        }
    }
}
