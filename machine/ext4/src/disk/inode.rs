//! Inode: type, size, flags, and the map that leads to its blocks.

use crate::disk::bytes::{u16_at, u32_at, u64_of};
use crate::disk::checksum::crc32c;
use crate::disk::superblock::{Feature, SuperBlock};
use crate::disk::xattr::Xattrs;

/// Number of the root directory's inode.
pub const ROOT: u32 = 2;
const BAD_BLOCKS: u32 = 1;
const RESIZE: u32 = 7;

const FLAG_HUGE: u32 = 0x4_0000;
const FLAG_ENCRYPTED: u32 = 0x800;
const FLAG_EXTENTS: u32 = 0x8_0000;
const FLAG_VERITY: u32 = 0x10_0000;
const FLAG_XATTR_VALUE: u32 = 0x20_0000;
const FLAG_INLINE: u32 = 0x1000_0000;
const FLAG_CASEFOLDED: u32 = 0x4000_0000;

/// Bytes of the map in an inode.
pub const MAP_BYTES: usize = 60;
const MAP: usize = 0x28;
const OLD_BYTES: usize = 128;

/// File type of an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    Regular,
    Directory,
    Symlink,
    /// Devices, pipes and sockets; without blocks except for attributes.
    Special,
    /// No type: an inode of the file system itself, or unused.
    None,
}

/// Parsed inode.
#[derive(Clone, Debug)]
pub struct Inode {
    /// Inode number, from 1.
    pub number: u32,
    /// File type, from the mode.
    pub file_type: FileType,
    /// True for inodes of the file system itself: journal, reserved descriptors, bad blocks.
    pub is_reserved: bool,
    /// Hard links.
    pub links: u16,
    /// File size in bytes.
    pub bytes: u64,
    /// Space in units of 512 bytes, as the inode records it.
    pub sectors: u64,
    /// Generation; it changes when the inode number is used again, and seeds the inode's checksums.
    pub generation: u32,
    /// Block of extended attributes, or 0.
    pub xattr_block: u64,
    /// Bytes of fields behind the first 128.
    pub extra_bytes: u16,
    flags: u32,
    /// Root of the extent tree, or block pointers, or inline data.
    pub map: [u8; MAP_BYTES],
    /// Bytes of data that fit into the inode with the feature `inline_data`.
    pub inline_bytes_max: u32,
}

impl Inode {
    /// Parses the `bytes` of one inode of the table.
    pub(crate) fn parse(s: &SuperBlock, number: u32, bytes: &[u8]) -> Inode {
        let flags = u32_at(bytes, 0x20);
        let file_type = match u16_at(bytes, 0x0) >> 12 {
            0x8 => FileType::Regular,
            0x4 => FileType::Directory,
            0xA => FileType::Symlink,
            0x1 | 0x2 | 0x6 | 0xC => FileType::Special,
            _ => FileType::None,
        };
        let has_extra = bytes.len() > OLD_BYTES;
        let extra_bytes = if has_extra { u16_at(bytes, 0x80) } else { 0 };
        let units =
            u64_of(u32_at(bytes, 0x1C), if s.has(Feature::HUGE_FILE) { u32::from(u16_at(bytes, 0x74)) } else { 0 });
        Inode {
            number,
            file_type,
            is_reserved: number < s.first_inode && number != ROOT,
            links: u16_at(bytes, 0x1A),
            bytes: u64_of(u32_at(bytes, 0x4), if file_type == FileType::Special { 0 } else { u32_at(bytes, 0x6C) }),
            sectors: if s.has(Feature::HUGE_FILE) && flags & FLAG_HUGE != 0 {
                units.saturating_mul(u64::from(s.block_bytes / 512))
            } else {
                units
            },
            generation: u32_at(bytes, 0x64),
            xattr_block: u64_of(
                u32_at(bytes, 0x68),
                if s.has(Feature::BITS_64) { u32::from(u16_at(bytes, 0x76)) } else { 0 },
            ),
            extra_bytes,
            flags,
            map: bytes[MAP..MAP + MAP_BYTES].try_into().expect("60 bytes"),
            inline_bytes_max: (MAP_BYTES + Xattrs::of(bytes, extra_bytes).room_for_inline()) as u32,
        }
    }

    /// Returns true if the checksum is right. `bytes`: the inode as it is in the table.
    pub(crate) fn is_whole(&self, s: &SuperBlock, bytes: &[u8]) -> bool {
        if !s.has(Feature::METADATA_CSUM) {
            return true;
        }
        const LOW: usize = 0x7C;
        const HIGH: usize = 0x82;
        let has_high = bytes.len() > OLD_BYTES && self.extra_bytes >= 4;
        let stored = u32::from(u16_at(bytes, LOW)) | if has_high { u32::from(u16_at(bytes, HIGH)) << 16 } else { 0 };
        let mut sum = self.checksum_seed(s);
        sum = crc32c(sum, &bytes[..LOW]);
        sum = crc32c(sum, &[0; 2]);
        sum = crc32c(sum, &bytes[LOW + 2..bytes.len().min(if has_high { HIGH } else { usize::MAX })]);
        if has_high {
            sum = crc32c(sum, &[0; 2]);
            sum = crc32c(sum, &bytes[HIGH + 2..]);
        }
        stored == if has_high { sum } else { sum & 0xFFFF }
    }

    /// Seed of the inode's own checksum, and of the checksums of its extent blocks.
    pub(crate) fn checksum_seed(&self, s: &SuperBlock) -> u32 {
        crc32c(crc32c(s.checksum_seed, &self.number.to_le_bytes()), &self.generation.to_le_bytes())
    }

    /// Returns true if the map is an extent tree.
    pub fn has_extents(&self) -> bool {
        self.flags & FLAG_EXTENTS != 0
    }

    /// Returns true if the data is in the inode itself.
    pub fn is_inline(&self) -> bool {
        self.flags & FLAG_INLINE != 0
    }

    /// Returns true if the inode is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.flags & FLAG_ENCRYPTED != 0
    }

    /// Returns true if the directory ignores case.
    pub fn is_casefolded(&self) -> bool {
        self.flags & FLAG_CASEFOLDED != 0
    }

    /// Returns true if the file has verity data behind its end.
    pub fn has_verity(&self) -> bool {
        self.flags & FLAG_VERITY != 0
    }

    /// Returns true if the data is the value of another inode's attribute.
    pub fn is_xattr_value(&self) -> bool {
        self.flags & FLAG_XATTR_VALUE != 0
    }

    /// Returns true for the inode of bad blocks.
    pub fn is_bad_blocks(&self) -> bool {
        self.number == BAD_BLOCKS
    }

    /// Returns true for the inode that owns the blocks reserved for descriptors, and their copies.
    pub fn is_resize(&self) -> bool {
        self.number == RESIZE
    }

    /// Returns true if `map` leads to blocks.
    pub fn has_map(&self, s: &SuperBlock) -> bool {
        if self.is_inline() {
            return false;
        }
        match self.file_type {
            FileType::Regular | FileType::Directory => true,
            // A short link is stored in the inode, which then has no block except for attributes.
            FileType::Symlink => {
                let cluster = u64::from(s.cluster_blocks) * u64::from(s.block_bytes / 512);
                self.has_extents() || self.sectors > if self.xattr_block != 0 { cluster } else { 0 }
            }
            FileType::Special => false,
            // Inodes of the file system itself have no type if old programs created them.
            FileType::None => self.number < s.first_inode && self.sectors > 0,
        }
    }
}
