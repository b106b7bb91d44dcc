//! Measurement of a process that waits for pages of files: reads into the page cache, for it and for others; refaults;
//! and the requests to the device.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use yunti_base::Result;

use crate::why::facts::ReadSummary;
use crate::why::measure::memory;
use yunti_base::mounts;
use yunti_probe::kernel::system::{CacheEvents, FileId, Misses, Operation, Owner, Requests, page_bytes};
use yunti_probe::stopping::{PULSE, Stopping};
use yunti_probe::target::{Process, label};

/// Time of each of the two measurements: cache and requests.
const TIME: Duration = Duration::from_millis(1500);
/// Times a file must have been read before refaults count as its own pages.
const READ_AGAIN: f64 = 1.2;
/// Kernel counter of refaults: pages read again soon after they were evicted.
const REFAULTS: &str = "workingset_refault_file";

/// Measures the reads of a process.
pub fn measure(process: &Process, stopping: &mut Stopping, skips: &mut Vec<String>) -> Result<ReadSummary> {
    // Only misses are used, so skips about hits of writes do not matter.
    let mut events = CacheEvents::start(&mut Vec::new())?;
    let before = refaults();
    let watched = stopping.wait_for_time(TIME, PULSE, || true);
    let mut of_files: HashMap<FileId, u64> = HashMap::new();
    let mut of_others: HashMap<u32, u64> = HashMap::new();
    let mut own = 0;
    events.take_misses(|user, misses| {
        let pages = pages_read(misses);
        if user.pid == process.pid {
            own += pages;
            *of_files.entry(user.file).or_default() += pages;
        } else if user.pid != std::process::id() {
            *of_others.entry(user.pid).or_default() += pages;
        }
    });
    let came_back = refaults().saturating_sub(before) as f64;
    let all = own + of_others.values().sum::<u64>();
    let bytes = |pages: u64| pages as f64 * page_bytes() as f64;
    let neighbour = of_others.into_iter().max_by_key(|(_, pages)| *pages).filter(|(_, pages)| *pages > 0);
    let name = |pid| Process::of(pid).map_or_else(|_| format!("process {pid}"), |process| label(&process));
    let mut summary = ReadSummary {
        seconds: watched.time.as_secs_f64(),
        bytes: bytes(own),
        // The kernel does not report the owner of a refault.
        came_back: came_back / all.max(1) as f64,
        neighbour: neighbour.map(|(pid, pages)| (name(pid), bytes(pages))),
        ..ReadSummary::default()
    };
    let Some((file, _)) = of_files.into_iter().max_by_key(|(_, pages)| *pages) else { return Ok(summary) };
    let mounts = mounts::all();
    let path = events.paths().get(&file).and_then(|path| mounts::seen_at(&mounts, file.device(), path));
    let size = path.as_ref().and_then(|path| fs::metadata(path).ok()).map_or(0, |file| file.len());
    summary.times_read = read_until_now(process) as f64 / size.max(1) as f64;
    if summary.times_read >= READ_AGAIN {
        // Its pages were read before, so the refaults are its own. A neighbour's first reads must not hide them.
        summary.came_back = (came_back / own.max(1) as f64).min(1.0);
    }
    summary.holder = memory::holder(process);
    summary.file = path.map_or_else(|| format!("inode {}", file.inode), |path| path.display().to_string());
    drop(events);
    let (major, minor) = file.device();
    summary.device = mounts
        .iter()
        .find(|mount| mount.device == file.device())
        .map_or_else(|| format!("{major}:{minor}"), |mount| mount.source.clone());
    summary.read_ahead_bytes = read_ahead_bytes(major, minor);
    // A file system without a device has no requests.
    if major != 0
        && let Some(requests) = yunti_probe::answer::or_skip(
            skips,
            "requests to the device",
            Requests::start(&summary.device, major, minor),
        )
    {
        (summary.request_bytes, summary.sequential) = request_sizes(requests, stopping);
    }
    Ok(summary)
}

/// Returns the bytes that a process has read from devices since it began.
fn read_until_now(process: &Process) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/io", process.pid)).unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.parse().ok()).unwrap_or(0)
}

fn pages_read(misses: Misses) -> u64 {
    misses.read + misses.mapped + misses.read_ahead
}

/// Returns the mean size of read requests, and the share that begin where the last one of the same file ended.
fn request_sizes(mut requests: Requests, stopping: &mut Stopping) -> (f64, f64) {
    let mut ends: HashMap<Owner, u64> = HashMap::new();
    let (mut count, mut bytes, mut sequential) = (0u64, 0u64, 0u64);
    stopping.wait_for_time(TIME, PULSE, || {
        requests.collect(|request| {
            if request.operation != Operation::Read || !matches!(request.owner, Owner::File(_)) {
                return;
            }
            let end = request.sector + u64::from(request.bytes) / 512;
            if let Some(last) = ends.insert(request.owner, end) {
                count += 1;
                bytes += u64::from(request.bytes);
                sequential += u64::from(last == request.sector);
            }
        });
        true
    });
    (bytes as f64 / count.max(1) as f64, sequential as f64 / count.max(1) as f64)
}

/// Returns the read-ahead of a device, or of the disk that it is a partition of.
fn read_ahead_bytes(major: u32, minor: u32) -> Option<u64> {
    let of =
        |place: &str| fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/{place}queue/read_ahead_kb")).ok();
    let text = of("").or_else(|| of("../"))?;
    Some(text.trim().parse::<u64>().ok()? * 1024)
}

fn refaults() -> u64 {
    let text = fs::read_to_string("/proc/vmstat").unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix(REFAULTS)?.trim().parse().ok()).unwrap_or(0)
}
