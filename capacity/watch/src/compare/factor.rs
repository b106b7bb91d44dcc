//! Common factor of a day: how much dearer all functions are than usual. It is the host, or the program as a whole.
//!
//! A robust mean of the ratios of many functions: the few that changed do not take part in what is usual.

/// Part of the weight that one function may have.
const PART_MAX: f64 = 0.15;
/// Samples that a function is expected to have at least.
const SAMPLES_MIN: f64 = 20.0;
/// Functions without which there is no common factor.
const FUNCTIONS_MIN: usize = 8;
/// Deviation that functions have between days beside sampling.
const DEVIATION: f64 = 0.03;
/// Deviations beyond which a function counts less.
const HUBER: f64 = 1.5;
const ROUNDS: usize = 20;

/// Factor and the variance of its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Common {
    pub factor: f64,
    pub variance: f64,
}

/// Returns the factor between usual costs and the costs of a day that has `samples` samples. `None` for services with
/// few functions.
pub fn common(usual: &[f64], costs: &[f64], samples: f64) -> Option<Common> {
    let whole: f64 = usual.iter().sum();
    if whole <= 0.0 || samples <= 0.0 {
        return None;
    }
    // Ratio, its variance, and its weight.
    let mut ratios: Vec<(f64, f64, f64)> = usual
        .iter()
        .zip(costs)
        .map(|(usual, cost)| (usual, cost, usual / whole * samples))
        .filter(|(_, _, expected)| *expected >= SAMPLES_MIN)
        .map(|(usual, cost, expected)| (cost / usual, 1.0 / expected + DEVIATION * DEVIATION, 0.0))
        .collect();
    if ratios.len() < FUNCTIONS_MIN {
        return None;
    }
    let all: f64 = ratios.iter().map(|(_, variance, _)| 1.0 / variance).sum();
    ratios.iter_mut().for_each(|(_, variance, weight)| *weight = (1.0 / *variance).min(PART_MAX * all));
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = ratios.iter().map(|(_, _, weight)| weight).sum::<f64>() / 2.0;
    let mut passed = 0.0;
    let middle = ratios.iter().find(|(_, _, weight)| {
        passed += weight;
        passed >= half
    });
    let mut factor = middle.map_or(1.0, |(ratio, _, _)| *ratio);
    let mut variance = 0.0;
    for _ in 0..ROUNDS {
        let (mut sum, mut weights, mut squares) = (0.0, 0.0, 0.0);
        for (ratio, own, weight) in &ratios {
            let distance = (ratio - factor).abs() / own.sqrt();
            let weight = if distance > HUBER { weight * HUBER / distance } else { *weight };
            sum += weight * ratio;
            weights += weight;
            squares += weight * weight * own;
        }
        factor = sum / weights;
        variance = squares / (weights * weights);
    }
    (factor > 0.0).then_some(Common { factor, variance })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zipf(count: usize) -> Vec<f64> {
        (1..=count).map(|rank| 1.0 / rank as f64).collect()
    }

    #[test]
    fn functions_that_changed_do_not_count() {
        let usual = zipf(100);
        let mut costs: Vec<f64> = usual.iter().map(|cost| cost * 1.1).collect();
        costs[0] *= 1.6;
        costs[7] = 0.0;
        let found = common(&usual, &costs, 20_000.0).unwrap();
        assert!((found.factor - 1.1).abs() < 0.012, "{found:?}");
        assert!(found.variance.sqrt() < 0.015, "{found:?}");
    }

    #[test]
    fn small_services_have_none() {
        assert_eq!(common(&zipf(4), &zipf(4), 1e5), None);
        assert_eq!(common(&zipf(100), &zipf(100), 50.0), None);
        assert_eq!(common(&[], &[], 0.0), None);
    }
}
