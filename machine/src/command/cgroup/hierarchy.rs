//! Mounted hierarchies of control groups: one for all controllers (version 2), one for each (version 1), or both.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use yunti_base::mounts::Mount;

/// Controller of control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Controller {
    Cpu,
    CpuAccounting,
    Memory,
    Io,
}

use Controller::{Cpu, CpuAccounting, Io, Memory};

const OF_VERSION_1: [(Controller, &str); 4] =
    [(Cpu, "cpu"), (CpuAccounting, "cpuacct"), (Memory, "memory"), (Io, "blkio")];
/// Levels; container managers nest less deeply.
const DEPTH_MAX: usize = 24;

/// Mounted hierarchies.
#[derive(Clone, Debug, Default)]
pub struct Hierarchies {
    version_1: HashMap<Controller, PathBuf>,
    /// Mount point of version 2, if it is mounted; it may have no controllers.
    version_2: Option<PathBuf>,
}

impl Hierarchies {
    /// Finds the hierarchies among `mounts`.
    pub fn of(mounts: &[Mount]) -> Hierarchies {
        let mut all = Hierarchies::default();
        // A container sees a part of a hierarchy, which is all of it for the container.
        for mount in mounts {
            match mount.fs_type.as_str() {
                "cgroup2" => all.version_2 = all.version_2.or_else(|| Some(mount.at.clone())),
                "cgroup" => {
                    for (controller, name) in OF_VERSION_1 {
                        if mount.fs_options.iter().any(|option| option == name) {
                            all.version_1.entry(controller).or_insert_with(|| mount.at.clone());
                        }
                    }
                }
                _ => {}
            }
        }
        all
    }

    /// Returns true if no hierarchy is mounted.
    pub fn is_empty(&self) -> bool {
        self.version_1.is_empty() && self.version_2.is_none()
    }

    /// Returns true if the CPU controller has a hierarchy of version 1.
    pub fn is_version_1(&self) -> bool {
        self.version_1.contains_key(&Cpu)
    }

    /// Returns the folder of a group in a controller's hierarchy, and true for version 1.
    pub fn folder(&self, controller: Controller, group: &Path) -> Option<(PathBuf, bool)> {
        let inside = group.strip_prefix("/").unwrap_or(group);
        match self.version_1.get(&controller) {
            Some(at) => Some((at.join(inside), true)),
            None => self.version_2.as_ref().map(|at| (at.join(inside), false)),
        }
    }

    /// Returns all groups as paths within the hierarchies, outermost first.
    pub fn groups(&self) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        for root in self.roots() {
            below(root, root, 0, &mut found);
        }
        found
    }

    fn roots(&self) -> BTreeSet<&PathBuf> {
        self.version_1.values().chain(&self.version_2).collect()
    }

    /// Returns the groups of a controller's hierarchy by the inodes of their folders.
    pub fn by_inode(&self, controller: Controller, groups: &BTreeSet<PathBuf>) -> HashMap<u64, PathBuf> {
        let of = |group: &PathBuf| {
            let (folder, _) = self.folder(controller, group)?;
            Some((fs::metadata(folder).ok()?.ino(), group.clone()))
        };
        groups.iter().filter_map(of).collect()
    }
}

fn below(root: &Path, folder: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) {
    let inside = folder.strip_prefix(root).unwrap_or(folder);
    found.insert(Path::new("/").join(inside));
    if depth == DEPTH_MAX {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            below(root, &entry.path(), depth + 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_base::mounts::parse;

    #[test]
    fn finds_both_versions() {
        let hybrid = parse(
            "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
             35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
             41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
        );
        let all = Hierarchies::of(&hybrid);
        assert!(all.is_version_1() && !all.is_empty());
        let folder = |controller| all.folder(controller, Path::new("/a/b")).unwrap();
        assert_eq!(folder(CpuAccounting), (PathBuf::from("/sys/fs/cgroup/cpu,cpuacct/a/b"), true));
        assert_eq!(folder(Io), (PathBuf::from("/sys/fs/cgroup/unified/a/b"), false));
        let unified = Hierarchies::of(&parse("30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"));
        assert!(!unified.is_version_1());
        assert_eq!(unified.folder(Memory, Path::new("/")), Some((PathBuf::from("/sys/fs/cgroup"), false)));
        assert!(Hierarchies::of(&[]).is_empty());
    }
}
