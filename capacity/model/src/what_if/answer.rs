//! Answer to a change: peak, threads and response time, before and after.

use serde::Serialize;
use yunti_base::Result;

use super::apply::apply;
use super::change::{Change, Conversion};
use crate::curve::{Curve, Estimate, Options, Share, curve};
use crate::demands::Demands;
use crate::simulate::Network;

/// Requests simulated for the response time.
const REQUESTS: u32 = 10_000;
/// Relative standard error of a ratio of two peaks: most errors are the same before and after.
const RATIO_ERROR: f64 = 0.02;
/// Error of a response time beyond the error of the peak: 1.96 times the 2.5 % of the model.
const MODEL_ERROR: f64 = 0.05;

/// Response time at a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Response {
    pub per_second: f64,
    /// More requests arrive than the service carries; the times then mean nothing.
    pub saturated: bool,
    pub mean_ms: f64,
    /// Band of the mean: an error of the peak acts as that much more or less load. Infinite: may be saturated.
    pub mean_ms_low: f64,
    pub mean_ms_high: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// Mean duration that was measured at this rate; absent after a change.
    pub measured_ms: Option<f64>,
}

/// Prospect of a service: what it can carry, and how it answers today's traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prospect {
    /// Most requests a second with the present limit of workers.
    pub peak: Estimate,
    /// Most requests a second with as many workers as that needs.
    pub peak_with_threads: Estimate,
    /// Least number of workers with 95 % of it.
    pub threads: Estimate,
    /// Response time at the present rate; absent without traffic.
    pub response: Option<Response>,
    pub bottleneck: Option<Share>,
    pub falls_at: Option<u32>,
}

/// Answer to changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    pub changes: Vec<String>,
    pub before: Prospect,
    pub after: Prospect,
    /// Relative growth of the peak.
    pub gain: Estimate,
}

/// Returns the prospect of a service whose curve is known.
pub fn prospect(demands: &Demands, curve: &Curve, options: &Options) -> Result<Prospect> {
    let rate = demands.requests.per_second;
    let response = if rate > 0.0 { Some(response(demands, rate, curve.relative_error, options)?) } else { None };
    Ok(Prospect {
        peak: curve.peak_now,
        peak_with_threads: curve.peak,
        threads: curve.threads,
        response,
        bottleneck: curve.bottleneck.first.clone(),
        falls_at: curve.falls_at,
    })
}

/// Returns the response time at a rate.
fn response(demands: &Demands, rate: f64, relative_error: f64, options: &Options) -> Result<Response> {
    let network = Network::new(demands);
    let run = options.run(REQUESTS);
    let band = Estimate::around(rate, relative_error);
    let mean = |rate: f64| -> Result<f64> {
        let point = network.open(rate, &run)?;
        Ok(if point.saturated { f64::INFINITY } else { point.response_ms })
    };
    let point = network.open(rate, &run)?;
    Ok(Response {
        per_second: rate,
        saturated: point.saturated,
        mean_ms: point.response_ms,
        mean_ms_low: mean(band.low)?.min(point.response_ms) * (1.0 - MODEL_ERROR),
        mean_ms_high: mean(band.high)?.max(point.response_ms) * (1.0 + MODEL_ERROR),
        p50_ms: point.response_ms_p50,
        p99_ms: point.response_ms_p99,
        measured_ms: demands.measured_ms(),
    })
}

/// Returns what changes bring against `before`, the prospect and relative error of the service as it is.
pub fn what_if(
    demands: &Demands,
    changes: &[Change],
    conversions: &[Conversion],
    before: &Prospect,
    relative_error: f64,
    options: &Options,
) -> Result<Answer> {
    let changed = apply(demands, changes, conversions)?;
    let mut curve = curve(&changed, &options.quick())?;
    curve.peak = Estimate::around(curve.peak.value, relative_error);
    curve.peak_now = Estimate::around(curve.peak_now.value, relative_error);
    curve.relative_error = relative_error;
    let mut after = prospect(&changed, &curve, options)?;
    if let Some(response) = &mut after.response {
        response.measured_ms = None;
    }
    let ratio = Estimate::around(after.peak.value / before.peak.value.max(1e-9), RATIO_ERROR);
    Ok(Answer {
        changes: changes.iter().map(Change::to_string).collect(),
        before: before.clone(),
        after,
        gain: Estimate { value: ratio.value - 1.0, low: ratio.low - 1.0, high: ratio.high - 1.0 },
    })
}
