//! Visible: the smallest change that the samples can show.

use super::series::Series;
use super::shift::Shift;
use crate::statistics::distribution::normal_quantile;
use crate::statistics::median::median;

/// Shares of all cost for which the smallest visible change is computed.
const SHARES: [f64; 7] = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];

/// Smallest change of functions of one share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visible {
    /// Function's part of all cost.
    pub share: f64,
    /// Change of the function, as a part of its cost, that is found in 19 of 20 cases.
    pub relative: f64,
}

/// Noise of all functions together.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    /// Variance of a difference for a function of share 1 by sampling alone.
    sampling: f64,
    /// Variance of a difference that more samples would not reduce.
    floor: f64,
}

impl Noise {
    /// Estimates the noise from shifts with the functions' shares and excess.
    pub fn of(series: &Series, shifts: &[(f64, &Shift, f64)]) -> Noise {
        let samples = |is_after: bool| -> f64 {
            series.blocks.iter().filter(|block| block.is_after == is_after).map(|block| block.samples).sum()
        };
        let sampling = if series.has_samples { 1.0 / samples(false) + 1.0 / samples(true) } else { 0.0 };
        let beyond = |(share, shift, excess): &(f64, &Shift, f64)| {
            shift.error_with(*excess).powi(2) - if series.has_samples { sampling / share } else { 0.0 }
        };
        let floor = median(&shifts.iter().map(beyond).collect::<Vec<_>>()).max(0.0);
        Noise { sampling, floor }
    }

    /// Returns the smallest visible changes for `tests` functions and a share of false findings.
    pub fn visible(&self, q_max: f64, null: f64, tests: usize) -> Vec<Visible> {
        // A single finding among all tests needs this probability, in either direction.
        let sure = normal_quantile((q_max / tests.max(1) as f64 / 2.0).max(1e-300));
        let found_in_19_of_20 = normal_quantile(0.05);
        SHARES
            .map(|share| {
                let error = (self.sampling / share + self.floor).sqrt();
                Visible { share, relative: null + (sure + found_in_19_of_20) * error }
            })
            .to_vec()
    }
}
