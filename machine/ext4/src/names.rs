//! Paths of inodes, by what directories say.
//!
//! Directories with an index (htree) are read as lists: to those who do not know the index its nodes look like empty entries, and so they do here.

use std::collections::{HashMap, HashSet};

use crate::disk::bytes::{u16_at, u32_at};
use crate::disk::inode::{FileType, Inode, MAP_BYTES, ROOT};
use crate::disk::superblock::SuperBlock;
use crate::disk::xattr::Xattrs;
use crate::error::{Error, Result, damaged};
use crate::kind::Kind;
use crate::source::Source;
use crate::tree::{Run, Trees};
use crate::walk::FileSystem;

const HEAD: usize = 8;
/// A deeper one is a circle.
const DEPTH_MAX: usize = 256;
/// Of directories, for the names of one answer: some hundred million files have as much.
const NAMES_BYTES_MAX: u64 = 16 << 30;

/// An entry of a directory; its name is as it is on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub inode: u32,
    pub name: Vec<u8>,
}

/// Blocks of directories that may still be read: extents may say that a directory is longer than all there is, and each may say so.
struct Left(u64);

impl Left {
    fn take(&mut self, blocks: u64, directory: u32) -> Result<()> {
        match self.0.checked_sub(blocks) {
            Some(left) => self.0 = left,
            None => return damaged(format!("inode {directory}: directories are longer than can be")),
        }
        Ok(())
    }
}

impl<S: Source + ?Sized> FileSystem<'_, S> {
    /// The entries of a directory, with `.` and `..` where it has them on disk.
    pub fn entries(&self, directory: &Inode) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        self.look_through(directory, &mut Left(self.superblock.blocks), |inode, name| {
            entries.push(Entry { inode, name: name.to_vec() });
            true
        })?;
        Ok(entries)
    }

    /// @param each is called for its entries in turn, as long as it returns true
    fn look_through(&self, directory: &Inode, left: &mut Left, mut each: impl FnMut(u32, &[u8]) -> bool) -> Result<()> {
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
            if !self.look_through_blocks(run.start, run, left, &mut each)? {
                break;
            }
        }
        Ok(())
    }

    /// Those of some of its blocks. Returns whether all were seen.
    fn look_through_blocks(
        &self,
        from: u64,
        run: &Run,
        left: &mut Left,
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

    /// What a directory of this one block would take in its inode: the parent's number, and the entries without `.` and `..`.
    pub(crate) fn inline_size_of_directory(&self, block: u64) -> Result<u64> {
        let mut bytes = 4;
        let run = Run { start: block, blocks: 1, kind: Kind::Directory, inode: 0 };
        self.look_through_blocks(block, &run, &mut Left(1), &mut |_, name| {
            if !is_dots(name) {
                bytes += (HEAD + name.len()).next_multiple_of(4) as u64;
            }
            true
        })?;
        Ok(bytes)
    }

    /// Paths from the root, of those inodes that have a name; of several names it is one. Parts that are no UTF-8 have replacement characters, and
    /// names that are encrypted are `<encrypted>`.
    ///
    /// @param runs of the whole file system
    pub fn paths(&self, runs: &[Run], wanted: &HashSet<u32>) -> HashMap<u32, String> {
        let mut found: HashMap<u32, (u32, Vec<u8>)> = HashMap::new();
        let mut left = Left(NAMES_BYTES_MAX / u64::from(self.superblock.block_bytes));
        // Runs are in order of blocks: one that two have is read once.
        let mut end = 0;
        for run in runs.iter().filter(|run| run.kind == Kind::Directory) {
            if found.len() == wanted.len() {
                break;
            }
            // Of what cannot be read, there are no names.
            let _ = self.look_through_blocks(run.start.max(end), run, &mut left, &mut |inode, name| {
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
                paths.insert(inode, format!("{folder}/{}", self.say(parent, &name)));
            }
        }
        if wanted.contains(&ROOT) {
            paths.insert(ROOT, "/".to_owned());
        }
        paths
    }

    /// By the way up, and by what each directory there is called in the one above. The root's is empty.
    fn folder(&self, number: u32, known: &mut HashMap<u32, String>, left: &mut Left) -> Option<String> {
        let mut below = Vec::new();
        let mut at = number;
        while !known.contains_key(&at) {
            if below.len() == DEPTH_MAX {
                return None;
            }
            let (parent, _) = self.first_entry(at, left, |_, name| name == b"..")?;
            let (_, name) = self.first_entry(parent, left, |inode, name| inode == at && !is_dots(name))?;
            below.push((at, self.say(parent, &name)));
            at = parent;
        }
        let mut path = known[&at].clone();
        for (inode, name) in below.into_iter().rev() {
            path = format!("{path}/{name}");
            known.insert(inode, path.clone());
        }
        Some(path)
    }

    fn first_entry(&self, number: u32, left: &mut Left, is_it: impl Fn(u32, &[u8]) -> bool) -> Option<(u32, Vec<u8>)> {
        let directory = self.inode(number).ok().filter(|inode| inode.file_type == FileType::Directory)?;
        let mut first = None;
        let all = self.look_through(&directory, left, |inode, name| {
            if is_it(inode, name) {
                first = Some((inode, name.to_vec()));
            }
            first.is_none()
        });
        all.ok().and(first)
    }

    fn say(&self, parent: u32, name: &[u8]) -> String {
        if self.inode(parent).is_ok_and(|inode| inode.is_encrypted()) {
            return "<encrypted>".to_owned();
        }
        String::from_utf8_lossy(name).chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
    }
}

/// Of an inode that has no attributes.
pub(crate) fn inline_max(s: &SuperBlock) -> u64 {
    const EXTRA_BYTES: u16 = 32;
    (MAP_BYTES + Xattrs::of(&vec![0; s.inode_bytes as usize], EXTRA_BYTES).room_for_inline()) as u64
}

fn is_dots(name: &[u8]) -> bool {
    name == b"." || name == b".."
}

/// Of a block, or of a part of an inode; up to where it makes sense.
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
            let (inode, told, name_bytes) =
                (u32_at(bytes, at), usize::from(u16_at(bytes, at + 4)), usize::from(bytes[at + 6]));
            // Blocks of 64 KiB have no room for their own size.
            let length = match told {
                0 | 0xFFFF => bytes.len(),
                _ => told & 0xFFFC | (told & 3) << 16,
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
