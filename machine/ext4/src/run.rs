//! Runs: adjacent blocks with one use and one owner.

use crate::kind::Kind;

/// Adjacent blocks of one kind and one inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First block.
    pub start: u64,
    /// Number of blocks.
    pub blocks: u32,
    /// Use of the blocks.
    pub kind: Kind,
    /// Owner; 0 for metadata without an inode.
    pub inode: u32,
}

impl Run {
    /// Returns the block behind the last one.
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.blocks)
    }
}
