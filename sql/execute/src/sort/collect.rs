//! Sink of a sort: keeps the rows, with the keys that are no columns; with a limit, only rows that may be among the
//! first.

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
use crate::store::Rows;
use crate::store::size::{Dictionaries, granted_bytes};

/// Bytes of a row's entries while rows are sorted.
const ENTRY_BYTES: u64 = 36;
/// Rows that a worker keeps beyond the limit before it drops those behind the limit.
const SLACK_ROWS: usize = if cfg!(test) { 64 } else { 1 << 14 };

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
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    grant: Option<Grant>,
    dictionaries: Dictionaries,
    batches: Vec<Batch>,
}

/// Rows that a sort has collected.
pub struct Collected {
    pub rows: Rows,
    pub layout: Layout,
    pub grant: Option<Grant>,
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
    pub fn new(keys: &[SortKey], limit: Option<usize>, budget: &Arc<Budget>) -> Collect {
        Collect { keys: keys.to_vec(), limit, layout: OnceLock::new(), budget: budget.clone(), state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns the rows; None if there is none.
    pub fn into_rows(self) -> Result<Option<Collected>> {
        let Some(layout) = self.layout.into_inner() else { return Ok(None) };
        let state = self.state.into_inner().unwrap_or_else(|e| e.into_inner());
        let rows = Rows::of(state.batches, &layout.kinds)?;
        Ok(Some(Collected { rows, layout, grant: state.grant }))
    }

    fn grant(&self, batch: &Batch) -> Result<u64> {
        let mut state = self.lock();
        let bytes = granted_bytes(batch) + ENTRY_BYTES * batch.rows as u64 + state.dictionaries.add(batch);
        match &mut state.grant {
            Some(grant) => {
                let bytes = grant.bytes() + bytes;
                grant.grow(bytes, "a sort")?;
            }
            none => *none = Some(self.budget.grant(bytes, "a sort")?),
        }
        Ok(bytes)
    }

    fn give_back(&self, bytes: u64) {
        if let Some(grant) = &mut self.lock().grant {
            let left = grant.bytes().saturating_sub(bytes);
            grant.try_resize(left);
        }
    }
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
    bytes: u64,
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
        let rows = Rows::of(std::mem::take(&mut self.batches), &layout.kinds)?;
        let mut entries: Vec<Entry> = (0..rows.len() as u32).map(|row| Entry { word: 0, row }).collect();
        let ranks = LevelRanks::new(&layout.levels);
        Order::new(&rows, &layout.levels, &ranks).sort(&mut entries);
        let first: Vec<u32> = entries.iter().take(limit).map(|entry| entry.row).collect();
        let columns = (0..rows.columns()).map(|n| Arc::new(rows.column(n).gather(&first))).collect();
        let batch = Batch { columns, rows: first.len() };
        if let Some(level) = layout.levels.first()
            && batch.rows == limit
        {
            self.threshold = Some(Threshold::of(&batch.columns[level.place], limit - 1, *level));
        }
        self.of.give_back(std::mem::take(&mut self.bytes));
        self.rows = 0;
        drop(rows);
        self.keep(batch)
    }

    fn keep(&mut self, batch: Batch) -> Result<()> {
        self.bytes += self.of.grant(&batch)?;
        self.rows += batch.rows;
        self.batches.push(batch);
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
        self.keep(batch)?;
        match of.limit {
            Some(limit) if self.rows >= limit.saturating_add(limit.max(SLACK_ROWS)) => self.cut(limit, layout),
            _ => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        let of = self.of;
        if let (Some(limit), Some(layout)) = (of.limit, of.layout.get())
            && self.rows > limit
        {
            self.cut(limit, layout)?;
        }
        of.lock().batches.append(&mut self.batches);
        Ok(())
    }
}
