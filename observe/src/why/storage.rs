//! Causes in the file system and the page cache: what threads wait for in the kernel, and what it does for them.

use super::facts::Facts;
use super::rules::{Finding, has_frame, of_processor, percent, while_processors_are_free};
use yunti_probe::answer::bytes;
use yunti_probe::target::DiskWait;

/// Threads at a time that wait, from which on it matters: who writes a batch now and then, and waits for it, is not held up by that.
const WAITERS_MIN: f64 = 0.3;

/// Of the time in which there is something to do, that in which threads wait so.
fn waited(facts: &Facts, waits: &[DiskWait]) -> Option<(f64, f64)> {
    use super::waiting::Waiting;
    let waiting = facts.disk_threads(waits);
    let all_disk: f64 = facts.disk_waits.values().sum();
    let busy = facts.busy_threads().max(all_disk + facts.threads_waiting(Waiting::Not));
    (waiting >= WAITERS_MIN * facts.unhindered())
        .then(|| (waiting, waiting / busy.max(0.01) * while_processors_are_free(facts)))
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
            "`yunti machine ext4 io` shows what each costs: data, journal, flushes".to_owned(),
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
            "`yunti machine ext4 io` shows what is written to it; others who fsync on the same file system make it commit".to_owned(),
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
    // Directories that are in no cache are waited for.
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
        sentence: format!("Looking through directories bounds it: {} of its processor time is spent on listing names and asking for each file's state{place}.", percent(both)),
        evidence: vec![
            format!("{} listing, {} asking for states of files", percent(names), percent(both - names)),
            format!("{waiting:.2} threads at a time wait until names and states are read"),
        ],
        cure: "remember what was there (inotify, a list that is kept), directories by day or by hash with fewer files, states only of those that are needed; listing alone tells the type".to_owned(),
    })
}

/// A device with latency wants more than that at once.
const READ_AHEAD_SMALL: u64 = 64 << 10;
const SEQUENTIAL_MIN: f64 = 0.7;
const CAME_BACK_MIN: f64 = 0.3;
/// Of what is brought for the process, what a neighbour brings, or of memory what it holds: less drops nothing that matters.
const NEIGHBOUR_MIN: f64 = 0.25;

pub fn points_to_reads(facts: &Facts) -> bool {
    facts.disk_threads(&[DiskWait::Read, DiskWait::Mapped]) >= WAITERS_MIN * facts.unhindered()
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
        let reader = seen.neighbour.as_ref().filter(|(_, brought)| brought / seen.bytes >= NEIGHBOUR_MIN);
        let holder = seen.holder.as_ref().filter(|(_, held, all)| held / all >= NEIGHBOUR_MIN);
        if reader.is_none() {
            let (name, held, all) = holder?;
            return Some(Finding {
                cause: "cache-thrash",
                cost,
                sentence: format!(
                    "The page cache is taken from it: it reads {} again that was there a moment ago, while {name} holds {} of {} of memory.",
                    rate(seen.bytes * seen.came_back),
                    bytes(*held as u64),
                    bytes(*all as u64)
                ),
                evidence,
                cure: format!(
                    "{name} gets a control group with less memory of its own, or this one more (memory.max, memory.limit_in_bytes; memory.min, memory.low)"
                ),
            });
        }
        let (name, brought) = reader?;
        return Some(Finding {
            cause: "cache-thrash",
            cost,
            sentence: format!(
                "The page cache is taken from it: it reads {} again that was there a moment ago, while {name} brings in {}.",
                rate(seen.bytes * seen.came_back),
                rate(*brought)
            ),
            evidence,
            cure: format!(
                "{name} gives up what it has read (posix_fadvise DONTNEED, RWF_DONTCACHE, direct I/O), or gets a control group with less memory; or this one gets memory that is its own (memory.min, memory.low)"
            ),
        });
    }
    let read_ahead = seen.read_ahead_bytes?;
    // Two requests may lie side by side and become one.
    let is_small =
        seen.request_bytes <= if read_ahead <= READ_AHEAD_SMALL { 2.0 } else { 1.0 } * READ_AHEAD_SMALL as f64;
    if seen.sequential < SEQUENTIAL_MIN || !is_small {
        return None;
    }
    let pieces = format!(
        "Small requests bound it: {} is read from one end to the other in pieces of {}, each of which waits for {}",
        seen.file,
        bytes(seen.request_bytes as u64),
        seen.device
    );
    let (sentence, cure) = if read_ahead <= READ_AHEAD_SMALL {
        (
            format!("{pieces}, whose read-ahead is {}.", bytes(read_ahead)),
            format!(
                "blockdev --setra 2048 {} (1 MiB), posix_fadvise(POSIX_FADV_SEQUENTIAL or WILLNEED), or reads of a MiB at a time",
                seen.device
            ),
        )
    } else {
        (
            format!("{pieces}: its read-ahead of {} is not used.", bytes(read_ahead)),
            "no POSIX_FADV_RANDOM or MADV_RANDOM for what is read in order; POSIX_FADV_SEQUENTIAL or WILLNEED; reads of a MiB at a time".to_owned(),
        )
    };
    Some(Finding { cause: "read-ahead-too-small", cost, sentence, evidence, cure })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::facts::{Deeper, ReadsSeen, ThreadFacts};
    use crate::why::waiting::Waiting;

    /// One thread that waits for pages all the time.
    fn facts(reads: ReadsSeen) -> Facts {
        let thread = ThreadFacts { shares: [(Waiting::File, 1.0)].into(), ..ThreadFacts::default() };
        let reads = ReadsSeen { seconds: 1.0, bytes: 1e7, device: "/dev/sdb".to_owned(), ..reads };
        Facts {
            seconds: 10.0,
            processors: 2.0,
            threads: vec![thread],
            disk_waits: [(DiskWait::Read, 1.0)].into(),
            deeper: Deeper { reads: Some(reads), ..Deeper::default() },
            ..Facts::default()
        }
    }

    fn cause(reads: ReadsSeen) -> Option<&'static str> {
        super::reads(&facts(reads)).map(|found| found.cause)
    }

    #[test]
    fn small_requests_in_order() {
        let of = |request_bytes: f64, sequential, read_ahead: u64| {
            cause(ReadsSeen { request_bytes, sequential, read_ahead_bytes: Some(read_ahead), ..ReadsSeen::default() })
        };
        assert_eq!(of(8192.0, 0.95, 8192), Some("read-ahead-too-small"));
        // It is there and is not used; it is used; there is no order.
        assert_eq!(of(65536.0, 0.95, 1 << 20), Some("read-ahead-too-small"));
        assert_eq!(of(131072.0, 0.95, 131072), None);
        assert_eq!(of(4096.0, 0.1, 8192), None);
    }

    #[test]
    fn who_takes_the_cache() {
        let seen = ReadsSeen { came_back: 0.9, ..ReadsSeen::default() };
        let name = |what: f64| Some(("backup".to_owned(), what));
        assert_eq!(cause(ReadsSeen { neighbour: name(1e7), ..seen.clone() }), Some("cache-thrash"));
        let holds = |held: f64| ReadsSeen { holder: Some(("hog".to_owned(), held, 100e6)), ..seen.clone() };
        assert_eq!(cause(holds(60e6)), Some("cache-thrash"));
        // Its own set is too large for what there is.
        assert_eq!(cause(holds(5e6)), None);
        assert_eq!(cause(seen), None);
    }
}
