//! Context of a class: settings, side files, names of inputs, counters and status of its task.
//! One of the listed files with `unsafe`: it calls the engine's functions.
//!
//! The engine's functions and what they return live until the object is destroyed, and only the thread that runs a call
//! of the object may use them. Both are checked: a handle on another thread panics, and a handle that outlives its
//! object ends the process, since its borrows could lead to freed memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::cursor::Cursor;
use crate::error::{Reason, Result, fail};
use crate::layout::{FAIL, FindEdges, RawContext, RawOut, RawStr, slice};

thread_local! {
    /// Its address is a number of the thread.
    static TOKEN: u8 = const { 0 };
}

/// Begin of the place of a table that servers have.
const SERVERS: &str = "server:";

/// Servers of a table, and the files that a client of theirs needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableServers<'c> {
    /// Replicas and shards: `unix:PATH` or `HOST:PORT`.
    pub addresses: Vec<&'c str>,
    /// File with the token (`--table-token-file`).
    pub token_file: Option<&'c std::path::Path>,
    /// Certificates of authorities in PEM, for TLS on TCP (`--table-tls-ca`).
    pub tls_ca: Option<&'c std::path::Path>,
}

/// The engine's side of one object.
pub(crate) struct Task {
    raw: RawContext,
    /// Thread of the call that runs; 0 between calls.
    active: AtomicUsize,
}

// SAFETY: the functions behind `raw` are called only by the thread of the running call (`check`).
unsafe impl Send for Task {}
// SAFETY: as above.
unsafe impl Sync for Task {}

fn this_thread() -> usize {
    TOKEN.with(|token| std::ptr::from_ref(token).addr())
}

impl Task {
    /// # Safety
    /// The engine passed `raw` to create(), and destroy() has not returned while this value lives.
    pub(crate) unsafe fn new(raw: RawContext) -> Arc<Task> {
        Arc::new(Task { raw, active: AtomicUsize::new(0) })
    }

    /// Marks a call of the engine, which runs until the guard is dropped.
    pub(crate) fn enter(&self) -> Call<'_> {
        self.active.store(this_thread(), Ordering::Release);
        Call(self)
    }

    pub(crate) fn check(&self) {
        if self.active.load(Ordering::Acquire) != this_thread() {
            panic!("a context was used by a thread, or at a time, that its object was not called: use it in its calls");
        }
    }

    /// Sets the reason of a failure, and returns the status for the engine.
    pub(crate) fn report(&self, reason: &Reason) -> i32 {
        self.check();
        let status = if let Reason::Data(status, _) = reason { *status } else { FAIL };
        match reason {
            Reason::Status(status) => *status,
            Reason::Message(message) | Reason::Data(_, message) => {
                let line = message.replace('\n', " ");
                if let Some(error) = self.raw.error {
                    // SAFETY: the ABI; this thread runs a call (`check`).
                    unsafe { error(self.raw.engine, RawStr::of(line.as_bytes())) }
                }
                status
            }
        }
    }

    /// The engine's search for edges of words; None in an older engine.
    pub(crate) fn edges(&self) -> Option<FindEdges> {
        self.raw.edges
    }

    /// Opens a named output.
    pub(crate) fn output(self: &Arc<Task>, name: &str, key_type: u32, value_type: u32) -> Result<OutputHandle> {
        self.check();
        // SAFETY: as in `report`.
        let raw = self
            .raw
            .output
            .map(|output| unsafe { output(self.raw.engine, RawStr::of(name.as_bytes()), key_type, value_type) });
        match raw {
            Some(raw) if !raw.is_null() => Ok(OutputHandle { raw, task: self.clone() }),
            // The engine reports its own reason in place of this one.
            _ => fail(format!("the output {name} cannot be written")),
        }
    }
}

/// A call of the engine that runs.
pub(crate) struct Call<'a>(&'a Task);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.active.store(0, Ordering::Release);
    }
}

/// Cursor of a named output.
pub(crate) struct OutputHandle {
    raw: *mut RawOut,
    task: Arc<Task>,
}

// SAFETY: the cursor is used by the thread of the running call alone (`cursor`).
unsafe impl Send for OutputHandle {}

impl OutputHandle {
    /// Returns the cursor, which this value owns.
    pub(crate) fn cursor(&mut self) -> Cursor<'_> {
        self.task.check();
        // SAFETY: the cursor lives as long as the object, and `self` is borrowed for its use.
        unsafe { Cursor::of(self.raw) }
    }
}

/// Access to the job: settings, side files, tables, names of inputs, the task's number, counters and status.
///
/// Keep it, or a clone of it, in the object that was created with it, and use it in the calls of this object.
#[derive(Clone)]
pub struct Context {
    task: Arc<Task>,
}

impl Context {
    pub(crate) fn new(task: Arc<Task>) -> Context {
        Context { task }
    }

    pub(crate) fn task_handle(&self) -> &Arc<Task> {
        &self.task
    }

    /// Returns a text of the engine that lives as long as the object.
    ///
    /// # Safety
    /// The ABI promises so for `found`.
    unsafe fn lent(&self, found: RawStr) -> Option<&[u8]> {
        // SAFETY: as the caller promises; a context that outlives the object ends the process.
        (!found.p.is_null()).then(|| unsafe { slice(found.p, found.n as usize) })
    }

    /// Returns a setting of the job (`-D key=value`, or `[settings]` of the job file); None if it is not set.
    ///
    /// # Panics
    /// Panics if the setting is not UTF-8.
    pub fn setting(&self, key: &str) -> Option<&str> {
        self.task.check();
        let config = self.task.raw.config?;
        // SAFETY: the ABI; this thread runs a call (`check`). Settings outlive the object.
        let bytes = unsafe { self.lent(config(self.task.raw.engine, RawStr::of(key.as_bytes()))) }?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Some(text),
            Err(_) => panic!("the setting {key} is not UTF-8"),
        }
    }

    /// Returns a setting as a number or another type that texts parse to; None if it is not set. Fails with the
    /// setting's name if the text does not parse.
    pub fn parse<T: std::str::FromStr>(&self, key: &str) -> Result<Option<T>>
    where
        T::Err: std::fmt::Display,
    {
        let Some(text) = self.setting(key) else { return Ok(None) };
        match text.parse() {
            Ok(value) => Ok(Some(value)),
            Err(e) => fail(format!("the setting {key}={text} cannot be read: {e}")),
        }
    }

    /// Returns the content of a side file (`--side-file`), by its name without directories; None if there is none.
    pub fn side_file(&self, name: &str) -> Option<&[u8]> {
        self.task.check();
        let side_file = self.task.raw.side_file?;
        // SAFETY: as in `setting`; the job holds side files to its end.
        unsafe { self.lent(side_file(self.task.raw.engine, RawStr::of(name.as_bytes()))) }
    }

    /// Returns the place of a table of the job (`--table NAME=FILE`), by its name; None if there is none. The crate
    /// `yunti-table` maps it: open it once a process, and share it.
    ///
    /// # Panics
    /// Panics if the place is not UTF-8.
    pub fn table_path(&self, name: &str) -> Option<&std::path::Path> {
        let place = self.setting(&format!("yunti.table.{name}"))?;
        (!place.starts_with(SERVERS)).then(|| std::path::Path::new(place))
    }

    /// Returns the servers of a table of the job (`--table NAME=server:ADDRESS,..`), by its name; None if there is no
    /// such table of servers. The crate `yunti-table-remote` asks them: connect once a process, and share the client.
    /// Look up the keys of many records at once, because a lookup is a round trip.
    ///
    /// # Panics
    /// Panics if a setting is not UTF-8.
    pub fn table_servers(&self, name: &str) -> Option<TableServers<'_>> {
        let addresses = self.setting(&format!("yunti.table.{name}"))?.strip_prefix(SERVERS)?;
        Some(TableServers {
            addresses: addresses.split(',').collect(),
            token_file: self.setting("yunti.table-token-file").map(std::path::Path::new),
            tls_ca: self.setting("yunti.table-tls-ca").map(std::path::Path::new),
        })
    }

    /// Returns the name of an input file, by the index that a record, a span or a chunk has; None if it is unknown, as
    /// in a reduce task.
    pub fn input(&self, file_index: u32) -> Option<&[u8]> {
        self.task.check();
        let input = self.task.raw.input?;
        // SAFETY: as in `setting`; the job holds the names to its end.
        unsafe { self.lent(input(self.task.raw.engine, file_index)) }
    }

    /// Returns a counter, which the engine sums over all tasks. Make it once, in `create`.
    pub fn counter(&self, group: &str, name: &str) -> Result<Counter> {
        self.task.check();
        // SAFETY: as in `setting`.
        let slot = self.task.raw.counter.map(|counter| unsafe {
            counter(self.task.raw.engine, RawStr::of(group.as_bytes()), RawStr::of(name.as_bytes()))
        });
        match slot {
            Some(slot) if !slot.is_null() => Ok(Counter { slot, _task: self.task.clone() }),
            _ => fail("no memory for a counter"),
        }
    }

    /// Sets the line that the progress display shows for this task.
    pub fn set_status(&self, line: &str) {
        self.task.check();
        if let Some(status) = self.task.raw.status {
            // SAFETY: as in `setting`.
            unsafe { status(self.task.raw.engine, RawStr::of(line.as_bytes())) }
        }
    }

    /// Returns true in a reduce task.
    pub fn is_reduce(&self) -> bool {
        self.task.raw.is_reduce != 0
    }
    /// Returns the number of the task: of its split, or of its partition.
    pub fn task(&self) -> u32 {
        self.task.raw.task
    }
    /// Returns the number of partitions.
    pub fn partitions(&self) -> u32 {
        self.task.raw.partitions
    }
}

/// Counter of a task. An addition is cheap enough for each record.
pub struct Counter {
    slot: *mut u64,
    _task: Arc<Task>,
}

// SAFETY: the slot lives as long as the object (an older counter ends the process), and is reached by atomics alone.
unsafe impl Send for Counter {}
// SAFETY: as above.
unsafe impl Sync for Counter {}

impl Counter {
    /// Adds to the counter. Additions of several threads at once may be lost.
    #[inline]
    pub fn add(&self, n: u64) {
        // SAFETY: as above. The engine reads it when the object is destroyed.
        let slot = unsafe { AtomicU64::from_ptr(self.slot) };
        slot.store(slot.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }
}

/// Number of positions that `find_edges` may write beyond the bytes of a text.
pub(crate) const EDGES_SLACK: usize = 64;

/// Finds the starts and ends of words in a text by the engine's vector instructions; see yt_context.edges. `before`: 1
/// if a separator stands before the text, or nothing. Returns the number of positions in `to`.
///
/// # Panics
/// Panics if `to` has less than `EDGES_SLACK` items more than the text has bytes.
pub(crate) fn find_edges(find: FindEdges, text: &[u8], separators: &[u8], before: &mut u32, to: &mut [u32]) -> usize {
    assert!(to.len() >= text.len() + EDGES_SLACK && (1..=8).contains(&separators.len()));
    let (set, set_n) = (separators.as_ptr(), separators.len() as u32);
    // SAFETY: the ABI, with the room that it requires.
    let n = unsafe { find(text.as_ptr(), text.len() as u64, set, set_n, 0, before, to.as_mut_ptr()) };
    (n as usize).min(to.len())
}
