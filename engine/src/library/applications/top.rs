//! Lines with the largest or smallest numbers in a column.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::columns::{self, Column, ShortLines};
use crate::library::settings;
use crate::operator::{Batch, Groups, Mapper, Out, Reducer, TaskContext};
use yunti_base::{Code, Error, Result};

/// Limit of `top.k`, because the lines are held in memory outside the budget.
const K_MAX: usize = 100_000;

fn k(context: &TaskContext) -> Result<usize> {
    match settings::ordinal(context, "top.k", 10)? {
        k if k <= K_MAX => Ok(k),
        k => Err(Error::new(Code::Usage, format!("the setting top.k is {k}, above the limit of {K_MAX}"))
            .hint("sort the lines instead")),
    }
}

/// A line and its number. Of equal numbers, the earlier line ranks higher.
struct Ranked {
    number: f64,
    place: Reverse<u64>,
    line: Vec<u8>,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.number.total_cmp(&other.number).then(self.place.cmp(&other.place))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

/// Mapper that emits the best `k` lines of its split, each under its number. Keys in descending order put the best
/// lines first.
pub struct Top {
    k: usize,
    column: Column,
    /// True if smaller numbers are better; they are negated.
    smallest: bool,
    best: BinaryHeap<Reverse<Ranked>>,
    seen: u64,
    short: ShortLines,
}

impl Top {
    /// Reads the settings `top.k`, `top.smallest`, `column` and `separator`. Errors: `Usage`.
    pub fn new(context: &Arc<TaskContext>) -> Result<Self> {
        let smallest = settings::value(context, "top.smallest", false)?;
        let (column, short) = (Column::new(context)?, ShortLines::new(context));
        Ok(Top { k: k(context)?, column, smallest, best: BinaryHeap::new(), seen: 0, short })
    }

    fn number(&self, line: &[u8]) -> Option<f64> {
        let number = columns::number(&line[self.column.range(line)?])?;
        // Adding 0 turns -0 into 0.
        let number = if self.smallest { -number } else { number } + 0.0;
        (!number.is_nan()).then_some(number)
    }
}

impl Mapper for Top {
    fn map(&mut self, batch: &Batch<'_>, _: &mut Out) -> Result<()> {
        for i in 0..batch.len() {
            let line = batch.record(i).1;
            let Some(number) = self.number(line) else {
                self.short.add();
                continue;
            };
            self.seen += 1;
            if self.best.len() == self.k {
                if self.best.peek().is_some_and(|worst| worst.0.number >= number) {
                    continue;
                }
                self.best.pop();
            }
            self.best.push(Reverse(Ranked { number, place: Reverse(self.seen), line: line.to_vec() }));
        }
        Ok(())
    }

    fn flush(&mut self, out: &mut Out) -> Result<()> {
        for Reverse(ranked) in std::mem::take(&mut self.best).into_sorted_vec() {
            out.emit(&ranked.number.to_le_bytes(), &ranked.line)?;
        }
        Ok(())
    }
}

/// Reducer that passes the first `k` values.
pub struct First {
    left: usize,
}

impl First {
    /// Reads the setting `top.k`. Errors: `Usage`.
    pub fn new(context: &TaskContext) -> Result<Self> {
        Ok(First { left: k(context)? })
    }
}

impl Reducer for First {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        for v in (0..groups.len()).flat_map(|i| groups.range(i)).take(self.left) {
            out.emit(groups.value(v), &[])?;
            self.left -= 1;
        }
        Ok(())
    }
}
