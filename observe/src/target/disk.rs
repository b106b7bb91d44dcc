//! What a thread in state D waits for, by the kernel's functions that it is in (/proc/PID/task/TID/stack, for root).

/// The first that is found decides: of a call, what it is for stands further out than where it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DiskWait {
    /// Until what was written is on the device: fsync, fdatasync, msync, O_SYNC.
    Sync,
    /// Writing goes on when enough of what was written before is on the device.
    Dirty,
    /// For a transaction of the file system's journal, or for room in it.
    Journal,
    /// Another thread changes the same directory.
    Directory,
    /// For pages of files that are read.
    Read,
    /// For pages of files that are mapped, or for such that were swapped out.
    Mapped,
    Other,
}

pub const DISK_WAITS: [(DiskWait, &str); 7] = [
    (DiskWait::Sync, "until written data is on the device"),
    (DiskWait::Dirty, "held back from writing"),
    (DiskWait::Journal, "for the journal"),
    (DiskWait::Directory, "for a directory that another changes"),
    (DiskWait::Read, "for pages of files"),
    (DiskWait::Mapped, "for mapped pages"),
    (DiskWait::Other, "for something else of a disk"),
];

const SIGNS: [(&str, DiskWait); 24] = [
    ("fsync", DiskWait::Sync),
    ("fdatasync", DiskWait::Sync),
    ("_sync_file", DiskWait::Sync),
    ("msync", DiskWait::Sync),
    ("generic_write_sync", DiskWait::Sync),
    ("sync_file_range", DiskWait::Sync),
    ("syncfs", DiskWait::Sync),
    ("balance_dirty_pages", DiskWait::Dirty),
    // A transaction that is to begin, that has to end first, or that has no room.
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
];

/// @param stack a line a function, the innermost first: `[<0>] folio_wait_bit_common+0x11b/0x310`
pub fn of_stack(stack: &str) -> DiskWait {
    let functions = || stack.lines().filter_map(|line| line.split_once("] ")?.1.split('+').next());
    SIGNS
        .iter()
        .find(|(sign, _)| functions().any(|function| function.contains(sign)))
        .map_or(DiskWait::Other, |(_, wait)| *wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_in_state_d() {
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
        check(&["msleep"], DiskWait::Other);
        assert_eq!(of_stack(""), DiskWait::Other);
    }
}
