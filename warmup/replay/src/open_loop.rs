//! Open loop: requests begin at given times, however slow the answers are.
//!
//! A latency runs from the time at which the request was due, so that a request that waits for a free connection counts
//! its wait. A closed loop would send less while the server is slow, and its percentiles would hide that.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::request::Request;

/// Load with a fixed rate.
pub struct OpenLoop<'r> {
    pub requests: &'r [Request],
    pub server: SocketAddr,
    pub per_second: f64,
    pub seconds: f64,
    /// Connections; a request waits if all are busy.
    pub connections: usize,
    pub timeout: Duration,
}

/// Outcome of a request: when it was due, how long its answer took, and true if the status was below 400.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    pub due_ms: f64,
    pub latency_ms: f64,
    pub is_good: bool,
}

impl OpenLoop<'_> {
    /// Sends all requests and returns their samples by the times at which they were due. Calls `on_first` after the
    /// answer to the first.
    pub fn run(&self, on_first: impl Fn() + Sync) -> Vec<Sample> {
        let total = (self.per_second * self.seconds).round() as usize;
        let wires: Vec<Vec<u8>> = self.requests.iter().map(Request::wire).collect();
        let (next, samples) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(total)));
        let begin = Instant::now();
        let work = || {
            let mut client = Client::new(self.server, None, self.timeout);
            let mut own = Vec::new();
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= total {
                    break;
                }
                let due = Duration::from_secs_f64(n as f64 / self.per_second);
                std::thread::sleep(due.saturating_sub(begin.elapsed()));
                let result = client.send(&wires[n % wires.len()]);
                let latency = begin.elapsed().saturating_sub(due);
                if n == 0 {
                    on_first();
                }
                own.push(Sample {
                    due_ms: due.as_secs_f64() * 1e3,
                    latency_ms: latency.as_secs_f64() * 1e3,
                    is_good: result.is_ok_and(|answer| answer.status < 400),
                });
            }
            samples.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).extend(own);
        };
        std::thread::scope(|scope| {
            for _ in 0..self.connections.max(1) {
                let _ = std::thread::Builder::new()
                    .name("yunti-load".into())
                    .stack_size(256 << 10)
                    .spawn_scoped(scope, work);
            }
        });
        let mut samples = samples.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        samples.sort_by(|a, b| a.due_ms.total_cmp(&b.due_ms));
        samples
    }
}

/// Returns the latency below which `share` of the samples lie, in ms; 0 without samples.
pub fn percentile(samples: &[Sample], share: f64) -> f64 {
    let mut sorted: Vec<f64> = samples.iter().map(|sample| sample.latency_ms).collect();
    sorted.sort_by(f64::total_cmp);
    let at = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(at.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_ranks() {
        let samples: Vec<Sample> =
            (1..=200).map(|n| Sample { due_ms: 0.0, latency_ms: f64::from(n), is_good: true }).collect();
        assert_eq!((percentile(&samples, 0.5), percentile(&samples, 0.99)), (100.0, 198.0));
        assert_eq!((percentile(&samples[..1], 0.99), percentile(&[], 0.5)), (1.0, 0.0));
    }
}
