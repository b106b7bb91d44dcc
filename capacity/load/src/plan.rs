//! Plan of one run: the server, the requests, their arrivals, and when to stop.

use std::sync::Arc;
use std::time::Duration;

use crate::request::script::Script;
use crate::schedule::arrivals::Spacing;
use crate::server::target::Target;
use crate::server::trust::Trust;

/// Start of the requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// Open loop: requests are due at a rate, and wait if the server is slow. Latency counts from the due time.
    Rate { per_second: f64, spacing: Spacing },
    /// Open loop at the times of a log, divided by the speed.
    Log { speed: f64 },
    /// Closed loop: each connection sends its next request after the answer to the last.
    Closed,
}

/// Version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Http1,
    /// HTTP/2; on plain connections by prior knowledge.
    Http2 {
        /// Requests of one connection at once.
        streams: usize,
    },
}

/// One run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub target: Target,
    /// Addresses of the target, used in turn.
    pub addresses: Vec<std::net::SocketAddr>,
    pub script: Arc<Script>,
    pub arrivals: Arrivals,
    pub protocol: Protocol,
    /// Time in which requests are due.
    pub duration: Duration,
    /// Time in which the rate, or the number of clients, grows from nothing.
    pub ramp: Duration,
    /// Connections: at most in an open loop, exactly in a closed one.
    pub connections: usize,
    pub threads: usize,
    /// Longest wait for a connection, and for an answer.
    pub timeout: Duration,
    /// Share of errors over a second that halves the rate first, and then stops the run.
    pub stop_errors: f64,
    pub trust: Trust,
    pub seed: u64,
}

impl Plan {
    /// Returns true if requests are due on a schedule.
    pub fn is_open(&self) -> bool {
        self.arrivals != Arrivals::Closed
    }
}
