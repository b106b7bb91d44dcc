//! Structures as they are on the disk.

pub mod bytes;
pub mod checksum;
pub mod group;
pub mod inode;
pub mod layout;
pub mod superblock;
pub mod xattr;
