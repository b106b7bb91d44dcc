//! Paths of inodes, by what directories say.
//!
//! Directories with an index (htree) are read as lists: to those who do not know the index its nodes look like empty entries, and so they do here.

use std::collections::{HashMap, HashSet};

use crate::disk::bytes::{u16_at, u32_at};
use crate::disk::inode::{FileType, Inode, MAP_BYTES, ROOT};
use crate::disk::superblock::SuperBlock;
use crate::disk::xattr::Xattrs;
use crate::error::{Error, Result};
use crate::kind::Kind;
use crate::source::Source;
use crate::tree::{Run, Trees};
use crate::walk::FileSystem;

const HEAD: usize = 8;
/// A deeper one is a circle.
const DEPTH_MAX: usize = 256;

/// An entry of a directory; its name is as it is on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub inode: u32,
    pub name: Vec<u8>,
}

impl<S: Source + ?Sized> FileSystem<'_, S> {
    /// The entries of a directory, with `.` and `..` where it has them on disk.
    pub fn entries(&self, directory: &Inode) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        if directory.is_inline() {
            let raw = self.inode_bytes(directory.number)?;
            entries.push(Entry { inode: u32_at(&directory.map, 0), name: b"..".to_vec() });
            parse(&directory.map[4..], &mut entries);
            parse(Xattrs::of(&raw, directory.extra_bytes).inline(), &mut entries);
            return Ok(entries);
        }
        let mut runs = Vec::new();
        Trees::new(&self.superblock, self.source()).follow(directory, Kind::Directory, &mut runs)?;
        for run in runs.iter().filter(|run| run.kind == Kind::Directory) {
            self.entries_of(run, &mut entries)?;
        }
        Ok(entries)
    }

    /// Those of some of its blocks.
    fn entries_of(&self, run: &Run, entries: &mut Vec<Entry>) -> Result<()> {
        let size = self.superblock.block_bytes as usize;
        let mut block = vec![0; size];
        for n in run.start..run.end() {
            self.source().read_at(&mut block, n * size as u64).map_err(|e| Error::io(&format!("block {n}"), &e))?;
            parse(&block, entries);
        }
        Ok(())
    }

    /// What a directory of this one block would take in its inode: the parent's number, and the entries without `.` and `..`.
    pub(crate) fn inline_size_of_directory(&self, block: u64) -> Result<u64> {
        let mut entries = Vec::new();
        self.entries_of(&Run { start: block, blocks: 1, kind: Kind::Directory, inode: 0 }, &mut entries)?;
        Ok(4 + entries
            .iter()
            .filter(|e| !is_dots(&e.name))
            .map(|e| (HEAD + e.name.len()).next_multiple_of(4) as u64)
            .sum::<u64>())
    }

    /// Paths from the root, of those inodes that have a name; of several names it is one. Parts that are no UTF-8 have replacement characters, and
    /// names that are encrypted are `<encrypted>`.
    ///
    /// @param runs of the whole file system
    pub fn paths(&self, runs: &[Run], wanted: &HashSet<u32>) -> HashMap<u32, String> {
        let mut found: HashMap<u32, (u32, Vec<u8>)> = HashMap::new();
        let mut entries = Vec::new();
        for run in runs.iter().filter(|run| run.kind == Kind::Directory) {
            if found.len() == wanted.len() {
                break;
            }
            entries.clear();
            if self.entries_of(run, &mut entries).is_err() {
                continue;
            }
            for entry in entries.drain(..).filter(|e| wanted.contains(&e.inode) && !is_dots(&e.name)) {
                found.insert(entry.inode, (run.inode, entry.name));
            }
        }
        let mut known: HashMap<u32, String> = HashMap::from([(ROOT, String::new())]);
        let mut paths = HashMap::new();
        for (inode, (parent, name)) in found {
            if let Some(folder) = self.folder(parent, &mut known) {
                paths.insert(inode, format!("{folder}/{}", self.say(parent, &name)));
            }
        }
        if wanted.contains(&ROOT) {
            paths.insert(ROOT, "/".to_owned());
        }
        paths
    }

    /// By the way up, and by what each directory there is called in the one above. The root's is empty.
    fn folder(&self, number: u32, known: &mut HashMap<u32, String>) -> Option<String> {
        let mut below = Vec::new();
        let mut at = number;
        while !known.contains_key(&at) {
            if below.len() == DEPTH_MAX {
                return None;
            }
            let own = self.directory_entries(at)?;
            let parent = own.iter().find(|e| e.name == b"..")?.inode;
            let name = self.directory_entries(parent)?.into_iter().find(|e| e.inode == at && !is_dots(&e.name))?.name;
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

    fn directory_entries(&self, number: u32) -> Option<Vec<Entry>> {
        let inode = self.inode(number).ok().filter(|inode| inode.file_type == FileType::Directory)?;
        self.entries(&inode).ok()
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

/// Up to where it makes sense.
fn parse(block: &[u8], entries: &mut Vec<Entry>) {
    let mut at = 0;
    while at + HEAD <= block.len() {
        let (inode, told, name_bytes) =
            (u32_at(block, at), usize::from(u16_at(block, at + 4)), usize::from(block[at + 6]));
        // Blocks of 64 KiB have no room for their own size.
        let length = match told {
            0 | 0xFFFF => block.len(),
            _ => told & 0xFFFC | (told & 3) << 16,
        };
        let Some(name) = block.get(at + HEAD..at + HEAD + name_bytes).filter(|_| length >= HEAD + name_bytes) else {
            return;
        };
        if inode != 0 && name_bytes > 0 {
            entries.push(Entry { inode, name: name.to_vec() });
        }
        at += length;
    }
}
