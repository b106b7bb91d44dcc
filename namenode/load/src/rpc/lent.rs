//! Buffers that are lent to the kernel: it takes the next one for each piece that it receives, and says which.
//!
//! One of the listed files with `unsafe`: the kernel writes into them, and reads the ring in which they are lent.
//!
//! ```text
//!   ring:    address, length, number | address, length, number | ..   each lent once; the tail, in the first entry, says up to where
//!   buffers: bytes of 0              | bytes of 1              | ..   lent -> (a completion names it) a Piece -> lent
//! ```

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering::Release};

use io_uring::types::BufRingEntry;

/// Most answers are one piece.
pub const BUFFER_BYTES: usize = 4 << 10;
const PAGE_BYTES: usize = 4096;

pub struct Lent {
    ring: NonNull<BufRingEntry>,
    buffers: NonNull<u8>,
    /// A power of two.
    count: u16,
    tail: u16,
}

/// What has come: it is not the kernel's until it is given back.
#[derive(Debug)]
pub struct Piece {
    number: u16,
    bytes: usize,
}

fn allocate<T>(layout: Layout) -> NonNull<T> {
    // SAFETY: the layouts below have more than no bytes.
    let memory = unsafe { alloc_zeroed(layout) };
    NonNull::new(memory.cast()).unwrap_or_else(|| handle_alloc_error(layout))
}

impl Lent {
    fn layouts(count: u16) -> [Layout; 2] {
        let ring = Layout::array::<BufRingEntry>(count.into()).and_then(|layout| layout.align_to(PAGE_BYTES));
        let buffers = Layout::from_size_align(usize::from(count) * BUFFER_BYTES, PAGE_BYTES);
        [ring.expect("some pages"), buffers.expect("some megabytes")]
    }

    /// @param count a power of two
    pub fn new(count: u16) -> Lent {
        assert!(count.is_power_of_two());
        let [ring, buffers] = Lent::layouts(count);
        let mut lent = Lent { ring: allocate(ring), buffers: allocate(buffers), count, tail: 0 };
        (0..count).for_each(|number| lent.lend(number));
        lent.publish();
        lent
    }

    /// Where the kernel is to look for the ring.
    pub fn address(&self) -> u64 {
        self.ring.as_ptr() as u64
    }

    pub fn count(&self) -> u16 {
        self.count
    }

    fn buffer(&self, number: u16) -> *mut u8 {
        assert!(number < self.count);
        // SAFETY: within the allocation, as just asserted.
        unsafe { self.buffers.as_ptr().add(usize::from(number) * BUFFER_BYTES) }
    }

    fn lend(&mut self, number: u16) {
        let buffer = self.buffer(number) as u64;
        // SAFETY: the place is within the ring; the kernel reads it only when the tail is behind it. The fields that are written are not the tail, which
        // lies in the first entry.
        let entry = unsafe { &mut *self.ring.as_ptr().add(usize::from(self.tail & (self.count - 1))) };
        entry.set_addr(buffer);
        entry.set_len(BUFFER_BYTES as u32);
        entry.set_bid(number);
        self.tail = self.tail.wrapping_add(1);
    }

    /// The kernel sees what was given back.
    pub fn publish(&mut self) {
        // SAFETY: the ring begins there, and its tail is aligned; the kernel only reads it.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.ring.as_ptr()).cast_mut()) };
        tail.store(self.tail, Release);
    }

    /// # Safety
    /// A completion has just said that so many bytes are in this buffer: the kernel does not touch it until it is lent again.
    pub unsafe fn take(&self, number: u16, bytes: usize) -> Piece {
        assert!(number < self.count && bytes <= BUFFER_BYTES);
        Piece { number, bytes }
    }

    pub fn bytes(&self, piece: &Piece) -> &[u8] {
        // SAFETY: who made the piece has said that the kernel does not touch the buffer; all of it is initialised, and within the allocation.
        unsafe { std::slice::from_raw_parts(self.buffer(piece.number), piece.bytes) }
    }

    pub fn give_back(&mut self, piece: Piece) {
        self.lend(piece.number);
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let [ring, buffers] = Lent::layouts(self.count);
        // SAFETY: allocated with these layouts. Who owns this keeps it until the kernel has nothing under way that could write into them.
        unsafe {
            dealloc(self.ring.as_ptr().cast(), ring);
            dealloc(self.buffers.as_ptr(), buffers);
        }
    }
}
