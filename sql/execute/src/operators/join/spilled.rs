//! Partitions that left memory, joined one by one when all other rows have passed.
//!
//! ```text
//!   partition   fits:                 one table, all rows of the probe side look into it
//!               does not:             both sides are split again, by other bits of the hash
//!               cannot be split:      a table of the rows that fit; all rows of the probe side look into it; the next
//! ```
//!
//! A reader gives rows of the probe side, and a step looks them up, so that pairs flow on in pieces. Which table a
//! batch looks into travels with it, as a last column of two numbers: the table, and the row of the partition.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use yunti_base::{Code, Error, Result};
use yunti_engine::columns::vector::{Data, Vector};
use yunti_engine::memory::Grant;
use yunti_sql_plan::{Batch, MorselReader};

use super::TableSlot;
use super::build::TABLE_ROW_BYTES;
use super::keys::Keys;
use super::partition::{LEVELS, PARTITIONS, Splitter, Waiting};
use super::probe::{Left, Lookup};
use super::rest::RestReader;
use super::shape::Shape;
use super::table::Table;
use crate::context::Context;
use crate::pipeline::{Branch, LocalStep, Next, Source, Step};
use crate::spill::Block;
use crate::store::size::Dictionaries;
use crate::store::{NO_ROW, Rows};

/// Table number of rows that are the join's already.
const DONE: i64 = -1;
/// Flags of matched rows that need no grant.
const FREE_FLAGS: usize = 1 << 20;

/// Returns the branch that joins the partitions.
pub fn branch(shape: Arc<Shape>, table: TableSlot, left: Arc<Left>, context: &Context) -> Branch {
    let shared =
        Arc::new(Shared { shape, left, context: context.clone(), tables: Mutex::default(), next: AtomicI64::new(0) });
    let source = Spilled { shared: shared.clone(), table, partitions: Mutex::default() };
    Branch { source: Arc::new(source), steps: vec![Arc::new(LookUp(shared))], counts: None }
}

struct Shared {
    shape: Arc<Shape>,
    left: Arc<Left>,
    context: Context,
    /// Tables that rows look into now.
    tables: Mutex<HashMap<i64, Arc<Pass>>>,
    next: AtomicI64,
}

/// Table that all rows of a partition's probe side look into.
struct Pass {
    table: Arc<Table>,
    is_last: bool,
    /// True for each row of the probe side with a match in a table of the partition, if there are several tables.
    matched: Option<Arc<Mutex<Vec<bool>>>>,
}

struct Spilled {
    shared: Arc<Shared>,
    table: TableSlot,
    partitions: Mutex<Vec<Option<Partition>>>,
}

/// Rows of both sides with the same bits of hashes.
struct Partition {
    build: Vec<Block>,
    probe: Vec<Block>,
    level: u32,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl Source for Spilled {
    fn morsels(&self) -> Result<usize> {
        lock(&self.table).take();
        let build = std::mem::take(&mut *lock(&self.shared.left.build));
        let probe = std::mem::take(&mut *lock(&self.shared.left.probe));
        let mut all = Vec::new();
        for (build, probe) in build.into_iter().zip(probe) {
            if let Some(build) = build {
                let probe = probe.into_iter().map(|(_, block)| block).collect();
                all.push(Some(Partition { build, probe, level: 0 }));
            }
        }
        let count = all.len();
        *lock(&self.partitions) = all;
        Ok(count)
    }

    fn open(&self, morsel: usize) -> Result<Box<dyn MorselReader>> {
        let partition = lock(&self.partitions).get_mut(morsel).and_then(Option::take);
        Ok(Box::new(Reader { shared: self.shared.clone(), partitions: partition.into_iter().collect(), run: None }))
    }
}

struct Reader {
    shared: Arc<Shared>,
    /// Partitions that follow, the next one last.
    partitions: Vec<Partition>,
    run: Option<Run>,
}

/// Join of a partition.
struct Run {
    partition: Partition,
    /// Grant for a table of all rows, if they fit.
    grant: Option<Grant>,
    /// Blocks of the build side that had their table.
    built: usize,
    pass: Option<RunPass>,
    matched: Option<Arc<Mutex<Vec<bool>>>>,
    _flags: Option<Grant>,
}

struct RunPass {
    number: i64,
    of: Arc<Pass>,
    /// Blocks and rows of the probe side that have been read.
    blocks: usize,
    rows: usize,
    rest: Option<RestReader>,
}

fn rows(blocks: &[Block]) -> usize {
    blocks.iter().map(|block| block.rows).sum()
}

fn bytes(block: &Block) -> u64 {
    // The dictionary of a block is no larger than its rows' texts.
    2 * block.granted + TABLE_ROW_BYTES * block.rows as u64
}

fn tagged(mut batch: Batch, number: i64, row: usize) -> Batch {
    batch.columns.push(Arc::new(Vector::of(Data::Ints(vec![number, row as i64]))));
    batch
}

impl MorselReader for Reader {
    fn next(&mut self) -> Result<Option<Batch>> {
        let shared = self.shared.clone();
        loop {
            shared.context.check()?;
            let Some(run) = &mut self.run else {
                let Some(partition) = self.partitions.pop() else { return Ok(None) };
                self.start(partition)?;
                continue;
            };
            let Some(pass) = &mut run.pass else {
                if run.built == run.partition.build.len() && run.built > 0 {
                    let done = self.run.take();
                    done.iter().for_each(|run| shared.free(&run.partition));
                    continue;
                }
                run.begin_pass(&shared)?;
                continue;
            };
            if let Some(block) = run.partition.probe.get(pass.blocks) {
                let batch = shared.left.spill.read(block, &shared.shape.probe_kinds)?;
                let row = pass.rows;
                pass.blocks += 1;
                pass.rows += batch.rows;
                return Ok(Some(tagged(batch, pass.number, row)));
            }
            if shared.shape.marks_build() {
                let rest = pass.rest.get_or_insert_with(|| {
                    let table = pass.of.table.clone();
                    if shared.shape.condition.is_none() {
                        table.mark_chains();
                    }
                    RestReader { shape: shared.shape.clone(), next: 0, end: table.rows.len(), table }
                });
                if let Some(batch) = rest.next()? {
                    return Ok(Some(tagged(batch, DONE, 0)));
                }
            }
            lock(&shared.tables).remove(&pass.number);
            run.pass = None;
            if run.partition.build.is_empty() {
                let done = self.run.take();
                done.iter().for_each(|run| shared.free(&run.partition));
            }
        }
    }
}

impl Reader {
    /// Begins with a partition: joins it, or puts its parts before the others.
    fn start(&mut self, partition: Partition) -> Result<()> {
        let shape = &self.shared.shape;
        let (build_rows, probe_rows) = (rows(&partition.build), rows(&partition.probe));
        let is_needless = (build_rows == 0 && shape.is_empty_without_build())
            || (probe_rows == 0 && !shape.marks_build())
            || (build_rows == 0 && probe_rows == 0);
        if is_needless {
            self.shared.free(&partition);
            return Ok(());
        }
        let grant = match build_rows < NO_ROW as usize {
            true => self.shared.context.budget.try_grant(partition.build.iter().map(bytes).sum()),
            false => None,
        };
        if grant.is_none() && partition.level < LEVELS && !shape.build_keys.is_empty() && partition.build.len() > 1 {
            let mut parts = self.shared.split(partition)?;
            for part in &mut parts {
                // One key has all rows, or nearly: splitting again gains nothing.
                if rows(&part.build) >= build_rows - build_rows / 8 {
                    part.level = LEVELS;
                }
            }
            self.partitions.extend(parts.into_iter().rev());
            return Ok(());
        }
        let has_several = grant.is_none();
        let (mut matched, mut flags) = (None, None);
        if has_several && shape.probe.is_some() {
            if probe_rows > FREE_FLAGS {
                flags = Some(self.shared.context.budget.grant(probe_rows as u64, "rows of a join with one key")?);
            }
            matched = Some(Arc::new(Mutex::new(vec![false; probe_rows])));
        }
        self.run = Some(Run { partition, grant, built: 0, pass: None, matched, _flags: flags });
        Ok(())
    }
}

impl Run {
    /// Builds the next table of the partition.
    fn begin_pass(&mut self, shared: &Shared) -> Result<()> {
        let (shape, budget) = (&shared.shape, &shared.context.budget);
        let mut grant = self.grant.take();
        let fits = grant.is_some();
        let (mut batches, mut dictionaries, mut dictionary_bytes) = (Vec::new(), Dictionaries::default(), 0);
        let mut count = 0;
        while let Some(block) = self.partition.build.get(self.built) {
            if !fits {
                let more = bytes(block);
                let has_room = budget.try_add(&mut grant, more);
                // One block needs no grant, so that each pass makes progress.
                if (!has_room && count > 0) || count + block.rows >= NO_ROW as usize {
                    break;
                }
            }
            let batch = shared.left.spill.read(block, &shape.kept_kinds)?;
            dictionary_bytes += dictionaries.add(&batch);
            count += batch.rows;
            batches.push(batch);
            self.built += 1;
        }
        let rows = Rows::of(batches, &shape.kept_kinds, 1)?;
        let keys = (&shape.key_places[..], shape.nulls_equal);
        let table = Arc::new(Table::build(rows, keys, shape.marks_build(), 1, grant, dictionary_bytes));
        let is_last = self.built == self.partition.build.len();
        let of = Arc::new(Pass { table, is_last, matched: self.matched.clone() });
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        lock(&shared.tables).insert(number, of.clone());
        self.pass = Some(RunPass { number, of, blocks: 0, rows: 0, rest: None });
        Ok(())
    }
}

impl Shared {
    fn free(&self, partition: &Partition) {
        partition.build.iter().chain(&partition.probe).for_each(|block| self.left.spill.free(block));
    }

    /// Splits both sides of a partition again.
    fn split(&self, partition: Partition) -> Result<Vec<Partition>> {
        let (shape, spill, level) = (&self.shape, &self.left.spill, partition.level + 1);
        let limit = self.context.budget.limit_bytes();
        let mut build = Waiting::new(spill, &shape.kept_kinds, limit, self.context.threads);
        let mut splitter = Splitter::new(level);
        for block in &partition.build {
            self.context.check()?;
            let batch = spill.read(block, &shape.kept_kinds)?;
            let keys: Vec<_> = shape.key_places.iter().map(|&place| batch.columns[place].clone()).collect();
            self.put(&batch, &mut splitter, &keys, &mut build)?;
            spill.free(block);
        }
        build.flush(0)?;
        let mut probe = Waiting::new(spill, &shape.probe_kinds, limit, self.context.threads);
        let mut keys = Keys::new(&shape.probe_keys)?;
        for block in &partition.probe {
            self.context.check()?;
            let batch = spill.read(block, &shape.probe_kinds)?;
            let keys = keys.of(&batch)?;
            self.put(&batch, &mut splitter, &keys, &mut probe)?;
            spill.free(block);
        }
        probe.flush(0)?;
        let blocks = |all: Vec<(usize, Block)>| all.into_iter().map(|(_, block)| block).collect();
        let parts = build.blocks.into_iter().zip(probe.blocks).take(PARTITIONS);
        Ok(parts.map(|(build, probe)| Partition { build: blocks(build), probe: blocks(probe), level }).collect())
    }

    fn put(&self, batch: &Batch, splitter: &mut Splitter, keys: &[Arc<Vector>], to: &mut Waiting) -> Result<()> {
        for (n, rows) in splitter.split(keys, batch.rows).into_iter().enumerate() {
            if !rows.is_empty() {
                to.add(n, batch.select(&rows), 0)?;
            }
        }
        Ok(())
    }
}

/// Looks up rows of partitions in their tables.
struct LookUp(Arc<Shared>);

struct LocalLookUp {
    shared: Arc<Shared>,
    lookup: Lookup,
    matched: Vec<bool>,
}

impl Step for LookUp {
    fn local(&self) -> Result<Box<dyn LocalStep>> {
        let lookup = Lookup::new(&self.0.shape)?;
        Ok(Box::new(LocalLookUp { shared: self.0.clone(), lookup, matched: Vec::new() }))
    }
}

impl LocalStep for LocalLookUp {
    fn push(&mut self, mut batch: Batch, next: Next<'_>) -> Result<()> {
        let lost = || Error::new(Code::Internal, "rows of a join's partition have lost their table");
        let tag = batch.columns.pop().ok_or_else(lost)?;
        let Data::Ints(tag) = &tag.data else { return Err(lost()) };
        let &[number, row] = &tag[..] else { return Err(lost()) };
        if number == DONE {
            return next(batch);
        }
        let pass = lock(&self.shared.tables).get(&number).cloned().ok_or_else(lost)?;
        self.matched.clear();
        if let Some(all) = &pass.matched {
            let row = row as usize;
            self.matched.extend_from_slice(&lock(all)[row..row + batch.rows]);
            self.lookup.join(&batch, &pass.table, (&mut self.matched, pass.is_last), next)?;
            lock(all)[row..row + batch.rows].copy_from_slice(&self.matched);
            return Ok(());
        }
        self.lookup.join(&batch, &pass.table, (&mut self.matched, pass.is_last), next)
    }
}
