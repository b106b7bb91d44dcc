//! Sums of a file system's blocks: by kind, the fragmentation of files and free space, and the size with other
//! settings.

use std::collections::{HashMap, HashSet};
use std::ops::AddAssign;

use crate::disk::bytes::bit;
use crate::disk::inode::FileType;
use crate::disk::layout::Layout;
use crate::disk::superblock::{Feature, SuperBlock};
use crate::kind::{KINDS, Kind};
use crate::names;
use crate::run::Run;
use crate::source::Source;
use crate::tree::CLUSTER_BYTES;
use crate::walk::{FileFacts, FileSystem, WalkResult};

/// Files listed with the most fragments.
const WORST: usize = 20;
/// Powers of two in the histogram of free runs.
pub const POWERS: usize = 32;

/// Sums over files, directories and links.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Regular files.
    pub regular: u64,
    /// Directories.
    pub directories: u64,
    /// Symbolic links.
    pub symlinks: u64,
    /// Devices, pipes and sockets.
    pub special: u64,
    /// Inodes whose data is in the inode.
    pub inline: u64,
    /// Bytes of regular files, as `ls` prints them.
    pub bytes: u64,
    /// Regular files that have blocks.
    pub with_blocks: u64,
    /// Regular files with more than one fragment.
    pub fragmented: u64,
    /// Fragments of all regular files.
    pub fragments: u64,
    /// Regular files by number of fragments: 1, 2, 3-4, 5-8, ..
    pub by_fragments: Vec<u64>,
    /// Blocks of regular files that are reserved and not written yet.
    pub unwritten_blocks: u64,
    /// Blocks of regular files behind the end of the file.
    pub blocks_behind_end: u64,
    /// Inodes with the most fragments, in descending order.
    pub worst: Vec<Pieces>,
    /// Regular files that would fit into their inode with `inline_data`.
    pub small: u64,
    /// Blocks that these small files have now.
    pub small_blocks: u64,
    /// Clusters that the blocks of all inodes would occupy, for each size of [`CLUSTER_BYTES`].
    pub clusters: [u64; CLUSTER_BYTES.len()],
}

/// Fragments of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// Number of fragments.
    pub fragments: u32,
    /// Inode number.
    pub inode: u32,
    /// File size in bytes.
    pub bytes: u64,
}

impl Files {
    /// Adds one file.
    pub fn add(&mut self, file: &FileFacts) {
        let FileFacts { inode, kind, shape } = file;
        if inode.links > 0 || inode.is_xattr_value() {
            self.inline += u64::from(inode.is_inline());
        }
        for (all, own) in self.clusters.iter_mut().zip(shape.clusters) {
            *all += own + u64::from(shape.tree_blocks);
        }
        match (kind, inode.file_type) {
            (_, FileType::Directory) => self.directories += 1,
            (_, FileType::Symlink) => self.symlinks += 1,
            (_, FileType::Special) => self.special += 1,
            (Kind::Data, FileType::Regular) if !inode.is_reserved => self.add_regular(file),
            _ => (),
        }
    }

    fn add_regular(&mut self, file: &FileFacts) {
        let FileFacts { inode, shape, .. } = file;
        self.regular += 1;
        self.bytes += inode.bytes;
        self.unwritten_blocks += shape.unwritten_blocks;
        self.blocks_behind_end += shape.blocks_behind_end;
        if shape.data_blocks == 0 {
            return;
        }
        self.with_blocks += 1;
        self.fragmented += u64::from(shape.fragments > 1);
        self.fragments += u64::from(shape.fragments);
        let power = shape.fragments.next_power_of_two().trailing_zeros() as usize;
        if self.by_fragments.len() <= power {
            self.by_fragments.resize(power + 1, 0);
        }
        self.by_fragments[power] += 1;
        if shape.fragments > 1 {
            self.rank(Pieces { fragments: shape.fragments, inode: inode.number, bytes: inode.bytes });
        }
        if inode.bytes <= u64::from(inode.inline_bytes_max) && !inode.is_encrypted() && !inode.has_verity() {
            self.small += 1;
            self.small_blocks += shape.data_blocks + u64::from(shape.tree_blocks);
        }
    }

    fn rank(&mut self, pieces: Pieces) {
        let at = self.worst.partition_point(|p| {
            (p.fragments, std::cmp::Reverse(p.inode)) >= (pieces.fragments, std::cmp::Reverse(pieces.inode))
        });
        if at < WORST {
            self.worst.insert(at, pieces);
            self.worst.truncate(WORST);
        }
    }
}

impl AddAssign<&Files> for Files {
    fn add_assign(&mut self, other: &Files) {
        self.regular += other.regular;
        self.directories += other.directories;
        self.symlinks += other.symlinks;
        self.special += other.special;
        self.inline += other.inline;
        self.bytes += other.bytes;
        self.with_blocks += other.with_blocks;
        self.fragmented += other.fragmented;
        self.fragments += other.fragments;
        self.unwritten_blocks += other.unwritten_blocks;
        self.blocks_behind_end += other.blocks_behind_end;
        self.small += other.small;
        self.small_blocks += other.small_blocks;
        if self.by_fragments.len() < other.by_fragments.len() {
            self.by_fragments.resize(other.by_fragments.len(), 0);
        }
        for (all, own) in self.by_fragments.iter_mut().zip(&other.by_fragments) {
            *all += own;
        }
        for (all, own) in self.clusters.iter_mut().zip(other.clusters) {
            *all += own;
        }
        for pieces in &other.worst {
            self.rank(*pieces);
        }
    }
}

/// Free space as runs of free clusters, across groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FreeSpace {
    /// Free blocks.
    pub blocks: u64,
    /// Runs of free blocks.
    pub runs: u64,
    /// Blocks of the largest run.
    pub largest_blocks: u64,
    /// Free blocks in runs of 1, 2-3, 4-7, .. blocks.
    pub by_power: [u64; POWERS],
}

impl FreeSpace {
    fn add(&mut self, blocks: u64) {
        if blocks > 0 {
            self.blocks += blocks;
            self.runs += 1;
            self.largest_blocks = self.largest_blocks.max(blocks);
            self.by_power[(blocks.ilog2() as usize).min(POWERS - 1)] += blocks;
        }
    }
}

/// Disagreements between bitmaps and inodes; all zero if there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ownership {
    /// Clusters that the bitmaps mark and no inode owns.
    pub lost_clusters: u64,
    /// Clusters that an inode owns and the bitmaps do not mark.
    pub unmarked_clusters: u64,
    /// Blocks with two owners, except with the feature `shared_blocks`.
    pub twice_blocks: u64,
    /// Two inodes (or 0) and the first block that both own.
    pub first_twice: Option<(u32, u32, u64)>,
}

impl Ownership {
    /// Returns true if bitmaps and inodes agree.
    pub fn is_whole(&self) -> bool {
        *self == Ownership::default()
    }
}

/// Estimate of the effect of a cluster size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterEstimate {
    /// Cluster size in bytes.
    pub cluster_bytes: u64,
    /// Additional bytes, because the end of each file, directory and tree fills a cluster.
    pub slack_bytes: u64,
    /// Bytes of bitmaps and descriptors that are saved.
    pub metadata_bytes: u64,
}

/// Block usage of a whole file system.
#[derive(Clone, Debug)]
pub struct Usage {
    /// Blocks by kind, in the order of [`KINDS`].
    pub kinds: [u64; KINDS.len()],
    /// Sums over files.
    pub files: Files,
    /// Free space.
    pub free: FreeSpace,
    /// Disagreements between bitmaps and inodes.
    pub ownership: Ownership,
    /// Inodes in use.
    pub inodes_used: u64,
    /// Free blocks by the group descriptors.
    pub free_blocks_recorded: u64,
    /// Blocks of used clusters that hold no data (`bigalloc`).
    pub slack_blocks: u64,
    /// One-block directories that would fit into their inode with `inline_data`.
    pub small_directories: u64,
    /// Estimates for larger clusters.
    pub clustered: Vec<ClusterEstimate>,
}

impl Usage {
    /// Sums up a walk. `runs`: the result of [`WalkResult::runs`].
    pub fn of<S: Source + ?Sized>(fs: &FileSystem<S>, walk: &WalkResult<Files>, runs: &[Run]) -> Usage {
        let s = &fs.superblock;
        let mut this = Usage {
            kinds: [0; KINDS.len()],
            files: Files::default(),
            free: FreeSpace::default(),
            ownership: Ownership::default(),
            inodes_used: walk.groups.iter().map(|g| u64::from(g.inodes_used)).sum(),
            free_blocks_recorded: walk.groups.iter().map(|g| u64::from(g.free_clusters_recorded)).sum::<u64>()
                * u64::from(s.cluster_blocks),
            slack_blocks: 0,
            small_directories: small_directories(fs, runs),
            clustered: Vec::new(),
        };
        for group in &walk.groups {
            this.files += &group.gathered;
        }
        for run in runs {
            this.kinds[run.kind as usize] += u64::from(run.blocks);
        }
        // An attribute block takes one cluster.
        let attributes: HashSet<u64> =
            walk.groups.iter().flat_map(|g| &g.xattr_blocks).map(|(block, _)| *block).collect();
        for clusters in &mut this.files.clusters {
            *clusters += attributes.len() as u64;
        }
        this.compare(s, walk, runs);
        this.clustered = this.with_clusters(s);
        this
    }

    /// Returns the blocks of one kind.
    pub fn blocks(&self, kind: Kind) -> u64 {
        self.kinds[kind as usize]
    }

    /// Compares the bitmaps with the runs, group by group.
    fn compare<T>(&mut self, s: &SuperBlock, walk: &WalkResult<T>, runs: &[Run]) {
        let ratio = u64::from(s.cluster_blocks);
        let mut end = (0, 0);
        let mut owned_blocks = 0;
        // Each block once, even with several owners.
        let mut areas: Vec<(u64, u64)> = Vec::new();
        for run in runs {
            if run.start < end.0 && !s.has(Feature::SHARED_BLOCKS) {
                self.ownership.twice_blocks += run.end().min(end.0) - run.start;
                self.ownership.first_twice.get_or_insert((end.1, run.inode, run.start));
            }
            let new = (run.start.max(end.0), run.end());
            if new.0 < new.1 {
                owned_blocks += new.1 - new.0;
                match areas.last_mut() {
                    Some(last) if last.1 == new.0 => last.1 = new.1,
                    _ => areas.push(new),
                }
            }
            if run.end() > end.0 {
                end = (run.end(), run.inode);
            }
        }
        let (mut from, mut free, mut used_clusters) = (0, 0, 0);
        for (number, group) in walk.groups.iter().enumerate() {
            let (start, blocks) = (s.group_start(number as u64), s.group_blocks(number as u64));
            let clusters = blocks.div_ceil(ratio) as usize;
            let mut owned = vec![0; clusters.div_ceil(8)];
            // A run may reach into the groups behind its own.
            while from < areas.len() && areas[from].1 <= start {
                from += 1;
            }
            for area in areas[from..].iter().take_while(|area| area.0 < start + blocks) {
                let (first, last) = (area.0.max(start) - start, area.1.min(start + blocks) - 1 - start);
                (first / ratio..=last / ratio).for_each(|c| owned[c as usize / 8] |= 1 << (c % 8));
            }
            let used = group.used.as_deref().unwrap_or(&owned);
            for cluster in 0..clusters {
                let size = ratio.min(blocks - cluster as u64 * ratio);
                let (is_used, is_owned) = (bit(used, cluster), bit(&owned, cluster));
                self.ownership.lost_clusters += u64::from(is_used && !is_owned);
                self.ownership.unmarked_clusters += u64::from(is_owned && !is_used);
                if is_used {
                    used_clusters += size;
                    self.free.add(std::mem::take(&mut free));
                } else {
                    free += size;
                }
            }
        }
        self.free.add(free);
        if ratio > 1 {
            self.slack_blocks = used_clusters.saturating_sub(owned_blocks);
        }
    }

    fn with_clusters(&self, s: &SuperBlock) -> Vec<ClusterEstimate> {
        let block = u64::from(s.block_bytes);
        let own: u64 = [
            Kind::ExtentBlock,
            Kind::IndirectBlock,
            Kind::Directory,
            Kind::Journal,
            Kind::Data,
            Kind::Symlink,
            Kind::Quota,
            Kind::OrphanFile,
        ]
        .iter()
        .map(|kind| self.blocks(*kind))
        .sum();
        let of_groups: u64 =
            [Kind::SuperBlock, Kind::Descriptors, Kind::ReservedDescriptors, Kind::BlockBitmap, Kind::InodeBitmap]
                .iter()
                .map(|kind| self.blocks(*kind))
                .sum();
        let larger = CLUSTER_BYTES
            .iter()
            .zip(self.files.clusters)
            .filter(|(bytes, _)| **bytes > block * u64::from(s.cluster_blocks));
        larger
            .map(|(bytes, clusters)| {
                let ratio = bytes / (block * u64::from(s.cluster_blocks));
                ClusterEstimate {
                    cluster_bytes: *bytes,
                    slack_bytes: (clusters * bytes).saturating_sub((own + self.blocks(Kind::Xattr)) * block),
                    metadata_bytes: of_groups.saturating_sub(blocks_of_groups(s, ratio)) * block,
                }
            })
            .collect()
    }
}

/// Blocks of superblock copies, descriptors and bitmaps, if clusters were larger by `ratio`. A group has as many
/// clusters as a bitmap has bits, so larger clusters mean fewer groups. The number of inodes stays, and a bitmap
/// limits the inodes of a group.
fn blocks_of_groups(s: &SuperBlock, ratio: u64) -> u64 {
    let (of_group, inodes_max) = (u64::from(s.blocks_per_group) * ratio, u64::from(s.block_bytes) * 8);
    let blocks = s.blocks - s.first_data_block;
    let groups = blocks.div_ceil(of_group).max(u64::from(s.inodes).div_ceil(inodes_max));
    let mut other = s.clone();
    other.blocks_per_group = u32::try_from(blocks.div_ceil(groups)).unwrap_or(u32::MAX);
    // The reserve for growth covers as many blocks as before.
    let descriptors = (s.descriptor_blocks() + u64::from(s.reserved_descriptor_blocks)) / ratio;
    let reserved = descriptors.saturating_sub(other.descriptor_blocks());
    other.reserved_descriptor_blocks = if s.has(Feature::RESIZE_INODE) { reserved as u32 } else { 0 };
    let layout = Layout(&other);
    let by_rule = (0..groups).flat_map(|group| layout.runs(group)).map(|run| u64::from(run.blocks)).sum::<u64>();
    by_rule + 2 * groups
}

/// Counts one-block directories that would fit into their inode.
fn small_directories<S: Source + ?Sized>(fs: &FileSystem<S>, runs: &[Run]) -> u64 {
    let mut sizes: HashMap<u32, (u64, u64)> = HashMap::new();
    for run in runs.iter().filter(|run| run.kind == Kind::Directory) {
        let (blocks, start) = sizes.entry(run.inode).or_default();
        *blocks += u64::from(run.blocks);
        *start = run.start;
    }
    let of_one = sizes.into_values().filter(|(blocks, _)| *blocks == 1);
    of_one
        .filter(|(_, block)| {
            fs.inline_size_of_directory(*block).is_ok_and(|bytes| bytes <= names::inline_max(&fs.superblock))
        })
        .count() as u64
}
