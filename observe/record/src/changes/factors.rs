//! Factors: what moves many functions at once, and is no change of one.
//!
//! A slower host makes everything dearer; another mix of requests makes all functions of one kind of request dearer.
//! The first is one number a block. The others are principal components of the earlier period: directions in which
//! functions have varied together. Their amount in each block is fitted over all functions with Huber's weights, so
//! that a function which changed alone stays an outlier.

use super::series::Series;
use crate::statistics::linear::{least_squares, solve};
use crate::statistics::principal::directions;

/// Functions that stand for all.
const CONTROLS_MAX: usize = 150;

/// Components beside the common factor.
const FACTORS_MAX: usize = 6;

/// Blocks of the earlier period for each component.
const BLOCKS_A_FACTOR: usize = 8;

/// Functions that stand for all, for each component.
const CONTROLS_A_FACTOR: usize = 10;

/// Largest weight of one function among all, so that no single one passes for the whole.
const WEIGHT_MAX: f64 = 0.05;

/// Samples of a function in a block, on average, below which it stands for nothing.
const SAMPLES_MIN: f64 = 4.0;

/// Residuals beyond this number of standard deviations count less (Huber).
const HUBER: f64 = 1.345;

/// Largest influence of a function on a block's factors that is taken out again: beyond, it is a factor by itself.
const INFLUENCE_MAX: f64 = 0.9;

/// Factors of all blocks.
#[derive(Clone, Debug)]
pub struct Factors {
    /// Places of the functions that stand for all, in the series.
    controls: Vec<usize>,
    /// Parts of each control in the components; the first one is 1.
    rows: Vec<Vec<f64>>,
    blocks: Vec<BlockFactors>,
}

/// Factors of a block.
#[derive(Clone, Debug)]
struct BlockFactors {
    /// Cost of everything, in proportion to the earlier period's mean.
    common: f64,
    /// Amount of each component, the common one first: what `common` still lacks.
    scores: Vec<f64>,
    /// Inverse of the normal equations, rows one after another.
    inverse: Vec<f64>,
    /// Weight and residual of each control.
    controls: Vec<(f64, f64)>,
}

/// Function that stands for others: its cost in proportion to its mean, by block.
struct Control {
    share: f64,
    weight: f64,
    ratios: Vec<f64>,
}

impl Factors {
    /// Estimates the factors of a series. Functions at the places `changed` stand for nothing but themselves.
    pub fn of(series: &Series, changed: &[usize]) -> Factors {
        let (places, controls) = controls(series, changed);
        let ones = vec![vec![1.0]; controls.len()];
        let ratios = |at: usize| controls.iter().map(|control| control.ratios[at]).collect::<Vec<f64>>();
        let common: Vec<f64> = (0..series.blocks.len())
            .map(|at| match controls.is_empty() {
                true => 1.0,
                false => fit(&ones, &ratios(at), &controls, series.blocks[at].samples).0[0].max(0.01),
            })
            .collect();
        let rows = loadings(series, &controls, &common);
        let block = |(at, common): (usize, f64)| {
            let y: Vec<f64> = ratios(at).iter().map(|ratio| ratio / common - 1.0).collect();
            let (scores, weights) = fit(&rows, &y, &controls, series.blocks[at].samples);
            let left = rows.iter().zip(&y).map(|(row, y)| y - dot(row, &scores));
            let controls = weights.iter().copied().zip(left).collect();
            let inverse = inverse(&rows, &weights);
            BlockFactors { common, scores, inverse, controls }
        };
        let blocks = common.into_iter().enumerate().map(block).collect();
        Factors { controls: places, rows, blocks }
    }

    /// Returns the cost of everything by block, in proportion to the earlier period's mean.
    pub fn common(&self) -> Vec<f64> {
        self.blocks.iter().map(|block| block.common * level(&block.scores)).collect()
    }

    /// Returns the number of components beside the common factor.
    pub fn components(&self) -> usize {
        self.rows.first().map_or(0, |row| row.len() - 1)
    }

    /// Returns the residuals of a function's costs: their excess over what the factors explain, in proportion to `mean`
    /// (cost an amount). `share` is the function's part of all cost. `without` is the place of a function whose own
    /// cost must not explain itself.
    pub fn residuals(&self, series: &Series, costs: &[f64], mean: f64, share: f64, without: Option<usize>) -> Vec<f64> {
        let without = without.and_then(|place| self.controls.iter().position(|control| *control == place));
        let scores: Vec<Vec<f64>> = self.blocks.iter().map(|block| self.scores(block, without)).collect();
        let excess: Vec<f64> = (0..costs.len())
            .map(|at| {
                let expected = mean * self.blocks[at].common * level(&scores[at]);
                costs[at] / series.blocks[at].amount / expected - 1.0
            })
            .collect();
        if self.components() == 0 {
            return excess;
        }
        let before = || (0..costs.len()).filter(|at| !series.blocks[*at].is_after);
        // The first component is in the expected cost already; its place takes the mean.
        let row = |at: usize| [&[1.0], &scores[at][1..]].concat();
        let rows: Vec<Vec<f64>> = before().map(row).collect();
        let y: Vec<f64> = before().map(|at| excess[at]).collect();
        let weights: Vec<f64> = before().map(|at| series.blocks[at].samples * share).collect();
        // Loadings of functions have a mean square of 1 by their scale: a prior, worth a quarter of a block.
        let loading = least_squares(&rows, &y, &weights, 0.25);
        (0..costs.len()).map(|at| excess[at] - dot(&scores[at][1..], &loading[1..])).collect()
    }

    /// Returns the scores of a block as if a control were not among the functions that were fitted.
    fn scores(&self, block: &BlockFactors, without: Option<usize>) -> Vec<f64> {
        let Some(at) = without else { return block.scores.clone() };
        let (row, (weight, left)) = (&self.rows[at], block.controls[at]);
        let pull: Vec<f64> = block.inverse.chunks(row.len()).map(|inverse| dot(inverse, row)).collect();
        let influence = (weight * dot(&pull, row)).min(INFLUENCE_MAX);
        block.scores.iter().zip(pull).map(|(score, pull)| score - pull * weight * left / (1.0 - influence)).collect()
    }
}

fn level(scores: &[f64]) -> f64 {
    scores.first().map_or(1.0, |score| (1.0 + score).max(0.01))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns the functions that stand for all, and their places.
fn controls(series: &Series, changed: &[usize]) -> (Vec<usize>, Vec<Control>) {
    let before = || (0..series.blocks.len()).filter(|at| !series.blocks[*at].is_after);
    let sum = |of: &dyn Fn(usize) -> f64| before().map(of).sum::<f64>();
    let (amount, cost) = (sum(&|at| series.blocks[at].amount), sum(&|at| series.blocks[at].cost));
    let samples = sum(&|at| series.blocks[at].samples) / (before().count().max(1) as f64);
    let mut shares: Vec<(f64, usize)> = series
        .functions
        .iter()
        .enumerate()
        .filter(|(at, _)| !changed.contains(at))
        .map(|(at, function)| (before().map(|block| function.own[block]).sum::<f64>() / cost, at))
        .filter(|(share, _)| *share > 0.0 && (!series.has_samples || share * samples >= SAMPLES_MIN))
        .collect();
    shares.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    shares.truncate(CONTROLS_MAX);
    let all: f64 = shares.iter().map(|(share, _)| share).sum();
    let control = |(share, at): &(f64, usize)| {
        let (share, at) = (*share, *at);
        let costs = &series.functions[at].own;
        let mean = share * cost / amount;
        let ratios = costs.iter().zip(&series.blocks).map(|(cost, block)| cost / block.amount / mean).collect();
        Control { share, weight: share.min(all * WEIGHT_MAX), ratios }
    };
    (shares.iter().map(|(_, at)| *at).collect(), shares.iter().map(control).collect())
}

/// Returns a row for each control: 1, then its part in each component.
fn loadings(series: &Series, controls: &[Control], common: &[f64]) -> Vec<Vec<f64>> {
    let before: Vec<usize> = (0..series.blocks.len()).filter(|at| !series.blocks[*at].is_after).collect();
    let count_max = match series.has_samples {
        true => FACTORS_MAX.min(before.len() / BLOCKS_A_FACTOR).min(controls.len() / CONTROLS_A_FACTOR),
        false => 0,
    };
    // Scaled so that the noise of sampling has a variance of 1 in each cell.
    let scaled: Vec<Vec<f64>> = before
        .iter()
        .map(|at| {
            let block = &series.blocks[*at];
            let cell =
                |control: &Control| (control.ratios[*at] / common[*at] - 1.0) * (control.share * block.samples).sqrt();
            controls.iter().map(cell).collect()
        })
        .collect();
    let found = directions(&scaled, 1.0, count_max);
    let row = |at: usize| {
        let parts = found.iter().map(|direction| direction[at] / controls[at].share.sqrt());
        std::iter::once(1.0).chain(parts).collect()
    };
    (0..controls.len()).map(row).collect()
}

/// Fits controls by rows, with Huber's weights for outliers. Returns the coefficients and the weights.
fn fit(rows: &[Vec<f64>], y: &[f64], controls: &[Control], samples: f64) -> (Vec<f64>, Vec<f64>) {
    let mut weights: Vec<f64> = controls.iter().map(|control| control.weight).collect();
    let mut found = least_squares(rows, y, &weights, 0.0);
    for _ in 0..8 {
        for ((weight, control), (row, y)) in weights.iter_mut().zip(controls).zip(rows.iter().zip(y)) {
            // The noise of sampling, and a percent that hides in each function anyway.
            let deviation = (1.0 / (control.share * samples) + 1e-4).sqrt();
            *weight = control.weight * (HUBER * deviation / (y - dot(row, &found)).abs().max(1e-12)).min(1.0);
        }
        found = least_squares(rows, y, &weights, 0.0);
    }
    (found, weights)
}

/// Returns the inverse of the normal equations.
fn inverse(rows: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let unknowns = rows.first().map_or(0, Vec::len);
    let cell = |i: usize, j: usize| rows.iter().zip(weights).map(|(row, weight)| weight * row[i] * row[j]).sum::<f64>();
    let matrix: Vec<f64> = (0..unknowns * unknowns).map(|at| cell(at / unknowns, at % unknowns)).collect();
    let unit = |at: usize| (0..unknowns).map(|i| if i == at { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
    (0..unknowns).flat_map(|at| solve(&matrix, &unit(at))).collect()
}
