//! Requests that a process served over a slice, counted on its TCP connections.

use std::time::{Duration, Instant};

use crate::why::requests::{Pace, RequestSampler};
use yunti_probe::target::Process;

/// Time between two samples of the connections, and the share of a processor for them.
const PACE: Pace = Pace {
    every: Duration::from_millis(500),
    all_every: Duration::from_secs(5),
    all_every_without: Duration::from_secs(10),
    follows_churn: false,
    share_max: 0.002,
};
/// Time of one count. The kernel remembers closed connections for 60 s, so shorter counts see all of them.
const COUNT: Duration = Duration::from_secs(30);

/// Counter of the requests of a process.
pub struct RequestCounter {
    process: Process,
    sampler: Option<RequestSampler>,
    begun: Instant,
    requests: f64,
    /// True if the process has had clients.
    is_server: bool,
}

impl RequestCounter {
    /// Returns a counter that does not count yet.
    pub fn of(process: &Process) -> RequestCounter {
        RequestCounter {
            process: process.clone(),
            sampler: None,
            begun: Instant::now(),
            requests: 0.0,
            is_server: false,
        }
    }

    /// Begins to count. Without the rights it counts nothing.
    pub fn begin(&mut self) {
        self.requests = 0.0;
        self.open();
    }

    /// Samples the connections if that is due.
    pub fn keep_up(&mut self) {
        if self.sampler.is_some() && self.begun.elapsed() >= COUNT {
            self.close();
            self.open();
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.keep_up();
        }
    }

    /// Returns the requests since the beginning; `None` for a process that serves none.
    pub fn end(&mut self) -> Option<u64> {
        self.close();
        self.is_server.then_some(self.requests.round() as u64)
    }

    fn open(&mut self) {
        self.sampler = RequestSampler::at_pace(&self.process, PACE).ok();
        self.begun = Instant::now();
    }

    fn close(&mut self) {
        if let Some(sampler) = self.sampler.take() {
            let inbound = sampler.finish_inbound();
            self.is_server |= inbound.connections > 0.0 || inbound.opened > 0.0;
            self.requests += inbound.requests;
        }
    }
}
