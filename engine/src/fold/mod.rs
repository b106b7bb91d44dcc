//! Floor 6, folding: one state a key, in a table of each worker, merged at the end. The fast path of every aggregation.
//!
//! ```text
//!   ONE, REF, COPY blocks           data + spans          hash, prefetch       find or insert          fold
//!   of a sink             ------->  batch of 64  -------> batch of 64 -------> slots of the keys ----> states
//!   table.rs                        batch.rs              hash.rs              probe.rs, slot.rs       known, or the user's
//!
//!   full, and the budget gives no more: `drain`, or a run (spill.rs), go on          all input folded: `Merge`, range by range (merge.rs)
//! ```
//!
//! A batch is hashed, and its cache lines asked for, before the batch ahead of it is folded: memory has the time of 64
//! records to answer. Keys stand in the order of their hashes, so that growing and merging are sequential.
//!
//! Limits: all memory comes from the budget first; while a table grows, the old and the new slots (three times the old)
//! are there at once. `Merge` needs scratch for one range a worker: up to 1 MiB each for tables of some million keys.
//!
//! # What was measured
//! 2 cores that other work kept busy (load 4 to 10): CPU ns a word, and only ratios of one sitting mean something. 1 GB of
//! Zipf text, 95 M words, 4.5 M distinct, 2 workers. "Hand" is a plain program in the same run: one table a worker, slots
//! by the low bits of the hash, merged by inserting each range of the hash anew.
//!
//! | | fold | merge | all |
//! |---|---|---|---|
//! | hand (median of 4) | 27.7 | 6.0 | 34.3 |
//! | this floor (median of 4; pair by pair 0.82 to 0.99 of hand, 0.93 in the middle) | 27.2 | 3.1 | 30.3 |
//! | 512 tables shared by the workers, fed by buffers of 128 keys; before them a front of 1 MiB a worker (2-way, clock) | 61-72 | 0 | 62-72 |
//! | the same without the front | 59-72 | 0 | 60-73 |
//!
//! * Estimate of the merge: both tables read once (512 MB) and 9 M slots put into a cached scratch, 0.1-0.2 s of CPU;
//!   measured 0.24-0.36 s, hand 0.53-0.66 s.
//! * Rejected: tables shared by hash partition (the last two rows). Each key is inserted once and nothing is merged, but a
//!   record that is not in the front is written and read once more, and its home is then as far away as it was. Only the
//!   prototype's variant was tried; keeping all rare records until the end would take 1.8 GB for 2 GB of text.
//! * Rejected: merging in place, into the largest table: keys at the ends of a range reach into the next worker's slots.
//! * Growth all at once, by two (by four while small): both arrays are in order. All steps to 2^23 slots took 0.49 s of
//!   3.6 s on the clock (512 MB of that text, load 10), half of it the last. Incremental growth was not tried: each probe
//!   would look in two places.
//! * 1,000 distinct keys, pushed by a tokeniser: 0.84 to 0.99 of hand. A third each is the tokeniser, the hash, the probe.
//! * Masked loads, AES rounds as the hash, 32-byte compares and positions by compression (AVX-512, chosen at run time) took a
//!   built-in word count from 22 to 9 ns of CPU a word, the hand-written program in the same minutes 7 and 6.
//! * Rejected: a way around the blocks, by which an operator in Rust pushes keys into the batch. Blocks of 8 KiB stay in the
//!   first-level cache and cost the same, for operators of every language.

mod arena;
mod batch;
mod hash;
pub mod merge;
mod probe;
mod slot;
pub mod spill;
pub mod table;
pub mod window;

pub use batch::Share;
pub use merge::{Merge, MergeFailure, Worker};
pub use spill::HashRanges;
pub use table::{FoldProgress, FoldTable};
pub use window::Window;

#[cfg(test)]
mod tests;
