//! Sink of a sort: keeps the rows, with the keys that are no columns; with a limit, only rows that may be among the
//! first. Once the budget refuses memory, each worker sorts what it has and writes it as a run.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use yunti_base::{Code, Error, Result};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::{Data, Vector};
use yunti_engine::memory::{Budget, Grant};
use yunti_sql_plan::{Batch, Operation, SortKey};

use super::order::{Entry, Level, LevelRanks, Order, levels};
use super::threshold::Threshold;
use crate::expression::Evaluator;
use crate::pipeline::{LocalSink, Sink};
use crate::spill::{Block, Spill};
use crate::store::size::{Dictionaries, granted_bytes};
use crate::store::{NO_ROW, Rows};

/// Bytes of a row's entries while rows are sorted.
const ENTRY_BYTES: u64 = 36;
/// Rows that a worker keeps beyond the limit before it drops those behind the limit.
const SLACK_ROWS: usize = if cfg!(test) { 64 } else { 1 << 14 };

/// Bytes of a worker's rows that need no grant, so that no run is tiny.
const LOOSE_BYTES_MAX: u64 = if cfg!(test) { 2 << 10 } else { 1 << 20 };
/// Bytes of a block of a run.
pub const BLOCK_BYTES_MIN: u64 = if cfg!(test) { 256 } else { 16 << 10 };
pub const BLOCK_BYTES_MAX: u64 = 128 << 10;

/// Columns of the rows and their order, known with the first batch.
pub struct Layout {
    /// Shapes of the rows' columns, then of the keys that are no columns.
    pub kinds: Vec<Kind>,
    /// Number of the rows' columns.
    pub columns: usize,
    pub levels: Vec<Level>,
}

/// Collects rows.
pub struct Collect {
    pub keys: Vec<SortKey>,
    pub limit: Option<usize>,
    layout: OnceLock<Layout>,
    budget: Arc<Budget>,
    spill: Arc<Spill>,
    /// Refusals of memory so far: each worker writes what it has once it sees a new one.
    refusals: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    grant: Option<Grant>,
    dictionaries: Dictionaries,
    rows: u64,
    batches: Vec<Batch>,
    runs: Vec<Run>,
}

/// Sorted rows in the spill file.
pub type Run = Vec<Block>;

/// Rows that a sort has collected.
pub enum Collected {
    None,
    Memory { rows: Rows, layout: Layout, grant: Option<Grant> },
    Runs { runs: Vec<Run>, layout: Layout },
}

/// Returns a type of a shape.
fn kind_of_shape(vector: &Vector) -> Kind {
    match &vector.data {
        Data::Bools(_) => Kind::Boolean,
        Data::Ints(_) => Kind::Int,
        Data::Floats(_) => Kind::Float,
        Data::Decimals(_) | Data::SmallDecimals(_) => Kind::Decimal { scale: 0 },
        Data::Bytes(_) | Data::Codes(..) => Kind::Text,
        Data::NumberCodes(_, values) => match &**values {
            Data::Bools(_) => Kind::Boolean,
            Data::Floats(_) => Kind::Float,
            Data::Decimals(_) | Data::SmallDecimals(_) => Kind::Decimal { scale: 0 },
            _ => Kind::Int,
        },
    }
}

impl Collect {
    pub fn new(keys: &[SortKey], limit: Option<usize>, budget: &Arc<Budget>, spill: &Arc<Spill>) -> Collect {
        Collect {
            keys: keys.to_vec(),
            limit,
            layout: OnceLock::new(),
            budget: budget.clone(),
            spill: spill.clone(),
            refusals: AtomicUsize::new(0),
            state: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns the rows.
    pub fn into_collected(self) -> Result<Collected> {
        let Some(layout) = self.layout.into_inner() else { return Ok(Collected::None) };
        let mut state = self.state.into_inner().unwrap_or_else(|e| e.into_inner());
        if state.runs.is_empty() {
            let rows = Rows::of(state.batches, &layout.kinds, 1)?;
            return Ok(Collected::Memory { rows, layout, grant: state.grant });
        }
        if !state.batches.is_empty() {
            // Some workers had ended before memory was refused: these are their rows.
            let limits = (self.limit, self.budget.limit_bytes());
            state.runs.push(write_run(state.batches, &layout, limits, &self.spill)?);
        }
        Ok(Collected::Runs { runs: state.runs, layout })
    }

    /// Takes memory for a batch; None if there is too little.
    fn grant(&self, batch: &Batch) -> Option<u64> {
        let mut state = self.lock();
        if state.rows + batch.rows as u64 >= u64::from(NO_ROW) {
            return None;
        }
        let bytes = granted_bytes(batch) + ENTRY_BYTES * batch.rows as u64 + state.dictionaries.add(batch);
        let done = self.budget.try_add(&mut state.grant, bytes);
        if done {
            state.rows += batch.rows as u64;
        }
        done.then_some(bytes)
    }

    fn give_back(&self, bytes: u64, rows: u64) {
        let mut state = self.lock();
        state.rows = state.rows.saturating_sub(rows);
        if let Some(grant) = &mut state.grant {
            let left = grant.bytes().saturating_sub(bytes);
            grant.try_resize(left);
        }
        // Dictionaries that are still in use count again with the next batch.
        state.dictionaries = Dictionaries::default();
    }
}

/// Sorts rows and writes the first `limit` of them.
fn write_run(
    batches: Vec<Batch>,
    layout: &Layout,
    (limit, budget_bytes): (Option<usize>, u64),
    spill: &Spill,
) -> Result<Run> {
    let (rows, first) = sorted(batches, layout, limit)?;
    let row_bytes = (rows.bytes() / rows.len().max(1) as u64).max(1);
    let together = ((budget_bytes / 64).clamp(BLOCK_BYTES_MIN, BLOCK_BYTES_MAX) / row_bytes).clamp(1, 1 << 14);
    let mut blocks = Vec::new();
    for part in first.chunks(together as usize) {
        spill.write(&gather(&rows, part), (), &mut blocks)?;
    }
    Ok(blocks.into_iter().map(|((), block)| block).collect())
}

/// Returns rows, and the numbers of the first `limit` in order.
fn sorted(batches: Vec<Batch>, layout: &Layout, limit: Option<usize>) -> Result<(Rows, Vec<u32>)> {
    let rows = Rows::of(batches, &layout.kinds, 1)?;
    let mut entries: Vec<Entry> = (0..rows.len() as u32).map(|row| Entry { word: 0, row }).collect();
    let ranks = LevelRanks::new(&layout.levels);
    Order::new(&rows, &layout.levels, &ranks).sort(&mut entries);
    let first = entries.iter().take(limit.unwrap_or(usize::MAX)).map(|entry| entry.row).collect();
    Ok((rows, first))
}

fn gather(rows: &Rows, numbers: &[u32]) -> Batch {
    let columns = (0..rows.columns()).map(|n| Arc::new(rows.column(n).gather(numbers))).collect();
    Batch { columns, rows: numbers.len() }
}

impl Sink for Collect {
    fn local<'s>(&'s self) -> Result<Box<dyn LocalSink + 's>> {
        let computed = self.keys.iter().filter(|key| !matches!(key.value.operation, Operation::Column(_)));
        Ok(Box::new(Local {
            of: self,
            computed: computed.map(|key| Evaluator::new(&key.value)).collect::<Result<_>>()?,
            batches: Vec::new(),
            rows: 0,
            bytes: 0,
            granted_rows: 0,
            loose_bytes: 0,
            refusals: self.refusals.load(Ordering::Relaxed),
            threshold: None,
            admitted: Vec::new(),
        }))
    }

    fn is_full(&self) -> bool {
        self.limit == Some(0)
    }
}

struct Local<'s> {
    of: &'s Collect,
    /// Keys that are no columns.
    computed: Vec<Evaluator>,
    batches: Vec<Batch>,
    rows: usize,
    /// Bytes and rows in the grant.
    bytes: u64,
    granted_rows: u64,
    /// Bytes for which there was no grant.
    loose_bytes: u64,
    /// Refusals of memory that it has seen.
    refusals: usize,
    threshold: Option<Threshold>,
    admitted: Vec<u32>,
}

impl Local<'_> {
    fn layout(&self, batch: &Batch, columns: usize) -> Result<&Layout> {
        let layout = self.of.layout.get_or_init(|| {
            let mut next = columns;
            let mut place = |key: &SortKey| match key.value.operation {
                Operation::Column(column) => column,
                _ => {
                    next += 1;
                    next - 1
                }
            };
            let places: Vec<usize> = self.of.keys.iter().map(&mut place).collect();
            let kinds = batch.columns.iter().map(|column| kind_of_shape(column)).collect();
            Layout { kinds, columns, levels: levels(&self.of.keys, &places, columns) }
        });
        let fits = layout.kinds.len() == batch.columns.len()
            && layout.levels.iter().all(|level| level.place < batch.columns.len());
        if fits {
            return Ok(layout);
        }
        Err(Error::new(Code::Internal, "a batch does not have the columns of its operator"))
    }

    /// Keeps the first rows alone.
    fn cut(&mut self, limit: usize, layout: &Layout) -> Result<()> {
        let (rows, first) = sorted(std::mem::take(&mut self.batches), layout, Some(limit))?;
        let batch = gather(&rows, &first);
        self.bound(&batch, limit, layout);
        drop(rows);
        self.give_back();
        self.keep(batch, layout)
    }

    /// Drops rows behind the last of `limit` sorted rows from now on.
    fn bound(&mut self, batch: &Batch, limit: usize, layout: &Layout) {
        if let Some(level) = layout.levels.first()
            && batch.rows == limit
            && limit > 0
        {
            self.threshold = Some(Threshold::of(&batch.columns[level.place], limit - 1, *level));
        }
    }

    fn give_back(&mut self) {
        self.of.give_back(std::mem::take(&mut self.bytes), std::mem::take(&mut self.granted_rows));
        (self.rows, self.loose_bytes) = (0, 0);
    }

    fn keep(&mut self, batch: Batch, layout: &Layout) -> Result<()> {
        let rows = batch.rows;
        match self.of.grant(&batch) {
            Some(bytes) => {
                self.bytes += bytes;
                self.granted_rows += rows as u64;
            }
            None => {
                self.loose_bytes += granted_bytes(&batch);
                if self.bytes > 0 {
                    self.of.refusals.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        self.rows += rows;
        self.batches.push(batch);
        let refusals = self.of.refusals.load(Ordering::Relaxed);
        if self.loose_bytes > LOOSE_BYTES_MAX || (refusals != self.refusals && self.bytes > 0) {
            self.spill(layout)?;
        }
        self.refusals = refusals;
        Ok(())
    }

    /// Writes the rows as a run.
    fn spill(&mut self, layout: &Layout) -> Result<()> {
        let batches = std::mem::take(&mut self.batches);
        if !batches.is_empty() {
            let limits = (self.of.limit, self.of.budget.limit_bytes());
            let run = write_run(batches, layout, limits, &self.of.spill)?;
            self.of.lock().runs.push(run);
        }
        self.give_back();
        Ok(())
    }
}

impl LocalSink for Local<'_> {
    fn push(&mut self, _morsel: usize, mut batch: Batch) -> Result<()> {
        let columns = batch.columns.len();
        let computed: Vec<_> = self.computed.iter_mut().map(|key| key.evaluate(&batch)).collect::<Result<_>>()?;
        batch.columns.extend(computed);
        let of = self.of;
        self.layout(&batch, columns)?;
        let Some(layout) = of.layout.get() else { return Ok(()) };
        if let (Some(threshold), Some(level)) = (&self.threshold, layout.levels.first()) {
            threshold.admit(&batch.columns[level.place], *level, &mut self.admitted);
            match self.admitted.len() {
                0 => return Ok(()),
                all if all == batch.rows => {}
                _ => batch = batch.select(&self.admitted),
            }
        }
        self.keep(batch, layout)?;
        match of.limit {
            Some(limit) if self.rows >= limit.saturating_add(limit.max(SLACK_ROWS)) => self.cut(limit, layout),
            _ => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        let of = self.of;
        let Some(layout) = of.layout.get() else { return Ok(()) };
        let is_spilled = !of.lock().runs.is_empty();
        if is_spilled || self.loose_bytes > 0 {
            return self.spill(layout);
        }
        if let Some(limit) = of.limit
            && self.rows > limit
        {
            self.cut(limit, layout)?;
        }
        of.lock().batches.append(&mut self.batches);
        Ok(())
    }
}
