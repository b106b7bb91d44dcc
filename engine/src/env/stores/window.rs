//! Memory that this process and `yunti-stores` share: a file in memory, cut into slots.
//!
//! ```text
//!   | spare | spare | .. | slot | slot | slot | ..
//!     `-- held during one read     `-- held by reads ahead; their number is a share of the job's memory
//! ```
//!
//! Bytes are read out of the file by calls, not mapped: the other process can neither change what was read nor end this
//! one by cutting the file. A read ahead never waits for a slot, and a spare is never held while its owner waits for
//! another. So no readers wait for each other.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock};

use rustix::fs::{MemfdFlags, memfd_create};

/// Bytes of a slot at most, of a spare, and of a slot at least.
const SLOT_BYTES_MAX: u64 = if cfg!(debug_assertions) { 5_000 } else { 4 << 20 };
pub const SPARE_BYTES: u64 = if cfg!(debug_assertions) { 3_000 } else { 256 << 10 };
const SLOT_BYTES_MIN: u64 = if cfg!(debug_assertions) { 1_000 } else { 64 << 10 };
/// Spares.
const SPARES: u32 = 8;
/// Slots are this share of a job's memory, between two bounds.
const SHARE: u64 = 8;
const BYTES_MIN: u64 = 1 << 20;
const BYTES_MAX: u64 = 256 << 20;
/// Slots that the window should have, so that many requests are in flight.
const SLOTS_WANTED: u64 = 16;

/// Window of slots.
#[derive(Default)]
pub struct Window {
    file: OnceLock<File>,
    state: Mutex<Slots>,
    released: Condvar,
}

struct Slots {
    /// Bytes of a slot, and the number of slots; 0 before `grow`.
    slot_bytes: u64,
    slots: u32,
    free: Vec<u32>,
    /// Spares that no read holds.
    spares: Vec<u32>,
}

impl Default for Slots {
    fn default() -> Slots {
        Slots { slot_bytes: 0, slots: 0, free: Vec::new(), spares: (0..SPARES).collect() }
    }
}

impl Window {
    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns the file.
    pub fn file(&self) -> io::Result<&File> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let file = File::from(memfd_create("yunti-stores", MemfdFlags::CLOEXEC)?);
        Ok(self.file.get_or_init(|| file))
    }

    /// Takes a share of `limit` bytes of memory, at the first call. Returns the bytes of the window.
    pub fn grow(&self, limit: u64) -> u64 {
        let mut slots = self.lock();
        if slots.slots == 0 {
            let bytes = (limit / SHARE).clamp(BYTES_MIN.min(limit), BYTES_MAX);
            slots.slot_bytes = (bytes / SLOTS_WANTED).clamp(SLOT_BYTES_MIN, SLOT_BYTES_MAX);
            slots.slots = ((bytes / slots.slot_bytes) as u32).min(if cfg!(debug_assertions) { 8 } else { 4096 });
            slots.free = (0..slots.slots).rev().collect();
        }
        u64::from(slots.slots) * slots.slot_bytes
    }

    /// Returns a free slot and its bytes; None if there is none.
    pub fn try_slot(&self) -> Option<(u32, u64)> {
        let mut slots = self.lock();
        let slot = slots.free.pop()?;
        Some((slot, slots.slot_bytes))
    }

    /// Returns the number of slots.
    pub fn slots(&self) -> usize {
        self.lock().slots as usize
    }

    /// Returns the place of a slot in the file.
    pub fn at(&self, slot: u32) -> u64 {
        u64::from(SPARES) * SPARE_BYTES + u64::from(slot) * self.lock().slot_bytes
    }

    /// Frees a slot.
    pub fn release(&self, slot: u32) {
        self.lock().free.push(slot);
    }

    /// Waits for a spare, and calls `with` with its place in the file.
    pub fn with_spare<T>(&self, with: impl FnOnce(u64) -> io::Result<T>) -> io::Result<T> {
        let mut slots = self.lock();
        let spare = loop {
            match slots.spares.pop() {
                Some(spare) => break spare,
                None => slots = self.released.wait(slots).unwrap_or_else(|e| e.into_inner()),
            }
        };
        drop(slots);
        let result = with(u64::from(spare) * SPARE_BYTES);
        self.lock().spares.push(spare);
        self.released.notify_one();
        result
    }

    /// Reads bytes of the file.
    pub fn read(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        self.file()?.read_exact_at(buffer, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_a_share_of_the_memory() {
        for limit in [1 << 16, 1 << 20, 64 << 20, 16 << 30] {
            let window = Window::default();
            let bytes = window.grow(limit);
            assert!(bytes <= BYTES_MAX && bytes <= limit, "{limit}: {bytes}");
            assert_eq!(window.grow(limit * 2), bytes);
            let mut places = Vec::new();
            while let Some((slot, len)) = window.try_slot() {
                places.push((window.at(slot), len));
            }
            assert_eq!(places.len(), window.slots());
            places.sort();
            assert!(places.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0));
            window.release(0);
            assert_eq!(window.try_slot().map(|(slot, _)| slot), Some(0));
        }
    }
}
