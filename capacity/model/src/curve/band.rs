//! Error band of the peak: what the sample of requests, the processor time under load, and the model leave open.

use serde::Serialize;
use yunti_base::Result;

use super::{Options, parallel};
use crate::demands::{Demands, ProcessorTime};
use crate::simulate::{Network, Point, Run};

/// Relative standard error of the model itself: scheduling, caches and switches that it knows nothing about.
const MODEL_ERROR: f64 = 0.025;
/// Standard errors on each side of a band that holds 95 % of the cases.
const WIDTH: f64 = 1.96;
/// Requests simulated for a sample of the templates.
const SAMPLE_REQUESTS: u32 = 3_000;
/// Relative error of times that are known as means of all requests only.
const MEAN_ERROR: f64 = 0.05;
/// Relative error of a sample of one request, which has no spread of its own.
const ONE_REQUEST: f64 = 0.5;

/// Value with the range that holds it in 95 of 100 cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Estimate {
    /// Returns a value with its band.
    pub fn around(value: f64, relative_error: f64) -> Estimate {
        let by = WIDTH * relative_error;
        Estimate { value, low: value * (1.0 - by).max(0.0), high: value * (1.0 + by) }
    }
}

/// Returns the relative standard error of the rate at a point.
pub fn relative_error(demands: &Demands, network: &Network, at: &Point, options: &Options) -> Result<f64> {
    let sample = sample_error(network, demands.templates.len(), at.clients, options)?;
    let processors = demands.processors.available();
    let more = (at.busy - ProcessorTime::busy_measured(demands)).max(0.0);
    // Processor time matters as far as processors are what is full.
    let scaling = demands.cpu.scaling_estimate();
    let grown = scaling.requests.map_or(0.0, |growth| growth.se * (f64::from(at.clients) - growth.at_requests));
    let by_load = (scaling.se * more).hypot(grown) * (at.busy / processors + at.stopped).min(1.0);
    let few = if demands.requests.is_mean { MEAN_ERROR } else { ONE_REQUEST / demands.templates.len() as f64 };
    Ok((sample.powi(2) + by_load.powi(2) + few.powi(2) + MODEL_ERROR.powi(2)).sqrt())
}

/// Returns the relative spread of the rate over samples of a number of templates with replacement.
fn sample_error(network: &Network, templates: usize, clients: u32, options: &Options) -> Result<f64> {
    if options.resamples < 2 || templates < 2 {
        return Ok(0.0);
    }
    let seeds: Vec<u64> = (1..=u64::from(options.resamples)).map(|n| options.seed.wrapping_add(n)).collect();
    let rates = parallel::map(options.threads, &seeds, |seed| {
        let mut random = fastrand::Rng::with_seed(*seed);
        let places: Vec<usize> = (0..templates).map(|_| random.usize(..network.templates())).collect();
        let run = Run { seed: *seed, ..options.run(SAMPLE_REQUESTS.max(10 * clients)) };
        network.with_templates(&places).closed(clients, &run).map(|point| point.per_second)
    });
    // A sample may hang where the whole does not: it says nothing about the rate.
    let rates: Vec<f64> = rates.into_iter().flatten().collect();
    if rates.len() < 2 {
        return Ok(0.0);
    }
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let spread = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (rates.len() - 1) as f64;
    Ok(spread.sqrt() / mean.max(1e-9))
}
