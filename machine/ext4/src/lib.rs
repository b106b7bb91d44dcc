//! The structures of an ext4 file system (ext2 and ext3 too), read only: which block is what, and whose.
//!
//! ```text
//!   Source -> superblock -> group descriptors -> bitmaps, inode tables -> inode -> extents, or indirect blocks
//!   (file, device, bytes)        |                                          |              |
//!                                `-> layout: what lies where by rule        `-> name       `-> runs: blocks, kind, inode
//! ```
//!
//! As the kernel's documentation has them (Documentation/filesystems/ext4), checksums too. Nothing is ever written, and no input makes it panic: what
//! cannot be is [`Error`]s of kind [`Trouble::Damaged`]. Work and memory are bounded by the size of the image, whatever it says of itself: a block of a
//! tree is read for one inode only.
//!
//! Limits: journals are not replayed: of an image that was not unmounted it is what the structures say without it. Journals on devices of their own,
//! images of journals, and features that do not exist in Linux are refused.

#![forbid(unsafe_code)]

mod disk;
mod error;
mod kind;
mod map;
mod names;
mod source;
mod tree;
mod usage;
mod walk;

pub use disk::group::Group;
pub use disk::inode::{FileType, Inode};
pub use disk::layout::Layout;
pub use disk::superblock::{Feature, SuperBlock};
pub use error::{Error, Result, Trouble};
pub use kind::{KINDS, Kind};
pub use map::BlockMap;
pub use names::Entry;
pub use source::Source;
pub use tree::{CLUSTER_BYTES, Run, Shape};
pub use usage::{Clustered, Files, FreeSpace, Ownership, POWERS, Pieces, Usage};
pub use walk::{Contents, FileFacts, FileSystem, Walked};
