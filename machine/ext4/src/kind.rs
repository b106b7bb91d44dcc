//! What a block is used for.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// The superblock and its copies; the block before it where blocks have 1 KiB.
    SuperBlock,
    /// Group descriptors and their copies.
    Descriptors,
    /// Kept free for descriptors, should the file system grow.
    ReservedDescriptors,
    BlockBitmap,
    InodeBitmap,
    InodeTable,
    /// A node of an extent tree, below the inode.
    ExtentBlock,
    /// Of files that are mapped as in ext2.
    IndirectBlock,
    Directory,
    /// Extended attributes: blocks of them, and inodes that hold one value each.
    Xattr,
    Journal,
    /// Of regular files.
    Data,
    /// The targets of symbolic links that are too long for the inode.
    Symlink,
    Quota,
    /// Of `orphan_file`: which inodes are to be freed when it is mounted again.
    OrphanFile,
    /// Multiple-mount protection.
    Mmp,
    /// Found to be bad by `badblocks`, and so never used.
    Bad,
}

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
