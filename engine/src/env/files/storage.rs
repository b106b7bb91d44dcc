//! Storage under a directory: a disk, memory or the network.
//!
//! ```text
//!   directory -> mount point (/proc/self/mountinfo) -> type: tmpfs -> memory, nfs4 -> network
//!                                                   -> overlay: the storage of its upper directory
//!                                                   -> block device (/sys/dev/block/MAJOR:MINOR)
//!                                                        -> loop: the storage of its file; zram, ram -> memory
//! ```
//!
//! Limits: an upper directory that is not visible in the container, and a device that the kernel does not list (btrfs,
//! ZFS), count as a disk.

use std::path::Path;

use yunti_base::mounts::{self, Mount};

/// Kind of a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageKind {
    Disk,
    Memory,
    Network,
}

impl StorageKind {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            StorageKind::Disk => "disk",
            StorageKind::Memory => "memory",
            StorageKind::Network => "network",
        }
    }
}

/// Storage of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    pub kind: StorageKind,
    /// Type of the file system, as the kernel names it.
    pub file_system: String,
    /// Name of the block device, if the file system has one.
    pub device: Option<String>,
    /// True for a disk that turns, as far as the kernel knows.
    pub rotates: bool,
}

impl Storage {
    /// Returns a storage without a block device.
    pub fn without_device(kind: StorageKind, file_system: &str) -> Storage {
        Storage { kind, file_system: file_system.into(), device: None, rotates: false }
    }
}

/// Returns the storage of a directory, or of its nearest parent that exists; None if the system does not list mounts.
pub fn of(dir: &Path) -> Option<Storage> {
    let absolute = std::path::absolute(dir).ok()?;
    let real = absolute.ancestors().find_map(|dir| dir.canonicalize().ok())?;
    storage_at(&real, &mounts::all(), Path::new("/sys"), DEPTH_MAX)
}

/// Storages below storages (a loop device on an overlay) that are followed.
const DEPTH_MAX: u32 = 4;

const MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];
const NETWORK: [&str; 19] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "ceph",
    "lustre",
    "gpfs",
    "glusterfs",
    "beegfs",
    "orangefs",
    "ocfs2",
    "gfs2",
    "sshfs",
    "s3fs",
    "rclone",
    "hdfs",
];
/// Names of block devices in memory, and of block devices of another machine, without their numbers.
const MEMORY_DEVICES: [&str; 2] = ["zram", "ram"];
const NETWORK_DEVICES: [&str; 3] = ["nbd", "rbd", "drbd"];

/// Returns the storage of an absolute path without links. `sys`: where sysfs is.
fn storage_at(path: &Path, mounts: &[Mount], sys: &Path, depth: u32) -> Option<Storage> {
    let mount = mounts::holding(mounts, path)?;
    let file_system = mount.fs_type.as_str();
    let plain = file_system.strip_prefix("fuse.").unwrap_or(file_system);
    let kind = match plain {
        "overlay" if depth > 0 => {
            let upper = mount.fs_option("upperdir").map(Path::new).filter(|dir| dir.is_dir());
            let below = upper.and_then(|dir| storage_at(dir, mounts, sys, depth - 1));
            return Some(below.unwrap_or_else(|| Storage::without_device(StorageKind::Disk, file_system)));
        }
        name if MEMORY.contains(&name) => StorageKind::Memory,
        name if NETWORK.contains(&name) => StorageKind::Network,
        _ => return Some(on_device(mount, mounts, sys, depth)),
    };
    Some(Storage::without_device(kind, file_system))
}

/// Returns the storage of a file system on a block device.
fn on_device(mount: &Mount, mounts: &[Mount], sys: &Path, depth: u32) -> Storage {
    let entry = sys.join("dev/block").join(mount.device_number());
    let Some(name) = entry.canonicalize().ok().and_then(|real| Some(real.file_name()?.to_str()?.to_string())) else {
        return Storage::without_device(StorageKind::Disk, &mount.fs_type);
    };
    let file = std::fs::read_to_string(entry.join("loop/backing_file")).ok();
    let below = file.filter(|_| depth > 0).and_then(|file| storage_at(Path::new(file.trim()), mounts, sys, depth - 1));
    let stem = name.split(|c: char| c.is_ascii_digit()).next().unwrap_or(&name);
    let kind = match below {
        Some(storage) => storage.kind,
        None if MEMORY_DEVICES.contains(&stem) => StorageKind::Memory,
        None if NETWORK_DEVICES.contains(&stem) => StorageKind::Network,
        None => StorageKind::Disk,
    };
    // A partition has the queue of its disk.
    let queues = [entry.join("queue/rotational"), entry.join("../queue/rotational")];
    let rotates = queues.iter().find_map(|path| std::fs::read_to_string(path).ok()).is_some_and(|s| s.trim() == "1");
    let rotates = rotates && kind == StorageKind::Disk;
    Storage { kind, file_system: mount.fs_type.clone(), device: Some(name), rotates }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = r"27 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw,discard
25 24 0:23 / /dev/shm rw,relatime shared:3 - tmpfs tmpfs rw,size=24684084k
40 27 0:50 / /far rw master:1 - nfs4 server:/far rw,vers=4.2
41 27 0:51 / /mnt/far\040away rw - fuse.sshfs host: rw
42 27 252:0 / /swap rw - ext4 /dev/zram0 rw
43 27 43:0 / /lent rw - xfs /dev/nbd0 rw
44 27 0:60 / /pool rw - btrfs /dev/sdb rw
45 27 7:0 / /image rw - ext4 /dev/loop0 rw
46 27 0:61 / /again rw - ext4 /dev/sdz rw
47 27 0:62 / /again rw - tmpfs tmpfs rw
48 27 0:63 / /box rw - overlay overlay rw,lowerdir=/a,upperdir=UPPER,workdir=/w
49 27 0:64 / /lost rw - overlay overlay rw,lowerdir=/a,upperdir=/no/such/directory,workdir=/w
cut off line
";

    #[test]
    fn storage_of_each_kind_of_mount() {
        let root = std::env::temp_dir().join(format!("yunti-storage-{}", std::process::id()));
        let root = {
            std::fs::create_dir_all(&root).unwrap();
            root.canonicalize().unwrap()
        };
        for (number, name) in [("254:1", "vda1"), ("252:0", "zram0"), ("43:0", "nbd0"), ("7:0", "loop0")] {
            std::fs::create_dir_all(root.join("devices").join(name)).unwrap();
            std::fs::create_dir_all(root.join("dev/block")).unwrap();
            std::os::unix::fs::symlink(root.join("devices").join(name), root.join("dev/block").join(number)).unwrap();
        }
        std::fs::create_dir_all(root.join("devices/vda1/queue")).unwrap();
        std::fs::write(root.join("devices/vda1/queue/rotational"), "1\n").unwrap();
        std::fs::create_dir_all(root.join("devices/loop0/loop")).unwrap();
        std::fs::write(root.join("devices/loop0/loop/backing_file"), "/dev/shm/image\n").unwrap();
        let mounts = mounts::parse(&MOUNTS.replace("UPPER", &root.to_string_lossy()));
        for (path, kind, file_system, device) in [
            ("/tmp/scratch", StorageKind::Disk, "ext4", Some("vda1")),
            ("/dev/shm", StorageKind::Memory, "tmpfs", None),
            ("/dev/shm/deep/below", StorageKind::Memory, "tmpfs", None),
            ("/dev/shmoo", StorageKind::Disk, "ext4", Some("vda1")),
            ("/far/me", StorageKind::Network, "nfs4", None),
            ("/mnt/far away/x", StorageKind::Network, "fuse.sshfs", None),
            ("/swap/x", StorageKind::Memory, "ext4", Some("zram0")),
            ("/lent", StorageKind::Network, "xfs", Some("nbd0")),
            ("/pool", StorageKind::Disk, "btrfs", None),
            ("/image", StorageKind::Memory, "ext4", Some("loop0")),
            ("/again", StorageKind::Memory, "tmpfs", None),
            ("/box/x", StorageKind::Disk, "ext4", Some("vda1")),
            ("/lost/x", StorageKind::Disk, "overlay", None),
        ] {
            let found = storage_at(Path::new(path), &mounts, &root, DEPTH_MAX);
            let device = device.map(str::to_string);
            let rotates = device.as_deref() == Some("vda1");
            let expect = Storage { kind, file_system: file_system.into(), device, rotates };
            assert_eq!(found, Some(expect), "{path}");
        }
        assert_eq!(storage_at(Path::new("/x"), &[], &root, DEPTH_MAX), None);
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn loops_of_storages_end() {
        let mounts = mounts::parse("45 1 7:0 / / rw - ext4 /dev/loop0 rw\n");
        assert_eq!(storage_at(Path::new("/x"), &mounts, Path::new("/no/sys"), 1).unwrap().kind, StorageKind::Disk);
    }

    #[test]
    fn storage_of_this_machine() {
        if Path::new("/proc/self/mountinfo").exists() {
            assert!(of(Path::new("/no/such/directory")).is_some());
            assert_eq!(of(Path::new("/dev/shm/none")).map(|s| s.kind), Some(StorageKind::Memory));
        }
    }
}
