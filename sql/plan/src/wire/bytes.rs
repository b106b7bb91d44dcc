//! Numbers, texts and lists as bytes. Numbers take as many bytes as they need.

use yunti_base::Result;
use yunti_engine::bytes::varint;

use super::damaged;

/// Levels of a plan within each other, at most. A query of the front end has no more.
const DEPTH_MAX: u32 = 6000;

/// Bytes that grow.
#[derive(Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    pub fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub fn flag(&mut self, flag: bool) {
        self.byte(flag.into());
    }

    pub fn number(&mut self, number: u64) {
        varint::put(&mut self.0, number);
    }

    pub fn len(&mut self, len: usize) {
        self.number(len as u64);
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.len(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub fn fixed<const N: usize>(&mut self, bytes: [u8; N]) {
        self.0.extend_from_slice(&bytes);
    }

    /// Appends the number of items, then each.
    pub fn list<T>(&mut self, items: &[T], mut put: impl FnMut(&mut Writer, &T) -> Result<()>) -> Result<()> {
        self.len(items.len());
        items.iter().try_for_each(|item| put(self, item))
    }

    /// Appends an item that may be missing.
    pub fn option<T>(&mut self, item: Option<&T>, put: impl FnOnce(&mut Writer, &T) -> Result<()>) -> Result<()> {
        self.flag(item.is_some());
        item.map_or(Ok(()), |item| put(self, item))
    }
}

/// Bytes that are not read yet.
pub struct Reader<'a> {
    rest: &'a [u8],
    depth: u32,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes, depth: 0 }
    }

    /// Returns true if nothing is left.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or_else(|| damaged("it ends too early"))?;
        self.rest = rest;
        Ok(taken)
    }

    pub fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    pub fn flag(&mut self) -> Result<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(damaged("a flag is neither 0 nor 1")),
        }
    }

    pub fn number(&mut self) -> Result<u64> {
        let mut at = 0;
        let number = varint::get(self.rest, &mut at).ok_or_else(|| damaged("a number has no end"))?;
        self.take(at)?;
        Ok(number)
    }

    /// Returns a number of 32 bits.
    pub fn small(&mut self) -> Result<u32> {
        u32::try_from(self.number()?).map_err(|_| damaged("a number is too large"))
    }

    /// Returns the number of items that follow. Each takes a byte or more, so that no length is beyond the bytes.
    pub fn len(&mut self) -> Result<usize> {
        let len = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if len > self.rest.len() { Err(damaged("a length is beyond its end")) } else { Ok(len) }
    }

    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = self.len()?;
        self.take(len)
    }

    pub fn text(&mut self) -> Result<String> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map(Into::into).map_err(|_| damaged("a text is no UTF-8"))
    }

    pub fn fixed<const N: usize>(&mut self) -> Result<[u8; N]> {
        let taken = self.take(N)?;
        taken.first_chunk::<N>().copied().ok_or_else(|| damaged("it ends too early"))
    }

    pub fn list<T>(&mut self, mut take: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let len = self.len()?;
        // Memory grows with the items that are there, not with the length that the bytes claim.
        let mut items = Vec::with_capacity(len.min(1024));
        for _ in 0..len {
            items.push(take(self)?);
        }
        Ok(items)
    }

    pub fn option<T>(&mut self, take: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<T>> {
        if self.flag()? { take(self).map(Some) } else { Ok(None) }
    }

    /// Reads something that lies within something of its kind.
    pub fn within<T>(&mut self, take: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(damaged("it is too deep"));
        }
        let taken = take(self);
        self.depth -= 1;
        taken
    }
}
