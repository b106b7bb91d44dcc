//! Files held in memory under a root that no disk has: the output of one job of a chain, and the input of the next.
//!
//! A file is a sequence of chunks. A chunk is in memory while there is room, otherwise in scratch space. Each stretch
//! in scratch has a checksum (CRC32C), is read whole, and is read once more if the checksum differs. Each byte is
//! written once. All other paths are passed to the file system below.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::bytes::checksum::{Crc32c, crc32c};
use crate::env::files::{LockScope, Meta};
use crate::env::sync::{Mutex, RwLock};
use crate::env::{File, Files, Storage, StorageKind};
use crate::run::ScratchSpace;
use crate::run::scratch::Extent;
use yunti_base::Error;
use yunti_base::store_protocol::Traffic;

/// Root of all held paths. The kernel refuses to create files there.
const ROOT: &str = "/proc/self/yunti-chain";

/// Bytes of a chunk.
const CHUNK_BYTES: usize = if cfg!(debug_assertions) { 4 << 10 } else { 1 << 20 };

/// File system whose files under `ROOT` are held in memory or scratch space.
pub struct HeldFiles {
    below: Arc<dyn Files>,
    shared: Arc<Shared>,
    /// Held paths; a directory has no file.
    names: Mutex<BTreeMap<PathBuf, Option<Arc<HeldFile>>>>,
}

struct Shared {
    /// Scratch space for chunks without room in memory.
    scratch: Arc<ScratchSpace>,
    /// Bytes of memory that chunks may still take.
    room: AtomicU64,
    spilled: AtomicU64,
}

struct HeldFile {
    shared: Arc<Shared>,
    inner: RwLock<Inner>,
    /// Stretch that was read from scratch last.
    last: Mutex<Option<(u64, Arc<Vec<u8>>)>>,
}

#[derive(Default)]
struct Inner {
    len: u64,
    chunks: Vec<Chunk>,
    /// Stretches in scratch with their checksums, by offset.
    stretches: BTreeMap<u64, (Extent, u32)>,
    marks: Vec<u64>,
}

#[derive(Default)]
enum Chunk {
    #[default]
    Empty,
    Memory(Box<[u8]>),
    Scratch,
}

impl HeldFiles {
    /// Holds files in at most `bytes` of memory, and the rest in `scratch`. Other paths go to `below`.
    pub fn new(below: Arc<dyn Files>, bytes: u64, scratch: Arc<ScratchSpace>) -> HeldFiles {
        let shared = Shared { scratch, room: AtomicU64::new(bytes), spilled: AtomicU64::new(0) };
        HeldFiles { below, shared: Arc::new(shared), names: Mutex::default() }
    }

    /// Returns the path of a held file or directory.
    pub fn path(name: &str) -> PathBuf {
        Path::new(ROOT).join(name)
    }

    /// Returns the bytes that did not fit in memory so far.
    pub fn spilled_bytes(&self) -> u64 {
        self.shared.spilled.load(Ordering::Relaxed)
    }

    fn holds(path: &Path) -> bool {
        path.starts_with(ROOT)
    }

    fn names(&self) -> crate::env::sync::MutexGuard<'_, BTreeMap<PathBuf, Option<Arc<HeldFile>>>> {
        self.names.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn find(&self, path: &Path) -> io::Result<Arc<HeldFile>> {
        match self.names().get(path) {
            Some(Some(file)) => Ok(file.clone()),
            Some(None) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn add(&self, path: &Path, file: Option<Arc<HeldFile>>) -> io::Result<()> {
        let mut names = self.names();
        if names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        names.insert(path.into(), file);
        Ok(())
    }

    fn remove(&self, of: impl Fn(&Path) -> bool) {
        self.names().retain(|name, _| !of(name));
    }
}

impl Shared {
    fn take_room(&self) -> bool {
        let bytes = CHUNK_BYTES as u64;
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| room.checked_sub(bytes)).is_ok()
    }
}

impl Inner {
    /// Makes chunks up to byte `end`.
    fn extend(&mut self, end: u64) {
        self.chunks.resize_with(self.chunks.len().max(end.div_ceil(CHUNK_BYTES as u64) as usize), Chunk::default);
        self.len = self.len.max(end);
    }
}

impl HeldFile {
    fn write(&self) -> crate::env::sync::RwLockWriteGuard<'_, Inner> {
        self.inner.write().unwrap_or_else(|e| e.into_inner())
    }

    fn read(&self) -> crate::env::sync::RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns the stretch in scratch that has the byte at `offset`, and where it begins.
    fn stretch(&self, inner: &Inner, offset: u64) -> io::Result<(u64, Arc<Vec<u8>>)> {
        let lost = || io::Error::other("a held output is not where it was written");
        let (&from, &(extent, crc)) = inner.stretches.range(..=offset).next_back().ok_or_else(lost)?;
        if offset - from >= u64::from(extent.len) {
            return Err(lost());
        }
        let mut last = self.last.lock().unwrap_or_else(|e| e.into_inner());
        if let Some((_, bytes)) = last.as_ref().filter(|(at, _)| *at == from) {
            return Ok((from, bytes.clone()));
        }
        let mut bytes = vec![0; extent.len as usize];
        for _ in 0..2 {
            self.shared.scratch.read(extent, &mut bytes).map_err(as_io)?;
            if crc32c(&bytes) == crc {
                let bytes = Arc::new(bytes);
                *last = Some((from, bytes.clone()));
                return Ok((from, bytes));
            }
            self.shared.scratch.note_bad_read(extent);
        }
        let place = self.shared.scratch.path(extent);
        let damaged = format!("a held output came back damaged from {place}: run the job again");
        Err(io::Error::new(io::ErrorKind::InvalidData, damaged))
    }
}

/// Converts an error of a lower floor for callers that know file errors only.
fn as_io(e: Error) -> io::Error {
    io::Error::other(e.to_string())
}

impl Drop for HeldFile {
    fn drop(&mut self) {
        let inner = self.read();
        inner.stretches.values().for_each(|(extent, _)| self.shared.scratch.free(*extent));
        let held = inner.chunks.iter().filter(|chunk| matches!(chunk, Chunk::Memory(_))).count() * CHUNK_BYTES;
        self.shared.room.fetch_add(held as u64, Ordering::Relaxed);
    }
}

impl File for HeldFile {
    /// Reads at most up to the end of a chunk.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let inner = self.read();
        let (number, at) = ((offset / CHUNK_BYTES as u64) as usize, (offset % CHUNK_BYTES as u64) as usize);
        let n = inner.len.saturating_sub(offset).min((CHUNK_BYTES - at) as u64).min(buffer.len() as u64) as usize;
        let buffer = &mut buffer[..n];
        match inner.chunks.get(number) {
            _ if n == 0 => Ok(0),
            Some(Chunk::Memory(bytes)) => {
                buffer.copy_from_slice(&bytes[at..at + n]);
                Ok(n)
            }
            Some(Chunk::Scratch) => {
                let (from, bytes) = self.stretch(&inner, offset)?;
                let bytes = &bytes[(offset - from) as usize..];
                let n = n.min(bytes.len());
                buffer[..n].copy_from_slice(&bytes[..n]);
                Ok(n)
            }
            _ => {
                buffer.fill(0);
                Ok(n)
            }
        }
    }

    /// Writes at most up to the end of a chunk.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let mut inner = self.write();
        let (number, at) = ((offset / CHUNK_BYTES as u64) as usize, (offset % CHUNK_BYTES as u64) as usize);
        let n = (CHUNK_BYTES - at).min(bytes.len());
        inner.extend(offset + n as u64);
        if matches!(inner.chunks[number], Chunk::Empty) {
            inner.chunks[number] =
                if self.shared.take_room() { Chunk::Memory(vec![0; CHUNK_BYTES].into()) } else { Chunk::Scratch };
        }
        if let Chunk::Memory(chunk) = &mut inner.chunks[number] {
            chunk[at..at + n].copy_from_slice(&bytes[..n]);
            return Ok(n);
        }
        drop(inner);
        let extent = self.shared.scratch.write(&[&bytes[..n]]).map_err(as_io)?;
        self.write().stretches.insert(offset, (extent, crc32c(&bytes[..n])));
        self.shared.spilled.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.read().len)
    }

    fn allocate(&self, _: u64) -> io::Result<()> {
        Ok(())
    }

    /// Cuts the length. Chunks stay, since nothing is allocated ahead.
    fn truncate(&self, len: u64) -> io::Result<()> {
        let mut inner = self.write();
        if len < inner.len {
            inner.len = len;
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn punch(&self, _: u64, _: u64) {}

    /// Unsupported: the jobs of a chain use the file one after the other.
    fn lock(&self) -> io::Result<LockScope> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn keeps_marks(&self) -> bool {
        true
    }

    fn mark(&self, offset: u64) {
        self.write().marks.push(offset);
    }
}

impl Files for HeldFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        if !Self::holds(path) {
            return self.below.open(path);
        }
        Ok(self.find(path)?)
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        if !Self::holds(path) {
            return self.below.create(path);
        }
        let file = Arc::new(HeldFile { shared: self.shared.clone(), inner: RwLock::default(), last: Mutex::default() });
        self.add(path, Some(file.clone()))?;
        Ok(file)
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        if Self::holds(path) { self.open(path) } else { self.below.open_to_write(path) }
    }

    fn open_max(&self) -> usize {
        self.below.open_max()
    }

    fn scratch(&self, dir: &Path) -> io::Result<Arc<dyn File>> {
        self.below.scratch(dir)
    }

    /// Held files have no time, so a later attempt knows them by their bytes.
    fn content_hash(&self, path: &Path) -> io::Result<Option<u64>> {
        if !Self::holds(path) {
            return self.below.content_hash(path);
        }
        let file = self.find(path)?;
        let mut buffer = vec![0; CHUNK_BYTES];
        let (mut hash, mut at) = (Crc32c::new(), 0);
        loop {
            match file.read_at(&mut buffer, at)? {
                0 => return Ok(Some(u64::from(hash.finish()))),
                n => {
                    hash.update(&buffer[..n]);
                    at += n as u64;
                }
            }
        }
    }

    fn stdin(&self) -> Arc<dyn File> {
        self.below.stdin()
    }

    fn stdout(&self) -> Arc<dyn File> {
        self.below.stdout()
    }

    fn meta(&self, path: &Path) -> io::Result<Meta> {
        if !Self::holds(path) {
            return self.below.meta(path);
        }
        if path == Path::new(ROOT) {
            return Ok(Meta { len: 0, is_dir: true, is_stream: false, modified_ms: 0 });
        }
        match self.names().get(path) {
            Some(Some(file)) => Ok(Meta { len: file.read().len, is_dir: false, is_stream: false, modified_ms: 0 }),
            Some(None) => Ok(Meta { len: 0, is_dir: true, is_stream: false, modified_ms: 0 }),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        if !Self::holds(dir) {
            return self.below.list(dir);
        }
        Ok(self.names().keys().filter(|path| path.parent() == Some(dir)).cloned().collect())
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        if Self::holds(path) { self.add(path, None) } else { self.below.create_dir(path) }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if !Self::holds(from) {
            return self.below.rename(from, to);
        }
        let mut names = self.names();
        let moved: Vec<PathBuf> = names.keys().filter(|name| name.starts_with(from)).cloned().collect();
        for name in moved {
            let Ok(rest) = name.strip_prefix(from) else { continue };
            let new = if rest.as_os_str().is_empty() { to.into() } else { to.join(rest) };
            if let Some(file) = names.remove(&name) {
                names.insert(new, file);
            }
        }
        Ok(())
    }

    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        if Self::holds(a) { Err(io::ErrorKind::Unsupported.into()) } else { self.below.exchange(a, b) }
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        if !Self::holds(path) {
            return self.below.remove_file(path);
        }
        self.remove(|name| name == path);
        Ok(())
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        if Self::holds(path) { self.remove_file(path) } else { self.below.remove_dir(path) }
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        if !Self::holds(path) {
            return self.below.remove_dir_all(path);
        }
        self.remove(|name| name.starts_with(path));
        Ok(())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        if Self::holds(path) { Ok(()) } else { self.below.sync_dir(path) }
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        if Self::holds(path) { Ok(u64::MAX) } else { self.below.free_bytes(path) }
    }

    fn storage(&self, dir: &Path) -> Option<Storage> {
        if Self::holds(dir) {
            return Some(Storage::without_device(StorageKind::Memory, "held"));
        }
        self.below.storage(dir)
    }

    fn is_shared(&self, path: &Path) -> bool {
        !Self::holds(path) && self.below.is_shared(path)
    }

    fn upcoming(&self, pieces: &[(&Path, u64, u64)]) {
        self.below.upcoming(pieces);
    }
    fn transfer_bytes(&self, limit: u64) -> u64 {
        self.below.transfer_bytes(limit)
    }

    fn traffic(&self) -> Option<Traffic> {
        self.below.traffic()
    }

    fn marks(&self, path: &Path) -> Vec<u64> {
        if !Self::holds(path) {
            return self.below.marks(path);
        }
        let mut marks = self.find(path).map_or_else(|_| Vec::new(), |file| file.read().marks.clone());
        marks.sort_unstable();
        marks.dedup();
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::clock::RealClock;
    use crate::env::random::Random;
    use crate::env::real::RealFiles;

    fn space(files: Arc<dyn Files>) -> Arc<ScratchSpace> {
        ScratchSpace::new(files, Arc::new(RealClock::start()), vec!["/none".into(), std::env::temp_dir()])
    }

    #[test]
    fn reads_back_bytes_from_memory_and_scratch() {
        let files = HeldFiles::new(Arc::new(RealFiles), 3 * CHUNK_BYTES as u64, space(Arc::new(RealFiles)));
        let dir = HeldFiles::path("1");
        files.create_dir(&dir).unwrap();
        let mut random = Random::new(3);
        let mut expect = vec![0u8; 10 * CHUNK_BYTES + 77];
        let file = files.create(&dir.join("part")).unwrap();
        assert!(files.create(&dir.join("part")).is_err());
        // Stretches of any length, the last ones first.
        let mut ends = vec![expect.len()];
        while ends[ends.len() - 1] > 0 {
            let end = ends[ends.len() - 1];
            ends.push(end.saturating_sub(1 + random.below(2 * CHUNK_BYTES as u64) as usize));
        }
        for pair in ends.windows(2) {
            let (from, to) = (pair[1], pair[0]);
            expect[from..to].fill(random.next_u64() as u8);
            let mut at = from;
            while at < to {
                at += file.write_at(&expect[at..to], at as u64).unwrap();
            }
        }
        files.rename(&dir, &HeldFiles::path("2")).unwrap();
        let path = HeldFiles::path("2").join("part");
        drop(file);
        assert_eq!(files.list(&HeldFiles::path("2")).unwrap(), [path.clone()]);
        assert_eq!(files.meta(&path).unwrap().len, expect.len() as u64);
        let file = files.open(&path).unwrap();
        let mut got = vec![1u8; expect.len() + 9];
        let mut at = 0;
        loop {
            match file.read_at(&mut got[at..], at as u64).unwrap() {
                0 => break,
                n => at += n,
            }
        }
        assert!(got[..at] == expect);
        assert!(files.spilled_bytes() > 0);
        // From the middle of a stretch, in small steps.
        for at in (0..expect.len()).step_by(1717) {
            let mut three = [0; 3];
            let n = file.read_at(&mut three, at as u64).unwrap();
            assert!(n > 0 && three[..n] == expect[at..at + n], "{at}");
        }
        // Removal frees the memory.
        drop(file);
        files.remove_dir_all(&HeldFiles::path("2")).unwrap();
        assert!(files.open(&path).is_err());
        assert_eq!(files.shared.room.load(Ordering::Relaxed), 3 * CHUNK_BYTES as u64);
    }

    #[test]
    fn permanent_damage_is_an_error_and_a_single_bad_read_is_not() {
        use crate::env::faulty::{Fault, FaultyFiles};
        let read = |nth: u64, sticky: bool| {
            let below = Arc::new(FaultyFiles::new(Arc::new(RealFiles), nth, sticky, Fault::Torn));
            let files = HeldFiles::new(below.clone(), 0, space(below.clone()));
            let path = HeldFiles::path("part");
            let file = files.create(&path).unwrap();
            file.write_at(&[7; 1000], 0).unwrap();
            let mut got = [0; 1000];
            (file.read_at(&mut got, 0).map(|n| got[..n].to_vec()), below.operations())
        };
        let (whole, operations) = read(0, false);
        assert_eq!(whole.unwrap(), [7; 1000]);
        assert_eq!(read(operations, false).0.unwrap(), [7; 1000]);
        let error = read(operations, true).0.unwrap_err().to_string();
        assert!(error.contains("damaged"), "{error}");
    }
}
