//! Reasons why a thread is in state D, from its functions in the kernel (/proc/PID/task/TID/stack, root only).

/// Reason of a wait. The first match decides, because the outer functions show the purpose of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DiskWait {
    /// For written data to be on the device: fsync, fdatasync, msync, O_SYNC.
    Sync,
    /// For earlier writes to reach the device, before more may be written.
    Dirty,
    /// For a transaction of the file system's journal, or for space in it.
    Journal,
    /// For another thread that changes the same directory.
    Directory,
    /// For blocks with names or file attributes.
    Names,
    /// For pages of files that are read.
    Read,
    /// For pages of files that are mapped, or for swapped pages.
    Mapped,
    /// For another reason.
    Other,
}

/// All reasons, with their texts in tables.
pub const DISK_WAITS: [(DiskWait, &str); 8] = [
    (DiskWait::Sync, "until written data is on the device"),
    (DiskWait::Dirty, "held back from writing"),
    (DiskWait::Journal, "for the journal"),
    (DiskWait::Directory, "for a directory that another thread changes"),
    (DiskWait::Names, "for names and states of files"),
    (DiskWait::Read, "for pages of files"),
    (DiskWait::Mapped, "for mapped pages"),
    (DiskWait::Other, "for another disk operation"),
];

const SIGNS: [(&str, DiskWait); 27] = [
    ("fsync", DiskWait::Sync),
    ("fdatasync", DiskWait::Sync),
    ("_sync_file", DiskWait::Sync),
    ("msync", DiskWait::Sync),
    ("generic_write_sync", DiskWait::Sync),
    ("sync_file_range", DiskWait::Sync),
    ("syncfs", DiskWait::Sync),
    ("ksys_sync", DiskWait::Sync),
    ("balance_dirty_pages", DiskWait::Dirty),
    // The control group has no clean memory left; groups of version 1 have no limit of their own for dirty pages.
    ("shrink_folio_list", DiskWait::Dirty),
    // A transaction that begins, waits for the previous one, or lacks space.
    ("start_this_handle", DiskWait::Journal),
    ("wait_transaction", DiskWait::Journal),
    ("add_transaction_credits", DiskWait::Journal),
    ("jbd2", DiskWait::Journal),
    ("do_get_write_access", DiskWait::Journal),
    ("xlog_", DiskWait::Journal),
    ("xfs_log_", DiskWait::Journal),
    ("btrfs_commit_transaction", DiskWait::Journal),
    ("lock_rename", DiskWait::Directory),
    ("filename_create", DiskWait::Directory),
    ("do_unlinkat", DiskWait::Directory),
    ("open_last_lookups", DiskWait::Directory),
    ("iterate_dir", DiskWait::Directory),
    ("handle_mm_fault", DiskWait::Mapped),
    ("filemap_", DiskWait::Read),
    ("blkdev_direct_IO", DiskWait::Read),
    ("iomap_dio_rw", DiskWait::Read),
];

/// Functions of name lookups, and of waits for blocks. A thread that waits for another one in the same directory waits
/// for a lock instead.
const OF_NAMES: [&str; 5] = ["iterate_dir", "lookup_slow", "lookup_open", "vfs_statx", "vfs_fstatat"];
const OF_BLOCKS: [&str; 4] = ["wait_on_buffer", "ext4_bread", "xfs_buf_iowait", "read_extent_buffer"];

/// Returns the reason for a stack. `stack`: a line a function, innermost first, as `[<0>]
/// folio_wait_bit_common+0x11b/0x310`.
pub fn of_stack(stack: &str) -> DiskWait {
    let functions = || stack.lines().filter_map(|line| line.split_once("] ")?.1.split('+').next());
    let has = |signs: &[&str]| functions().any(|function| signs.iter().any(|sign| function.contains(sign)));
    if has(&OF_NAMES) && has(&OF_BLOCKS) {
        return DiskWait::Names;
    }
    SIGNS
        .iter()
        .find(|(sign, _)| functions().any(|function| function.contains(sign)))
        .map_or(DiskWait::Other, |(_, wait)| *wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classifies_stacks_in_state_d() {
        let check = |functions: &[&str], expected| {
            let stack: String = functions.iter().map(|function| format!("[<0>] {function}+0x1b/0x310\n")).collect();
            assert_eq!(of_stack(&stack), expected, "{functions:?}");
        };
        check(&["jbd2_log_wait_commit", "ext4_sync_file", "do_fsync", "__x64_sys_fsync"], DiskWait::Sync);
        check(
            &["folio_wait_writeback", "ext4_sync_file", "generic_write_sync", "ext4_buffered_write_iter"],
            DiskWait::Sync,
        );
        check(
            &["balance_dirty_pages", "generic_perform_write", "ext4_buffered_write_iter", "vfs_write"],
            DiskWait::Dirty,
        );
        check(&["wait_transaction_locked", "start_this_handle", "__ext4_new_inode", "path_openat"], DiskWait::Journal);
        check(&["rwsem_down_write_slowpath", "do_unlinkat", "__x64_sys_unlink"], DiskWait::Directory);
        check(&["folio_wait_bit_common", "filemap_get_pages", "filemap_read", "vfs_read"], DiskWait::Read);
        check(&["folio_wait_bit_common", "filemap_fault", "__do_fault", "handle_mm_fault"], DiskWait::Mapped);
        check(
            &["folio_wait_writeback", "shrink_folio_list", "try_charge_memcg", "__filemap_add_folio", "vfs_write"],
            DiskWait::Dirty,
        );
        check(&["__wait_on_buffer", "ext4_bread", "ext4_htree_fill_tree", "iterate_dir"], DiskWait::Names);
        check(&["rwsem_down_read_slowpath", "iterate_dir", "__x64_sys_getdents64"], DiskWait::Directory);
        check(&["__wait_on_buffer", "ext4_iget", "ext4_lookup", "__lookup_slow", "vfs_statx"], DiskWait::Names);
        check(&["msleep"], DiskWait::Other);
        assert_eq!(of_stack(""), DiskWait::Other);
    }
}
