//! Many keys for one call of user code in the host.

/// Keys side by side.
///
/// ```text
///   bytes | key 0 | key 1    | key 2 |
///   ends          ^          ^       ^
/// ```
#[derive(Clone, Debug, Default)]
pub struct KeyBatch {
    /// The keys' bytes, as Hadoop serialises them.
    pub bytes: Vec<u8>,
    /// End of each key in `bytes`.
    pub ends: Vec<i32>,
}

impl KeyBatch {
    /// Removes all keys.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds a key.
    pub fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len() as i32);
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are no keys.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the key of this number.
    pub fn key(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.bytes[start..self.ends[number] as usize]
    }

    /// Returns the last key, if there is one.
    pub fn last(&self) -> Option<&[u8]> {
        let (_, before) = self.ends.split_last()?;
        Some(&self.bytes[before.last().map_or(0, |&end| end as usize)..])
    }
}
