//! Source of an image's bytes.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

/// An image file, a device, or bytes in memory; read only.
pub trait Source {
    /// Size in bytes.
    fn size(&self) -> io::Result<u64>;

    /// Fills the buffer from byte `offset` on, or fails.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

impl Source for File {
    fn size(&self) -> io::Result<u64> {
        // The metadata of a device does not include its size.
        (&mut &*self).seek(SeekFrom::End(0))
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(buffer, offset)
    }
}

impl Source for [u8] {
    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let found = usize::try_from(offset).ok().and_then(|from| self.get(from..from.checked_add(buffer.len())?));
        buffer.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}
