//! Paths of inodes, from the entries of directories.
//!
//! A directory with an index (htree) is read as a list. Its index nodes look like empty entries to readers that do not
//! know them.

use std::collections::{HashMap, HashSet};

use crate::disk::bytes::{u16_at, u32_at};
use crate::disk::inode::{FileType, Inode, MAP_BYTES, ROOT};
use crate::disk::superblock::SuperBlock;
use crate::disk::xattr::Xattrs;
use crate::error::{Error, Result, damaged};
use crate::kind::Kind;
use crate::run::Run;
use crate::source::Source;
use crate::tree::Trees;
use crate::walk::FileSystem;

const HEAD: usize = 8;
/// Folders above an inode; a deeper chain is a circle.
const DEPTH_MAX: usize = 256;
/// Bytes of directories read for one request. Some hundred million files need this much.
const NAMES_BYTES_MAX: u64 = 16 << 30;

/// Entry of a directory; its name has the bytes of the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Inode number.
    pub inode: u32,
    /// Name, without a folder.
    pub name: Vec<u8>,
}

/// Blocks of directories that may still be read. Damaged extents can make each directory longer than the file system.
struct BlockAllowance(u64);

impl BlockAllowance {
    fn take(&mut self, blocks: u64, directory: u32) -> Result<()> {
        match self.0.checked_sub(blocks) {
            Some(left) => self.0 = left,
            None => return damaged(format!("inode {directory}: the directories are longer than the file system")),
        }
        Ok(())
    }
}

impl<S: Source + ?Sized> FileSystem<'_, S> {
    /// Returns the entries of a directory, with `.` and `..` if they are on the disk.
    pub fn entries(&self, directory: &Inode) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        self.visit_entries(directory, &mut BlockAllowance(self.superblock.blocks), |inode, name| {
            entries.push(Entry { inode, name: name.to_vec() });
            true
        })?;
        Ok(entries)
    }

    /// Calls `each` for the entries in turn, as long as it returns true.
    fn visit_entries(
        &self,
        directory: &Inode,
        left: &mut BlockAllowance,
        mut each: impl FnMut(u32, &[u8]) -> bool,
    ) -> Result<()> {
        if directory.is_inline() {
            let raw = self.inode_bytes(directory.number)?;
            let up = [(u32_at(&directory.map, 0), &b".."[..])];
            let attributes = Xattrs::of(&raw, directory.extra_bytes);
            let all = up.into_iter().chain(Entries::of(&directory.map[4..])).chain(Entries::of(attributes.inline()));
            let _ = all.into_iter().all(|(inode, name)| each(inode, name));
            return Ok(());
        }
        let mut runs = Vec::new();
        let shape = Trees::new(&self.superblock, self.source()).follow(directory, Kind::Directory, &mut runs)?;
        left.take(shape.tree_blocks.into(), directory.number)?;
        for run in runs.iter().filter(|run| run.kind == Kind::Directory) {
            if !self.visit_blocks(run.start, run, left, &mut each)? {
                break;
            }
        }
        Ok(())
    }

    /// Visits the entries of the run's blocks from `from` on. Returns false if `each` ended the visit.
    fn visit_blocks(
        &self,
        from: u64,
        run: &Run,
        left: &mut BlockAllowance,
        each: &mut impl FnMut(u32, &[u8]) -> bool,
    ) -> Result<bool> {
        let size = self.superblock.block_bytes as usize;
        let mut block = vec![0; size];
        for n in from..run.end() {
            left.take(1, run.inode)?;
            self.source().read_at(&mut block, n * size as u64).map_err(|e| Error::io(&format!("block {n}"), &e))?;
            if !Entries::of(&block).all(|(inode, name)| each(inode, name)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Bytes that a one-block directory would need in its inode: the parent's number, and all entries except `.` and
    /// `..`.
    pub(crate) fn inline_size_of_directory(&self, block: u64) -> Result<u64> {
        let mut bytes = 4;
        let run = Run { start: block, blocks: 1, kind: Kind::Directory, inode: 0 };
        self.visit_blocks(block, &run, &mut BlockAllowance(1), &mut |_, name| {
            if !is_dots(name) {
                bytes += (HEAD + name.len()).next_multiple_of(4) as u64;
            }
            true
        })?;
        Ok(bytes)
    }

    /// Returns paths from the root for the `wanted` inodes that have a name; one path for an inode with several names.
    /// Bytes that are not UTF-8 become replacement characters, and encrypted names are `<encrypted>`.
    ///
    /// `runs`: the runs of the whole file system, in order of blocks.
    pub fn paths(&self, runs: &[Run], wanted: &HashSet<u32>) -> HashMap<u32, String> {
        let mut found: HashMap<u32, (u32, Vec<u8>)> = HashMap::new();
        let mut left = BlockAllowance(NAMES_BYTES_MAX / u64::from(self.superblock.block_bytes));
        // Runs are in order of blocks, so a block that two runs share is read once.
        let mut end = 0;
        for run in runs.iter().filter(|run| run.kind == Kind::Directory) {
            if found.len() == wanted.len() {
                break;
            }
            // Directories that cannot be read contribute no names.
            let _ = self.visit_blocks(run.start.max(end), run, &mut left, &mut |inode, name| {
                if wanted.contains(&inode) && !is_dots(name) {
                    found.insert(inode, (run.inode, name.to_vec()));
                }
                true
            });
            end = end.max(run.end());
        }
        let mut known: HashMap<u32, String> = HashMap::from([(ROOT, String::new())]);
        let mut paths = HashMap::new();
        for (inode, (parent, name)) in found {
            if let Some(folder) = self.folder(parent, &mut known, &mut left) {
                paths.insert(inode, format!("{folder}/{}", self.display_name(parent, &name)));
            }
        }
        if wanted.contains(&ROOT) {
            paths.insert(ROOT, "/".to_owned());
        }
        paths
    }

    /// Path of a folder: follows `..` up, and searches each parent for the name. The root's path is empty.
    fn folder(&self, number: u32, known: &mut HashMap<u32, String>, left: &mut BlockAllowance) -> Option<String> {
        let mut below = Vec::new();
        let mut at = number;
        while !known.contains_key(&at) {
            if below.len() == DEPTH_MAX {
                return None;
            }
            let (parent, _) = self.first_entry(at, left, |_, name| name == b"..")?;
            let (_, name) = self.first_entry(parent, left, |inode, name| inode == at && !is_dots(name))?;
            below.push((at, self.display_name(parent, &name)));
            at = parent;
        }
        let mut path = known[&at].clone();
        for (inode, name) in below.into_iter().rev() {
            path = format!("{path}/{name}");
            known.insert(inode, path.clone());
        }
        Some(path)
    }

    fn first_entry(
        &self,
        number: u32,
        left: &mut BlockAllowance,
        is_it: impl Fn(u32, &[u8]) -> bool,
    ) -> Option<(u32, Vec<u8>)> {
        let directory = self.inode(number).ok().filter(|inode| inode.file_type == FileType::Directory)?;
        let mut first = None;
        let all = self.visit_entries(&directory, left, |inode, name| {
            if is_it(inode, name) {
                first = Some((inode, name.to_vec()));
            }
            first.is_none()
        });
        all.ok().and(first)
    }

    fn display_name(&self, parent: u32, name: &[u8]) -> String {
        if self.inode(parent).is_ok_and(|inode| inode.is_encrypted()) {
            return "<encrypted>".to_owned();
        }
        String::from_utf8_lossy(name).chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
    }
}

/// Bytes of data that fit into an inode without attributes.
pub(crate) fn inline_max(s: &SuperBlock) -> u64 {
    const EXTRA_BYTES: u16 = 32;
    (MAP_BYTES + Xattrs::of(&vec![0; s.inode_bytes as usize], EXTRA_BYTES).room_for_inline()) as u64
}

fn is_dots(name: &[u8]) -> bool {
    name == b"." || name == b".."
}

/// Iterator over the entries of a block, or of a part of an inode; ends at the first invalid entry.
struct Entries<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Entries<'b> {
    fn of(bytes: &'b [u8]) -> Entries<'b> {
        Entries { bytes, at: 0 }
    }
}

impl<'b> Iterator for Entries<'b> {
    type Item = (u32, &'b [u8]);

    fn next(&mut self) -> Option<(u32, &'b [u8])> {
        let Entries { bytes, at } = *self;
        let mut at = at;
        while at + HEAD <= bytes.len() {
            let (inode, stored, name_bytes) =
                (u32_at(bytes, at), usize::from(u16_at(bytes, at + 4)), usize::from(bytes[at + 6]));
            // A length of 64 KiB does not fit into 16 bits.
            let length = match stored {
                0 | 0xFFFF => bytes.len(),
                _ => stored & 0xFFFC | (stored & 3) << 16,
            };
            let name = bytes.get(at + HEAD..at + HEAD + name_bytes).filter(|_| length >= HEAD + name_bytes);
            let Some(name) = name else { break };
            at += length;
            if inode != 0 && name_bytes > 0 {
                self.at = at;
                return Some((inode, name));
            }
        }
        self.at = bytes.len();
        None
    }
}
