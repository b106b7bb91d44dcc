//! Begin: the moment at which a change began, and the release that began with it.

use super::series::Series;
use super::windows::Windows;
use crate::statistics::change_point::{SERIES_MAX, change_points};
use crate::statistics::median::median;

/// Moment at which a change began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Began {
    /// Unix time in milliseconds: the beginning of the first block with the new level.
    pub at_ms: u64,
    /// Release that ran for the first time then.
    pub new_release: Option<String>,
    /// Release that ran then.
    pub release: Option<String>,
}

/// Returns the change point of residuals with the largest step in the direction of the change.
pub fn began(windows: &Windows, series: &Series, residuals: &[f64], difference: f64) -> Option<Began> {
    // The usual level of each time of day is no change.
    let mut by_stratum: Vec<Vec<f64>> = Vec::new();
    for (block, value) in series.blocks.iter().zip(residuals) {
        by_stratum.resize(by_stratum.len().max(block.stratum + 1), Vec::new());
        if !block.is_after {
            by_stratum[block.stratum].push(*value);
        }
    }
    let usual: Vec<f64> = by_stratum.iter().map(|values| median(values)).collect();
    let level: Vec<f64> = series.blocks.iter().zip(residuals).map(|(b, value)| value - usual[b.stratum]).collect();
    // Neighbours become one value if there are too many.
    let step = level.len().div_ceil(SERIES_MAX).max(1);
    let means: Vec<f64> = level.chunks(step).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect();
    let points = change_points(&means);
    let bounds: Vec<usize> = [0].into_iter().chain(points.iter().copied()).chain([means.len()]).collect();
    let mean = |from: usize, to: usize| means[from..to].iter().sum::<f64>() / (to - from) as f64;
    let best = (1..bounds.len() - 1)
        .map(|at| (bounds[at], mean(bounds[at], bounds[at + 1]) - mean(bounds[at - 1], bounds[at])))
        .filter(|(_, jump)| jump * difference > 0.0)
        .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    let at = best.0 * step;
    let release = series.blocks[at].release;
    // A release is named if it is new within a block of the moment.
    let is_new = |at: usize| {
        let release = series.blocks[at].release;
        !series.blocks[..at].iter().any(|block| block.release == release)
    };
    let near = [at, at.saturating_sub(1), at + 1].into_iter().filter(|at| *at > 0 && *at < series.blocks.len());
    let fresh = near.filter(|at| is_new(*at)).map(|at| series.blocks[at].release).next();
    let named = fresh.map(|release| windows.releases[release as usize].clone()).filter(|name| !name.is_empty());
    let running = &windows.releases[release as usize];
    let running = (!running.is_empty()).then(|| running.clone());
    Some(Began { at_ms: series.blocks[at].begin_ms, new_release: named, release: running })
}
