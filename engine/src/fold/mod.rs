//! Floor 6, folding: one state a key, in a table of each worker, merged at the end. The fast path of every aggregation.
//!
//! ```text
//!   ONE, REF, COPY blocks           data + spans          hash, prefetch       find or insert          fold
//!   a FusedMapper's push  ------->  batch of 64  -------> batch of 64 -------> slots of the keys ----> states
//!   insert.rs, table.rs             batch.rs              hash.rs              probe.rs, slot.rs       known, or the user's
//!
//!   full, and the budget gives no more: `drain`, go on          all input folded: `Merge`, range by range (merge.rs)
//! ```
//!
//! A batch is hashed, and its cache lines asked for, before the batch ahead of it is folded: memory has the time of 64
//! records to answer. Keys stand in the order of their hashes, so that growing and merging are sequential.
//!
//! Limits: all memory comes from the budget first; while a table grows, the old and the new slots (three times the old)
//! are there at once. `Merge` needs scratch for one range a worker, well below 1 MiB each unless hashes are clustered.
//!
//! # What was measured (2 cores, a busy machine: only ratios of one sitting mean something)
//! 1 GB of Zipf text, 95 M words, 4.5 M distinct; 2 workers; CPU ns a word. "Hand" is a plain program in the same run: one
//! table a worker, slots by the low bits of the hash, merged by inserting each range of the hash anew.
//!
//! | | fold | merge | all |
//! |---|---|---|---|
//! | hand | 29.3 | 6.0 | 35.3 |
//! | this floor | 28.2 | 2.9 | 31.1 |
//! | front of 1 MiB a worker (2-way, clock), behind it 512 tables that the workers share, fed by buffers of 128 keys | 61 | 0 | 62 |
//! | the same without the front | 55-72 | 0 | 55-73 |
//!
//! * Estimate: both tables read once (512 MB) and 9 M slots put into a cached scratch: 0.1-0.2 s of CPU; measured 0.27 s.
//! * Rejected: shared tables by hash partition (rows 3 and 4). Each key is inserted once and nothing is merged, but a
//!   record that is not in the front is written and read once more, and its home is as far away as before: a table of 64
//!   that is prefetched costs what the copy costs. Keeping all rare records until the end would need 1.8 GB for 2 GB of text.
//! * Rejected: merging in place, into the largest table: keys at the ends of a range reach into the next worker's slots.
//! * Growth all at once, by doubling (by four while small): in order, all steps to 2^23 slots are a tenth of the run on a
//!   busy machine, half of it the last step. Incremental growth would make every probe look in two places.
//! * 1,000 distinct keys: 0.87 of hand's time; merging 0.1 % of it.

mod arena;
mod batch;
mod hash;
pub mod insert;
pub mod merge;
mod probe;
mod slot;
pub mod table;

pub use insert::{FusedMapper, Inserter};
pub use merge::{Merge, Unmerged, Worker};
pub use table::{FoldTable, Folded, RefEntry};

#[cfg(test)]
mod tests;
