//! A partition that does not fit in memory: its rows are computed in segments, in order.
//!
//! ```text
//!   sorted rows   | computed | near | computed now | ahead |  not yet read
//!                     state of each call --^
//! ```
//!
//! Calls that look at rows near a row have those of the segments before and behind. Calls that need the whole partition
//! first, such as `ntile` or a total, make it pass twice: its rows go to a file, and come back once all are known.
//!
//! Limitation: frames that reach far, in rows, groups or by value, `ignore nulls` of `lag` and `lead`, and different
//! values of an aggregate need all rows at once.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::Vector;
use yunti_engine::memory::Grant;
use yunti_sql_plan::Batch;

use super::call::partition_too_large;
use super::carry::{Before, Carry, Mode, repeated};
use super::frames::Frames;
use super::plan::{LOOSE_BYTES_MAX, Plan};
use super::segment::{LastRow, Part, Segment};
use crate::context::Context;
use crate::pipeline::Next;
use crate::spill::{Block, Spill};
use crate::store::size::Dictionaries;
use crate::store::wrong_shape;

/// Rows of a partition on their way.
pub struct Stream {
    plan: Arc<Plan>,
    context: Context,
    modes: Vec<Mode>,
    carries: Vec<Carry>,
    /// Values of calls for the whole partition.
    wholes: Vec<Option<Vector>>,
    before: Before,
    /// Rows near, which are computed already, and then rows that are not.
    parts: Vec<Part>,
    near: usize,
    grant: Option<Grant>,
    /// Rows that wait in a file until the partition has ended.
    waiting: Option<Waiting>,
}

struct Waiting {
    spill: Arc<Spill>,
    blocks: Vec<((), Block)>,
    kinds: Vec<Kind>,
    /// Columns of a row without the arguments.
    columns: usize,
}

impl Stream {
    /// Returns the stream of a partition; None if a call needs all its rows at once.
    pub fn new(plan: &Arc<Plan>, context: &Context) -> Option<Stream> {
        let modes = plan.modes()?;
        let waits = modes.iter().any(|mode| matches!(mode, Mode::Whole | Mode::Counted));
        let waiting = waits.then(|| Waiting {
            spill: Spill::new(&context.env),
            blocks: Vec::new(),
            kinds: plan.row_kinds.iter().copied().chain(plan.kinds()).collect(),
            columns: plan.row_kinds.len(),
        });
        Some(Stream {
            plan: plan.clone(),
            context: context.clone(),
            carries: modes.iter().map(|_| Carry::default()).collect(),
            wholes: modes.iter().map(|_| None).collect(),
            modes,
            before: Before::default(),
            parts: Vec::new(),
            near: 0,
            grant: None,
            waiting,
        })
    }

    /// Takes rows of the partition. Errors: `Memory` if too many rows are peers of each other.
    pub fn push(&mut self, part: Part, next: Next<'_>) -> Result<()> {
        if self.waiting.is_some() {
            return self.wait(part);
        }
        self.add(part, next)
    }

    /// Takes rows that follow those before.
    fn add(&mut self, part: Part, next: Next<'_>) -> Result<()> {
        self.parts.push(part);
        self.advance(false, next)?;
        let bytes: u64 = self.parts.iter().map(|part| part.bytes).sum();
        let (loose, held) = (bytes.saturating_sub(LOOSE_BYTES_MAX), self.grant.as_ref().map_or(0, Grant::bytes));
        let has = match &mut self.grant {
            Some(grant) if loose <= held => grant.try_resize(loose),
            grant => self.context.budget.try_add(grant, loose.saturating_sub(held)),
        };
        if has {
            return Ok(());
        }
        let rows = self.parts.iter().map(|part| part.batch.rows).sum();
        Err(partition_too_large(rows, self.context.budget.too_small(loose - held, "a window")))
    }

    /// Computes the rest of the partition.
    pub fn finish(mut self, next: Next<'_>) -> Result<()> {
        if let Some(waiting) = self.waiting.take() {
            let mut last: Option<LastRow> = None;
            for ((), block) in waiting.blocks {
                self.context.check()?;
                let mut batch = waiting.spill.read(&block, &waiting.kinds)?;
                waiting.spill.free(&block);
                let arguments = batch.columns.split_off(waiting.columns);
                let (mut part, row) = Part::new(batch, arguments, self.plan.key_places(), last.as_ref());
                part.bytes = self.plan.bytes(&part, &mut Dictionaries::default());
                last = Some(row);
                self.add(part, next)?;
            }
        }
        self.advance(true, next)
    }

    /// Writes rows to the file, and takes them into the totals.
    fn wait(&mut self, part: Part) -> Result<()> {
        let segment = Segment::of(std::slice::from_ref(&part), &self.plan.kinds())?;
        let all = Frames { first: vec![0], end: vec![segment.rows as u32] };
        for (n, mode) in self.modes.iter().enumerate() {
            if *mode == Mode::Whole {
                let call = &self.plan.calls()[n];
                let output = self.carries[n].advance(call, &segment, Some(&all), Before::default())?;
                self.wholes[n] = Some(output.of_rows(0..1, &segment, call)?);
            }
        }
        self.before.all += segment.rows as i64;
        let Some(waiting) = &mut self.waiting else { return Err(wrong_shape()) };
        let columns = part.batch.columns.iter().chain(&part.arguments);
        let columns: Vec<Arc<Vector>> = columns.map(|column| Arc::new(column.decoded().into_owned())).collect();
        waiting.spill.write(&Batch { columns, rows: part.batch.rows }, (), &mut waiting.blocks)
    }

    /// Computes the rows that are not near the end, or all.
    fn advance(&mut self, is_end: bool, next: Next<'_>) -> Result<()> {
        let rows: usize = self.parts.iter().map(|part| part.batch.rows).sum();
        let reach = |of: fn(usize, usize) -> usize| {
            let each = self.modes.iter().map(|mode| match *mode {
                Mode::Near { back, ahead } => of(back, ahead),
                _ => 0,
            });
            each.max().unwrap_or(0)
        };
        let (back, ahead) = (reach(|back, _| back), reach(|_, ahead| ahead));
        let mut end = if is_end { rows } else { rows.saturating_sub(ahead) };
        if !is_end && self.plan.has_peers() {
            // Peers stay together: their group may go on.
            let mut first = 0;
            let mut last = 0;
            for part in &self.parts {
                let within = part.peers.iter().map(|&at| first + at as usize).filter(|&at| at <= end);
                last = within.max().unwrap_or(last).max(last);
                first += part.batch.rows;
            }
            end = last;
        }
        if end <= self.near {
            return Ok(());
        }
        self.context.check()?;
        let kinds = self.plan.kinds();
        let whole = Segment::of(&self.parts, &kinds)?;
        let (near, now) = (self.near, self.near..end);
        let mut parts = cut(std::mem::take(&mut self.parts), near);
        let count = parts_before(&parts, near);
        let mut own = cut(parts.split_off(count), end - near);
        let count = parts_before(&own, end - near);
        let rest = own.split_off(count);
        let segment = Segment::of(&own, &kinds)?;
        let mut batches: Vec<Batch> = own.iter().map(|part| self.plan.project(&part.batch)).collect();
        for (n, call) in self.plan.calls().iter().enumerate() {
            let output = match self.modes[n] {
                Mode::Near { .. } => {
                    let frames = call.frame.map(|n| Frames::of(self.plan.frame(n), &whole, None)).transpose()?;
                    Some((call.evaluate(&whole, frames.as_ref())?, &whole, near))
                }
                Mode::Running | Mode::Counted => {
                    let frames = call.frame.map(|n| Frames::of(self.plan.frame(n), &segment, None)).transpose()?;
                    Some((self.carries[n].advance(call, &segment, frames.as_ref(), self.before)?, &segment, 0))
                }
                Mode::Whole => None,
            };
            let mut first = 0;
            for batch in &mut batches {
                let rows = first..first + batch.rows;
                first = rows.end;
                batch.columns.push(match (&output, &self.wholes[n]) {
                    (Some((output, of, near)), _) => {
                        Arc::new(output.of_rows(rows.start + near..rows.end + near, of, call)?)
                    }
                    (None, Some(value)) => repeated(value, batch.rows),
                    (None, None) => return Err(wrong_shape()),
                });
            }
        }
        self.before.rows += now.len() as i64;
        self.before.groups += segment.peers.len() as i64 - 1;
        for batch in batches {
            next(batch)?;
        }
        // Computed rows stay as long as later ones need them.
        let mut done = parts;
        done.extend(own);
        let done_rows: usize = done.iter().map(|part| part.batch.rows).sum();
        let drop = done_rows.saturating_sub(back);
        let mut done = cut(done, drop);
        let first = parts_before(&done, drop);
        self.near = done_rows - drop;
        self.parts = done.split_off(first);
        self.parts.extend(rest);
        Ok(())
    }
}

/// Returns parts of which none has rows on both sides of `row`.
fn cut(parts: Vec<Part>, row: usize) -> Vec<Part> {
    let mut first = 0;
    let mut all = Vec::with_capacity(parts.len() + 1);
    for part in parts {
        let end = first + part.batch.rows;
        if first < row && row < end {
            let (head, tail) = part.split((row - first) as u32);
            all.extend([head, tail]);
        } else {
            all.push(part);
        }
        first = end;
    }
    all
}

/// Returns the number of parts before `row`, which is between two.
fn parts_before(parts: &[Part], row: usize) -> usize {
    let mut first = 0;
    parts
        .iter()
        .take_while(|part| {
            first += part.batch.rows;
            first <= row
        })
        .count()
}
