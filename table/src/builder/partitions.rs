//! Rows in partitions by the first bits of their hash. What the budget does not hold is in a file without a name: if
//! the build is killed, nothing is left.
//!
//! ```text
//!   hash (8) | number of the row (8) | bytes (4) | the row
//! ```

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::output::unnamed;

/// Partitions of all rows.
pub const PARTITIONS: usize = 256;
const HEAD: usize = 20;

/// A row of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    pub hash: u64,
    /// Number of the row in the input.
    pub number: u64,
    pub row: &'a [u8],
}

impl<'a> Record<'a> {
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.hash.to_le_bytes());
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&(self.row.len() as u32).to_le_bytes());
        out.extend_from_slice(self.row);
    }

    /// Returns the bytes of a record with such a row.
    pub fn bytes_of(row: &[u8]) -> usize {
        HEAD + row.len()
    }

    /// Reads the record that begins at an offset of a chunk.
    #[inline]
    pub fn at(chunk: &'a [u8], offset: usize) -> Record<'a> {
        let head = &chunk[offset..offset + HEAD];
        let u64_at = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("8 bytes"));
        let length = u32::from_le_bytes(head[16..].try_into().expect("4 bytes")) as usize;
        Record { hash: u64_at(0), number: u64_at(8), row: &chunk[offset + HEAD..offset + HEAD + length] }
    }

    pub fn partition(hash: u64) -> usize {
        (hash >> 56) as usize
    }
}

/// Records of a partition: whole ones in each chunk.
#[derive(Default)]
struct Partition {
    chunks: Vec<Vec<u8>>,
    /// Offsets and lengths in the file.
    spilled: Vec<(u64, u64)>,
}

/// All rows of a table that is being built.
pub struct Partitions {
    all: Vec<Mutex<Partition>>,
    /// Bytes of all chunks.
    held_bytes: AtomicU64,
    limit_bytes: u64,
    file: Mutex<Option<File>>,
    file_bytes: AtomicU64,
}

impl Partitions {
    pub fn new(limit_bytes: u64) -> Partitions {
        Partitions {
            all: (0..PARTITIONS).map(|_| Mutex::default()).collect(),
            held_bytes: AtomicU64::new(0),
            limit_bytes,
            file: Mutex::new(None),
            file_bytes: AtomicU64::new(0),
        }
    }

    /// Adds whole records of one partition; `beside` is where the file of what is spilled may be.
    pub fn add(&self, partition: usize, chunk: Vec<u8>, beside: &Path) -> io::Result<()> {
        let held = self.held_bytes.fetch_add(chunk.capacity() as u64, Ordering::Relaxed) + chunk.capacity() as u64;
        self.all[partition].lock().unwrap_or_else(PoisonError::into_inner).chunks.push(chunk);
        if held > self.limit_bytes { self.spill(beside, self.limit_bytes) } else { Ok(()) }
    }

    /// Ends the adding: all rows are in memory, or all in the file.
    pub fn finish(&self, beside: &Path) -> io::Result<()> {
        if self.is_spilled() { self.spill(beside, 0) } else { Ok(()) }
    }

    /// Moves all chunks to the file if they are more than a limit.
    fn spill(&self, beside: &Path, limit_bytes: u64) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if self.held_bytes.load(Ordering::Relaxed) <= limit_bytes {
            return Ok(());
        }
        if file.is_none() {
            *file = Some(unnamed(beside)?);
        }
        let Some(file) = file.as_ref() else { return Ok(()) };
        for partition in &self.all {
            let mut partition = partition.lock().unwrap_or_else(PoisonError::into_inner);
            for chunk in std::mem::take(&mut partition.chunks) {
                let at = self.file_bytes.fetch_add(chunk.len() as u64, Ordering::Relaxed);
                file.write_all_at(&chunk, at)?;
                partition.spilled.push((at, chunk.len() as u64));
                self.held_bytes.fetch_sub(chunk.capacity() as u64, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Returns true if rows are in the file.
    pub fn is_spilled(&self) -> bool {
        self.file_bytes.load(Ordering::Relaxed) > 0
    }

    /// Takes the chunks of a partition out; those in the file stay there, and can be read again.
    pub fn take(&self, partition: usize) -> io::Result<Vec<Vec<u8>>> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut partition = self.all[partition].lock().unwrap_or_else(PoisonError::into_inner);
        let mut chunks = std::mem::take(&mut partition.chunks);
        for chunk in &chunks {
            self.held_bytes.fetch_sub(chunk.capacity() as u64, Ordering::Relaxed);
        }
        for (at, bytes) in &partition.spilled {
            let mut chunk = vec![0; *bytes as usize];
            file.as_ref().ok_or_else(|| io::Error::other("no file of rows"))?.read_exact_at(&mut chunk, *at)?;
            chunks.push(chunk);
        }
        Ok(chunks)
    }

    /// Puts back what was taken out of memory.
    pub fn put_back(&self, partition: usize, chunks: Vec<Vec<u8>>) {
        let bytes: u64 = chunks.iter().map(|chunk| chunk.capacity() as u64).sum();
        self.held_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.all[partition].lock().unwrap_or_else(PoisonError::into_inner).chunks.extend(chunks);
    }
}
