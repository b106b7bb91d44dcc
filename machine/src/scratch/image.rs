//! A file as a block device with an ext4 on it, mounted. Direct I/O to the file where its file system can: otherwise all is cached twice.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, StatVfs, fadvise, statvfs};
use yunti_base::{Code, Error, Result};

use super::tool;

pub struct Image {
    pub file: PathBuf,
}

impl Image {
    /// A sparse file with a file system. The tables are not written in the background, where they would disturb.
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

    pub fn mount(&self, at: &Path) -> Result<Mount> {
        fs::create_dir_all(at).map_err(|e| {
            Error::io(Code::Output, "cannot make a place to mount at", &e).at_path(at.to_string_lossy())
        })?;
        let device = attach(&self.file)?;
        let words = ["-t", "ext4", "-o", "noinit_itable,noatime", &device];
        let mounted = tool::run("mount", words.map(std::ffi::OsStr::new).into_iter().chain([at.as_os_str()]));
        // From here on the kernel detaches it when it is unmounted, whatever becomes of us.
        let detached = tool::run("losetup", ["-d", &device]);
        mounted?;
        let mount = Mount { at: at.to_owned(), device };
        detached?;
        Ok(mount)
    }

    /// Its bytes are not in the page cache any more.
    pub fn chill(&self) -> Result<()> {
        chill(&self.file)
    }
}

pub struct Mount {
    pub at: PathBuf,
    /// `/dev/loop7`
    pub device: String,
}

impl Mount {
    pub fn end(self) -> Result<()> {
        let ended = unmount(&self.at);
        std::mem::forget(self);
        ended
    }

    pub fn stat(&self) -> Result<StatVfs> {
        statvfs(&self.at).map_err(|e| Error::io(Code::Input, "cannot ask a file system for its space", &e.into()))
    }

    pub fn free_bytes(&self) -> Result<u64> {
        let stat = self.stat()?;
        Ok(stat.f_bfree * stat.f_frsize)
    }

    /// What has been read from the device, by the kernel's own account.
    pub fn read_bytes(&self) -> u64 {
        let text = fs::read_to_string(self.sys("stat")).unwrap_or_default();
        text.split_whitespace().nth(2).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) * 512
    }

    pub fn sys(&self, name: &str) -> PathBuf {
        Path::new("/sys/block").join(self.device.trim_start_matches("/dev/")).join(name)
    }

    pub fn set(&self, name: &str, value: u64) -> Result<()> {
        let path = self.sys(name);
        fs::write(&path, value.to_string())
            .map_err(|e| Error::io(Code::Output, "cannot set it", &e).at_path(path.to_string_lossy()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = unmount(&self.at);
    }
}

pub fn unmount(at: &Path) -> Result<()> {
    tool::run("umount", [at]).or_else(|_| {
        // Something looks at it, such as an indexer: once more.
        std::thread::sleep(std::time::Duration::from_millis(200));
        tool::run("umount", [at])
    })?;
    Ok(())
}

/// A free loop device for a file.
pub fn attach(file: &Path) -> Result<String> {
    let with = |direct: &str| {
        tool::run("losetup", [std::ffi::OsStr::new("--find"), "--show".as_ref(), direct.as_ref(), file.as_os_str()])
    };
    let device = with("--direct-io=on").or_else(|_| with("--direct-io=off"))?;
    Ok(device.trim().to_owned())
}

/// All loop devices with their files.
pub fn attached() -> Vec<(String, String)> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let files = devices.filter_map(|device| {
        let file = fs::read_to_string(device.path().join("loop/backing_file")).ok()?;
        Some((format!("/dev/{}", device.file_name().to_string_lossy()), file.trim_end().to_owned()))
    });
    files.collect()
}

/// A file's pages leave the page cache, after they have been written.
pub fn chill(path: &Path) -> Result<()> {
    let failed = |e: std::io::Error| {
        Error::io(Code::Output, "cannot take a file out of the page cache", &e).at_path(path.to_string_lossy())
    };
    let file = File::open(path).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    fadvise(&file, 0, None, Advice::DontNeed).map_err(|e| failed(e.into()))
}
