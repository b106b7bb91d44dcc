//! Reads a whole file system: what each block is used for, and what the bitmaps say of it.
//!
//! Of one that is written to meanwhile, each group is read, and then looked at once more: where nothing has changed in any of them between the two looks,
//! all that was read was true at one moment (the double collect of snapshot algorithms: Afek and others, 1993). Groups that have changed are read again, a
//! number of times; [`Walked::changing`] says for how many that was in vain.

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
use crate::error::{Error, Result, Trouble, damaged};
use crate::kind::Kind;
use crate::source::Source;
use crate::tree::{Run, Shape, Trees, push};

/// After the first try, and that much more after each: what is being changed is whole again soon.
const PAUSE: Duration = Duration::from_micros(200);
const PAUSES_MAX: u32 = 20;
const SUPER_TRIES: u32 = 10;
const GROUP_TRIES: u32 = 30;
/// Of a table of inodes, as many blocks are read at once.
const TABLE_BLOCKS: u32 = 64;

pub struct FileSystem<'a, S: ?Sized> {
    pub superblock: SuperBlock,
    source: &'a S,
}

/// A file, directory or link, and the place that it takes.
#[derive(Clone, Debug)]
pub struct FileFacts<'a> {
    pub inode: &'a Inode,
    pub kind: Kind,
    pub shape: Shape,
}

/// Of one group: its own blocks, and those of the inodes whose table is there, wherever they lie.
#[derive(Clone, Debug, Default)]
pub struct Contents<T> {
    pub runs: Vec<Run>,
    /// Used, as the bitmap says, by cluster of the group; `None` where none was written.
    pub(crate) used: Option<Vec<u8>>,
    pub free_clusters_told: u32,
    pub inodes_used: u32,
    pub inodes_free_told: u32,
    /// What the caller has gathered of the files.
    pub gathered: T,
    /// Of inodes that say what cannot be; they are left out, whole.
    pub damages: Vec<Error>,
    pub(crate) xattr_blocks: Vec<(u64, u32)>,
    print: u64,
}

/// All of a file system.
#[derive(Debug, Default)]
pub struct Walked<T> {
    pub groups: Vec<Contents<T>>,
    /// Groups that changed while they were read, at each try.
    pub changing: u64,
    pub tries: u32,
}

impl<'a, S: Source + ?Sized> FileSystem<'a, S> {
    pub fn open(source: &'a S) -> Result<Self> {
        for try_ in 0..SUPER_TRIES {
            match SuperBlock::read(source) {
                // It may be one that is written at this moment.
                Err(e) if e.trouble == Trouble::Damaged => thread::sleep(PAUSE * try_),
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

    pub fn group(&self, number: u64) -> Result<Group> {
        let s = &self.superblock;
        let per_block = s.descriptors_per_block();
        let block = Layout(s).descriptor_block(number / per_block);
        if block >= s.blocks {
            return damaged(format!("the descriptor of group {number} lies outside of the file system"));
        }
        let mut bytes = vec![0; s.descriptor_bytes as usize];
        let at = block * u64::from(s.block_bytes) + number % per_block * u64::from(s.descriptor_bytes);
        self.source.read_at(&mut bytes, at).map_err(|e| Error::io(&format!("the descriptor of group {number}"), &e))?;
        Group::parse(s, number, &bytes)
    }

    /// One inode.
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

    /// Reads everything.
    ///
    /// @param is_changing it is mounted, and may be written to: groups that change are read again, up to `tries` times
    /// @param gather is called for each inode in use, with what is gathered of its group; of a group that is read again, anew
    pub fn walk<T: Default>(
        &self,
        is_changing: bool,
        tries: u32,
        mut gather: impl FnMut(&mut T, &FileFacts),
    ) -> Result<Walked<T>> {
        let count = self.superblock.group_count();
        let mut trees = Trees::new(&self.superblock, self.source);
        let mut walked = Walked { groups: Vec::new(), changing: 0, tries: 1 };
        for number in 0..count {
            walked.groups.push(self.contents(number, &mut trees, &mut gather, is_changing)?);
        }
        if is_changing {
            self.look_again(&mut walked, &mut trees, &mut gather, tries)?;
        }
        Ok(walked)
    }

    fn look_again<T: Default>(
        &self,
        walked: &mut Walked<T>,
        trees: &mut Trees<S>,
        gather: &mut impl FnMut(&mut T, &FileFacts),
        tries: u32,
    ) -> Result<()> {
        loop {
            walked.changing = 0;
            for (number, known) in walked.groups.iter_mut().enumerate() {
                let is_same = self.group_bytes(number as u64).is_ok_and(|read| read.print == known.print);
                // Damage may be a tree that was rebuilt while it was read.
                if !is_same || !known.damages.is_empty() && walked.tries < tries {
                    walked.changing += u64::from(!is_same);
                    trees.forget(number as u64);
                    *known = self.contents(number as u64, trees, gather, true)?;
                }
            }
            if walked.changing == 0 || walked.tries >= tries {
                return Ok(());
            }
            walked.tries += 1;
        }
    }

    /// Of a group that is written to at this moment, checksums may be of another moment than what they are of: it is read again.
    fn contents<T: Default>(
        &self,
        number: u64,
        trees: &mut Trees<S>,
        gather: &mut impl FnMut(&mut T, &FileFacts),
        is_changing: bool,
    ) -> Result<Contents<T>> {
        for try_ in 1..if is_changing { GROUP_TRIES } else { 1 } {
            match self.group_bytes(number) {
                Err(e) if e.trouble == Trouble::Damaged => thread::sleep(PAUSE * try_.min(PAUSES_MAX)),
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

    /// Of the table, those in use; in pieces, since a table may be as large as the file system is, and empty.
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
            // Those that the file system keeps for itself may never have been written.
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
            free_clusters_told: group.free_clusters,
            inodes_used: 0,
            inodes_free_told: group.free_inodes,
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
            // A group may have fewer clusters than its bitmap has room for.
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
            // Not joined with what another inode has: runs are of one inode each.
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
                    "inode {}: its attributes, in block {}, lie outside of the file system",
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

struct GroupBytes {
    group: Group,
    block_bitmap: Option<Vec<u8>>,
    /// Empty where it was never written.
    inode_bitmap: Vec<u8>,
    /// By their places in the table.
    inodes: Vec<(u32, Box<[u8]>)>,
    print: u64,
}

impl<T> Walked<T> {
    /// All that is in use, in order of blocks. Blocks of attributes that inodes share are there once, under the first of them.
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

    /// Whether the bitmaps say that a cluster is in use; `None`: nothing was written of it, and only what the layout has is in use.
    pub fn is_used(&self, s: &SuperBlock, block: u64) -> Option<bool> {
        let index = block.checked_sub(s.first_data_block)?;
        let (group, within) = (index / u64::from(s.blocks_per_group), index % u64::from(s.blocks_per_group));
        let bitmap = self.groups.get(group as usize)?.used.as_ref()?;
        Some(bit(bitmap, (within / u64::from(s.cluster_blocks)) as usize))
    }

    pub fn damages(&self) -> impl Iterator<Item = &Error> {
        self.groups.iter().flat_map(|g| &g.damages)
    }
}
