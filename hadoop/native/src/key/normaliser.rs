//! Normal forms of keys that only user code in the host knows, computed for thousands of keys at once.

use yunti_base::{Code, Error, Result};

use super::batch::KeyBatch;

/// A normaliser of keys in the host. Its errors have `Code::UserCode`.
pub trait Normaliser: Send + Sync {
    /// Returns the normal form of each key, in the order of the batch.
    fn normalise(&self, keys: &KeyBatch) -> Result<KeyBatch>;
}

/// Records whose keys wait for their normal forms.
///
/// ```text
///   keys      | own 0 | own 1 | ..   --normalise-->   normals  | normal 0 | normal 1 | ..
///   values    | value 0 | value 1 | ..
///   record    | normal | length of own: u32 | own | value |    (KeyForm::Carried)
/// ```
#[derive(Default)]
pub struct WaitingRecords {
    keys: KeyBatch,
    values: Vec<u8>,
    value_ends: Vec<usize>,
}

impl WaitingRecords {
    /// Adds a record.
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        self.keys.push(key);
        self.values.extend_from_slice(value);
        self.value_ends.push(self.values.len());
    }

    /// Returns the bytes of the records.
    pub fn bytes(&self) -> usize {
        self.keys.bytes.len() + self.values.len()
    }

    /// Passes the normal form, the key's own bytes and the value of each record to `each`, and removes the records.
    ///
    /// Fails with the error of the normaliser or of `each`.
    pub fn take(
        &mut self,
        normaliser: &dyn Normaliser,
        mut each: impl FnMut(&[u8], &[u8], &[u8]) -> Result<()>,
    ) -> Result<()> {
        if self.keys.is_empty() {
            return Ok(());
        }
        let normals = normaliser.normalise(&self.keys)?;
        if normals.len() != self.keys.len() {
            let found = format!("{} keys have {} normal forms", self.keys.len(), normals.len());
            return Err(Error::new(Code::Internal, found));
        }
        let mut from = 0;
        for (i, &end) in self.value_ends.iter().enumerate() {
            each(normals.key(i), self.keys.key(i), &self.values[from..end])?;
            from = end;
        }
        self.keys.clear();
        self.values.clear();
        self.value_ends.clear();
        Ok(())
    }
}
