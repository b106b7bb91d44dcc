//! Tracepoints by the numbers of tracefs, also if it is not mounted: a mount without a mount point is private to this
//! process, and ends with it.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::os::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd};

use libbpf_rs::{Link, ProgramMut};
use perf_event::Builder;
use perf_event::events::Tracepoint;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

/// Usual mount points.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Attaches a program to a tracepoint. `name`: with its group, as in `filemap/mm_filemap_fault`.
pub fn attach(program: ProgramMut<'_>, name: &str) -> Result<Link> {
    let mut builder = Builder::new(Tracepoint::with_id(number(name)?));
    // Opened on one processor: the program runs for all processors, once.
    let event = builder.any_pid().one_cpu(0).exclude_kernel(false).exclude_hv(false).build()?;
    let link = program.attach_perf_event(event.as_raw_fd()).map_err(Error::other)?;
    // libbpf closes the event with the link.
    let _ = event.into_raw_fd();
    Ok(link)
}

fn number(name: &str) -> Result<u64> {
    let path = format!("events/{name}/id");
    let mounted = PLACES.iter().find_map(|place| openat(CWD, format!("{place}/{path}"), FLAGS, Mode::empty()).ok());
    let file = match mounted {
        Some(file) => file,
        None => openat(unplaced()?.as_fd(), path, FLAGS, Mode::empty())?,
    };
    let mut text = String::new();
    File::from(file).read_to_string(&mut text)?;
    text.trim().parse().map_err(|e| Error::new(ErrorKind::InvalidData, e))
}

const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC);

fn unplaced() -> Result<OwnedFd> {
    let system = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(system.as_fd())?;
    Ok(fsmount(system.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_tracefs_without_a_mount_point() {
        // A mount needs root.
        if let Ok(mount) = unplaced() {
            assert!(openat(mount.as_fd(), "events/filemap", FLAGS, Mode::empty()).is_ok());
            assert!(number("filemap/mm_filemap_add_to_page_cache").is_ok());
            assert!(number("filemap/nothing").is_err());
        }
    }
}
