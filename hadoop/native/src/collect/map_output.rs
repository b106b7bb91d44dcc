//! The output of one map task, from the mapper's batches to the file that reducers fetch.
//!
//! ```text
//!   put, put_large --> collector --full--> Spiller --> run, run, ...
//!                       | finish                        |
//!                       +-- nothing spilled: sorted ----+-- merged --> OutputFile (IFile)
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use yunti_base::Cancel;
use yunti_base::{Code, Result};
use yunti_engine::bytes::{KeyOrder, Record};
use yunti_engine::collect::partition::Partition;
use yunti_engine::collect::store::Layout;
use yunti_engine::collect::{Collector, Store};
use yunti_engine::env::{Env, NamedFile};
use yunti_engine::memory::Budget;
use yunti_engine::operator::Type;
use yunti_engine::run::passes::{LargeRecords, merge_memory_bytes};
use yunti_engine::run::{MergePasses, ReadContext, Run, ScratchSpace, writer_memory_bytes};

use super::spill::{BackgroundSpill, Spiller};
use super::sum_table::SumTable;
use crate::compress::Codec;
use crate::ifile::{OutputFile, Segment};
use crate::key::{KeyForm, ValueForm};
use crate::sorted::compared_records::PLACE_BYTES;
use crate::sorted::{Combine, CombineMode, Comparator, MergedRuns, RunSource, TaskLog, TaskSpace};

/// Bytes of a map output's memory, at least: enough for the blocks of a collector and of a run.
const MEMORY_BYTES_MIN: u64 = 4 << 20;

/// Bytes that a collected record takes, at least: its header, a key, and its entry.
const RECORD_BYTES_MIN: u64 = 32;

/// Settings of a map output.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Number of partitions.
    pub partitions: u32,
    /// Form of the keys.
    pub form: KeyForm,
    /// Form of the values. Other than `Same`: native code sums them instead of the combiner.
    pub values: ValueForm,
    /// Codec of the output file.
    pub codec: Codec,
    /// `mapreduce.task.io.sort.mb`, in bytes.
    pub memory_bytes: u64,
    /// Directories of spilled runs.
    pub scratch: Vec<PathBuf>,
    /// `mapreduce.map.combine.minspills`: fewer spills are merged without the combiner.
    pub combine_spills_min: usize,
}

/// User code of a map output.
#[derive(Default)]
pub struct UserCode {
    /// Combiners: one for the spills, one for the end.
    pub combiners: Option<[Box<dyn Combine>; 2]>,
    /// Comparator of the keys, which are in their own bytes then.
    pub comparator: Option<Arc<dyn Comparator>>,
}

/// Result of a finished map output, for the index and the counters.
#[derive(Clone, Debug, Default)]
pub struct MapOutputTotals {
    /// Segments of the output file, one per partition.
    pub segments: Vec<Segment>,
    /// Number of spills.
    pub spills: u64,
    /// Records written to runs and to the file.
    pub spilled_records: u64,
    /// Records that left the table of sums.
    pub summed_records: u64,
    /// Nanoseconds that the mapper waited for spills before the end, and at the end.
    pub spill_ns: [u64; 2],
}

/// The output of one map task.
pub struct MapOutput {
    settings: Settings,
    space: Arc<TaskSpace>,
    budget: Arc<Budget>,
    store: Arc<Store>,
    collector: Collector<'static>,
    spilling: Arc<BackgroundSpill>,
    /// Bytes that the collector may fill during background spills; None once it is set.
    share_while_spilling: Option<u64>,
    summed: Option<SumTable>,
    /// Combiner of the last merge; spills have their own.
    combine_mode: CombineMode,
    /// Buffer for a record larger than a batch that cannot be written where it stays.
    room: Vec<u8>,
}

/// Bytes of the buffer that are kept: if all records are large, a new buffer for each would cost as much as the record.
const ROOM_BYTES_KEPT: usize = 1 << 20;

impl MapOutput {
    /// Returns an empty output. Fails with `Code::Memory` if memory cannot be mapped.
    pub fn new(settings: Settings, env: Env, user_code: UserCode) -> Result<MapOutput> {
        let UserCode { combiners, comparator } = user_code;
        let memory = settings.memory_bytes.max(MEMORY_BYTES_MIN);
        let budget = Budget::new(memory);
        let block_bytes = if memory < 64 << 20 { 128 << 10 } else { 1 << 20 };
        let run_block_bytes = (memory / 64).clamp(16 << 10, 256 << 10) as usize;
        let store = Arc::new(Store::new(budget.clone(), block_bytes, Layout::Headers, KeyOrder::BYTES)?);
        let scratch = ScratchSpace::new(env.files.clone(), env.clock.clone(), settings.scratch.clone());
        let space = Arc::new(TaskSpace {
            env,
            scratch,
            runs: Default::default(),
            partitions: settings.partitions,
            form: settings.form,
            order: KeyOrder::BYTES,
            comparator,
            run_block_bytes,
            counts: Default::default(),
            log: TaskLog::default(),
            cancel: Cancel::default(),
        });
        let sums = settings.values != ValueForm::Same;
        let [first, second] = match combiners {
            Some(combiners) => combiners.map(CombineMode::User),
            None if sums => [CombineMode::Sum, CombineMode::Sum],
            None => [CombineMode::Nothing, CombineMode::Nothing],
        };
        let spilling = BackgroundSpill::new(space.clone(), first);
        let spiller = Spiller { spilling: spilling.clone(), store: store.clone() };
        let partition = match settings.partitions {
            1 => Partition::One,
            // Sums that leave a table must find their partition again.
            parts if sums => Partition::Hash { parts, key_type: Type::Bytes },
            parts => Partition::Given { parts, chosen: Vec::new() },
        };
        let mut share = memory - writer_memory_bytes(run_block_bytes);
        if space.comparator.is_some() {
            // A list of places beside the records: a fourth of the smallest record with its entry.
            share -= share / (1 + RECORD_BYTES_MIN / PLACE_BYTES);
        }
        let batch_bytes = batch_bytes(block_bytes);
        let summed = match sums {
            true => {
                let table = share / 3 * 2;
                share -= table;
                Some(SumTable::new(&budget.part(table), space.env.seed, batch_bytes)?)
            }
            false => None,
        };
        let types = (Type::Bytes, Type::Bytes);
        let mut collector = Collector::new(store.clone(), types, partition, None, Box::new(spiller), share);
        collector.begin_split(0);
        let share_while_spilling = Some(share / 2);
        Ok(MapOutput {
            combine_mode: second,
            settings,
            space,
            budget,
            store,
            collector,
            spilling,
            share_while_spilling,
            summed,
            room: Vec::new(),
        })
    }

    /// After the first spill, the collector and the background spill share the memory.
    fn share(&mut self) {
        if !self.space.runs.is_empty()
            && let Some(half) = self.share_while_spilling.take()
        {
            self.collector.set_share(half);
        }
    }

    /// Returns the bytes of a batch, at most.
    pub fn batch_bytes(&self) -> usize {
        batch_bytes(self.store.pool().block_bytes())
    }

    /// Adds a batch of records in normal form and form COPY: `fill` writes `len` bytes.
    ///
    /// Fails with the error of `fill` or of a spill.
    pub fn put(&mut self, len: usize, partitions: &[u32], fill: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
        match &mut self.summed {
            Some(summed) => summed.put(len, fill, &mut self.collector)?,
            None => self.collector.put(len, partitions, fill)?,
        }
        self.share();
        Ok(())
    }

    /// Adds one record larger than a batch: `fill` writes its key, then its value. Fails as `put` does.
    pub fn put_large(
        &mut self,
        key_len: usize,
        value_len: usize,
        partition: u32,
        fill: impl FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let len = (key_len + value_len) as u64;
        let eighth = self.budget.limit_bytes() / 8;
        // Until the first spill nothing else takes memory, so free memory stays free. Most outputs end without a spill.
        // Writing and reading a run costs more than all other work on a giant record.
        let is_first = self.space.runs.is_empty() && self.budget.free_bytes() >= len + eighth;
        match (len <= eighth || is_first, self.summed.is_some()) {
            (true, false) => self.collector.fill_large(key_len, value_len, partition, fill)?,
            // The partition follows from the key, which must be there before.
            (true, true) => self.with_room(len as usize, fill, |own, bytes| {
                let (key, value) = bytes.split_at(key_len);
                own.collector.put_large(key, value, partition)
            })?,
            (false, _) => {
                self.with_room(len as usize, fill, |own, bytes| own.spill_alone(bytes, key_len, partition))?
            }
        }
        self.share();
        Ok(())
    }

    /// Passes a record that `fill` writes to `take`.
    fn with_room(
        &mut self,
        len: usize,
        mut fill: impl FnMut(&mut [u8]) -> Result<()>,
        take: impl FnOnce(&mut MapOutput, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut room = std::mem::take(&mut self.room);
        if room.len() < len {
            room.resize(len, 0);
        }
        fill(&mut room[..len])?;
        take(self, &room[..len])?;
        if len <= ROOM_BYTES_KEPT {
            self.room = room;
        }
        Ok(())
    }

    /// Writes a record to a run of its own: nothing else would fit beside it.
    fn spill_alone(&mut self, bytes: &[u8], key_len: usize, partition: u32) -> Result<()> {
        self.collector.spill()?;
        self.spilling.time_wait(|spilling| spilling.wait())?;
        let record = Record { bytes, key_len: key_len as u32, split: 0 };
        self.space.log.begin(self.space.env.clock.now_ns());
        let source = RunSource::Spill { records: 1, bytes: bytes.len() as u64 };
        self.space.write_run(source, |to| to(partition, record))
    }

    /// Returns the task's space, for threads that read `ticks` during `finish`.
    pub fn space(&self) -> Arc<TaskSpace> {
        self.space.clone()
    }

    /// Writes the output file; no record can be added afterwards. Fails with the error of a read, a write or the
    /// combiner.
    pub fn finish(self, path: &Path) -> Result<MapOutputTotals> {
        let MapOutput { settings, space, budget, store, mut collector, spilling, summed, mut combine_mode, .. } = self;
        let spill_ns = space.counts.spill_ns.load(Ordering::Relaxed);
        let mut summed_records = 0;
        if let Some(mut summed) = summed {
            summed.drain(&mut collector)?;
            summed_records = summed.records;
        }
        let file = NamedFile::create(&*space.env.files, path, Code::Output)?;
        let mut out = OutputFile::new(file, settings.form, settings.codec)?.with_values(settings.values);
        spilling.time_wait(|spilling| spilling.wait())?;
        if space.runs.is_empty() {
            let mut collected = collector.into_collected();
            space.sorted(&store, &mut collected, |sorted| space.drain_to_file(sorted, &mut combine_mode, &mut out))?;
        } else {
            collector.spill()?;
            spilling.time_wait(|spilling| spilling.wait())?;
            drop((collector, spilling, store));
            let runs = space.runs.take();
            if matches!(combine_mode, CombineMode::User(_)) && runs.len() < settings.combine_spills_min {
                combine_mode = CombineMode::Nothing;
            }
            write_merged(&space, runs, budget.limit_bytes(), &mut combine_mode, &mut out)?;
        }
        let (segments, records) = out.finish(settings.partitions)?;
        let read = |n: &std::sync::atomic::AtomicU64| n.load(Ordering::Relaxed);
        let counts = &space.counts;
        Ok(MapOutputTotals {
            segments,
            spills: read(&counts.spills),
            spilled_records: read(&counts.spilled_records) + records,
            summed_records,
            spill_ns: [spill_ns, read(&counts.spill_ns) - spill_ns],
        })
    }
}

/// Returns the bytes of a batch, at most, so that little of a block is unused behind the last one.
fn batch_bytes(block_bytes: usize) -> usize {
    (block_bytes / 8).min(64 << 10)
}

/// Merges runs into a map output file, as many at once as fit in `memory_bytes`. Two runs are always merged, whatever
/// the size of their records: Hadoop's own merge has no limit there either.
///
/// Fails with the error of a read, a write or the combiner.
pub fn write_merged(
    space: &TaskSpace,
    runs: Vec<Arc<Run>>,
    memory_bytes: u64,
    combine_mode: &mut CombineMode,
    out: &mut OutputFile,
) -> Result<()> {
    let block_bytes = space.run_block_bytes;
    let large = LargeRecords::of(&runs, block_bytes);
    let fan_in = large.fan_in_of(memory_bytes * 3 / 4, block_bytes).max(2);
    let memory = Budget::new(memory_bytes + large.largest_bytes * (fan_in as u64 + 1));
    let context = ReadContext { budget: memory.clone(), cancelled: space.cancel.flag() };
    let passes = MergePasses {
        scratch: space.scratch.clone(),
        settings: space.run_settings(),
        context: context.clone(),
        threads: &*space.env.threads,
        workers: 1,
        journal: None,
        on_merge: &|merge| space.log.add_merge(merge),
        fan_in,
    };
    let runs = space.reduce_runs(&passes, runs)?;
    let _memory = memory.grant(merge_memory_bytes(runs.len(), block_bytes), "merging runs")?;
    let mut merged = MergedRuns::new(&runs, space.partitions, context, space.comparator.clone());
    space.drain_to_file(&mut merged, combine_mode, out)
}
