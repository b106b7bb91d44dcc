//! Shift: how much later blocks differ from earlier ones at the same time of day, and how likely that is by chance.
//!
//! Blocks near each other resemble each other, and days have their own levels. Both make the mean of a day less certain
//! than its number of blocks suggests. The excess is estimated from days, or from neighbours if there are too few days,
//! for each function and for all together.

use std::collections::BTreeMap;

use super::series::Series;
use crate::statistics::distribution::student_tail;
use crate::statistics::median::{chi_squared_median, median};
use crate::statistics::rank::{self, Stratum};

/// Days of the earlier period that show how days differ.
const DAYS_MIN: usize = 3;

/// Weight of all functions' excess in the excess of one, in days or blocks.
const POOLED_DAYS: f64 = 6.0;
const POOLED_BLOCKS: f64 = 60.0;

/// Probability by ranks beyond which a difference of means is one of a few blocks alone.
const RANK_P_MAX: f64 = 0.01;

/// Factor of the excess where days are too few to show how they differ.
const FEW_DAYS: f64 = 2.0;

/// Largest excess: beyond, a series says nothing.
const EXCESS_MAX: f64 = 100.0;

/// Difference of residuals between the periods.
#[derive(Clone, Debug)]
pub struct Shift {
    /// Difference, in proportion to the function's mean.
    pub difference: f64,
    /// Standard error of the difference, without excess.
    pub error: f64,
    /// Degrees of freedom of the error.
    degrees: f64,
    /// Excess of the variance that days or neighbours show in this series; the weight of that estimate.
    raw_excess: (f64, f64),
    /// Residuals for the rank test, in units of their noise.
    strata: Vec<Stratum>,
    /// Scale of each stratum's values.
    scales: Vec<f64>,
}

impl Shift {
    /// Returns the shift of residuals; `None` if the periods have too few blocks. `share` is the function's part of all
    /// samples, which bounds the noise from below.
    pub fn of(series: &Series, residuals: &[f64], share: f64) -> Option<Shift> {
        let mut groups: BTreeMap<usize, [Vec<usize>; 2]> = BTreeMap::new();
        for (at, block) in series.blocks.iter().enumerate() {
            groups.entry(block.stratum).or_default()[usize::from(block.is_after)].push(at);
        }
        groups.retain(|_, group| group.iter().all(|blocks| !blocks.is_empty()));
        let weight = |blocks: &[usize]| blocks.iter().map(|at| series.blocks[*at].samples).sum::<f64>();
        let mean = |blocks: &[usize]| {
            blocks.iter().map(|at| series.blocks[*at].samples * residuals[*at]).sum::<f64>() / weight(blocks)
        };
        let (mut sum, mut precision) = (0.0, 0.0);
        for [before, after] in groups.values() {
            let part = 1.0 / (1.0 / weight(before) + 1.0 / weight(after));
            sum += part * (mean(after) - mean(before));
            precision += part;
        }
        let used: Vec<usize> = groups.values().flatten().flatten().copied().collect();
        let degrees = used.len() as f64 - groups.len() as f64 - 1.0;
        if degrees < 1.0 || precision <= 0.0 {
            return None;
        }
        let difference = sum / precision;
        // What is left when the level of each stratum and the difference are taken away.
        let mut left = vec![None; residuals.len()];
        for [before, after] in groups.values() {
            let all = [&before[..], &after[..]].concat();
            let later = weight(after) / weight(&all) * difference;
            let level = mean(&all) - later;
            before.iter().for_each(|at| left[*at] = Some(residuals[*at] - level));
            after.iter().for_each(|at| left[*at] = Some(residuals[*at] - level - difference));
        }
        let scaled = |at: usize| Some(left[at]? * series.blocks[at].samples.sqrt());
        let variance = used.iter().filter_map(|at| scaled(*at)).map(|value| value * value).sum::<f64>() / degrees;
        let floor = if series.has_samples && share > 0.0 { 0.8 / share } else { 0.0 };
        let variance = variance.max(floor);
        let scales: Vec<f64> =
            groups.values().map(|group| (weight(&group.concat()) / group.concat().len() as f64).sqrt()).collect();
        let strata = groups.values().zip(&scales).map(|([before, after], scale)| Stratum {
            before: before.iter().map(|at| residuals[*at] * scale).collect(),
            after: after.iter().map(|at| residuals[*at] * scale).collect(),
        });
        Some(Shift {
            difference,
            error: (variance / precision).sqrt(),
            degrees,
            raw_excess: excess(series, &left, variance),
            strata: strata.collect(),
            scales,
        })
    }

    /// Returns the probability of a shift this large, in either direction, if the real one is at most `null`. Means
    /// decide, for ranks cannot be surer than their number allows; ranks must agree.
    pub fn probability(&self, null: f64, excess: f64) -> f64 {
        let error = self.error * excess.sqrt();
        let by_mean =
            if error > 0.0 { student_tail((self.difference.abs() - null) / error, self.degrees) } else { 1.0 };
        // Ranks know no scale: the excess shrinks the distance from the null hypothesis instead.
        let sign = self.difference.signum();
        let moved = self.strata.iter().zip(&self.scales).map(|(stratum, scale)| {
            // A shift by z standard errors of an excess e is one by z / sqrt(e).
            let back = (self.difference - (self.difference - sign * null) / excess.sqrt()) * scale;
            Stratum { before: stratum.before.clone(), after: stratum.after.iter().map(|v| v - back).collect() }
        });
        let tails = rank::test(&moved.collect::<Vec<_>>());
        let by_rank = if sign > 0.0 { tails.greater } else { tails.less };
        if by_rank > RANK_P_MAX { 1.0 } else { (2.0 * by_mean).min(1.0) }
    }

    /// Returns the standard error and the probability of the shift by the earlier days' means alone, for a series that
    /// no others resemble; `None` if there are too few days.
    pub fn by_days(&self, null: f64, series: &Series) -> Option<(f64, f64)> {
        let (excess, degrees) = self.raw_excess;
        let error = self.error_with(excess);
        let is_known = has_days(series) && degrees >= 2.0 && error > 0.0;
        is_known.then(|| (error, (2.0 * student_tail((self.difference.abs() - null) / error, degrees)).min(1.0)))
    }

    /// Returns the standard error with an excess of the variance.
    pub fn error_with(&self, excess: f64) -> f64 {
        self.error * excess.sqrt()
    }
}

/// Excess that all series have together.
pub fn pooled_excess(shifts: &[&Shift], series: &Series) -> f64 {
    let raw: Vec<f64> = shifts.iter().filter(|s| s.raw_excess.1 > 0.0).map(|s| s.raw_excess.0).collect();
    // The median of squares of few values is below their mean.
    let part = if has_days(series) { chi_squared_median(series.days_before() as f64 - 1.0) } else { 1.0 };
    if raw.is_empty() { 1.0 } else { (median(&raw) / part).clamp(1.0, EXCESS_MAX) }
}

/// Excess of one series, which leans on the excess of all.
pub fn excess_of(shift: &Shift, pooled: f64, series: &Series) -> f64 {
    let (prior, factor) = if has_days(series) { (POOLED_DAYS, 1.0) } else { (POOLED_BLOCKS, FEW_DAYS) };
    let (raw, weight) = shift.raw_excess;
    (factor * (prior * pooled + weight * raw) / (prior + weight)).clamp(1.0, EXCESS_MAX)
}

fn has_days(series: &Series) -> bool {
    series.is_matched && series.days_before() >= DAYS_MIN
}

/// Returns the excess of the variance of means, and the weight of the estimate.
fn excess(series: &Series, left: &[Option<f64>], variance: f64) -> (f64, f64) {
    if variance <= 0.0 {
        return (1.0, 0.0);
    }
    if has_days(series) { excess_of_days(series, left, variance) } else { excess_of_neighbours(series, left) }
}

/// Variance of the earlier days' means against what their blocks explain.
fn excess_of_days(series: &Series, left: &[Option<f64>], variance: f64) -> (f64, f64) {
    let mut days: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for (block, left) in series.blocks.iter().zip(left).filter(|(block, _)| !block.is_after) {
        if let Some(left) = left {
            let day = days.entry(block.day).or_default();
            day.0 += block.samples * left;
            day.1 += block.samples;
        }
    }
    let degrees = days.len() as f64 - 1.0;
    if degrees < 1.0 {
        return (1.0, 0.0);
    }
    let squares: f64 = days.values().map(|(sum, weight)| sum * sum / weight).sum();
    (squares / degrees / variance, degrees)
}

/// Correlation of neighbours; in a series where each value keeps a part r of the one before, means have (1+r)/(1-r)
/// times the variance.
fn excess_of_neighbours(series: &Series, left: &[Option<f64>]) -> (f64, f64) {
    let scaled = |at: usize| Some(left[at]? * series.blocks[at].samples.sqrt());
    let (mut products, mut squares, mut pairs) = (0.0, 0.0, 0.0);
    for at in 1..left.len() {
        if let (Some(one), Some(two)) = (scaled(at - 1), scaled(at)) {
            products += one * two;
            squares += (one * one + two * two) / 2.0;
            pairs += 1.0;
        }
    }
    if squares <= 0.0 {
        return (1.0, 0.0);
    }
    // The levels were fitted to the same values, which hides a part of the correlation.
    let correlation: f64 = products / squares + 2.0 / pairs;
    let part = correlation.clamp(0.0, 0.9);
    ((1.0 + part) / (1.0 - part), pairs)
}
