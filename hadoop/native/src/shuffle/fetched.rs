//! One segment of a map's output while it is fetched, and afterwards: its bytes as they came, in memory or in a file of its own.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use yunti_engine::base::{Code, Error, Result};
use yunti_engine::env::{Files, NamedFile};

use crate::ifile::reader::{CHECKSUM_BYTES, is_sound};

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

struct OnDisk {
    /// Without a name: nothing is left behind.
    file: NamedFile,
    written: u64,
    checksum: crc32fast::Hasher,
    /// The last bytes, which may be the checksum.
    tail: Vec<u8>,
}

impl Fetched {
    pub fn in_memory(name: String, length: u64) -> Fetched {
        Fetched { name, length, place: Place::Memory(Vec::with_capacity(length as usize)) }
    }

    pub fn on_disk(name: String, length: u64, files: &dyn Files, directory: &Path) -> Result<Fetched> {
        let file = files.scratch(directory).map_err(|e| {
            Error::io(Code::Output, "cannot make a file for map output", &e).at_path(directory.to_string_lossy())
        })?;
        let file = NamedFile::new(file, directory, Code::Output);
        let on_disk = OnDisk { file, written: 0, checksum: crc32fast::Hasher::new(), tail: Vec::new() };
        Ok(Fetched { name, length, place: Place::Disk(on_disk) })
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
            Place::Disk(disk) => (disk.written + disk.tail.len() as u64, disk.is_sound()),
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
        Reader { fetched: self.clone(), at: 0 }
    }
}

impl OnDisk {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.tail.extend_from_slice(bytes);
        let ready = self.tail.len().saturating_sub(CHECKSUM_BYTES);
        self.checksum.update(&self.tail[..ready]);
        self.file.write_all(&self.tail[..ready], self.written)?;
        self.written += ready as u64;
        self.tail.drain(..ready);
        Ok(())
    }

    fn is_sound(&self) -> bool {
        self.tail == self.checksum.clone().finalize().to_be_bytes()
    }
}

struct Reader {
    fetched: Arc<Fetched>,
    at: u64,
}

impl Read for Reader {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let end = self.fetched.length.saturating_sub(CHECKSUM_BYTES as u64);
        let n = to.len().min((end - self.at) as usize);
        match &self.fetched.place {
            Place::Memory(all) => to[..n].copy_from_slice(&all[self.at as usize..][..n]),
            Place::Disk(disk) => {
                let read = disk.file.read_exact(&mut to[..n], self.at);
                read.map_err(|e| std::io::Error::other(e.to_string()))?;
            }
        }
        self.at += n as u64;
        Ok(n)
    }
}
