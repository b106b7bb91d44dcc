//! `yunti machine make-spill`: a file system for spills, which may be lost, with the options that measured best.
//!
//! It makes only what a flag names: an image with `--image`, a mount with `--at`. Without them it prints the commands.

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use clap::Args;
use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, open};
use serde_json::json;
use yunti_base::mounts;
use yunti_base::{Cancel, Code, Error, Result};
use yunti_program::failure::Outcome;
use yunti_program::terminal::{signals, stdout};
use yunti_settings::value::{self, Limits};

use crate::scratch::image::{attach, unmount};
use crate::scratch::tool;

/// Make an ext4 file system for spills, without a journal, for few large files; on a device or in a file. Make it
/// again after a crash
#[derive(Debug, Args)]
pub struct MakeSpillFlags {
    /// Device (/dev/sdb1), or size in KiB, MiB, GiB or TiB (20G)
    #[arg(value_name = "DEVICE|SIZE")]
    on: String,
    /// Mount it here; without it, nothing is mounted
    #[arg(long, value_name = "DIR")]
    at: Option<PathBuf>,
    /// Image file, required for a SIZE
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// Only print the commands
    #[arg(long)]
    dry_run: bool,
    /// Confirm that the device may be overwritten
    #[arg(long)]
    yes: bool,
    /// Overwrite a file system or a partition table on the device
    #[arg(long)]
    overwrite: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Options of mkfs.ext4; docs/decisions/machine-bench.md gives the reasons.
const MAKE: [&str; 10] = ["-q", "-F", "-O", "^has_journal", "-T", "largefile", "-m", "0", "-E", "lazy_itable_init=1"];
/// Bytes; `off_t` holds no more.
const BYTES_MAX: u64 = i64::MAX as u64;
const MOUNT: &str = "noatime,nodev,nosuid,noinit_itable";

/// Makes the file system, mounts it if a flag names the folder, and prints how to use and remove it.
pub fn make_spill(flags: &MakeSpillFlags) -> Outcome {
    if !flags.on.contains('/') {
        let bytes = size(&flags.on).map_err(|what| Error::new(Code::Usage, what))?;
        let image = flags.image.as_deref().ok_or_else(|| image_is_missing(&flags.on))?;
        return in_a_file(flags, image, bytes);
    }
    let device = Path::new(&flags.on);
    check(device, flags.overwrite)?;
    let at = flags.at.as_deref().map(absolute).transpose()?;
    at.as_deref().map_or(Ok(()), check_place)?;
    let is_new = at.as_deref().is_some_and(|at| !at.exists());
    if flags.dry_run {
        return report(flags, &flags.on, at.as_deref(), is_new, None);
    }
    if !flags.yes {
        return Err(Error::new(Code::Usage, "all data on this device would be lost")
            .at_path(&flags.on)
            .hint("add --yes, or --dry-run first")
            .into());
    }
    root_only()?;
    tool::run("mkfs.ext4", MAKE.iter().copied().chain([flags.on.as_str()]))?;
    if let Some(at) = &at {
        mount(&flags.on, at).map_err(|e| e.hint("the file system exists: mount it elsewhere"))?;
    }
    report(flags, &flags.on, at.as_deref(), is_new, None)
}

fn image_is_missing(size: &str) -> Error {
    Error::new(Code::Usage, format!("an image of {size} needs a name, and nothing is made")).hint(format!(
        "--image FILE names it, and --at DIR mounts it: yunti machine make-spill {size} --image /var/tmp/spill.img \
         --at /mnt/spill; --dry-run prints the commands"
    ))
}

fn in_a_file(flags: &MakeSpillFlags, image: &Path, bytes: u64) -> Outcome {
    let image = &absolute(image)?;
    let at = flags.at.as_deref().map(absolute).transpose()?;
    let at = at.as_deref();
    if image.exists() {
        return Err(Error::new(Code::Exists, "the image exists already")
            .at_path(image.to_string_lossy())
            .hint("set another --image, or remove it")
            .into());
    }
    at.map_or(Ok(()), check_place)?;
    let is_new = at.is_some_and(|at| !at.exists());
    check_room(image, bytes)?;
    if flags.dry_run {
        return report(flags, &image.to_string_lossy(), at, is_new, Some("loop"));
    }
    root_only()?;
    let failed =
        |e: std::io::Error| Error::io(Code::Output, "cannot make the image", &e).at_path(image.to_string_lossy());
    let cancel = Cancel::default();
    signals::cancel_on_signals(&cancel);
    let check_cancelled = || {
        if cancel.is_set() { Err(Error::new(Code::Cancelled, "cancelled; the image is removed")) } else { Ok(()) }
    };
    let file = File::create_new(image).map_err(failed)?;
    let made = (|| {
        fs::set_permissions(image, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        fallocate(&file, FallocateFlags::empty(), 0, bytes).map_err(|e| failed(e.into()))?;
        let path = image.to_string_lossy();
        check_cancelled()?;
        // A cancelled run reports the cancellation, not the program that it killed.
        tool::run("mkfs.ext4", MAKE.iter().copied().chain([&*path]))
            .map_err(|e| check_cancelled().err().unwrap_or(e))?;
        check_cancelled()?;
        let Some(at) = at else { return Ok(()) };
        let device = attach(image)?;
        let mounted = mount(&device, at);
        // The kernel detaches the loop device at the unmount.
        let detached = tool::run("losetup", ["-d", &device]).map(drop);
        let done = mounted.and_then(|()| detached.and_then(|()| check_cancelled()).inspect_err(|_| drop(unmount(at))));
        done.map_err(|e| check_cancelled().err().unwrap_or(e))
    })();
    match made {
        Ok(()) => report(flags, &image.to_string_lossy(), at, is_new, Some("loop")),
        Err(error) => {
            let _ = fs::remove_file(image);
            if let Some(at) = at.filter(|_| is_new) {
                let _ = fs::remove_dir(at);
            }
            Err(error.into())
        }
    }
}

fn mount(device: &str, at: &Path) -> Result<()> {
    let failed = |e: std::io::Error| Error::io(Code::Output, "cannot mount there", &e).at_path(at.to_string_lossy());
    fs::create_dir_all(at).map_err(failed)?;
    tool::run(
        "mount",
        [std::ffi::OsStr::new("-t"), "ext4".as_ref(), "-o".as_ref(), MOUNT.as_ref(), device.as_ref(), at.as_os_str()],
    )?;
    // Writable for all users with the sticky bit, as /tmp.
    fs::set_permissions(at, fs::Permissions::from_mode(0o1777)).map_err(|e| {
        let _ = unmount(at);
        failed(e)
    })
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path)
        .map_err(|e| Error::io(Code::Input, "cannot use this path", &e).at_path(path.to_string_lossy()))
}

/// Fails if the mount point is in use: its files would be hidden.
fn check_place(at: &Path) -> Result<()> {
    let is_taken = match fs::read_dir(at) {
        Ok(mut entries) => entries.next().is_some(),
        Err(e) => e.kind() != std::io::ErrorKind::NotFound,
    };
    if !is_taken {
        return Ok(());
    }
    Err(Error::new(Code::Input, "the mount point is not an empty folder")
        .at_path(at.to_string_lossy())
        .hint("set another folder with --at"))
}

/// Fails if the disk has too little space, before the image fills it.
fn check_room(image: &Path, bytes: u64) -> Result<()> {
    let folder = image.parent().unwrap_or(Path::new("/"));
    let stat = rustix::fs::statvfs(folder)
        .map_err(|e| Error::io(Code::Input, "cannot use this folder", &e.into()).at_path(folder.to_string_lossy()))?;
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    if bytes < free {
        return Ok(());
    }
    Err(Error::new(Code::Output, format!("only {} MiB are free", free >> 20))
        .at_path(folder.to_string_lossy())
        .hint("give a smaller size, or set another --image"))
}

/// Quotes a path for a shell.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%,".contains(c);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// Escapes a path for fstab(5).
fn in_fstab(path: &str) -> String {
    path.replace('\\', "\\134").replace(' ', "\\040").replace('\t', "\\011").replace('\n', "\\012")
}

fn root_only() -> Result<()> {
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        Ok(())
    } else {
        Err(Error::new(Code::Output, "only root can make and mount a file system").hint("sudo, or --dry-run"))
    }
}

/// Fails if the device is in use or holds data.
fn check(device: &Path, overwrite: bool) -> Result<()> {
    let refuse =
        |what: String, hint: &str| Err(Error::new(Code::Input, what).at_path(device.to_string_lossy()).hint(hint));
    let metadata = fs::metadata(device)
        .map_err(|e| Error::io(Code::Input, "cannot read this device", &e).at_path(device.to_string_lossy()))?;
    if !metadata.file_type().is_block_device() {
        return refuse("not a block device".to_owned(), "name a device, or a size such as 20G");
    }
    let (major, minor) = (rustix::fs::major(metadata.rdev()), rustix::fs::minor(metadata.rdev()));
    let number = format!("{major}:{minor}");
    if let Some(mount) = mounts::all().into_iter().find(|mount| mount.device == (major, minor)) {
        return refuse(format!("mounted at {}", mount.at.display()), "unmount it first, if it is the right device");
    }
    let parts = fs::read_dir(format!("/sys/dev/block/{number}")).into_iter().flatten().flatten();
    if parts.into_iter().any(|part| part.path().join("partition").exists()) {
        return refuse("the device has partitions".to_owned(), "name one of them");
    }
    // The kernel refuses exclusive access to devices used by swap, md, dm or mounts elsewhere.
    if let Err(e) = open(device, OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC, Mode::empty()) {
        return refuse(
            format!("exclusive access failed: {}", std::io::Error::from(e)),
            "stop its user, or run as root",
        );
    }
    let is_empty = std::process::Command::new("blkid").args(["-p", "-o", "export"]).arg(device).output();
    let found = is_empty.map_err(|e| {
        Error::io(Code::Input, "cannot run blkid", &e).hint("install util-linux, or add /usr/sbin to PATH")
    })?;
    // Exit code 2: the device holds nothing.
    if found.status.code() != Some(2) && !overwrite {
        let output = String::from_utf8_lossy(&found.stdout);
        let what = output
            .lines()
            .find_map(|l| l.strip_prefix("TYPE=").or(l.strip_prefix("PTTYPE=")))
            .unwrap_or("something")
            .to_owned();
        return refuse(
            format!("the device holds {what}"),
            "name another device, or add --overwrite if its data may be lost",
        );
    }
    Ok(())
}

/// Parses the size of an image. A number without a unit may be a mistyped device.
fn size(text: &str) -> std::result::Result<u64, String> {
    let has_digit = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    if !has_digit || text.ends_with(|c: char| c.is_ascii_digit()) {
        return Err(format!("'{text}' is neither a device nor a size with a unit; give /dev/sdb1 or 20G"));
    }
    value::size(text, Limits { min: 16 << 20, max: BYTES_MAX, origin: "the most that a file can have" })
}

fn report(flags: &MakeSpillFlags, source: &str, at: Option<&Path>, is_new: bool, loop_option: Option<&str>) -> Outcome {
    let place = at.map_or("DIR".to_owned(), |at| at.to_string_lossy().into_owned());
    let options = loop_option.map_or(MOUNT.to_owned(), |l| format!("{l},{MOUNT}"));
    let fstab = format!("{} {} ext4 {options},nofail 0 0", in_fstab(source), in_fstab(&place));
    let (source_word, place) = (quoted(source), quoted(&place));
    let no_image = loop_option.map(|_| format!("rm {source_word}"));
    let unmount = at.map(|_| format!("umount {place}"));
    // An existing folder is kept.
    let no_folder = is_new.then(|| format!("rmdir {place}"));
    let undo = [unmount, no_folder, no_image].into_iter().flatten().collect::<Vec<_>>().join(" && ");
    let make = format!("mkfs.ext4 {} {source_word}", MAKE.join(" "));
    let mount = format!("mount -t ext4 -o {options} {source_word} {place} && chmod 1777 {place}");
    if flags.json {
        return stdout::print_json(
            &json!({"command": "make-spill", "done": !flags.dry_run, "on": source, "at": at, "make": make,
            "mounted": at.is_some() && !flags.dry_run, "mount": mount, "mount_options": options, "fstab": fstab,
            "undo": undo}),
        );
    }
    let done = if flags.dry_run { "would be made" } else { "is made" };
    let mounts = match at {
        Some(_) if flags.dry_run => format!("  mounted by {mount}\n"),
        Some(_) => String::new(),
        None => format!("  mount it   {mount}\n             (it is not mounted; --at DIR of make-spill does it)\n"),
    };
    let undone = if undo.is_empty() { String::new() } else { format!("  undo       {undo}\n") };
    stdout::print(&format!(
        "A file system for spill {done}: {source}\n  made by    {make}\n{mounts}  /etc/fstab {fstab}\n  use it     yunti \
         run --scratch {place} ..\n{undone}\
         It has no journal: after a crash its contents are unreliable; make it again.\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::{in_fstab, quoted, size};

    #[test]
    fn quotes_names_with_blanks() {
        assert_eq!((quoted("/a/b-1.img"), quoted("/a b'c")), ("/a/b-1.img".to_owned(), "'/a b'\\''c'".to_owned()));
        assert_eq!(in_fstab("/a b\\c"), "/a\\040b\\134c");
    }

    #[test]
    fn parses_sizes() {
        assert_eq!((size("20G"), size("16MiB"), size("16t")), (Ok(20 << 30), Ok(16 << 20), Ok(16 << 40)));
        for (wrong, expected) in [
            ("", "neither"),
            ("G", "neither"),
            ("20", "neither"),
            ("x", "neither"),
            ("1M", "too small"),
            ("99999999999T", "more than 8191P, the most that a file can have"),
            ("-1G", "negative"),
            ("1.5G", "fraction"),
            ("5X", "unknown unit"),
        ] {
            let error = size(wrong).unwrap_err();
            assert!(error.contains(expected) && error.contains("; give"), "{wrong}: {error}");
        }
    }
}
