//! Factors: what moves many functions at once, and is no change of one.
//!
//! A slower host makes everything dearer; another mix of requests makes all functions of one kind of request dearer. The
//! first is one number a block. The others are principal components of the earlier period: directions in which functions
//! have varied together. Their amount in each block is fitted over all functions with Huber's weights, so that a
//! function which changed alone stays an outlier.

use super::series::Series;
use crate::statistics::linear::least_squares;
use crate::statistics::principal::directions;

/// Functions that stand for all.
const CONTROLS_MAX: usize = 150;

/// Components beside the common factor.
const FACTORS_MAX: usize = 6;

/// Blocks of the earlier period for each component.
const BLOCKS_A_FACTOR: usize = 8;

/// Largest weight of one function among all, so that no single one passes for the whole.
const WEIGHT_MAX: f64 = 0.05;

/// Samples of a function in a block, on average, below which it stands for nothing.
const SAMPLES_MIN: f64 = 4.0;

/// Residuals beyond this number of standard deviations count less (Huber).
const HUBER: f64 = 1.345;

/// Factors of all blocks.
#[derive(Clone, Debug)]
pub struct Factors {
    /// Cost of everything, in proportion to the earlier period's mean.
    pub common: Vec<f64>,
    /// Amount of each component, by block.
    pub scores: Vec<Vec<f64>>,
}

/// Function that stands for others: its cost in proportion to its mean, by block.
struct Control {
    share: f64,
    weight: f64,
    ratios: Vec<f64>,
}

impl Factors {
    /// Estimates the factors of a series.
    pub fn of(series: &Series) -> Factors {
        let blocks = series.blocks.len();
        let controls = controls(series);
        if controls.is_empty() {
            return Factors { common: vec![1.0; blocks], scores: vec![Vec::new(); blocks] };
        }
        let ones = vec![[1.0]; controls.len()];
        let mut common: Vec<f64> = (0..blocks)
            .map(|at| {
                let y: Vec<f64> = controls.iter().map(|control| control.ratios[at]).collect();
                let rows: Vec<&[f64]> = ones.iter().map(|row| &row[..]).collect();
                fit(&rows, &y, &controls, series.blocks[at].samples)[0].max(0.01)
            })
            .collect();
        let loadings = loadings(series, &controls, &common);
        let rows: Vec<&[f64]> = loadings.iter().map(|row| &row[..]).collect();
        let mut scores = Vec::with_capacity(blocks);
        for (at, common) in common.iter_mut().enumerate() {
            let y: Vec<f64> = controls.iter().map(|control| control.ratios[at] / *common - 1.0).collect();
            let mut found = fit(&rows, &y, &controls, series.blocks[at].samples);
            let level = (1.0 + found.remove(0)).max(0.01);
            *common *= level;
            found.iter_mut().for_each(|score| *score /= level);
            scores.push(found);
        }
        Factors { common, scores }
    }

    /// Returns the residuals of a function's costs: their excess over what the factors explain, in proportion to `mean`
    /// (cost an amount). `share` is the function's part of all cost.
    pub fn residuals(&self, series: &Series, costs: &[f64], mean: f64, share: f64) -> Vec<f64> {
        let excess: Vec<f64> =
            (0..costs.len()).map(|at| costs[at] / series.blocks[at].amount / (mean * self.common[at]) - 1.0).collect();
        let components = self.scores.first().map_or(0, Vec::len);
        if components == 0 {
            return excess;
        }
        let before = || (0..costs.len()).filter(|at| !series.blocks[*at].is_after);
        let rows: Vec<Vec<f64>> = before().map(|at| [&[1.0], &self.scores[at][..]].concat()).collect();
        let rows: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
        let y: Vec<f64> = before().map(|at| excess[at]).collect();
        let weights: Vec<f64> = before().map(|at| series.blocks[at].samples * share).collect();
        // Loadings of functions have a mean square of 1 by their scale: a prior, worth a quarter of a block.
        let loading = least_squares(&rows, &y, &weights, 0.25);
        let explained = |at: usize| self.scores[at].iter().zip(&loading[1..]).map(|(s, l)| s * l).sum::<f64>();
        (0..costs.len()).map(|at| excess[at] - explained(at)).collect()
    }
}

fn controls(series: &Series) -> Vec<Control> {
    let before = || (0..series.blocks.len()).filter(|at| !series.blocks[*at].is_after);
    let sum = |of: &dyn Fn(usize) -> f64| before().map(of).sum::<f64>();
    let (amount, cost) = (sum(&|at| series.blocks[at].amount), sum(&|at| series.blocks[at].cost));
    let samples = sum(&|at| series.blocks[at].samples) / (before().count().max(1) as f64);
    let mut shares: Vec<(f64, usize)> = series
        .functions
        .iter()
        .enumerate()
        .map(|(at, function)| (before().map(|block| function.own[block]).sum::<f64>() / cost, at))
        .filter(|(share, _)| *share > 0.0 && (!series.has_samples || share * samples >= SAMPLES_MIN))
        .collect();
    shares.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    shares.truncate(CONTROLS_MAX);
    let all: f64 = shares.iter().map(|(share, _)| share).sum();
    let control = |(share, at): (f64, usize)| {
        let costs = &series.functions[at].own;
        let mean = share * cost / amount;
        let ratios = costs.iter().zip(&series.blocks).map(|(cost, block)| cost / block.amount / mean).collect();
        Control { share, weight: share.min(all * WEIGHT_MAX), ratios }
    };
    shares.into_iter().map(control).collect()
}

/// Returns a row for each control: 1, then its part in each component.
fn loadings(series: &Series, controls: &[Control], common: &[f64]) -> Vec<Vec<f64>> {
    let before: Vec<usize> = (0..series.blocks.len()).filter(|at| !series.blocks[*at].is_after).collect();
    let count_max = if series.has_samples { FACTORS_MAX.min(before.len() / BLOCKS_A_FACTOR) } else { 0 };
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

/// Fits controls by rows, with Huber's weights for outliers.
fn fit(rows: &[&[f64]], y: &[f64], controls: &[Control], samples: f64) -> Vec<f64> {
    let mut weights: Vec<f64> = controls.iter().map(|control| control.weight).collect();
    let mut found = least_squares(rows, y, &weights, 0.0);
    for _ in 0..8 {
        let residuals: Vec<f64> =
            rows.iter().zip(y).map(|(row, y)| y - row.iter().zip(&found).map(|(x, c)| x * c).sum::<f64>()).collect();
        for ((weight, control), residual) in weights.iter_mut().zip(controls).zip(&residuals) {
            // The noise of sampling, and a percent that hides in each function anyway.
            let deviation = (1.0 / (control.share * samples) + 1e-4).sqrt();
            *weight = control.weight * (HUBER * deviation / residual.abs().max(1e-12)).min(1.0);
        }
        found = least_squares(rows, y, &weights, 0.0);
    }
    found
}
