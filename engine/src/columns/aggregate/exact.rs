//! Exact numbers of distinct values and exact quantiles: the values of a group are sorted by the engine, behind the
//! states of the group, so that a group may have any number of them.
//!
//! ```text
//!   key of a record      01 | group in normal form | 00                              value: the states of a group
//!                        01 | group in normal form | 1 + n | value in normal form    value: times that it occurs
//! ```

use std::sync::Arc;

use super::{Aggregate, Function};
use crate::columns::expression::Field;
use crate::columns::grouping::Grouping;
use crate::columns::input::fields;
use crate::columns::kind::Kind;
use crate::columns::normal;
use crate::columns::settings::BY;
use crate::columns::vector::{Value, Vector};
use crate::operator::{Batch, KeyOrderer, Out, TaskContext};
use yunti_base::{Code, Error, Result};

/// First byte of each key, so that none is empty.
const FIRST: u8 = 1;
/// Behind the group of a record with states.
const STATES: u8 = 0;

/// Returns true if the aggregates need the values of each group in order.
pub fn is_needed(aggregates: &[Aggregate]) -> bool {
    aggregates.iter().any(|of| of.function.is_exact())
}

/// Values of one aggregate that a worker has met, by group.
pub struct MetValues {
    /// Number of the aggregate.
    number: usize,
    grouping: Grouping,
    times: Vec<u64>,
    groups: Vec<u32>,
}

impl MetValues {
    /// Returns no values for each aggregate that needs them. `by`: types of the columns of the group.
    pub fn of(aggregates: &[Aggregate], by: &[Kind]) -> Vec<MetValues> {
        let exact = aggregates.iter().enumerate().filter(|(_, of)| of.function.is_exact());
        exact
            .map(|(number, of)| MetValues {
                number,
                grouping: Grouping::new(&[by, &[of.argument_kind()]].concat()),
                times: Vec::new(),
                groups: Vec::new(),
            })
            .collect()
    }

    /// Returns the number of the aggregate.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the bytes that the values take.
    pub fn used_bytes(&self) -> usize {
        self.grouping.used_bytes() + 8 * self.times.len()
    }

    /// Adds the values of some rows, without the nulls.
    pub fn add(&mut self, by: &[&Vector], values: &Vector, rows: usize) {
        let kept: Option<Vec<u32>> = values.nulls.as_ref().map(|nulls| {
            let is_value = |(_, null): &(u32, &bool)| !**null;
            (0..).zip(nulls).filter(is_value).map(|(row, _)| row).collect()
        });
        let chosen: Vec<Vector>;
        let all: Vec<&Vector> = by.iter().copied().chain([values]).collect();
        let (columns, rows) = match &kept {
            Some(kept) => {
                chosen = all.iter().map(|column| column.select(kept)).collect();
                (chosen.iter().collect(), kept.len())
            }
            None => (all, rows),
        };
        self.grouping.assign(&columns, rows, &mut self.groups);
        self.times.resize(self.grouping.groups(), 0);
        self.groups.iter().for_each(|&group| self.times[group as usize] += 1);
    }

    /// Emits all values, and forgets them.
    pub fn hand_over(&mut self, by: usize, out: &mut Out) -> Result<()> {
        let mut key = Vec::new();
        for (group, times) in self.times.iter().enumerate() {
            key.clear();
            key.push(FIRST);
            self.grouping.put_key(group, 0..by, &mut key);
            key.push(1 + self.number as u8);
            self.grouping.put_key(group, by..by + 1, &mut key);
            out.emit(&key, &times.to_le_bytes())?;
        }
        self.grouping.clear();
        self.times.clear();
        Ok(())
    }
}

/// Returns the key of the states of a group, from the key of the group.
pub fn key_of_states(group: &[u8], out: &mut Vec<u8>) {
    out.push(FIRST);
    out.extend_from_slice(group);
    out.push(STATES);
}

/// Meaning of a key of a job with exact aggregates.
pub enum Meaning<'k> {
    States,
    /// A value of an aggregate, in normal form.
    Value(usize, &'k [u8]),
}

/// Returns the error for a key that no mapper has made.
pub fn damaged_key() -> Error {
    Error::new(Code::Corrupt, "the key of an aggregate is damaged")
}

/// Returns the group of a key, in normal form, and what the key stands for. Errors: `Corrupt` if it is no such key.
pub fn split<'k>(key: &'k [u8], by: &[Field]) -> Result<(&'k [u8], Meaning<'k>)> {
    split_whole(key, by).ok_or_else(damaged_key)
}

fn split_whole<'k>(key: &'k [u8], by: &[Field]) -> Option<(&'k [u8], Meaning<'k>)> {
    let (_, whole) = key.split_first()?;
    let mut rest = whole;
    for field in by {
        normal::skip(field.kind, &mut rest)?;
    }
    let group = &whole[..whole.len() - rest.len()];
    let (tag, value) = rest.split_first()?;
    let meaning = if *tag == STATES { Meaning::States } else { Meaning::Value(usize::from(*tag) - 1, value) };
    Some((group, meaning))
}

/// Values of one group in their order, as the reducer meets them.
pub struct SortedValues {
    function: Function,
    kind: Kind,
    /// Values that the group has, by its states.
    values: u64,
    /// Values before the present one.
    below: u64,
    distinct: u64,
    last: Vec<u8>,
    /// Values at the ranks of a quantile.
    found: [Option<Value>; 2],
}

impl SortedValues {
    /// Returns the values of a group that has none.
    pub fn new(of: &Aggregate) -> SortedValues {
        SortedValues {
            function: of.function,
            kind: of.argument_kind(),
            values: 0,
            below: 0,
            distinct: 0,
            last: Vec::new(),
            found: [None, None],
        }
    }

    /// Sets the number of values of the group, before the first value.
    pub fn expect(&mut self, values: u64) {
        self.values = values;
    }

    /// Adds the next value in order, which occurs some times more.
    pub fn add(&mut self, value: &[u8], times: u64) -> Result<()> {
        if self.distinct == 0 || self.last != value {
            self.distinct += 1;
            self.last.clear();
            self.last.extend_from_slice(value);
        }
        let ranks = self.ranks();
        for (rank, found) in ranks.into_iter().zip(&mut self.found) {
            if (self.below..self.below + times).contains(&rank) {
                let value = normal::take(self.kind, &mut &value[..]);
                *found = Some(value.ok_or_else(|| Error::new(Code::Corrupt, "a value of an aggregate is damaged"))?);
            }
        }
        self.below += times;
        Ok(())
    }

    /// Returns the ranks of the values around the quantile, from 0.
    fn ranks(&self) -> [u64; 2] {
        let last = self.values.saturating_sub(1);
        match self.function {
            // The first value with at least this share of the values up to it.
            Function::Quantile(share) => {
                let rank = (f64::from_bits(share) * self.values as f64).ceil() as u64;
                [rank.saturating_sub(1).min(last); 2]
            }
            _ => [last / 2, last.div_ceil(2)],
        }
    }

    /// Returns the result.
    pub fn finish(&self) -> Value {
        match (self.function, &self.found) {
            (Function::Distinct, _) => Value::Int(self.distinct as i64),
            (Function::Quantile(_), [Some(value), _]) => value.clone(),
            (_, [Some(a), Some(b)]) => {
                let float = |value: &Value| match (value, self.kind) {
                    (Value::Int(v), _) => *v as f64,
                    (Value::Float(v), _) => *v,
                    (Value::Decimal(v), Kind::Decimal { scale }) => *v as f64 / 10f64.powi(scale.into()),
                    _ => f64::NAN,
                };
                let (a, b) = (float(a), float(b));
                // Without a sum that may be infinite.
                Value::Float(if a == b { a } else { a / 2.0 + b / 2.0 })
            }
            _ => Value::Null,
        }
    }
}

/// Order of the keys: as they are, by groups.
pub struct ExactOrder {
    by: Vec<Field>,
}

impl ExactOrder {
    /// Reads the settings. Errors: `Usage`.
    pub fn new(context: &TaskContext) -> Result<ExactOrder> {
        let fields = fields(context)?;
        let by = context.setting(BY).unwrap_or_default().lines();
        let of = |name: &str| fields.iter().find(|field| field.name == name).cloned();
        Ok(ExactOrder { by: by.filter_map(of).collect() })
    }
}

impl KeyOrderer for ExactOrder {
    fn order_keys(&mut self, batch: &Batch<'_>, out: &mut Out, group: &mut [u32]) -> Result<()> {
        for (record, group) in group.iter_mut().enumerate() {
            let (key, _) = batch.record(record);
            let (of, _) = split(key, &self.by)?;
            *group = 1 + of.len() as u32;
            out.emit(key, b"")?;
        }
        Ok(())
    }
}

/// Returns the settings' class that orders the keys, for a job of these aggregates.
pub fn key_order(aggregates: &[Aggregate]) -> Option<&'static str> {
    is_needed(aggregates).then_some("Yunti.ColumnsExactOrder")
}

/// Makes the order of a task.
pub fn order_of(context: &Arc<TaskContext>) -> Result<Box<dyn KeyOrderer>> {
    Ok(Box::new(ExactOrder::new(context)?))
}
