//! Blocks of an inode, by its extents or by ext2's indirect blocks.
//!
//! ```text
//!   extents    header | 4 entries in the inode: a run of blocks each, or a block of entries; at most five levels
//!   indirect   12 blocks | a block of pointers | a block of pointers to pointer blocks | and one level more
//! ```

use std::collections::HashMap;

use crate::disk::bytes::{u16_at, u32_at, u64_of};
use crate::disk::checksum::crc32c;
use crate::disk::inode::Inode;
use crate::disk::superblock::{Feature, SuperBlock};
use crate::error::{Error, Result, damaged};
use crate::kind::Kind;
use crate::run::Run;
use crate::source::Source;

/// Fragments and block counts of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Fragments: pieces that are not adjacent on the disk.
    pub fragments: u32,
    /// Blocks of data.
    pub data_blocks: u64,
    /// Data blocks that are reserved and not written yet.
    pub unwritten_blocks: u64,
    /// Data blocks behind the end of the file.
    pub blocks_behind_end: u64,
    /// Extent or pointer blocks.
    pub tree_blocks: u32,
    /// Clusters that the data would occupy, for each size of [`CLUSTER_BYTES`].
    pub clusters: [u64; CLUSTER_BYTES.len()],
}

/// Cluster sizes of `bigalloc` that are compared.
pub const CLUSTER_BYTES: [u64; 4] = [16 << 10, 64 << 10, 256 << 10, 1 << 20];

const MAGIC: u16 = 0xF30A;
const HEADER: usize = 12;
const ENTRY: usize = 12;
const DEPTH_MAX: u16 = 5;
/// Blocks. A longer extent is unwritten, and this much shorter.
const WRITTEN_MAX: u16 = 0x8000;

const DIRECT: usize = 12;

/// Reader of trees. It records the owner of each tree block, so that no block is read for two inodes.
pub struct Trees<'a, S: ?Sized> {
    s: &'a SuperBlock,
    source: &'a S,
    /// Group of the inode that a block was read for, by block.
    nodes: HashMap<u64, u64>,
}

struct Walk<'a> {
    inode: &'a Inode,
    kind: Kind,
    runs: &'a mut Vec<Run>,
    shape: Shape,
    /// Block and file position that would continue the last fragment.
    next: Option<(u64, u64)>,
    end_block: u64,
    /// For each of [`CLUSTER_BYTES`], the first cluster of the file without data so far.
    next_clusters: [u64; CLUSTER_BYTES.len()],
}

impl<'a, S: Source + ?Sized> Trees<'a, S> {
    /// Returns a reader of the trees of one file system.
    pub fn new(s: &'a SuperBlock, source: &'a S) -> Self {
        Trees { s, source, nodes: HashMap::new() }
    }

    /// Forgets the tree blocks of a group, before its inodes are read again.
    pub fn forget(&mut self, group: u64) {
        self.nodes.retain(|_, of| *of != group);
    }

    /// Adds the blocks of `inode` to `runs`, and returns the shape of its data. Fails with `Damaged` on impossible
    /// trees.
    pub fn follow(&mut self, inode: &Inode, kind: Kind, runs: &mut Vec<Run>) -> Result<Shape> {
        let end_block = inode.bytes.div_ceil(u64::from(self.s.block_bytes));
        let mut walk =
            Walk { inode, kind, runs, shape: Shape::default(), next: None, end_block, next_clusters: [0; 4] };
        if inode.has_extents() {
            self.extents(&mut walk, &inode.map, None, 0)?;
        } else {
            self.indirect(&mut walk)?;
        }
        Ok(walk.shape)
    }

    /// Reads a tree block, and records it as the inode's. Fails if it has an owner already.
    fn node(&mut self, walk: &mut Walk, block: u64, kind: Kind) -> Result<Vec<u8>> {
        let number = walk.inode.number;
        if block < self.s.first_data_block || block >= self.s.blocks {
            return damaged(format!("inode {number}: its {} {block} is outside the file system", kind.name()));
        }
        let group = u64::from(number - 1) / u64::from(self.s.inodes_per_group);
        if self.nodes.insert(block, group).is_some() {
            return damaged(format!("inode {number}: its {} {block} has two owners", kind.name()));
        }
        walk.shape.tree_blocks += 1;
        push(walk.runs, Run { start: block, blocks: 1, kind, inode: number });
        let mut bytes = vec![0; self.s.block_bytes as usize];
        let at = block * u64::from(self.s.block_bytes);
        self.source.read_at(&mut bytes, at).map_err(|e| Error::io(&format!("block {block}"), &e))?;
        Ok(bytes)
    }

    fn extents(&mut self, walk: &mut Walk, bytes: &[u8], depth: Option<u16>, block: u64) -> Result<()> {
        let number = walk.inode.number;
        let place = || {
            if block == 0 {
                format!("inode {number}: its extents")
            } else {
                format!("inode {number}: its extent block {block}")
            }
        };
        let (magic, entries, room, own_depth) =
            (u16_at(bytes, 0), u16_at(bytes, 2), u16_at(bytes, 4), u16_at(bytes, 6));
        if magic != MAGIC {
            return damaged(format!("{}: the magic number is missing", place()));
        }
        let fits = (bytes.len() - HEADER) / ENTRY;
        if usize::from(room) > fits || entries > room || depth.is_some_and(|d| d != own_depth) || own_depth > DEPTH_MAX
        {
            return damaged(format!("{}: damaged: {entries} entries of {room}, depth {own_depth}", place()));
        }
        if block != 0 && self.s.has(Feature::METADATA_CSUM) {
            let tail = HEADER + usize::from(room) * ENTRY;
            let is_whole = tail + 4 <= bytes.len()
                && crc32c(walk.inode.checksum_seed(self.s), &bytes[..tail]) == u32_at(bytes, tail);
            if !is_whole {
                return damaged(format!("{}: its checksum is wrong", place()));
            }
        }
        for n in 0..usize::from(entries) {
            let at = HEADER + n * ENTRY;
            if own_depth == 0 {
                let stored = u16_at(bytes, at + 4);
                let (blocks, is_written) =
                    if stored <= WRITTEN_MAX { (stored, true) } else { (stored - WRITTEN_MAX, false) };
                let start = u64_of(u32_at(bytes, at + 8), u32::from(u16_at(bytes, at + 6)));
                self.data(walk, start, u32::from(blocks), u64::from(u32_at(bytes, at)), is_written)?;
            } else {
                let child = u64_of(u32_at(bytes, at + 4), u32::from(u16_at(bytes, at + 8)));
                let bytes = self.node(walk, child, Kind::ExtentBlock)?;
                self.extents(walk, &bytes, Some(own_depth - 1), child)?;
            }
        }
        Ok(())
    }

    fn data(&self, walk: &mut Walk, start: u64, blocks: u32, place: u64, is_written: bool) -> Result<()> {
        let end = start.checked_add(u64::from(blocks));
        if blocks == 0 || start < self.s.first_data_block || end.is_none_or(|end| end > self.s.blocks) {
            let number = walk.inode.number;
            return damaged(format!(
                "inode {number}: {blocks} blocks from block {start} on are outside the file system"
            ));
        }
        if walk.next != Some((start, place)) {
            walk.shape.fragments += 1;
        }
        walk.next = Some((start + u64::from(blocks), place + u64::from(blocks)));
        walk.shape.data_blocks += u64::from(blocks);
        if !is_written {
            walk.shape.unwritten_blocks += u64::from(blocks);
        }
        walk.shape.blocks_behind_end +=
            u64::from(blocks).min((place + u64::from(blocks)).saturating_sub(walk.end_block));
        for (i, bytes) in CLUSTER_BYTES.iter().enumerate() {
            let ratio = (bytes / u64::from(self.s.block_bytes)).max(1);
            let (first, end) =
                ((place / ratio).max(walk.next_clusters[i]), (place + u64::from(blocks)).div_ceil(ratio));
            walk.shape.clusters[i] += end.saturating_sub(first);
            walk.next_clusters[i] = end.max(walk.next_clusters[i]);
        }
        push(walk.runs, Run { start, blocks, kind: walk.kind, inode: walk.inode.number });
        Ok(())
    }

    fn indirect(&mut self, walk: &mut Walk) -> Result<()> {
        let map = walk.inode.map;
        let mut place = 0;
        for n in 0..DIRECT {
            self.pointer(walk, u64::from(u32_at(&map, n * 4)), 0, &mut place)?;
        }
        for depth in 1..=3 {
            self.pointer(walk, u64::from(u32_at(&map, (DIRECT + depth - 1) * 4)), depth as u32, &mut place)?;
        }
        Ok(())
    }

    /// Follows a pointer. `depth`: levels of pointer blocks between it and data.
    fn pointer(&mut self, walk: &mut Walk, block: u64, depth: u32, place: &mut u64) -> Result<()> {
        let width = u64::from(self.s.block_bytes / 4);
        if block == 0 {
            *place += width.pow(depth);
            return Ok(());
        }
        if depth == 0 {
            self.data(walk, block, 1, *place, true)?;
            *place += 1;
            return Ok(());
        }
        let bytes = self.node(walk, block, Kind::IndirectBlock)?;
        for entry in bytes.chunks_exact(4) {
            self.pointer(walk, u64::from(u32_at(entry, 0)), depth - 1, place)?;
        }
        Ok(())
    }

    /// Reads the one pointer block that the resize inode owns; the layout gives the blocks that it points to.
    pub fn resize(&mut self, inode: &Inode, runs: &mut Vec<Run>) -> Result<()> {
        let block = u64::from(u32_at(&inode.map, (DIRECT + 1) * 4));
        if block != 0 {
            let mut walk = Walk {
                inode,
                kind: Kind::IndirectBlock,
                runs,
                shape: Shape::default(),
                next: None,
                end_block: 0,
                next_clusters: [0; 4],
            };
            self.node(&mut walk, block, Kind::IndirectBlock)?;
        }
        Ok(())
    }
}

/// Appends a run, joined with the last one if both are adjacent and of the same kind and inode.
pub fn push(runs: &mut Vec<Run>, run: Run) {
    if let Some(last) = runs.last_mut() {
        let sum = last.blocks.checked_add(run.blocks);
        if let (true, Some(sum)) = (last.end() == run.start && last.kind == run.kind && last.inode == run.inode, sum) {
            last.blocks = sum;
            return;
        }
    }
    runs.push(run);
}
