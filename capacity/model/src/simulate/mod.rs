//! Simulation of a service as a network of queues in which a request holds several resources at once.
//!
//! Requests are drawn from the measured templates. Processors are shared equally by all runnable tasks. Locks,
//! pools, executors and the workers are queues, first come first served, whose units stay held until the
//! release. Collections stop the processors, while waits for other machines go on.
//!
//! Rejected: mean value analysis as the predictor. It counts a lock that is held on a processor as two stations
//! that a request visits in turn, and errs by 41 % there (docs/decisions/capacity.md).

mod collections;
mod engine;
mod network;
mod pauses;
mod processors;
mod run;
mod station;
mod tally;
mod tasks;

pub use collections::Collections;
pub use network::Network;
pub use run::Run;
pub use tally::{Point, StationUse};

use engine::{Engine, Load};
use yunti_base::Result;

impl Network {
    /// Simulates clients that send their next request as soon as the last one ended.
    ///
    /// Errors: requests that wait for one another in a circle, and templates too long to simulate.
    pub fn closed(&self, clients: u32, run: &Run) -> Result<Point> {
        Engine::new(self, Load::Closed(clients.max(1)), run).run()
    }

    /// Simulates requests that arrive at random, this many a second. More than the service carries gives a point
    /// that is `saturated`.
    pub fn open(&self, per_second: f64, run: &Run) -> Result<Point> {
        Engine::new(self, Load::Open(per_second), run).run()
    }
}
