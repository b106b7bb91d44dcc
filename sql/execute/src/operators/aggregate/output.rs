//! The rows of an aggregate: groups in the order of their hashes, whatever threads and memory. A partition whose groups
//! went to files is read back by ranges of the hash that fit in memory.
//!
//! ```text
//!   partition in memory    table --> rows
//!   partition in files     table, run, run ..  --> range 1 --> table --> rows
//!                                                  range 2 --> table --> rows     halved again if it does not fit
//! ```

use std::sync::{Arc, Mutex};

use yunti_base::Result;
use yunti_engine::columns::vector::Vector;
use yunti_engine::run::{KeyRange, Run};
use yunti_sql_plan::{Batch, MorselReader};

use super::partitions::{Partition, Partitions, Plan};
use super::table::{Feed, Records, Table};
use crate::pipeline::Source;

/// Rows of a batch.
const BATCH_ROWS: usize = 8192;
/// Bytes of texts in a batch, about.
const BATCH_BYTES: usize = 4 << 20;
/// Rows of a morsel, at least, if there are more.
const MORSEL_ROWS: usize = 16 << 10;
/// Bytes of a range, about, below which a range is halved only if it does not fit.
const RANGE_BYTES: u64 = 256 << 10;
/// Times that a range is halved at once, at most.
const SPLIT_BITS_MAX: u32 = 16;

/// Groups of one table.
pub struct OneTable {
    plan: Arc<Plan>,
    table: Mutex<Option<Table>>,
}

impl OneTable {
    pub fn new(plan: Arc<Plan>, table: Table) -> OneTable {
        OneTable { plan, table: Mutex::new(Some(table)) }
    }
}

impl Source for OneTable {
    fn morsels(&self) -> Result<usize> {
        Ok(1)
    }

    fn open(&self, _morsel: usize) -> Result<Box<dyn MorselReader>> {
        let table = self.table.lock().unwrap_or_else(|e| e.into_inner()).take();
        Ok(Box::new(OneReader { plan: self.plan.clone(), rows: table.map(TableRows::new) }))
    }
}

struct OneReader {
    plan: Arc<Plan>,
    rows: Option<TableRows>,
}

impl MorselReader for OneReader {
    fn next(&mut self) -> Result<Option<Batch>> {
        match &mut self.rows {
            Some(rows) => rows.next(&self.plan),
            None => Ok(None),
        }
    }
}

/// Groups of all partitions; a morsel is some partitions.
pub struct AllPartitions {
    partitions: Arc<Partitions>,
    morsels: Vec<std::ops::Range<usize>>,
}

impl AllPartitions {
    pub fn new(partitions: Arc<Partitions>) -> AllPartitions {
        let mut morsels = Vec::new();
        let (mut start, mut groups) = (0, 0);
        for number in 0..partitions.len() {
            let (more, has_runs) = partitions.size(number);
            groups += more;
            if groups >= MORSEL_ROWS || has_runs || number + 1 == partitions.len() {
                morsels.push(start..number + 1);
                (start, groups) = (number + 1, 0);
            }
        }
        AllPartitions { partitions, morsels }
    }
}

impl Source for AllPartitions {
    fn morsels(&self) -> Result<usize> {
        Ok(self.morsels.len())
    }

    fn open(&self, morsel: usize) -> Result<Box<dyn MorselReader>> {
        let partitions = self.partitions.clone();
        Ok(Box::new(PartitionReader { partitions, rest: self.morsels[morsel].clone(), ranges: Vec::new(), rows: None }))
    }
}

/// Groups of a range of hashes, in a table or in files.
struct Part {
    table: Option<Table>,
    runs: Vec<Arc<Run>>,
    /// First and last hash.
    range: (u64, u64),
}

struct PartitionReader {
    partitions: Arc<Partitions>,
    /// Partitions that have not begun.
    rest: std::ops::Range<usize>,
    /// Ranges of the partition that has begun, the next one last.
    ranges: Vec<Part>,
    rows: Option<TableRows>,
}

impl MorselReader for PartitionReader {
    fn next(&mut self) -> Result<Option<Batch>> {
        loop {
            self.partitions.context.check()?;
            if let Some(rows) = &mut self.rows {
                if let Some(batch) = rows.next(&self.partitions.plan)? {
                    return Ok(Some(batch));
                }
                self.rows = None;
            }
            if let Some(part) = self.ranges.pop() {
                self.rows = self.gather(part)?.map(TableRows::new);
                continue;
            }
            let Some(number) = self.rest.next() else { return Ok(None) };
            let Some(Partition { table, runs }) = self.partitions.take(number) else { continue };
            let bits = self.partitions.bits;
            let first = if bits == 0 { 0 } else { (number as u64) << (64 - bits) };
            let range = (first, first | u64::MAX.checked_shr(bits).unwrap_or(0));
            self.ranges.push(Part { table: Some(table), runs, range });
        }
    }
}

impl PartitionReader {
    /// Returns the groups of a range in one table. None: there are ranges to gather first.
    fn gather(&mut self, mut part: Part) -> Result<Option<Table>> {
        if part.runs.is_empty() {
            return Ok(part.table);
        }
        let partitions = self.partitions.clone();
        let mut table = match part.table.take() {
            Some(table) => table,
            None => self.new_table(part.range)?,
        };
        let splits = self.splits(&table, &part);
        if splits > 0 {
            if table.groups.len() > 0 {
                part.runs.push(Arc::new(partitions.spill.write(&table)?));
            }
            drop(table);
            self.split(&part.runs, part.range, splits);
            return Ok(None);
        }
        let mut is_whole = true;
        let mut more = Vec::new();
        for run in &part.runs {
            partitions.spill.read(run, part.range, &partitions.plan.layout, &mut |records| {
                partitions.context.check()?;
                is_whole &= self.add(&mut table, records, &mut more)?;
                Ok(())
            })?;
        }
        if is_whole {
            return Ok(Some(table));
        }
        // The runs are merged into fewer groups; what is left of them does not fit.
        if table.groups.len() > 0 {
            more.push(Arc::new(partitions.spill.write(&table)?));
        }
        drop(table);
        if part.range.0 == part.range.1 {
            return Err(partitions.budget().too_small(1 << 20, "one group of an aggregate"));
        }
        self.split(&more, part.range, 1);
        Ok(None)
    }

    fn new_table(&self, (first, last): (u64, u64)) -> Result<Table> {
        let plan = &self.partitions.plan;
        Table::new(&plan.layout, (first ^ last).leading_zeros().min(63), &plan.calls, Some(self.partitions.budget()))
    }

    /// Adds groups to a table. Returns false if it had to go to a file on the way.
    fn add(&self, table: &mut Table, records: &Records, runs: &mut Vec<Arc<Run>>) -> Result<bool> {
        let rows: Vec<u32> = (0..records.states.len() as u32).collect();
        let (mut at, mut is_whole) = (0, true);
        while at < rows.len() {
            let (done, shortage) = table.absorb(records, &rows[at..])?;
            at += done;
            let mut fits = table.settle();
            if let (Some(shortage), true) = (shortage, fits) {
                fits = loop {
                    if table.grow(shortage) {
                        break true;
                    }
                    if !self.partitions.try_make_room()? {
                        break false;
                    }
                };
                if !fits && table.groups.len() == 0 {
                    return Err(self.partitions.budget().too_small(1 << 20, "a group of an aggregate"));
                }
            }
            if !fits {
                is_whole = false;
                runs.push(Arc::new(self.partitions.spill.write(table)?));
                *table = Table::new(
                    &self.partitions.plan.layout,
                    self.partitions.bits,
                    &self.partitions.plan.calls,
                    Some(self.partitions.budget()),
                )?;
            }
        }
        Ok(is_whole)
    }

    /// Returns how often a range should be halved so that its groups fit in a worker's share of the free memory.
    fn splits(&self, table: &Table, part: &Part) -> u32 {
        let width = self.partitions.plan.layout.width as u64;
        let of_record = 8 * (4 + width) + table.states.iter().map(|states| states.group_bytes() as u64).sum::<u64>();
        let (first, last) = part.range;
        let runs = part.runs.iter().map(|run| {
            let blocks = &run.blocks()[run.blocks_of(&KeyRange { partition: 0, lo: first, hi: last })];
            // Hashes are spread evenly, so that a block has as many records of the range as it has hashes of it.
            let bytes = blocks.iter().map(|block| {
                let (lo, hi) = (block.first_prefix.max(first), block.last_prefix.min(last));
                let share = (hi - lo) as f64 / (block.last_prefix - block.first_prefix).max(1) as f64;
                f64::from(block.raw_len) * if lo == hi { 1.0 } else { share }
            });
            let totals = run.totals();
            let records = totals.records as f64 / totals.record_bytes.max(1) as f64;
            bytes.sum::<f64>() * (1.0 + records * of_record as f64)
        });
        let need = runs.sum::<f64>() as u64 + table.used_bytes() as u64;
        let budget = self.partitions.budget();
        // Partitions whose rows come later make room.
        let share = budget.free_bytes().max(budget.limit_bytes() / 4) / self.partitions.context.threads.max(1) as u64;
        if need <= share || first == last {
            return 0;
        }
        let splits = (need / share.max(1)).max(1).ilog2() + 1;
        // A block of a run is read for each range that it has records of.
        let splits = splits.min((need / RANGE_BYTES.min(share / 2).max(1)).max(2).ilog2());
        splits.min(SPLIT_BITS_MAX).min(64 - (first ^ last).leading_zeros())
    }

    /// Puts the parts of a range in line.
    fn split(&mut self, runs: &[Arc<Run>], (first, last): (u64, u64), bits: u32) {
        let each = (last - first) >> bits;
        for number in (0..1u64 << bits).rev() {
            let from = first + number * (each + 1);
            self.ranges.push(Part { table: None, runs: runs.to_vec(), range: (from, from + each) });
        }
    }
}

/// Rows of a table, in order.
struct TableRows {
    table: Table,
    order: Vec<u32>,
    at: usize,
}

impl TableRows {
    fn new(table: Table) -> TableRows {
        TableRows { order: table.groups.in_order(), table, at: 0 }
    }

    fn next(&mut self, plan: &Plan) -> Result<Option<Batch>> {
        let batch = batch_of(plan, &self.table, &self.order[self.at..])?;
        self.at += batch.as_ref().map_or(0, |batch| batch.rows);
        Ok(batch)
    }
}

/// Returns the rows of the first groups of some; None if there is none.
pub fn batch_of(plan: &Plan, table: &Table, groups: &[u32]) -> Result<Option<Batch>> {
    if groups.is_empty() {
        return Ok(None);
    }
    let mut rows = groups.len().min(BATCH_ROWS);
    if table.has_texts() {
        let mut bytes = 0;
        let fit = groups[..rows].iter().take_while(|&&group| {
            let before = bytes;
            bytes += table.text_bytes(group);
            before == 0 || bytes <= BATCH_BYTES
        });
        rows = fit.count();
    }
    let groups = &groups[..rows];
    let mut columns: Vec<Vector> = Vec::with_capacity(plan.key_columns + plan.calls.len());
    columns.extend((0..plan.key_columns).map(|column| plan.layout.decode(column, table.keys(), groups)));
    for call in 0..plan.calls.len() {
        columns.push(plan.calls.results(call, &table.states, groups)?);
    }
    Ok(Some(Batch::of(columns, rows)))
}
