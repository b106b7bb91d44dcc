//! One segment of a map's output, during the fetch and after it. Its bytes are kept as received, in memory or in the
//! task's scratch files; or they stay in the map's file, if that is on this machine.

use std::io::{Error as IoError, ErrorKind, Read};
use std::path::PathBuf;
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::env::{File, OpenFilePool};
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
    Map(MapFile),
}

/// The map's own file.
struct MapFile {
    files: Arc<OpenFilePool>,
    path: PathBuf,
    /// Where the segment begins.
    offset: u64,
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

    /// Returns a complete segment: `length` bytes from `offset` of a map's file, which is opened by its readers.
    pub fn in_map_file(
        name: String,
        files: Arc<OpenFilePool>,
        path: PathBuf,
        offset: u64,
        length: u64,
    ) -> FetchedSegment {
        FetchedSegment { name, length, place: Place::Map(MapFile { files, path, offset }) }
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
            Place::Map(_) => Err(self.wrong("is complete already")),
        }
    }

    /// Ends the segment: fails with `Code::Corrupt` if its length or checksum is wrong.
    pub fn seal(&mut self) -> Result<()> {
        let (there, sound) = match &mut self.place {
            Place::Memory(all) => (all.len() as u64, is_sound(all)),
            Place::Disk(disk) => disk.seal()?,
            // Its readers check it, so that it is read once.
            Place::Map(_) => return Ok(()),
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
    pub fn read(self: &Arc<Self>) -> Box<dyn Read + Send> {
        match self.place {
            Place::Map(_) => {
                Box::new(MapFileReader { fetched: self.clone(), file: None, at: 0, checksum: crc32fast::Hasher::new() })
            }
            _ => Box::new(Reader { fetched: self.clone(), at: 0, extent: 0, within: 0 }),
        }
    }

    /// Returns the length without the checksum.
    fn body_bytes(&self) -> u64 {
        self.length.saturating_sub(CHECKSUM_BYTES as u64)
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
        let mut n = to.len().min((self.fetched.body_bytes() - self.at) as usize);
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
            Place::Disk(_) | Place::Map(_) => {}
        }
        self.at += n as u64;
        Ok(n)
    }
}

/// Reads a segment of a map's file, and checks it at its end.
struct MapFileReader {
    fetched: Arc<FetchedSegment>,
    file: Option<Arc<dyn File>>,
    at: u64,
    checksum: crc32fast::Hasher,
}

impl MapFileReader {
    fn check(&mut self, file: &dyn File, from: u64) -> std::io::Result<()> {
        let mut there = [0; CHECKSUM_BYTES];
        let mut read = 0;
        while read < CHECKSUM_BYTES {
            match file.read_at(&mut there[read..], from + self.at + read as u64)? {
                0 => return Err(self.damaged("ends too early")),
                n => read += n,
            }
        }
        match there == self.checksum.clone().finalize().to_be_bytes() {
            true => Ok(()),
            false => Err(self.damaged("has a wrong checksum")),
        }
    }

    fn damaged(&self, what: &str) -> IoError {
        IoError::new(ErrorKind::InvalidData, self.fetched.wrong(what).to_string())
    }
}

impl Read for MapFileReader {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let fetched = self.fetched.clone();
        let Place::Map(MapFile { files, path, offset }) = &fetched.place else { return Ok(0) };
        let left = fetched.body_bytes() - self.at;
        if left == 0 {
            return Ok(0);
        }
        let file = match &self.file {
            Some(file) => file.clone(),
            None => self.file.insert(files.open(path)?).clone(),
        };
        let n = to.len().min(left as usize);
        let n = file.read_at(&mut to[..n], offset + self.at)?;
        if n == 0 && !to.is_empty() {
            return Err(self.damaged("ends too early"));
        }
        self.checksum.update(&to[..n]);
        self.at += n as u64;
        if self.at == fetched.body_bytes() {
            self.check(&*file, *offset)?;
        }
        Ok(n)
    }
}
