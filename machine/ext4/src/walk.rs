//! Walk over a whole file system: the use of each block, by inodes and by bitmaps.
//!
//! A mounted file system changes during the walk. Each group is therefore read twice: if no group differs between the
//! two reads, the result was true at one moment (the double collect of snapshot algorithms: Afek and others, 1993).
//! Changed groups are read again, up to a number of tries. [`WalkResult::changing`] counts the groups that still
//! changed at the last try.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::thread;
use std::time::Duration;

use crate::disk::bytes::bit;
use crate::disk::group::Group;
use crate::disk::inode::{FileType, Inode};
use crate::disk::layout::Layout;
use crate::disk::superblock::{Feature, SuperBlock};
use crate::error::{Error, ErrorKind, Result, damaged};
use crate::kind::Kind;
use crate::run::Run;
use crate::source::Source;
use crate::tree::{Shape, Trees, push};

/// Pause after the first failed try; it grows by as much with each try. A structure that is being written is soon
/// consistent again.
const PAUSE: Duration = Duration::from_micros(200);
const PAUSES_MAX: u32 = 20;
const SUPER_TRIES: u32 = 10;
const GROUP_TRIES: u32 = 30;
/// Blocks of an inode table that are read at once.
const TABLE_BLOCKS: u32 = 64;

/// An opened file system.
pub struct FileSystem<'a, S: ?Sized> {
    /// Its superblock.
    pub superblock: SuperBlock,
    source: &'a S,
}

/// A file, directory or link, and the blocks that it occupies.
#[derive(Clone, Debug)]
pub struct FileFacts<'a> {
    /// The inode.
    pub inode: &'a Inode,
    /// Use of its blocks.
    pub kind: Kind,
    /// Its fragments and block counts.
    pub shape: Shape,
}

/// Contents of one group: its metadata, and the blocks of the inodes in its table, in any group.
#[derive(Clone, Debug, Default)]
pub struct Contents<T> {
    /// Used blocks.
    pub runs: Vec<Run>,
    /// Block bitmap, a bit a cluster of the group; `None` if it was never written.
    pub(crate) used: Option<Vec<u8>>,
    /// Free clusters by the group descriptor.
    pub free_clusters_recorded: u32,
    /// Inodes in use by the inode bitmap.
    pub inodes_used: u32,
    /// Free inodes by the group descriptor.
    pub inodes_free_recorded: u32,
    /// Totals that the caller's function gathered.
    pub gathered: T,
    /// Errors of damaged inodes, whose blocks are left out.
    pub damages: Vec<Error>,
    pub(crate) xattr_blocks: Vec<(u64, u32)>,
    print: u64,
}

/// Result of a walk over a whole file system.
#[derive(Debug, Default)]
pub struct WalkResult<T> {
    /// Contents by group.
    pub groups: Vec<Contents<T>>,
    /// Groups that changed during the last try.
    pub changing: u64,
    /// Tries that the walk took.
    pub tries: u32,
}

impl<'a, S: Source + ?Sized> FileSystem<'a, S> {
    /// Opens the file system of `source`. Errors as [`SuperBlock::read`].
    pub fn open(source: &'a S) -> Result<Self> {
        for try_ in 0..SUPER_TRIES {
            match SuperBlock::read(source) {
                // The superblock may be half written at this moment.
                Err(e) if e.kind == ErrorKind::Damaged => thread::sleep(PAUSE * try_),
                read => return Ok(FileSystem { superblock: read?, source }),
            }
        }
        Ok(FileSystem { superblock: SuperBlock::read(source)?, source })
    }

    fn block(&self, block: u64, blocks: u64) -> Result<Vec<u8>> {
        let size = u64::from(self.superblock.block_bytes);
        let mut bytes = vec![0; (blocks * size) as usize];
        self.source.read_at(&mut bytes, block * size).map_err(|e| Error::io(&format!("block {block}"), &e))?;
        Ok(bytes)
    }

    /// Reads the descriptor of a group.
    pub fn group(&self, number: u64) -> Result<Group> {
        let s = &self.superblock;
        let per_block = s.descriptors_per_block();
        let block = Layout(s).descriptor_block(number / per_block);
        if block >= s.blocks {
            return damaged(format!("the descriptor of group {number} is outside the file system"));
        }
        let mut bytes = vec![0; s.descriptor_bytes as usize];
        let at = block * u64::from(s.block_bytes) + number % per_block * u64::from(s.descriptor_bytes);
        self.source.read_at(&mut bytes, at).map_err(|e| Error::io(&format!("the descriptor of group {number}"), &e))?;
        Group::parse(s, number, &bytes)
    }

    /// Reads one inode. Fails with `Damaged` if it does not exist or its checksum is wrong.
    pub fn inode(&self, number: u32) -> Result<Inode> {
        let s = &self.superblock;
        if number == 0 || number > s.inodes {
            return damaged(format!("inode {number} does not exist; there are {}", s.inodes));
        }
        let bytes = self.inode_bytes(number)?;
        let inode = Inode::parse(s, number, &bytes);
        if inode.is_whole(s, &bytes) { Ok(inode) } else { damaged(format!("inode {number}: its checksum is wrong")) }
    }

    pub(crate) fn inode_bytes(&self, number: u32) -> Result<Vec<u8>> {
        let s = &self.superblock;
        let index = u64::from(number - 1);
        let group = self.group(index / u64::from(s.inodes_per_group))?;
        let at = group.inode_table * u64::from(s.block_bytes)
            + index % u64::from(s.inodes_per_group) * u64::from(s.inode_bytes);
        let mut bytes = vec![0; s.inode_bytes as usize];
        self.source.read_at(&mut bytes, at).map_err(|e| Error::io(&format!("inode {number}"), &e))?;
        Ok(bytes)
    }

    pub(crate) fn source(&self) -> &'a S {
        self.source
    }

    /// Reads all groups, inodes and trees.
    ///
    /// `is_changing`: true if the file system is mounted; changed groups are then read again, up to `tries` times.
    /// `gather` is called for each inode in use, with the totals of its group, which start anew when the group is read
    /// again.
    pub fn walk<T: Default>(
        &self,
        is_changing: bool,
        tries: u32,
        mut gather: impl FnMut(&mut T, &FileFacts),
    ) -> Result<WalkResult<T>> {
        let count = self.superblock.group_count();
        let mut trees = Trees::new(&self.superblock, self.source);
        let mut walk = WalkResult { groups: Vec::new(), changing: 0, tries: 1 };
        for number in 0..count {
            walk.groups.push(self.contents(number, &mut trees, &mut gather, is_changing)?);
        }
        if is_changing {
            self.read_changed_groups(&mut walk, &mut trees, &mut gather, tries)?;
        }
        Ok(walk)
    }

    fn read_changed_groups<T: Default>(
        &self,
        walk: &mut WalkResult<T>,
        trees: &mut Trees<S>,
        gather: &mut impl FnMut(&mut T, &FileFacts),
        tries: u32,
    ) -> Result<()> {
        loop {
            walk.changing = 0;
            for (number, known) in walk.groups.iter_mut().enumerate() {
                let is_same = self.group_bytes(number as u64).is_ok_and(|read| read.print == known.print);
                // A damaged tree may have been rebuilt during the read.
                if !is_same || !known.damages.is_empty() && walk.tries < tries {
                    walk.changing += u64::from(!is_same);
                    trees.forget(number as u64);
                    *known = self.contents(number as u64, trees, gather, true)?;
                }
            }
            if walk.changing == 0 || walk.tries >= tries {
                return Ok(());
            }
            walk.tries += 1;
        }
    }

    /// Reads one group. During a change, a checksum may belong to another moment than its block; the group is then
    /// read again.
    fn contents<T: Default>(
        &self,
        number: u64,
        trees: &mut Trees<S>,
        gather: &mut impl FnMut(&mut T, &FileFacts),
        is_changing: bool,
    ) -> Result<Contents<T>> {
        for try_ in 1..if is_changing { GROUP_TRIES } else { 1 } {
            match self.group_bytes(number) {
                Err(e) if e.kind == ErrorKind::Damaged => thread::sleep(PAUSE * try_.min(PAUSES_MAX)),
                read => return Ok(self.gather_group(read?, trees, gather)),
            }
        }
        Ok(self.gather_group(self.group_bytes(number)?, trees, gather))
    }

    fn group_bytes(&self, number: u64) -> Result<GroupBytes> {
        let s = &self.superblock;
        let group = self.group(number)?;
        let mut block_bitmap = None;
        if !group.has_no_block_bitmap {
            let bitmap = self.block(group.block_bitmap, 1)?;
            if !group.is_block_bitmap_whole(s, &bitmap) {
                return damaged(format!("the block bitmap of group {number}: its checksum is wrong"));
            }
            block_bitmap = Some(bitmap);
        }
        let mut hasher = DefaultHasher::new();
        let (mut inode_bitmap, mut inodes) = (Vec::new(), Vec::new());
        if !group.has_no_inode_bitmap {
            inode_bitmap = self.block(group.inode_bitmap, 1)?;
            if !group.is_inode_bitmap_whole(s, &inode_bitmap) {
                return damaged(format!("the inode bitmap of group {number}: its checksum is wrong"));
            }
            inodes = self.inodes_of(&group, &inode_bitmap, &mut hasher)?;
        }
        hasher.write(block_bitmap.as_deref().unwrap_or_default());
        hasher.write(&inode_bitmap);
        hasher.write_u32(group.free_clusters);
        Ok(GroupBytes { group, block_bitmap, inode_bitmap, inodes, print: hasher.finish() })
    }

    /// Returns the inodes in use. The table is read in pieces, because it may be empty and as large as the file
    /// system.
    fn inodes_of(&self, group: &Group, bitmap: &[u8], hasher: &mut DefaultHasher) -> Result<Vec<(u32, Box<[u8]>)>> {
        let s = &self.superblock;
        let per_block = s.block_bytes / s.inode_bytes;
        let count = s.inodes_per_group - group.inodes_unused;
        let (mut inodes, mut first) = (Vec::new(), 0);
        while first < count {
            let some = (per_block * TABLE_BLOCKS).min(count - first);
            let blocks =
                self.block(group.inode_table + u64::from(first / per_block), some.div_ceil(per_block).into())?;
            let bytes = &blocks[..some as usize * s.inode_bytes as usize];
            hasher.write(bytes);
            // Inodes of the file system itself may never have been written.
            let is_written = |bytes: &[u8]| bytes.iter().any(|b| *b != 0);
            for (index, inode) in (first..).zip(bytes.chunks_exact(s.inode_bytes as usize)) {
                if bit(bitmap, index as usize) && is_written(inode) {
                    inodes.push((index, inode.into()));
                }
            }
            first += some;
        }
        Ok(inodes)
    }

    fn gather_group<T: Default>(
        &self,
        read: GroupBytes,
        trees: &mut Trees<S>,
        gather: &mut impl FnMut(&mut T, &FileFacts),
    ) -> Contents<T> {
        let s = &self.superblock;
        let group = &read.group;
        let mut contents = Contents {
            runs: Layout(s).runs(group.number),
            used: None,
            free_clusters_recorded: group.free_clusters,
            inodes_used: 0,
            inodes_free_recorded: group.free_inodes,
            gathered: T::default(),
            damages: Vec::new(),
            xattr_blocks: Vec::new(),
            print: read.print,
        };
        let runs = &mut contents.runs;
        push(runs, Run { start: group.block_bitmap, blocks: 1, kind: Kind::BlockBitmap, inode: 0 });
        push(runs, Run { start: group.inode_bitmap, blocks: 1, kind: Kind::InodeBitmap, inode: 0 });
        push(
            runs,
            Run { start: group.inode_table, blocks: s.inode_table_blocks() as u32, kind: Kind::InodeTable, inode: 0 },
        );
        let mmp = s.mmp_block;
        if mmp != 0
            && (s.group_start(group.number)..s.group_start(group.number) + s.group_blocks(group.number)).contains(&mmp)
        {
            push(runs, Run { start: mmp, blocks: 1, kind: Kind::Mmp, inode: 0 });
        }
        let in_table = (s.inodes_per_group - group.inodes_unused) as usize;
        contents.inodes_used = match read.inode_bitmap.as_slice() {
            [] => 0,
            bitmap => (0..in_table).filter(|index| bit(bitmap, *index)).count() as u32,
        };
        for (index, bytes) in &read.inodes {
            let number = (group.number * u64::from(s.inodes_per_group)) as u32 + index + 1;
            let inode = Inode::parse(s, number, bytes);
            if let Err(e) = self.gather_inode(&inode, bytes, trees, &mut contents, gather) {
                contents.damages.push(e);
            }
        }
        contents.used = read.block_bitmap.map(|mut bitmap| {
            // A group may have fewer clusters than its bitmap has bits.
            bitmap.truncate(s.clusters_per_group().div_ceil(8) as usize);
            bitmap.shrink_to_fit();
            bitmap
        });
        contents
    }

    fn gather_inode<T>(
        &self,
        inode: &Inode,
        bytes: &[u8],
        trees: &mut Trees<S>,
        contents: &mut Contents<T>,
        gather: &mut impl FnMut(&mut T, &FileFacts),
    ) -> Result<()> {
        let s = &self.superblock;
        if !inode.is_whole(s, bytes) {
            return damaged(format!("inode {}: its checksum is wrong", inode.number));
        }
        let before = contents.runs.len();
        let kind = self.kind(inode);
        let mut shape = Shape::default();
        let followed = if inode.is_resize() {
            trees.resize(inode, &mut contents.runs)
        } else if inode.has_map(s) {
            // Runs belong to one inode each, so runs of two inodes are never joined.
            trees.follow(inode, kind, &mut contents.runs).map(|found| shape = found)
        } else {
            Ok(())
        };
        if let Err(e) = followed {
            contents.runs.truncate(before);
            return Err(e);
        }
        if inode.xattr_block != 0 {
            if inode.xattr_block < s.first_data_block || inode.xattr_block >= s.blocks {
                return damaged(format!(
                    "inode {}: its attribute block {} is outside the file system",
                    inode.number, inode.xattr_block
                ));
            }
            contents.xattr_blocks.push((inode.xattr_block, inode.number));
        }
        gather(&mut contents.gathered, &FileFacts { inode, kind, shape });
        Ok(())
    }

    fn kind(&self, inode: &Inode) -> Kind {
        let s = &self.superblock;
        match inode.file_type {
            _ if inode.is_bad_blocks() => Kind::Bad,
            _ if inode.number == s.journal_inode => Kind::Journal,
            _ if s.quota_inodes.contains(&inode.number) && s.has(Feature::QUOTA) => Kind::Quota,
            _ if inode.number == s.orphan_inode => Kind::OrphanFile,
            _ if inode.is_xattr_value() => Kind::Xattr,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Symlink,
            FileType::Regular | FileType::Special | FileType::None => Kind::Data,
        }
    }
}

/// Bytes of a group before they are parsed.
struct GroupBytes {
    group: Group,
    block_bitmap: Option<Vec<u8>>,
    /// Empty if it was never written.
    inode_bitmap: Vec<u8>,
    /// Inodes in use, by index in the table.
    inodes: Vec<(u32, Box<[u8]>)>,
    print: u64,
}

impl<T> WalkResult<T> {
    /// Returns all used blocks, in order of blocks. An attribute block that inodes share appears once, under the first
    /// of them.
    pub fn runs(&self) -> Vec<Run> {
        let mut seen = HashSet::new();
        let mut runs: Vec<Run> = self.groups.iter().flat_map(|g| &g.runs).copied().collect();
        for (block, inode) in self.groups.iter().flat_map(|g| &g.xattr_blocks) {
            if seen.insert(*block) {
                runs.push(Run { start: *block, blocks: 1, kind: Kind::Xattr, inode: *inode });
            }
        }
        runs.sort_unstable_by_key(|run| (run.start, run.inode));
        runs
    }

    /// Returns true if the bitmap marks the block as used; `None` without a bitmap, when only metadata is in use.
    pub fn is_used(&self, s: &SuperBlock, block: u64) -> Option<bool> {
        let index = block.checked_sub(s.first_data_block)?;
        let (group, within) = (index / u64::from(s.blocks_per_group), index % u64::from(s.blocks_per_group));
        let bitmap = self.groups.get(group as usize)?.used.as_ref()?;
        Some(bit(bitmap, (within / u64::from(s.cluster_blocks)) as usize))
    }

    /// Returns the errors of damaged inodes.
    pub fn damages(&self) -> impl Iterator<Item = &Error> {
        self.groups.iter().flat_map(|g| &g.damages)
    }
}
