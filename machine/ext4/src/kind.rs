//! Use of a block.

/// Use of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// Superblock and its copies; also the block before it with blocks of 1 KiB.
    SuperBlock,
    /// Group descriptors and their copies.
    Descriptors,
    /// Blocks reserved for descriptors of a larger file system.
    ReservedDescriptors,
    BlockBitmap,
    InodeBitmap,
    InodeTable,
    /// Node of an extent tree below the inode.
    ExtentBlock,
    /// Pointer block of a file that is mapped as in ext2.
    IndirectBlock,
    Directory,
    /// Extended attributes: attribute blocks, and inodes that hold one value each.
    Xattr,
    Journal,
    /// Data of regular files.
    Data,
    /// Target of a symbolic link that is too long for the inode.
    Symlink,
    Quota,
    /// Inodes to free at the next mount (feature `orphan_file`).
    OrphanFile,
    /// Multiple-mount protection.
    Mmp,
    /// Bad block by `badblocks`, never used.
    Bad,
}

/// All kinds, in the order of their numbers.
pub const KINDS: [Kind; 17] = [
    Kind::SuperBlock,
    Kind::Descriptors,
    Kind::ReservedDescriptors,
    Kind::BlockBitmap,
    Kind::InodeBitmap,
    Kind::InodeTable,
    Kind::ExtentBlock,
    Kind::IndirectBlock,
    Kind::Directory,
    Kind::Xattr,
    Kind::Journal,
    Kind::Data,
    Kind::Symlink,
    Kind::Quota,
    Kind::OrphanFile,
    Kind::Mmp,
    Kind::Bad,
];

impl Kind {
    /// Returns the name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::SuperBlock => "super block",
            Kind::Descriptors => "group descriptor",
            Kind::ReservedDescriptors => "reserved descriptor",
            Kind::BlockBitmap => "block bitmap",
            Kind::InodeBitmap => "inode bitmap",
            Kind::InodeTable => "inode table",
            Kind::ExtentBlock => "extent block",
            Kind::IndirectBlock => "indirect block",
            Kind::Directory => "directory",
            Kind::Xattr => "xattr",
            Kind::Journal => "journal",
            Kind::Data => "regular data",
            Kind::Symlink => "symlink",
            Kind::Quota => "quota",
            Kind::OrphanFile => "orphan file",
            Kind::Mmp => "mmp",
            Kind::Bad => "bad block",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_their_order() {
        assert!(KINDS.iter().enumerate().all(|(n, kind)| *kind as usize == n));
    }
}
