//! Step that computes a window over sorted rows. It keeps rows until their partition is complete, and some thousand
//! more, so that small partitions are computed together.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::memory::Grant;
use yunti_sql_plan::Batch;

use super::call::partition_too_large;
use super::plan::{LOOSE_BYTES_MAX, Plan};
use super::segment::{LastRow, Part};
use super::stream::Stream;
use crate::context::Context;
use crate::expression::Evaluator;
use crate::pipeline::{LocalStep, Next, Step};
use crate::store::NO_ROW;
use crate::store::size::Dictionaries;

/// Rows of complete partitions that are computed together, at least.
const ROWS_MIN: usize = if cfg!(test) { 32 } else { 1 << 15 };

/// A window over sorted rows, of which each morsel has whole partitions.
pub struct Compute {
    pub plan: Arc<Plan>,
    pub context: Context,
}

impl Step for Compute {
    fn local(&self) -> Result<Box<dyn LocalStep>> {
        Ok(Box::new(Local::new(self.plan.clone(), self.context.clone())?))
    }
}

/// The window of one worker.
pub struct Local {
    plan: Arc<Plan>,
    context: Context,
    evaluators: Vec<Evaluator>,
    parts: Vec<Part>,
    /// Rows of the parts, and those of complete partitions.
    rows: usize,
    complete: usize,
    last: Option<LastRow>,
    bytes: u64,
    grant: Option<Grant>,
    dictionaries: Dictionaries,
    /// The partition that comes in, if it does not fit in memory.
    stream: Option<Stream>,
}

impl Local {
    pub fn new(plan: Arc<Plan>, context: Context) -> Result<Local> {
        let evaluators = plan.evaluators()?;
        Ok(Local {
            plan,
            context,
            evaluators,
            parts: Vec::new(),
            rows: 0,
            complete: 0,
            last: None,
            bytes: 0,
            grant: None,
            dictionaries: Dictionaries::default(),
            stream: None,
        })
    }

    /// Takes a part and keeps it.
    fn keep(&mut self, mut part: Part, next: Next<'_>) -> Result<()> {
        part.bytes = self.plan.bytes(&part, &mut self.dictionaries);
        if !self.admit(&part, next)? {
            return self.begin_stream(part, next);
        }
        if let Some(&row) = part.partitions.last() {
            self.complete = self.rows + row as usize;
        }
        self.rows += part.batch.rows;
        self.parts.push(part);
        if self.complete >= ROWS_MIN { self.compute(self.complete, next) } else { Ok(()) }
    }

    /// Takes memory for a part. Returns false if its partition does not fit.
    fn admit(&mut self, part: &Part, next: Next<'_>) -> Result<bool> {
        // Rows of a segment have numbers of 32 bits.
        if self.rows + part.batch.rows < NO_ROW as usize && self.has_room(part.bytes) {
            return Ok(true);
        }
        // The partitions before are complete with the first row of another one.
        if part.partitions.first() == Some(&0) {
            self.complete = self.rows;
        }
        if self.complete > 0 {
            self.compute(self.complete, next)?;
            return Ok(self.has_room(part.bytes));
        }
        Ok(false)
    }

    /// Computes the partition of a part, whose rows do not fit in memory, in segments.
    ///
    /// Errors: `Memory` if a call needs all its rows at once.
    fn begin_stream(&mut self, mut part: Part, next: Next<'_>) -> Result<()> {
        if let Some(&row) = part.partitions.last().filter(|row| **row > 0) {
            // The last partition of the part alone may be larger.
            let (head, tail) = part.split(row);
            let mut all = std::mem::take(&mut self.parts);
            all.push(head);
            self.parts = all;
            self.rows += row as usize;
            self.compute(self.rows, next)?;
            part = tail;
            if self.has_room(part.bytes) {
                self.complete = 0;
                self.rows = part.batch.rows;
                self.parts.push(part);
                return Ok(());
            }
        }
        let Some(mut stream) = Stream::new(&self.plan, &self.context) else {
            let error = self.context.budget.too_small(part.bytes, "a window");
            return Err(partition_too_large(self.rows + part.batch.rows, error));
        };
        let mut parts = std::mem::take(&mut self.parts);
        parts.push(part);
        (self.rows, self.complete) = (0, 0);
        self.bytes = 0;
        self.give_back();
        parts.into_iter().try_for_each(|part| stream.push(part, next))?;
        self.stream = Some(stream);
        Ok(())
    }

    fn end_stream(&mut self, next: Next<'_>) -> Result<()> {
        self.stream.take().map_or(Ok(()), |stream| stream.finish(next))
    }

    fn has_room(&mut self, bytes: u64) -> bool {
        let loose = (self.bytes + bytes).saturating_sub(LOOSE_BYTES_MAX);
        let held = self.grant.as_ref().map_or(0, Grant::bytes);
        let has = loose <= held || self.context.budget.try_add(&mut self.grant, loose - held);
        if has {
            self.bytes += bytes;
        }
        has
    }

    /// Computes the first rows, which are whole partitions, and passes them on.
    fn compute(&mut self, rows: usize, next: Next<'_>) -> Result<()> {
        let mut own = Vec::new();
        let mut left = rows;
        let mut parts = std::mem::take(&mut self.parts).into_iter();
        while left > 0 {
            let Some(part) = parts.next() else { break };
            if part.batch.rows <= left {
                left -= part.batch.rows;
                own.push(part);
            } else {
                let (head, tail) = part.split(left as u32);
                left = 0;
                own.push(head);
                self.parts.push(tail);
            }
        }
        self.parts.extend(parts);
        self.rows -= rows;
        self.complete = self.complete.saturating_sub(rows);
        let bytes: u64 = own.iter().map(|part| part.bytes).sum();
        for batch in self.plan.evaluate(own, &self.context)? {
            next(batch)?;
        }
        self.bytes = self.bytes.saturating_sub(bytes);
        self.give_back();
        Ok(())
    }

    /// Returns memory that the rows no longer take.
    fn give_back(&mut self) {
        let loose = self.bytes.saturating_sub(LOOSE_BYTES_MAX);
        if let Some(grant) = &mut self.grant
            && grant.bytes() > loose
        {
            grant.try_resize(loose);
        }
        // Dictionaries that are still in use count again with the next batch.
        self.dictionaries = Dictionaries::default();
    }
}

impl LocalStep for Local {
    fn push(&mut self, batch: Batch, next: Next<'_>) -> Result<()> {
        let arguments = self.plan.arguments(&mut self.evaluators, &batch)?;
        let (mut part, last) = Part::new(batch, arguments, self.plan.key_places(), self.last.as_ref());
        self.last = Some(last);
        if let Some(stream) = &mut self.stream {
            part.bytes = self.plan.bytes(&part, &mut self.dictionaries);
            part = match part.partitions.first().copied() {
                None => return stream.push(part, next),
                Some(0) => part,
                Some(row) => {
                    let (head, tail) = part.split(row);
                    stream.push(head, next)?;
                    tail
                }
            };
            self.end_stream(next)?;
        }
        self.keep(part, next)
    }

    fn flush(&mut self, _morsel: usize, next: Next<'_>) -> Result<()> {
        self.last = None;
        self.end_stream(next)?;
        if self.rows > 0 { self.compute(self.rows, next) } else { Ok(()) }
    }
}
