//! Control group of one job (version 2): a directory of its own, limits, and this process in it.
//!
//! ```text
//!   /system.slice/shop.service    this process: a group with processes cannot have groups with limits
//!   /system.slice/NAME            the new group, beside the own one; else beside an ancestor of it
//! ```
//!
//! Without root, the kernel allows this only within a part of the tree that belongs to the user (systemd:
//! `Delegate=yes`). The empty directory stays when the job ends; the next job of the name takes it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use yunti_base::{Code, Error, Result, mounts};

/// Period of the processor quota, in microseconds.
const PERIOD_US: u64 = 100_000;

/// Group that a flag describes: `NAME[,memory=SIZE][,cpu=PROCESSORS]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlGroup {
    name: String,
    memory_bytes: Option<u64>,
    processors: Option<f64>,
}

/// Tree of control groups as this process sees it.
struct Tree {
    /// Mount point.
    top: PathBuf,
    /// Directory of the own group.
    own: PathBuf,
}

impl FromStr for ControlGroup {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<ControlGroup, String> {
        let mut parts = text.split(',');
        let name = parts.next().unwrap_or_default().to_string();
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte);
        if name.is_empty() || name.starts_with('.') || !name.bytes().all(is_letter) {
            return Err(format!("'{name}' is no name of a group: letters, digits, '-', '_', '.', '@'"));
        }
        let mut group = ControlGroup { name, memory_bytes: None, processors: None };
        for part in parts {
            match part.split_once('=') {
                Some(("memory", size)) => {
                    group.memory_bytes = Some(bytes(size).ok_or(format!("'{size}' is no size: 512MiB, 2GiB"))?)
                }
                Some(("cpu", n)) => {
                    let is_fit = |n: &f64| *n >= 0.01 && *n <= 4096.0;
                    let n = n.parse().ok().filter(is_fit).ok_or(format!("'{n}' is no number of processors: 0.5, 2"))?;
                    group.processors = Some(n);
                }
                _ => return Err(format!("'{part}' is no limit: memory=SIZE or cpu=PROCESSORS")),
            }
        }
        Ok(group)
    }
}

/// Returns a size in bytes.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match &text[digits..] {
        "" => 1,
        "K" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        "KB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit).filter(|&bytes| bytes > 0)
}

impl Tree {
    /// Returns the tree of this machine.
    fn of_machine() -> Result<Tree> {
        let none = || Error::new(Code::Usage, "this machine has no control groups of version 2");
        let mount = mounts::all().into_iter().find(|mount| mount.fs_type == "cgroup2").ok_or_else(none)?;
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let own = groups.lines().find_map(|line| line.strip_prefix("0::")).ok_or_else(none)?;
        // In a container, a part of the tree may be mounted: its path is not below the mount's root.
        let below = Path::new(own).strip_prefix(&mount.root).unwrap_or(Path::new(""));
        Ok(Tree { own: mount.at.join(below), top: mount.at })
    }
}

impl ControlGroup {
    /// Makes the group and puts this process into it. Returns the directory of the group.
    ///
    /// Processes that this one starts later are in the group too.
    pub fn enter(&self) -> Result<PathBuf> {
        self.enter_in(&Tree::of_machine()?)
    }

    fn enter_in(&self, tree: &Tree) -> Result<PathBuf> {
        let mut why = String::new();
        // The group at the top may have both processes and groups.
        let first = if tree.own == tree.top { Some(tree.top.as_path()) } else { tree.own.parent() };
        let parents = first.into_iter().flat_map(Path::ancestors).take_while(|folder| folder.starts_with(&tree.top));
        for parent in parents {
            match self.enter_below(parent) {
                Ok(folder) => return Ok(folder),
                // The nearest place says best what is missing.
                Err(reason) if why.is_empty() => why = reason,
                Err(_) => {}
            }
        }
        let hint = match why.contains("has no controller") {
            true => "set this limit by version 1, or mount the controller in version 2",
            false => "run it as root, or by systemd-run --user with -p Delegate=yes",
        };
        Err(Error::new(Code::Usage, format!("cannot make the control group {}: {why}", self.name)).hint(hint))
    }

    fn enter_below(&self, parent: &Path) -> std::result::Result<PathBuf, String> {
        let failed = |what: &str, path: &Path, e: &io::Error| format!("cannot {what} {}: {}", path.display(), kind(e));
        let (offered, given) = (parent.join("cgroup.controllers"), parent.join("cgroup.subtree_control"));
        let words = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        let wanted = [("memory", self.memory_bytes.is_some()), ("cpu", self.processors.is_some())];
        for (controller, _) in wanted.into_iter().filter(|(_, is_wanted)| *is_wanted) {
            let has = |path: &Path| words(path).split_whitespace().any(|word| word == controller);
            if !has(&offered) {
                return Err(format!("{} has no controller '{controller}'", parent.display()));
            }
            if !has(&given) {
                fs::write(&given, format!("+{controller}")).map_err(|e| failed("write", &given, &e))?;
            }
        }
        let folder = parent.join(&self.name);
        let is_new = match fs::create_dir(&folder) {
            Ok(()) => true,
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => false,
            Err(e) => return Err(failed("make", &folder, &e)),
        };
        if !is_new && !words(&folder.join("cgroup.procs")).is_empty() {
            return Err(format!("{} has processes", folder.display()));
        }
        let result = self.limit_and_join(&folder).map_err(|(path, e)| failed("write", &path, &e));
        if result.is_err() && is_new {
            let _ = fs::remove_dir(&folder);
        }
        result.map(|()| folder)
    }

    fn limit_and_join(&self, folder: &Path) -> std::result::Result<(), (PathBuf, io::Error)> {
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|e| (path, e))
        };
        if let Some(bytes) = self.memory_bytes {
            write("memory.max", bytes.to_string())?;
        }
        if let Some(n) = self.processors {
            write("cpu.max", format!("{} {PERIOD_US}", (n * PERIOD_US as f64) as u64))?;
        }
        // 0 is the process that writes.
        write("cgroup.procs", "0".into())
    }
}

fn kind(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_and_limits() {
        let group = |text: &str| text.parse::<ControlGroup>();
        assert_eq!(
            group("shop,memory=512MiB,cpu=1.5"),
            Ok(ControlGroup { name: "shop".into(), memory_bytes: Some(512 << 20), processors: Some(1.5) })
        );
        for (text, what) in [
            ("", "is no name"),
            ("../x", "is no name"),
            ("a/b", "is no name"),
            ("a,memory=0", "is no size"),
            ("a,memory=1.5G", "is no size"),
            ("a,cpu=0", "is no number"),
            ("a,cpu=nan", "is no number"),
            ("a,io=1", "is no limit"),
        ] {
            assert!(group(text).unwrap_err().contains(what), "{text}");
        }
    }

    /// A tree of plain directories and files stands in for the kernel's.
    #[test]
    fn makes_the_group_at_the_nearest_place_that_has_the_controllers() {
        let top = std::env::temp_dir().join(format!("yunti-groups-{}", std::process::id()));
        let own = top.join("slice/inner/own");
        fs::create_dir_all(&own).unwrap();
        for (folder, controllers) in
            [(&top, "cpu memory pids"), (&top.join("slice"), "cpu memory"), (&top.join("slice/inner"), "cpu")]
        {
            fs::write(folder.join("cgroup.controllers"), controllers).unwrap();
            fs::write(folder.join("cgroup.subtree_control"), "cpu").unwrap();
        }
        let tree = Tree { top: top.clone(), own };
        let enter = |text: &str| text.parse::<ControlGroup>().unwrap().enter_in(&tree);
        let file = |path: PathBuf| fs::read_to_string(path).unwrap();

        let near = enter("a,cpu=0.5").unwrap();
        assert_eq!(near, top.join("slice/inner/a"));
        assert_eq!((file(near.join("cpu.max")), file(near.join("cgroup.procs"))), ("50000 100000".into(), "0".into()));
        let far = enter("b,memory=1MiB").unwrap();
        assert_eq!((file(far.join("memory.max")), far), ("1048576".into(), top.join("slice/b")));
        assert_eq!(file(top.join("slice/cgroup.subtree_control")), "+memory");
        // Its processes are another job's, here and above; the nearest reason is given.
        fs::create_dir_all(top.join("slice/a")).unwrap();
        fs::create_dir_all(top.join("a")).unwrap();
        for taken in ["slice/a", "a"] {
            fs::write(top.join(taken).join("cgroup.procs"), "7\n").unwrap();
        }
        assert!(enter("a").unwrap_err().to_string().contains("slice/inner/a has processes"));
        fs::remove_dir_all(top).unwrap();
    }
}
