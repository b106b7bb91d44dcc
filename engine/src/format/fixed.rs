//! Records of a fixed length, the key first (as in Hadoop's FixedLengthInputFormat, and TeraSort's 100 bytes with a key of 10).

/// Offsets of `n` records, for keys and values: kept and grown, since they never change.
pub struct FixedSplitter {
    record_bytes: u32,
    key_bytes: u32,
    pub key_offsets: Vec<u32>,
    pub key_lengths: Vec<u32>,
    pub value_offsets: Vec<u32>,
    pub value_lengths: Vec<u32>,
}

impl FixedSplitter {
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

    /// Makes the columns cover at least `n` records.
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
