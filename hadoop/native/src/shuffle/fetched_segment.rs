//! One segment of a map's output, during the fetch and after it. Its bytes are kept as received, in memory or in the
//! task's scratch files.

use std::io::Read;
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::run::{Extent, ScratchSpace};

use crate::ifile::reader::{CHECKSUM_BYTES, is_sound};

/// Bytes written to disk at once; fetchers pass on what a socket returns, some kilobytes.
const PIECE_BYTES: usize = 128 << 10;

/// The bytes of one segment.
pub struct FetchedSegment {
    /// Name of the map task, for errors.
    name: String,
    /// Length in the header, with the checksum.
    length: u64,
    place: Place,
}

enum Place {
    Memory(Vec<u8>),
    Disk(OnDisk),
}

/// Pieces in the task's scratch files. With a file for each segment, a reduce of a thousand maps would have a thousand
/// open files.
struct OnDisk {
    scratch: Arc<ScratchSpace>,
    extents: Vec<Extent>,
    written: u64,
    checksum: crc32fast::Hasher,
    /// Latest bytes, not written yet; the last of them may be the checksum.
    pending: Vec<u8>,
}

impl FetchedSegment {
    /// Returns an empty segment in memory. Fails with `Code::Memory` if `length` bytes cannot be allocated.
    pub fn in_memory(name: String, length: u64) -> Result<FetchedSegment> {
        let mut bytes = Vec::new();
        // The length comes from another process; a wrong one must not end this process.
        if usize::try_from(length).map_or(true, |length| bytes.try_reserve_exact(length).is_err()) {
            return Err(Error::new(
                Code::Corrupt,
                format!("the output of {name} has {length} bytes, too many for memory"),
            ));
        }
        Ok(FetchedSegment { name, length, place: Place::Memory(bytes) })
    }

    /// Returns an empty segment in scratch files.
    pub fn on_disk(name: String, length: u64, scratch: Arc<ScratchSpace>) -> FetchedSegment {
        let (extents, pending) = (Vec::new(), Vec::new());
        let on_disk = OnDisk { scratch, extents, written: 0, checksum: crc32fast::Hasher::new(), pending };
        FetchedSegment { name, length, place: Place::Disk(on_disk) }
    }

    /// Returns true for a segment in memory.
    pub fn is_in_memory(&self) -> bool {
        matches!(self.place, Place::Memory(_))
    }

    /// Returns the length with the checksum.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the name of the map task.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds received bytes. Fails with `Code::Corrupt` if they exceed the length, or with the error of a scratch write.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.place {
            Place::Memory(all) => {
                if (all.len() + bytes.len()) as u64 > self.length {
                    return Err(self.wrong("is longer than its header allows"));
                }
                all.extend_from_slice(bytes);
                Ok(())
            }
            Place::Disk(disk) => disk.append(bytes),
        }
    }

    /// Ends the segment: fails with `Code::Corrupt` if its length or checksum is wrong.
    pub fn seal(&mut self) -> Result<()> {
        let (there, sound) = match &mut self.place {
            Place::Memory(all) => (all.len() as u64, is_sound(all)),
            Place::Disk(disk) => disk.seal()?,
        };
        if there != self.length {
            return Err(self.wrong(&format!("has {there} bytes of {}", self.length)));
        }
        if !sound {
            return Err(self.wrong("has a wrong checksum"));
        }
        Ok(())
    }

    fn wrong(&self, what: &str) -> Error {
        Error::new(Code::Corrupt, format!("the output of {} {what}", self.name))
    }

    /// Returns a reader of the segment without its checksum.
    pub fn read(self: &Arc<Self>) -> impl Read + Send + 'static {
        Reader { fetched: self.clone(), at: 0, extent: 0, within: 0 }
    }
}

/// Frees the disk space.
impl Drop for OnDisk {
    fn drop(&mut self) {
        self.extents.iter().for_each(|&extent| self.scratch.free(extent));
    }
}

impl OnDisk {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= PIECE_BYTES + CHECKSUM_BYTES {
            self.write()?;
        }
        Ok(())
    }

    /// Writes the pending bytes, without the last ones, which may be the checksum.
    fn write(&mut self) -> Result<()> {
        let ready = self.pending.len().saturating_sub(CHECKSUM_BYTES);
        if ready > 0 {
            self.extents.push(self.scratch.write(&[&self.pending[..ready]])?);
            self.checksum.update(&self.pending[..ready]);
            self.written += ready as u64;
            self.pending.drain(..ready);
        }
        Ok(())
    }

    /// Returns the number of bytes received, and true if the last ones are their checksum.
    fn seal(&mut self) -> Result<(u64, bool)> {
        self.write()?;
        self.pending.shrink_to_fit();
        let sound = self.pending == self.checksum.clone().finalize().to_be_bytes();
        Ok((self.written + self.pending.len() as u64, sound))
    }
}

struct Reader {
    fetched: Arc<FetchedSegment>,
    at: u64,
    /// Position on disk: number of the piece, and bytes read of it.
    extent: usize,
    within: u32,
}

impl Read for Reader {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let end = self.fetched.length.saturating_sub(CHECKSUM_BYTES as u64);
        let mut n = to.len().min((end - self.at) as usize);
        match &self.fetched.place {
            Place::Memory(all) => to[..n].copy_from_slice(&all[self.at as usize..][..n]),
            Place::Disk(disk) if n > 0 => {
                let Extent { offset, len, file } = disk.extents[self.extent];
                n = n.min((len - self.within) as usize);
                let part = Extent { offset: offset + u64::from(self.within), len: n as u32, file };
                disk.scratch.read(part, &mut to[..n]).map_err(|e| std::io::Error::other(e.to_string()))?;
                self.within += n as u32;
                if self.within == len {
                    (self.extent, self.within) = (self.extent + 1, 0);
                }
            }
            Place::Disk(_) => {}
        }
        self.at += n as u64;
        Ok(n)
    }
}
