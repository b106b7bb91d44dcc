//! Shared memory of the engine and one worker, and whose turn it is.
//! One of the listed files with `unsafe`: it maps memory that another process writes.
//!
//! ```text
//!   | header 4096 | block, slack | message, slack | request: as large as the largest batch, slack |
//!                   `-- emitted records  `-- all other replies: a named output may write while a block is filled
//! ```
//!
//! The engine copies out of the reply and never keeps a reference into it. The worker sees the request as a slice
//! during its turn, when the engine does not write. Both map more than the memory has, so that it can grow in place.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::thread::futex;
use rustix::time::Timespec;

use crate::env::threads::schedule;

/// Bytes of a block of emitted records.
pub const REPLY_BYTES: usize = 256 << 10;
/// Bytes of the request at first: a batch of the default size and its columns.
const REQUEST_BYTES: usize = 1 << 20;
/// Bytes of the mapping: more than the largest batch, a record of 2 GiB.
const MAPPED_BYTES: usize = 6 << 30;
const HEADER_BYTES: usize = 4096;
/// Readable bytes behind each part, as behind every buffer of the engine.
const SLACK_BYTES: usize = 64;
const BLOCK_AT: usize = HEADER_BYTES;
const MESSAGE_AT: usize = BLOCK_AT + REPLY_BYTES + HEADER_BYTES;
const REQUEST_AT: usize = MESSAGE_AT + REPLY_BYTES + HEADER_BYTES;

const TURN_AT: usize = 0;
const KIND_AT: usize = 4;
const LEN_AT: usize = 8;
const VALUE_AT: usize = 16;
const BLOCK_LEN_AT: usize = 24;

/// Side of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Side {
    Engine = 0,
    Worker = 1,
}

/// Head of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub kind: u32,
    /// Bytes of the payload.
    pub len: usize,
    pub value: u64,
    /// Bytes of emitted records in the block.
    pub block: usize,
}

/// Mapping of one side.
pub struct SharedMemory {
    memory: OwnedFd,
    base: NonNull<u8>,
    /// Bytes that the memory has.
    len: AtomicUsize,
}

// SAFETY: the mapping belongs to this value alone; the other process is kept away by turns, and is not trusted.
unsafe impl Send for SharedMemory {}
// SAFETY: as above; one thread of this process uses it at a time, in turn with the other process.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Creates the memory and maps it. Fails if the system has none.
    pub fn create() -> io::Result<SharedMemory> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let memory = memfd_create("yunti-worker", flags)?;
        let len = REQUEST_AT + REQUEST_BYTES;
        ftruncate(&memory, len as u64)?;
        // A worker that shrank the memory would make the engine die of SIGBUS.
        let seals = SealFlags::SHRINK | SealFlags::SEAL;
        fcntl_add_seals(&memory, seals)?;
        SharedMemory::open(memory)
    }

    /// Maps the memory that the engine has created. Fails if the system has none.
    pub fn open(memory: OwnedFd) -> io::Result<SharedMemory> {
        Ok(SharedMemory { base: map(&memory)?, memory, len: AtomicUsize::new(REQUEST_AT + REQUEST_BYTES) })
    }

    /// Returns the descriptor for the worker.
    pub fn descriptor(&self) -> &OwnedFd {
        &self.memory
    }

    fn word(&self, at: usize) -> &AtomicU32 {
        debug_assert!(at + 4 <= HEADER_BYTES);
        // SAFETY: within the header, aligned; atomics may be shared with another process.
        unsafe { AtomicU32::from_ptr(self.base.as_ptr().add(at).cast()) }
    }

    fn long(&self, at: usize) -> &AtomicU64 {
        debug_assert!(at + 8 <= HEADER_BYTES);
        // SAFETY: as in `word`.
        unsafe { AtomicU64::from_ptr(self.base.as_ptr().add(at).cast()) }
    }

    /// Passes the turn to the other side, with a message whose payload is in place.
    pub fn pass(&self, from: Side, head: Head) {
        self.word(KIND_AT).store(head.kind, Ordering::Relaxed);
        self.long(LEN_AT).store(head.len as u64, Ordering::Relaxed);
        self.long(VALUE_AT).store(head.value, Ordering::Relaxed);
        self.long(BLOCK_LEN_AT).store(head.block as u64, Ordering::Relaxed);
        let to = if from == Side::Engine { Side::Worker } else { Side::Engine };
        self.word(TURN_AT).store(to as u32, Ordering::Release);
        schedule::notify(schedule::Key::Message, true);
        // The other side may be gone, then nobody wakes.
        let _ = futex::wake(self.word(TURN_AT), futex::Flags::empty(), 1);
    }

    /// Waits until it is the turn of `side`, at most for a time. Returns the head of the message, or None.
    pub fn wait(&self, side: Side, at_most: Duration) -> Option<Head> {
        let turn = self.word(TURN_AT);
        let other = 1 - side as u32;
        if schedule::is_scheduled() {
            schedule::point(0);
            if turn.load(Ordering::Acquire) == other {
                schedule::wait(schedule::Key::Message, Some(at_most.as_nanos() as u64));
            }
        } else if turn.load(Ordering::Acquire) == other {
            let time = Timespec { tv_sec: at_most.as_secs() as i64, tv_nsec: i64::from(at_most.subsec_nanos()) };
            // It returns at a wake, a signal, the time, or at once if the turn has changed.
            let _ = futex::wait(turn, futex::Flags::empty(), other, Some(&time));
        }
        (turn.load(Ordering::Acquire) == side as u32).then(|| Head {
            kind: self.word(KIND_AT).load(Ordering::Relaxed),
            len: self.long(LEN_AT).load(Ordering::Relaxed) as usize,
            value: self.long(VALUE_AT).load(Ordering::Relaxed),
            block: self.long(BLOCK_LEN_AT).load(Ordering::Relaxed) as usize,
        })
    }

    /// Copies `parts` to the request, in the engine, where `places` puts them. The memory grows if it must. Fails with
    /// `Code::Memory` if it cannot.
    pub fn put_request(&self, parts: &[&[u8]]) -> io::Result<()> {
        let (places, end) = places(parts.iter().map(|part| part.len()));
        if REQUEST_AT + end > self.len.load(Ordering::Relaxed) {
            let len = (REQUEST_AT + end).next_multiple_of(1 << 20);
            if len > MAPPED_BYTES {
                return Err(io::Error::other(format!("a batch of {end} bytes is too large for a worker")));
            }
            ftruncate(&self.memory, len as u64)?;
            self.len.store(len, Ordering::Relaxed);
        }
        for (part, &at) in parts.iter().zip(&places) {
            // SAFETY: the request has room for all parts, as ensured above; `part` is private memory of the engine.
            unsafe {
                std::ptr::copy_nonoverlapping(part.as_ptr(), self.base.as_ptr().add(REQUEST_AT + at), part.len());
            }
        }
        Ok(())
    }

    /// Returns bytes of the request, in the worker. The slice is valid until the worker ends the call: the engine wrote
    /// it before it passed the turn, and does not write again before that.
    pub fn request(&self, at: usize, len: usize) -> &[u8] {
        assert!(at.checked_add(len).is_some_and(|end| REQUEST_AT + end <= MAPPED_BYTES), "a request beyond its memory");
        // SAFETY: within the mapping; the engine does not write during the worker's turn.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().add(REQUEST_AT + at), len) }
    }

    /// Returns the address and the bytes of the block that an operator fills, in the worker.
    pub fn block(&self) -> (*mut u8, usize) {
        // SAFETY: within the mapping.
        (unsafe { self.base.as_ptr().add(BLOCK_AT) }, REPLY_BYTES)
    }

    /// Copies the bytes of a message that is no block, in the worker. At most `REPLY_BYTES`.
    pub fn put_message(&self, bytes: &[u8]) {
        assert!(bytes.len() <= REPLY_BYTES);
        // SAFETY: within the mapping; it is the worker's turn.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.base.as_ptr().add(MESSAGE_AT), bytes.len()) }
    }

    /// Copies bytes of the block from `at` on, in the engine.
    ///
    /// # Panics
    /// Panics if the block has fewer.
    pub fn copy_block(&self, at: usize, to: &mut [u8]) {
        assert!(at.checked_add(to.len()).is_some_and(|end| end <= REPLY_BYTES));
        // SAFETY: within the mapping; `to` is private memory. A worker that writes at the same time can only change the
        // copied bytes, which are not trusted.
        unsafe {
            std::ptr::copy_nonoverlapping(self.base.as_ptr().add(BLOCK_AT + at), to.as_mut_ptr(), to.len());
        }
    }

    /// Appends a copy of the first `len` bytes of the message to `to`, in the engine. Returns false if a message has
    /// fewer.
    #[must_use]
    pub fn take_message(&self, len: usize, to: &mut Vec<u8>) -> bool {
        if len > REPLY_BYTES {
            return false;
        }
        to.reserve(len);
        // SAFETY: `to` has room for `len` bytes; the source is mapped. A worker that writes at the same time can only
        // change the copied bytes, which are not trusted.
        unsafe {
            let end = to.as_mut_ptr().add(to.len());
            std::ptr::copy_nonoverlapping(self.base.as_ptr().add(MESSAGE_AT), end, len);
            to.set_len(to.len() + len);
        }
        true
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's, and is not used again.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), MAPPED_BYTES) };
    }
}

/// Returns the offsets of parts in the request, each at a multiple of 64 with slack behind it, and the end of the last.
pub fn places(lens: impl Iterator<Item = usize>) -> (Vec<usize>, usize) {
    let mut end = 0usize;
    let place = |len: usize| {
        let start = end;
        end = (start + len + SLACK_BYTES).next_multiple_of(64);
        start
    };
    let places = lens.map(place).collect();
    (places, end)
}

/// Returns numbers as bytes.
pub fn bytes_of(numbers: &[u32]) -> &[u8] {
    // SAFETY: the same memory, with a smaller alignment; numbers have no padding.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

/// Returns numbers of eight bytes as bytes.
pub fn bytes_of_eights(numbers: &[u64]) -> &[u8] {
    // SAFETY: as in `bytes_of`.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

/// Returns bytes as numbers; the rest of a number at the end is left out.
///
/// # Panics
/// Panics if the bytes are not aligned for the numbers. Parts of a request are.
pub fn numbers_of(bytes: &[u8]) -> &[u32] {
    assert!(bytes.as_ptr().cast::<u32>().is_aligned());
    // SAFETY: aligned, and any bytes are numbers.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / 4) }
}

/// Returns bytes as numbers of eight bytes, as `numbers_of`.
pub fn eights_of(bytes: &[u8]) -> &[u64] {
    assert!(bytes.as_ptr().cast::<u64>().is_aligned());
    // SAFETY: as in `numbers_of`.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / 8) }
}

fn map(memory: &OwnedFd) -> io::Result<NonNull<u8>> {
    // SAFETY: a new mapping at an address of the kernel's choice. Pages beyond the end of the memory are not accessed.
    let address = unsafe {
        mmap(
            std::ptr::null_mut(),
            MAPPED_BYTES,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED,
            memory.as_fd(),
            0,
        )
    };
    let address = address?;
    NonNull::new(address.cast()).ok_or_else(|| io::Error::other("shared memory was mapped at address 0"))
}
