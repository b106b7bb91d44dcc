//! Comparison: tests of all functions, and the findings among them.

use super::begin::began;
use super::causes::{Candidate, causes};
use super::factors::Factors;
use super::question::Unit;
use super::report::{Change, Changes, Common, Mostly, Part};
use super::series::{Block, Series};
use super::shift::{Shift, excess_of, pooled_excess};
use super::visible::Noise;
use super::windows::Windows;
use crate::slice::Measure;
use crate::statistics::discovery::q_values;

/// Share of false findings among functions that are left out of the factors.
const CHANGED_Q_MAX: f64 = 0.1;

/// Part of the false findings that may be one of everything: a fifth.
const COMMON_PART: f64 = 0.2;

/// Part of a difference that makes a function the one that has most of it.
const MOSTLY: f64 = 0.6;

/// Excess of everything at least, where days are too few.
const COMMON_EXCESS: f64 = 3.0;

/// Function and part that are tested.
struct Test {
    /// Place of the function in the series, and its number in the windows.
    place: usize,
    number: u32,
    part: Part,
    residuals: Vec<f64>,
    shift: Shift,
    /// Cost an amount that residuals refer to, and the part of all cost.
    base: f64,
    before: f64,
    share: f64,
}

/// All tests with their results.
struct Tests {
    factors: Factors,
    tests: Vec<Test>,
    /// Excess of the variance, by test and of all.
    excesses: Vec<f64>,
    pooled: f64,
    q_values: Vec<f64>,
}

impl Tests {
    fn of(windows: &Windows, series: &Series, changed: &[usize]) -> Tests {
        let question = &windows.question;
        let factors = Factors::of(series, changed);
        let tests = tests(series, &factors, question.share_min);
        let shifts: Vec<&Shift> = tests.iter().map(|test| &test.shift).collect();
        let pooled = pooled_excess(&shifts, series);
        let excesses: Vec<f64> = shifts.iter().map(|shift| excess_of(shift, pooled, series)).collect();
        let probability = |(shift, excess): (&&Shift, &f64)| shift.probability(question.relative_null, *excess);
        let p_values: Vec<f64> = shifts.iter().zip(&excesses).map(probability).collect();
        Tests { factors, excesses, pooled, q_values: q_values(&p_values), tests }
    }

    /// Returns the places of functions whose own cost changed.
    fn changed(&self, q_max: f64) -> Vec<usize> {
        let own = self.tests.iter().zip(&self.q_values).filter(|(test, q)| test.part == Part::Own && **q <= q_max);
        own.map(|(test, _)| test.place).collect()
    }
}

impl Windows {
    /// Compares the periods.
    pub fn changes(&self) -> Changes {
        changes(self, &Series::of(self))
    }
}

fn changes(windows: &Windows, series: &Series) -> Changes {
    let question = &windows.question;
    let [before, after] = wholes(series);
    let mut changes = Changes {
        measure: question.measure,
        unit: series.unit,
        before,
        after,
        common: None,
        changes: Vec::new(),
        visible: Vec::new(),
        days_before: series.days_before(),
        blocks_before: series.count(false),
        blocks_after: series.count(true),
        block_ms: windows.block_ms,
        notes: notes(series, question.measure),
    };
    if changes.blocks_before == 0 || changes.blocks_after == 0 {
        return changes;
    }
    let first = Tests::of(windows, series, &[]);
    // What surely changed says nothing about hosts and mixes. If it stayed among the functions that do, others of its
    // kind would seem to have changed the other way.
    let changed = first.changed(CHANGED_Q_MAX);
    let Tests { factors, tests, excesses, pooled, q_values } =
        if changed.is_empty() { first } else { Tests::of(windows, series, &changed) };
    let sure = |at: &usize| {
        let test = &tests[*at];
        let difference = test.shift.difference * test.base;
        q_values[*at] <= question.q_max
            && difference.abs() >= question.relative_min * test.before
            && difference.abs() >= question.share_min * changes.before
    };
    let found: Vec<usize> = (0..tests.len()).filter(sure).collect();
    let candidates: Vec<Candidate> = found
        .iter()
        .map(|at| {
            let test = &tests[*at];
            Candidate {
                number: test.number,
                is_own: test.part == Part::Own,
                difference: test.shift.difference * test.base,
                error: test.shift.error_with(excesses[*at]) * test.base,
                mean: test.base,
            }
        })
        .collect();
    for cause in causes(windows, series, &candidates) {
        let at = found[cause.at];
        let (test, candidate) = (&tests[at], &candidates[cause.at]);
        let mut follows = cause.explains;
        follows.sort_by(|a, b| candidates[*b].mean.total_cmp(&candidates[*a].mean));
        let mut numbers: Vec<u32> = Vec::new();
        for number in follows.iter().map(|at| candidates[*at].number).filter(|number| *number != test.number) {
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        changes.changes.push(Change {
            function: windows.functions[test.number as usize].clone(),
            part: test.part,
            before: test.before,
            after: test.before + candidate.difference,
            difference: candidate.difference,
            low: candidate.difference - 1.96 * candidate.error,
            high: candidate.difference + 1.96 * candidate.error,
            q: q_values[at],
            share_before: test.before / changes.before,
            began: began(windows, series, &test.residuals, candidate.difference),
            follows: numbers.iter().map(|number| windows.functions[*number as usize].clone()).collect(),
        });
    }
    let noises: Vec<(f64, &Shift, f64)> =
        tests.iter().zip(&excesses).map(|(test, excess)| (test.share, &test.shift, *excess)).collect();
    changes.visible = Noise::of(series, &noises).visible(question.q_max, question.relative_null, tests.len());
    changes.common = common(windows, series, &factors, pooled);
    changes
}

fn mean(series: &Series, is_after: bool, cost: impl Fn(&Block) -> f64, amount: impl Fn(&Block) -> f64) -> f64 {
    let blocks = || series.blocks.iter().filter(|block| block.is_after == is_after);
    let amount: f64 = blocks().map(amount).sum();
    if amount > 0.0 { blocks().map(cost).sum::<f64>() / amount } else { 0.0 }
}

/// Returns the cost of everything before and after, an amount.
fn wholes(series: &Series) -> [f64; 2] {
    [false, true].map(|is_after| mean(series, is_after, |block| block.cost, |block| block.amount))
}

/// Returns the amounts before and after.
fn amounts(series: &Series) -> [f64; 2] {
    [false, true].map(|is_after| series.blocks.iter().filter(|b| b.is_after == is_after).map(|b| b.amount).sum())
}

/// Returns the sum of a function's costs before, or after.
fn sum(series: &Series, costs: &[f64], is_after: bool) -> f64 {
    let blocks = series.blocks.iter().zip(costs).filter(|(block, _)| block.is_after == is_after);
    blocks.map(|(_, cost)| cost).sum()
}

fn tests(series: &Series, factors: &Factors, share_min: f64) -> Vec<Test> {
    let mut tests = Vec::new();
    let [whole_before, whole_after] = wholes(series);
    let [amount_before, amount_after] = amounts(series);
    for (place, function) in series.functions.iter().enumerate() {
        for (part, costs) in [(Part::Own, &function.own), (Part::Subtree, &function.total)] {
            if part == Part::Subtree && function.own == function.total {
                continue;
            }
            let before = sum(series, costs, false) / amount_before;
            let after = sum(series, costs, true) / amount_after;
            let is_small = before < share_min * whole_before && after < share_min * whole_after;
            if is_small || before.max(after) <= 0.0 {
                continue;
            }
            // A function that is new has no cost to compare with.
            let base = if before < 0.1 * after { after } else { before };
            let share = base / whole_before;
            let without = (part == Part::Own).then_some(place);
            let residuals = factors.residuals(series, costs, base, share, without);
            if let Some(shift) = Shift::of(series, &residuals, share) {
                tests.push(Test { place, number: function.number, part, residuals, shift, base, before, share });
            }
        }
    }
    tests
}

/// Returns the change of everything. No other series shows how days differ as a whole, so the earlier days alone count;
/// with too few of them, the excess is a cautious guess.
fn common(windows: &Windows, series: &Series, factors: &Factors, pooled: f64) -> Option<Common> {
    let question = &windows.question;
    let residuals: Vec<f64> = factors.common().iter().map(|level| level - 1.0).collect();
    let shift = Shift::of(series, &residuals, 1.0)?;
    let (error, p) = shift.by_days(question.relative_null, series).unwrap_or_else(|| {
        let excess = excess_of(&shift, pooled.max(COMMON_EXCESS), series);
        (shift.error_with(excess), shift.probability(question.relative_null, excess))
    });
    if p > question.q_max * COMMON_PART || shift.difference.abs() < question.relative_min {
        return None;
    }
    Some(Common {
        ratio: 1.0 + shift.difference,
        low: 1.0 + shift.difference - 1.96 * error,
        high: 1.0 + shift.difference + 1.96 * error,
        p,
        began: began(windows, series, &residuals, shift.difference),
        mostly: mostly(windows, series),
    })
}

/// Returns the function whose own cost has most of the difference between the periods.
fn mostly(windows: &Windows, series: &Series) -> Option<Mostly> {
    let [before, after] = wholes(series);
    let amounts = amounts(series);
    let differences = series.functions.iter().map(|function| {
        let own_before = sum(series, &function.own, false) / amounts[0];
        let own_after = sum(series, &function.own, true) / amounts[1];
        (function.number, (own_after - own_before) / (after - before), own_before / before)
    });
    let (number, of_difference, of_cost) = differences.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let function = windows.functions[number as usize].clone();
    (of_difference >= MOSTLY).then_some(Mostly { function, of_difference, of_cost })
}

fn notes(series: &Series, measure: Measure) -> Vec<String> {
    let mut notes = Vec::new();
    let (before, after) = (series.count(false), series.count(true));
    if before == 0 || after == 0 {
        let which = if before == 0 { "earlier" } else { "later" };
        notes.push(format!("the {which} period has no slice with {} and load", measure.name()));
        return notes;
    }
    if before < 5 || after < 5 {
        notes.push(format!("{before} and {after} blocks are few: only large changes can be seen"));
    }
    if series.unit == Unit::Second {
        notes.push(
            "requests are not counted in nine of ten seconds: costs are those of a second, and a change of \
                    all functions together may be one of the load"
                .into(),
        );
    }
    if !series.is_matched {
        notes.push("the periods have no times of day in common: a daily rhythm would look like a change".into());
    } else if series.days_before() < 3 {
        notes.push("fewer than three days before: how much days differ is guessed from neighbouring blocks".into());
    }
    if !series.has_samples {
        notes.push("slices name no sampling period: the noise of sampling is estimated from the values alone".into());
    }
    notes
}
