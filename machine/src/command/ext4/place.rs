//! Where a file system lies: a device, an image, or the device below a directory.
//!
//! What is mounted is read by its device: there the kernel keeps the structures that it works on. An image that a mounted loop device stands on
//! is behind that, and so it is not read itself.

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};
use yunti_base::{Code, Error, Result};

use yunti_probe::mounts;

pub struct Place {
    pub path: PathBuf,
    /// Where it is mounted, if it is.
    pub mounted_at: Option<String>,
    /// Its number; 0 of an image.
    device: u64,
}

impl Place {
    pub fn find(given: &Path) -> Result<Place> {
        let failed =
            |doing: &str, e: &std::io::Error| Error::io(Code::Input, doing, e).at_path(given.display().to_string());
        let found = fs::metadata(given).map_err(|e| failed("there is no such device, image or directory", &e))?;
        if found.file_type().is_block_device() {
            return Ok(Place { path: given.to_owned(), mounted_at: mount_point(found.rdev()), device: found.rdev() });
        }
        if found.is_dir() {
            let device = found.dev();
            let path = device_path(device).ok_or_else(|| {
                Error::new(Code::Input, "this directory lies on no block device")
                    .at_path(given.display().to_string())
                    .hint("name a device or an image")
            })?;
            return Ok(Place { path, mounted_at: mount_point(device), device });
        }
        if !found.is_file() {
            return Err(
                Error::new(Code::Input, "this is no block device and no image").at_path(given.display().to_string())
            );
        }
        let whole = fs::canonicalize(given).map_err(|e| failed("the image cannot be found", &e))?;
        Ok(mounted_loop(&whole).unwrap_or(Place { path: given.to_owned(), mounted_at: None, device: 0 }))
    }

    pub fn open(&self) -> Result<File> {
        // For reading only, whatever the rights.
        File::open(&self.path).map_err(|e| {
            let error = Error::io(Code::Input, "it cannot be read", &e).at_path(self.shown());
            if e.kind() == std::io::ErrorKind::PermissionDenied {
                error.hint("devices are read by root, and in a container only where that is allowed")
            } else {
                error
            }
        })
    }

    /// The device's number, in its two parts; `None`: it is an image.
    pub fn device(&self) -> Option<(u32, u32)> {
        (self.device != 0).then(|| (major(self.device), minor(self.device)))
    }

    /// Where it begins on the whole disk, in 512 bytes.
    pub fn first_sector(&self) -> u64 {
        let path = format!("/sys/dev/block/{}:{}/start", major(self.device), minor(self.device));
        fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    pub fn shown(&self) -> String {
        self.path.display().to_string()
    }
}

fn device_path(device: u64) -> Option<PathBuf> {
    let told = fs::read_to_string(format!("/sys/dev/block/{}:{}/uevent", major(device), minor(device))).ok()?;
    let name = told.lines().find_map(|line| line.strip_prefix("DEVNAME="))?;
    Some(Path::new("/dev").join(name))
}

/// The first one.
fn mount_point(device: u64) -> Option<String> {
    let number = (major(device), minor(device));
    mounts::all().into_iter().find(|mount| mount.device == number).map(|mount| mount.at.display().to_string())
}

/// How it is mounted there, the options of this mount: `rw`, `nosuid`, ..
pub fn mount_options(at: &str) -> Vec<String> {
    // Of several at one place the last is seen.
    let last = mounts::all().into_iter().rfind(|mount| mount.at == Path::new(at));
    last.map(|mount| mount.options).unwrap_or_default()
}

/// The mounted loop device that stands on this image.
fn mounted_loop(image: &Path) -> Option<Place> {
    fs::read_dir("/sys/block").ok()?.flatten().find_map(|entry| {
        let text = |name: &str| fs::read_to_string(entry.path().join(name)).ok();
        let is_its =
            text("loop/backing_file")?.trim_end_matches('\n') == image.to_str()? && text("loop/offset")?.trim() == "0";
        let (major, minor) = text("dev")
            .filter(|_| is_its)?
            .trim()
            .split_once(':')
            .and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)))?;
        let device = rustix::fs::makedev(major, minor);
        Some(Place { path: device_path(device)?, mounted_at: Some(mount_point(device)?), device })
    })
}
