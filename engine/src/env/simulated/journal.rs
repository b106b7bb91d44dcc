//! Names that a loss of power keeps: the model of ext4 and XFS.
//!
//! Both write changes of names to one log, in order. After a loss of power some first part of the log is there. A sync
//! makes the log durable up to the last change that it needs, and so all changes before that one, in any directory:
//!
//! | call | changes of names that surely survive |
//! |---|---|
//! | sync of a directory | up to the last change in this directory |
//! | sync of a file | up to the file's creation |
//!
//! ext4 does more: it commits everything so far. XFS does just this, so a job that holds here holds on both. Bytes of
//! files are not in the log: each page that was not synced may be the new one, the old one or zeros (`disks.rs`).
//! Rejected: a free order between directories (ext2, POSIX to the letter), which no file system of a cluster has today.

use std::collections::BTreeMap;
use std::ffi::OsString;

use crate::env::random::Random;

/// Number of a file or directory.
pub type Inode = u64;

type Directories = BTreeMap<Inode, BTreeMap<OsString, Inode>>;

/// A change of names.
#[derive(Clone, Debug)]
pub enum Change {
    Link { directory: Inode, name: OsString, inode: Inode, is_dir: bool },
    Unlink { directory: Inode, name: OsString },
    Move { from: (Inode, OsString), to: (Inode, OsString) },
    Exchange { a: (Inode, OsString), b: (Inode, OsString) },
}

impl Change {
    /// Returns the directories whose names change.
    pub fn directories(&self) -> impl Iterator<Item = Inode> + use<> {
        let both = match self {
            Change::Link { directory, .. } | Change::Unlink { directory, .. } => [*directory, *directory],
            Change::Move { from: a, to: b } | Change::Exchange { a, b } => [a.0, b.0],
        };
        both.into_iter()
    }

    fn apply(self, directories: &mut Directories) {
        let mut remove = |(directory, name): &(Inode, OsString)| directories.get_mut(directory)?.remove(name);
        match self {
            Change::Link { directory, name, inode, is_dir } => {
                if is_dir {
                    directories.insert(inode, BTreeMap::new());
                }
                directories.entry(directory).or_default().insert(name, inode);
            }
            Change::Unlink { directory, name } => drop(remove(&(directory, name))),
            Change::Move { from, to } => {
                if let Some(inode) = remove(&from) {
                    directories.entry(to.0).or_default().insert(to.1, inode);
                }
            }
            Change::Exchange { a, b } => {
                if let (Some(one), Some(other)) = (remove(&a), remove(&b)) {
                    directories.entry(a.0).or_default().insert(a.1, other);
                    directories.entry(b.0).or_default().insert(b.1, one);
                }
            }
        }
    }
}

/// Names that are durable, and the changes that are not yet.
#[derive(Clone)]
pub struct Journal {
    durable: Directories,
    changes: Vec<Change>,
}

impl Journal {
    /// Returns a journal in which these names are durable.
    pub fn new(durable: Directories) -> Journal {
        Journal { durable, changes: Vec::new() }
    }

    /// Notes a change.
    pub fn note(&mut self, change: Change) {
        self.changes.push(change);
    }

    /// Makes the names of a directory durable.
    pub fn sync_directory(&mut self, inode: Inode) {
        self.sync(|change| change.directories().any(|directory| directory == inode));
    }

    /// Makes the creation of a file durable.
    pub fn sync_file(&mut self, file: Inode) {
        self.sync(|change| matches!(change, Change::Link { inode, .. } if *inode == file));
    }

    fn sync(&mut self, needs: impl Fn(&Change) -> bool) {
        let n = self.changes.iter().rposition(needs).map_or(0, |last| last + 1);
        self.changes.drain(..n).for_each(|change| change.apply(&mut self.durable));
    }

    /// Returns the names after a loss of power.
    pub fn survive(mut self, random: &mut Random) -> Directories {
        let n = match random.below(4) {
            0 => 0,
            1 => self.changes.len(),
            _ => random.below(self.changes.len() as u64 + 1) as usize,
        };
        self.changes.drain(..n).for_each(|change| change.apply(&mut self.durable));
        self.durable
    }
}
