//! Values of frames by what enters and what leaves: exact sums of floats, variances, different values.
//!
//! ```text
//!   frame of row 4    | 1 2 3 4 |          state of 1 .. 4
//!   frame of row 5      | 2 3 4 5 |        add 5, remove 1
//! ```
//!
//! Sums of floats are exact, so that a value that left has no trace, and a result is the same for any way to it.

use std::collections::HashMap;

use yunti_engine::columns::aggregate::float_sum::FloatSum;
use yunti_engine::columns::normal::ordered_float;
use yunti_engine::columns::vector::Data;

use super::super::frames::Frames;
use super::sums::Wide;
use crate::operators::aggregate::states::float_sum::Moments;
use crate::store::column::{Column, Values};

/// State of the rows of a frame.
pub trait State {
    /// Adds a row, or removes one that was added.
    fn change(&mut self, row: usize, adds: bool);

    /// Removes rows, all that were added.
    fn clear(&mut self, rows: std::ops::Range<usize>) {
        rows.for_each(|row| self.change(row, false));
    }
}

/// Returns `value` of the state for each frame. `counts`: rows that count, if not all do.
pub fn slide<S: State, T: Clone>(
    frames: &Frames,
    counts: Option<&[bool]>,
    state: S,
    value: impl Fn(&S) -> T,
) -> Vec<T> {
    let mut state = Counted { state, counts };
    let (mut first, mut end) = (0, 0);
    let mut all: Vec<T> = Vec::with_capacity(frames.first.len());
    for (&to_first, &to_end) in frames.first.iter().zip(&frames.end) {
        let (to_first, to_end) = (to_first as usize, to_end as usize);
        if let (true, Some(last)) = ((to_first, to_end) == (first, end), all.last()) {
            all.push(last.clone());
            continue;
        }
        if to_first >= end {
            state.clear(first..end);
            (first, end) = (to_first, to_first);
        }
        (end..to_end).for_each(|row| state.change(row, true));
        (to_end.max(first)..end).for_each(|row| state.change(row, false));
        (first..to_first).for_each(|row| state.change(row, false));
        (to_first..first).for_each(|row| state.change(row, true));
        (first, end) = (to_first, to_end);
        all.push(value(&state.state));
    }
    all
}

struct Counted<'c, S> {
    state: S,
    counts: Option<&'c [bool]>,
}

impl<S: State> Counted<'_, S> {
    #[inline(always)]
    fn change(&mut self, row: usize, adds: bool) {
        if self.counts.is_none_or(|counts| counts[row]) {
            self.state.change(row, adds);
        }
    }

    fn clear(&mut self, rows: std::ops::Range<usize>) {
        match self.counts {
            None => self.state.clear(rows),
            Some(_) => rows.for_each(|row| self.change(row, false)),
        }
    }
}

/// Sum of floats.
pub trait Total: Default {
    /// Adds a value, or removes one that was added.
    fn change(&mut self, value: f64, adds: bool);
}

/// Total of a column's values.
pub struct Floats<'v, T> {
    values: &'v [f64],
    pub total: T,
}

impl<'v, T: Total> Floats<'v, T> {
    pub fn new(values: &'v [f64]) -> Floats<'v, T> {
        Floats { values, total: T::default() }
    }
}

impl<T: Total> State for Floats<'_, T> {
    #[inline(always)]
    fn change(&mut self, row: usize, adds: bool) {
        self.total.change(self.values[row], adds);
    }

    fn clear(&mut self, _rows: std::ops::Range<usize>) {
        self.total = T::default();
    }
}

/// Exact sum of floats.
#[derive(Default)]
pub struct FloatTotal {
    sum: FloatSum,
    /// Values that no sum can lose again.
    nan: u64,
    infinite: u64,
    minus_infinite: u64,
}

impl FloatTotal {
    pub fn value(&self) -> f64 {
        match (self.nan, self.infinite, self.minus_infinite) {
            (0, 0, 0) => self.sum.value(),
            (0, _, 0) => f64::INFINITY,
            (0, 0, _) => f64::NEG_INFINITY,
            _ => f64::NAN,
        }
    }
}

impl Total for FloatTotal {
    #[inline(always)]
    fn change(&mut self, value: f64, adds: bool) {
        if value.is_finite() {
            return self.sum.add(if adds { value } else { -value });
        }
        let of = match value {
            v if v.is_nan() => &mut self.nan,
            v if v > 0.0 => &mut self.infinite,
            _ => &mut self.minus_infinite,
        };
        *of = if adds { *of + 1 } else { *of - 1 };
    }
}

/// Variance.
#[derive(Default)]
pub struct Variance {
    moments: Moments,
    /// Values whose squares are no floats.
    beyond: u64,
    /// All values.
    count: u64,
}

/// Largest value whose square is a float.
const ROOT_MAX: f64 = 1.340_780_792_994_25e154;

impl Variance {
    pub fn value(&self, is_sample: bool) -> Option<f64> {
        if self.beyond > 0 {
            return (self.count > u64::from(is_sample)).then_some(f64::NAN);
        }
        self.moments.variance(is_sample)
    }
}

impl Total for Variance {
    #[inline(always)]
    fn change(&mut self, value: f64, adds: bool) {
        let step = |n: u64| if adds { n + 1 } else { n - 1 };
        self.count = step(self.count);
        if value.abs() <= ROOT_MAX {
            self.moments.change(value, adds);
        } else {
            self.beyond = step(self.beyond);
        }
    }
}

/// Different values, each of which counts once in a state within.
pub struct Distinct<S> {
    /// Number of the value of each row, and how often each value is in the frame.
    ids: Vec<u32>,
    times: Vec<u32>,
    pub count: i64,
    pub within: S,
}

impl<S: State> Distinct<S> {
    /// Returns the state of no row of a column.
    pub fn new(column: &Column, rows: usize, within: S) -> Distinct<S> {
        let (ids, values) = ids(column, rows);
        Distinct { ids, times: vec![0; values], count: 0, within }
    }
}

impl<S: State> State for Distinct<S> {
    #[inline(always)]
    fn change(&mut self, row: usize, adds: bool) {
        let times = &mut self.times[self.ids[row] as usize];
        let changes = if adds { *times == 0 } else { *times == 1 };
        *times = if adds { *times + 1 } else { *times - 1 };
        if changes {
            self.count += if adds { 1 } else { -1 };
            self.within.change(row, adds);
        }
    }
}

/// Returns the number of each row's value, and the number of values.
fn ids(column: &Column, rows: usize) -> (Vec<u32>, usize) {
    fn number<K: Eq + std::hash::Hash>(rows: usize, key: impl Fn(usize) -> K) -> (Vec<u32>, usize) {
        let mut known = HashMap::new();
        let mut ids = Vec::with_capacity(rows);
        for row in 0..rows {
            let next = known.len() as u32;
            ids.push(*known.entry(key(row)).or_insert(next));
        }
        (ids, known.len())
    }
    match &column.values {
        Values::Fixed(Data::Ints(v) | Data::SmallDecimals(v)) => number(rows, |row| v[row]),
        Values::Fixed(Data::Floats(v)) => number(rows, |row| ordered_float(v[row])),
        Values::Fixed(Data::Decimals(v)) => number(rows, |row| v[row]),
        Values::Fixed(Data::Bools(v)) => number(rows, |row| v[row]),
        Values::Fixed(_) => (vec![0; rows], 1),
        Values::Texts(texts) => number(rows, |row| texts.get(row)),
    }
}

/// Exact sum of whole numbers or units.
pub struct IntTotal<F> {
    pub value: F,
    pub sum: Wide,
}

impl<F: Fn(usize) -> i128> State for IntTotal<F> {
    #[inline(always)]
    fn change(&mut self, row: usize, adds: bool) {
        let value = (self.value)(row);
        self.sum = if adds { self.sum.plus(value) } else { self.sum.less(value) };
    }

    fn clear(&mut self, _rows: std::ops::Range<usize>) {
        self.sum = Wide::default();
    }
}

/// No state.
pub struct Nothing;

impl State for Nothing {
    fn change(&mut self, _row: usize, _adds: bool) {}
}
