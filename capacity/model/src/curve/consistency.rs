//! Comparison of the model with the departures that were measured at each number of requests in process.
//!
//! With `n` requests in process, the closed network with `n` clients completes as many a second as the service
//! does in the moments with `n` under way. So production traffic, which varies, checks the lower end of the curve.

use serde::Serialize;

use super::{Options, parallel};
use crate::demands::{Demands, Resource, ResourceKind, Step};
use crate::simulate::{Network, Point};

/// Departures that a level needs.
const DEPARTURES_MIN: f64 = 50.0;
/// Levels that are compared, those with the most departures.
const LEVELS_MAX: usize = 8;
const REQUESTS: u32 = 6_000;
/// Difference that a significant one exceeds, as share and in standard errors.
const DIFFERENCE: f64 = 0.1;
const STANDARD_ERRORS: f64 = 3.0;
/// Share of the peak up to which a difference is time that the templates lack, not capacity.
const BELOW_PEAK: f64 = 0.6;

/// Rates at one number of requests in process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Level {
    pub in_process: u32,
    pub measured: f64,
    pub measured_se: f64,
    pub simulated: f64,
}

/// Agreement of the model with the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Consistency {
    pub levels: Vec<Level>,
    /// Measured by simulated rate, over all levels; absent without data.
    pub ratio: Option<f64>,
    pub ratio_se: f64,
    /// The ratio is not 1, beyond its error and 10 %.
    pub is_different: bool,
    /// Milliseconds of a request that no step explains; negative: steps that the service does not need.
    pub unexplained_ms: f64,
}

/// Returns the agreement at the levels with enough departures.
pub fn compare(demands: &Demands, network: &Network, points: &[Point], peak: f64, options: &Options) -> Consistency {
    let mut counted: Vec<(u32, f64, f64)> = demands
        .in_process
        .iter()
        .filter(|(n, seconds, departures)| *n > 0 && *seconds > 0.0 && *departures >= DEPARTURES_MIN)
        .copied()
        .collect();
    counted.sort_by(|a, b| b.2.total_cmp(&a.2));
    counted.truncate(LEVELS_MAX);
    counted.sort_by_key(|(n, _, _)| *n);
    let levels = parallel::map(options.threads, &counted, |(n, seconds, departures)| {
        let simulated = match points.iter().find(|point| point.clients == *n) {
            Some(point) => point.per_second,
            None => network.closed(*n, &options.run(REQUESTS.max(10 * n))).ok()?.per_second,
        };
        let measured = departures / seconds;
        Some(Level { in_process: *n, measured, measured_se: measured / departures.sqrt(), simulated })
    });
    let levels: Vec<Level> = levels.into_iter().flatten().filter(|level| level.simulated > 0.0).collect();
    summary(levels, peak)
}

fn summary(levels: Vec<Level>, peak: f64) -> Consistency {
    // Each level by its departures, as they are counts.
    let weight = |level: &Level| (level.measured / level.measured_se).powi(2);
    let total: f64 = levels.iter().map(weight).sum();
    if total <= 0.0 {
        return Consistency { levels, ..Consistency::default() };
    }
    let ratio = levels.iter().map(|level| weight(level) * level.measured / level.simulated).sum::<f64>() / total;
    let ratio_se = ratio / total.sqrt();
    let low: Vec<&Level> = levels.iter().filter(|level| level.simulated <= BELOW_PEAK * peak).collect();
    let low_total: f64 = low.iter().map(|level| weight(level)).sum();
    let missing = |level: &Level| f64::from(level.in_process) * (1.0 / level.measured - 1.0 / level.simulated) * 1000.0;
    let unexplained_ms = low.iter().map(|level| weight(level) * missing(level)).sum::<f64>() / low_total.max(1.0);
    let is_different = (ratio - 1.0).abs() > DIFFERENCE.max(STANDARD_ERRORS * ratio_se);
    Consistency { levels, ratio: Some(ratio), ratio_se, is_different, unexplained_ms }
}

/// Returns demands whose requests wait for the time that no step explains; absent if the difference is not
/// significant, or if the service is faster than the model.
pub fn calibrated(demands: &Demands, consistency: &Consistency) -> Option<Demands> {
    if !consistency.is_different || consistency.unexplained_ms <= 0.0 {
        return None;
    }
    let mut demands = demands.clone();
    let id = demands.resources.iter().map(|resource| resource.id).max().map_or(0, |id| id.saturating_add(1));
    demands.resources.push(Resource {
        id,
        kind: ResourceKind::Other,
        name: "time that no step explains".into(),
        parallelism: None,
    });
    for template in &mut demands.templates {
        template.steps.push(Step::Wait { resource: id, ms: consistency.unexplained_ms });
    }
    Some(demands)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(in_process: u32, measured: f64, departures: f64, simulated: f64) -> Level {
        Level { in_process, measured, measured_se: measured / departures.sqrt(), simulated }
    }

    #[test]
    fn differences_need_size_and_data() {
        let same = summary(vec![level(1, 40.0, 400.0, 41.0), level(2, 79.0, 300.0, 80.0)], 400.0);
        assert!(!same.is_different && (same.ratio.unwrap() - 0.98).abs() < 0.01, "{same:?}");
        // 20 ms are missing from each request of 25 ms.
        let slow = summary(vec![level(1, 1000.0 / 45.0, 400.0, 40.0), level(2, 2000.0 / 45.0, 400.0, 80.0)], 400.0);
        assert!(slow.is_different && (slow.unexplained_ms - 20.0).abs() < 1e-9, "{slow:?}");
        let few = summary(vec![level(1, 30.0, 51.0, 40.0)], 400.0);
        assert!(!few.is_different, "{few:?}");
        assert_eq!(summary(vec![], 400.0).ratio, None);
        let mut demands = Demands::default();
        demands.templates.push(Default::default());
        assert_eq!(calibrated(&demands, &same), None);
        assert_eq!(calibrated(&demands, &slow).unwrap().templates[0].steps.len(), 1);
    }
}
