//! Place of a file system: a device, an image, or the device below a directory.
//!
//! A mounted file system is read through its device, where the kernel keeps its current structures. An image under a
//! mounted loop device is outdated, so the loop device is read instead.

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};
use yunti_base::{Code, Error, Result};

use yunti_base::mounts;

/// Place of a file system.
pub struct Place {
    /// Device or image.
    pub path: PathBuf,
    /// Mount point, if it is mounted.
    pub mounted_at: Option<String>,
    /// Device number, or 0 for an image.
    device: u64,
}

impl Place {
    /// Finds the file system of a device, an image or a directory.
    pub fn find(given: &Path) -> Result<Place> {
        let failed =
            |doing: &str, e: &std::io::Error| Error::io(Code::Input, doing, e).at_path(given.display().to_string());
        let found = fs::metadata(given).map_err(|e| failed("no such device, image or directory", &e))?;
        if found.file_type().is_block_device() {
            return Ok(Place { path: given.to_owned(), mounted_at: mount_point(found.rdev()), device: found.rdev() });
        }
        if found.is_dir() {
            let device = found.dev();
            let path = device_path(device).ok_or_else(|| {
                Error::new(Code::Input, "this directory is not on a block device")
                    .at_path(given.display().to_string())
                    .hint("name a device or an image")
            })?;
            return Ok(Place { path, mounted_at: mount_point(device), device });
        }
        if !found.is_file() {
            return Err(Error::new(Code::Input, "not a block device or an image").at_path(given.display().to_string()));
        }
        let whole = fs::canonicalize(given).map_err(|e| failed("the image cannot be found", &e))?;
        Ok(mounted_loop(&whole).unwrap_or(Place { path: given.to_owned(), mounted_at: None, device: 0 }))
    }

    /// Opens it for reading.
    pub fn open(&self) -> Result<File> {
        // Read-only, even for root.
        File::open(&self.path).map_err(|e| {
            let error = Error::io(Code::Input, "cannot read the file system", &e).at_path(self.shown());
            if e.kind() == std::io::ErrorKind::PermissionDenied {
                error.hint("run as root; a container needs access to the device")
            } else {
                error
            }
        })
    }

    /// Returns the device number as major and minor; `None` for an image.
    pub fn device(&self) -> Option<(u32, u32)> {
        (self.device != 0).then(|| (major(self.device), minor(self.device)))
    }

    /// Returns its first sector on the whole disk, in units of 512 bytes.
    pub fn first_sector(&self) -> u64 {
        let path = format!("/sys/dev/block/{}:{}/start", major(self.device), minor(self.device));
        fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    /// Returns the path as text.
    pub fn shown(&self) -> String {
        self.path.display().to_string()
    }
}

fn device_path(device: u64) -> Option<PathBuf> {
    let uevent = fs::read_to_string(format!("/sys/dev/block/{}:{}/uevent", major(device), minor(device))).ok()?;
    let name = uevent.lines().find_map(|line| line.strip_prefix("DEVNAME="))?;
    Some(Path::new("/dev").join(name))
}

/// First mount point of a device.
fn mount_point(device: u64) -> Option<String> {
    let number = (major(device), minor(device));
    mounts::all().into_iter().find(|mount| mount.device == number).map(|mount| mount.at.display().to_string())
}

/// Returns the mount options at a mount point: `rw`, `nosuid`, ..
pub fn mount_options(at: &str) -> Vec<String> {
    // The last of several mounts at one place is visible.
    let last = mounts::all().into_iter().rfind(|mount| mount.at == Path::new(at));
    last.map(|mount| mount.options).unwrap_or_default()
}

/// Mounted loop device of an image.
fn mounted_loop(image: &Path) -> Option<Place> {
    fs::read_dir("/sys/block").ok()?.flatten().find_map(|entry| {
        let text = |name: &str| fs::read_to_string(entry.path().join(name)).ok();
        let is_own =
            text("loop/backing_file")?.trim_end_matches('\n') == image.to_str()? && text("loop/offset")?.trim() == "0";
        let (major, minor) = text("dev")
            .filter(|_| is_own)?
            .trim()
            .split_once(':')
            .and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)))?;
        let device = rustix::fs::makedev(major, minor);
        Some(Place { path: device_path(device)?, mounted_at: Some(mount_point(device)?), device })
    })
}
