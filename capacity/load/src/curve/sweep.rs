//! Sweep: a closed loop at each of several numbers of clients.

use serde::Serialize;
use yunti_base::{Cancel, Result};

use crate::guard::End;
use crate::plan::{Arrivals, Plan};
use crate::report::{Report, Second};

/// Throughput and response times at one number of clients.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    pub clients: usize,
    pub report: Report,
}

/// Runs the plan as a closed loop at each number of clients. Ends early if a run ends early.
///
/// @param on_point gets each point as soon as its run is over
pub fn run(
    plan: &Plan,
    clients: &[usize],
    cancel: &Cancel,
    on_second: &mut dyn FnMut(&Second),
    on_point: &mut dyn FnMut(&Point),
) -> Result<Vec<Point>> {
    let mut points = Vec::new();
    for &clients in clients {
        let threads = plan.threads.min(clients);
        let one = Plan { arrivals: Arrivals::Closed, connections: clients, threads, ..plan.clone() };
        let report = crate::run(&one, cancel, on_second)?;
        let point = Point { clients, report };
        on_point(&point);
        let end = point.report.end;
        points.push(point);
        if end != End::Complete {
            break;
        }
    }
    Ok(points)
}
