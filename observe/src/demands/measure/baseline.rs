//! Processor time of a request before anything measures single requests: what the measurement adds must not count.

use std::time::Duration;

use yunti_base::Result;
use yunti_probe::stopping::{PULSE, Stopping};
use yunti_probe::target::Process;

use super::processors::ProcessorClock;
use crate::why::requests::RequestSampler;

/// Requests from which on the baseline is known well enough.
const REQUESTS_MIN: f64 = 100.0;

/// Processor time and requests of a process that is left alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Baseline {
    /// Milliseconds of the program a request; `None` if there were too few requests.
    pub cpu_ms: Option<f64>,
}

impl Baseline {
    /// Measures for a time.
    pub fn measure(process: &Process, time: Duration, stopping: &mut Stopping) -> Result<Baseline> {
        let mut sampler = RequestSampler::start(process)?;
        let clock = ProcessorClock::start(process);
        stopping.wait(process, time, PULSE, || {
            sampler.keep_up();
            true
        });
        let used = clock.finish();
        let requests = sampler.finish().inbound.requests;
        Ok(Baseline { cpu_ms: (requests >= REQUESTS_MIN).then(|| used.program * 1e3 / requests) })
    }
}
