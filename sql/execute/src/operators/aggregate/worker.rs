//! Rows of one worker on their way to groups.
//!
//! ```text
//!   local    rows --> table of the worker, which stays in the cache --> partitions, when it is full
//!   direct   rows, some ten thousand at once, by partition          --> partitions
//! ```
//!
//! A worker begins with a table of its own. If it is full and has about as many groups as rows, the next rows go
//! straight to the partitions, so that no work is done twice; after a while the worker tries its table again.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Instant;

use yunti_base::{Code, Error, Result};
use yunti_engine::columns::grouping::{CodeIndex, NumberIndex};
use yunti_engine::columns::vector::{Data, Vector};
use yunti_engine::memory::Grant;
use yunti_sql_plan::{Batch, Expression, Operation};

use super::calls::to_floats;
use super::fused::{Fused, LocalFused, Partials};
use super::groups::Shortage;
use super::keys::{KeyEncoder, KeyRows};
use super::shared::Shared;
use super::states::Argument;
use super::table::{BatchFeed, Prepared, Table};
use crate::expression::{Condition, Evaluator, Selection};
use crate::pipeline::{LocalSink, Sink};

/// How large the table of a worker may become.
#[derive(Clone, Copy)]
pub struct Limits {
    pub groups: usize,
    /// Bytes beside the slots.
    pub bytes: u64,
    /// Parts of the worker's share of the budget, of which the table may have one.
    pub share: u64,
}

/// A table that stays in the cache.
const LIMITS: Limits = Limits { groups: 16 << 10, bytes: 8 << 20, share: 16 };
/// Rows that go to partitions at once.
const DIRECT_ROWS: usize = 64 << 10;
/// Rows that go straight to partitions until the worker tries its table again.
const DIRECT_ROWS_ALL: usize = 4 << 20;
/// Rows of a group in a worker's table, at least, for which the table is worth it: 3 / 2.
const REDUCTION: (usize, usize) = (3, 2);

/// An expression; a plain column costs nothing.
enum Value {
    Column(usize),
    Other(Evaluator),
}

impl Value {
    fn new(expression: &Expression) -> Result<Value> {
        Ok(match expression.operation {
            Operation::Column(number) => Value::Column(number),
            _ => Value::Other(Evaluator::new(expression)?),
        })
    }

    fn evaluate(&mut self, batch: &Batch) -> Result<Arc<Vector>> {
        let missing = || Error::new(Code::Internal, "an aggregate names a column that its input lacks");
        match self {
            Value::Column(number) => batch.columns.get(*number).cloned().ok_or_else(missing),
            Value::Other(evaluator) => evaluator.evaluate(batch),
        }
    }
}

/// A condition; a plain column costs nothing.
enum Mask {
    Column(Value),
    Other(Condition),
}

impl Mask {
    fn new(condition: &Expression) -> Result<Mask> {
        Ok(match condition.operation {
            Operation::Column(_) => Mask::Column(Value::new(condition)?),
            _ => Mask::Other(Condition::new(std::slice::from_ref(condition))?),
        })
    }

    /// Returns true for each row that meets the condition.
    fn of(&mut self, batch: &Batch) -> Result<Vec<bool>> {
        match self {
            Mask::Column(value) => {
                let vector = value.evaluate(batch)?;
                match (&vector.decoded().data, &vector.nulls) {
                    (Data::Bools(values), None) => Ok(values.clone()),
                    (Data::Bools(values), Some(nulls)) => {
                        Ok(values.iter().zip(nulls).map(|(v, null)| v & !null).collect())
                    }
                    _ => Err(Error::new(Code::Internal, "a condition of an aggregate is no boolean")),
                }
            }
            Mask::Other(condition) => match condition.select(batch)? {
                Selection::All => Ok(vec![true; batch.rows]),
                Selection::Rows(rows) => {
                    let mut mask = vec![false; batch.rows];
                    rows.into_iter().for_each(|row| mask[row as usize] = true);
                    Ok(mask)
                }
            },
        }
    }
}

/// The sink of one worker.
pub struct Worker<S> {
    pub shared: S,
    keys: Vec<Value>,
    arguments: Vec<Value>,
    conditions: Vec<Mask>,
    encoder: KeyEncoder,
    local: Local,
    direct: Direct,
    is_direct: bool,
    fused: Option<LocalFused>,
    _grant: Option<Grant>,
}

/// The table of a worker, with short cuts to its groups.
struct Local {
    table: Table,
    groups_max: usize,
    bytes_max: u64,
    codes: CodeIndex,
    numbers: NumberIndex,
    /// Rows since the table was empty.
    rows: usize,
    has_flushed: bool,
    /// Buffers of a call.
    all: Vec<u32>,
    found: Vec<u32>,
}

/// Batches that go to partitions.
#[derive(Default)]
struct Direct {
    batches: Vec<(Prepared, Vec<KeyRows>)>,
    rows: usize,
    bytes: usize,
    /// Rows since the worker had a table.
    all_rows: usize,
}

impl<S: Deref<Target = Shared> + Clone> Worker<S> {
    /// Returns a worker without rows.
    pub fn new(shared: S, limits: Limits) -> Result<Worker<S>> {
        let plan = &shared.partitions.plan;
        let context = &shared.partitions.context;
        let share = context.budget.limit_bytes() / (limits.share * context.threads.max(1) as u64);
        // Without a grant the worker flushes after each batch.
        let grant = context.budget.try_grant(share.min(limits.bytes));
        let local = Local {
            table: Table::new(&plan.layout, 0, &plan.calls, None)?,
            groups_max: limits.groups,
            bytes_max: grant.as_ref().map_or(0, Grant::bytes),
            codes: CodeIndex::default(),
            numbers: NumberIndex::default(),
            rows: 0,
            has_flushed: false,
            all: Vec::new(),
            found: Vec::new(),
        };
        let conditions = plan.calls.conditions.iter();
        Ok(Worker {
            keys: shared.keys.iter().map(Value::new).collect::<Result<_>>()?,
            arguments: plan.calls.arguments.iter().map(|of| Value::new(&of.expression)).collect::<Result<_>>()?,
            conditions: conditions.map(Mask::new).collect::<Result<_>>()?,
            encoder: KeyEncoder::new(&plan.layout),
            local,
            direct: Direct::default(),
            is_direct: false,
            fused: shared.fused.as_ref().map(Fused::local).transpose()?,
            _grant: grant,
            shared,
        })
    }

    /// Returns the key columns of a batch, and what aggregates need of it.
    fn prepare(&mut self, batch: &Batch) -> Result<(Vec<Arc<Vector>>, Prepared)> {
        let calls = &self.shared.partitions.plan.calls;
        calls.check()?;
        let keys = self.keys.iter_mut().map(|key| key.evaluate(batch)).collect::<Result<Vec<_>>>()?;
        let mut prepared = Prepared { rows: batch.rows, ..Prepared::default() };
        for (value, argument) in self.arguments.iter_mut().zip(&calls.arguments) {
            let mut vector = value.evaluate(batch)?;
            if vector.len() != batch.rows {
                return Err(Error::new(Code::Internal, "an aggregate has another number of values than rows"));
            }
            if argument.as_floats {
                vector = to_floats(&vector, &argument.expression.data_type);
            }
            let mut vector = Argument::new(vector);
            vector.with = argument.with.iter().map(|&number| prepared.arguments[number].vector.clone()).collect();
            prepared.arguments.push(vector);
        }
        prepared.masks = self.conditions.iter_mut().map(|condition| condition.of(batch)).collect::<Result<_>>()?;
        Ok((keys, prepared))
    }

    /// Returns the key columns of a grouping set.
    fn columns_of(
        &self,
        set: Option<(usize, &Vec<usize>)>,
        keys: &[Arc<Vector>],
        rows: usize,
    ) -> Vec<Option<Arc<Vector>>> {
        let Some((number, of)) = set else { return keys.iter().cloned().map(Some).collect() };
        let chosen = keys.iter().enumerate().map(|(n, key)| of.contains(&n).then(|| key.clone()));
        chosen.chain([Some(Arc::new(Vector::of(Data::Ints(vec![number as i64; rows]))))]).collect()
    }

    /// Sends the groups of the worker's table to the partitions.
    fn flush(&mut self) -> Result<()> {
        let local = &mut self.local;
        let groups = local.table.groups.len();
        let all: Vec<u32> = (0..groups as u32).collect();
        self.shared.partitions.add(&[(&local.table, &all)])?;
        self.is_direct = groups * REDUCTION.0 > local.rows * REDUCTION.1 && self.shared.sets.is_empty();
        self.direct.all_rows = 0;
        local.reset();
        Ok(())
    }

    /// Hands the table to `take`, if it has all groups since the last call, and begins anew. Otherwise what is left of
    /// them goes to the partitions, where the others are.
    pub fn end_of_morsel(&mut self, take: impl FnOnce(&Table) -> Result<()>) -> Result<()> {
        if self.local.has_flushed || self.is_direct {
            self.flush_direct()?;
            self.flush()?;
        } else {
            take(&self.local.table)?;
            self.local.reset();
        }
        self.is_direct = false;
        self.local.has_flushed = false;
        Ok(())
    }

    fn flush_direct(&mut self) -> Result<()> {
        let Direct { batches, rows, bytes, .. } = &mut self.direct;
        (*rows, *bytes) = (0, 0);
        let batches = std::mem::take(batches);
        let calls = &self.shared.partitions.plan.calls;
        let most = batches.iter().map(|(batch, _)| batch.rows).max().unwrap_or(0);
        let all: Vec<u32> = (0..most as u32).collect();
        let mut feeds = Vec::new();
        for (batch, keys) in &batches {
            feeds.extend(keys.iter().map(|keys| (BatchFeed { batch, keys, calls }, &all[..batch.rows])));
        }
        let feeds: Vec<_> = feeds.iter().map(|(feed, rows)| (feed, *rows)).collect();
        self.shared.partitions.add(&feeds)
    }
}

impl Local {
    fn reset(&mut self) {
        self.table.clear();
        self.codes = CodeIndex::default();
        self.numbers = NumberIndex::default();
        self.rows = 0;
        self.has_flushed = true;
    }

    /// Returns true if the table should go to the partitions.
    fn is_full(&self) -> bool {
        self.table.groups.len() >= self.groups_max || self.table.used_bytes() as u64 > self.bytes_max
    }

    /// Grows the table as far as it may.
    fn grow(&mut self, shortage: Shortage) -> bool {
        let may = self.table.groups.len() < self.groups_max || shortage.text_bytes > 0;
        may && self.table.grow(shortage)
    }
}

impl<S: Deref<Target = Shared> + Clone> Worker<S> {
    /// Adds rows to the worker's table.
    fn add_local(&mut self, columns: &[Option<Arc<Vector>>], prepared: &Prepared) -> Result<()> {
        let rows = prepared.rows;
        self.local.all.clear();
        self.local.all.extend(0..rows as u32);
        if self.shared.sets.is_empty() && self.add_by_index(columns, prepared)? {
            return Ok(());
        }
        let keys = self.encoder.encode(columns, rows)?;
        let shared = self.shared.clone();
        let feed = BatchFeed { batch: prepared, keys: &keys, calls: &shared.partitions.plan.calls };
        let mut at = 0;
        while at < rows {
            let local = &mut self.local;
            let (done, shortage) = local.table.absorb(&feed, &local.all[at..])?;
            at += done;
            local.rows += done;
            if let Some(shortage) = shortage
                && !local.grow(shortage)
            {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Adds rows whose groups an index has: of codes, or of numbers in a small range. Returns false if there is none.
    fn add_by_index(&mut self, columns: &[Option<Arc<Vector>>], prepared: &Prepared) -> Result<bool> {
        let vectors: Vec<&Vector> = columns.iter().flatten().map(|column| &**column).collect();
        if vectors.is_empty() || prepared.rows == 0 {
            return Ok(false);
        }
        let missing = {
            let local = &mut self.local;
            if local.codes.find(&vectors) {
                let (places, groups) = local.codes.parts();
                find(places.iter().map(|&place| place as usize), groups, &mut local.found)
            } else if let ([Vector { data: Data::Ints(values) | Data::SmallDecimals(values), nulls: None }], true) =
                (vectors.as_slice(), self.shared.has_number_index)
                && local.numbers.covers(values, local.table.groups.len())
            {
                let (base, groups) = local.numbers.parts();
                find(values.iter().map(|value| value.wrapping_sub(base) as usize), groups, &mut local.found)
            } else {
                return Ok(false);
            }
        };
        if !missing.is_empty() {
            // Neighbours of one group, such as sorted rows have, are looked up once.
            let (heads, heads_of) = match vectors.as_slice() {
                [Vector { data: Data::Ints(values) | Data::SmallDecimals(values), .. }] => heads(&missing, values),
                _ => heads(&missing, self.local.codes.parts().0),
            };
            if self.local.table.groups.len() + heads.len() > self.local.groups_max {
                return Ok(false);
            }
            let some: Vec<_> = columns.iter().map(|of| of.as_ref().map(|of| Arc::new(of.select(&heads)))).collect();
            let keys = self.encoder.encode(&some, heads.len())?;
            let local = &mut self.local;
            let mut groups = Vec::with_capacity(heads.len());
            while groups.len() < heads.len() {
                let rest = &local.all[groups.len()..heads.len()];
                let shortage = local.table.groups.assign(&keys, rest, &mut groups);
                if let Some(shortage) = shortage
                    && !local.table.grow(shortage)
                {
                    return Err(Error::new(Code::Internal, "a table without a limit does not grow"));
                }
            }
            match vectors.as_slice() {
                [Vector { data: Data::Ints(values) | Data::SmallDecimals(values), .. }] => {
                    let (base, index) = local.numbers.parts();
                    for (&row, &group) in heads.iter().zip(&groups) {
                        index[values[row as usize].wrapping_sub(base) as usize] = group + 1;
                    }
                }
                _ => {
                    let (places, index) = local.codes.parts();
                    for (&row, &group) in heads.iter().zip(&groups) {
                        index[places[row as usize] as usize] = group + 1;
                    }
                }
            }
            for (&row, &head) in missing.iter().zip(&heads_of) {
                local.found[row as usize] = groups[head as usize];
            }
        }
        let local = &mut self.local;
        let feed = BatchFeed { batch: prepared, keys: &KeyRows::default(), calls: &self.shared.partitions.plan.calls };
        local.table.update(&feed, &local.all, &local.found)?;
        local.rows += prepared.rows;
        Ok(true)
    }
}

/// Sets `to` to the group of each place. Returns the rows whose group is not known.
fn find(places: impl Iterator<Item = usize>, groups: &[u32], to: &mut Vec<u32>) -> Vec<u32> {
    to.clear();
    let mut all_known = true;
    to.extend(places.map(|place| {
        let known = groups[place];
        all_known &= known != 0;
        known.wrapping_sub(1)
    }));
    if all_known {
        return Vec::new();
    }
    (0..).zip(&*to).filter(|(_, group)| **group == u32::MAX).map(|(row, _)| row).collect()
}

/// Returns the rows whose value differs from the row before, and the number of such a row for each of `rows`.
fn heads<T: Copy + PartialEq>(rows: &[u32], values: &[T]) -> (Vec<u32>, Vec<u32>) {
    let (mut heads, mut heads_of): (Vec<u32>, Vec<u32>) = (Vec::with_capacity(rows.len()), Vec::new());
    heads_of.reserve(rows.len());
    let mut last = None;
    for &row in rows {
        let value = values[row as usize];
        if last != Some(value) {
            last = Some(value);
            heads.push(row);
        }
        heads_of.push(heads.len() as u32 - 1);
    }
    (heads, heads_of)
}

impl Sink for Shared {
    fn local<'s>(&'s self) -> Result<Box<dyn LocalSink + 's>> {
        Ok(Box::new(Worker::new(self, LIMITS)?))
    }
}

impl<S: Deref<Target = Shared> + Clone> Worker<S> {
    /// Adds what generated code made of a batch.
    fn add_partials(&mut self, partials: &Partials) -> Result<()> {
        let groups = partials.groups;
        if groups == 0 {
            return Ok(());
        }
        if self.local.table.groups.len() + groups > self.local.groups_max {
            self.flush()?;
        }
        let keys = self.encoder.encode(&partials.keys, groups)?;
        let all: Vec<u32> = (0..groups as u32).collect();
        let mut found = Vec::with_capacity(groups);
        let table = &mut self.local.table;
        while found.len() < groups {
            let shortage = table.groups.assign(&keys, &all[found.len()..], &mut found);
            if let Some(shortage) = shortage
                && !table.grow(shortage)
            {
                return Err(Error::new(Code::Internal, "a table without a limit does not grow"));
            }
        }
        let len = table.groups.len();
        for (states, partial) in table.states.iter_mut().zip(&partials.states) {
            states.resize(len);
            for (&group, &(number, values)) in found.iter().zip(partial) {
                states.add(group as usize, number, values);
            }
        }
        self.local.rows += partials.rows;
        if self.local.is_full() { self.flush() } else { Ok(()) }
    }

    /// Adds the rows of a batch before the stages that code has with the aggregates.
    fn push_fused(&mut self, batch: Batch) -> Result<()> {
        let shared = self.shared.clone();
        let (Some(of), Some(local)) = (&shared.fused, &mut self.fused) else { return self.push_rows(batch) };
        if let Some(partials) = local.by_code(of, &batch)? {
            return self.add_partials(&partials);
        }
        let (start, rows) = (Instant::now(), batch.rows);
        if let Some(batch) = local.by_kernels(batch)? {
            self.push_rows(batch)?;
        }
        of.measure(rows, start.elapsed().as_nanos() as u64);
        Ok(())
    }

    /// Adds the rows of a batch.
    pub fn push_rows(&mut self, batch: Batch) -> Result<()> {
        let (keys, prepared) = self.prepare(&batch)?;
        if keys.iter().any(|key| key.len() != batch.rows) {
            return Err(Error::new(Code::Internal, "a key has another number of rows than its batch"));
        }
        let shared = self.shared.clone();
        if self.is_direct {
            let columns = self.columns_of(None, &keys, prepared.rows);
            let keys = self.encoder.encode(&columns, prepared.rows)?;
            let direct = &mut self.direct;
            direct.rows += prepared.rows;
            direct.all_rows += prepared.rows;
            direct.bytes += keys.used_bytes() + prepared.rows * 8 * prepared.arguments.len();
            direct.batches.push((prepared, vec![keys]));
            if direct.rows >= DIRECT_ROWS || direct.bytes as u64 > self.local.bytes_max {
                self.flush_direct()?;
                self.is_direct = self.direct.all_rows < DIRECT_ROWS_ALL;
            }
            return Ok(());
        }
        if shared.sets.is_empty() {
            let columns = self.columns_of(None, &keys, prepared.rows);
            self.add_local(&columns, &prepared)?;
        }
        for set in shared.sets.iter().enumerate() {
            let columns = self.columns_of(Some(set), &keys, prepared.rows);
            self.add_local(&columns, &prepared)?;
        }
        if self.local.is_full() { self.flush() } else { Ok(()) }
    }
}

impl LocalSink for Worker<&Shared> {
    fn push(&mut self, _morsel: usize, batch: Batch) -> Result<()> {
        self.push_fused(batch)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.flush_direct()?;
        if self.local.has_flushed || !self.shared.add_small(&self.local.table)? {
            self.flush()?;
        }
        Ok(())
    }
}
