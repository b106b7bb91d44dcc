//! Floor 6: collecting emitted records: blocks, entries, buckets, sort, combine, spill.

pub mod bucket;
pub mod chains;
pub mod collector;
pub mod entries;
pub mod grouper;
pub mod partition;
pub mod routes;
pub mod sort;
pub mod sorted_buckets;
pub mod spill;
pub mod splitters;
pub mod store;
pub mod vsort;

pub use bucket::Buckets;
pub use collector::{CollectedRecords, Collector};
pub use grouper::Grouper;
pub use sorted_buckets::SortedBuckets;
pub use store::Store;
