//! Curve of requests a second by requests in process: its peak, the least number that reaches it, where it falls.
//!
//! The curve is simulated without a limit of workers: its number of clients is the number of workers that
//! the question is about. With a limit W and more clients than that, the service is at the point W.

mod band;
mod bottleneck;
mod consistency;
mod grid;
pub(crate) mod parallel;
mod shape;

use serde::Serialize;
use yunti_base::Result;

pub use band::Estimate;
pub use bottleneck::{Bottleneck, Share};
pub use consistency::{Consistency, Level, calibrated};

use crate::demands::Demands;
use crate::formulas::{Formulas, mva};
use crate::simulate::{Network, Point, Run};
use shape::Shape;

/// Effort and seed of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    pub seed: u64,
    /// Threads of this program, for independent points.
    pub threads: usize,
    /// Requests simulated for a point.
    pub requests: u32,
    /// Samples of the templates by which the error is estimated; 0 for none.
    pub resamples: u32,
    /// Processor milliseconds of a hand-over of a lock, as in [`Run`].
    pub handoff_ms: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options { seed: 1, threads: 2, requests: 20_000, resamples: 20, handoff_ms: 0.0 }
    }
}

impl Options {
    /// Returns the options for one of many comparisons: less exact, without samples for the error.
    pub fn quick(&self) -> Options {
        Options { requests: self.requests / 3, resamples: 0, ..*self }
    }

    /// Returns a run of this many requests.
    pub(crate) fn run(&self, requests: u32) -> Run {
        Run { requests, seed: self.seed, handoff_ms: self.handoff_ms }
    }
}

/// Point of the curve, with two check lines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    pub simulated: Point,
    /// Band of the rate.
    pub low: f64,
    pub high: f64,
    /// Bound by the formulas.
    pub bound: f64,
    /// Mean value analysis, which knows no joint holding.
    pub mva: f64,
}

/// Number of requests in process at which they wait for one another for ever.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hang {
    pub clients: u32,
    pub what: String,
}

/// Curve of a service with what it says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    pub points: Vec<CurvePoint>,
    /// Most requests a second, with as many workers as that needs.
    pub peak: Estimate,
    /// Most requests a second with the workers of today.
    pub peak_now: Estimate,
    /// Rate at the limit of workers, where overload keeps the service. Absent without a limit.
    pub at_limit: Option<f64>,
    /// Least number of workers with 95 % of the peak. Range: 92 % to 98 %.
    pub threads: Estimate,
    /// Number of requests in process with the best ratio of rate to response time.
    pub knee: u32,
    /// Least number beyond the peak at which the rate is below 95 % of it.
    pub falls_at: Option<u32>,
    pub hangs_at: Option<Hang>,
    /// The rate grew up to the last point: no resource with a limit was seen.
    pub is_unbounded: bool,
    pub bottleneck: Bottleneck,
    pub formulas: Formulas,
    pub consistency: Consistency,
    /// Relative standard error of the peak.
    pub relative_error: f64,
}

/// Returns the curve of a service. An error says that its requests hang even one by one, or have too many steps.
pub fn curve(demands: &Demands, options: &Options) -> Result<Curve> {
    let network = Network::new(demands);
    let limit = network.worker_limit();
    let free = network.without_worker_limit();
    let formulas = Formulas::of(demands);
    let simulate = |clients: &[u32]| -> Vec<Result<Point>> {
        parallel::map(options.threads, clients, |clients| {
            free.closed(*clients, &options.run(options.requests.max(10 * clients)))
        })
    };
    let grid = grid::simulate(&formulas, limit, demands.gc.is_some(), options.threads, &simulate)?;
    // Tasks that nobody joins may be queued for ever: what their executor carries is the limit all the same.
    let shape = Shape::of(&grid.points, formulas.necessary.resources_per_second());
    let at = shape.peak_at(&grid.points);
    let now = limit.map_or(at, |limit| shape.peak_within(&grid.points, limit));
    let relative_error = band::relative_error(demands, &free, &grid.points[now], options)?;
    let mva = mva(&formulas.necessary, grid.points.last().map_or(1, |point| point.clients));
    let points: Vec<CurvePoint> = grid
        .points
        .iter()
        .zip(&shape.rates)
        .map(|(point, rate)| {
            let Estimate { low, high, .. } = Estimate::around(*rate, relative_error);
            let (bound, mva) = (formulas.bound(f64::from(point.clients)), mva[point.clients as usize - 1]);
            CurvePoint { simulated: point.clone(), low, high, bound, mva }
        })
        .collect();
    let peak_now = shape.rates[now];
    Ok(Curve {
        peak: Estimate::around(shape.peak, relative_error),
        peak_now: Estimate::around(peak_now, relative_error),
        at_limit: limit.and_then(|limit| shape.rate_at(&grid.points, limit)),
        threads: shape.threads(&grid.points),
        knee: shape.knee(&grid.points),
        falls_at: shape.falls_at(&grid.points),
        hangs_at: grid.hang,
        is_unbounded: grid.is_unbounded,
        bottleneck: bottleneck::find(&formulas, &grid.points[now], &free, limit, peak_now / shape.peak),
        consistency: consistency::compare(demands, &free, &grid.points, shape.peak, options),
        formulas,
        relative_error,
        points,
    })
}
