//! Read-ahead of compressed files: a worker without a split decodes for a worker that maps a file which cannot be cut.
//!
//! ```text
//!   maps      ------------ needs bytes --------.                  .-- takes full buffers, maps ----------
//!                                              | its source, at   |
//!   helps     waits for a source ..............'-> its position -> reads into empty buffers, one after the other
//! ```
//!
//! No thread is started for it: the job's workers help when there are more of them than splits, from the beginning or
//! at the end. A source is handed over at its position, and returns the same bytes and errors. The budget grants the
//! buffers; without them no worker helps.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::decoded_file::DecodedFile;
use crate::env::Clock;
use crate::env::crew::Stop;
use crate::env::sync::{Condvar, Mutex, MutexGuard};
use crate::memory::Budget;
use crate::memory::budget::Grant;
use yunti_base::Cancel;
use yunti_base::{Code, Error, Result};

/// Buffers of a pipe.
const BUFFERS: usize = 4;
/// Bytes of a buffer.
pub const BUFFER_BYTES: usize = if cfg!(debug_assertions) { 700 } else { 256 << 10 };
/// Compressed bytes that must remain in a file: for fewer, a hand-over does not pay.
pub const LEFT_BYTES_MIN: u64 = if cfg!(debug_assertions) { 100 } else { 256 << 10 };
/// Longest wait. A failed or cancelled worker sends no notification.
const WAIT: Duration = Duration::from_millis(20);

/// Meeting point of workers that map and workers that help.
#[derive(Default)]
pub struct ReadAhead {
    queue: Mutex<HelperQueue>,
    changed: Condvar,
    /// Helpers that wait; read without the lock.
    idle: AtomicUsize,
}

#[derive(Default)]
struct HelperQueue {
    /// Workers that map now; None before the first.
    mapping: Option<usize>,
    offered: VecDeque<(Box<DecodedFile>, Arc<Pipe>)>,
}

/// Full buffers in one direction, empty ones in the other.
struct Pipe {
    state: Mutex<PipeState>,
    changed: Condvar,
}

#[derive(Default)]
struct PipeState {
    /// Full buffers, each with its number of valid bytes.
    full: VecDeque<(Vec<u8>, usize)>,
    empty: Vec<Vec<u8>>,
    /// Result of the source, after the last full buffer.
    end: Option<Result<()>>,
    /// Set when the reader is dropped.
    left: bool,
}

/// Mark of a worker that maps, until it is dropped.
pub struct MapGuard<'a>(&'a ReadAhead);

impl Drop for MapGuard<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.mapping = queue.mapping.map(|n| n - 1);
        drop(queue);
        self.0.changed.notify_all();
    }
}

impl ReadAhead {
    fn lock(&self) -> MutexGuard<'_, HelperQueue> {
        self.queue.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns true if a helper waits for a source. Reads a hint without the lock.
    pub fn has_idle(&self) -> bool {
        self.idle.load(Ordering::Relaxed) > 0
    }

    /// Marks this worker as mapping.
    pub fn begin_map(&self) -> MapGuard<'_> {
        let mut queue = self.lock();
        queue.mapping = Some(queue.mapping.unwrap_or(0) + 1);
        MapGuard(self)
    }

    /// Helps until no worker maps. After each source, calls `served` with start, end and reading time in nanoseconds.
    pub fn help(&self, stop: Stop<'_>, cancel: &Cancel, clock: &dyn Clock, mut served: impl FnMut(u64, u64, u64)) {
        let mut queue = self.lock();
        while queue.mapping != Some(0) && !stop() && !cancel.is_set() {
            if let Some((mut source, pipe)) = queue.offered.pop_front() {
                drop(queue);
                let start = clock.now_ns();
                let read_ns = pipe.fill(&mut source, cancel, clock);
                served(start, clock.now_ns(), read_ns);
                queue = self.lock();
                continue;
            }
            self.idle.fetch_add(1, Ordering::Relaxed);
            queue = self.changed.wait_timeout(queue, WAIT).unwrap_or_else(|e| e.into_inner()).0;
            self.idle.fetch_sub(1, Ordering::Relaxed);
        }
        // A helper that leaves must not keep anyone waiting.
        for (_, pipe) in queue.offered.drain(..) {
            pipe.end(Err(Error::new(Code::Cancelled, "another task failed")));
        }
    }

    /// Hands a source over if a helper waits, and returns the end to read from. Otherwise returns the source.
    pub fn offer(
        &self,
        source: Box<DecodedFile>,
        budget: &Arc<Budget>,
    ) -> std::result::Result<ReadAheadSource, Box<DecodedFile>> {
        let mut queue = self.lock();
        // Helpers that wait and have no offer yet.
        if queue.offered.len() >= self.idle.load(Ordering::Relaxed) {
            return Err(source);
        }
        let Some(grant) = budget.try_grant((BUFFERS * BUFFER_BYTES) as u64) else { return Err(source) };
        let empty = (0..BUFFERS).map(|_| vec![0; BUFFER_BYTES]).collect();
        let pipe =
            Arc::new(Pipe { state: Mutex::new(PipeState { empty, ..PipeState::default() }), changed: Condvar::new() });
        let path = source.path().to_string();
        queue.offered.push_back((source, pipe.clone()));
        drop(queue);
        self.changed.notify_one();
        Ok(ReadAheadSource { pipe, path, buffer: Vec::new(), from: 0, to: 0, _grant: grant })
    }
}

impl Pipe {
    fn lock(&self) -> MutexGuard<'_, PipeState> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn wait<'a>(&self, flow: MutexGuard<'a, PipeState>) -> MutexGuard<'a, PipeState> {
        self.changed.wait_timeout(flow, WAIT).unwrap_or_else(|e| e.into_inner()).0
    }

    fn end(&self, end: Result<()>) {
        self.lock().end = Some(end);
        self.changed.notify_all();
    }

    /// Reads a source to its end, or until the reader is dropped. Returns the reading time in nanoseconds.
    fn fill(&self, source: &mut DecodedFile, cancel: &Cancel, clock: &dyn Clock) -> u64 {
        /// Guard that ends the pipe even after a panic, because the reader waits for an end.
        struct Ending<'a>(&'a Pipe, Option<Result<()>>);
        impl Drop for Ending<'_> {
            fn drop(&mut self) {
                let panicked = || Err(Error::new(Code::Internal, "decoding ahead came to no end"));
                self.0.end(self.1.take().unwrap_or_else(panicked));
            }
        }
        let mut ending = Ending(self, None);
        let mut read_ns = 0;
        loop {
            let mut flow = self.lock();
            let mut buffer = loop {
                if flow.left || cancel.is_set() {
                    ending.1 = Some(cancel.check());
                    return read_ns;
                }
                match flow.empty.pop() {
                    Some(buffer) => break buffer,
                    None => flow = self.wait(flow),
                }
            };
            drop(flow);
            let start = clock.now_ns();
            let read = source.read(&mut buffer);
            read_ns += clock.now_ns() - start;
            let done = !matches!(read, Ok(n) if n == buffer.len());
            match read {
                Ok(n) => self.lock().full.push_back((buffer, n)),
                Err(error) => ending.1 = Some(Err(error)),
            }
            if done {
                ending.1.get_or_insert(Ok(()));
                return read_ns;
            }
            self.changed.notify_all();
        }
    }
}

/// Bytes of a source that a helper reads.
pub struct ReadAheadSource {
    pipe: Arc<Pipe>,
    path: String,
    /// Bytes `from..to` of `buffer` are not taken yet.
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    _grant: Grant,
}

impl ReadAheadSource {
    /// Returns the path of the file, for messages.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Fills `to`. Returns fewer than `to.len()` bytes only at the end. Errors are those of the source.
    pub fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        while done < to.len() {
            if self.from == self.to && !self.next()? {
                break;
            }
            let n = (to.len() - done).min(self.to - self.from);
            to[done..done + n].copy_from_slice(&self.buffer[self.from..self.from + n]);
            self.from += n;
            done += n;
        }
        Ok(done)
    }

    /// Takes the next buffer, which may be empty. Returns false at the end.
    fn next(&mut self) -> Result<bool> {
        let mut flow = self.pipe.lock();
        let used = std::mem::take(&mut self.buffer);
        if !used.is_empty() {
            flow.empty.push(used);
            self.pipe.changed.notify_all();
        }
        (self.from, self.to) = (0, 0);
        loop {
            if let Some((buffer, n)) = flow.full.pop_front() {
                (self.buffer, self.to) = (buffer, n);
                return Ok(true);
            }
            if let Some(end) = &flow.end {
                return end.clone().map(|()| false);
            }
            flow = self.pipe.wait(flow);
        }
    }
}

impl Drop for ReadAheadSource {
    fn drop(&mut self) {
        self.pipe.lock().left = true;
        self.pipe.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::encode::{Compression, Target};
    use crate::codec::{CodecKind, decoder, memory_bytes};
    use crate::env::clock::RealClock;
    use crate::env::real::RealFiles;
    use crate::env::threads::RealThreads;
    use crate::env::{NamedFile, Threads};
    use crate::memory::Buffer;
    use std::sync::atomic::AtomicBool;

    fn source(bytes: &[u8]) -> Box<DecodedFile> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("yunti-ahead-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).unwrap();
        let file = NamedFile::open(&RealFiles, &path, Code::Input).unwrap();
        std::fs::remove_file(&path).unwrap();
        let decoder = decoder(CodecKind::Gzip, memory_bytes(CodecKind::Gzip)).unwrap();
        Box::new(DecodedFile::new(file, bytes.len() as u64, decoder, Buffer::new(1000, None).unwrap()))
    }

    fn gzip(data: &[u8]) -> Vec<u8> {
        let (mut out, mut encoder) = (Vec::new(), Compression { target: Target::Gzip, level: None }.encoder().unwrap());
        encoder.write(data, &mut out).unwrap();
        encoder.finish(&mut out).unwrap();
        out
    }

    /// Runs `map` with sources that another worker reads. The helper ends when `map` does.
    fn with_helper(map: impl Fn(&ReadAhead, &Arc<Budget>, &AtomicBool) + Sync) {
        let (ahead, cancel, budget) = (ReadAhead::default(), Cancel::default(), Budget::new(1 << 20));
        let stopped = AtomicBool::new(false);
        RealThreads.run(2, &|worker| {
            if worker == 0 {
                let _mapping = ahead.begin_map();
                map(&ahead, &budget, &stopped);
            }
            ahead.help(&|| stopped.load(Ordering::Relaxed), &cancel, &RealClock::start(), |_, _, _| {});
        });
        assert_eq!(budget.used_bytes(), 0);
    }

    fn offered(ahead: &ReadAhead, budget: &Arc<Budget>, mut source: Box<DecodedFile>) -> ReadAheadSource {
        loop {
            source = match ahead.offer(source, budget) {
                Ok(ahead) => return ahead,
                Err(back) => back,
            };
        }
    }

    #[test]
    fn bytes_and_errors_are_the_same() {
        let data: Vec<u8> = (0..50_000u32).flat_map(|n| n.to_le_bytes()).collect();
        let file = gzip(&data);
        with_helper(|ahead, budget, _| {
            for (bytes, to) in [(file.len(), 1), (file.len(), 333), (file.len(), 1 << 20), (file.len() / 2, 5000)] {
                let mut alone = source(&file[..bytes]);
                let mut other = offered(ahead, budget, source(&file[..bytes]));
                let (mut a, mut b) = (vec![0; to], vec![0; to]);
                let failed = loop {
                    match (alone.read(&mut a), other.read(&mut b)) {
                        (Ok(0), Ok(0)) => break None,
                        (Ok(n), Ok(m)) => assert!(n == m && a[..n] == b[..n]),
                        // The bytes read before the failure in the same buffer are dropped.
                        (_, Err(error)) => break Some(error),
                        (a, b) => panic!("{a:?} {b:?}"),
                    }
                };
                let expect = (bytes < file.len()).then_some((Code::Corrupt, Some(bytes as u64)));
                assert_eq!(failed.map(|e| (e.code(), e.offset())), expect);
            }
        });
    }

    #[test]
    fn departing_reader_or_helper_blocks_no_worker() {
        let file = gzip(&vec![7; 1 << 20]);
        with_helper(|ahead, budget, stopped| {
            let mut left = offered(ahead, budget, source(&file));
            assert_eq!(left.read(&mut [0; 10]).unwrap(), 10);
            drop(left);
            // The helper is free again.
            let mut whole = offered(ahead, budget, source(&file));
            assert_eq!(whole.read(&mut vec![0; 2 << 20]).unwrap(), 1 << 20);
            // Another task fails.
            stopped.store(true, Ordering::Relaxed);
            std::thread::sleep(3 * WAIT);
            assert!(ahead.offer(source(&file), budget).is_err(), "no helper waits any more");
        });
    }

    #[test]
    fn offer_needs_memory_and_a_helper() {
        let file = gzip(b"data");
        let (ahead, budget) = (ReadAhead::default(), Budget::new(1 << 20));
        assert!(ahead.offer(source(&file), &budget).is_err());
        with_helper(|ahead, _, _| {
            while !ahead.has_idle() {
                std::thread::yield_now();
            }
            assert!(ahead.offer(source(&file), &Budget::new(100)).is_err());
        });
    }
}
