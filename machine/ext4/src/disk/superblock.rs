//! Superblock: sizes and features of the file system.

use crate::disk::bytes::{u16_at, u32_at, u64_at, u64_of};
use crate::disk::checksum::crc32c;
use crate::error::{Error, ErrorKind, Result, damaged};
use crate::source::Source;

/// Byte offset of the superblock.
pub const SUPER_OFFSET: u64 = 1024;
/// Bytes of the superblock.
pub const SUPER_BYTES: usize = 1024;
const MAGIC: u16 = 0xEF53;

/// A feature: a bit in one of three words (compatible, incompatible, read-only compatible) and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    word: usize,
    bit: u32,
    /// Name, as `dumpe2fs` prints it.
    pub name: &'static str,
}

const fn feature(word: usize, bit: u32, name: &'static str) -> Feature {
    Feature { word, bit, name }
}

impl Feature {
    /// A journal.
    pub const HAS_JOURNAL: Feature = feature(0, 0x4, "has_journal");
    /// Blocks reserved for descriptors of a larger file system.
    pub const RESIZE_INODE: Feature = feature(0, 0x10, "resize_inode");
    /// Copies of the superblock in at most two groups.
    pub const SPARSE_SUPER2: Feature = feature(0, 0x200, "sparse_super2");
    /// Small commits in a part of the journal.
    pub const FAST_COMMIT: Feature = feature(0, 0x400, "fast_commit");
    /// Deleted but open inodes are listed in a file.
    pub const ORPHAN_FILE: Feature = feature(0, 0x1000, "orphan_file");
    /// Directory entries have the file type.
    pub const FILETYPE: Feature = feature(1, 0x2, "filetype");
    /// The journal has to be replayed.
    pub const RECOVER: Feature = feature(1, 0x4, "needs_recovery");
    /// The device is a journal, not a file system.
    pub const JOURNAL_DEV: Feature = feature(1, 0x8, "journal_dev");
    /// Descriptors are in the groups that they describe.
    pub const META_BG: Feature = feature(1, 0x10, "meta_bg");
    /// Files can have extents.
    pub const EXTENTS: Feature = feature(1, 0x40, "extent");
    /// Block numbers of 64 bits.
    pub const BITS_64: Feature = feature(1, 0x80, "64bit");
    /// Protection against a second mount.
    pub const MMP: Feature = feature(1, 0x100, "mmp");
    /// Metadata of several groups lies together.
    pub const FLEX_BG: Feature = feature(1, 0x200, "flex_bg");
    /// Large extended attributes have their own inodes.
    pub const EA_INODE: Feature = feature(1, 0x400, "ea_inode");
    /// The seed of checksums is in the superblock.
    pub const CSUM_SEED: Feature = feature(1, 0x2000, "metadata_csum_seed");
    /// Directories with an index of three levels.
    pub const LARGE_DIR: Feature = feature(1, 0x4000, "large_dir");
    /// Data of small files is in the inode.
    pub const INLINE_DATA: Feature = feature(1, 0x8000, "inline_data");
    /// Files can be encrypted.
    pub const ENCRYPT: Feature = feature(1, 0x1_0000, "encrypt");
    /// Names can be compared without regard to case.
    pub const CASEFOLD: Feature = feature(1, 0x2_0000, "casefold");
    /// Copies of the superblock in few groups only.
    pub const SPARSE_SUPER: Feature = feature(2, 0x1, "sparse_super");
    /// Inodes can count file system blocks instead of sectors.
    pub const HUGE_FILE: Feature = feature(2, 0x8, "huge_file");
    /// Descriptors have checksums; groups can be uninitialized.
    pub const GDT_CSUM: Feature = feature(2, 0x10, "uninit_bg");
    /// Quotas are in hidden inodes.
    pub const QUOTA: Feature = feature(2, 0x100, "quota");
    /// Space is allocated in clusters of blocks.
    pub const BIGALLOC: Feature = feature(2, 0x200, "bigalloc");
    /// All metadata has checksums.
    pub const METADATA_CSUM: Feature = feature(2, 0x400, "metadata_csum");
    /// Quotas of projects.
    pub const PROJECT: Feature = feature(2, 0x2000, "project");
    /// Files can share blocks; read-only.
    pub const SHARED_BLOCKS: Feature = feature(2, 0x4000, "shared_blocks");
    /// Files can be verified by a hash tree.
    pub const VERITY: Feature = feature(2, 0x8000, "verity");

    /// Features that `feature_names` reports.
    const NAMED: [Feature; 28] = [
        Feature::HAS_JOURNAL,
        Feature::RESIZE_INODE,
        Feature::SPARSE_SUPER2,
        Feature::FAST_COMMIT,
        Feature::ORPHAN_FILE,
        Feature::FILETYPE,
        Feature::RECOVER,
        Feature::JOURNAL_DEV,
        Feature::META_BG,
        Feature::EXTENTS,
        Feature::BITS_64,
        Feature::MMP,
        Feature::FLEX_BG,
        Feature::EA_INODE,
        Feature::CSUM_SEED,
        Feature::LARGE_DIR,
        Feature::INLINE_DATA,
        Feature::ENCRYPT,
        Feature::CASEFOLD,
        Feature::SPARSE_SUPER,
        Feature::HUGE_FILE,
        Feature::GDT_CSUM,
        Feature::QUOTA,
        Feature::BIGALLOC,
        Feature::METADATA_CSUM,
        Feature::PROJECT,
        Feature::SHARED_BLOCKS,
        Feature::VERITY,
    ];
}

/// Incompatible features that this crate supports. `dirdata` (0x1000, of Lustre) changes names only.
const KNOWN_INCOMPATIBLE: u32 =
    0x2 | 0x4 | 0x10 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x1000 | 0x2000 | 0x4000 | 0x8000 | 0x1_0000 | 0x2_0000;

/// Parsed superblock.
#[derive(Clone, Debug)]
pub struct SuperBlock {
    /// All blocks, including those before the first data block.
    pub blocks: u64,
    /// 1 with blocks of 1 KiB and no clusters, else 0.
    pub first_data_block: u64,
    /// Bytes a block.
    pub block_bytes: u32,
    /// Blocks a cluster; 1 without `bigalloc`.
    pub cluster_blocks: u32,
    /// Blocks a group.
    pub blocks_per_group: u32,
    /// Inodes a group.
    pub inodes_per_group: u32,
    /// All inodes.
    pub inodes: u32,
    /// Bytes an inode.
    pub inode_bytes: u32,
    /// Bytes a group descriptor.
    pub descriptor_bytes: u32,
    /// Free blocks.
    pub free_blocks: u64,
    /// Free inodes.
    pub free_inodes: u32,
    /// Blocks reserved for descriptors of a larger file system.
    pub reserved_descriptor_blocks: u32,
    /// First meta group with `meta_bg`, else `u32::MAX`.
    pub first_meta_group: u32,
    /// Groups a flexible group with `flex_bg`, else 1.
    pub groups_per_flex: u32,
    /// First inode that the file system does not reserve.
    pub first_inode: u32,
    /// Inode of the journal, or 0.
    pub journal_inode: u32,
    /// Inodes of user, group and project quotas, or 0.
    pub quota_inodes: [u32; 3],
    /// Inode of the orphan file, or 0.
    pub orphan_inode: u32,
    /// Groups with a copy of the superblock under `sparse_super2`.
    pub backup_groups: [u32; 2],
    /// Block of the protection against a second mount, or 0.
    pub mmp_block: u64,
    /// UUID of the file system.
    pub uuid: [u8; 16],
    /// Volume label.
    pub label: String,
    /// Folder of the last mount.
    pub last_mounted: String,
    /// True if the file system was unmounted and no error was found since.
    pub is_clean: bool,
    /// KiB written since the file system was created, by the superblock's counter.
    pub written_kib: u64,
    /// Seed of all metadata checksums.
    pub checksum_seed: u32,
    features: [u32; 3],
}

impl SuperBlock {
    /// Reads the superblock. Fails with `Foreign` if there is none, `Unsupported` for unknown features, `Damaged` for
    /// impossible values.
    pub fn read<S: Source + ?Sized>(source: &S) -> Result<SuperBlock> {
        let size = source.size().map_err(|e| Error::io("the size of the image", &e))?;
        if size < SUPER_OFFSET + SUPER_BYTES as u64 {
            return Err(Error::new(ErrorKind::Foreign, format!("{size} bytes are too few for a file system")));
        }
        let mut bytes = [0; SUPER_BYTES];
        source.read_at(&mut bytes, SUPER_OFFSET).map_err(|e| Error::io("the superblock", &e))?;
        let this = SuperBlock::parse(&bytes)?;
        let need = this.blocks.checked_mul(u64::from(this.block_bytes));
        match need {
            Some(need) if need <= size => Ok(this),
            _ => damaged(format!(
                "the file system has {} blocks of {} bytes, but the image only {size} bytes; a part is missing",
                this.blocks, this.block_bytes
            )),
        }
    }

    pub(crate) fn parse(bytes: &[u8; SUPER_BYTES]) -> Result<SuperBlock> {
        if u16_at(bytes, 0x38) != MAGIC {
            return Err(Error::new(
                ErrorKind::Foreign,
                "no ext2, ext3 or ext4 file system: the superblock's magic number is missing",
            ));
        }
        let features = [u32_at(bytes, 0x5C), u32_at(bytes, 0x60), u32_at(bytes, 0x64)];
        let has = |f: Feature| features[f.word] & f.bit != 0;
        if has(Feature::JOURNAL_DEV) {
            return Err(Error::new(
                ErrorKind::Foreign,
                "this is an external journal device; name the device of the file system",
            ));
        }
        let unknown = features[1] & !KNOWN_INCOMPATIBLE;
        if unknown != 0 {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("the file system has incompatible features that are not supported ({unknown:#x})"),
            ));
        }
        if has(Feature::METADATA_CSUM) && crc32c(!0, &bytes[..0x3FC]) != u32_at(bytes, 0x3FC) {
            return damaged("the superblock's checksum is wrong");
        }
        let (log_block, log_cluster) = (u32_at(bytes, 0x18), u32_at(bytes, 0x1C));
        if log_block > 6 || has(Feature::BIGALLOC) && (log_cluster < log_block || log_cluster > 20) {
            return damaged(format!(
                "the superblock: blocks of 2^{} bytes, clusters of 2^{}",
                log_block as u64 + 10,
                log_cluster as u64 + 10
            ));
        }
        let is_64 = has(Feature::BITS_64);
        let high = |at: usize| if is_64 { u32_at(bytes, at) } else { 0 };
        let is_old = u32_at(bytes, 0x4C) == 0;
        let this = SuperBlock {
            blocks: u64_of(u32_at(bytes, 0x4), high(0x150)),
            first_data_block: u64::from(u32_at(bytes, 0x14)),
            block_bytes: 1024 << log_block,
            cluster_blocks: if has(Feature::BIGALLOC) { 1 << (log_cluster - log_block) } else { 1 },
            blocks_per_group: u32_at(bytes, 0x20),
            inodes_per_group: u32_at(bytes, 0x28),
            inodes: u32_at(bytes, 0x0),
            inode_bytes: if is_old { 128 } else { u32::from(u16_at(bytes, 0x58)) },
            descriptor_bytes: if is_64 { u32::from(u16_at(bytes, 0xFE)) } else { 32 },
            free_blocks: u64_of(u32_at(bytes, 0xC), high(0x158)),
            free_inodes: u32_at(bytes, 0x10),
            reserved_descriptor_blocks: if has(Feature::RESIZE_INODE) { u32::from(u16_at(bytes, 0xCE)) } else { 0 },
            first_meta_group: if has(Feature::META_BG) { u32_at(bytes, 0x104) } else { u32::MAX },
            groups_per_flex: if has(Feature::FLEX_BG) && bytes[0x174] < 31 { 1 << bytes[0x174] } else { 1 },
            first_inode: if is_old { 11 } else { u32_at(bytes, 0x54) },
            journal_inode: if has(Feature::HAS_JOURNAL) { u32_at(bytes, 0xE0) } else { 0 },
            quota_inodes: [u32_at(bytes, 0x240), u32_at(bytes, 0x244), u32_at(bytes, 0x26C)],
            orphan_inode: if has(Feature::ORPHAN_FILE) { u32_at(bytes, 0x280) } else { 0 },
            backup_groups: [u32_at(bytes, 0x24C), u32_at(bytes, 0x250)],
            mmp_block: if has(Feature::MMP) { u64_at(bytes, 0x168) } else { 0 },
            uuid: bytes[0x68..0x78].try_into().expect("16 bytes"),
            label: text(&bytes[0x78..0x88]),
            last_mounted: text(&bytes[0x88..0xC8]),
            is_clean: u16_at(bytes, 0x3A) & 3 == 1 && !has(Feature::RECOVER),
            written_kib: u64_at(bytes, 0x178),
            checksum_seed: if has(Feature::CSUM_SEED) { u32_at(bytes, 0x270) } else { crc32c(!0, &bytes[0x68..0x78]) },
            features,
        };
        this.check()?;
        Ok(this)
    }

    fn check(&self) -> Result<()> {
        let bits = u64::from(self.block_bytes) * 8;
        let wrong = if self.first_data_block >= self.blocks || self.first_data_block > 1 {
            format!("{} blocks, the first data block is {}", self.blocks, self.first_data_block)
        } else if self.blocks_per_group == 0
            || !self.blocks_per_group.is_multiple_of(8 * self.cluster_blocks)
            || self.clusters_per_group() > bits
        {
            format!("{} blocks a group", self.blocks_per_group)
        } else if self.inodes_per_group == 0
            || !self.inodes_per_group.is_multiple_of(8)
            || u64::from(self.inodes_per_group) > bits
        {
            format!("{} inodes a group", self.inodes_per_group)
        } else if !self.inode_bytes.is_power_of_two() || !(128..=self.block_bytes).contains(&self.inode_bytes) {
            format!("inodes of {} bytes", self.inode_bytes)
        } else if !self.descriptor_bytes.is_power_of_two()
            || self.descriptor_bytes > 1024
            || self.has(Feature::BITS_64) && self.descriptor_bytes < 64
        {
            format!("group descriptors of {} bytes", self.descriptor_bytes)
        } else if self.group_count().checked_mul(self.inodes_per_group.into()) != Some(self.inodes.into()) {
            format!("{} groups of {} inodes are not {} inodes", self.group_count(), self.inodes_per_group, self.inodes)
        } else if self.inode_table_blocks() * self.group_count() >= self.blocks {
            format!("{} inodes of {} bytes do not fit in it", self.inodes, self.inode_bytes)
        } else if u64::from(self.reserved_descriptor_blocks) > u64::from(self.block_bytes) / 4 {
            format!("{} blocks reserved for descriptors", self.reserved_descriptor_blocks)
        } else {
            return Ok(());
        };
        damaged(format!("the superblock is damaged: {wrong}; e2fsck -n reports more"))
    }

    /// Returns true if the file system has the feature.
    pub fn has(&self, feature: Feature) -> bool {
        self.features[feature.word] & feature.bit != 0
    }

    /// Names of its features, as `dumpe2fs` prints them; features that need no report here are left out.
    pub fn feature_names(&self) -> Vec<&'static str> {
        Feature::NAMED.iter().filter(|f| self.has(**f)).map(|f| f.name).collect()
    }

    /// Returns the number of groups.
    pub fn group_count(&self) -> u64 {
        (self.blocks - self.first_data_block).div_ceil(u64::from(self.blocks_per_group))
    }

    /// Returns the clusters of a full group.
    pub fn clusters_per_group(&self) -> u64 {
        u64::from(self.blocks_per_group / self.cluster_blocks)
    }

    /// Returns the first block of the group.
    pub fn group_start(&self, group: u64) -> u64 {
        self.first_data_block + group * u64::from(self.blocks_per_group)
    }

    /// Returns the blocks of the group; the last group may be smaller.
    pub fn group_blocks(&self, group: u64) -> u64 {
        u64::from(self.blocks_per_group).min(self.blocks - self.group_start(group))
    }

    /// Returns the descriptors that fit into a block.
    pub fn descriptors_per_block(&self) -> u64 {
        u64::from(self.block_bytes / self.descriptor_bytes)
    }

    /// Returns the blocks of one copy of all descriptors.
    pub fn descriptor_blocks(&self) -> u64 {
        self.group_count().div_ceil(self.descriptors_per_block())
    }

    /// Returns the blocks of a group's inode table.
    pub fn inode_table_blocks(&self) -> u64 {
        (u64::from(self.inodes_per_group) * u64::from(self.inode_bytes)).div_ceil(u64::from(self.block_bytes))
    }

    /// Returns the size of the file system in bytes.
    pub fn bytes(&self) -> u64 {
        self.blocks * u64::from(self.block_bytes)
    }
}

/// Text up to the first zero byte; invalid UTF-8 and control characters become replacement characters.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
