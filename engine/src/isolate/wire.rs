//! Values of messages as bytes: little-endian numbers, and byte strings with their lengths before them.

use yunti_base::{Code, Error, Result};

/// Bytes that are written.
#[derive(Default)]
pub struct Put(pub Vec<u8>);

impl Put {
    pub fn u32(mut self, n: u32) -> Put {
        self.0.extend_from_slice(&n.to_le_bytes());
        self
    }
    pub fn u64(mut self, n: u64) -> Put {
        self.0.extend_from_slice(&n.to_le_bytes());
        self
    }
    pub fn bytes(self, bytes: &[u8]) -> Put {
        let mut put = self.u64(bytes.len() as u64);
        put.0.extend_from_slice(bytes);
        put
    }
    pub fn text(self, text: &str) -> Put {
        self.bytes(text.as_bytes())
    }
    /// Writes the number of items, then each.
    pub fn list<T>(self, items: impl ExactSizeIterator<Item = T>, mut one: impl FnMut(Put, T) -> Put) -> Put {
        let put = self.u64(items.len() as u64);
        items.fold(put, &mut one)
    }
}

/// Bytes that are read. Each method fails with `Code::UserCode` if the bytes end too early.
pub struct Take<'b>(pub &'b [u8]);

impl<'b> Take<'b> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk().ok_or_else(cut)?;
        self.0 = rest;
        Ok(*first)
    }
    pub fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }
    pub fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }
    pub fn bytes(&mut self) -> Result<&'b [u8]> {
        let len = self.u64()? as usize;
        let (bytes, rest) = self.0.split_at_checked(len).ok_or_else(cut)?;
        self.0 = rest;
        Ok(bytes)
    }
    pub fn text(&mut self) -> Result<String> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }
    pub fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let n = self.u64()?;
        (0..n).map(|_| one(self)).collect()
    }
}

fn cut() -> Error {
    Error::new(Code::UserCode, "a message of a worker process ends too early")
        .hint("its memory is damaged: check the class")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_was_written() {
        let put = Put::default().u32(7).text("name").list([1u64, 2].into_iter(), Put::u64).bytes(b"");
        let mut take = Take(&put.0);
        assert_eq!((take.u32().unwrap(), take.text().unwrap()), (7, "name".into()));
        assert_eq!(take.list(Take::u64).unwrap(), [1, 2]);
        assert_eq!(take.bytes().unwrap(), b"");
        assert!(take.u32().is_err());
        // A length beyond the bytes.
        assert!(Take(&u64::MAX.to_le_bytes()).bytes().is_err());
        assert!(Take(&u64::MAX.to_le_bytes()).list(Take::u32).is_err());
    }
}
