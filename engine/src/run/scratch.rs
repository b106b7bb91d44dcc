//! The job's scratch space: one unnamed file in each of several local directories. A block goes where it is stored
//! soonest (`scratch_choice`).
//!
//! ```text
//!   /disk1   | block 0 | block 2 |  (hole)  | block 7 | ->          an extent = (file, offset, length)
//!   /disk2   | block 1 |  (hole)  | block 5 | block 6 | ->
//! ```
//!
//! A file is opened at the first write to its directory. Space is handed out upwards and never reused: freed extents
//! become holes. Blocks are smaller than the pages that a file system can punch. Freed neighbours are therefore joined
//! first, and only whole pages of the joined range are punched.
//!
//! The files of a job with a journal have names: they outlive the process (`job/journal`).
//!
//! Limitations: a file system that cannot punch holes keeps the space until the job ends. Writes go through the page
//! cache, and only a durable journal syncs them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::codec_gauge::CodecGauge;
use super::scratch_choice::{self, Choice, ScratchDir};
use crate::env::sync::{Mutex, MutexGuard};
use crate::env::{Clock, Files, NamedFile};
use yunti_base::directory_health::{DirectoryHealth, FailureRule};
use yunti_base::{Code, Error, Result};

/// Position of a written block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub len: u32,
    /// Number of the scratch directory.
    pub file: u16,
}

/// Use of scratch, for the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScratchUse {
    /// Bytes written in total.
    pub written_bytes: u64,
    /// Bytes in use now.
    pub held_bytes: u64,
    /// Most bytes in use so far.
    pub held_bytes_peak: u64,
}

/// Use of one scratch directory.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectoryUse {
    pub path: PathBuf,
    pub written_bytes: u64,
    /// Bytes per second, measured or assumed.
    pub speed: f64,
}

/// Scratch files of a job; threads share them.
pub struct ScratchSpace {
    files: Arc<dyn Files>,
    clock: Arc<dyn Clock>,
    directories: Vec<Directory>,
    written_bytes: AtomicU64,
    held_bytes: AtomicU64,
    held_bytes_peak: AtomicU64,
    gauge: CodecGauge,
}

struct Directory {
    path: PathBuf,
    /// Name for the file, if it must outlive the process.
    name: Option<PathBuf>,
    health: DirectoryHealth,
    /// Room and speed.
    choice: Choice,
    bad_reads: AtomicU64,
    written_bytes: AtomicU64,
    file: Mutex<Option<NamedFile>>,
    end: AtomicU64,
    free: Mutex<FreeRanges>,
}

impl ScratchSpace {
    /// Returns a scratch space over these directories; no directory is touched yet.
    ///
    /// # Panics
    /// Panics without a directory, or with more than 65,536.
    pub fn new(files: Arc<dyn Files>, clock: Arc<dyn Clock>, directories: Vec<PathBuf>) -> Arc<Self> {
        let directories = directories.into_iter().map(ScratchDir::from).collect();
        ScratchSpace::with_rule(files, clock, directories, FailureRule::default())
    }

    /// Returns a scratch space as `new` does, with the given rule for failing directories.
    pub fn with_rule(
        files: Arc<dyn Files>,
        clock: Arc<dyn Clock>,
        directories: Vec<ScratchDir>,
        rule: FailureRule,
    ) -> Arc<Self> {
        assert!(!directories.is_empty() && directories.len() <= 1 << 16);
        let directories = directories.into_iter().map(|dir| Directory::new(dir, &*files, rule)).collect();
        Arc::new(ScratchSpace {
            files,
            clock,
            directories,
            written_bytes: AtomicU64::new(0),
            held_bytes: AtomicU64::new(0),
            held_bytes_peak: AtomicU64::new(0),
            gauge: CodecGauge::default(),
        })
    }

    /// Returns a scratch space whose files have names, one for each directory. They stay when the space is dropped.
    pub fn named(
        files: Arc<dyn Files>,
        clock: Arc<dyn Clock>,
        directories: Vec<ScratchDir>,
        names: &[PathBuf],
        rule: FailureRule,
    ) -> Arc<Self> {
        assert!(directories.len() == names.len());
        let mut space = ScratchSpace::with_rule(files, clock, directories, rule);
        if let Some(space) = Arc::get_mut(&mut space) {
            for (directory, name) in space.directories.iter_mut().zip(names) {
                directory.name = Some(name.clone());
            }
        }
        space
    }

    /// Returns a scratch space of files that an earlier process wrote, for reading. `held_bytes`: bytes of the extents
    /// in use. A file that cannot be opened fails at the first read.
    pub fn of_files(files: Arc<dyn Files>, clock: Arc<dyn Clock>, paths: &[PathBuf], held_bytes: u64) -> Arc<Self> {
        let space = ScratchSpace::new(files, clock, paths.to_vec());
        for directory in &space.directories {
            directory.health.retire();
            // For writing, so that freed extents become holes.
            let dir = directory.path.parent().unwrap_or(&directory.path);
            let file = space.files.named_scratch(dir, &directory.path, false);
            *directory.lock_file() = file.ok().map(|file| NamedFile::new(file, &directory.path, Code::Output));
        }
        space.held_bytes.store(held_bytes, Ordering::Relaxed);
        space
    }

    /// Writes the data of all files to stable storage.
    pub fn sync(&self) -> Result<()> {
        self.directories.iter().filter_map(|directory| directory.lock_file().clone()).try_for_each(|file| file.sync())
    }

    /// Writes the pieces one behind the other.
    ///
    /// Tries the next directory if one fails. A failing directory is retried until its rule retires it. Returns the
    /// last error if no directory is left.
    pub fn write(&self, pieces: &[&[u8]]) -> Result<Extent> {
        let len: usize = pieces.iter().map(|p| p.len()).sum();
        let len = u32::try_from(len).expect("a block is smaller than 4 GiB");
        let bytes = u64::from(len);
        let mut last = None;
        while let Some(number) = self.best(bytes) {
            let directory = &self.directories[number];
            let started = self.clock.now_ns();
            if !directory.choice.take(bytes, started) {
                continue;
            }
            match directory.write(&*self.files, pieces, len) {
                Ok(offset) => {
                    let now_ns = self.clock.now_ns();
                    self.gauge.note_write(bytes, now_ns.saturating_sub(started));
                    self.count_write(bytes);
                    directory.measure(bytes, now_ns);
                    return Ok(Extent { offset, len, file: number as u16 });
                }
                Err(e) => {
                    directory.choice.free(bytes);
                    directory.health.note_error(self.clock.now_ns());
                    last = Some(e);
                }
            }
        }
        Err(last.unwrap_or_else(|| self.no_directory()))
    }

    fn no_directory(&self) -> Error {
        let path = self.directories[0].path.to_string_lossy().into_owned();
        if self.directories.iter().any(|directory| directory.health.is_usable()) {
            return Error::new(Code::Output, "the scratch directories hold as much as they may")
                .at_path(path)
                .hint("allow more with --scratch DIR:SIZE, or name another directory");
        }
        Error::new(Code::Output, "no writable scratch directory is left").at_path(path)
    }

    /// Fills `buffer` with the start of the extent; it must not be longer than the extent. A failed read is retried
    /// once.
    pub fn read(&self, extent: Extent, buffer: &mut [u8]) -> Result<()> {
        assert!(buffer.len() <= extent.len as usize);
        let file = self.file(extent)?;
        file.read_exact(buffer, extent.offset).or_else(|_| {
            self.note_bad_read(extent);
            file.read_exact(buffer, extent.offset).map_err(|e| {
                self.note_bad_read(extent);
                e.hint("run the job again")
            })
        })
    }

    /// Counts a failed or wrong read of an extent, for its directory's health and the report.
    pub fn note_bad_read(&self, extent: Extent) {
        let directory = &self.directories[extent.file as usize];
        directory.bad_reads.fetch_add(1, Ordering::Relaxed);
        directory.health.note_error(self.clock.now_ns());
    }

    /// Frees an extent, at most once; it is not read afterwards.
    pub fn free(&self, extent: Extent) {
        let before = self.held_bytes.fetch_sub(u64::from(extent.len), Ordering::Relaxed);
        debug_assert!(before >= u64::from(extent.len), "an extent was freed twice");
        self.directories[extent.file as usize].choice.free(u64::from(extent.len));
        self.directories[extent.file as usize].punch(extent.offset, u64::from(extent.len));
    }

    /// Removes an extent from the account but leaves its space to the end of the file. Punching tens of thousands of
    /// holes before a file is closed costs seconds and gains nothing.
    pub fn forget(&self, extent: Extent) {
        let before = self.held_bytes.fetch_sub(u64::from(extent.len), Ordering::Relaxed);
        debug_assert!(before >= u64::from(extent.len), "an extent was freed twice");
    }

    /// Returns the name of an extent's directory, for messages.
    pub fn path(&self, extent: Extent) -> String {
        self.directories[extent.file as usize].path.to_string_lossy().into_owned()
    }

    /// Returns the use of scratch so far.
    pub fn usage(&self) -> ScratchUse {
        ScratchUse {
            written_bytes: self.written_bytes.load(Ordering::Relaxed),
            held_bytes: self.held_bytes.load(Ordering::Relaxed),
            held_bytes_peak: self.held_bytes_peak.load(Ordering::Relaxed),
        }
    }

    /// Returns the directories that failed too often and are out of use, for the report.
    pub fn retired(&self) -> Vec<PathBuf> {
        self.directories.iter().filter(|d| !d.health.is_usable()).map(|d| d.path.clone()).collect()
    }

    /// Returns the use of each directory, for the report.
    pub fn by_directory(&self) -> Vec<DirectoryUse> {
        let use_of = |directory: &Directory| DirectoryUse {
            path: directory.path.clone(),
            written_bytes: directory.written_bytes.load(Ordering::Relaxed),
            speed: directory.choice.speed(),
        };
        self.directories.iter().map(use_of).collect()
    }

    /// Returns the directories with failed or wrong reads and their number, for the report.
    pub fn bad_reads(&self) -> Vec<(PathBuf, u64)> {
        let all = self.directories.iter().map(|d| (d.path.clone(), d.bad_reads.load(Ordering::Relaxed)));
        all.filter(|(_, n)| *n > 0).collect()
    }

    pub(super) fn gauge(&self) -> &CodecGauge {
        &self.gauge
    }

    pub(super) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Returns the usable directory that stores a block soonest.
    fn best(&self, len: u64) -> Option<usize> {
        let usable = self.directories.iter().enumerate().filter(|(_, directory)| directory.health.is_usable());
        scratch_choice::best(usable.map(|(i, directory)| (i, &directory.choice)), len, self.clock.now_ns())
    }

    fn count_write(&self, len: u64) {
        self.written_bytes.fetch_add(len, Ordering::Relaxed);
        let held = self.held_bytes.fetch_add(len, Ordering::Relaxed) + len;
        self.held_bytes_peak.fetch_max(held, Ordering::Relaxed);
    }

    fn file(&self, extent: Extent) -> Result<NamedFile> {
        let missing = || Error::new(Code::Output, "a scratch file is gone").at_path(self.path(extent));
        self.directories.get(extent.file as usize).and_then(|d| d.lock_file().clone()).ok_or_else(missing)
    }
}

impl Directory {
    fn new(dir: ScratchDir, files: &dyn Files, rule: FailureRule) -> Self {
        let choice = Choice::new(files.storage(&dir.path).as_ref(), dir.bytes_max);
        Directory {
            path: dir.path,
            name: None,
            health: DirectoryHealth::new(rule),
            choice,
            written_bytes: AtomicU64::new(0),
            bad_reads: AtomicU64::new(0),
            file: Mutex::new(None),
            end: AtomicU64::new(0),
            free: Mutex::new(FreeRanges::default()),
        }
    }

    /// Writes the pieces and returns their offset.
    fn write(&self, files: &dyn Files, pieces: &[&[u8]], len: u32) -> Result<u64> {
        let file = self.opened(files)?;
        let offset = self.end.fetch_add(u64::from(len), Ordering::Relaxed);
        let mut at = offset;
        for piece in pieces {
            if let Err(e) = file.write_all(piece, at) {
                self.punch(offset, u64::from(len));
                return Err(e);
            }
            at += piece.len() as u64;
        }
        Ok(offset)
    }

    /// Counts a written block, and measures now and then how fast the storage takes what was written.
    fn measure(&self, len: u64, now_ns: u64) {
        let written = self.written_bytes.fetch_add(len, Ordering::Relaxed) + len;
        if self.choice.is_due(now_ns)
            && let Some(file) = &*self.lock_file()
            && let Some(unwritten) = file.file().unwritten_bytes()
        {
            self.choice.measure(written, unwritten, now_ns);
        }
    }

    fn opened(&self, files: &dyn Files) -> Result<NamedFile> {
        let mut file = self.lock_file();
        if let Some(file) = &*file {
            return Ok(file.clone());
        }
        let made = match &self.name {
            Some(name) => files.named_scratch(&self.path, name, true),
            None => files.scratch(&self.path),
        };
        let made = made.map_err(|e| {
            // The directory is missing or not this user's: no later write will change this.
            if matches!(e.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR | libc::EACCES | libc::EPERM | libc::EROFS))
            {
                self.health.retire();
            }
            Error::io(Code::Output, "cannot make a scratch file", &e).at_path(self.path.to_string_lossy())
        })?;
        Ok(file.insert(NamedFile::new(made, &self.path, Code::Output)).clone())
    }

    fn punch(&self, offset: u64, len: u64) {
        let pages = self.free.lock().unwrap_or_else(|e| e.into_inner()).add(offset, len);
        if let (Some((start, end)), Some(file)) = (pages, &*self.lock_file()) {
            file.file().punch(start, end - start);
        }
    }

    fn lock_file(&self) -> MutexGuard<'_, Option<NamedFile>> {
        self.file.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// Freed ranges of a file, joined.
#[derive(Default)]
struct FreeRanges {
    end_by_start: BTreeMap<u64, u64>,
}

/// Bytes of a page, the smallest hole that file systems punch.
const PAGE_BYTES: u64 = 4096;

impl FreeRanges {
    /// Adds a range; returns the whole pages that it made free.
    fn add(&mut self, offset: u64, len: u64) -> Option<(u64, u64)> {
        if len == 0 {
            return None;
        }
        let (mut start, mut end) = (offset, offset + len);
        if let Some((&s, &e)) = self.end_by_start.range(..start).next_back()
            && e == start
        {
            start = s;
        }
        if let Some(e) = self.end_by_start.remove(&end) {
            end = e;
        }
        self.end_by_start.insert(start, end);
        // Return only pages that the new range touches: the others are holes already.
        let first = (offset / PAGE_BYTES * PAGE_BYTES).max(start.next_multiple_of(PAGE_BYTES));
        let last = (offset + len).next_multiple_of(PAGE_BYTES).min(end / PAGE_BYTES * PAGE_BYTES);
        (first < last).then_some((first, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::clock::RealClock;
    use crate::env::faulty::{Fault, FaultyFiles, Operation, Step};
    use crate::env::random::Random;
    use crate::env::real::RealFiles;

    fn dirs(paths: &[PathBuf]) -> Vec<ScratchDir> {
        paths.iter().cloned().map(ScratchDir::from).collect()
    }

    fn space(files: Arc<dyn Files>, directories: &[PathBuf]) -> Arc<ScratchSpace> {
        ScratchSpace::new(files, Arc::new(RealClock::start()), directories.to_vec())
    }

    fn check(space: &ScratchSpace, written: &[(Extent, Vec<u8>)]) {
        for (extent, bytes) in written {
            let mut back = vec![0; bytes.len()];
            space.read(*extent, &mut back).unwrap();
            assert_eq!(back, *bytes);
        }
    }

    #[test]
    fn any_thread_reads_what_was_written_and_freed_space_is_punched() {
        let directory = std::env::temp_dir();
        let space = space(Arc::new(RealFiles), &[directory.clone(), directory]);
        let all: Mutex<Vec<(Extent, Vec<u8>)>> = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let (space, all) = (&space, &all);
                scope.spawn(move || {
                    let mut random = Random::new(thread);
                    for i in 0..100 {
                        let bytes = vec![(thread * 50 + i) as u8; random.below(9000) as usize];
                        let half = bytes.len() / 2;
                        let extent = space.write(&[&bytes[..half], &bytes[half..]]).unwrap();
                        all.lock().unwrap().push((extent, bytes));
                    }
                });
            }
        });
        let mut all = all.into_inner().unwrap();
        check(&space, &all);
        let total: u64 = all.iter().map(|(e, _)| u64::from(e.len)).sum();
        assert_eq!(space.usage(), ScratchUse { written_bytes: total, held_bytes: total, held_bytes_peak: total });
        // Freeing every other extent leaves the rest alone.
        let mut odd = false;
        all.retain(|(extent, _)| {
            odd = !odd;
            if odd {
                space.free(*extent);
            }
            !odd
        });
        check(&space, &all);
        all.iter().for_each(|(extent, _)| space.free(*extent));
        assert_eq!(space.usage().held_bytes, 0);
        assert_eq!(space.usage().held_bytes_peak, total);
    }

    #[test]
    fn punches_each_page_exactly_once() {
        let mut random = Random::new(7);
        for _ in 0..50 {
            // Neighbouring extents, freed in any order.
            let mut extents = Vec::new();
            let mut end = 0;
            for _ in 0..200 {
                let len = random.below(6000);
                extents.push((end, len));
                end += len;
            }
            for i in (1..extents.len()).rev() {
                extents.swap(i, random.below(i as u64 + 1) as usize);
            }
            let mut punched = vec![0u32; (end / PAGE_BYTES) as usize];
            let mut free = FreeRanges::default();
            for (offset, len) in extents {
                if let Some((start, end)) = free.add(offset, len) {
                    (start / PAGE_BYTES..end / PAGE_BYTES).for_each(|page| punched[page as usize] += 1);
                }
            }
            assert!(punched.iter().all(|&n| n == 1), "{punched:?}");
            assert_eq!(free.end_by_start, BTreeMap::from([(0, end)]));
        }
    }

    #[test]
    fn another_directory_takes_over_and_the_last_error_is_reported() {
        let good = std::env::temp_dir();
        let missing = good.join("yunti-there-is-no-such-directory");
        let two = space(Arc::new(RealFiles), &[missing.clone(), good.clone()]);
        let written: Vec<_> = (0..20u8).map(|i| (two.write(&[&[i; 100]]).unwrap(), vec![i; 100])).collect();
        check(&two, &written);
        assert_eq!(two.retired(), [missing]);

        let full = FaultyFiles::new(Arc::new(RealFiles), 6, true, Fault::Errno(libc::ENOSPC));
        let full = space(Arc::new(full), &[good.clone(), good.clone()]);
        let error = (0..20).find_map(|_| full.write(&[b"block"]).err()).unwrap();
        assert_eq!(error.code(), Code::Output);
        assert_eq!(error.path(), Some(&*good.to_string_lossy()));
        assert!(error.to_string().contains("free some space"), "{error}");
        assert_eq!(full.retired().len(), 2);
        assert_eq!(full.write(&[b"block"]).unwrap_err().code(), Code::Output);
    }

    #[test]
    fn retires_a_directory_by_its_rule() {
        let good = std::env::temp_dir();
        for (errors_max, usable) in [(3, false), (4, true)] {
            let only = |step: &Step| step.operation == Operation::Write;
            let files = FaultyFiles::only(Arc::new(RealFiles), 1, true, Fault::Errno(libc::EIO), only);
            let rule = FailureRule { errors_max, window_ns: u64::MAX };
            let space = ScratchSpace::with_rule(
                Arc::new(files),
                Arc::new(RealClock::start()),
                dirs(&[good.clone(), good.clone()]),
                rule,
            );
            // Both directories fail in turn.
            let clock = space.clock().now_ns();
            for i in 0..3 {
                space.directories[0].health.note_error(clock + i);
            }
            assert_eq!(space.retired().len(), usize::from(!usable));
            assert!(space.write(&[b"block"]).is_err() && space.retired().len() == 2);
        }
    }

    #[test]
    fn retries_and_counts_a_failed_read() {
        let only = |step: &Step| step.operation == Operation::Read;
        for (sticky, reads) in [(false, 2), (true, 2)] {
            let fault = Fault::Errno(libc::EIO);
            let files = Arc::new(FaultyFiles::only(Arc::new(RealFiles), 1, sticky, fault, only));
            let one = space(files.clone(), &[std::env::temp_dir()]);
            let extent = one.write(&[b"block"]).unwrap();
            let mut back = [0; 5];
            assert_eq!(one.read(extent, &mut back).is_err(), sticky);
            assert!(files.operations() == reads && (sticky || &back == b"block"));
        }
    }

    #[test]
    fn retries_a_failure_of_the_only_directory() {
        let files = FaultyFiles::new(Arc::new(RealFiles), 2, false, Fault::Errno(libc::EIO));
        let one = space(Arc::new(files), &[std::env::temp_dir()]);
        let extent = one.write(&[b"block"]).unwrap();
        check(&one, &[(extent, b"block".to_vec())]);
        assert!(one.retired().is_empty());
    }
}
