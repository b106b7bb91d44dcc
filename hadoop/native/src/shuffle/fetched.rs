//! One segment of a map's output while it is fetched, and afterwards: its bytes as they came, in memory or in the task's scratch files.

use std::io::Read;
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::run::{Extent, ScratchSpace};

use crate::ifile::reader::{CHECKSUM_BYTES, is_sound};

/// What goes to disk at once: fetchers hand over what a socket gives, some kilobytes.
const PIECE_BYTES: usize = 128 << 10;

pub struct Fetched {
    /// Of the map task, for errors.
    name: String,
    /// What the header promised, checksum counted in.
    length: u64,
    place: Place,
}

enum Place {
    Memory(Vec<u8>),
    Disk(OnDisk),
}

/// Pieces in the task's scratch files. A file of its own for each would be a thousand open files where a reduce has a thousand maps.
struct OnDisk {
    scratch: Arc<ScratchSpace>,
    extents: Vec<Extent>,
    written: u64,
    checksum: crc32fast::Hasher,
    /// What came last and is not written; the last bytes of it may be the checksum.
    pending: Vec<u8>,
}

impl Fetched {
    pub fn in_memory(name: String, length: u64) -> Result<Fetched> {
        let mut bytes = Vec::new();
        // The length is what somebody else says: where it is a lie, the process must not end.
        if usize::try_from(length).map_or(true, |length| bytes.try_reserve_exact(length).is_err()) {
            return Err(Error::new(
                Code::Corrupt,
                format!("the output of {name} has {length} bytes, too many for memory"),
            ));
        }
        Ok(Fetched { name, length, place: Place::Memory(bytes) })
    }

    pub fn on_disk(name: String, length: u64, scratch: Arc<ScratchSpace>) -> Fetched {
        let (extents, pending) = (Vec::new(), Vec::new());
        let on_disk = OnDisk { scratch, extents, written: 0, checksum: crc32fast::Hasher::new(), pending };
        Fetched { name, length, place: Place::Disk(on_disk) }
    }

    pub fn is_in_memory(&self) -> bool {
        matches!(self.place, Place::Memory(_))
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes what came.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.place {
            Place::Memory(all) => {
                if (all.len() + bytes.len()) as u64 > self.length {
                    return Err(self.wrong("is longer than its header says"));
                }
                all.extend_from_slice(bytes);
                Ok(())
            }
            Place::Disk(disk) => disk.append(bytes),
        }
    }

    /// All of it came: checks the length and the checksum.
    pub fn seal(&mut self) -> Result<()> {
        let (there, sound) = match &mut self.place {
            Place::Memory(all) => (all.len() as u64, is_sound(all)),
            Place::Disk(disk) => disk.seal()?,
        };
        if there != self.length {
            return Err(self.wrong(&format!("has {there} bytes of {}", self.length)));
        }
        if !sound {
            return Err(self.wrong("does not have the checksum that it says"));
        }
        Ok(())
    }

    fn wrong(&self, what: &str) -> Error {
        Error::new(Code::Corrupt, format!("the output of {} {what}", self.name))
    }

    /// The segment without its checksum, from the start.
    pub fn read(self: &Arc<Self>) -> impl Read + Send + 'static {
        Reader { fetched: self.clone(), at: 0, extent: 0, within: 0 }
    }
}

/// Its disk space is given back.
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

    /// Writes what came, but for what may be the checksum.
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

    /// How many bytes came, and whether the last ones are their checksum.
    fn seal(&mut self) -> Result<(u64, bool)> {
        self.write()?;
        self.pending.shrink_to_fit();
        let sound = self.pending == self.checksum.clone().finalize().to_be_bytes();
        Ok((self.written + self.pending.len() as u64, sound))
    }
}

struct Reader {
    fetched: Arc<Fetched>,
    at: u64,
    /// On disk: which piece, and how much of it was read.
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
