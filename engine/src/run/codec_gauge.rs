//! Whether compressing spilled blocks pays on this machine: lz4 against the scratch disks, both as measured in the job.
//!
//! The rule, in nanoseconds a raw byte: a block that is compressed to the share `ratio` saves `(1 - ratio)` of its
//! write and (since a disk reads about as fast as it writes) the same of its read, and costs one compression and one
//! decompression:
//!
//! ```text
//!   2 * (1 - ratio) * write_ns   >   compress_ns * (1 + 1/6)        lz4 reads back 6 times faster than it packs
//! ```
//!
//! With lz4 at 650 MB/s that packs to half, the break-even is a write speed of about 550 MB/s a worker. The write speed
//! is what workers see: memory speed while the page cache takes it all (nothing is compressed), the disk's, divided by
//! the workers that wait for it, once it does not. Running means over the last 32 blocks or so; until both sides are
//! known, plain. What is chosen changes speed alone, never a byte of output.

use std::sync::atomic::{AtomicU64, Ordering};

/// How spilled blocks are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SpillCodec {
    None,
    /// Each block that becomes smaller is compressed.
    Lz4,
    /// As measured, block by block.
    #[default]
    Auto,
}

/// In `Auto`, one block in this many is compressed whatever the rule says, to keep measuring.
const PROBE_BLOCKS: u64 = 64;
/// Weight of the newest measurement is one in this many.
const MEAN_OVER: u64 = 32;

#[derive(Default)]
pub struct CodecGauge {
    /// Nanoseconds a MiB; 0: not measured yet.
    write_ns: AtomicU64,
    compress_ns: AtomicU64,
    /// Stored bytes a MiB of raw ones.
    ratio: AtomicU64,
    blocks: AtomicU64,
}

impl CodecGauge {
    pub fn note_write(&self, bytes: u64, ns: u64) {
        note(&self.write_ns, ns, bytes);
    }

    pub fn note_compression(&self, raw: u64, stored: u64, ns: u64) {
        note(&self.compress_ns, ns, raw);
        note(&self.ratio, stored.min(raw), raw);
    }

    /// Whether the next block should be compressed.
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

/// Small blocks say nothing: their cost is the call.
const MEASURED_BYTES_MIN: u64 = 4 << 10;

/// Moves a running mean of `amount` a MiB. Two threads at once may lose one measurement, and nothing else.
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
    fn slow_disks_and_good_ratios_are_compressed_and_nothing_else() {
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
    fn it_follows_a_disk_that_slows_down() {
        let gauge = CodecGauge::default();
        gauge.note_compression(1 << 20, 1 << 19, 1_600_000);
        (0..100).for_each(|_| gauge.note_write(1 << 20, 300_000));
        assert!(!gauge.pays());
        (0..100).for_each(|_| gauge.note_write(1 << 20, 8_000_000));
        assert!(gauge.pays());
        assert!(!gauge.compress_next(SpillCodec::None) && gauge.compress_next(SpillCodec::Lz4));
    }
}
