//! Bytes of a plain block, value by value: varints, lengths, and limits on what values may cost.

use yunti_api::{Error, Result};

use crate::file::varint;

/// Values in a row that take no byte, at most: lists of nulls have any length.
const IDLE_MAX: u32 = 1 << 24;
/// Memory by which the request to the budget grows at a time.
const HOLD_STEP: u64 = 1 << 20;

/// Place in a block.
pub struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    idle: u32,
    /// Memory of the values that were decoded since `restart`.
    spent: u64,
    held: u64,
    /// Takes memory for decoded values from the budget, in total.
    hold: &'a mut dyn FnMut(u64) -> Result<()>,
}

impl<'a> Input<'a> {
    /// Begins at an offset of a plain block.
    pub fn new(bytes: &'a [u8], at: usize, hold: &'a mut dyn FnMut(u64) -> Result<()>) -> Input<'a> {
        Input { bytes, at, idle: 0, spent: 0, held: 0, hold }
    }

    /// Returns the offset in the block.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the bytes that follow.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Returns the memory of the values so far.
    pub fn spent(&self) -> u64 {
        self.spent
    }

    /// Counts the memory of a value before it is built. Fails if the budget has too little.
    #[inline]
    pub fn spend(&mut self, bytes: usize) -> Result<()> {
        self.spent += bytes as u64;
        if self.spent > self.held { self.grow() } else { Ok(()) }
    }

    #[cold]
    fn grow(&mut self) -> Result<()> {
        // Columns double their places while they grow.
        self.held = self.spent + HOLD_STEP;
        (self.hold)(2 * self.held)
    }

    /// Counts a value that takes no byte. Fails for a list of too many.
    pub fn idle(&mut self) -> Result<()> {
        self.idle += 1;
        if self.idle > IDLE_MAX { Err(damaged("more values than bytes")) } else { Ok(()) }
    }

    /// Returns the next bytes.
    #[inline]
    pub fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(n).filter(|&end| end <= self.bytes.len()).ok_or_else(cut)?;
        let bytes = &self.bytes[self.at..end];
        self.at = end;
        if n > 0 {
            self.idle = 0;
        }
        Ok(bytes)
    }

    /// Returns the next byte.
    #[inline]
    pub fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    /// Returns a number of 64 bits.
    #[inline]
    pub fn long(&mut self) -> Result<i64> {
        let n = varint::read(|| self.byte())?;
        n.map(varint::unzigzag).ok_or_else(|| damaged("a number of more than 64 bits"))
    }

    /// Returns a number of 32 bits.
    #[inline]
    pub fn int(&mut self) -> Result<i32> {
        i32::try_from(self.long()?).map_err(|_| damaged("an int of more than 32 bits"))
    }

    /// Returns the bytes of a string or of bytes.
    #[inline]
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let n = usize::try_from(self.long()?).map_err(|_| damaged("a negative length"))?;
        self.take(n)
    }

    /// Returns the number of items of the next part of an array or map, and its bytes if it declares them; 0: its end.
    pub fn part(&mut self) -> Result<(u64, Option<u64>)> {
        let count = self.long()?;
        if count >= 0 {
            return Ok((count as u64, None));
        }
        let bytes = u64::try_from(self.long()?).map_err(|_| damaged("a negative length"))?;
        Ok((count.unsigned_abs(), Some(bytes)))
    }

    /// Reads the items of an array or map, of all its parts.
    pub fn items(&mut self, mut item: impl FnMut(&mut Input<'a>) -> Result<()>) -> Result<()> {
        loop {
            match self.part()? {
                (0, _) => return Ok(()),
                (count, _) => (0..count).try_for_each(|_| item(self))?,
            }
        }
    }

    /// Skips bytes.
    pub fn skip(&mut self, n: u64) -> Result<()> {
        self.take(usize::try_from(n).map_err(|_| cut())?).map(|_| ())
    }
}

#[cold]
fn cut() -> Error {
    damaged("a value that goes beyond its block")
}

/// Returns the error of a damaged file.
#[cold]
pub fn damaged(what: &str) -> Error {
    Error::damaged(format!("the Avro file is damaged: it has {what}"))
}
