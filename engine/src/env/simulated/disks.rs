//! Disks in memory: directories, files of pages, limits of space, locks. It knows nothing of time or troubles.
//!
//! ```text
//!   /  (disk 0)   in/..   out/..
//!   /s (disk 1)   scratch files without names
//!   /t (disk 2)
//! ```
//!
//! A rename from disk to disk fails, as between mounts. A file without names lives until its last handle is closed.
//! With a journal, the disks know what of them survives a loss of power (`journal.rs`).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::journal::{Change, Inode, Journal};
use crate::env::files::Meta;
use crate::env::random::Random;

/// Bytes of a page, the unit of space and of what a loss of power keeps.
pub const PAGE_BYTES: usize = 4096;

const ROOT: Inode = 0;
const ALLOCATED: u8 = 1;
const DIRTY: u8 = 2;

/// Disks with all that is on them.
#[derive(Clone, Default)]
pub struct Disks {
    nodes: BTreeMap<Inode, Node>,
    next: Inode,
    disks: Vec<Disk>,
    journal: Option<Journal>,
    locks: u64,
}

#[derive(Clone)]
struct Disk {
    mount: PathBuf,
    capacity_bytes: u64,
    used_bytes: u64,
}

#[derive(Clone)]
struct Node {
    content: Content,
    modified_ms: u64,
    links: u32,
    handles: u32,
    locked_by: Option<u64>,
    disk: usize,
}

#[derive(Clone)]
enum Content {
    Directory(BTreeMap<OsString, Inode>),
    File(FileBytes),
}

/// Bytes of a file, and what of them was synced.
#[derive(Clone, Default)]
struct FileBytes {
    bytes: Vec<u8>,
    pages: Vec<u8>,
    synced: Vec<u8>,
}

fn errno(code: i32) -> io::Error {
    io::Error::from_raw_os_error(code)
}

impl Disks {
    /// Returns empty disks at these mounts, of which the first is `/`.
    pub fn new(mounts: &[&str]) -> Disks {
        let mut disks = Disks::default();
        disks.add(Content::Directory(BTreeMap::new()), 0);
        for mount in mounts {
            disks.disks.push(Disk { mount: mount.into(), capacity_bytes: u64::MAX, used_bytes: 0 });
            if Path::new(mount).file_name().is_some() {
                disks.make_dirs(Path::new(mount));
            }
        }
        disks
    }

    /// Puts a file in its place, with the directories above it.
    pub fn put(&mut self, path: &Path, bytes: &[u8]) {
        self.make_dirs(path.parent().unwrap_or(Path::new("/")));
        let inode = self.create(path, 0).expect("a name that is free");
        self.write_at(inode, bytes, 0, 0).expect("a disk without limits");
        self.close(inode, None);
    }

    /// Returns the bytes of a file.
    ///
    /// # Panics
    /// Panics if there is no such file.
    pub fn get(&self, path: &Path) -> Vec<u8> {
        let inode = self.find(path).expect("a file");
        self.file(inode).expect("no directory").bytes.clone()
    }

    fn make_dirs(&mut self, path: &Path) {
        for dir in path.ancestors().collect::<Vec<_>>().into_iter().rev() {
            if self.find(dir).is_err() {
                self.create_dir(dir, 0).expect("a name that is free");
            }
        }
    }

    /// Returns the number of the disk that holds a path.
    pub fn disk_of(&self, path: &Path) -> usize {
        let holds = |disk: &&Disk| path.starts_with(&disk.mount);
        let deepest = self.disks.iter().filter(holds).max_by_key(|disk| disk.mount.components().count());
        deepest.and_then(|deepest| self.disks.iter().position(|disk| disk.mount == deepest.mount)).unwrap_or(0)
    }

    /// Returns the number of disks.
    pub fn len(&self) -> usize {
        self.disks.len()
    }

    /// Lets a disk have this many bytes more than it holds now.
    pub fn set_free(&mut self, disk: usize, bytes: u64) {
        let disk = &mut self.disks[disk];
        disk.capacity_bytes = disk.used_bytes.saturating_add(bytes);
    }

    /// Returns the number of open files.
    pub fn open_files(&self) -> usize {
        self.nodes.values().map(|node| node.handles as usize).sum()
    }

    /// Returns the free bytes of a disk.
    pub fn free_bytes(&self, disk: usize) -> u64 {
        let disk = &self.disks[disk];
        disk.capacity_bytes.saturating_sub(disk.used_bytes)
    }

    /// Notes from now on what a loss of power would keep. Everything so far is kept.
    pub fn begin_journal(&mut self) {
        for node in self.nodes.values_mut() {
            if let Content::File(file) = &mut node.content {
                file.sync();
            }
        }
        let directories = self.nodes.iter().filter_map(|(&inode, node)| match &node.content {
            Content::Directory(names) => Some((inode, names.clone())),
            Content::File(_) => None,
        });
        self.journal = Some(Journal::new(directories.collect()));
    }

    /// Ends the process that has the files open: what it wrote stays, locks and files without names are gone.
    pub fn kill(&mut self) {
        self.journal = None;
        for node in self.nodes.values_mut() {
            (node.handles, node.locked_by) = (0, None);
        }
        let unnamed: Vec<Inode> = self.nodes.iter().filter(|(_, n)| n.links == 0).map(|(&inode, _)| inode).collect();
        unnamed.into_iter().for_each(|inode| self.drop_if_unused(inode));
    }

    /// Loses the power: only what was synced is sure to stay; the rest is up to `random`.
    pub fn lose_power(&mut self, random: &mut Random) {
        let Some(journal) = self.journal.take() else { return self.kill() };
        let directories = journal.survive(random);
        for (inode, node) in &mut self.nodes {
            node.links = 0;
            match &mut node.content {
                Content::Directory(names) => *names = directories.get(inode).cloned().unwrap_or_default(),
                Content::File(file) => file.lose_power(random),
            }
        }
        let mut open = vec![ROOT];
        while let Some(inode) = open.pop() {
            self.node_mut(inode).links = 1;
            let names: Vec<Inode> =
                self.names(inode).map(|names| names.values().copied().collect()).unwrap_or_default();
            open.extend(names);
        }
        // A file may use more than before, where a hole that was not synced is gone.
        for disk in &mut self.disks {
            disk.used_bytes = 0;
        }
        for node in self.nodes.values() {
            if let Content::File(file) = &node.content {
                self.disks[node.disk].used_bytes += file.used_bytes();
            }
        }
        self.kill();
    }

    fn add(&mut self, content: Content, disk: usize) -> Inode {
        let inode = self.next;
        self.next += 1;
        let node = Node { content, modified_ms: 0, links: 1, handles: 0, locked_by: None, disk };
        self.nodes.insert(inode, node);
        inode
    }

    fn node(&self, inode: Inode) -> &Node {
        &self.nodes[&inode]
    }

    fn node_mut(&mut self, inode: Inode) -> &mut Node {
        self.nodes.get_mut(&inode).expect("a file that is named or open")
    }

    fn names(&self, inode: Inode) -> io::Result<&BTreeMap<OsString, Inode>> {
        match &self.node(inode).content {
            Content::Directory(names) => Ok(names),
            Content::File(_) => Err(errno(libc::ENOTDIR)),
        }
    }

    fn names_mut(&mut self, inode: Inode) -> io::Result<&mut BTreeMap<OsString, Inode>> {
        match &mut self.node_mut(inode).content {
            Content::Directory(names) => Ok(names),
            Content::File(_) => Err(errno(libc::ENOTDIR)),
        }
    }

    fn file(&self, inode: Inode) -> io::Result<&FileBytes> {
        match &self.node(inode).content {
            Content::File(file) => Ok(file),
            Content::Directory(_) => Err(errno(libc::EISDIR)),
        }
    }

    fn find(&self, path: &Path) -> io::Result<Inode> {
        let mut at = ROOT;
        for part in path.components() {
            if let Component::Normal(name) = part {
                at = *self.names(at)?.get(name).ok_or_else(|| errno(libc::ENOENT))?;
            }
        }
        Ok(at)
    }

    /// Returns the directory of a path and its last name.
    fn place<'p>(&self, path: &'p Path) -> io::Result<(Inode, &'p OsStr)> {
        let name = path.file_name().ok_or_else(|| errno(libc::EINVAL))?;
        let directory = self.find(path.parent().unwrap_or(Path::new("")))?;
        self.names(directory)?;
        Ok((directory, name))
    }

    fn log(&mut self, change: Change, now_ms: u64) {
        change.directories().for_each(|directory| self.node_mut(directory).modified_ms = now_ms);
        if let Some(journal) = &mut self.journal {
            journal.note(change);
        }
    }

    fn drop_if_unused(&mut self, inode: Inode) {
        let node = self.node(inode);
        if node.links > 0 || node.handles > 0 || self.journal.is_some() {
            return;
        }
        if let Some(Node { content: Content::File(file), disk, .. }) = self.nodes.remove(&inode) {
            self.disks[disk].used_bytes -= file.used_bytes();
        }
    }

    fn unlink(&mut self, directory: Inode, name: &OsStr, now_ms: u64) -> io::Result<()> {
        let inode = self.names_mut(directory)?.remove(name).ok_or_else(|| errno(libc::ENOENT))?;
        self.node_mut(inode).links -= 1;
        self.log(Change::Unlink { directory, name: name.into() }, now_ms);
        self.drop_if_unused(inode);
        Ok(())
    }

    fn link_new(&mut self, path: &Path, content: Content, now_ms: u64) -> io::Result<Inode> {
        let (directory, name) = self.place(path)?;
        if self.names(directory)?.contains_key(name) {
            return Err(errno(libc::EEXIST));
        }
        let disk = self.disk_of(path);
        if self.free_bytes(disk) == 0 {
            return Err(errno(libc::ENOSPC));
        }
        let is_dir = matches!(content, Content::Directory(_));
        let inode = self.add(content, disk);
        self.node_mut(inode).modified_ms = now_ms;
        self.names_mut(directory)?.insert(name.into(), inode);
        self.log(Change::Link { directory, name: name.into(), inode, is_dir }, now_ms);
        Ok(inode)
    }

    /// Creates a directory.
    pub fn create_dir(&mut self, path: &Path, now_ms: u64) -> io::Result<()> {
        self.link_new(path, Content::Directory(BTreeMap::new()), now_ms).map(drop)
    }

    /// Creates and opens a file.
    pub fn create(&mut self, path: &Path, now_ms: u64) -> io::Result<Inode> {
        let inode = self.link_new(path, Content::File(FileBytes::default()), now_ms)?;
        self.node_mut(inode).handles += 1;
        Ok(inode)
    }

    /// Creates and opens a file without a name.
    pub fn scratch(&mut self, directory: &Path, now_ms: u64) -> io::Result<Inode> {
        self.names(self.find(directory)?)?;
        let disk = self.disk_of(directory);
        if self.free_bytes(disk) == 0 {
            return Err(errno(libc::ENOSPC));
        }
        let inode = self.add(Content::File(FileBytes::default()), disk);
        let node = self.node_mut(inode);
        (node.links, node.handles, node.modified_ms) = (0, 1, now_ms);
        Ok(inode)
    }

    /// Opens a file.
    pub fn open(&mut self, path: &Path) -> io::Result<Inode> {
        let inode = self.find(path)?;
        // Opening a directory for reading succeeds, as on Linux; reading it fails.
        self.node_mut(inode).handles += 1;
        Ok(inode)
    }

    /// Opens a file for writing.
    pub fn open_to_write(&mut self, path: &Path) -> io::Result<Inode> {
        let inode = self.find(path)?;
        self.file(inode)?;
        self.open(path)
    }

    /// Closes a handle; `lock`: its lock.
    pub fn close(&mut self, inode: Inode, lock: Option<u64>) {
        let node = self.node_mut(inode);
        node.handles = node.handles.saturating_sub(1);
        if lock.is_some() && node.locked_by == lock {
            node.locked_by = None;
        }
        self.drop_if_unused(inode);
    }

    /// Locks a file for one handle. Returns the lock.
    pub fn lock(&mut self, inode: Inode, own: Option<u64>) -> io::Result<u64> {
        self.locks += 1;
        let new = self.locks;
        let node = self.node_mut(inode);
        match node.locked_by {
            Some(other) if own != Some(other) => Err(io::ErrorKind::WouldBlock.into()),
            Some(same) => Ok(same),
            None => {
                node.locked_by = Some(new);
                Ok(new)
            }
        }
    }

    /// Returns the metadata of a path.
    pub fn meta(&self, path: &Path) -> io::Result<Meta> {
        let node = self.node(self.find(path)?);
        let (len, is_dir) = match &node.content {
            Content::Directory(_) => (0, true),
            Content::File(file) => (file.bytes.len() as u64, false),
        };
        Ok(Meta { len, is_dir, is_stream: false, modified_ms: node.modified_ms })
    }

    /// Returns the paths in a directory.
    pub fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(self.names(self.find(directory)?)?.keys().map(|name| directory.join(name)).collect())
    }

    /// Renames a file or directory.
    pub fn rename(&mut self, from: &Path, to: &Path, now_ms: u64) -> io::Result<()> {
        let ((from_directory, from_name), (to_directory, to_name)) = (self.place(from)?, self.place(to)?);
        let moved = *self.names(from_directory)?.get(from_name).ok_or_else(|| errno(libc::ENOENT))?;
        if self.disk_of(from) != self.disk_of(to) {
            return Err(errno(libc::EXDEV));
        }
        if to.starts_with(from) && to != from {
            return Err(errno(libc::EINVAL));
        }
        let is_dir = self.names(moved).is_ok();
        if let Some(&old) = self.names(to_directory)?.get(to_name) {
            match self.names(old) {
                Ok(_) if !is_dir => return Err(errno(libc::EISDIR)),
                Ok(names) if !names.is_empty() => return Err(errno(libc::ENOTEMPTY)),
                Err(_) if is_dir => return Err(errno(libc::ENOTDIR)),
                _ if old == moved => return Ok(()),
                _ => {}
            }
            self.node_mut(old).links -= 1;
            self.names_mut(to_directory)?.remove(to_name);
            self.drop_if_unused(old);
        }
        self.names_mut(from_directory)?.remove(from_name);
        self.names_mut(to_directory)?.insert(to_name.into(), moved);
        let (from, to) = ((from_directory, from_name.into()), (to_directory, to_name.into()));
        self.log(Change::Move { from, to }, now_ms);
        Ok(())
    }

    /// Exchanges two names.
    pub fn exchange(&mut self, a: &Path, b: &Path, now_ms: u64) -> io::Result<()> {
        let ((a_directory, a_name), (b_directory, b_name)) = (self.place(a)?, self.place(b)?);
        if self.disk_of(a) != self.disk_of(b) {
            return Err(errno(libc::EXDEV));
        }
        let (one, other) = (self.find(a)?, self.find(b)?);
        self.names_mut(a_directory)?.insert(a_name.into(), other);
        self.names_mut(b_directory)?.insert(b_name.into(), one);
        let (a, b) = ((a_directory, a_name.into()), (b_directory, b_name.into()));
        self.log(Change::Exchange { a, b }, now_ms);
        Ok(())
    }

    /// Removes a file.
    pub fn remove_file(&mut self, path: &Path, now_ms: u64) -> io::Result<()> {
        let (directory, name) = self.place(path)?;
        self.file(self.find(path)?)?;
        self.unlink(directory, name, now_ms)
    }

    /// Removes an empty directory.
    pub fn remove_dir(&mut self, path: &Path, now_ms: u64) -> io::Result<()> {
        let (directory, name) = self.place(path)?;
        if !self.names(self.find(path)?)?.is_empty() {
            return Err(errno(libc::ENOTEMPTY));
        }
        self.unlink(directory, name, now_ms)
    }

    /// Makes the names of a directory survive.
    pub fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        let inode = self.find(path)?;
        if let Some(journal) = &mut self.journal {
            journal.sync_directory(inode);
        }
        Ok(())
    }

    /// Returns the length of an open file.
    pub fn len_of(&self, inode: Inode) -> u64 {
        self.file(inode).map_or(0, |file| file.bytes.len() as u64)
    }

    /// Reads from an open file.
    pub fn read_at(&self, inode: Inode, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = &self.file(inode)?.bytes;
        let start = (offset as usize).min(bytes.len());
        let n = buffer.len().min(bytes.len() - start);
        buffer[..n].copy_from_slice(&bytes[start..start + n]);
        Ok(n)
    }

    fn change_file(&mut self, inode: Inode, now_ms: u64, change: impl FnOnce(&mut FileBytes)) -> io::Result<()> {
        let node = self.node_mut(inode);
        node.modified_ms = now_ms;
        let disk = node.disk;
        let Content::File(file) = &mut node.content else { return Err(errno(libc::EISDIR)) };
        let before = file.used_bytes();
        change(file);
        let after = file.used_bytes();
        let disk = &mut self.disks[disk];
        disk.used_bytes = disk.used_bytes + after - before;
        Ok(())
    }

    /// Writes to an open file, as far as there is space.
    pub fn write_at(&mut self, inode: Inode, bytes: &[u8], offset: u64, now_ms: u64) -> io::Result<usize> {
        let offset = offset as usize;
        let free = self.free_bytes(self.node(inode).disk);
        let file = self.file(inode)?;
        let n = if file.missing_bytes(offset, bytes.len()) <= free {
            bytes.len()
        } else {
            // As many whole pages as fit.
            let fits = |n: &usize| file.missing_bytes(offset, *n) <= free;
            let to_page_end = PAGE_BYTES - offset % PAGE_BYTES;
            (to_page_end..bytes.len()).step_by(PAGE_BYTES).take_while(fits).last().unwrap_or(0)
        };
        if n == 0 && !bytes.is_empty() {
            return Err(errno(libc::ENOSPC));
        }
        self.change_file(inode, now_ms, |file| file.write(&bytes[..n], offset))?;
        Ok(n)
    }

    /// Allocates the first `len` bytes.
    pub fn allocate(&mut self, inode: Inode, len: u64, now_ms: u64) -> io::Result<()> {
        let free = self.free_bytes(self.node(inode).disk);
        if self.file(inode)?.missing_bytes(0, len as usize) > free {
            return Err(errno(libc::ENOSPC));
        }
        self.change_file(inode, now_ms, |file| {
            file.grow(len as usize);
            file.pages[..(len as usize).div_ceil(PAGE_BYTES)].iter_mut().for_each(|page| *page |= ALLOCATED | DIRTY);
        })
    }

    /// Sets the length.
    pub fn truncate(&mut self, inode: Inode, len: u64, now_ms: u64) -> io::Result<()> {
        self.change_file(inode, now_ms, |file| file.truncate(len as usize))
    }

    /// Frees the pages of a range.
    pub fn punch(&mut self, inode: Inode, offset: u64, len: u64) {
        let _ = self.change_file(inode, 0, |file| file.punch(offset as usize, len as usize));
    }

    /// Makes the bytes of a file survive.
    pub fn sync(&mut self, inode: Inode) -> io::Result<()> {
        if let Some(journal) = &mut self.journal {
            journal.sync_file(inode);
            if let Content::File(file) = &mut self.node_mut(inode).content {
                file.sync();
            }
        }
        Ok(())
    }
}

impl FileBytes {
    fn used_bytes(&self) -> u64 {
        self.pages.iter().filter(|&&page| page & ALLOCATED != 0).count() as u64 * PAGE_BYTES as u64
    }

    /// Returns the bytes of pages that a write must allocate.
    fn missing_bytes(&self, offset: usize, len: usize) -> u64 {
        if len == 0 {
            return 0;
        }
        let pages = offset / PAGE_BYTES..(offset + len).div_ceil(PAGE_BYTES);
        let has = |&n: &usize| self.pages.get(n).is_some_and(|page| page & ALLOCATED != 0);
        pages.filter(|n| !has(n)).count() as u64 * PAGE_BYTES as u64
    }

    fn grow(&mut self, len: usize) {
        if len > self.bytes.len() {
            self.bytes.resize(len, 0);
            self.pages.resize(len.div_ceil(PAGE_BYTES), 0);
        }
    }

    fn write(&mut self, bytes: &[u8], offset: usize) {
        if bytes.is_empty() {
            return;
        }
        let end = offset + bytes.len();
        self.grow(end);
        self.bytes[offset..end].copy_from_slice(bytes);
        self.pages[offset / PAGE_BYTES..end.div_ceil(PAGE_BYTES)].iter_mut().for_each(|p| *p |= ALLOCATED | DIRTY);
    }

    fn truncate(&mut self, len: usize) {
        self.grow(len);
        self.bytes.truncate(len);
        self.pages.truncate(len.div_ceil(PAGE_BYTES));
        if let Some(last) = self.pages.last_mut() {
            *last |= DIRTY;
        }
    }

    fn punch(&mut self, offset: usize, len: usize) {
        let (start, end) = (offset.min(self.bytes.len()), (offset + len).min(self.bytes.len()));
        self.bytes[start..end].fill(0);
        let whole = start.div_ceil(PAGE_BYTES)..(end / PAGE_BYTES).max(start.div_ceil(PAGE_BYTES));
        self.pages[whole].iter_mut().for_each(|page| *page = DIRTY);
    }

    fn sync(&mut self) {
        self.synced.clone_from(&self.bytes);
        self.pages.iter_mut().for_each(|page| *page &= !DIRTY);
    }

    /// Keeps the synced bytes; of later writes, any pages, and any of the two lengths.
    fn lose_power(&mut self, random: &mut Random) {
        let is_clean = self.pages.iter().all(|page| page & DIRTY == 0) && self.bytes.len() == self.synced.len();
        if is_clean {
            return;
        }
        let len = if random.below(2) == 0 { self.synced.len() } else { self.bytes.len() };
        let mut kept = std::mem::take(&mut self.synced);
        kept.resize(len, 0);
        for (n, page) in self.pages.iter().enumerate() {
            let (start, end) = (n * PAGE_BYTES, ((n + 1) * PAGE_BYTES).min(len).min(self.bytes.len()));
            if page & DIRTY != 0 && start < end && random.below(2) == 0 {
                kept[start..end].copy_from_slice(&self.bytes[start..end]);
            }
        }
        self.pages = vec![ALLOCATED; len.div_ceil(PAGE_BYTES)];
        self.bytes = kept;
    }
}
