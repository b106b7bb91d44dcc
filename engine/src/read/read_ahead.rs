//! Decoding ahead: a worker without a split of its own decodes for one that maps a compressed file, which nobody can cut.
//!
//! ```text
//!   maps      ------------ wants bytes --------.                  .-- takes full buffers, maps ----------
//!                                              | its source, as    |
//!   helps     waits for a source ..............'-> it stands ----> reads into empty buffers, one after the other
//! ```
//!
//! No thread is made for it: the job's own workers help when there are more of them than splits, from the beginning or at the end. A source is
//! handed over where it stands; its bytes and its errors stay the same. The buffers are taken from the budget, and nobody helps without.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::decoded_file::DecodedFile;
use crate::env::Clock;
use crate::env::crew::Stop;
use crate::memory::Budget;
use crate::memory::budget::Grant;
use yunti_base::Cancel;
use yunti_base::{Code, Error, Result};

const BUFFERS: usize = 4;
pub const BUFFER_BYTES: usize = if cfg!(debug_assertions) { 700 } else { 256 << 10 };
/// Compressed bytes that must be left: for less, a hand-over is not worth it.
pub const LEFT_BYTES_MIN: u64 = if cfg!(debug_assertions) { 100 } else { 256 << 10 };
/// A wait has an end: whoever fails or is cancelled tells nobody.
const WAIT: Duration = Duration::from_millis(20);

/// Where those who map and those who help meet.
#[derive(Default)]
pub struct ReadAhead {
    queue: Mutex<HelperQueue>,
    changed: Condvar,
    /// Helpers that wait; asked without the lock.
    idle: AtomicUsize,
}

#[derive(Default)]
struct HelperQueue {
    /// Workers that map now; none before the first.
    mapping: Option<usize>,
    offered: VecDeque<(Box<DecodedFile>, Arc<Pipe>)>,
}

/// Full buffers one way, empty ones the other.
struct Pipe {
    state: Mutex<PipeState>,
    changed: Condvar,
}

#[derive(Default)]
struct PipeState {
    /// Buffers with as many bytes as are good.
    full: VecDeque<(Vec<u8>, usize)>,
    empty: Vec<Vec<u8>>,
    /// What the source came to; behind the last full buffer.
    end: Option<Result<()>>,
    /// Nobody reads any more.
    left: bool,
}

/// Says that a worker maps, until it is dropped.
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

    /// Whether somebody waits for a source, as far as can be seen without asking.
    pub fn has_idle(&self) -> bool {
        self.idle.load(Ordering::Relaxed) > 0
    }

    pub fn begin_map(&self) -> MapGuard<'_> {
        let mut queue = self.lock();
        queue.mapping = Some(queue.mapping.unwrap_or(0) + 1);
        MapGuard(self)
    }

    /// Helps until nobody maps. `served` is told when each source was begun, when it was left, and the time that reading it took.
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
        // Nobody is left waiting for a helper that goes.
        for (_, pipe) in queue.offered.drain(..) {
            pipe.end(Err(Error::new(Code::Cancelled, "another task failed")));
        }
    }

    /// Hands a source over if somebody waits for one; else gives it back.
    pub fn offer(
        &self,
        source: Box<DecodedFile>,
        budget: &Arc<Budget>,
    ) -> std::result::Result<ReadAheadSource, Box<DecodedFile>> {
        let mut queue = self.lock();
        // Those who wait, and have not been offered anything since.
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

    /// Reads a source to its end, or until nobody reads; how long the reading took.
    fn fill(&self, source: &mut DecodedFile, cancel: &Cancel, clock: &dyn Clock) -> u64 {
        /// The other side waits for an end: it gets one whatever happens here.
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

/// What somebody else reads.
pub struct ReadAheadSource {
    pipe: Arc<Pipe>,
    path: String,
    /// [from, to) is not taken yet.
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    _grant: Grant,
}

impl ReadAheadSource {
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Reads into `to`, as much as it takes; less only at the end.
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

    /// The next buffer, which may be empty; false at the end.
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

    /// `map` is given sources that another worker reads; when it ends, so does the helper.
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
                        // What was read into the buffer that failed does not come.
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
    fn a_reader_that_goes_and_a_helper_that_goes_leave_nobody_waiting() {
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
            assert!(ahead.offer(source(&file), budget).is_err(), "nobody waits any more");
        });
    }

    #[test]
    fn nobody_helps_without_memory_or_without_a_helper() {
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
