//! Mapper and reducer of `yunti run top` over tables: the first rows in the order of typed columns.
//!
//! ```text
//!   key      forms of the columns of the order, nulls last (normal.rs)      a smaller key comes first
//!   value    length of the first text, LEB128 | text of the first column | text of the others
//! ```
//!
//! A split holds the best rows within a few MiB. Beyond that it emits what it holds, and the sort of the job spills;
//! rows behind `k` emitted ones are never emitted. So any number of rows needs no memory outside of the budget.

use std::borrow::Cow;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::expression::{Field, Typed};
use super::input::{ColumnInput, condition};
use super::kind::Kind;
use super::normal;
use super::select::{put_row, selected};
use super::settings::{MARK_NULLS, TOP_BY, is_true};
use super::vector::Vector;
use crate::bytes::varint;
use crate::operator::{Batch, Groups, Mapper, Out, Reducer, TaskContext};
use yunti_base::{Code, Error, Result};

/// Bytes of the rows that a split holds, at most.
const HELD_BYTES: usize = if cfg!(debug_assertions) { 2 << 10 } else { 2 << 20 };

/// Returns the number of rows that a job wants. Errors: `Usage`.
fn k(context: &TaskContext) -> Result<u64> {
    let text = context.setting("top.k").unwrap_or("10").trim();
    let wrong = || Error::new(Code::Usage, format!("top.k: '{text}' is not a whole number from 1"));
    text.parse().ok().filter(|&k| k > 0).ok_or_else(wrong)
}

/// Returns the place of each column of the order, and true if the largest value comes first.
fn order_of(context: &TaskContext, fields: &[Field]) -> Result<Vec<(usize, bool)>> {
    let wrong = |line: &str| Error::new(Code::Usage, format!("{TOP_BY}: '{line}' names no column of the input"));
    let one = |line: &str| {
        let (way, name) = line.split_once(' ').ok_or_else(|| wrong(line))?;
        let place = fields.iter().position(|field| field.name == name).ok_or_else(|| wrong(line))?;
        Ok((place, way == "desc"))
    };
    context.setting(TOP_BY).unwrap_or_default().lines().map(one).collect()
}

/// The best rows of a split so far.
struct Best {
    k: u64,
    /// Key, number and text of each row, the worst row on top.
    rows: BinaryHeap<(Vec<u8>, u64, Vec<u8>)>,
    bytes: usize,
    /// Rows with this key or a larger one are surely not among the best.
    bound: Option<Vec<u8>>,
}

impl Best {
    fn is_full(&self) -> bool {
        self.rows.len() as u64 == self.k
    }

    /// Returns true if a later row with this key may be among the best.
    fn admits(&self, key: &[u8]) -> bool {
        let worst = if self.is_full() { self.rows.peek().map(|(key, ..)| key) } else { self.bound.as_ref() };
        worst.is_none_or(|worst| key < &worst[..])
    }

    /// Adds a row, which is admitted, and emits all rows if they are too many bytes.
    fn add(&mut self, key: &[u8], number: u64, row: Vec<u8>, out: &mut Out) -> Result<()> {
        if self.is_full()
            && let Some((key, _, row)) = self.rows.pop()
        {
            self.bytes -= key.len() + row.len();
        }
        self.bytes += key.len() + row.len();
        self.rows.push((key.to_vec(), number, row));
        if self.bytes > HELD_BYTES { self.hand_over(out) } else { Ok(()) }
    }

    /// Emits the rows that are held. If they are `k`, they bound all later ones.
    fn hand_over(&mut self, out: &mut Out) -> Result<()> {
        if self.is_full() {
            self.bound = self.rows.peek().map(|(key, ..)| key.clone());
        }
        self.bytes = 0;
        for (key, _, row) in std::mem::take(&mut self.rows).into_sorted_vec() {
            out.emit(&key, &row)?;
        }
        Ok(())
    }
}

/// Mapper that emits the best rows of its split, and perhaps others.
pub struct TopRows {
    input: ColumnInput,
    condition: Option<Typed>,
    order: Vec<(usize, bool)>,
    list: Vec<Typed>,
    marks_nulls: bool,
    best: Best,
    seen: u64,
}

impl TopRows {
    /// Reads the settings. Errors: `Usage`.
    pub fn new(context: &Arc<TaskContext>) -> Result<Self> {
        let input = ColumnInput::new(context)?;
        Ok(TopRows {
            condition: condition(context, input.fields())?,
            order: order_of(context, input.fields())?,
            list: selected(context, input.fields())?,
            marks_nulls: is_true(context, MARK_NULLS),
            best: Best { k: k(context)?, rows: BinaryHeap::new(), bytes: 0, bound: None },
            seen: 0,
            input,
        })
    }
}

impl Mapper for TopRows {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let TopRows { input, condition, order, list, marks_nulls, best, seen } = self;
        let (mut key, mut first) = (Vec::new(), Vec::new());
        input.each_where(batch, condition.as_ref(), |columns, rows, _| {
            // Most blocks have no row among the best: their expressions are not computed.
            let mut selected = None;
            for row in 0..rows {
                key.clear();
                order.iter().for_each(|&(place, desc)| normal::put_last(columns[place].cell(row), desc, &mut key));
                *seen += 1;
                if !best.admits(&key) {
                    continue;
                }
                let vectors = match &selected {
                    Some(vectors) => vectors,
                    None => selected.insert(values(list, columns, rows)?),
                };
                let columns: Vec<(Kind, &Vector)> =
                    list.iter().zip(vectors).map(|(typed, vector)| (typed.kind, &**vector)).collect();
                let (head, others) = columns.split_at(1);
                first.clear();
                put_row(head, row, *marks_nulls, &mut first);
                let mut value = Vec::new();
                varint::put(&mut value, first.len() as u64);
                value.extend_from_slice(&first);
                put_row(others, row, *marks_nulls, &mut value);
                best.add(&key, *seen, value, out)?;
            }
            Ok(())
        })
    }

    fn flush(&mut self, out: &mut Out) -> Result<()> {
        self.best.hand_over(out)
    }
}

fn values<'v>(list: &'v [Typed], columns: &'v [Vector], rows: usize) -> Result<Vec<Cow<'v, Vector>>> {
    list.iter().map(|typed| typed.evaluate(columns, rows)).collect()
}

/// Reducer that passes the first `k` rows.
pub struct FirstRows {
    left: u64,
}

impl FirstRows {
    /// Reads the setting `top.k`. Errors: `Usage`.
    pub fn new(context: &TaskContext) -> Result<Self> {
        Ok(FirstRows { left: k(context)? })
    }
}

impl Reducer for FirstRows {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        let damaged = || Error::new(Code::Internal, "a row of top has no first column");
        for v in (0..groups.len()).flat_map(|i| groups.range(i)) {
            if self.left == 0 {
                return Ok(());
            }
            let (value, mut at) = (groups.value(v), 0);
            let len = varint::get(value, &mut at).ok_or_else(damaged)? as usize;
            let row = &value[at..];
            let (first, others) = row.split_at_checked(len).ok_or_else(damaged)?;
            out.emit(first, others)?;
            self.left -= 1;
        }
        Ok(())
    }
}
