//! Causes in the file system and the page cache, by the waits of threads in the kernel.

use crate::why::account::waiting::Waiting;
use crate::why::causes::finding::{Finding, has_frame, of_processor, percent, while_processors_are_free};
use crate::why::facts::Facts;
use yunti_probe::answer::bytes;
use yunti_probe::target::{DISK_WAITS, DiskWait};

/// Waiting threads at a time, on average, from which on they count. A thread that writes a batch now and then waits for
/// it without being held up.
const WAITERS_MIN: f64 = 0.3;

/// Returns the threads in these waits, and their cost as a share of the busy time; `None` if too few wait.
fn waited(facts: &Facts, waits: &[DiskWait]) -> Option<(f64, f64)> {
    let waiting = facts.disk_threads(waits);
    let all_disk: f64 = facts.disk_waits.values().sum();
    let busy = facts.busy_threads().max(all_disk + facts.threads_waiting(Waiting::Not));
    (waiting >= WAITERS_MIN * facts.unhindered())
        .then(|| (waiting, waiting / busy.max(0.01) * while_processors_are_free(facts)))
}

fn place(facts: &Facts) -> String {
    facts.in_place(Waiting::File)
}

pub fn fsync(facts: &Facts) -> Option<Finding> {
    let (waiting, cost) = waited(facts, &[DiskWait::Sync])?;
    Some(Finding {
        cause: "fsync-storm",
        cost,
        sentence: format!(
            "Waiting for fsync bounds it: {waiting:.1} threads at a time wait until data is on the device{}.",
            place(facts)
        ),
        evidence: vec![
            format!("{waiting:.2} threads at a time wait in fsync, fdatasync, msync or synchronous writes"),
            "`yunti machine ext4 io` shows the cost of each: data, journal, flushes".to_owned(),
        ],
        cure: "one fsync for many records (group commit), fdatasync if the length stays the same, preallocated files \
             (fallocate), or a device with a power-protected cache"
            .to_owned(),
    })
}

pub fn journal(facts: &Facts) -> Option<Finding> {
    // A thread that waits for a directory waits for another one there, which waits for the journal.
    let own = facts.disk_threads(&[DiskWait::Journal]);
    let all = [DiskWait::Journal, DiskWait::Directory];
    let waits = if own > WAITERS_MIN / 3.0 { &all[..] } else { &all[..1] };
    let (waiting, cost) = waited(facts, waits)?;
    Some(Finding {
        cause: "journal",
        cost,
        sentence: format!(
            "The file system's journal bounds it: {waiting:.1} threads at a time wait for a transaction, or for \
             space in it{}.",
            place(facts)
        ),
        evidence: vec![
            format!(
                "{own:.2} threads at a time wait for the journal, {:.2} for directories that other threads change",
                facts.disk_threads(&[DiskWait::Directory])
            ),
            "`yunti machine ext4 io` shows the writes to it; an fsync of any process on the same file system makes \
             it commit"
                .to_owned(),
        ],
        cure: "a larger journal (tune2fs -J size=, 1 GB for many small files), a journal on a device of its own, no \
             journal for data that can be recreated; or fewer creations, renames and deletions"
            .to_owned(),
    })
}

pub fn dirty(facts: &Facts) -> Option<Finding> {
    let (waiting, cost) = waited(facts, &[DiskWait::Dirty])?;
    Some(Finding {
        cause: "dirty-throttling",
        cost,
        sentence: format!(
            "Write-back to the device bounds it: {waiting:.1} threads at a time are throttled, because too much \
             dirty data is not on it yet{}.",
            place(facts)
        ),
        evidence: vec![
            format!("{waiting:.2} threads at a time are throttled in write() (balance_dirty_pages)"),
            "limits: vm.dirty_ratio, vm.dirty_bytes, for the device /sys/class/bdi/*/max_ratio, for the control group \
             its memory"
                .to_owned(),
        ],
        cure: "write less (compress), to a faster device, or to several; a higher limit helps only if writes come in \
             bursts (vm.dirty_bytes, /sys/class/bdi/*/max_ratio)"
            .to_owned(),
    })
}

/// Kernel functions that list names in a directory.
const NAMES: [&str; 6] =
    ["getdents", "iterate_dir", "readdir", "UnixNativeDispatcher.readdir", "ext4_htree", "ext4_dx"];
/// Kernel functions that read a file's metadata.
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
/// Share of processor time in listing names from which on directories count.
const NAMES_MIN: f64 = 0.03;

pub fn directory(facts: &Facts) -> Option<Finding> {
    let names = facts.cpu_share(|frames| has_frame(frames, &NAMES));
    let both = facts.cpu_share(|frames| has_frame(frames, &NAMES) || has_frame(frames, &STATES));
    // Threads wait for directories that are not cached.
    let (waiting, of_waiting) = waited(facts, &[DiskWait::Names]).unwrap_or_default();
    let computing = if both < 0.3 { 0.0 } else { both * of_processor(facts) };
    if names < NAMES_MIN || computing + of_waiting <= 0.0 {
        return None;
    }
    let own = facts.own_function(|frames| has_frame(frames, &NAMES) || has_frame(frames, &STATES));
    let place = own.map_or_else(String::new, |(name, _)| format!(", above all in {name}"));
    Some(Finding {
        cause: "directory-scan",
        cost: (computing + of_waiting).min(1.0),
        sentence: format!(
            "Scanning directories bounds it: {} of its processor time is spent on listing names and on stat \
             calls{place}.",
            percent(both)
        ),
        evidence: vec![
            format!("{} listing names, {} stat calls", percent(names), percent(both - names)),
            format!("{waiting:.2} threads at a time wait for names and metadata to be read"),
        ],
        cure: "remember the entries (inotify, a stored list), split directories by day or by hash, call stat only for \
             files that need it; the listing already has the type"
            .to_owned(),
    })
}

/// Bytes of read-ahead that are too few for a device with latency.
const READ_AHEAD_SMALL: u64 = 64 << 10;
/// Share of sequential requests from which on a file is read in order.
const SEQUENTIAL_MIN: f64 = 0.7;
/// Share of refaults from which on the page cache thrashes.
const REFAULTS_MIN: f64 = 0.3;
/// A neighbour's reads as a share of the process's own, or its memory as a share of all, from which on it evicts pages.
const NEIGHBOUR_MIN: f64 = 0.25;

/// Part of the waits' cost that a limit has, so that a cause of the waits themselves stands first.
const OF_LIMIT: f64 = 0.95;

/// Reads and writes that wait because a control group limits them.
pub fn limit(facts: &Facts) -> Option<Finding> {
    let waits = DISK_WAITS.map(|(wait, _)| wait);
    let (waiting, cost) = waited(facts, &waits)?;
    let limits = &facts.outside.io_limits;
    let first = limits.first()?;
    let group = first.group.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Some(Finding {
        cause: "io-limit",
        cost: cost * OF_LIMIT,
        sentence: format!(
            "The limit of its control group {group} on reads and writes bounds it: {waiting:.1} threads at a time wait \
             for device {}, limited to {}{}.",
            first.device,
            first.limit,
            place(facts)
        ),
        evidence: limits.iter().map(|it| format!("{}: {} {}", it.group.display(), it.device, it.limit)).collect(),
        cure: "a higher limit (io.max; blkio.throttle.* of version 1), or fewer and larger reads and writes".to_owned(),
    })
}

/// Returns true if enough threads wait for pages of files to measure reads.
pub fn needs_reads(facts: &Facts) -> bool {
    facts.disk_threads(&[DiskWait::Read, DiskWait::Mapped]) >= WAITERS_MIN * facts.unhindered()
}

pub fn reads(facts: &Facts) -> Option<Finding> {
    let (waiting, cost) = waited(facts, &[DiskWait::Read, DiskWait::Mapped])?;
    let reads = facts.details.reads.as_ref().filter(|reads| reads.bytes > 0.0)?;
    let rate = |amount: f64| format!("{}/s", bytes((amount / reads.seconds.max(0.001)) as u64));
    let mut evidence = vec![
        format!(
            "{waiting:.2} threads at a time wait for pages; {} are read for it, mostly of {}",
            rate(reads.bytes),
            reads.file
        ),
        format!("{} of these pages had been evicted shortly before", percent(reads.came_back)),
        format!(
            "requests to {}: {} on average, {} of them begin where the last one ended",
            reads.device,
            bytes(reads.request_bytes as u64),
            percent(reads.sequential)
        ),
    ];
    if let Some((name, amount)) = &reads.neighbour {
        evidence.push(format!("{name} reads {}", rate(*amount)));
    }
    if reads.came_back >= REFAULTS_MIN {
        let reader = reads.neighbour.as_ref().filter(|(_, amount)| amount / reads.bytes >= NEIGHBOUR_MIN);
        let holder = reads.holder.as_ref().filter(|(_, held, all)| held / all >= NEIGHBOUR_MIN);
        if reader.is_none() {
            let (name, held, all) = holder?;
            return Some(Finding {
                cause: "cache-thrash",
                cost,
                sentence: format!(
                    "Its pages are evicted from the page cache: it reads {} again that was cached a moment ago, while \
                     {name} holds {} of {} of memory.",
                    rate(reads.bytes * reads.came_back),
                    bytes(*held as u64),
                    bytes(*all as u64)
                ),
                evidence,
                cure: format!(
                    "give {name} a control group with less memory, or this process more (memory.max, \
                     memory.limit_in_bytes; memory.min, memory.low)"
                ),
            });
        }
        let (name, amount) = reader?;
        return Some(Finding {
            cause: "cache-thrash",
            cost,
            sentence: format!(
                "Its pages are evicted from the page cache: it reads {} again that was cached a moment ago, while \
                 {name} reads {}.",
                rate(reads.bytes * reads.came_back),
                rate(*amount)
            ),
            evidence,
            cure: format!(
                "let {name} drop the pages that it has read (posix_fadvise DONTNEED, RWF_DONTCACHE, direct I/O), give \
                 it a control group with less memory, or reserve memory for this process (memory.min, memory.low)"
            ),
        });
    }
    let read_ahead = reads.read_ahead_bytes?;
    // Two adjacent requests may be merged into one.
    let is_small =
        reads.request_bytes <= if read_ahead <= READ_AHEAD_SMALL { 2.0 } else { 1.0 } * READ_AHEAD_SMALL as f64;
    if reads.sequential < SEQUENTIAL_MIN || !is_small {
        return None;
    }
    let pieces = format!(
        "Small requests bound it: {} is read sequentially in pieces of {}, each of which waits for {}",
        reads.file,
        bytes(reads.request_bytes as u64),
        reads.device
    );
    let (sentence, cure) = if read_ahead <= READ_AHEAD_SMALL {
        (
            format!("{pieces}, whose read-ahead is {}.", bytes(read_ahead)),
            format!(
                "blockdev --setra 2048 {} (1 MiB), posix_fadvise(POSIX_FADV_SEQUENTIAL or WILLNEED), or reads of a \
                 MiB at a time",
                reads.device
            ),
        )
    } else {
        (
            format!("{pieces}: its read-ahead of {} is not used.", bytes(read_ahead)),
            "remove POSIX_FADV_RANDOM or MADV_RANDOM from sequential reads; POSIX_FADV_SEQUENTIAL or WILLNEED; reads \
             of a MiB at a time"
                .to_owned(),
        )
    };
    Some(Finding { cause: "read-ahead-too-small", cost, sentence, evidence, cure })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::facts::{Details, ReadSummary, ThreadFacts};

    /// One thread that waits for pages all the time.
    fn facts(reads: ReadSummary) -> Facts {
        let thread = ThreadFacts { shares: [(Waiting::File, 1.0)].into(), ..ThreadFacts::default() };
        let reads = ReadSummary { seconds: 1.0, bytes: 1e7, device: "/dev/sdb".to_owned(), ..reads };
        Facts {
            seconds: 10.0,
            processors: 2.0,
            threads: vec![thread],
            disk_waits: [(DiskWait::Read, 1.0)].into(),
            details: Details { reads: Some(reads), ..Details::default() },
            ..Facts::default()
        }
    }

    fn cause(reads: ReadSummary) -> Option<&'static str> {
        super::reads(&facts(reads)).map(|found| found.cause)
    }

    #[test]
    fn small_sequential_requests() {
        let of = |request_bytes: f64, sequential, read_ahead: u64| {
            cause(ReadSummary {
                request_bytes,
                sequential,
                read_ahead_bytes: Some(read_ahead),
                ..ReadSummary::default()
            })
        };
        assert_eq!(of(8192.0, 0.95, 8192), Some("read-ahead-too-small"));
        // Read-ahead that is not used; that is used; and random reads.
        assert_eq!(of(65536.0, 0.95, 1 << 20), Some("read-ahead-too-small"));
        assert_eq!(of(131072.0, 0.95, 131072), None);
        assert_eq!(of(4096.0, 0.1, 8192), None);
    }

    #[test]
    fn cache_thrash_needs_a_neighbour() {
        let reads = ReadSummary { came_back: 0.9, ..ReadSummary::default() };
        let name = |what: f64| Some(("backup".to_owned(), what));
        assert_eq!(cause(ReadSummary { neighbour: name(1e7), ..reads.clone() }), Some("cache-thrash"));
        let holds = |held: f64| ReadSummary { holder: Some(("hog".to_owned(), held, 100e6)), ..reads.clone() };
        assert_eq!(cause(holds(60e6)), Some("cache-thrash"));
        // Its own working set is too large for the memory.
        assert_eq!(cause(holds(5e6)), None);
        assert_eq!(cause(reads), None);
    }
}
