//! Windows: slices of both periods, summed up in blocks of time while they are read.
//!
//! Memory grows with blocks and stacks: 200 blocks of 10,000 stacks are some 50 MB. Slices themselves are not kept.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::question::Question;
use crate::slice::{Frame, FrameKind, Slice};

/// Sums of a block of time and a release.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Slices that count requests.
    pub counted: Sums,
    /// Slices that do not.
    pub uncounted: Sums,
}

/// True for the later period. A block at the border belongs to both, with the slices of each.
pub(super) type IsAfter = bool;

/// Sums of slices.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub requests: f64,
    pub seconds: f64,
    /// Samples; 0 if the slices name no period.
    pub samples: f64,
    /// Cost by the number of its stack.
    pub costs: HashMap<u32, f64>,
}

/// Slices of two periods. Add all slices, then call [`Windows::changes`].
#[derive(Debug)]
pub struct Windows {
    pub(super) question: Question,
    pub(super) block_ms: u64,
    /// Blocks by the time at which they begin, the period, and the number of their release.
    pub(super) blocks: BTreeMap<(u64, IsAfter, u32), Block>,
    pub(super) releases: Vec<String>,
    /// Functions by number. Headings are none.
    pub(super) functions: Vec<Frame>,
    function_numbers: HashMap<Arc<str>, u32>,
    /// Stacks by number, as numbers of functions, outermost first.
    pub(super) stacks: Vec<Box<[u32]>>,
    stack_numbers: HashMap<Box<[u32]>, u32>,
}

impl Windows {
    /// Returns windows without slices.
    pub fn new(question: &Question) -> Windows {
        Windows {
            block_ms: question.block_ms(),
            question: question.clone(),
            blocks: BTreeMap::new(),
            releases: Vec::new(),
            functions: Vec::new(),
            function_numbers: HashMap::new(),
            stacks: Vec::new(),
            stack_numbers: HashMap::new(),
        }
    }

    /// Adds a slice. Slices outside of both periods, and slices without this measure, are left out.
    pub fn add(&mut self, slice: &Slice) {
        let (facts, measure) = (&slice.facts, self.question.measure);
        let period = facts.periods.get(&measure).copied();
        let total = slice.stacks.total(measure);
        let is_after = self.question.after.has(facts.begin_ms);
        if !(is_after || self.question.before.has(facts.begin_ms)) || (total == 0 && period.is_none()) {
            return;
        }
        let numbers: Vec<Option<u32>> = slice.stacks.frames().iter().map(|frame| self.number(frame)).collect();
        let release = self.release(&facts.service.release);
        let begin_ms = facts.begin_ms / self.block_ms * self.block_ms;
        let block = self.blocks.entry((begin_ms, is_after, release)).or_default();
        let sums = if facts.requests.is_some() { &mut block.counted } else { &mut block.uncounted };
        sums.requests += facts.requests.unwrap_or(0) as f64;
        sums.seconds += facts.duration_ms as f64 / 1000.0;
        sums.samples += period.map_or(0.0, |period| total as f64 / period.max(1) as f64);
        for (frames, values) in slice.stacks.all() {
            let value = values[measure as usize];
            if value == 0 {
                continue;
            }
            let stack: Box<[u32]> = frames.iter().filter_map(|at| numbers[*at as usize]).collect();
            let fresh = self.stacks.len() as u32;
            let number = *self.stack_numbers.entry(stack).or_insert_with_key(|stack| {
                self.stacks.push(stack.clone());
                fresh
            });
            *sums.costs.entry(number).or_default() += value as f64;
        }
    }

    fn number(&mut self, frame: &Frame) -> Option<u32> {
        if frame.kind == FrameKind::Group {
            return None;
        }
        let fresh = self.functions.len() as u32;
        let number = *self.function_numbers.entry(frame.name.clone()).or_insert(fresh);
        if number == fresh {
            self.functions.push(frame.clone());
        }
        Some(number)
    }

    fn release(&mut self, name: &str) -> u32 {
        let known = self.releases.iter().position(|release| release == name);
        let at = known.unwrap_or_else(|| {
            self.releases.push(name.into());
            self.releases.len() - 1
        });
        at as u32
    }
}
