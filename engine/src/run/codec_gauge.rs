//! Decides if compressing spilled blocks is worthwhile on this machine: lz4 against the scratch disks, both measured in
//! the job.
//!
//! The rule, in nanoseconds per raw byte: a block compressed to the share `ratio` saves `(1 - ratio)` of its write. A
//! disk reads about as fast as it writes, so the read saves the same. The cost is one compression and one
//! decompression:
//!
//! ```text
//!   2 * (1 - ratio) * write_ns   >   compress_ns * (1 + 1/6)        lz4 reads back 6 times faster than it packs
//! ```
//!
//! With lz4 at 650 MB/s and a ratio of one half, the break-even is a write speed of about 550 MB/s per worker. The
//! write speed is as workers see it. While the page cache takes all writes it is memory speed, and nothing is
//! compressed. After that it is the disk's speed, divided by the workers that wait.
//!
//! Figures are running means over about the last 32 blocks; until both sides are known, blocks are stored plain. The
//! choice affects speed alone, never a byte of output.

use std::sync::atomic::{AtomicU64, Ordering};

/// Compression of spilled blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SpillCodec {
    /// Blocks are stored plain.
    None,
    /// Blocks are compressed if they become smaller.
    Lz4,
    /// Each block is compressed if the measurements favour it.
    #[default]
    Auto,
}

/// Blocks per probe: in `Auto`, one block in this many is compressed regardless of the rule, to keep measuring.
const PROBE_BLOCKS: u64 = 64;
/// Divisor of the newest measurement's weight in the mean.
const MEAN_OVER: u64 = 32;

/// Running means of write speed, compression speed and ratio. Threads share it.
#[derive(Default)]
pub struct CodecGauge {
    /// Nanoseconds per MiB; 0: not measured yet.
    write_ns: AtomicU64,
    compress_ns: AtomicU64,
    /// Stored bytes per MiB of raw bytes.
    ratio: AtomicU64,
    blocks: AtomicU64,
}

impl CodecGauge {
    /// Adds a write of `bytes` that took `ns`.
    pub fn note_write(&self, bytes: u64, ns: u64) {
        note(&self.write_ns, ns, bytes);
    }

    /// Adds a compression of `raw` to `stored` bytes that took `ns`.
    pub fn note_compression(&self, raw: u64, stored: u64, ns: u64) {
        note(&self.compress_ns, ns, raw);
        note(&self.ratio, stored.min(raw), raw);
    }

    /// Returns true if the next block should be compressed.
    pub fn compress_next(&self, codec: SpillCodec) -> bool {
        match codec {
            SpillCodec::None => false,
            SpillCodec::Lz4 => true,
            SpillCodec::Auto => self.pays() || self.blocks.fetch_add(1, Ordering::Relaxed).is_multiple_of(PROBE_BLOCKS),
        }
    }

    fn pays(&self) -> bool {
        let [write, compress, ratio] =
            [&self.write_ns, &self.compress_ns, &self.ratio].map(|a| a.load(Ordering::Relaxed) as f64);
        let saved = 1.0 - ratio / (1u64 << 20) as f64;
        write > 0.0 && compress > 0.0 && 2.0 * saved * write > compress * (7.0 / 6.0)
    }
}

/// Bytes of a measured block, at least: the cost of smaller ones is the call.
const MEASURED_BYTES_MIN: u64 = 4 << 10;

/// Updates a running mean of `amount` per MiB. Concurrent updates may lose one measurement, without other effect.
fn note(mean: &AtomicU64, amount: u64, bytes: u64) {
    if bytes < MEASURED_BYTES_MIN {
        return;
    }
    let sample = ((u128::from(amount) << 20) / u128::from(bytes)).clamp(1, 1 << 50) as u64;
    let before = mean.load(Ordering::Relaxed);
    let after = if before == 0 { sample } else { (before * (MEAN_OVER - 1) + sample) / MEAN_OVER };
    mean.store(after.max(1), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks compressed of 6,400 for a disk and a ratio, with lz4 at 650 MB/s.
    fn compressed(write_mb_s: u64, ratio: f64) -> usize {
        let gauge = CodecGauge::default();
        let raw = 256u64 << 10;
        (0..6400)
            .filter(|_| {
                let compress = gauge.compress_next(SpillCodec::Auto);
                let stored = (raw as f64 * ratio) as u64;
                if compress {
                    gauge.note_compression(raw, stored, raw * 1000 / 650);
                }
                let written = if compress { stored } else { raw };
                gauge.note_write(written, written * 1000 / write_mb_s);
                compress
            })
            .count()
    }

    #[test]
    fn compresses_only_for_slow_disks_and_good_ratios() {
        for (write_mb_s, ratio, pays) in [
            (100, 0.5, true),
            (100, 0.99, false),
            (200, 0.7, true),
            (500, 0.5, true),
            (700, 0.5, false),
            (700, 0.2, true),
            (3000, 0.3, false),
        ] {
            let n = compressed(write_mb_s, ratio);
            assert!(if pays { n > 6300 } else { n <= 101 }, "{write_mb_s} MB/s, {ratio}: {n} of 6400");
        }
    }

    #[test]
    fn follows_a_disk_that_slows_down() {
        let gauge = CodecGauge::default();
        gauge.note_compression(1 << 20, 1 << 19, 1_600_000);
        (0..100).for_each(|_| gauge.note_write(1 << 20, 300_000));
        assert!(!gauge.pays());
        (0..100).for_each(|_| gauge.note_write(1 << 20, 8_000_000));
        assert!(gauge.pays());
        assert!(!gauge.compress_next(SpillCodec::None) && gauge.compress_next(SpillCodec::Lz4));
    }
}
