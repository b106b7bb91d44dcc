//! A group's descriptor: where its bitmaps and its inodes are.

use crate::disk::bytes::{u16_at, u32_at, u64_of};
use crate::disk::checksum::{crc16, crc32c};
use crate::disk::superblock::{Feature, SuperBlock};
use crate::error::{Result, damaged};

const INODES_NOT_WRITTEN: u16 = 1;
const BLOCKS_NOT_WRITTEN: u16 = 2;
const CHECKSUM: usize = 0x1E;

#[derive(Clone, Debug)]
pub struct Group {
    pub number: u64,
    pub block_bitmap: u64,
    pub inode_bitmap: u64,
    pub inode_table: u64,
    pub free_clusters: u32,
    pub free_inodes: u32,
    pub directories: u32,
    /// At the table's end; were never used.
    pub inodes_unused: u32,
    /// The bitmap was never written: but for metadata all is free.
    pub has_no_block_bitmap: bool,
    /// The bitmap was never written: no inode is used.
    pub has_no_inode_bitmap: bool,
    pub(crate) block_bitmap_checksum: u32,
    pub(crate) inode_bitmap_checksum: u32,
}

impl Group {
    /// @param bytes of one descriptor
    pub(crate) fn parse(s: &SuperBlock, number: u64, bytes: &[u8]) -> Result<Group> {
        let has_sums = s.has(Feature::METADATA_CSUM);
        if has_sums || s.has(Feature::GDT_CSUM) {
            let told = u16_at(bytes, CHECKSUM);
            if told != checksum(s, number, bytes, has_sums) {
                return damaged(format!("the descriptor of group {number}: its checksum is wrong"));
            }
        }
        // What lies behind byte 32 is there with 64bit only.
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
            // Where the first data block is, there is the superblock.
            block > s.first_data_block && block.checked_add(blocks).is_some_and(|end| end <= s.blocks)
        };
        let wrong = if !inside(self.block_bitmap, 1) {
            format!("its block bitmap is at block {}", self.block_bitmap)
        } else if !inside(self.inode_bitmap, 1) {
            format!("its inode bitmap is at block {}", self.inode_bitmap)
        } else if !inside(self.inode_table, s.inode_table_blocks()) {
            format!("its inodes are at block {}", self.inode_table)
        } else if self.inodes_unused > s.inodes_per_group {
            format!("{} of {} inodes unused", self.inodes_unused, s.inodes_per_group)
        } else {
            return Ok(());
        };
        damaged(format!("the descriptor of group {}: {wrong}: that cannot be", self.number))
    }

    pub(crate) fn is_block_bitmap_whole(&self, s: &SuperBlock, bitmap: &[u8]) -> bool {
        is_whole(s, &bitmap[..s.clusters_per_group() as usize / 8], self.block_bitmap_checksum)
    }

    pub(crate) fn is_inode_bitmap_whole(&self, s: &SuperBlock, bitmap: &[u8]) -> bool {
        is_whole(s, &bitmap[..s.inodes_per_group as usize / 8], self.inode_bitmap_checksum)
    }
}

fn is_whole(s: &SuperBlock, bitmap: &[u8], told: u32) -> bool {
    // Descriptors of 32 bytes keep one half.
    let mask = if s.descriptor_bytes >= 64 { !0 } else { 0xFFFF };
    !s.has(Feature::METADATA_CSUM) || crc32c(s.checksum_seed, bitmap) & mask == told
}

fn checksum(s: &SuperBlock, number: u64, bytes: &[u8], has_sums: bool) -> u16 {
    let number = (number as u32).to_le_bytes();
    let (before, after) = (&bytes[..CHECKSUM], &bytes[CHECKSUM + 2..]);
    if has_sums {
        let sum = [&number, before, &[0; 2], after].iter().fold(s.checksum_seed, |sum, part| crc32c(sum, part));
        return sum as u16;
    }
    // The old one is of the first 32 bytes, and of the rest where there is one.
    [&s.uuid, &number[..], before, after].iter().fold(!0, |sum, part| crc16(sum, part))
}
