//! Series: the cost of each function in each block, by itself and with its callees.

use std::collections::BTreeSet;

use super::question::Unit;
use super::windows::{Sums, Windows};
use crate::time::DAY_MS;

/// Block of time.
#[derive(Clone, Debug)]
pub struct Block {
    pub begin_ms: u64,
    pub is_after: bool,
    /// Day since 1970.
    pub day: u64,
    /// Blocks that may be compared: the time of day, or 0 for all.
    pub stratum: usize,
    pub release: u32,
    /// Requests, or seconds.
    pub amount: f64,
    /// Cost of all stacks.
    pub cost: f64,
    /// Weight of the block: its samples, or 1 if the period of samples is unknown.
    pub samples: f64,
}

/// Costs of a function, block by block.
#[derive(Clone, Debug)]
pub struct Function {
    /// Number of the function in the windows.
    pub number: u32,
    pub own: Vec<f64>,
    /// With callees; a recursive function counts once.
    pub total: Vec<f64>,
}

/// Costs by function and block.
#[derive(Clone, Debug)]
pub struct Series {
    pub unit: Unit,
    /// Blocks by time, both periods.
    pub blocks: Vec<Block>,
    /// Functions with enough cost to matter.
    pub functions: Vec<Function>,
    /// Costs of stacks over all blocks.
    pub stack_costs: Vec<f64>,
    /// True if blocks are compared by the time of day.
    pub is_matched: bool,
    /// True if samples are counted, so that their noise is known.
    pub has_samples: bool,
}

impl Series {
    /// Returns the series of windows. Requests count if nine of ten seconds have them; slices without are left out.
    pub fn of(windows: &Windows) -> Series {
        let seconds = |of: fn(&super::windows::Block) -> &Sums| -> f64 {
            windows.blocks.values().map(|block| of(block).seconds).sum()
        };
        let (counted, uncounted) = (seconds(|block| &block.counted), seconds(|block| &block.uncounted));
        let requests: f64 = windows.blocks.values().map(|block| block.counted.requests).sum();
        let by_request = requests > 0.0 && counted >= 9.0 * uncounted;
        let unit = if by_request { Unit::Request } else { Unit::Second };
        let mut series = Series {
            unit,
            blocks: Vec::new(),
            functions: Vec::new(),
            stack_costs: vec![0.0; windows.stacks.len()],
            is_matched: false,
            has_samples: true,
        };
        let mut costs: Vec<Vec<(u32, f64)>> = Vec::new();
        let mut blocks = Vec::new();
        for ((begin_ms, is_after, release), block) in &windows.blocks {
            let parts: &[&Sums] = if by_request { &[&block.counted] } else { &[&block.counted, &block.uncounted] };
            let sum = |of: fn(&Sums) -> f64| parts.iter().map(|part| of(part)).sum::<f64>();
            let amount = if by_request { sum(|s| s.requests) } else { sum(|s| s.seconds) };
            let cost = sum(|s| s.costs.values().sum());
            if amount <= 0.0 || cost <= 0.0 {
                continue;
            }
            blocks.push(Block {
                begin_ms: *begin_ms,
                is_after: *is_after,
                day: begin_ms / DAY_MS,
                stratum: (begin_ms % DAY_MS / windows.block_ms) as usize,
                release: *release,
                amount,
                cost,
                samples: sum(|s| s.samples),
            });
            // In the order of stacks: sums of floating point numbers depend on it, and results must not.
            let mut sorted: Vec<(u32, f64)> =
                parts.iter().flat_map(|part| part.costs.iter().map(|(stack, cost)| (*stack, *cost))).collect();
            sorted.sort_by_key(|(stack, _)| *stack);
            costs.push(sorted);
        }
        series.is_matched = match_strata(&mut blocks);
        let after: BTreeSet<usize> = blocks.iter().filter(|b| b.is_after).map(|b| b.stratum).collect();
        // Earlier blocks of a time of day that the later period lacks are compared with nothing.
        let mut costs_left = Vec::with_capacity(blocks.len());
        for (block, costs) in blocks.into_iter().zip(costs) {
            if after.is_empty() || after.contains(&block.stratum) {
                costs.iter().for_each(|(stack, cost)| series.stack_costs[*stack as usize] += cost);
                series.blocks.push(block);
                costs_left.push(costs);
            }
        }
        series.has_samples = series.blocks.iter().all(|block| block.samples > 0.0);
        if !series.has_samples {
            series.blocks.iter_mut().for_each(|block| block.samples = 1.0);
        }
        series.add_functions(windows, &costs_left);
        series
    }

    /// Returns the number of days that the earlier period has blocks of.
    pub fn days_before(&self) -> usize {
        let days: BTreeSet<u64> = self.blocks.iter().filter(|block| !block.is_after).map(|block| block.day).collect();
        days.len()
    }

    /// Returns the blocks of a period.
    pub fn count(&self, is_after: bool) -> usize {
        self.blocks.iter().filter(|block| block.is_after == is_after).count()
    }

    fn add_functions(&mut self, windows: &Windows, costs: &[Vec<(u32, f64)>]) {
        // What a whole period's sum does not reach is not worth a row of numbers.
        let mut sums = vec![[0.0; 2]; windows.functions.len()];
        let mut seen = Vec::new();
        for (block, costs) in self.blocks.iter().zip(costs) {
            for (stack, cost) in costs {
                distinct(&windows.stacks[*stack as usize], &mut seen);
                seen.iter().for_each(|number| sums[*number as usize][usize::from(block.is_after)] += cost);
            }
        }
        let wholes = [false, true].map(|is_after| {
            self.blocks.iter().filter(|block| block.is_after == is_after).map(|block| block.cost).sum::<f64>()
        });
        let is_large = |sums: &[f64; 2]| {
            sums.iter().zip(wholes).any(|(sum, whole)| whole > 0.0 && *sum >= whole * windows.question.share_min)
        };
        let mut places = vec![usize::MAX; sums.len()];
        for (number, _) in sums.iter().enumerate().filter(|(_, sums)| is_large(sums)) {
            places[number] = self.functions.len();
            let zeros = vec![0.0; self.blocks.len()];
            self.functions.push(Function { number: number as u32, own: zeros.clone(), total: zeros });
        }
        for (at, costs) in costs.iter().enumerate() {
            for (stack, cost) in costs {
                let stack = &windows.stacks[*stack as usize];
                distinct(stack, &mut seen);
                for number in &seen {
                    if let Some(function) = self.functions.get_mut(places[*number as usize]) {
                        function.total[at] += cost;
                    }
                }
                let leaf = stack.last().and_then(|leaf| self.functions.get_mut(places[*leaf as usize]));
                if let Some(function) = leaf {
                    function.own[at] += cost;
                }
            }
        }
    }
}

/// Decides that blocks are compared by the time of day, if four of five later ones have an earlier one. Otherwise all
/// get the same stratum.
fn match_strata(blocks: &mut [Block]) -> bool {
    let before: BTreeSet<usize> = blocks.iter().filter(|block| !block.is_after).map(|block| block.stratum).collect();
    let after = blocks.iter().filter(|block| block.is_after);
    let matched = after.clone().filter(|block| before.contains(&block.stratum)).count();
    let is_matched = matched > 0 && matched * 5 >= after.count() * 4;
    if !is_matched {
        blocks.iter_mut().for_each(|block| block.stratum = 0);
    }
    is_matched
}

fn distinct(stack: &[u32], seen: &mut Vec<u32>) {
    seen.clear();
    seen.extend_from_slice(stack);
    seen.sort_unstable();
    seen.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::{Period, Question};
    use crate::slice::{Frame, FrameKind, Measure, Slice};

    fn slice(begin_ms: u64, requests: Option<u64>, costs: &[(&str, u64)]) -> Slice {
        let mut slice = Slice::default();
        (slice.facts.begin_ms, slice.facts.duration_ms, slice.facts.requests) = (begin_ms, 10_000, requests);
        slice.facts.periods = [(Measure::Cpu, 10)].into();
        for (text, cost) in costs {
            let kind = |name: &str| if name == "thread" { FrameKind::Group } else { FrameKind::Compiled };
            let frames: Vec<Frame> = text.split(' ').map(|name| Frame::new(name, kind(name))).collect();
            slice.stacks.add(&frames, Measure::Cpu, *cost);
        }
        slice
    }

    fn windows(before: Period, after: Period, slices: &[Slice]) -> Windows {
        let mut windows = Windows::new(&Question::new(Measure::Cpu, before, after));
        slices.iter().for_each(|slice| windows.add(slice));
        windows
    }

    #[test]
    fn a_border_within_a_block_keeps_the_periods_apart() {
        let hour = 3_600_000;
        let border = 30 * hour + 60_000;
        let (before, after) = (Period { from_ms: 0, to_ms: border }, Period { from_ms: border, to_ms: 60 * hour });
        let all = [slice(border - 1, Some(1), &[("a", 10)]), slice(border, Some(2), &[("a", 30)])];
        let series = Series::of(&windows(before, after, &all));
        let blocks: Vec<_> = series.blocks.iter().map(|b| (b.is_after, b.amount, b.cost, b.samples)).collect();
        assert_eq!(blocks, [(false, 1.0, 10.0, 1.0), (true, 2.0, 30.0, 3.0)]);
    }

    #[test]
    fn own_and_total_costs_of_recursion_count_once() {
        let periods = (Period { from_ms: 0, to_ms: 60_000 }, Period { from_ms: 60_000, to_ms: 120_000 });
        let costs = [("thread a b a", 5), ("thread a b", 2), ("a", 1), ("rare", 0)];
        let all = [slice(0, None, &costs), slice(60_000, None, &costs)];
        let windows = windows(periods.0, periods.1, &all);
        let series = Series::of(&windows);
        let row = |name: &str| {
            let of = |f: &&Function| *windows.functions[f.number as usize].name == *name;
            series.functions.iter().find(of).map(|f| (f.own[0], f.total[0]))
        };
        assert_eq!((row("a"), row("b")), (Some((6.0, 8.0)), Some((2.0, 7.0))));
        assert_eq!((row("thread"), row("rare")), (None, None));
        assert_eq!((series.unit, series.is_matched), (Unit::Second, false));
    }

    #[test]
    fn times_of_day_that_the_later_period_lacks_are_left_out() {
        let hour = 3_600_000;
        let day = 24 * hour;
        let periods = (Period { from_ms: 0, to_ms: 2 * day }, Period { from_ms: 2 * day, to_ms: 2 * day + 2 * hour });
        let all: Vec<Slice> = (0..50).map(|n| slice(n * hour, Some(1), &[("a", 10)])).collect();
        let series = Series::of(&windows(periods.0, periods.1, &all));
        assert!(series.is_matched);
        assert_eq!((series.count(false), series.count(true), series.days_before()), (4, 2, 2));
    }
}
