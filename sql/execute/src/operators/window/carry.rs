//! State of a call over a partition that does not fit in memory: what rows leave to later ones.
//!
//! ```text
//!   rank, row_number, ..          number of rows and of groups before
//!   count, sum, avg, variance     exact totals of the rows before
//!   least, largest, first, last   one value
//! ```

use std::cmp::Ordering;
use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::normal::ordered_float;
use yunti_engine::columns::vector::{Cell, Data, Value, Vector};
use yunti_sql_plan::{AggregateFunction, Frame, FrameEnd, FrameUnit, Offset, WindowFunction};

use super::call::{Call, Fallback, Output, is_sample};
use super::frames::Frames;
use super::segment::Segment;
use super::values::sliding::{FloatTotal, Total, Variance};
use super::values::sums::Wide;
use super::values::{extremes, places, ranks, sums};
use crate::store::column::{Column, Values};
use crate::store::{NO_ROW, wrong_shape};

/// Rows behind and ahead of a row that a call may take of a partition in segments, at most.
const REACH_MAX: i64 = if cfg!(test) { 8 } else { 1 << 13 };

/// How a call is computed for a partition in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// From the rows around a row alone, this many before and behind it.
    Near { back: usize, ahead: usize },
    /// From the rows up to a row, in order.
    Running,
    /// One value for all rows of the partition, known at its end.
    Whole,
    /// From the rows up to a row, and the number of all.
    Counted,
}

/// Returns how a call is computed in segments; None if it needs all rows at once.
pub fn mode(call: &Call, frame: Option<&Frame>) -> Option<Mode> {
    let near = |back: i64, ahead: i64| {
        (back <= REACH_MAX && ahead <= REACH_MAX).then_some(Mode::Near { back: back as usize, ahead: ahead as usize })
    };
    let Some(frame) = frame else {
        return match call.function {
            WindowFunction::RowNumber | WindowFunction::Rank | WindowFunction::DenseRank => Some(Mode::Running),
            WindowFunction::Lag(_) if call.ignores_nulls => None,
            WindowFunction::Lag(rows) if rows > 0 => near(rows, 0),
            WindowFunction::Lag(rows) => near(0, rows.saturating_neg()),
            _ => Some(Mode::Counted),
        };
    };
    let is_rows = frame.unit == FrameUnit::Rows;
    let back = match &frame.start {
        FrameEnd::Preceding(Offset::Value(Value::Int(rows))) if is_rows => Some(*rows),
        FrameEnd::CurrentRow | FrameEnd::Following(_) => Some(0),
        _ => None,
    };
    let ahead = match &frame.end {
        FrameEnd::Following(Offset::Value(Value::Int(rows))) if is_rows => Some(*rows),
        FrameEnd::CurrentRow | FrameEnd::Preceding(_) => Some(0),
        _ => None,
    };
    let by_peers = |end: &FrameEnd| is_rows || *end == FrameEnd::CurrentRow;
    match (&frame.start, &frame.end) {
        _ if matches!(call.function, WindowFunction::NthValue(_)) => {
            near(back?, ahead?).filter(|_| by_peers(&frame.start) && by_peers(&frame.end))
        }
        (FrameEnd::UnboundedPreceding, FrameEnd::CurrentRow) => (!call.counts_values()).then_some(Mode::Running),
        (FrameEnd::UnboundedPreceding, FrameEnd::UnboundedFollowing) => (!call.counts_values()).then_some(Mode::Whole),
        (start, end) if by_peers(start) && by_peers(end) => near(back?, ahead?),
        _ => None,
    }
}

/// State of a call.
#[derive(Default)]
pub struct Carry {
    count: i64,
    sum: Wide,
    floats: FloatTotal,
    variance: Variance,
    /// The least, largest, first or last value so far.
    value: Option<Vector>,
}

/// Place of a segment in its partition.
#[derive(Clone, Copy, Default)]
pub struct Before {
    pub rows: i64,
    pub groups: i64,
    /// All rows of the partition, for calls that need it.
    pub all: i64,
}

impl Carry {
    /// Returns the values of a call for the rows of a segment, which is a part of one partition, and takes its rows.
    /// `frames` are the rows of the segment in the frame of each.
    pub fn advance(
        &mut self,
        call: &Call,
        segment: &Segment,
        frames: Option<&Frames>,
        before: Before,
    ) -> Result<Output> {
        let shift = |mut values: Vec<i64>, by: i64| {
            values.iter_mut().for_each(|value| *value += by);
            Ok(Output::Values(ranks::integers(values, call.kind())))
        };
        let floats = |values: Vec<f64>| Ok(Output::Values(Vector::of(Data::Floats(values))));
        match (call.function, frames) {
            (WindowFunction::RowNumber, _) => shift(ranks::row_numbers(segment), before.rows),
            (WindowFunction::Rank, _) => shift(ranks::ranks(segment), before.rows),
            (WindowFunction::DenseRank, _) => shift(ranks::dense_ranks(segment), before.groups),
            (WindowFunction::PercentRank, _) => {
                let others = (before.all - 1).max(1) as f64;
                floats(ranks::ranks(segment).iter().map(|rank| (rank - 1 + before.rows) as f64 / others).collect())
            }
            (WindowFunction::CumeDist, _) => {
                let ends = ranks::peer_ends(segment);
                floats(ends.iter().map(|end| (end + before.rows) as f64 / before.all as f64).collect())
            }
            (WindowFunction::Ntile(parts), _) => {
                let part = |row: i64| ranks::part_of((row - 1 + before.rows) as u64, before.all as u64, parts);
                shift(ranks::row_numbers(segment).into_iter().map(part).collect(), 0)
            }
            (WindowFunction::Aggregate(function), Some(frames)) => self.aggregate(function, call, segment, frames),
            (function, Some(frames)) => {
                let column = call.column(segment).ok_or_else(wrong_shape)?;
                let nulls = column.nulls.as_deref().filter(|_| call.ignores_nulls);
                let mut rows = places::in_frames(function, frames, nulls);
                if function == WindowFunction::FirstValue && self.value.is_some() {
                    rows.fill(NO_ROW);
                }
                self.taken(call, column, rows)
            }
            (_, None) => Err(wrong_shape()),
        }
    }

    /// Returns the values of rows, or the one so far for `NO_ROW`; keeps the last.
    fn taken(&mut self, call: &Call, column: &Column, rows: Vec<u32>) -> Result<Output> {
        let value = call.value.ok_or_else(wrong_shape)?;
        let before = self.value.clone();
        if let Some(&last) = rows.last().filter(|&&row| row != NO_ROW) {
            self.value = Some(owned(column.gather(&[last])));
        }
        let default = before.map_or(Fallback::Null, Fallback::Value);
        Ok(Output::Places { places: rows, value, default })
    }

    fn aggregate(
        &mut self,
        function: AggregateFunction,
        call: &Call,
        segment: &Segment,
        frames: &Frames,
    ) -> Result<Output> {
        let counting = call.counting(segment)?;
        let counting = counting.as_deref();
        let mut counts = sums::counts(frames, counting);
        counts.iter_mut().for_each(|count| *count += self.count);
        self.count = counts.last().copied().unwrap_or(self.count);
        let counted = |counts| call.finish(Vector::of(Data::Ints(counts)), Vec::new());
        let Some(column) = call.column(segment) else { return counted(counts) };
        let is_least =
            matches!(function, AggregateFunction::Min | AggregateFunction::AnyValue | AggregateFunction::BoolAnd);
        match function {
            AggregateFunction::Count => counted(counts),
            _ if is_least || matches!(function, AggregateFunction::Max | AggregateFunction::BoolOr) => {
                let mut rows = extremes::rows(column, !is_least, frames, counting);
                if let Some(best) = &self.value {
                    let mut known = (NO_ROW, NO_ROW);
                    for row in rows.iter_mut().filter(|row| **row != NO_ROW) {
                        if known.0 != *row {
                            let order = compare(&column.gather(&[*row]), best);
                            let is_better = if is_least { order.is_lt() } else { order.is_gt() };
                            known = (*row, if is_better { *row } else { NO_ROW });
                        }
                        *row = known.1;
                    }
                }
                self.taken(call, column, rows)
            }
            AggregateFunction::Sum | AggregateFunction::Average => {
                let sums = match &column.values {
                    Values::Fixed(Data::Floats(values)) => {
                        let sum = &mut self.floats;
                        Vector::of(Data::Floats(each(frames, counting, |row| match row {
                            Some(row) => {
                                sum.change(values[row], true);
                                0.0
                            }
                            None => sum.value(),
                        })))
                    }
                    Values::Fixed(data) => {
                        let value = |row: usize| match data {
                            Data::Ints(v) | Data::SmallDecimals(v) => v[row].into(),
                            Data::Decimals(v) => v[row],
                            _ => 0,
                        };
                        let sum = &mut self.sum;
                        let all = each(frames, counting, |row| {
                            if let Some(row) = row {
                                *sum = sum.plus(value(row));
                            }
                            sum.value()
                        });
                        let all = all.into_iter().collect::<Option<Vec<i128>>>().ok_or_else(|| call.beyond())?;
                        Vector::of(crate::operators::aggregate::keys::smallest(all))
                    }
                    Values::Texts(_) => return Err(wrong_shape()),
                };
                call.finish(super::call::with_nulls(sums, &counts), counts)
            }
            _ => {
                let Values::Fixed(Data::Floats(values)) = &column.values else { return Err(wrong_shape()) };
                let state = &mut self.variance;
                let variances = each(frames, counting, |row| match row {
                    Some(row) => {
                        state.change(values[row], true);
                        None
                    }
                    None => state.value(is_sample(function)),
                });
                call.spread(function, variances)
            }
        }
    }
}

/// Calls `f` with each row that enters a frame, and without one for the value of each frame. All frames begin with the
/// first row.
fn each<T: Clone>(frames: &Frames, counts: Option<&[bool]>, mut f: impl FnMut(Option<usize>) -> T) -> Vec<T> {
    let mut all: Vec<T> = Vec::with_capacity(frames.end.len());
    let mut behind = 0;
    for &end in &frames.end {
        match all.last() {
            Some(last) if behind == end => all.push(last.clone()),
            _ => {
                for row in behind as usize..end as usize {
                    if counts.is_none_or(|counts| counts[row]) {
                        f(Some(row));
                    }
                }
                behind = end;
                all.push(f(None));
            }
        }
    }
    all
}

/// Returns a vector that keeps no dictionary of others.
fn owned(vector: Vector) -> Vector {
    match &vector.data {
        Data::Codes(codes, _) => {
            let texts = (0..codes.len()).map(|row| vector.bytes(row)).collect();
            Vector { data: Data::Bytes(texts), nulls: vector.nulls.clone() }
        }
        _ => vector,
    }
}

/// Compares two values that are no nulls.
fn compare(a: &Vector, b: &Vector) -> Ordering {
    match (a.cell(0), b.cell(0)) {
        (Cell::Bytes(a), Cell::Bytes(b)) => a.cmp(b),
        (Cell::Other(Value::Int(a)), Cell::Other(Value::Int(b))) => a.cmp(&b),
        (Cell::Other(Value::Float(a)), Cell::Other(Value::Float(b))) => ordered_float(a).cmp(&ordered_float(b)),
        (Cell::Other(Value::Decimal(a)), Cell::Other(Value::Decimal(b))) => a.cmp(&b),
        (Cell::Other(Value::Bool(a)), Cell::Other(Value::Bool(b))) => a.cmp(&b),
        _ => Ordering::Equal,
    }
}

/// Returns a value for a number of rows.
pub fn repeated(value: &Vector, rows: usize) -> Arc<Vector> {
    Arc::new(value.select(&vec![0; rows]))
}
