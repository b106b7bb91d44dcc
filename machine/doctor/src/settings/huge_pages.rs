//! Huge pages of this process, and the cost of fresh memory with them and without. The system-wide switch is one of
//! the settings.

use std::time::Instant;

use yunti_engine::memory::buffer::Buffer;
use yunti_settings::System;

use super::super::finding::{Finding, Level};

const AREA: &str = "memory";
const ENABLED: &str = "sys/kernel/mm/transparent_hugepage/enabled";
const TOUCHED_BYTES: usize = 64 << 20;
/// Bytes of a huge page, or of 512 base pages.
const PIECE_BYTES: usize = 2 << 20;
const PAGE_BYTES: usize = 4096;

/// Returns a finding only if the kernel lacks huge pages, or they are switched off for this process.
pub fn findings(system: &System) -> Vec<Finding> {
    let why = "buffers ask for pages of 2 MiB";
    let finding = |seen: &str, level| Finding::new(AREA, "huge pages", seen, why).level(level);
    if system.chosen(ENABLED).is_none() {
        return vec![finding("not reported by this system", Level::Note)];
    }
    if system.field("proc/self/status", "THP_enabled").as_deref() == Some("0") {
        let off = finding("switched off for this process (prctl)", Level::Warning);
        return vec![off.change("start yunti from another parent process that keeps them on")];
    }
    Vec::new()
}

/// Nanoseconds for the first touch of 4 KiB: memory of the engine's buffers (`madvise`), and ordinary memory.
pub fn measure() -> Option<(f64, f64)> {
    let mut advised = Buffer::new(TOUCHED_BYTES, None).ok()?;
    let with = touch(&mut advised);
    drop(advised);
    // The kernel maps zeroed pages as they are touched.
    let mut plain = vec![0u8; TOUCHED_BYTES];
    Some((with, touch(&mut plain)))
}

/// Nanoseconds a page, the median over pieces: on a busy machine some pieces lose the processor.
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
