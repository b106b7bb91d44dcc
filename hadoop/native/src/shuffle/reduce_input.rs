//! The input of one reduce task.
//!
//! ```text
//!   begin, append, seal, commit --> segments in memory --merge_memory--> run
//!        (by several fetchers)      segments on disk                      |
//!   add_map_file -----------------> files of maps                         |
//!                                        +------------ open ---- merged --+--> next_batch
//! ```

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use yunti_base::Cancel;
use yunti_base::{Code, Error, Result};
use yunti_engine::bytes::{KeyOrder, Record};
use yunti_engine::env::{Env, OpenFilePool};
use yunti_engine::memory::Budget;
use yunti_engine::run::block::Entry;
use yunti_engine::run::{Block, BlockSource, KeyRange, MergePasses, ReadContext, Run, RunReader, ScratchSpace};

use super::fetched_segment::FetchedSegment;
use crate::compress::Codec;
use crate::ifile::SegmentReader;
use crate::key::{KeyForm, Normaliser};
use crate::sorted::{
    Combine, CombineMode, Comparator, Counts, Frames, Merge, MergerRecords, RunSource, TaskLog, TaskSpace,
};

/// Sources merged at once, at most. For more, another pass costs less than caches that are too small for all.
const FAN_IN_MAX: usize = 512;
/// Files of maps that are open at once. Reduces of one JVM share its limit, and a merge has many sources.
const MAP_FILES_MAX: usize = 64;
const BLOCK_BYTES_MIN: usize = 16 << 10;
const BLOCK_BYTES_MAX: usize = 256 << 10;

/// Settings of a reduce input.
#[derive(Clone, Debug)]
pub struct ReduceSettings {
    /// Form of the keys.
    pub form: KeyForm,
    /// Order of the keys in normal form.
    pub order: KeyOrder,
    /// Codec of the segments.
    pub codec: Codec,
    /// True if the records of each segment are read apart, and not merged (`drain`).
    pub apart: bool,
    /// Bytes for segments in memory; merging takes a part of them.
    pub memory_bytes: u64,
    /// Directories of segments on disk and of runs.
    pub scratch: Vec<PathBuf>,
}

/// The input of one reduce task; several fetchers add segments at once.
pub struct ReduceInput {
    settings: ReduceSettings,
    space: Arc<TaskSpace>,
    /// Normaliser of keys whose form is `Carried`.
    normaliser: Option<Arc<dyn Normaliser>>,
    segments: Mutex<Segments>,
    map_files: Arc<OpenFilePool>,
    combine_mode: Mutex<CombineMode>,
    merged: Mutex<Option<OpenMerge>>,
    /// The whole input, if it is read apart.
    parts: Mutex<Parts>,
}

#[derive(Default)]
struct Segments {
    next: u64,
    open: HashMap<u64, Arc<Mutex<FetchedSegment>>>,
    memory: Vec<Arc<FetchedSegment>>,
    disk: Vec<Arc<FetchedSegment>>,
}

/// Sources that are read one after the other.
#[derive(Default)]
struct Parts {
    segments: Vec<Arc<FetchedSegment>>,
    runs: Vec<Arc<Run>>,
}

struct OpenMerge {
    records: MergerRecords<'static>,
    frames: Frames,
    /// Keeps the runs until all records are read.
    _runs: Vec<Arc<Run>>,
}

impl ReduceInput {
    /// Returns an input without segments. With a `comparator`, segments are in its order, and keys in their own bytes.
    pub fn new(
        settings: ReduceSettings,
        env: Env,
        combiner: Option<Box<dyn Combine>>,
        comparator: Option<Arc<dyn Comparator>>,
    ) -> ReduceInput {
        let map_files = OpenFilePool::new(env.files.clone(), MAP_FILES_MAX);
        let scratch = ScratchSpace::new(env.files.clone(), env.clock.clone(), settings.scratch.clone());
        let run_block_bytes = (settings.memory_bytes / 64).clamp(16 << 10, BLOCK_BYTES_MAX as u64) as usize;
        let space = Arc::new(TaskSpace {
            env,
            scratch,
            runs: Default::default(),
            partitions: 1,
            form: settings.form,
            order: settings.order,
            comparator,
            run_block_bytes,
            counts: Default::default(),
            log: TaskLog::default(),
            cancel: Cancel::default(),
        });
        ReduceInput {
            settings,
            space,
            normaliser: None,
            segments: Mutex::default(),
            map_files,
            combine_mode: Mutex::new(combiner.map_or(CombineMode::Nothing, CombineMode::User)),
            merged: Mutex::default(),
            parts: Mutex::default(),
        }
    }

    /// Sets the normaliser of keys whose form is `Carried`.
    pub fn with_normaliser(self, normaliser: Option<Arc<dyn Normaliser>>) -> ReduceInput {
        ReduceInput { normaliser, ..self }
    }

    /// Returns the task's space.
    pub fn space(&self) -> &TaskSpace {
        &self.space
    }

    fn segments(&self) -> MutexGuard<'_, Segments> {
        self.segments.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Begins a segment of `length` bytes, checksum included, and returns its number.
    ///
    /// Fails with `Code::Memory` if it does not fit in memory.
    pub fn begin(&self, name: String, length: u64, on_disk: bool) -> Result<u64> {
        let fetched = if on_disk {
            FetchedSegment::on_disk(name, length, self.space.scratch.clone())
        } else {
            FetchedSegment::in_memory(name, length)?
        };
        let mut segments = self.segments();
        segments.next += 1;
        let number = segments.next;
        segments.open.insert(number, Arc::new(Mutex::new(fetched)));
        Ok(number)
    }

    fn with<T>(&self, number: u64, act: impl FnOnce(&mut FetchedSegment) -> Result<T>) -> Result<T> {
        let open = self.segments().open.get(&number).cloned().ok_or_else(no_segment)?;
        let mut fetched = open.lock().unwrap_or_else(|e| e.into_inner());
        act(&mut fetched)
    }

    /// Adds received bytes to a segment. Fails with `Code::Corrupt` if they exceed its length.
    pub fn append(&self, number: u64, bytes: &[u8]) -> Result<()> {
        Counts::add(&self.space.counts.ticks, 1);
        self.with(number, |fetched| fetched.append(bytes))
    }

    /// Ends a segment and checks it. After an error it must be fetched again.
    pub fn seal(&self, number: u64) -> Result<()> {
        self.with(number, FetchedSegment::seal)
    }

    /// Accepts a sealed segment into the input.
    pub fn commit(&self, number: u64) -> Result<()> {
        let mut segments = self.segments();
        let open = segments.open.remove(&number).ok_or_else(no_segment)?;
        let fetched = Arc::into_inner(open).ok_or_else(no_segment)?;
        let fetched = Arc::new(fetched.into_inner().unwrap_or_else(|e| e.into_inner()));
        match fetched.is_in_memory() {
            true => segments.memory.push(fetched),
            false => segments.disk.push(fetched),
        }
        Ok(())
    }

    /// Adds a complete segment: `length` bytes, checksum included, from `offset` of a map's file on this machine. The
    /// merge reads it there; damage is found then.
    pub fn add_map_file(&self, name: String, path: PathBuf, offset: u64, length: u64) {
        let segment = FetchedSegment::in_map_file(name, self.map_files.clone(), path, offset, length);
        self.segments().disk.push(Arc::new(segment));
    }

    /// Drops a segment.
    pub fn abort(&self, number: u64) {
        self.segments().open.remove(&number);
    }

    /// Merges the segments in memory into runs; returns the bytes that this frees.
    pub fn merge_memory(&self) -> Result<u64> {
        let segments = std::mem::take(&mut self.segments().memory);
        for group in segments.chunks(self.fan_in()) {
            self.merge_to_run(group)?;
        }
        Ok(segments.iter().map(|s| s.length()).sum())
    }

    /// Returns the number of segments to read at once: in half of the memory, because the other half holds segments.
    fn fan_in(&self) -> usize {
        let each = SegmentReader::memory_bytes(self.settings.codec.kind, BLOCK_BYTES_MIN);
        (self.settings.memory_bytes / 2 / each).clamp(4, FAN_IN_MAX as u64) as usize
    }

    fn merge_to_run(&self, segments: &[Arc<FetchedSegment>]) -> Result<()> {
        let mut sorted = MergerRecords::new(self.merge(self.sources(segments)?)?);
        let mut combine_mode = self.combine_mode.lock().unwrap_or_else(|e| e.into_inner());
        self.space.log.begin(self.space.env.clock.now_ns());
        self.space.write_run(RunSource::Merge { segments: segments.len() }, |to| {
            self.space.drain(&mut sorted, &mut combine_mode, to)
        })
    }

    fn merge(&self, sources: Vec<Box<dyn BlockSource>>) -> Result<Merge<'static>> {
        Merge::new(sources, self.settings.order, self.space.comparator.as_ref())
    }

    /// Returns readers of segments, all together in a quarter of the memory.
    fn sources(&self, segments: &[Arc<FetchedSegment>]) -> Result<Vec<Box<dyn BlockSource>>> {
        let each = self.settings.memory_bytes / 4 / segments.len().max(1) as u64;
        // With a normaliser, records wait beside the block.
        let parts = if self.normaliser.is_some() { 6 } else { 3 };
        let block_bytes = (each as usize / parts).clamp(BLOCK_BYTES_MIN, BLOCK_BYTES_MAX);
        segments
            .iter()
            .map(|fetched| {
                let ReduceSettings { codec, form, .. } = self.settings;
                let name = format!("output of {}", fetched.name());
                let reader = SegmentReader::new(fetched.read(), codec, form, block_bytes, name)?;
                Ok(Box::new(reader.with_normaliser(self.normaliser.clone())) as Box<dyn BlockSource>)
            })
            .collect()
    }

    /// Starts the merge; all segments are complete. Call `next_batch` or `drain` next.
    pub fn open(&self) -> Result<()> {
        let (memory, mut disk) = {
            let mut segments = self.segments();
            (std::mem::take(&mut segments.memory), std::mem::take(&mut segments.disk))
        };
        if self.settings.apart {
            disk.extend(memory);
            let parts = Parts { segments: disk, runs: self.space.runs.take() };
            *self.parts.lock().unwrap_or_else(|e| e.into_inner()) = parts;
            return Ok(());
        }
        // Too many at once: merge the first ones into runs.
        let fan_in = self.fan_in();
        while memory.len() + disk.len() > fan_in && disk.len() > 1 {
            let group: Vec<_> = disk.drain(..disk.len().min(fan_in)).collect();
            self.merge_to_run(&group)?;
        }
        let mut groups = memory.chunks(fan_in).peekable();
        let mut last = &[][..];
        while let Some(group) = groups.next() {
            match groups.peek() {
                Some(_) => self.merge_to_run(group)?,
                None => last = group,
            }
        }
        let budget = Budget::new(u64::MAX / 2);
        let context = ReadContext { budget, cancelled: self.space.cancel.flag() };
        let passes = MergePasses {
            scratch: self.space.scratch.clone(),
            settings: self.space.run_settings(),
            context: context.clone(),
            threads: &*self.space.env.threads,
            workers: 1,
            journal: None,
            on_merge: &|merge| self.space.log.add_merge(merge),
            fan_in: (self.settings.memory_bytes / 4 / self.space.run_block_bytes as u64).clamp(4, 256) as usize,
        };
        let runs = self.space.reduce_runs(&passes, self.space.runs.take())?;
        let together: Vec<Arc<FetchedSegment>> = last.iter().chain(&disk).cloned().collect();
        let mut sources = self.sources(&together)?;
        for run in &runs {
            sources.push(Box::new(RunReader::open(run, KeyRange::whole(0), true, &context)));
        }
        let records = MergerRecords::new(self.merge(sources)?);
        let merging = OpenMerge { records, frames: Frames::new(self.settings.form), _runs: runs };
        *self.merged.lock().unwrap_or_else(|e| e.into_inner()) = Some(merging);
        Ok(())
    }

    /// Passes the next records to `take`, as `Frames::next_batch` returns them.
    pub fn next_batch<T>(&self, room: usize, take: impl FnOnce(std::result::Result<&[u8], usize>) -> T) -> Result<T> {
        let mut merged = self.merged.lock().unwrap_or_else(|e| e.into_inner());
        let OpenMerge { records, frames, .. } = merged.as_mut().ok_or_else(no_segment)?;
        Ok(take(frames.next_batch(records, room)?))
    }

    /// Passes all records, in normal form, to `each`; returns the nanoseconds of merging or reading.
    pub fn drain(&self, each: &mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<u64> {
        if self.settings.apart {
            return self.drain_parts(each);
        }
        let mut merged = self.merged.lock().unwrap_or_else(|e| e.into_inner());
        let OpenMerge { records, .. } = merged.as_mut().ok_or_else(no_segment)?;
        let mut merge_ns = 0;
        while records.next_batch_timed(&*self.space.env.clock, &mut merge_ns, each)? {
            Counts::add(&self.space.counts.ticks, 1);
        }
        Ok(merge_ns)
    }

    /// Returns true if the records of each segment are read apart.
    pub fn is_apart(&self) -> bool {
        self.settings.apart
    }

    /// Returns the bytes of the memory for segments that have none.
    pub fn free_bytes(&self) -> u64 {
        let parts = self.parts.lock().unwrap_or_else(|e| e.into_inner());
        let held = parts.segments.iter().filter(|segment| segment.is_in_memory()).map(|segment| segment.length()).sum();
        self.settings.memory_bytes.saturating_sub(held)
    }

    /// Passes the records of each segment and each run to `each`. A segment's memory is free after its last record.
    fn drain_parts(&self, each: &mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<u64> {
        let Parts { segments, runs } = std::mem::take(&mut *self.parts.lock().unwrap_or_else(|e| e.into_inner()));
        let context = ReadContext { budget: Budget::new(u64::MAX / 2), cancelled: self.space.cancel.flag() };
        let mut read_ns = 0;
        for segment in segments {
            for source in self.sources(std::slice::from_ref(&segment))? {
                read_ns += self.drain_source(source, each)?;
            }
        }
        for run in runs {
            read_ns += self.drain_source(Box::new(RunReader::open(&run, KeyRange::whole(0), true, &context)), each)?;
        }
        Ok(read_ns)
    }

    fn drain_source(
        &self,
        mut source: Box<dyn BlockSource>,
        each: &mut dyn FnMut(Record<'_>) -> Result<()>,
    ) -> Result<u64> {
        let clock = &*self.space.env.clock;
        let (mut block, mut spare, mut entries) = (Block::default(), Vec::new(), Vec::new());
        let mut read_ns = 0;
        loop {
            let start = clock.now_ns();
            let more = source.next_block(&mut block, &mut spare)?;
            read_ns += clock.now_ns() - start;
            if !more {
                return Ok(read_ns);
            }
            let mut at = block.start();
            entries.clear();
            block.decode(&mut at, usize::MAX, KeyOrder::BYTES, |_, entry| entries.push(entry));
            block.check_end(at).map_err(|e| source.locate(e))?;
            for Entry { offset, key_len, len, split } in &entries {
                let bytes = &block.data()[*offset as usize..][..*len as usize];
                each(Record { bytes, key_len: *key_len, split: *split })?;
            }
            Counts::add(&self.space.counts.ticks, 1);
        }
    }
}

fn no_segment() -> Error {
    Error::new(Code::Internal, "a segment is used before it began or after it ended")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::{CodecKind, compressor};
    use crate::vint;

    fn segment(codec: Codec, mut records: Vec<(Vec<u8>, Vec<u8>)>) -> Vec<u8> {
        records.sort();
        let mut raw = Vec::new();
        for (k, v) in &records {
            vint::put(k.len() as i64, &mut raw);
            vint::put(v.len() as i64, &mut raw);
            raw.extend_from_slice(k);
            raw.extend_from_slice(v);
        }
        raw.extend([0xff, 0xff]);
        let mut bytes = Vec::new();
        match compressor(codec).unwrap() {
            None => bytes = raw,
            Some(mut c) => {
                c.write(&raw, &mut bytes).unwrap();
                c.finish(&mut bytes).unwrap();
            }
        }
        let checksum = crc32fast::hash(&bytes);
        bytes.extend(checksum.to_be_bytes());
        bytes
    }

    #[test]
    fn few_files_of_maps_are_open() {
        let dir = std::env::temp_dir().join(format!("yunti-few-files-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let codec = Codec { kind: CodecKind::None, level: -1, buffer_bytes: 0 };
        let scratch = dir.join("scratch");
        std::fs::create_dir_all(&scratch).unwrap();
        let input = input(codec, scratch);
        let maps = 3 * MAP_FILES_MAX;
        for map in 0..maps {
            let bytes = segment(codec, (0..30).map(|n| (format!("{n:02}").into_bytes(), vec![1; 2000])).collect());
            let path = dir.join(format!("map-{map}"));
            std::fs::write(&path, &bytes).unwrap();
            input.add_map_file(format!("map {map}"), path, 0, bytes.len() as u64);
        }
        let open = || {
            let links =
                std::fs::read_dir("/proc/self/fd").unwrap().flatten().flat_map(|f| std::fs::read_link(f.path()));
            links.filter(|link| link.starts_with(&dir) && !link.starts_with(dir.join("scratch"))).count()
        };
        input.open().unwrap();
        let (mut records, mut most_open) = (0, open());
        loop {
            let length = input.next_batch(1 << 20, |batch| batch.unwrap().len()).unwrap();
            most_open = most_open.max(open());
            records += length / (8 + 2 + 2000);
            if length == 0 {
                break;
            }
        }
        assert_eq!(records, 30 * maps);
        assert!((1..=MAP_FILES_MAX).contains(&most_open), "{most_open}");
        drop(input);
        assert_eq!(open(), 0);
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn reports_damage_in_files_of_maps() {
        let path = std::env::temp_dir().join(format!("yunti-map-file-{}", std::process::id()));
        let codec = Codec { kind: CodecKind::None, level: -1, buffer_bytes: 0 };
        let whole = segment(codec, vec![(b"key".to_vec(), vec![7; 100])]);
        let read = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let input = input(codec, std::env::temp_dir());
            input.add_map_file("map 1".into(), path.clone(), 0, whole.len() as u64);
            input.open()?;
            input.next_batch(1000, |batch| batch.map(<[u8]>::len).unwrap())
        };
        assert!(read(b"").unwrap_err().to_string().contains("map 1"));
        assert_eq!(read(&whole).unwrap(), 8 + 3 + 100);
        let mut flipped = whole.clone();
        flipped[50] ^= 1;
        for (bytes, what) in
            [(&flipped[..], "wrong checksum"), (&whole[..60], "too early"), (&whole[..108], "too early")]
        {
            let error = read(bytes).unwrap_err().to_string();
            assert!(error.contains("map 1") && error.contains(what), "{error}");
        }
        std::fs::remove_file(&path).unwrap();
    }

    fn input(codec: Codec, scratch: PathBuf) -> ReduceInput {
        let (form, order) = (KeyForm::Same, KeyOrder::BYTES);
        let settings =
            ReduceSettings { form, order, codec, apart: false, memory_bytes: 1 << 20, scratch: vec![scratch] };
        ReduceInput::new(settings, Env::real(), None, None)
    }

    #[test]
    fn merges_segments_by_every_path() {
        let dir = std::env::temp_dir().join(format!("yunti-shuffle-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let mut number = 7u64;
        let mut draw = |below: u64| {
            number = number.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (number >> 33) % below
        };
        for kind in [CodecKind::None, CodecKind::Snappy, CodecKind::Gzip] {
            let codec = Codec { kind, level: -1, buffer_bytes: 256 << 10 };
            let input = input(codec, dir.clone());
            let mut expect = Vec::new();
            for map in 0..40 {
                let records: Vec<_> = (0..draw(300))
                    .map(|_| {
                        let key: Vec<u8> = (0..draw(6)).map(|_| draw(4) as u8 + b'a').collect();
                        (key, vec![map as u8; draw(200) as usize])
                    })
                    .collect();
                expect.extend(records.iter().cloned());
                let bytes = segment(codec, records);
                if map % 5 == 1 {
                    let path = dir.join(format!("map-{map}"));
                    std::fs::write(&path, [&b"other segment"[..], &bytes, b"more"].concat()).unwrap();
                    input.add_map_file(format!("map {map}"), path, 13, bytes.len() as u64);
                    continue;
                }
                let n = input.begin(format!("map {map}"), bytes.len() as u64, map % 3 == 0).unwrap();
                bytes.chunks(1000).for_each(|c| input.append(n, c).unwrap());
                input.seal(n).unwrap();
                if map % 7 == 6 {
                    input.abort(n);
                    expect.retain(|(_, v)| v.first().is_none_or(|&m| m != map as u8));
                    expect.retain(|(_, v)| !v.is_empty());
                    continue;
                }
                input.commit(n).unwrap();
                if map % 10 == 9 {
                    input.merge_memory().unwrap();
                }
            }
            input.open().unwrap();
            let mut all = Vec::new();
            let mut room = 100;
            loop {
                let done = input
                    .next_batch(room, |batch| match batch {
                        Err(need) => {
                            room = need;
                            false
                        }
                        Ok(mut bytes) => {
                            let end = bytes.is_empty();
                            while !bytes.is_empty() {
                                let n = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
                                let (k, v) = (n(0), n(4));
                                all.push((bytes[8..8 + k].to_vec(), bytes[8 + k..8 + k + v].to_vec()));
                                bytes = &bytes[8 + k + v..];
                            }
                            end
                        }
                    })
                    .unwrap();
                if done {
                    break;
                }
            }
            assert!(all.windows(2).all(|w| w[0].0 <= w[1].0));
            // Empty values do not identify their map.
            all.retain(|(_, v)| !v.is_empty());
            expect.retain(|(_, v)| !v.is_empty());
            all.sort();
            expect.sort();
            assert!(all == expect, "{kind:?}: {} of {}", all.len(), expect.len());
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn rejects_broken_segments_before_commit() {
        let codec = Codec { kind: CodecKind::None, level: -1, buffer_bytes: 0 };
        let good = segment(codec, vec![(b"k".to_vec(), b"v".to_vec())]);
        let settings = ReduceSettings {
            form: KeyForm::Same,
            order: KeyOrder::BYTES,
            codec,
            apart: false,
            memory_bytes: 1 << 20,
            scratch: vec![std::env::temp_dir()],
        };
        let input = ReduceInput::new(settings, Env::real(), None, None);
        for on_disk in [false, true] {
            for flip in 0..good.len() {
                let mut bad = good.clone();
                bad[flip] ^= 1;
                let n = input.begin("map 1".into(), bad.len() as u64, on_disk).unwrap();
                input.append(n, &bad).unwrap();
                assert!(input.seal(n).unwrap_err().to_string().contains("checksum"));
                input.abort(n);
            }
            let n = input.begin("map 1".into(), good.len() as u64, on_disk).unwrap();
            input.append(n, &good[..good.len() - 1]).unwrap();
            assert!(input.seal(n).unwrap_err().to_string().contains("map 1 has"));
        }
        // A header may hold any length.
        for length in [1 << 50, u64::MAX] {
            let error = input.begin("map 1".into(), length, false).unwrap_err();
            assert!(error.to_string().contains("too many for memory"), "{error}");
            let n = input.begin("map 1".into(), length, true).unwrap();
            input.append(n, &good).unwrap();
            assert!(input.seal(n).unwrap_err().to_string().contains("map 1 has"));
            input.abort(n);
        }
    }
}
