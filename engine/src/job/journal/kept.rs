//! The work that earlier attempts of a job left: read from their journal, held against the plan and the scratch files.
//!
//! A checkpoint is kept whole or not at all. It goes if one of its splits changed, if one of its runs is lost, or if
//! another checkpoint goes whose records lie in the same merged run. What was reduced is kept only if all checkpoints
//! are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::frame::{CounterRows, Frame, JobIdentity, RunRecord, SplitIdentity, rows_of};
use super::identity;
use crate::job::report::Resumed;
use crate::operator::context::{BadRecord, CounterTable, add_counters};

/// Setup of the map phase that its later attempts must repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapPhase {
    pub hash_range_bits: u32,
    pub bounds: Vec<Vec<u8>>,
    /// Hash over the splits that the bounds were sampled from.
    pub input: u64,
}

/// Splits that are mapped, and what they left.
#[derive(Clone, Debug, Default)]
pub struct KeptCheckpoint {
    pub splits: Vec<SplitIdentity>,
    pub counters: CounterTable,
    pub bad_records: Vec<BadRecord>,
}

/// A run with the indexes of the checkpoints that its records come from.
#[derive(Clone, Debug)]
pub struct KeptRun {
    pub record: RunRecord,
    pub checkpoints: BTreeSet<usize>,
}

/// Progress of a partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduced {
    /// Prefix of the last keys that are written.
    pub hi: u64,
    /// Bytes of the part file.
    pub bytes: u64,
    pub records: u64,
    pub counters: CounterTable,
}

/// Output of a split, in a job without a reduce.
#[derive(Clone, Debug)]
pub struct Part {
    pub split: SplitIdentity,
    pub bytes: u64,
    pub records: u64,
    pub counters: CounterTable,
    pub bad_records: Vec<BadRecord>,
}

/// Work of earlier attempts.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    pub map_phase: Option<MapPhase>,
    pub checkpoints: Vec<KeptCheckpoint>,
    /// Runs, in the order of merging.
    pub runs: Vec<KeptRun>,
    /// True if all splits are mapped, and the order of the runs is final.
    pub is_mapped: bool,
    pub reduced: BTreeMap<u32, Reduced>,
    pub parts: BTreeMap<u32, Part>,
    /// Scratch files of all attempts, by number.
    pub scratch_files: Vec<PathBuf>,
    /// True if the last attempt was about to rename the output.
    pub is_committing: bool,
    /// True if the data of the frames may be missing: the machine was started again, and nothing was synced.
    pub is_doubtful: bool,
    /// Splits that are mapped again, because they changed or their records are lost.
    pub mapped_again: usize,
}

fn table(rows: CounterRows) -> CounterTable {
    let mut table = CounterTable::new();
    add_counters(&mut table, rows.into_iter().map(|(group, name, n)| ((group, name), n)));
    table
}

impl Kept {
    /// Reads the frames of a journal. `boot`: id of the running kernel.
    ///
    /// Returns the reason if the journal is of another job.
    pub fn read(frames: Vec<Frame>, job: &JobIdentity, boot: &str) -> std::result::Result<Kept, String> {
        let mut kept = Kept::default();
        let mut frames = frames.into_iter();
        let Some(Frame::Job(before)) = frames.next() else { return Err("its journal is damaged".into()) };
        if let Some(difference) = identity::difference(&before, job) {
            return Err(difference);
        }
        let mut lost = BTreeSet::new();
        let mut last_boot = String::new();
        for frame in frames {
            match frame {
                Frame::Job(_) => return Err("its journal is damaged".into()),
                Frame::Attempt { boot, first_file, scratch_files, .. } => {
                    kept.scratch_files.truncate(first_file as usize);
                    kept.scratch_files.extend(scratch_files.into_iter().map(PathBuf::from));
                    last_boot = boot;
                }
                Frame::MapPhase { hash_range_bits, bounds, input } => {
                    kept.map_phase = Some(MapPhase { hash_range_bits, bounds, input });
                }
                Frame::Checkpoint { splits, runs, counters, bad_records } => {
                    let checkpoints: BTreeSet<usize> = [kept.checkpoints.len()].into();
                    let runs = runs.into_iter().map(|record| KeptRun { record, checkpoints: checkpoints.clone() });
                    kept.runs.extend(runs);
                    let bad_records = bad_records.into_iter().map(BadRecord::from).collect();
                    kept.checkpoints.push(KeptCheckpoint { splits, counters: table(counters), bad_records });
                    kept.is_mapped = false;
                }
                Frame::Mapped { runs } => {
                    let place = |run: &KeptRun| runs.iter().position(|&number| number == run.record.number);
                    kept.runs.sort_by_key(|run| place(run).unwrap_or(usize::MAX));
                    kept.is_mapped = true;
                }
                Frame::Merged { run, of } => kept.merge(run, &of),
                Frame::Reduced { partition, hi, bytes, records, counters } => {
                    let empty = Reduced { hi, bytes, records: 0, counters: CounterTable::new() };
                    let reduced = kept.reduced.entry(partition).or_insert(empty);
                    (reduced.hi, reduced.bytes) = (hi, bytes);
                    reduced.records += records;
                    add_counters(&mut reduced.counters, table(counters));
                }
                Frame::Part { split, bytes, records, counters, bad_records } => {
                    let bad_records = bad_records.into_iter().map(BadRecord::from).collect();
                    let counters = table(counters);
                    kept.parts.insert(split.number, Part { split, bytes, records, counters, bad_records });
                }
                Frame::Lost { run } => {
                    lost.insert(run);
                }
                Frame::Commit => kept.is_committing = true,
            }
        }
        let same_boot = !boot.is_empty() && last_boot == boot;
        kept.is_doubtful = !same_boot && !before.durable;
        let before = kept.splits_len();
        kept.drop_where(|run, _| lost.contains(&run.record.number));
        kept.mapped_again += before - kept.splits_len();
        Ok(kept)
    }

    fn merge(&mut self, record: RunRecord, of: &[u32]) {
        let first = self.runs.iter().position(|run| of.contains(&run.record.number));
        let mut checkpoints = BTreeSet::new();
        self.runs.retain(|run| {
            let is_merged = of.contains(&run.record.number);
            if is_merged {
                checkpoints.extend(run.checkpoints.iter().copied());
            }
            !is_merged
        });
        let place = first.unwrap_or(self.runs.len()).min(self.runs.len());
        self.runs.insert(place, KeptRun { record, checkpoints });
    }

    /// Returns the number of splits that need no mapping.
    pub fn splits_len(&self) -> usize {
        self.checkpoints.iter().map(|c| c.splits.len()).sum::<usize>() + self.parts.len()
    }

    /// Returns the work for the report; None for a first attempt.
    pub fn resumed(&self) -> Option<Resumed> {
        let resumed = Resumed {
            splits: self.splits_len() as u64,
            partitions: self.reduced.len() as u64,
            mapped_again: self.mapped_again as u64,
        };
        (resumed != Resumed::default()).then_some(resumed)
    }

    /// Returns true if nothing is left of the attempts.
    pub fn is_empty(&self) -> bool {
        self.splits_len() == 0
    }

    /// Returns the bytes of a part file that are kept; None if nothing of it is.
    pub fn part_bytes(&self, number: u32) -> Option<u64> {
        let reduced = self.reduced.get(&number).map(|reduced| reduced.bytes);
        reduced.or_else(|| self.parts.get(&number).map(|part| part.bytes))
    }

    /// Returns the counters of all kept work.
    pub fn counters(&self) -> CounterTable {
        let mut counters = CounterTable::new();
        let mapped = self.checkpoints.iter().map(|checkpoint| &checkpoint.counters);
        let reduced = self.reduced.values().map(|reduced| &reduced.counters);
        let parts = self.parts.values().map(|part| &part.counters);
        mapped.chain(reduced).chain(parts).for_each(|own| add_counters(&mut counters, own.clone()));
        counters
    }

    /// Returns the bad records of all kept work.
    pub fn bad_records(&self) -> impl Iterator<Item = &BadRecord> {
        let mapped = self.checkpoints.iter().flat_map(|checkpoint| &checkpoint.bad_records);
        mapped.chain(self.parts.values().flat_map(|part| &part.bad_records))
    }

    /// Returns the numbers of the splits that need no mapping.
    pub fn splits(&self) -> BTreeSet<u32> {
        let mapped = self.checkpoints.iter().flat_map(|c| &c.splits).map(|split| split.number);
        mapped.chain(self.parts.keys().copied()).collect()
    }

    /// Drops what does not fit the splits of the plan. `total_order`: the bounds depend on the whole input.
    pub fn fit(&mut self, plan: &[SplitIdentity], total_order: bool) {
        let before = self.splits_len();
        let fits = |split: &SplitIdentity| plan.get(split.number as usize) == Some(split);
        let input = identity::of_input(plan);
        if total_order && self.map_phase.as_ref().is_some_and(|phase| phase.input != input) {
            self.drop_all();
        }
        self.drop_where(|_, checkpoint| !checkpoint.splits.iter().all(fits));
        self.parts.retain(|_, part| fits(&part.split));
        self.mapped_again += before - self.splits_len();
    }

    /// Drops the runs that `is_lost`, with their checkpoints.
    pub fn drop_lost(&mut self, is_lost: impl Fn(&RunRecord) -> bool) {
        let before = self.splits_len();
        self.drop_where(|run, _| is_lost(&run.record));
        self.mapped_again += before - self.splits_len();
    }

    /// Drops everything but the names of scratch files.
    pub fn drop_all(&mut self) {
        (self.map_phase, self.is_mapped) = (None, false);
        self.checkpoints.clear();
        self.runs.clear();
        self.reduced.clear();
        self.parts.clear();
    }

    /// Drops checkpoints until none is left for which `is_gone` returns true. It gets each run with each of its
    /// checkpoints; a checkpoint without runs comes with an empty run.
    fn drop_where(&mut self, is_gone: impl Fn(&KeptRun, &KeptCheckpoint) -> bool) {
        let nothing = KeptRun { record: RunRecord::default(), checkpoints: BTreeSet::new() };
        let mut gone: BTreeSet<usize> =
            (0..self.checkpoints.len()).filter(|&i| is_gone(&nothing, &self.checkpoints[i])).collect();
        for run in &self.runs {
            gone.extend(run.checkpoints.iter().filter(|&&i| is_gone(run, &self.checkpoints[i])));
        }
        if gone.is_empty() {
            return;
        }
        loop {
            let before = gone.len();
            for run in &self.runs {
                if run.checkpoints.iter().any(|i| gone.contains(i)) {
                    gone.extend(&run.checkpoints);
                }
            }
            if gone.len() == before {
                break;
            }
        }
        self.runs.retain(|run| !run.checkpoints.iter().any(|i| gone.contains(i)));
        let left: Vec<usize> = (0..self.checkpoints.len()).filter(|i| !gone.contains(i)).collect();
        for run in &mut self.runs {
            run.checkpoints = run.checkpoints.iter().filter_map(|i| left.iter().position(|l| l == i)).collect();
        }
        self.checkpoints = left.iter().map(|&i| std::mem::take(&mut self.checkpoints[i])).collect();
        self.is_mapped = false;
        self.reduced.clear();
    }

    /// Returns the frames of a journal that holds what is kept.
    pub fn into_frames(self, job: JobIdentity, boot: &str) -> Vec<Frame> {
        let mut frames = vec![Frame::Job(job)];
        frames.push(Frame::Attempt {
            boot: boot.into(),
            unix_ms: 0,
            first_file: 0,
            scratch_files: self.scratch_files.into_iter().map(Into::into).collect(),
        });
        if let Some(MapPhase { hash_range_bits, bounds, input }) = self.map_phase {
            frames.push(Frame::MapPhase { hash_range_bits, bounds, input });
        }
        let order: Vec<u32> = self.runs.iter().map(|run| run.record.number).collect();
        // Checkpoints whose records were merged become one.
        let mut groups: Vec<(BTreeSet<usize>, Vec<RunRecord>)> = Vec::new();
        let all = (0..self.checkpoints.len()).map(|i| (BTreeSet::from([i]), Vec::new()));
        for (mut numbers, mut runs) in all.chain(self.runs.into_iter().map(|run| (run.checkpoints, vec![run.record]))) {
            let (joined, rest): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(own, _)| !own.is_disjoint(&numbers));
            groups = rest;
            let mut before = Vec::new();
            for (own_numbers, own_runs) in joined {
                numbers.extend(own_numbers);
                before.extend(own_runs);
            }
            before.append(&mut runs);
            groups.push((numbers, before));
        }
        let mut checkpoints: Vec<Option<KeptCheckpoint>> = self.checkpoints.into_iter().map(Some).collect();
        for (numbers, runs) in groups {
            let (mut splits, mut counters, mut bad_records) = (Vec::new(), CounterTable::new(), Vec::new());
            for own in numbers.into_iter().filter_map(|i| checkpoints[i].take()) {
                splits.extend(own.splits);
                add_counters(&mut counters, own.counters);
                bad_records.extend(own.bad_records.into_iter().map(Into::into));
            }
            let counters = rows_of(&counters);
            frames.push(Frame::Checkpoint { splits, runs, counters, bad_records });
        }
        if self.is_mapped {
            frames.push(Frame::Mapped { runs: order });
        }
        for (partition, Reduced { hi, bytes, records, counters }) in self.reduced {
            frames.push(Frame::Reduced { partition, hi, bytes, records, counters: rows_of(&counters) });
        }
        for Part { split, bytes, records, counters, bad_records } in self.parts.into_values() {
            let bad_records = bad_records.into_iter().map(Into::into).collect();
            frames.push(Frame::Part { split, bytes, records, counters: rows_of(&counters), bad_records });
        }
        frames
    }
}
