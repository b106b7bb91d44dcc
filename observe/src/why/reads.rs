//! A closer look at a process that waits for pages of files: what is brought into the page cache for it and for others, whether it was there shortly
//! before, and how the device is asked for it.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use yunti_base::Result;

use super::facts::ReadsSeen;
use super::memory;
use yunti_probe::kernel::system::{CacheEvents, FileId, Misses, Operation, Owner, Requests, page_bytes};
use yunti_probe::mounts;
use yunti_probe::stopping::{PULSE, Stopping};
use yunti_probe::target::{Process, label};

/// Of each of the two looks.
const TIME: Duration = Duration::from_millis(1500);
/// As often must a file have been brought, so that its pages are such that come back.
const READ_AGAIN: f64 = 1.2;
/// Counted by the kernel: pages that came back soon after they were dropped.
const REFAULTS: &str = "workingset_refault_file";

pub fn look(process: &Process, stopping: &mut Stopping, skips: &mut Vec<String>) -> Result<ReadsSeen> {
    // Hits are not asked for: whether those of writes are seen does not matter.
    let mut events = CacheEvents::start(&mut Vec::new())?;
    let before = refaults();
    let watched = stopping.wait_for_time(TIME, PULSE, || true);
    let mut of_files: HashMap<FileId, u64> = HashMap::new();
    let mut of_others: HashMap<u32, u64> = HashMap::new();
    let mut own = 0;
    events.take_misses(|user, misses| {
        let brought = brought(misses);
        if user.pid == process.pid {
            own += brought;
            *of_files.entry(user.file).or_default() += brought;
        } else if user.pid != std::process::id() {
            *of_others.entry(user.pid).or_default() += brought;
        }
    });
    let came_back = refaults().saturating_sub(before) as f64;
    let all = own + of_others.values().sum::<u64>();
    let bytes = |pages: u64| pages as f64 * page_bytes() as f64;
    let neighbour = of_others.into_iter().max_by_key(|(_, pages)| *pages).filter(|(_, pages)| *pages > 0);
    let name = |pid| Process::of(pid).map_or_else(|_| format!("process {pid}"), |process| label(&process));
    let mut seen = ReadsSeen {
        seconds: watched.time.as_secs_f64(),
        bytes: bytes(own),
        // Whose pages came back, the kernel does not tell.
        came_back: came_back / all.max(1) as f64,
        neighbour: neighbour.map(|(pid, pages)| (name(pid), bytes(pages))),
        ..ReadsSeen::default()
    };
    let Some((file, _)) = of_files.into_iter().max_by_key(|(_, pages)| *pages) else { return Ok(seen) };
    let mounts = mounts::all();
    let path = events.paths().get(&file).and_then(|path| mounts::seen_at(&mounts, file.device(), path));
    let size = path.as_ref().and_then(|path| fs::metadata(path).ok()).map_or(0, |file| file.len());
    seen.times_read = read_until_now(process) as f64 / size.max(1) as f64;
    if seen.times_read >= READ_AGAIN {
        // Its pages have come before, so it is them that come back: a neighbour that brings much for the first time does not hide it.
        seen.came_back = (came_back / own.max(1) as f64).min(1.0);
    }
    seen.holder = memory::holder(process);
    seen.file = path.map_or_else(|| format!("inode {}", file.inode), |path| path.display().to_string());
    drop(events);
    let (major, minor) = file.device();
    seen.device = mounts
        .iter()
        .find(|mount| mount.device == file.device())
        .map_or_else(|| format!("{major}:{minor}"), |mount| mount.source.clone());
    seen.read_ahead_bytes = read_ahead_bytes(major, minor);
    // A file system of no device has no requests.
    if major != 0
        && let Some(requests) =
            yunti_probe::answer::or_skip(skips, "requests to the device", Requests::start(&seen.device, major, minor))
    {
        (seen.request_bytes, seen.sequential) = requested(requests, stopping);
    }
    Ok(seen)
}

/// From the device, since it began.
fn read_until_now(process: &Process) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/io", process.pid)).unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.parse().ok()).unwrap_or(0)
}

fn brought(misses: Misses) -> u64 {
    misses.read + misses.mapped + misses.read_ahead
}

/// On average, and the share that goes on where the last one of the same file has ended.
fn requested(mut requests: Requests, stopping: &mut Stopping) -> (f64, f64) {
    let mut ends: HashMap<Owner, u64> = HashMap::new();
    let (mut count, mut bytes, mut goes_on) = (0u64, 0u64, 0u64);
    stopping.wait_for_time(TIME, PULSE, || {
        requests.collect(|request| {
            if request.operation != Operation::Read || !matches!(request.owner, Owner::File(_)) {
                return;
            }
            let end = request.sector + u64::from(request.bytes) / 512;
            if let Some(last) = ends.insert(request.owner, end) {
                count += 1;
                bytes += u64::from(request.bytes);
                goes_on += u64::from(last == request.sector);
            }
        });
        true
    });
    (bytes as f64 / count.max(1) as f64, goes_on as f64 / count.max(1) as f64)
}

/// Of the device, or of the disk that it is a part of.
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
