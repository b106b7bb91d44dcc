//! Reader for the structures of an ext4 file system (ext2 and ext3 too): the use and the owner of each block.
//!
//! ```text
//!   Source -> superblock -> group descriptors -> bitmaps, inode tables -> inode -> extents, or indirect blocks
//!   (file, device, bytes)        |                                          |              |
//!                                `-> layout: fixed positions                `-> name      `-> runs: block, kind, inode
//! ```
//!
//! The structures and checksums follow the kernel's documentation (Documentation/filesystems/ext4). The crate writes
//! nothing, and no input makes it panic: impossible values are [`Error`]s of kind [`ErrorKind::Damaged`]. Time and
//! memory are bounded by the size of the image, not by its contents: a tree block is read for one inode only.
//!
//! Limits: journals are not replayed, so an image that was not unmounted is read without its journal. External journal
//! devices, images of journals, and features that Linux lacks are refused.

#![forbid(unsafe_code)]

mod disk;
mod error;
mod kind;
mod map;
mod names;
mod run;
mod source;
mod tree;
mod usage;
mod walk;

pub use disk::group::Group;
pub use disk::inode::{FileType, Inode};
pub use disk::layout::Layout;
pub use disk::superblock::{Feature, SuperBlock};
pub use error::{Error, ErrorKind, Result};
pub use kind::{KINDS, Kind};
pub use map::BlockMap;
pub use names::Entry;
pub use run::Run;
pub use source::Source;
pub use tree::{CLUSTER_BYTES, Shape};
pub use usage::{ClusterEstimate, Files, FreeSpace, Ownership, POWERS, Pieces, Usage};
pub use walk::{Contents, FileFacts, FileSystem, WalkResult};
