//! Group descriptor: the places of a block group's bitmaps and inode table, and its counters.

use crate::disk::bytes::{u16_at, u32_at, u64_of};
use crate::disk::checksum::{crc16, crc32c};
use crate::disk::superblock::{Feature, SuperBlock};
use crate::error::{Result, damaged};

const INODES_NOT_WRITTEN: u16 = 1;
const BLOCKS_NOT_WRITTEN: u16 = 2;
/// Byte offset of the descriptor's checksum.
const CHECKSUM: usize = 0x1E;

/// Parsed descriptor of one block group.
#[derive(Clone, Debug)]
pub struct Group {
    /// Group number, from 0.
    pub number: u64,
    /// Block of the block bitmap.
    pub block_bitmap: u64,
    /// Block of the inode bitmap.
    pub inode_bitmap: u64,
    /// First block of the inode table.
    pub inode_table: u64,
    /// Free clusters, by the descriptor.
    pub free_clusters: u32,
    /// Free inodes, by the descriptor.
    pub free_inodes: u32,
    /// Directories among the inodes.
    pub directories: u32,
    /// Inodes at the end of the table that were never used.
    pub inodes_unused: u32,
    /// True if the block bitmap was never written: all blocks except metadata are free.
    pub has_no_block_bitmap: bool,
    /// True if the inode bitmap was never written: no inode is in use.
    pub has_no_inode_bitmap: bool,
    pub(crate) block_bitmap_checksum: u32,
    pub(crate) inode_bitmap_checksum: u32,
}

impl Group {
    /// Parses the `bytes` of descriptor `number`. Fails with `Damaged` on a wrong checksum or impossible values.
    pub(crate) fn parse(s: &SuperBlock, number: u64, bytes: &[u8]) -> Result<Group> {
        let has_sums = s.has(Feature::METADATA_CSUM);
        if has_sums || s.has(Feature::GDT_CSUM) {
            let stored = u16_at(bytes, CHECKSUM);
            if stored != checksum(s, number, bytes, has_sums) {
                return damaged(format!("group {number}: the checksum of its descriptor is wrong"));
            }
        }
        // Bytes behind byte 32 exist only with the feature `64bit`.
        let is_64 = s.has(Feature::BITS_64) && bytes.len() >= 64;
        let high32 = |at: usize| if is_64 { u32_at(bytes, at) } else { 0 };
        let high16 = |at: usize| if is_64 { u32::from(u16_at(bytes, at)) << 16 } else { 0 };
        let low16 = |at: usize| u32::from(u16_at(bytes, at));
        let flags = if has_sums || s.has(Feature::GDT_CSUM) { u16_at(bytes, 0x12) } else { 0 };
        let this = Group {
            number,
            block_bitmap: u64_of(u32_at(bytes, 0x0), high32(0x20)),
            inode_bitmap: u64_of(u32_at(bytes, 0x4), high32(0x24)),
            inode_table: u64_of(u32_at(bytes, 0x8), high32(0x28)),
            free_clusters: low16(0xC) | high16(0x2C),
            free_inodes: low16(0xE) | high16(0x2E),
            directories: low16(0x10) | high16(0x30),
            inodes_unused: if has_sums || s.has(Feature::GDT_CSUM) { low16(0x1C) | high16(0x32) } else { 0 },
            has_no_block_bitmap: flags & BLOCKS_NOT_WRITTEN != 0,
            has_no_inode_bitmap: flags & INODES_NOT_WRITTEN != 0,
            block_bitmap_checksum: low16(0x18) | high16(0x38),
            inode_bitmap_checksum: low16(0x1A) | high16(0x3A),
        };
        this.check(s)?;
        Ok(this)
    }

    fn check(&self, s: &SuperBlock) -> Result<()> {
        let inside = |block: u64, blocks: u64| {
            // The first data block holds the superblock.
            block > s.first_data_block && block.checked_add(blocks).is_some_and(|end| end <= s.blocks)
        };
        let wrong = if !inside(self.block_bitmap, 1) {
            format!("its block bitmap is at block {}", self.block_bitmap)
        } else if !inside(self.inode_bitmap, 1) {
            format!("its inode bitmap is at block {}", self.inode_bitmap)
        } else if !inside(self.inode_table, s.inode_table_blocks()) {
            format!("its inodes are at block {}", self.inode_table)
        } else if self.inodes_unused > s.inodes_per_group {
            format!("{} of {} inodes are unused", self.inodes_unused, s.inodes_per_group)
        } else {
            return Ok(());
        };
        damaged(format!("group {}: its descriptor is damaged: {wrong}", self.number))
    }

    /// Returns true if the checksum of the block bitmap is right.
    pub(crate) fn is_block_bitmap_whole(&self, s: &SuperBlock, bitmap: &[u8]) -> bool {
        is_whole(s, &bitmap[..s.clusters_per_group() as usize / 8], self.block_bitmap_checksum)
    }

    /// Returns true if the checksum of the inode bitmap is right.
    pub(crate) fn is_inode_bitmap_whole(&self, s: &SuperBlock, bitmap: &[u8]) -> bool {
        is_whole(s, &bitmap[..s.inodes_per_group as usize / 8], self.inode_bitmap_checksum)
    }
}

fn is_whole(s: &SuperBlock, bitmap: &[u8], stored: u32) -> bool {
    // Descriptors of 32 bytes store the lower half only.
    let mask = if s.descriptor_bytes >= 64 { !0 } else { 0xFFFF };
    !s.has(Feature::METADATA_CSUM) || crc32c(s.checksum_seed, bitmap) & mask == stored
}

fn checksum(s: &SuperBlock, number: u64, bytes: &[u8], has_sums: bool) -> u16 {
    let number = (number as u32).to_le_bytes();
    let (before, after) = (&bytes[..CHECKSUM], &bytes[CHECKSUM + 2..]);
    if has_sums {
        let sum = [&number, before, &[0; 2], after].iter().fold(s.checksum_seed, |sum, part| crc32c(sum, part));
        return sum as u16;
    }
    // The CRC-16 covers the first 32 bytes, and the rest if there is one.
    [&s.uuid, &number[..], before, after].iter().fold(!0, |sum, part| crc16(sum, part))
}
