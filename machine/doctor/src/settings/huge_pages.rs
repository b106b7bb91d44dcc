//! Huge pages of this process, and what fresh memory costs here with them and without. Whether the system gives any is one of its settings.

use std::time::Instant;

use yunti_engine::memory::buffer::Buffer;
use yunti_settings::System;

use super::super::finding::{Finding, Level};

const AREA: &str = "memory";
const ENABLED: &str = "sys/kernel/mm/transparent_hugepage/enabled";
const TOUCHED_BYTES: usize = 64 << 20;
/// A huge page, or 512 others.
const PIECE_BYTES: usize = 2 << 20;
const PAGE_BYTES: usize = 4096;

/// What no setting tells: none on this system, or none for this process.
pub fn findings(system: &System) -> Vec<Finding> {
    let why = "buffers ask for pages of 2 MiB";
    let finding = |seen: &str, level| Finding::new(AREA, "huge pages", seen, why).level(level);
    if system.chosen(ENABLED).is_none() {
        return vec![finding("not told by this system", Level::Note)];
    }
    if system.field("proc/self/status", "THP_enabled").as_deref() == Some("0") {
        let off = finding("switched off for this process (prctl)", Level::Warning);
        return vec![off.change("start yunti from another parent, which has not switched them off")];
    }
    Vec::new()
}

/// Nanoseconds for the first touch of 4 KiB: as buffers ask for memory, and as programs do that ask for nothing.
pub fn measured() -> Option<(f64, f64)> {
    let mut asked = Buffer::new(TOUCHED_BYTES, None).ok()?;
    let with = touch(&mut asked);
    drop(asked);
    // Zeros of the system, whose pages come as they are touched.
    let mut plain = vec![0u8; TOUCHED_BYTES];
    Some((with, touch(&mut plain)))
}

/// The median of pieces: on a busy machine the processor is taken away in some of them.
fn touch(bytes: &mut [u8]) -> f64 {
    let mut took: Vec<u128> = Vec::new();
    for piece in bytes.chunks_mut(PIECE_BYTES) {
        let begin = Instant::now();
        piece.iter_mut().step_by(PAGE_BYTES).for_each(|byte| *byte = 1);
        std::hint::black_box(&piece);
        took.push(begin.elapsed().as_nanos());
    }
    took.sort_unstable();
    took[took.len() / 2] as f64 / (PIECE_BYTES / PAGE_BYTES) as f64
}
