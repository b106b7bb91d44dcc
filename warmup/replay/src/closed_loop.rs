//! Closed loop: each connection sends its next request as soon as the last one is answered.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::request::Request;

/// Pause after a failure, so that a server that is not ready is not flooded.
const PAUSE: Duration = Duration::from_millis(20);

/// Loop over all requests, in turn, until a stop.
pub struct ClosedLoop<'r> {
    pub requests: &'r [Request],
    /// Server of each request, by its index.
    pub servers: Vec<SocketAddr>,
    /// Address from which the connections come.
    pub from: Option<Ipv4Addr>,
    pub connections: usize,
    /// Longest wait for an answer. The loop ends only when the last answers are there.
    pub timeout: Duration,
}

/// Result of one request over the whole loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Answers with a status below 400.
    pub good: u64,
    /// Status of the last answer; 0 if none came.
    pub status: u16,
    /// Failure of the last request that got no answer.
    pub failure: Option<String>,
}

impl ClosedLoop<'_> {
    /// Sends requests until `is_over(answered, elapsed)` returns true, called every 50 ms. Returns a tally for
    /// each request.
    pub fn run(&self, mut is_over: impl FnMut(u64, Duration) -> bool) -> Vec<Tally> {
        let tallies = Mutex::new(vec![Tally::default(); self.requests.len()]);
        let (next, answered, stop) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
        let begin = Instant::now();
        let work = || {
            let wires: Vec<Vec<u8>> = self.requests.iter().map(Request::wire).collect();
            let mut clients: Vec<(SocketAddr, Client)> = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let n = (next.fetch_add(1, Ordering::Relaxed) % self.requests.len() as u64) as usize;
                let server = self.servers[n];
                let at = clients.iter().position(|(of, _)| *of == server).unwrap_or_else(|| {
                    clients.push((server, Client::new(server, self.from, self.timeout).eager()));
                    clients.len() - 1
                });
                let result = clients[at].1.send(&wires[n]);
                let failed = result.is_err();
                let mut tallies = tallies.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                match result {
                    Ok(answer) => {
                        tallies[n].status = answer.status;
                        tallies[n].good += u64::from(answer.status < 400);
                        answered.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(error) => tallies[n].failure = Some(error.to_string()),
                }
                drop(tallies);
                if failed {
                    std::thread::sleep(PAUSE);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.connections.max(1) {
                // Without a thread, fewer connections do the same work.
                let _ = std::thread::Builder::new()
                    .name("yunti-replay".into())
                    .stack_size(256 << 10)
                    .spawn_scoped(scope, work);
            }
            while !is_over(answered.load(Ordering::Relaxed), begin.elapsed()) {
                std::thread::sleep(Duration::from_millis(50));
            }
            stop.store(true, Ordering::Relaxed);
        });
        tallies.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
