//! Page-cache requests, and the pages brought in for them: `bpf/system/cache.bpf.c`.

use std::collections::HashMap;
use std::fs::File;
use std::ops::AddAssign;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::Instant;

use libbpf_rs::{Link, MapCore, MapFlags, Object, RingBuffer};
use yunti_base::{Code, Error, Result};

use crate::programs::tracepoint;
use crate::programs::{Records, first_namespace, half, load_for, lookup, map, program, put, ring, word};

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/cache.bpf.o"));

/// Programs that run all the time, with their tracepoints.
const ADDED: (&str, &str) = ("added", "filemap/mm_filemap_add_to_page_cache");
const OF_MISSES: [(&str, &str); 6] = [
    ("fault", "mm_filemap_fault"),
    ("sync_ra", "page_cache_sync_ra"),
    ("async_ra", "page_cache_async_ra"),
    ("ra_unbounded", "page_cache_ra_unbounded"),
    ("ra_order", "page_cache_ra_order"),
    ("dropped", "mm_filemap_delete_from_page_cache"),
];
/// Index of the program of reads, whose cost is measured.
const READ: usize = 0;
/// Programs that run during samples, with their functions: reads and mappings of all file systems, writes of ext4.
const OF_READS: [(&str, &str); 2] = [("read", "mm_filemap_get_pages"), ("mapped", "mm_filemap_map_pages")];
const OF_WRITES: [(&str, &str); 3] = [
    ("wrote_delayed", "ext4_da_write_end"),
    ("wrote_at_once", "ext4_write_end"),
    ("wrote_journalled", "ext4_journalled_write_end"),
];

/// Entries that one call takes. The buffer of each call is fresh memory, and mostly few entries fill it.
const BATCH: u32 = 512;
const HELD_UP_UNIT: f64 = 1024.0;
/// Index in `sums`: runs of each sampling program, in the order of `OF_READS` and `OF_WRITES`.
const EVENTS: usize = 9;
const SAMPLED_MAX: usize = OF_READS.len() + OF_WRITES.len();
/// Runs a second. A program that runs less often stays attached between samples: its early returns cost less than
/// patching the kernel's code twice a sample.
const RARE: f64 = 10_000.0;
/// Turns of measuring a sampling program's cost, with it and without; the best of each counts.
const TURNS: usize = 6;
const READS_A_TURN: u32 = 2000;
const EVENT_NS: std::ops::RangeInclusive<f64> = 20.0..=2000.0;
/// Bytes of the length before a name.
const NAME: usize = 4;

/// Returns the page size in bytes; counts are in pages.
pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// File and process of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct User {
    /// File.
    pub file: FileId,
    /// Process.
    pub pid: u32,
}

/// File by device and inode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    /// Device number of the file system, in the kernel's form.
    pub device: u32,
    /// Inode.
    pub inode: u64,
}

impl FileId {
    /// Returns the device number as major and minor.
    pub fn device(self) -> (u32, u32) {
        (self.device >> 20, self.device & 0xf_ffff)
    }
}

/// Pages missed, read ahead and dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Misses {
    /// Pages missed by reads.
    pub read: u64,
    /// Pages missed by accesses through mappings.
    pub mapped: u64,
    /// Pages missed by writes.
    pub written: u64,
    /// Pages read ahead.
    pub read_ahead: u64,
    /// Pages dropped, by the process that dropped them.
    pub dropped: u64,
}

impl AddAssign for Misses {
    fn add_assign(&mut self, more: Misses) {
        self.read += more.read;
        self.mapped += more.mapped;
        self.written += more.written;
        self.read_ahead += more.read_ahead;
        self.dropped += more.dropped;
    }
}

/// Pages touched by requests within a sample, and the misses among them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Touches {
    /// Pages read.
    pub read: u64,
    /// Pages accessed through mappings.
    pub mapped: u64,
    /// Pages written.
    pub written: u64,
    /// Misses among the pages read.
    pub read_missed: u64,
    /// Misses among the pages mapped.
    pub mapped_missed: u64,
    /// Misses among the pages written.
    pub written_missed: u64,
    /// Pages that would have been read too if the programs took no time.
    pub read_held_up: f64,
    /// The same for mapped pages.
    pub mapped_held_up: f64,
    /// The same for written pages.
    pub written_held_up: f64,
}

impl Touches {
    fn of(bytes: &[u8]) -> Touches {
        Touches {
            read: word(bytes, 0),
            mapped: word(bytes, 1),
            written: word(bytes, 2),
            read_missed: word(bytes, 3),
            mapped_missed: word(bytes, 4),
            written_missed: word(bytes, 5),
            read_held_up: word(bytes, 6) as f64 / HELD_UP_UNIT,
            mapped_held_up: word(bytes, 7) as f64 / HELD_UP_UNIT,
            written_held_up: word(bytes, 8) as f64 / HELD_UP_UNIT,
        }
    }
}

/// Folio by file and position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Folio {
    /// File.
    pub file: FileId,
    /// Position in pages.
    pub index: u64,
}

/// Event of a folio that was read ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Added at this frame, with this number of pages; it stands for `weight` folios.
    Came { frame: u64, pages: u32, weight: u32 },
    /// Dropped, after its use or before.
    Gone { was_used: bool },
}

/// Programs at work, detached when dropped.
pub struct CacheEvents {
    // Dropped before the object that they belong to.
    _links: Vec<Link>,
    /// Links of the programs in `sampled` that are attached.
    of_samples: Vec<Option<Link>>,
    ring: RingBuffer<'static>,
    records: Records,
    object: Object,
    sample: u32,
    followed_one_of: u32,
    events_before: u64,
    /// Time and runs of each sampling program at the begin of the sample; `None` without one.
    begun: Option<(Instant, [u64; SAMPLED_MAX])>,
    /// Nanoseconds that a run of a sampling program costs.
    event_ns: f64,
    /// Sampling programs that this kernel can attach.
    sampled: Vec<(&'static str, &'static str)>,
}

impl CacheEvents {
    /// Attaches the programs. Parts that fail are added to `skips`.
    pub fn start(skips: &mut Vec<String>) -> Result<CacheEvents> {
        first_namespace()?;
        let mut sampled = [OF_READS.to_vec(), OF_WRITES.to_vec()].concat();
        let loaded = |sampled: &[(&str, &str)]| {
            let names = OF_MISSES.iter().chain(sampled).map(|(name, _)| *name).chain([ADDED.0]);
            load_for(IMAGE, "the page cache", &[page_bytes().trailing_zeros()], &names.collect::<Vec<_>>())
        };
        // A program without its function cannot be loaded.
        let object = match loaded(&sampled) {
            Ok(object) => object,
            Err(e) => {
                sampled = OF_READS.to_vec();
                let object = loaded(&sampled)?;
                skips.push(format!("hits of writes: {e}"));
                object
            }
        };
        let (ring, records) = ring(&object, "events")?;
        let mut events = CacheEvents {
            _links: Vec::new(),
            of_samples: sampled.iter().map(|_| None).collect(),
            ring,
            records,
            object,
            sample: 0,
            followed_one_of: 0,
            events_before: 0,
            begun: None,
            event_ns: *EVENT_NS.end(),
            sampled,
        };
        for (name, tracepoint) in OF_MISSES {
            events._links.push(events.attach(name, tracepoint)?);
        }
        let added = tracepoint::attach(program(&events.object, ADDED.0)?, ADDED.1);
        events._links.push(added.map_err(|e| needed(ADDED.1, &e))?);
        events.measure()?;
        Ok(events)
    }

    fn attach(&self, name: &str, tracepoint: &str) -> Result<Link> {
        program(&self.object, name)?.attach_raw_tracepoint(tracepoint).map_err(|e| needed(tracepoint, &e))
    }

    /// Measures the cost of a sampling program by reads of a page of this program's file.
    fn measure(&mut self) -> Result<()> {
        let failed = |e: std::io::Error| Error::io(Code::Internal, "/proc/self/exe", &e);
        let file = File::open("/proc/self/exe").map_err(failed)?;
        let mut page = vec![0; page_bytes() as usize];
        let mut read = |file: &File| {
            let begun = Instant::now();
            (0..READS_A_TURN).try_for_each(|_| file.read_at(&mut page, 0).map(|_| ())).map_err(failed)?;
            Ok::<f64, Error>(begun.elapsed().as_nanos() as f64 / f64::from(READS_A_TURN))
        };
        let (mut without, mut with) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..TURNS {
            without = without.min(read(&file)?);
            self.attach_sampled(READ)?;
            self.control(1)?;
            let taken = read(&file);
            self.control(0)?;
            self.of_samples[READ] = None;
            with = with.min(taken?);
        }
        self.event_ns = (with - without).clamp(*EVENT_NS.start(), *EVENT_NS.end());
        self.take_touches(|_, _| ());
        self.events();
        Ok(())
    }

    /// Returns the nanoseconds that a run of a sampling program costs.
    pub fn event_ns(&self) -> f64 {
        self.event_ns
    }

    /// Begins a sample.
    pub fn begin_sample(&mut self) -> Result<()> {
        self.sample = (self.sample % u32::MAX) + 1;
        (0..self.sampled.len()).try_for_each(|number| self.attach_sampled(number))?;
        self.begun = Some((Instant::now(), self.runs()));
        self.control(self.sample)
    }

    fn attach_sampled(&mut self, number: usize) -> Result<()> {
        if self.of_samples[number].is_none() {
            let (name, tracepoint) = self.sampled[number];
            let link = program(&self.object, name)?.attach_trace();
            self.of_samples[number] = Some(link.map_err(|e| needed(tracepoint, &e))?);
        }
        Ok(())
    }

    /// Ends the sample, and detaches the programs that ran often in it.
    pub fn end_sample(&mut self) -> Result<()> {
        self.control(0)?;
        let Some((begun, before)) = self.begun.take() else { return Ok(()) };
        let (seconds, now) = (begun.elapsed().as_secs_f64(), self.runs());
        for (link, (before, now)) in self.of_samples.iter_mut().zip(before.iter().zip(now)) {
            if !is_rare(now - before, seconds) {
                *link = None;
            }
        }
        Ok(())
    }

    /// Follows one of `one_of` folios that are read ahead; 0 follows none.
    pub fn follow_one_of(&mut self, one_of: u32) -> Result<()> {
        self.followed_one_of = one_of;
        let sample = if self.begun.is_some() { self.sample } else { 0 };
        self.control(sample)
    }

    fn control(&self, sample: u32) -> Result<()> {
        let mut value = sample.to_le_bytes().to_vec();
        value.extend(self.followed_one_of.to_le_bytes());
        value.extend((self.event_ns as u32).to_le_bytes());
        value.extend([0; 4]);
        put(&self.object, "control", &0u32.to_le_bytes(), &value)
    }

    /// Returns the runs of the sampling programs since the last call.
    pub fn events(&mut self) -> u64 {
        let now = self.runs().iter().sum();
        now - std::mem::replace(&mut self.events_before, now)
    }

    /// Returns the runs of each sampling program since the start.
    fn runs(&self) -> [u64; SAMPLED_MAX] {
        let all = map(&self.object, "sums")
            .ok()
            .and_then(|map| map.lookup_percpu(&0u32.to_le_bytes(), MapFlags::ANY).ok().flatten())
            .unwrap_or_default();
        std::array::from_fn(|number| all.iter().map(|of_processor| word(of_processor, EVENTS + number)).sum())
    }

    /// Calls `each` for the touches since the last call.
    pub fn take_touches(&mut self, mut each: impl FnMut(User, Touches)) {
        self.take("touched", |user, value| each(user, Touches::of(value)));
    }

    /// Calls `each` for the misses since the last call.
    pub fn take_misses(&mut self, mut each: impl FnMut(User, Misses)) {
        self.take("missed", |user, value| {
            let misses = Misses {
                read: word(value, 0),
                mapped: word(value, 1),
                written: word(value, 2),
                read_ahead: word(value, 3),
                dropped: word(value, 4),
            };
            each(user, misses);
        });
    }

    fn take(&self, name: &str, mut each: impl FnMut(User, &[u8])) {
        let Ok(map) = map(&self.object, name) else { return };
        let Ok(all) = map.lookup_and_delete_batch(BATCH, MapFlags::ANY, MapFlags::ANY) else { return };
        for (key, value) in all {
            let file = FileId { inode: word(&key, 0), device: half(&key, 1, 0) };
            each(User { file, pid: half(&key, 1, 1) }, &value);
        }
    }

    /// Calls `each` for the requests that were open at the end of the last sample, with the pages that they still had
    /// to read.
    pub fn take_open_requests(&mut self, mut each: impl FnMut(User, u64)) {
        const READ_SAMPLE: (usize, usize) = (7, 1);
        let Ok(map) = map(&self.object, "threads") else { return };
        let Ok(all) = map.lookup_and_delete_batch(BATCH, MapFlags::ANY, MapFlags::ANY) else { return };
        for (_, value) in all {
            if half(&value, READ_SAMPLE.0, READ_SAMPLE.1) != self.sample || self.sample == 0 {
                continue;
            }
            let file = FileId { inode: word(&value, 8), device: half(&value, 9, 0) };
            let (index, last) = (word(&value, 10), word(&value, 11));
            each(User { file, pid: half(&value, 9, 1) }, (last + 1).saturating_sub(index));
        }
    }

    /// Calls `each` for the events of followed folios since the last call.
    pub fn take_fates(&mut self, mut each: impl FnMut(Folio, Fate)) {
        let _ = self.ring.consume();
        for bytes in self.records.borrow_mut().drain(..) {
            let file = FileId { inode: word(&bytes, 0), device: half(&bytes, 2, 0) };
            let folio = Folio { file, index: word(&bytes, 1) };
            let fate = if half(&bytes, 4, 2) != 0 {
                Fate::Gone { was_used: half(&bytes, 4, 3) != 0 }
            } else {
                Fate::Came { frame: word(&bytes, 3), pages: half(&bytes, 4, 0), weight: half(&bytes, 4, 1) }
            };
            each(folio, fate);
        }
    }

    /// Stops following a folio.
    pub fn forget(&self, folio: Folio) {
        let mut key = folio.file.inode.to_le_bytes().to_vec();
        key.extend(folio.index.to_le_bytes());
        key.extend(folio.file.device.to_le_bytes());
        key.extend([0; 4]);
        let _ = map(&self.object, "followed").map(|map| map.delete(&key));
    }

    /// Returns the paths of files, from the root of their file systems.
    pub fn paths(&self) -> HashMap<FileId, PathBuf> {
        let Ok(map) = map(&self.object, "names") else { return HashMap::new() };
        let named = map.keys().filter_map(|key| {
            let value = map.lookup(&key, MapFlags::ANY).ok().flatten()?;
            Some((FileId { inode: word(&key, 0), device: half(&key, 1, 0) }, path_of(&value)?))
        });
        named.collect()
    }

    /// Returns the name that a process had at its last request.
    pub fn comm(&self, pid: u32) -> Option<String> {
        let bytes = lookup(&self.object, "comms", &pid.to_le_bytes());
        let end = bytes.iter().position(|byte| *byte == 0)?;
        (end > 0).then(|| String::from_utf8_lossy(&bytes[..end]).into_owned())
    }

    /// Returns the users and folios that were not counted.
    pub fn lost(&self) -> u64 {
        word(&lookup(&self.object, "accounts", &0u32.to_le_bytes()), 0)
    }
}

/// Returns true if a program with this many runs in a sample may stay attached.
fn is_rare(runs: u64, seconds: f64) -> bool {
    runs as f64 <= RARE * seconds
}

/// Path from the names of a file and its folders, innermost first, with a zero byte behind each.
fn path_of(value: &[u8]) -> Option<PathBuf> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let bytes = half(value, 0, 0) as usize;
    let names = value.get(NAME..NAME + bytes)?.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let mut path = PathBuf::from("/");
    path.extend(names.rev().map(OsStr::from_bytes));
    Some(path)
}

fn needed(tracepoint: &str, error: &dyn std::fmt::Display) -> Error {
    let error = Error::new(Code::Input, format!("the tracepoint {tracepoint} cannot be watched: {error}"));
    error.hint("Linux 6.18 or later reports read-ahead and its user; run as root")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_run_often_are_detached() {
        for (runs, seconds, expected) in [(0, 0.0, true), (1, 0.0, false), (40, 0.004, true), (41, 0.004, false)] {
            assert_eq!(is_rare(runs, seconds), expected, "{runs} in {seconds} s");
        }
    }

    #[test]
    fn joins_paths_from_the_root() {
        let value = |names: &[u8]| [&(names.len() as u32).to_le_bytes(), names, &[b'x'; 9]].concat();
        assert_eq!(path_of(&value(b"leaf\0b\0a\0")), Some(PathBuf::from("/a/b/leaf")));
        assert_eq!(path_of(&value(b"")), Some(PathBuf::from("/")));
        assert_eq!(path_of(&[200, 0, 0, 0, b'a']), None);
    }
}
