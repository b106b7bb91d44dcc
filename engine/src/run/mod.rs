//! Floor 5: runs: sorted records spilled to scratch, and the merge that reads them back as one stream.
//!
//! `writer` writes `block`s to `scratch` and keeps an `index`; `reader` reads them back. `merge` merges k runs through
//! a `loser_tree`. `passes` merges in steps if there are more runs than memory for readers.

pub mod block;
pub mod codec_gauge;
pub mod index;
pub mod loser_tree;
pub mod merge;
pub mod passes;
pub mod reader;
pub mod scratch;
pub mod scratch_choice;
pub mod spilled_bytes;
pub mod writer;

#[cfg(test)]
mod block_test;
#[cfg(test)]
mod merge_test;

pub use block::Block;
pub use codec_gauge::SpillCodec;
pub use index::{BlockEntry, KeyRange, Run, RunTotals};
pub use merge::{MergedBatch, Merger};
pub use passes::MergePasses;
pub use reader::{BlockSource, ReadContext, RunReader, reader_memory_bytes};
pub use scratch::{Extent, ScratchSpace, ScratchUse};
pub use scratch_choice::ScratchDir;
pub use writer::{RunBuilder, RunSettings, Slice, SliceWriter, writer_memory_bytes};
