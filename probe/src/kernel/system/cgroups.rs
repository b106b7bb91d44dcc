//! Costs of threads and requests by control group, for which groups have no counters: `bpf/system/cgroups.bpf.c`.

use std::io::Read;

use libbpf_rs::{Iter, Link, MapCore, MapFlags, Object, RingBuffer};
use yunti_base::{Code, Error, Result};

use crate::programs::{Records, first_namespace, half, load_for, lookup, map, program, ring, word};

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/cgroups.bpf.o"));

const THREAD_BYTES: usize = 56;
const READ_BYTES: usize = 256 << 10;

/// Counters of a thread since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadCounts {
    /// Thread.
    pub tid: u32,
    /// Process.
    pub pid: u32,
    /// Start time, which distinguishes it from a later thread with the same number.
    pub started: u64,
    /// Inode of its control group's folder.
    pub group: u64,
    /// Nanoseconds on a processor.
    pub ran_ns: u64,
    /// Nanoseconds in the run queue.
    pub waited_ns: u64,
    /// Voluntary context switches.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
}

/// Completed requests of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Number of reads.
    pub reads: u64,
    /// Number of writes.
    pub writes: u64,
    /// Nanoseconds until the device had the requests, summed.
    pub queued_ns: u64,
    /// Nanoseconds until the device had completed them, summed.
    pub device_ns: u64,
}

/// Programs at work, detached when dropped.
pub struct GroupCounts {
    // Dropped before the object that they belong to.
    threads: Link,
    _ends: Link,
    _completed: Option<Link>,
    ring: RingBuffer<'static>,
    records: Records,
    object: Object,
}

impl GroupCounts {
    /// Attaches the programs. `is_version_1`: groups of threads are those of the CPU controller's hierarchy, else of
    /// version 2. Parts that fail are added to `skips`.
    pub fn start(is_version_1: bool, skips: &mut Vec<String>) -> Result<GroupCounts> {
        first_namespace()?;
        let object = load_for(IMAGE, "control groups", &[is_version_1.into()], &["threads", "ends", "completed"])?;
        let failed = |what: &str, e: libbpf_rs::Error| {
            Error::new(Code::Input, format!("{what} cannot be watched: {e}")).hint("run as root")
        };
        let (ring, records) = ring(&object, "ended")?;
        let threads = program(&object, "threads")?.attach().map_err(|e| failed("threads", e))?;
        let ends = program(&object, "ends")?.attach_raw_tracepoint("sched_process_exit");
        let ends = ends.map_err(|e| failed("the end of threads", e))?;
        let completed = program(&object, "completed")?.attach_raw_tracepoint("block_rq_complete");
        let completed = completed.map_err(|e| skips.push(format!("requests to devices: {e}"))).ok();
        Ok(GroupCounts { threads, _ends: ends, _completed: completed, ring, records, object })
    }

    /// Returns all threads of the machine.
    pub fn threads(&self) -> Result<Vec<ThreadCounts>> {
        let failed = |e: &dyn std::fmt::Display| Error::new(Code::Input, format!("threads cannot be read: {e}"));
        let mut iterator = Iter::new(&self.threads).map_err(|e| failed(&e))?;
        let (mut bytes, mut read) = (Vec::new(), vec![0; READ_BYTES]);
        loop {
            match iterator.read(&mut read) {
                Ok(0) => break,
                Ok(n) => bytes.extend_from_slice(&read[..n]),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(failed(&e)),
            }
        }
        Ok(bytes.chunks_exact(THREAD_BYTES).map(thread).collect())
    }

    /// Calls `each` for threads that have ended since the last call, with their final counters.
    pub fn take_ended(&mut self, mut each: impl FnMut(ThreadCounts)) {
        let _ = self.ring.consume();
        self.records.borrow_mut().drain(..).for_each(|bytes| each(thread(&bytes)));
    }

    /// Returns the requests since the start, by the inode of the group's folder.
    pub fn requests(&self) -> Vec<(u64, RequestCounts)> {
        let Ok(map) = map(&self.object, "requested") else { return Vec::new() };
        let of = |key: Vec<u8>| {
            let all = map.lookup_percpu(&key, MapFlags::ANY).ok().flatten()?;
            let sum = |n: usize| all.iter().map(|of_processor| word(of_processor, n)).sum();
            let counts = RequestCounts {
                read_bytes: sum(0),
                written_bytes: sum(1),
                reads: sum(2),
                writes: sum(3),
                queued_ns: sum(4),
                device_ns: sum(5),
            };
            Some((word(&key, 0), counts))
        };
        map.keys().filter_map(of).collect()
    }

    /// Returns the ends of threads that did not fit into the ring buffer.
    pub fn lost(&self) -> u64 {
        word(&lookup(&self.object, "accounts", &0u32.to_le_bytes()), 0)
    }
}

fn thread(bytes: &[u8]) -> ThreadCounts {
    ThreadCounts {
        tid: half(bytes, 0, 0),
        pid: half(bytes, 0, 1),
        started: word(bytes, 1),
        group: word(bytes, 2),
        ran_ns: word(bytes, 3),
        waited_ns: word(bytes, 4),
        voluntary_switches: word(bytes, 5),
        involuntary_switches: word(bytes, 6),
    }
}
