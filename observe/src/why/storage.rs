//! Causes in the file system and the page cache: what threads wait for in the kernel, and what it does for them.

use super::facts::Facts;
use super::rules::{Finding, has_frame, of_processor, percent, while_processors_are_free};
use crate::answer::bytes;
use crate::target::DiskWait;

/// Threads at a time that wait, from which on it matters: who writes a batch now and then, and waits for it, is not held up by that.
const WAITERS_MIN: f64 = 0.3;

/// Of the time in which there is something to do, that in which threads wait so.
fn waited(facts: &Facts, waits: &[DiskWait]) -> Option<(f64, f64)> {
    use super::waiting::Waiting;
    let waiting = facts.disk_threads(waits);
    let all_disk: f64 = facts.disk_waits.values().sum();
    let busy = facts.busy_threads().max(all_disk + facts.threads_waiting(Waiting::Not));
    (waiting >= WAITERS_MIN).then(|| (waiting, waiting / busy.max(0.01) * while_processors_are_free(facts)))
}

fn place(facts: &Facts) -> String {
    use super::waiting::Waiting;
    facts.waits_in(Waiting::File).map_or_else(String::new, |(name, _)| format!(", in {name}"))
}

pub fn fsync(facts: &Facts) -> Option<Finding> {
    let (waiting, cost) = waited(facts, &[DiskWait::Sync])?;
    Some(Finding {
        cause: "fsync-storm",
        cost,
        sentence: format!("Waiting until data is on the device bounds it: {waiting:.1} threads at a time are in fsync or the like{}.", place(facts)),
        evidence: vec![
            format!("{waiting:.2} threads at a time wait in fsync, fdatasync, msync or synchronous writes"),
            "`yunti observe ext4 io` shows what each costs: data, journal, flushes".to_owned(),
        ],
        cure: "one fsync for many records (group commit), fdatasync where the length stays, files that have their blocks already (fallocate), or a device with a cache that survives".to_owned(),
    })
}

pub fn journal(facts: &Facts) -> Option<Finding> {
    // Who waits for a directory waits for a thread that waits for the journal in it.
    let own = facts.disk_threads(&[DiskWait::Journal]);
    let all = [DiskWait::Journal, DiskWait::Directory];
    let waits = if own > WAITERS_MIN / 3.0 { &all[..] } else { &all[..1] };
    let (waiting, cost) = waited(facts, waits)?;
    Some(Finding {
        cause: "journal",
        cost,
        sentence: format!("The file system's journal bounds it: {waiting:.1} threads at a time wait for a transaction, or for room in it{}.", place(facts)),
        evidence: vec![
            format!("{own:.2} threads at a time wait for the journal, {:.2} for directories that others change", facts.disk_threads(&[DiskWait::Directory])),
            "`yunti observe ext4 io` shows what is written to it; others who fsync on the same file system make it commit".to_owned(),
        ],
        cure: "a larger journal (tune2fs -J size=, 1 GB for many small files), one on a device of its own, no journal for what can be made again; or fewer creations, renames and deletions".to_owned(),
    })
}

pub fn dirty(facts: &Facts) -> Option<Finding> {
    let (waiting, cost) = waited(facts, &[DiskWait::Dirty])?;
    Some(Finding {
        cause: "dirty-throttling",
        cost,
        sentence: format!("The device bounds what it writes: {waiting:.1} threads at a time are held back, since too much is written that is not on it yet{}.", place(facts)),
        evidence: vec![
            format!("{waiting:.2} threads at a time are held back in write() (balance_dirty_pages)"),
            "limits: vm.dirty_ratio, vm.dirty_bytes, of the device /sys/class/bdi/*/max_ratio, of the control group its memory".to_owned(),
        ],
        cure: "write less (compress), to a faster device, or to several; a higher limit only moves the moment, unless writing comes in bursts (vm.dirty_bytes, /sys/class/bdi/*/max_ratio)".to_owned(),
    })
}

/// Of the time in which a process reads directories: calls for the names, and for what stands behind each.
const NAMES: [&str; 6] =
    ["getdents", "iterate_dir", "readdir", "UnixNativeDispatcher.readdir", "ext4_htree", "ext4_dx"];
const STATES: [&str; 9] = [
    "statx",
    "newfstatat",
    "vfs_stat",
    "vfs_fstatat",
    "newlstat",
    "newstat",
    "fstatat64",
    "UnixNativeDispatcher.stat",
    "UnixNativeDispatcher.lstat",
];
const NAMES_MIN: f64 = 0.03;

pub fn directory(facts: &Facts) -> Option<Finding> {
    let names = facts.cpu_share(|frames| has_frame(frames, &NAMES));
    let both = facts.cpu_share(|frames| has_frame(frames, &NAMES) || has_frame(frames, &STATES));
    if names < NAMES_MIN || both < 0.3 {
        return None;
    }
    let own = facts.own_function(|frames| has_frame(frames, &NAMES) || has_frame(frames, &STATES));
    let place = own.map_or_else(String::new, |(name, _)| format!(", above all in {name}"));
    Some(Finding {
        cause: "directory-scan",
        cost: both * of_processor(facts),
        sentence: format!("Looking through directories bounds it: {} of its processor time is spent on listing names and asking for each file's state{place}.", percent(both)),
        evidence: vec![format!("{} listing, {} asking for states of files", percent(names), percent(both - names))],
        cure: "remember what was there (inotify, a list that is kept), directories by day or by hash with fewer files, states only of those that are needed; listing alone tells the type".to_owned(),
    })
}

/// A device with latency wants more than that at once.
const READ_AHEAD_SMALL: u64 = 64 << 10;
const SEQUENTIAL_MIN: f64 = 0.7;
const CAME_BACK_MIN: f64 = 0.3;
/// Of what is brought for the process, what a neighbour brings: less drops nothing that matters.
const NEIGHBOUR_MIN: f64 = 0.25;

pub fn points_to_reads(facts: &Facts) -> bool {
    facts.disk_threads(&[DiskWait::Read, DiskWait::Mapped]) >= WAITERS_MIN
}

pub fn reads(facts: &Facts) -> Option<Finding> {
    let (waiting, cost) = waited(facts, &[DiskWait::Read, DiskWait::Mapped])?;
    let seen = facts.deeper.reads.as_ref().filter(|seen| seen.bytes > 0.0)?;
    let rate = |amount: f64| format!("{}/s", bytes((amount / seen.seconds.max(0.001)) as u64));
    let mut evidence = vec![
        format!(
            "{waiting:.2} threads at a time wait for pages; {} are brought in for it, most of {}",
            rate(seen.bytes),
            seen.file
        ),
        format!("{} of what came had been dropped shortly before", percent(seen.came_back)),
        format!(
            "requests to {}: {} on average, {} of them go on where the last one ended",
            seen.device,
            bytes(seen.request_bytes as u64),
            percent(seen.sequential)
        ),
    ];
    if let Some((name, brought)) = &seen.neighbour {
        evidence.push(format!("{name} brings in {}", rate(*brought)));
    }
    if seen.came_back >= CAME_BACK_MIN {
        let (name, brought) = seen.neighbour.as_ref()?;
        return (brought / seen.bytes >= NEIGHBOUR_MIN).then(|| Finding {
            cause: "cache-thrash",
            cost,
            sentence: format!("The page cache is taken from it: it reads {} again that was there a moment ago, while {name} brings in {}.", rate(seen.bytes * seen.came_back), rate(*brought)),
            evidence,
            cure: format!("{name} gives up what it has read (posix_fadvise DONTNEED, RWF_DONTCACHE, direct I/O), or gets a control group with less memory; or this one gets memory that is its own (memory.min, memory.low)"),
        });
    }
    let read_ahead = seen.read_ahead_bytes?;
    let is_small = read_ahead <= READ_AHEAD_SMALL && seen.request_bytes <= 2.0 * READ_AHEAD_SMALL as f64;
    (seen.sequential >= SEQUENTIAL_MIN && is_small).then(|| Finding {
        cause: "read-ahead-too-small",
        cost,
        sentence: format!("Small requests bound it: {} is read from one end to the other in pieces of {}, each of which waits for {}, whose read-ahead is {}.", seen.file, bytes(seen.request_bytes as u64), seen.device, bytes(read_ahead)),
        evidence,
        cure: format!("blockdev --setra 2048 {} (1 MiB), posix_fadvise(POSIX_FADV_SEQUENTIAL or WILLNEED), or reads of a MiB at a time", seen.device),
    })
}
