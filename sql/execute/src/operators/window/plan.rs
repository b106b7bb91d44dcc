//! A window made ready: places of its keys among the sorted columns, and what its calls need of each row.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::Vector;
use yunti_sql_plan::{
    Batch, Expression, Frame, FrameEnd, FrameUnit, Operation, SortKey, Window, WindowFunction, kind_of,
};

use super::call::{Argument, Call, Fallback, Output};
use super::carry::{self, Mode};
use super::frames::Frames;
use super::ranges::{self, Key};
use super::segment::{Part, Segment};
use crate::context::Context;
use crate::expression::Evaluator;
use crate::missing::not_native;
use crate::operators::aggregate::calls::{are_same, to_floats};
use crate::store::size::{Dictionaries, batch_bytes, granted_bytes};
use crate::store::{NO_ROW, column::Column, kinds_of};

/// Bytes of a row for the frames and results of a call, about.
const CALL_BYTES: u64 = 24;

/// Bytes of a worker's rows that need no grant.
pub const LOOSE_BYTES_MAX: u64 = if cfg!(test) { 4 << 10 } else { 1 << 20 };

/// A window over sorted rows.
pub struct Plan {
    /// Columns of the window's input; keys that are no columns follow them in the sorted rows.
    pub width: usize,
    /// Keys that are no columns.
    pub computed: Vec<Expression>,
    /// Place of each key that is no constant.
    pub partition: Vec<usize>,
    pub order: Vec<usize>,
    /// Order of the sorted rows.
    pub keys: Vec<SortKey>,
    /// Number of the argument that is the key of ranges, and whether it descends.
    key: Option<(usize, bool)>,
    pub arguments: Vec<Argument>,
    calls: Vec<Call>,
    frames: Vec<Frame>,
    /// Shapes of the sorted rows' columns.
    pub row_kinds: Vec<Kind>,
}

impl Plan {
    /// Makes a window ready. Errors: `Usage` for what this executor lacks, `Invalid` for an offset below zero.
    pub fn new(window: &Window) -> Result<Plan> {
        let width = window.input.types().len();
        let mut plan = Plan {
            width,
            computed: Vec::new(),
            partition: Vec::new(),
            order: Vec::new(),
            keys: Vec::new(),
            key: None,
            arguments: Vec::new(),
            calls: Vec::new(),
            frames: Vec::new(),
            row_kinds: Vec::new(),
        };
        for value in &window.partition {
            if let Some(place) = plan.place(value).filter(|place| !plan.partition.contains(place)) {
                plan.partition.push(place);
                let value = Expression::column(place, value.data_type.clone());
                plan.keys.push(SortKey { value, descending: false, nulls_first: false });
            }
        }
        for key in &window.order {
            if let Some(place) = plan.place(&key.value).filter(|place| !plan.order.contains(place)) {
                plan.order.push(place);
                plan.keys
                    .push(SortKey { value: Expression::column(place, key.value.data_type.clone()), ..key.clone() });
            }
        }
        let Plan { arguments, frames, .. } = &mut plan;
        let mut argument = |of: &Expression, as_floats: bool| number(arguments, of, as_floats);
        let mut has_range = false;
        let mut calls = Vec::new();
        for call in &window.calls {
            let mut frame = |call: &yunti_sql_plan::WindowCall| {
                has_range |= check(&call.frame)?;
                Ok(frames.iter().position(|of| *of == call.frame).unwrap_or_else(|| {
                    frames.push(call.frame.clone());
                    frames.len() - 1
                }))
            };
            calls.push(Call::new(call, &mut argument, &mut frame)?);
        }
        if has_range {
            let [key] = &window.order[..] else { return Err(not_native("a range with an offset over several keys")) };
            plan.key = Some((argument(&key.value, false)?, key.descending));
        }
        plan.calls = calls;
        let mut types = window.input.types();
        types.extend(plan.computed.iter().map(|of| of.data_type.clone()));
        plan.row_kinds = kinds_of(&types)?;
        Ok(plan)
    }

    /// Returns the place of a key among the sorted columns; None for a constant, which neither orders nor parts rows.
    fn place(&mut self, key: &Expression) -> Option<usize> {
        match key.operation {
            Operation::Literal(_) => None,
            Operation::Column(place) => Some(place),
            _ => {
                let at = self.computed.iter().position(|of| are_same(of, key)).unwrap_or_else(|| {
                    self.computed.push(key.clone());
                    self.computed.len() - 1
                });
                Some(self.width + at)
            }
        }
    }

    /// Returns true if no value depends on the order of the rows of a partition.
    pub fn is_unordered(&self) -> bool {
        let is_whole = |of: &Frame| {
            let (start, end) = (&of.start, &of.end);
            let of_peers = of.unit != FrameUnit::Rows;
            (*start == FrameEnd::UnboundedPreceding || of_peers && *start == FrameEnd::CurrentRow)
                && (*end == FrameEnd::UnboundedFollowing || of_peers && *end == FrameEnd::CurrentRow)
        };
        self.order.is_empty()
            && self
                .calls
                .iter()
                .all(|call| call.is_aggregate() && call.frame.is_some_and(|n| is_whole(&self.frames[n])))
    }

    /// Returns how each call is computed for a partition in segments; None if one needs all rows at once.
    pub fn modes(&self) -> Option<Vec<Mode>> {
        self.calls.iter().map(|call| carry::mode(call, call.frame.map(|n| &self.frames[n]))).collect()
    }

    /// Returns true if a call needs to know where peers begin and end.
    pub fn has_peers(&self) -> bool {
        self.calls.iter().any(|call| match call.frame {
            Some(n) => {
                let frame = &self.frames[n];
                frame.unit != FrameUnit::Rows && [&frame.start, &frame.end].contains(&&FrameEnd::CurrentRow)
            }
            None => matches!(
                call.function,
                WindowFunction::Rank
                    | WindowFunction::DenseRank
                    | WindowFunction::PercentRank
                    | WindowFunction::CumeDist
            ),
        })
    }

    /// Returns the places of the keys: of partitions, of the order.
    pub fn key_places(&self) -> (&[usize], &[usize]) {
        (&self.partition, &self.order)
    }

    /// Returns the shapes of the arguments.
    pub fn kinds(&self) -> Vec<Kind> {
        self.arguments.iter().map(|of| of.kind).collect()
    }

    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    pub fn frame(&self, n: usize) -> &Frame {
        &self.frames[n]
    }

    /// Returns the columns of the window's input.
    pub fn project(&self, batch: &Batch) -> Batch {
        Batch { columns: batch.columns[..self.width].to_vec(), rows: batch.rows }
    }

    /// Returns the arguments of one worker.
    pub fn evaluators(&self) -> Result<Vec<Evaluator>> {
        self.arguments.iter().map(|of| Evaluator::new(&of.expression)).collect()
    }

    /// Returns the values of the arguments for a batch.
    pub fn arguments(&self, evaluators: &mut [Evaluator], batch: &Batch) -> Result<Vec<Arc<Vector>>> {
        let one = |(of, argument): (&mut Evaluator, &Argument)| {
            let vector = of.evaluate(batch)?;
            Ok(if argument.as_floats { to_floats(&vector, &argument.expression.data_type) } else { vector })
        };
        evaluators.iter_mut().zip(&self.arguments).map(one).collect()
    }

    /// Returns the bytes that a part takes while its segment is computed.
    pub fn bytes(&self, part: &Part, dictionaries: &mut Dictionaries) -> u64 {
        let rows = part.batch.rows;
        let arguments = Batch { columns: part.arguments.clone(), rows };
        let kept = batch_bytes(&part.batch) + dictionaries.add(&part.batch);
        kept + granted_bytes(&arguments) + CALL_BYTES * (1 + self.calls.len() + self.frames.len()) as u64 * rows as u64
    }

    /// Returns the rows of whole partitions with the values of the calls, a batch for each part.
    pub fn evaluate(&self, parts: Vec<Part>, context: &Context) -> Result<Vec<Batch>> {
        let kinds = self.kinds();
        let segment = Segment::of(&parts, &kinds)?;
        let key = self.key.map(|(n, descending)| Key { column: &segment.arguments[n], kind: kinds[n], descending });
        let mut batches: Vec<Batch> = parts.into_iter().map(|part| self.project(&part.batch)).collect();
        // Calls with one frame come one behind the other only by chance: the last frames stay until all have run.
        let mut frames: Vec<Option<Frames>> = self.frames.iter().map(|_| None).collect();
        for call in &self.calls {
            context.check()?;
            let frames = match call.frame {
                Some(n) => {
                    if frames[n].is_none() {
                        frames[n] = Some(Frames::of(&self.frames[n], &segment, key.as_ref())?);
                    }
                    frames[n].as_ref()
                }
                None => None,
            };
            let output = call.evaluate(&segment, frames)?;
            let mut first = 0;
            for batch in &mut batches {
                let end = first + batch.rows;
                batch.columns.push(Arc::new(output.of_rows(first..end, &segment, call)?));
                first = end;
            }
        }
        Ok(batches)
    }
}

impl Output {
    /// Returns the values of some rows.
    pub fn of_rows(&self, rows: std::ops::Range<usize>, segment: &Segment, call: &Call) -> Result<Vector> {
        let numbers = || (rows.start as u32..rows.end as u32).collect::<Vec<u32>>();
        let (places, value, default) = match self {
            Output::Values(vector) if rows == (0..segment.rows) => return Ok(vector.clone()),
            Output::Values(vector) => return Ok(vector.select(&numbers())),
            Output::Places { places, value, default } => (&places[rows.clone()], *value, default),
        };
        let column = &segment.arguments[value];
        if !places.contains(&NO_ROW) {
            return Ok(column.gather(places));
        }
        let values = column.gather_optional(places, call.kind());
        let n = rows.len();
        // Step from the default of a row to the next one's.
        let (defaults, step) = match default {
            Fallback::Null => return Ok(values),
            Fallback::Argument(default) => (segment.arguments[*default].gather(&numbers()), 1),
            Fallback::Value(value) => (value.clone(), 0),
        };
        let count = n + defaults.len();
        let both = Column::of(vec![Arc::new(values), Arc::new(defaults)], call.kind(), (count, 1))?;
        let from = |(row, &place): (usize, &u32)| if place == NO_ROW { (n + step * row) as u32 } else { row as u32 };
        Ok(both.gather(&places.iter().enumerate().map(from).collect::<Vec<u32>>()))
    }
}

/// Returns the number of an argument.
fn number(all: &mut Vec<Argument>, of: &Expression, as_floats: bool) -> Result<usize> {
    if let Some(n) = all.iter().position(|other| other.as_floats == as_floats && are_same(&other.expression, of)) {
        return Ok(n);
    }
    let kind = kind_of(&of.data_type).ok_or_else(|| not_native(&format!("values of {}", of.data_type)))?;
    let kind = if as_floats { Kind::Float } else { kind };
    all.push(Argument { expression: of.clone(), as_floats, kind });
    Ok(all.len() - 1)
}

/// Returns true if a frame is by value. Errors: `Invalid` for an offset below zero.
fn check(frame: &Frame) -> Result<bool> {
    let mut has_offset = false;
    for end in [&frame.start, &frame.end] {
        if let FrameEnd::Preceding(offset) | FrameEnd::Following(offset) = end {
            ranges::check(offset)?;
            has_offset = true;
        }
    }
    Ok(has_offset && frame.unit == FrameUnit::Range)
}
