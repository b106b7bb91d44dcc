//! The lock agent (`observe/jvmti/locks.c`), from start to stop, and its records of waits.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::Duration;

use yunti_base::{Code, Error, Result};

use super::shared_memory::SharedMemory;
use crate::jvm::attach::call_library;
use crate::jvm::log::SilencedWarnings;
use crate::jvm::release::{Agent, LoadedAgent};
use yunti_probe::code;
use yunti_probe::kernel::monotonic_ns;
use yunti_probe::target::{Process, mappings};

const LIBRARY: &str = "libyunti-locks.so";
/// Time after the end of the measurement at which the agent stops by itself.
const GRACE: Duration = Duration::from_secs(30);
/// `ytlocks3`. The head of the agent's source defines the layout of the memory.
const MAGIC: u64 = 0x3373_6b63_6f6c_7479;
const CAPACITY_AT: usize = 8;
const READ_AT: usize = 24;
const NAMES_BYTES_AT: usize = 32;
const LOST_AT: usize = 40;
const WITHOUT_STACK_AT: usize = 48;
const ENDS_UNSEEN_AT: usize = 56;
const SEES_PARKS_AT: usize = 64;
const HAS_VIRTUAL_THREADS_AT: usize = 72;
const SEES_VIRTUAL_THREADS_AT: usize = 80;
const VIRTUAL_PLACES_AT: usize = 88;
const THREAD_NAMES_BYTES_AT: usize = 96;
const IDLE_LOST_AT: usize = 104;
const VIRTUAL_THREADS_MISSED_AT: usize = 112;
const NAMES_AT: usize = 4096;
const WAITING_AT: usize = 256 << 10;
const WAITING_MAX: usize = 8192;
const THREAD_NAMES_AT: usize = 768 << 10;
const RING_AT: usize = 1024 << 10;
const RECORD_BYTES: usize = 64;
/// Offset in a record.
const TURN_AT: usize = 60;
/// Name of a monitor whose wait neither began nor ended in the measurement. JVMTI names the monitor only then.
const UNKNOWN: &str = "a monitor with waits through the whole measurement; see their stacks";
/// Return codes of the agent.
const BUSY: u32 = 1;
const NO_MEMORY: u32 = 3;

/// Bit that marks a virtual thread in a thread ID. The rest is Java's `threadId()`.
pub const IS_VIRTUAL: u32 = 1 << 31;

/// Kind of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WaitKind {
    Monitor = 1,
    /// A lock of java.util.concurrent with an owner.
    Lock = 2,
    /// An AbstractQueuedSynchronizer without an owner: semaphore, latch.
    Synchronizer = 3,
    /// A wait for work, for a result, or for time to pass, which is no contention.
    Other = 4,
}

/// A wait of a thread. Thread IDs are of the JVM's PID namespace, or of virtual threads ([`IS_VIRTUAL`]).
#[derive(Clone, Debug)]
pub struct Wait {
    pub kind: WaitKind,
    /// Class of the lock, `java.util.concurrent.locks.ReentrantLock$FairSync`.
    pub class: Rc<str>,
    /// Identity hash code of the lock.
    pub identity: u32,
    pub begin_ns: u64,
    /// Duration within the measurement. An unfinished wait lasts until the end.
    pub duration_ns: u64,
    pub tid: u32,
    pub holder: Option<u32>,
    /// System thread whose stack the profiler took for the waiter, and the range of time in ns.
    pub sampled: Option<(u32, u64, u64)>,
    /// System thread that got a request for the holder's stack, and the time in ns.
    pub holder_request: Option<(u32, u64)>,
}

/// The running agent, with the memory that it writes.
pub struct LockAgent {
    loaded: LoadedAgent,
    memory: Option<SharedMemory>,
    /// Records in the ring.
    capacity: u64,
    /// Places of virtual threads after the ring.
    virtual_places: usize,
    classes: Vec<Rc<str>>,
    names_bytes: u64,
    stopped_ns: Option<u64>,
}

impl LockAgent {
    /// Starts the agent.
    ///
    /// The agent requests stacks by SIGPROF, so async-profiler must start before it and stop after it.
    pub fn start(process: &Process, time: Duration) -> Result<LockAgent> {
        let mut agent = LockAgent {
            loaded: LoadedAgent::of(process, Agent::Locks, Some(LIBRARY))?,
            memory: None,
            capacity: 0,
            virtual_places: 0,
            classes: Vec::new(),
            names_bytes: 0,
            stopped_ns: None,
        };
        let park = park_address(process).unwrap_or(0);
        let options = format!("start,{},{park:x},{}", agent.loaded.cleanup.name, (time + GRACE).as_secs());
        let silenced = SilencedWarnings::of(process);
        // Without an answer it may have started nevertheless.
        agent.loaded.is_running = true;
        let answer = call_library(process, &agent.loaded.cleanup.library, &options)?;
        drop(silenced);
        agent.loaded.is_running = answer == 0;
        let failed = |what: &str| Error::new(Code::Input, format!("{what} in the JVM {}", process.pid));
        match answer {
            0 => {}
            BUSY => {
                return Err(failed("another measurement of locks is running").hint("wait until it has ended"));
            }
            NO_MEMORY => {
                return Err(failed("not enough memory for the records").hint("free 5 MB of memory, or 1 MB at least"));
            }
            code => return Err(failed(&format!("the lock agent does not start (code {code})"))),
        }
        let memory = SharedMemory::find(process, &agent.loaded.cleanup.name).filter(|m| m.bytes() > RING_AT);
        let memory = memory.filter(|m| m.word(0).load(Acquire) == MAGIC);
        let memory = memory
            .ok_or_else(|| failed("the agent's memory cannot be reached").hint("run as its owner, or as root"))?;
        // From the size, because the header may hold anything.
        let records = ((memory.bytes() - RING_AT) / RECORD_BYTES) as u64;
        let virtual_places = memory.word(VIRTUAL_PLACES_AT).load(Acquire);
        agent.capacity = records.saturating_sub(virtual_places);
        if agent.capacity == 0 || memory.word(CAPACITY_AT).load(Acquire) != agent.capacity {
            return Err(failed("an agent of another version of Yunti is running"));
        }
        agent.virtual_places = virtual_places as usize;
        agent.memory = Some(memory);
        Ok(agent)
    }

    /// Returns the waits that ended since the last call.
    pub fn collect(&mut self) -> Vec<Wait> {
        let Some(memory) = &self.memory else { return Vec::new() };
        let read = memory.word(READ_AT).load(Acquire);
        let mut ended = Vec::new();
        for number in read..read.saturating_add(self.capacity) {
            let at = RING_AT + (number % self.capacity) as usize * RECORD_BYTES;
            // The record is being written, or is not there yet.
            if memory.half(at + TURN_AT).load(Acquire) != (number as u32).wrapping_add(1) {
                break;
            }
            ended.push(Words::of(memory, at));
        }
        memory.word(READ_AT).store(read + ended.len() as u64, Release);
        self.read_classes();
        ended.into_iter().filter_map(|words| self.wait(&words)).collect()
    }

    /// Returns the waits that had not ended when the agent stopped. One
    /// that began before the measurement counts only if
    /// the agent also found it at the end.
    pub fn unfinished(&self) -> Vec<Wait> {
        let end = self.stopped_ns.unwrap_or_else(monotonic_ns);
        let mut waits: Vec<Wait> =
            self.places().filter(|words| !words.is_lost()).filter_map(|words| self.wait(&words)).collect();
        waits.iter_mut().for_each(|wait| wait.duration_ns = end.saturating_sub(wait.begin_ns));
        waits
    }

    /// Returns the number of waits for locks that began before the measurement, and ended in it at an unknown time.
    pub fn unseen_ends(&self) -> u64 {
        let is_unseen = |words: &Words| words.is_lost() && words.wait_kind() != Some(WaitKind::Other);
        self.number(ENDS_UNSEEN_AT) + self.places().filter(is_unseen).count() as u64
    }

    /// Places of waiting threads, system and virtual ones, that are in use.
    fn places(&self) -> impl Iterator<Item = Words> {
        let virtual_at = RING_AT + self.capacity as usize * RECORD_BYTES;
        let tables = [(WAITING_AT, WAITING_MAX), (virtual_at, self.virtual_places)];
        let all = tables.into_iter().flat_map(|(begin, places)| (0..places).map(move |n| begin + n * RECORD_BYTES));
        let memories = self.memory.iter();
        memories.flat_map(move |memory| all.clone().map(|at| Words::of(memory, at))).filter(|words| words.kind != 0)
    }

    fn wait(&self, words: &Words) -> Option<Wait> {
        let kind = words.wait_kind()?;
        let [begin_ns, duration_ns, sampled_from] = words.longs;
        let [sampled_for, sampled_tid, request_after, request_tid, tid, holder, identity, class] = words.ints;
        let sampled_to = sampled_from.saturating_add(sampled_for.into());
        Some(Wait {
            kind,
            class: self.classes.get(class as usize).cloned().unwrap_or_else(|| UNKNOWN.into()),
            identity,
            begin_ns,
            duration_ns,
            tid,
            holder: Some(holder).filter(|tid| *tid != 0),
            sampled: (sampled_from != 0).then_some((sampled_tid, sampled_from, sampled_to)),
            holder_request: (request_after != 0).then(|| (request_tid, begin_ns.saturating_add(request_after.into()))),
        })
    }

    fn number(&self, at: usize) -> u64 {
        self.memory.as_ref().map_or(0, |memory| memory.word(at).load(Acquire))
    }

    fn read_classes(&mut self) {
        let names_bytes = self.number(NAMES_BYTES_AT);
        // Usually there are no new names.
        if std::mem::replace(&mut self.names_bytes, names_bytes) == names_bytes {
            return;
        }
        let text = self.text(NAMES_AT, WAITING_AT, names_bytes);
        self.classes =
            text.lines().map(|line| class_name(line.split_once(' ').map_or(line, |(_, n)| n)).into()).collect();
    }

    /// Returns the names of virtual threads that have one, by thread ID.
    pub fn virtual_thread_names(&self) -> HashMap<u32, String> {
        let text = self.text(THREAD_NAMES_AT, RING_AT, self.number(THREAD_NAMES_BYTES_AT));
        let named = |line: &str| line.split_once(' ').and_then(|(n, name)| Some((n.parse().ok()?, name.to_owned())));
        text.lines().filter_map(named).collect()
    }

    fn text(&self, begin: usize, end: usize, bytes: u64) -> String {
        let Some(memory) = &self.memory else { return String::new() };
        let bytes = bytes.min((end - begin) as u64) as usize;
        let words = (begin..begin + bytes).step_by(8).flat_map(|at| memory.word(at).load(Acquire).to_ne_bytes());
        String::from_utf8_lossy(&words.take(bytes).collect::<Vec<u8>>()).into_owned()
    }

    /// Returns the number of waits lost because the buffer was full.
    pub fn lost(&self) -> u64 {
        self.number(LOST_AT)
    }

    /// Returns the number of waits of virtual threads for work that were lost because the buffer was full.
    pub fn idle_lost(&self) -> u64 {
        self.number(IDLE_LOST_AT)
    }

    /// Returns the number of waits for locks without a stack.
    pub fn without_stack(&self) -> u64 {
        self.number(WITHOUT_STACK_AT)
    }

    /// Returns true if waits for java.util.concurrent are recorded.
    pub fn sees_parks(&self) -> bool {
        self.number(SEES_PARKS_AT) != 0
    }

    /// Returns true if the JVM has virtual threads. Valid after the agent has stopped.
    pub fn has_virtual_threads(&self) -> bool {
        self.number(HAS_VIRTUAL_THREADS_AT) != 0
    }

    /// Returns true if the waits of virtual threads are recorded.
    pub fn sees_virtual_threads(&self) -> bool {
        self.number(SEES_VIRTUAL_THREADS_AT) != 0
    }

    /// Returns true if waits of virtual threads that began before the
    /// measurement are missing, because this JVM does not
    /// list its virtual threads.
    pub fn misses_virtual_threads(&self) -> bool {
        self.number(VIRTUAL_THREADS_MISSED_AT) != 0
    }

    /// Stops the agent. It then records no waits and sends no signals.
    pub fn stop(&mut self) -> Result<()> {
        self.stopped_ns.get_or_insert_with(monotonic_ns);
        self.loaded.stop()
    }
}

/// A copy of a record in the memory.
struct Words {
    longs: [u64; 3],
    ints: [u32; 8],
    kind: u32,
}

impl Words {
    /// Flags in `kind`.
    const BEFORE: u32 = 16;
    const STILL: u32 = 32;

    fn of(memory: &SharedMemory, at: usize) -> Words {
        let mut words = Words { longs: [0; 3], ints: [0; 8], kind: memory.half(at + 56).load(Acquire) };
        for (n, long) in words.longs.iter_mut().enumerate() {
            *long = memory.word(at + n * 8).load(Acquire);
        }
        for (n, int) in words.ints.iter_mut().enumerate() {
            *int = memory.half(at + 24 + n * 4).load(Acquire);
        }
        words
    }

    fn wait_kind(&self) -> Option<WaitKind> {
        match self.kind & 15 {
            1 => Some(WaitKind::Monitor),
            2 => Some(WaitKind::Lock),
            3 => Some(WaitKind::Synchronizer),
            4 => Some(WaitKind::Other),
            _ => None,
        }
    }

    /// True if the wait began before the measurement and was not found at the end.
    fn is_lost(&self) -> bool {
        self.kind & Words::BEFORE != 0 && self.kind & Words::STILL == 0
    }
}

/// Returns the address of the JVM's function behind `Unsafe.park`, from the symbols of libjvm.so.
fn park_address(process: &Process) -> Option<u64> {
    let function = code::find(process, Some("libjvm.so"), "Unsafe_Park").into_iter().next()?;
    let all = mappings(process);
    let mapping = all.iter().find(|m| {
        m.is_code
            && m.name.ends_with("/libjvm.so")
            && (m.offset..m.offset + (m.end - m.begin)).contains(&function.offset)
    })?;
    Some(mapping.begin + (function.offset - mapping.offset))
}

/// Returns the Java name of a signature: `Ljava/lang/Object;` ->
/// `java.lang.Object`. A `#` marks a class object that is the lock.
fn class_name(signature: &str) -> String {
    if let Some(of) = signature.strip_prefix('#') {
        return format!("java.lang.Class of {}", class_name(of));
    }
    let base = signature.trim_start_matches('[');
    let name = match base {
        "B" => "byte",
        "C" => "char",
        "D" => "double",
        "F" => "float",
        "I" => "int",
        "J" => "long",
        "S" => "short",
        "Z" => "boolean",
        other => other.strip_prefix('L').and_then(|name| name.strip_suffix(';')).unwrap_or(other),
    };
    name.replace('/', ".") + &"[]".repeat(signature.len() - base.len())
}

#[cfg(test)]
mod tests {
    use super::class_name;

    #[test]
    fn signatures() {
        assert_eq!(class_name("Ljava/lang/Object;"), "java.lang.Object");
        assert_eq!(class_name("[[B"), "byte[][]");
        assert_eq!(class_name("[Lx/Y$Z;"), "x.Y$Z[]");
        assert_eq!(class_name("#LLocks;"), "java.lang.Class of Locks");
    }
}
