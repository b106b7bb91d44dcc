//! The choice of a scratch directory for a block: where it is stored soonest, and where it has room.
//!
//! ```text
//!   wait of a directory = (bytes that its storage has not taken yet + the block) / its speed
//! ```
//!
//! So a fast directory gets all blocks until its queue is as long as a slow one's, and several get blocks in
//! proportion to their speeds. The speed begins as an estimate by the kind of storage. A write only reaches the page
//! cache, so its time says nothing; how fast the kernel writes dirty pages back does (`File::unwritten_bytes`). Where
//! the kernel does not count them, the first speed stays.
//!
//! Rejected: round robin, which makes every job as slow as its slowest directory. Rejected: a test write at the start,
//! which costs a second on a disk.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::env::sync::{Mutex, MutexGuard};
use crate::env::{Storage, StorageKind};

/// A scratch directory, and the bytes that a job may hold there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScratchDir {
    pub path: PathBuf,
    /// None: as many as the file system has.
    pub bytes_max: Option<u64>,
}

impl From<PathBuf> for ScratchDir {
    fn from(path: PathBuf) -> ScratchDir {
        ScratchDir { path, bytes_max: None }
    }
}

/// Bytes per second of a kind of storage, before anything is measured.
fn first_speed(storage: Option<&Storage>) -> f64 {
    match storage {
        Some(Storage { kind: StorageKind::Memory, .. }) => 5e9,
        Some(Storage { kind: StorageKind::Network, .. }) => 100e6,
        Some(Storage { rotates: true, .. }) => 150e6,
        _ => 1e9,
    }
}

/// Difference of two waits, in seconds, that is no reason to leave a directory of about the same speed out.
const NEAR_SECONDS: f64 = 0.05;
/// Nanoseconds between two measurements of a directory.
const MEASURE_NS: u64 = 250_000_000;
/// Weight of a new measurement.
const FRESH: f64 = 0.3;

/// Room and speed of one directory.
pub struct Choice {
    bytes_max: u64,
    held_bytes: AtomicU64,
    queue: Mutex<Queue>,
}

/// Blocks on their way to the storage.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// Bytes per second.
    speed: f64,
    /// Bytes that the storage has not taken, by the model.
    bytes: f64,
    at_ns: u64,
    measured: Option<Measurement>,
}

/// State of a file at a moment.
#[derive(Clone, Copy, Debug)]
struct Measurement {
    at_ns: u64,
    stored_bytes: u64,
}

impl Queue {
    fn drain(&mut self, now_ns: u64) {
        let seconds = now_ns.saturating_sub(self.at_ns) as f64 / 1e9;
        self.bytes = (self.bytes - self.speed * seconds).max(0.0);
        self.at_ns = now_ns;
    }
}

impl Choice {
    /// Returns an empty directory. `bytes_max`: bytes that it may hold.
    pub fn new(storage: Option<&Storage>, bytes_max: Option<u64>) -> Choice {
        let queue = Queue { speed: first_speed(storage), bytes: 0.0, at_ns: 0, measured: None };
        Choice { bytes_max: bytes_max.unwrap_or(u64::MAX), held_bytes: AtomicU64::new(0), queue: Mutex::new(queue) }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns true if the directory may take another `len` bytes.
    pub fn has_room(&self, len: u64) -> bool {
        self.held_bytes() + len <= self.bytes_max
    }

    /// Returns the bytes in use.
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes.load(Ordering::Relaxed)
    }

    /// Returns the seconds until a block of `len` bytes would be stored.
    pub fn wait(&self, len: u64, now_ns: u64) -> f64 {
        let mut queue = self.queue();
        queue.drain(now_ns);
        (queue.bytes + len as f64) / queue.speed
    }

    /// Adds a block before its write. Returns false if there is no room left for it.
    pub fn take(&self, len: u64, now_ns: u64) -> bool {
        let more = |held: u64| held.checked_add(len).filter(|&held| held <= self.bytes_max);
        if self.held_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
            return false;
        }
        let mut queue = self.queue();
        queue.drain(now_ns);
        queue.bytes += len as f64;
        true
    }

    /// Removes a block that was freed, or could not be written.
    pub fn free(&self, len: u64) {
        let less = |held: u64| Some(held.saturating_sub(len));
        let _ = self.held_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// Returns the bytes per second, measured or assumed.
    pub fn speed(&self) -> f64 {
        self.queue().speed
    }

    /// Returns true if it is time to measure.
    pub fn is_due(&self, now_ns: u64) -> bool {
        self.queue().measured.is_none_or(|last| now_ns.saturating_sub(last.at_ns) >= MEASURE_NS)
    }

    /// Notes how much of the file is stored. `written_bytes`: bytes written to the file so far; `unwritten_bytes`: of
    /// them in the page cache alone.
    pub fn measure(&self, written_bytes: u64, unwritten_bytes: u64, now_ns: u64) {
        let stored_bytes = written_bytes.saturating_sub(unwritten_bytes);
        let mut queue = self.queue();
        let last = queue.measured.replace(Measurement { at_ns: now_ns, stored_bytes });
        let Some(last) = last.filter(|last| now_ns > last.at_ns) else { return };
        let stored = stored_bytes.saturating_sub(last.stored_bytes);
        // While the kernel writes nothing back, or has nothing left to write, the speed of the disk is unknown.
        if stored == 0 || unwritten_bytes == 0 {
            return;
        }
        let speed = stored as f64 / ((now_ns - last.at_ns) as f64 / 1e9);
        queue.speed += FRESH * (speed - queue.speed);
        (queue.bytes, queue.at_ns) = (unwritten_bytes as f64, now_ns);
    }
}

/// Returns the best directory for a block of `len` bytes, by its number; None if no usable one has room.
///
/// Directories of about the same speed take turns: what is read later is read from all of them.
pub fn best<'c>(choices: impl Iterator<Item = (usize, &'c Choice)>, len: u64, now_ns: u64) -> Option<usize> {
    let with_room = choices.filter(|(_, choice)| choice.has_room(len));
    let waits: Vec<_> = with_room.map(|(number, c)| (number, c, c.wait(len, now_ns), c.speed())).collect();
    let (_, _, least_wait, speed) = *waits.iter().min_by(|a, b| a.2.total_cmp(&b.2))?;
    let similar = waits.iter().filter(|w| w.2 <= 2.0 * least_wait + NEAR_SECONDS && w.3 >= 0.5 * speed);
    let filled = |w: &&(usize, &Choice, f64, f64)| w.1.held_bytes() as f64 / w.3;
    similar.min_by(|a, b| filled(a).total_cmp(&filled(b))).map(|w| w.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: u64 = 1 << 20;

    /// Writes blocks at a rate, in bytes per second, to the best of two directories. Returns the share of the first.
    fn share(first: &Choice, second: &Choice, rate: f64, blocks: u32) -> f64 {
        let mut to_first = 0;
        for i in 0..blocks {
            let now_ns = (f64::from(i) * BLOCK as f64 / rate * 1e9) as u64;
            let number = best([first, second].into_iter().enumerate(), BLOCK, now_ns).unwrap();
            assert!([first, second][number].take(BLOCK, now_ns));
            to_first += 1 - number as u32;
        }
        f64::from(to_first) / f64::from(blocks)
    }

    fn disk(rotates: bool) -> Storage {
        Storage { rotates, ..Storage::without_device(StorageKind::Disk, "ext4") }
    }

    #[test]
    fn blocks_follow_the_speeds() {
        let choice = |storage: &Storage| Choice::new(Some(storage), None);
        let memory = Storage::without_device(StorageKind::Memory, "tmpfs");
        // Slower than the fast one: it gets all.
        assert_eq!(share(&choice(&disk(false)), &choice(&disk(true)), 500e6, 1000), 1.0);
        assert_eq!(share(&choice(&memory), &choice(&disk(false)), 2e9, 1000), 1.0);
        // Faster than both together: by their speeds.
        let both = share(&choice(&disk(false)), &choice(&disk(true)), 4e9, 4000);
        assert!((both - 1000.0 / 1150.0).abs() < 0.03, "{both}");
        for rate in [1e6, 100e6, 1e9] {
            let equal = share(&choice(&disk(true)), &choice(&disk(true)), rate, 1000);
            assert!((equal - 0.5).abs() < 0.01, "{equal}");
        }
    }

    #[test]
    fn measured_speed_takes_the_place_of_the_assumed() {
        let disk = Choice::new(Some(&disk(false)), None);
        assert!(disk.is_due(0));
        // 100 MB/s are stored, and more waits.
        for i in 0..40u64 {
            let now_ns = i * MEASURE_NS;
            assert!(disk.is_due(now_ns));
            disk.measure(i * 75_000_000, i * 50_000_000, now_ns);
            assert!(!disk.is_due(now_ns + 1));
        }
        assert!((disk.speed() - 100e6).abs() < 5e6, "{}", disk.speed());
        assert!(disk.wait(0, 39 * MEASURE_NS) > 19.0);
        // Nothing waits: the disk may be faster than what it was given.
        disk.measure(3_000_000_000, 0, 50 * MEASURE_NS);
        assert!((disk.speed() - 100e6).abs() < 5e6);
    }

    #[test]
    fn a_quota_ends_the_room() {
        let small = Choice::new(None, Some(3 * BLOCK));
        for _ in 0..3 {
            assert!(small.has_room(BLOCK) && small.take(BLOCK, 0));
        }
        assert!(!small.has_room(1) && !small.take(1, 0));
        small.free(BLOCK);
        assert!(small.has_room(BLOCK) && !small.has_room(BLOCK + 1));
        let large = Choice::new(Some(&disk(true)), None);
        let two = || [&small, &large].into_iter().enumerate();
        assert_eq!(best(two(), BLOCK, 0), Some(0));
        assert_eq!(best(two(), 2 * BLOCK, 0), Some(1));
        assert_eq!(best(two().take(1), 2 * BLOCK, 0), None);
    }
}
