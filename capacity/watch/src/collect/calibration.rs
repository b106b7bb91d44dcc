//! Calibration: the processor time of a fixed loop, which tells a slower host from a slower program.
//!
//! The loop must never change: its times are compared over years. Most of it computes; a part walks through a
//! second-level cache. A walk through memory would tell more of the neighbours than of the processor.

use std::hint::black_box;

use rustix::time::{ClockId, clock_gettime};

const STEPS: u32 = 3_000_000;
/// Cells of 4 bytes: 128 KiB, more than a first-level cache.
const CELLS: usize = 1 << 15;
const WALKS: u32 = 100_000;

/// Loop with its table.
pub struct Calibration {
    cells: Vec<u32>,
}

impl Calibration {
    /// Returns the loop.
    pub fn new() -> Calibration {
        // One circle through all cells: each cell names the next one.
        let cells = (0..CELLS as u32).map(|at| at.wrapping_mul(5).wrapping_add(12_345) % CELLS as u32).collect();
        Calibration { cells }
    }

    /// Runs the loop and returns its processor time in milliseconds.
    pub fn run(&self) -> f64 {
        let begin = thread_ms();
        let mut bits: u64 = black_box(0x9e37_79b9_7f4a_7c15);
        for _ in 0..STEPS {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
        }
        black_box(bits);
        let mut at = black_box(0u32);
        for _ in 0..WALKS {
            at = self.cells[at as usize];
        }
        black_box(at);
        thread_ms() - begin
    }
}

fn thread_ms() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_one_circle() {
        let calibration = Calibration::new();
        let mut at = 0u32;
        for _ in 1..CELLS {
            at = calibration.cells[at as usize];
            assert_ne!(at, 0);
        }
        assert_eq!(calibration.cells[at as usize], 0);
        assert!(calibration.run() > 0.0);
    }
}
