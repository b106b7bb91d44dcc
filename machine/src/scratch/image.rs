//! ext4 on a loop device, mounted. Direct I/O to the image if its file system supports it: else data is cached twice.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, StatVfs, fadvise, statvfs};
use yunti_base::{Code, Error, Result};

use super::tool;

/// Image file with an ext4.
pub struct Image {
    /// Path of the image.
    pub file: PathBuf,
}

impl Image {
    /// Makes a sparse image with a file system. Its tables are not written in the background, because that would
    /// disturb measurements.
    pub fn make(file: PathBuf, bytes: u64, options: &[&str]) -> Result<Image> {
        let failed =
            |e: std::io::Error| Error::io(Code::Output, "cannot make an image", &e).at_path(file.to_string_lossy());
        let made = File::create(&file).and_then(|f| f.set_len(bytes));
        made.map_err(failed)?;
        let path = file.to_string_lossy().into_owned();
        let common = ["-q", "-F", "-E", "lazy_itable_init=1,lazy_journal_init=1,nodiscard", "-m", "0"];
        tool::run("mkfs.ext4", common.iter().chain(options).copied().chain([path.as_str()]))?;
        Ok(Image { file })
    }

    /// Mounts the image at `at`.
    pub fn mount(&self, at: &Path) -> Result<Mount> {
        fs::create_dir_all(at)
            .map_err(|e| Error::io(Code::Output, "cannot create the mount point", &e).at_path(at.to_string_lossy()))?;
        let device = attach(&self.file)?;
        let words = ["-t", "ext4", "-o", "noinit_itable,noatime", &device];
        let mounted = tool::run("mount", words.map(std::ffi::OsStr::new).into_iter().chain([at.as_os_str()]));
        // From here on the kernel detaches the loop device at the unmount, even if this process is killed.
        let detached = tool::run("losetup", ["-d", &device]);
        mounted?;
        let mount = Mount { at: at.to_owned(), device };
        detached?;
        Ok(mount)
    }

    /// Removes the image's bytes from the page cache.
    pub fn chill(&self) -> Result<()> {
        chill(&self.file)
    }
}

/// Mounted image, unmounted when dropped.
pub struct Mount {
    /// Mount point.
    pub at: PathBuf,
    /// Loop device, such as `/dev/loop7`.
    pub device: String,
}

impl Mount {
    /// Unmounts it, and reports errors.
    pub fn end(self) -> Result<()> {
        let ended = unmount(&self.at);
        std::mem::forget(self);
        ended
    }

    /// Returns the file system's statistics.
    pub fn stat(&self) -> Result<StatVfs> {
        statvfs(&self.at).map_err(|e| Error::io(Code::Input, "cannot read the free space of a file system", &e.into()))
    }

    /// Returns the free bytes.
    pub fn free_bytes(&self) -> Result<u64> {
        let stat = self.stat()?;
        Ok(stat.f_bfree * stat.f_frsize)
    }

    /// Returns the bytes read from the device, by the kernel's counter.
    pub fn read_bytes(&self) -> u64 {
        let text = fs::read_to_string(self.sys("stat")).unwrap_or_default();
        text.split_whitespace().nth(2).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) * 512
    }

    /// Returns the path of a file of the device in sysfs.
    pub fn sys(&self, name: &str) -> PathBuf {
        Path::new("/sys/block").join(self.device.trim_start_matches("/dev/")).join(name)
    }

    /// Writes a number to a file of the device in sysfs.
    pub fn set(&self, name: &str, value: u64) -> Result<()> {
        let path = self.sys(name);
        fs::write(&path, value.to_string())
            .map_err(|e| Error::io(Code::Output, "cannot write this setting", &e).at_path(path.to_string_lossy()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = unmount(&self.at);
    }
}

/// Unmounts a mount point.
pub fn unmount(at: &Path) -> Result<()> {
    tool::run("umount", [at]).or_else(|_| {
        // Another process, such as an indexer, uses it: tries once more.
        std::thread::sleep(std::time::Duration::from_millis(200));
        tool::run("umount", [at])
    })?;
    Ok(())
}

/// Attaches a file to a free loop device, and returns the device.
pub fn attach(file: &Path) -> Result<String> {
    let with = |direct: &str| {
        tool::run("losetup", [std::ffi::OsStr::new("--find"), "--show".as_ref(), direct.as_ref(), file.as_os_str()])
    };
    let device = with("--direct-io=on").or_else(|_| with("--direct-io=off"))?;
    Ok(device.trim().to_owned())
}

/// Returns all loop devices with their files.
pub fn attached() -> Vec<(String, String)> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let files = devices.filter_map(|device| {
        let file = fs::read_to_string(device.path().join("loop/backing_file")).ok()?;
        Some((format!("/dev/{}", device.file_name().to_string_lossy()), file.trim_end().to_owned()))
    });
    files.collect()
}

/// Writes a file's pages back, and removes them from the page cache.
pub fn chill(path: &Path) -> Result<()> {
    let failed = |e: std::io::Error| {
        Error::io(Code::Output, "cannot remove a file from the page cache", &e).at_path(path.to_string_lossy())
    };
    let file = File::open(path).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    fadvise(&file, 0, None, Advice::DontNeed).map_err(|e| failed(e.into()))
}
