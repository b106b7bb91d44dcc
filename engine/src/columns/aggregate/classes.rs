//! Mapper, combiner and reducer of `yunti run aggregate`.

use std::sync::Arc;

use super::accumulator::{Accumulator, Origin, Rows};
use super::exact::{self, Meaning, MetValues, SortedValues};
use super::{Aggregate, List};
use crate::columns::expression::{Field, Typed};
use crate::columns::grouping::Grouping;
use crate::columns::input::{ColumnInput, columns_of, condition, fields};
use crate::columns::kind::Kind;
use crate::columns::settings::{BY, MARK_NULLS, OF, is_true};
use crate::columns::vector::{Value, Vector};
use crate::columns::{normal, text};
use crate::memory::Grant;
use crate::operator::{Batch, Groups, Mapper, Out, Reducer, TaskContext};
use yunti_base::{Code, Error, Result};

/// Bytes of the groups and states of a worker, at least: as many as the processor's caches hold.
const TABLE_BYTES: u64 = 8 << 20;
/// Share of the job's memory that a table may take if it reduces the rows.
const SHARE_OF_MEMORY: u64 = 64;
/// A table whose rows are fewer than this many times its groups costs more than it saves.
const ROWS_PER_GROUP_MIN: f64 = 1.3;
/// Bytes of the states of a row that is passed on by itself, at most.
const STATES_BYTES_BY_ROW: usize = 512;

/// Groups and aggregates of a job.
struct Work {
    by: Vec<Field>,
    aggregates: Vec<Aggregate>,
}

impl Work {
    fn of(context: &TaskContext) -> Result<Work> {
        let fields = fields(context)?;
        let missing = || Error::new(Code::Usage, format!("the setting {OF} is missing")).hint("use --agg 'count'");
        let aggregates = List::parse(context.setting(OF).ok_or_else(missing)?)?.bind(&fields)?;
        Ok(Work { by: columns_of(context, BY, &fields)?, aggregates })
    }

    fn accumulators(&self) -> Vec<Accumulator> {
        self.aggregates.iter().map(|of| Accumulator::new(of.function, of.argument_kind())).collect()
    }
}

/// Mapper that groups rows, and emits the states of each group.
pub struct AggregateRows {
    input: ColumnInput,
    work: Work,
    condition: Option<Typed>,
    /// Places of the columns of the key.
    by: Vec<usize>,
    grouping: Grouping,
    accumulators: Vec<Accumulator>,
    /// Values of exact aggregates.
    met: Vec<MetValues>,
    rows: Rows,
    origin: Origin,
    context: Arc<TaskContext>,
    /// Bytes that the table may take beyond `TABLE_BYTES`.
    more: Option<Grant>,
    /// Rows in the table.
    rows_in_table: u64,
    /// True if groups are hardly larger than a row: each row is passed on by itself.
    is_by_row: bool,
}

impl AggregateRows {
    /// Reads the settings. Errors: `Usage`.
    pub fn new(context: &Arc<TaskContext>) -> Result<Self> {
        let (input, work) = (ColumnInput::new(context)?, Work::of(context)?);
        let kinds: Vec<_> = work.by.iter().map(|field| field.kind).collect();
        let place = |field: &Field| input.fields().iter().position(|other| other.name == field.name);
        Ok(AggregateRows {
            condition: condition(context, input.fields())?,
            by: work.by.iter().filter_map(place).collect(),
            grouping: Grouping::new(&kinds),
            accumulators: work.accumulators(),
            met: MetValues::of(&work.aggregates, &kinds),
            rows: Rows::default(),
            origin: (0, 0, 0),
            context: context.clone(),
            more: None,
            rows_in_table: 0,
            is_by_row: false,
            input,
            work,
        })
    }

    fn used_bytes(&self) -> usize {
        let states: usize = self.accumulators.iter().map(Accumulator::state_bytes).sum();
        let met: usize = self.met.iter().map(MetValues::used_bytes).sum();
        self.grouping.used_bytes() + self.grouping.groups() * states + met
    }

    /// Makes the table larger, or empties it.
    fn make_room(&mut self, out: &mut Out) -> Result<()> {
        let reduced = self.rows_in_table as f64 / self.grouping.groups().max(1) as f64;
        let states: usize = self.accumulators.iter().map(Accumulator::state_bytes).sum();
        self.is_by_row = reduced < ROWS_PER_GROUP_MIN && self.met.is_empty() && states <= STATES_BYTES_BY_ROW;
        let budget = &self.context.job.workspace.budget;
        let larger = 2 * self.table_bytes();
        if !self.is_by_row && larger <= budget.limit_bytes() / SHARE_OF_MEMORY {
            self.more = None;
            self.more = budget.try_grant(larger - TABLE_BYTES);
            if self.more.is_some() {
                return Ok(());
            }
        }
        self.hand_over(out)
    }

    /// Returns the bytes that the table may take.
    fn table_bytes(&self) -> u64 {
        TABLE_BYTES + self.more.as_ref().map_or(0, Grant::bytes)
    }

    /// Emits the states of all groups, and forgets them.
    fn hand_over(&mut self, out: &mut Out) -> Result<()> {
        let (mut key, mut of_states, mut states) = (Vec::new(), Vec::new(), Vec::new());
        for group in 0..self.grouping.groups() {
            key.clear();
            states.clear();
            self.grouping.put_key(group, 0..self.by.len(), &mut key);
            self.accumulators.iter().for_each(|one| one.encode(group, &mut states));
            if self.met.is_empty() {
                out.emit(&key, &states)?;
                continue;
            }
            of_states.clear();
            exact::key_of_states(&key, &mut of_states);
            out.emit(&of_states, &states)?;
        }
        for met in &mut self.met {
            met.hand_over(self.by.len(), out)?;
        }
        self.grouping.clear();
        self.accumulators.iter_mut().for_each(Accumulator::clear);
        self.rows_in_table = 0;
        Ok(())
    }
}

impl Mapper for AggregateRows {
    fn begin(&mut self, file_index: u32, start: u64) {
        self.origin = (file_index.into(), start, 0);
    }

    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let is_by_row = self.is_by_row;
        let AggregateRows { input, work, condition, by, grouping, accumulators, met, rows: of, origin, .. } = self;
        let (mut key, mut states) = (Vec::new(), Vec::new());
        let mut added = 0;
        input.each_where(batch, condition.as_ref(), |columns, rows, read| {
            let first = *origin;
            origin.2 += read as u64;
            added += rows as u64;
            let keys: Vec<&Vector> = by.iter().map(|&place| &columns[place]).collect();
            let groups = if is_by_row {
                of.groups.clear();
                of.groups.extend(0..rows as u32);
                accumulators.iter_mut().for_each(Accumulator::clear);
                rows
            } else {
                grouping.assign(&keys, rows, &mut of.groups);
                grouping.groups()
            };
            of.count(groups);
            for (number, (accumulator, aggregate)) in accumulators.iter_mut().zip(&work.aggregates).enumerate() {
                accumulator.grow(groups);
                let values =
                    aggregate.argument.as_ref().map(|argument| argument.evaluate(columns, rows)).transpose()?;
                accumulator.add(of, values.as_deref(), first)?;
                if let (Some(met), Some(values)) = (met.iter_mut().find(|met| met.number() == number), &values) {
                    met.add(&keys, values, rows);
                }
            }
            for row in 0..if is_by_row { rows } else { 0 } {
                key.clear();
                states.clear();
                keys.iter().for_each(|column| normal::put(column.cell(row), &mut key));
                accumulators.iter().for_each(|one| one.encode(row, &mut states));
                out.emit(&key, &states)?;
            }
            Ok(())
        })?;
        self.rows_in_table += added;
        if self.used_bytes() as u64 > self.table_bytes() {
            self.make_room(out)?;
        }
        Ok(())
    }

    fn flush(&mut self, out: &mut Out) -> Result<()> {
        if self.by.is_empty() {
            // All rows are one group, even if there are none.
            self.grouping.assign(&[], 0, &mut self.rows.groups);
            self.accumulators.iter_mut().for_each(|one| one.grow(1));
        }
        self.hand_over(out)
    }
}

/// Reducer that merges states and emits results.
///
/// There is no combiner: a mapper has a table of all groups of its split, or found that they hardly have two rows.
pub struct MergeStates {
    work: Work,
    accumulators: Vec<Accumulator>,
    marks_nulls: bool,
    /// Values of exact aggregates; None for the others.
    sorted: Vec<Option<SortedValues>>,
    is_exact: bool,
    has_groups: bool,
    /// Space of a group's values, and of the texts of its key and results.
    values: Vec<(Kind, Value)>,
    texts: (Vec<u8>, Vec<u8>),
}

impl MergeStates {
    /// Reads the settings. Errors: `Usage`.
    pub fn new(context: &Arc<TaskContext>) -> Result<Self> {
        let work = Work::of(context)?;
        let marks_nulls = is_true(context, MARK_NULLS);
        let is_exact = exact::is_needed(&work.aggregates);
        Ok(MergeStates {
            accumulators: work.accumulators(),
            work,
            marks_nulls,
            sorted: Vec::new(),
            is_exact,
            has_groups: false,
            values: Vec::new(),
            texts: Default::default(),
        })
    }

    fn begin_group(&mut self) {
        for accumulator in &mut self.accumulators {
            accumulator.clear();
            accumulator.grow(1);
        }
        let sorted = |of: &Aggregate| of.function.is_exact().then(|| SortedValues::new(of));
        self.sorted.clear();
        self.sorted.extend(self.work.aggregates.iter().map(sorted));
    }

    fn merge(&mut self, mut states: &[u8]) -> Result<()> {
        self.accumulators.iter_mut().try_for_each(|accumulator| accumulator.merge(0, &mut states))
    }

    /// Adds a record of a group whose values come in order, behind its states.
    fn merge_exact(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let damaged = exact::damaged_key;
        let (_, meaning) = exact::split(key, &self.work.by)?;
        let (number, form) = match meaning {
            Meaning::States => return self.merge(value),
            Meaning::Value(number, form) => (number, form),
        };
        let times = value.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes)).ok_or_else(damaged)?;
        let (Some(Some(sorted)), Some(states)) = (self.sorted.get_mut(number), self.accumulators.get(number)) else {
            return Err(damaged());
        };
        if let Value::Int(values) = states.finish(0)? {
            sorted.expect(values as u64);
        }
        sorted.add(form, times)
    }

    fn end_group(&mut self, key: &[u8], out: &mut Out) -> Result<()> {
        let MergeStates { work, accumulators, marks_nulls, sorted, values, texts: (key_text, value_text), .. } = self;
        let put = |values: &[(Kind, Value)], out: &mut Vec<u8>| {
            out.clear();
            text::put_columns(values.iter().map(|(kind, value)| (*kind, value.cell())), *marks_nulls, out);
        };
        let mut rest = key;
        values.clear();
        for field in &work.by {
            values.push((field.kind, normal::take(field.kind, &mut rest).ok_or_else(exact::damaged_key)?));
        }
        put(values, key_text);
        values.clear();
        for ((of, state), sorted) in work.aggregates.iter().zip(accumulators).zip(sorted) {
            let value = sorted.as_ref().map_or_else(|| state.finish(0), |sorted| Ok(sorted.finish()))?;
            values.push((of.kind, value));
        }
        put(values, value_text);
        match work.by.is_empty() {
            true => out.emit(value_text, b"")?,
            false => out.emit(key_text, value_text)?,
        }
        Ok(())
    }
}

impl Reducer for MergeStates {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        for i in 0..groups.len() {
            self.has_groups = true;
            if i > 0 || !groups.continues() {
                self.begin_group();
            }
            for n in groups.range(i) {
                match self.is_exact {
                    true => self.merge_exact(groups.value_key(n).unwrap_or(groups.key(i)), groups.value(n))?,
                    false => self.merge(groups.value(n))?,
                }
            }
            if groups.completes(i) {
                let key = groups.key(i);
                let key = match self.is_exact {
                    true => exact::split(key, &self.work.by)?.0,
                    false => key,
                };
                self.end_group(key, out)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, out: &mut Out) -> Result<()> {
        if self.has_groups || !self.work.by.is_empty() {
            return Ok(());
        }
        // Nothing was read: a source may have known that no row counts.
        self.begin_group();
        self.end_group(&[], out)
    }
}
