//! Floor 6, folding: one state per key, in a table of each worker, merged at the end. This is the fast path of every
//! aggregation.
//!
//! ```text
//!   ONE, REF, COPY blocks           data + spans          hash, prefetch       find or insert          fold
//!   of a sink             ------->  batch of 64  -------> batch of 64 -------> slots of the keys ----> states
//!   table.rs                        batch.rs              hash.rs              probe.rs, slot.rs      known or user's
//!
//!   full, and the budget has no more: `drain` or a run (spill.rs)     all input folded: `Merge`, by ranges (merge.rs)
//! ```
//!
//! A batch is hashed, and its cache lines are prefetched, before the batch ahead of it is folded. Memory has the time
//! of 64 records to answer. Keys are in the order of their hashes, so that growing and merging are sequential.
//!
//! Limits: all memory comes from the budget first. While a table grows, the old and the new slots (three times the old)
//! exist at once. `Merge` needs scratch for one range per worker: up to 1 MiB each for tables of some million keys.
//!
//! # Measurements
//! 2 cores kept busy by other work (load 4 to 10). Figures are CPU ns a word; only ratios within one session mean
//! something. Input: 1 GB of Zipf text, 95 M words, 4.5 M distinct, 2 workers. "Hand" is a plain program in the same
//! run: one table per worker, slots by the low bits of the hash, merged by inserting each range of the hash anew.
//!
//! | | fold | merge | all |
//! |---|---|---|---|
//! | hand (median of 4) | 27.7 | 6.0 | 34.3 |
//! | this floor (median of 4; in pairs 0.82-0.99 of hand, median 0.93) | 27.2 | 3.1 | 30.3 |
//! | 512 shared tables, fed by buffers of 128 keys; a front of 1 MiB a worker (2-way, clock) | 61-72 | 0 | 62-72 |
//! | the same without the front | 59-72 | 0 | 60-73 |
//!
//! * Estimate of the merge: both tables are read once (512 MB) and 9 M slots put into a cached scratch, 0.1-0.2 s of
//!   CPU. Measured: 0.24-0.36 s; hand: 0.53-0.66 s.
//! * Rejected: tables shared by hash partition (the last two rows). Each key is inserted once and nothing is merged.
//!   But a record that misses the front is written and read once more, and its home is then as far away as before. Only
//!   the prototype's variant was tried. Keeping all rare records until the end would take 1.8 GB for 2 GB of text.
//! * Rejected: merging in place, into the largest table. Keys at the ends of a range reach into the next worker's
//!   slots.
//! * Growth happens at once, by two (by four while small): both arrays are in order. All steps to 2^23 slots took 0.49
//!   s of 3.6 s on the clock (512 MB of this text, load 10), half of it the last step. Incremental growth was not
//!   tried: each probe would need two places.
//! * 1,000 distinct keys, pushed by a tokeniser: 0.84 to 0.99 of hand. The tokeniser, the hash and the probe take a
//!   third each.
//! * AVX-512, chosen at run time: masked loads, AES rounds as the hash, 32-byte compares and positions by compression.
//!   A built-in word count went from 22 to 9 ns of CPU a word; the hand-written program took 7 and 6 in the same
//!   minutes.
//! * AVX2 (`YUNTI_SIMD=avx2` on a quiet machine with AVX-512): keys loaded whole and cut by a mask, the same AES
//!   rounds, positions by a table of eight bits. Word count of 1 GB 0.54 -> 0.35 s, 1.1 times a hand-written AVX2
//!   program; Zipf text of 2 GB 3.1 -> 2.4 s, 1.0 times. Without them (`plain`) 0.65 -> 0.50 s.
//! * Rejected: a bypass around the blocks, for operators in Rust to push keys into the batch. Blocks of 8 KiB stay in
//!   the first-level cache and cost the same, for operators of every language.

mod arena;
mod batch;
mod hash;
mod kernels;
mod key;
pub mod merge;
mod probe;
mod slot;
pub mod spill;
pub mod table;
pub mod window;

pub use batch::Share;
pub use hash::Hasher;
pub use merge::{Merge, MergeFailure, Worker};
pub use spill::HashRanges;
pub use table::{FoldProgress, FoldTable};
pub use window::Window;

#[cfg(test)]
mod tests;
