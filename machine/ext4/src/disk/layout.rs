//! Positions of superblocks, descriptors and their copies, computed from the superblock alone.
//!
//! ```text
//!   a group with a copy:    superblock | descriptors | reserved for descriptors | ..
//!   meta_bg, from first_meta_bg on, in the first, second and last group of each meta group:
//!                           [superblock |] one block of descriptors | ..
//! ```
//!
//! Follows e2fsprogs' `ext2fs_super_and_bgd_loc2` and the kernel's `ext4_bg_has_super`. One case is special: with
//! blocks of 1 KiB and clusters, the first group starts at block 0 and has its superblock in block 1.

use crate::disk::superblock::{Feature, SuperBlock};
use crate::kind::Kind;
use crate::run::Run;

/// Layout rules of a file system with this superblock.
pub struct Layout<'a>(pub &'a SuperBlock);

impl Layout<'_> {
    /// Returns true if the group has a copy of the superblock.
    pub fn has_super(&self, group: u64) -> bool {
        let s = self.0;
        if group == 0 {
            return true;
        }
        if s.has(Feature::SPARSE_SUPER2) {
            return s.backup_groups.iter().any(|g| u64::from(*g) == group);
        }
        group == 1 || !s.has(Feature::SPARSE_SUPER) || [3, 5, 7].iter().any(|base| is_power(group, *base))
    }

    /// Block of the group's superblock copy, if it has one.
    fn super_at(&self, group: u64) -> u64 {
        let start = self.0.group_start(group);
        if start == 0 && self.0.block_bytes == 1024 { 1 } else { start }
    }

    fn is_meta(&self, group: u64) -> bool {
        group / self.0.descriptors_per_block() >= u64::from(self.0.first_meta_group)
    }

    /// Returns the block with the descriptors of the `n`th batch of `descriptors_per_block` groups.
    pub fn descriptor_block(&self, n: u64) -> u64 {
        if n < u64::from(self.0.first_meta_group) {
            return self.super_at(0) + 1 + n;
        }
        let group = n * self.0.descriptors_per_block();
        self.super_at(group) + u64::from(self.has_super(group))
    }

    /// Returns the group's superblock and descriptor blocks as runs, in order of blocks, cut at the end of the group.
    pub fn runs(&self, group: u64) -> Vec<Run> {
        let s = self.0;
        let mut runs = Vec::new();
        let end = s.group_start(group) + s.group_blocks(group);
        let mut put = |start: u64, blocks: u64, kind| {
            if blocks > 0 && start < end {
                runs.push(Run { start, blocks: blocks.min(end - start) as u32, kind, inode: 0 });
            }
        };
        let (has_super, at) = (self.has_super(group), self.super_at(group));
        if group == 0 && at != s.group_start(0) {
            put(0, 1, Kind::SuperBlock);
        }
        if has_super {
            put(at, 1, Kind::SuperBlock);
        }
        if !self.is_meta(group) {
            if has_super {
                let blocks =
                    if s.has(Feature::META_BG) { u64::from(s.first_meta_group) } else { s.descriptor_blocks() };
                put(at + 1, blocks, Kind::Descriptors);
                if !s.has(Feature::META_BG) {
                    put(at + 1 + blocks, u64::from(s.reserved_descriptor_blocks), Kind::ReservedDescriptors);
                }
            }
        } else if [0, 1, s.descriptors_per_block() - 1].contains(&(group % s.descriptors_per_block())) {
            put(at + u64::from(has_super), 1, Kind::Descriptors);
        }
        runs
    }
}

fn is_power(n: u64, base: u64) -> bool {
    let mut power = base;
    while power < n {
        power = power.saturating_mul(base);
    }
    power == n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_powers() {
        for (n, is) in [(3, true), (9, true), (27, true), (5, true), (49, true), (2, false), (15, false), (21, false)] {
            assert_eq!([3, 5, 7].iter().any(|b| is_power(n, *b)), is, "{n}");
        }
    }
}
