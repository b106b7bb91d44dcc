//! Mounted file systems: proc_pid_mountinfo(5).

use std::path::{Path, PathBuf};

/// Mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Device number of the file system, as major and minor.
    pub device: (u32, u32),
    /// Mounted part of the file system: `/`, or a folder of it.
    pub root: PathBuf,
    /// Mount point.
    pub at: PathBuf,
    /// Options of this mount: `rw`, `nosuid`, ..
    pub options: Vec<String>,
    /// Type of the file system.
    pub fs_type: String,
    /// Source, mostly the device's path.
    pub source: String,
    /// Options of the file system: `errors=remount-ro`; of a hierarchy of control groups its controllers.
    pub fs_options: Vec<String>,
}

impl Mount {
    /// Returns the device number as `MAJOR:MINOR`, the name of its folder in `/sys/dev/block`.
    pub fn device_number(&self) -> String {
        format!("{}:{}", self.device.0, self.device.1)
    }

    /// Returns the value of an option of the file system, such as `upperdir`.
    pub fn fs_option(&self, name: &str) -> Option<&str> {
        self.fs_options.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }
}

/// Returns the mounts visible to this process, in the order of mounting; none if the system does not list them.
pub fn all() -> Vec<Mount> {
    parse(&String::from_utf8_lossy(&std::fs::read("/proc/self/mountinfo").unwrap_or_default()))
}

/// Parses the text of `mountinfo`.
pub fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(mount).collect()
}

fn mount(line: &str) -> Option<Mount> {
    let (own, rest) = line.split_once(" - ")?;
    let mut fields = own.split(' ').skip(2);
    let (major, minor) = fields.next()?.split_once(':')?;
    let mut rest = rest.split(' ');
    Some(Mount {
        device: (major.parse().ok()?, minor.parse().ok()?),
        root: unescape(fields.next()?).into(),
        at: unescape(fields.next()?).into(),
        options: fields.next()?.split(',').map(str::to_owned).collect(),
        fs_type: rest.next()?.to_owned(),
        source: unescape(rest.next()?),
        // The kernel writes a blank in a path of an option as an escape, too.
        fs_options: rest.next().unwrap_or_default().split(',').map(unescape).collect(),
    })
}

/// Returns the visible path of `within`, a path from the file system's own root; `None` if the mounted parts do not
/// contain it.
pub fn seen_at(mounts: &[Mount], device: (u32, u32), within: &Path) -> Option<PathBuf> {
    mounts.iter().filter(|mount| mount.device == device).find_map(|mount| {
        let rest = within.strip_prefix(&mount.root).ok()?;
        // A join with an empty path would append a slash.
        Some(if rest.as_os_str().is_empty() { mount.at.clone() } else { mount.at.join(rest) })
    })
}

/// Returns the mount that holds `path`, an absolute path without links: the one with the longest mount point, and of
/// equal ones the last, which covers the others.
pub fn holding<'m>(mounts: &'m [Mount], path: &Path) -> Option<&'m Mount> {
    mounts.iter().filter(|mount| path.starts_with(&mount.at)).max_by_key(|mount| mount.at.components().count())
}

/// Replaces octal escapes, such as `\040` for a blank.
fn unescape(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..3).and_then(|octal| u8::from_str_radix(octal, 8).ok()).filter(u8::is_ascii) {
            Some(byte) => {
                plain.push(char::from(byte));
                plain += &part[3..];
            }
            None => plain += &format!("\\{part}"),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unescapes_mount_points() {
        for (text, plain) in
            [("/a", "/a"), ("/a\\040b", "/a b"), ("/\\134", "/\\"), ("/x\\9", "/x\\9"), ("/x\\", "/x\\")]
        {
            assert_eq!(unescape(text), plain);
        }
    }

    #[test]
    fn finds_visible_paths() {
        let mounts = parse(
            "20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
             21 20 8:2 /a\\040b /mnt ro - xfs /dev/sdb rw\n\
             22 20 0:5 / /x rw master:1 propagate_from:2 - tmpfs none rw\n\
             not a mount\n",
        );
        assert_eq!(mounts.len(), 3);
        assert_eq!((mounts[1].fs_type.as_str(), &mounts[1].options), ("xfs", &vec!["ro".to_owned()]));
        let at = |device, path: &str| seen_at(&mounts, device, Path::new(path)).map(|p| p.display().to_string());
        assert_eq!(at((8, 1), "/srv/x"), Some("/srv/x".to_owned()));
        assert_eq!(at((8, 2), "/a b/c"), Some("/mnt/c".to_owned()));
        assert_eq!(at((8, 2), "/a b"), Some("/mnt".to_owned()));
        assert_eq!((at((8, 2), "/other"), at((9, 9), "/")), (None, None));
    }

    #[test]
    fn finds_the_mount_that_holds_a_path() {
        let mounts = parse(
            "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
             21 20 8:2 / /mnt/a\\040b rw - xfs /dev/sdb rw\n\
             22 20 0:61 / /again rw - ext4 /dev/sdc rw\n\
             23 20 0:62 / /again rw - overlay none rw,lowerdir=/l,upperdir=/u\\040v\n",
        );
        for (path, device) in
            [("/", "8:1"), ("/mnt", "8:1"), ("/mnt/a b/c", "8:2"), ("/mnt/a bc", "8:1"), ("/again/x", "0:62")]
        {
            assert_eq!(holding(&mounts, Path::new(path)).map(Mount::device_number).as_deref(), Some(device), "{path}");
        }
        let overlay = holding(&mounts, Path::new("/again")).unwrap();
        assert_eq!((overlay.fs_option("upperdir"), overlay.fs_option("upper")), (Some("/u v"), None));
        assert_eq!(holding(&[], Path::new("/")), None);
    }
}
