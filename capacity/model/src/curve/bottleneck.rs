//! Resource that bounds the service at its peak.
//!
//! The share of a resource is its necessary time at the peak rate. Its time in use would mislead: a lock whose
//! holder waits for a processor is in use all the time, although the processors are what is full.

use serde::Serialize;

use crate::formulas::{Formulas, Place};
use crate::simulate::{Network, Point};

/// Share of the bottleneck from which on another resource is nearly as full.
const NEAR: f64 = 0.9;
/// Share of the time stopped from which on collections are the bottleneck, not the processors that they take.
const STOPPED: f64 = 1.0 / 3.0;
/// Share of the peak with enough workers below which their limit is the bottleneck.
const LIMITED: f64 = 0.95;
/// Share of a resource from which on it can bound a service.
const BOUNDS: f64 = 0.3;

/// Share of a resource that requests need at the peak.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    pub place: Place,
    pub kind: &'static str,
    pub name: String,
    /// Necessary time at the peak rate, as share of the units; 1 is full.
    pub utilisation: f64,
    /// Share of the units in use in the simulation, with holders that wait themselves.
    pub in_use: f64,
    /// Mean number of tasks that wait for it.
    pub queued: f64,
}

/// Resources at the peak.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bottleneck {
    /// Fullest resource; absent if none is near its limit.
    pub first: Option<Share>,
    /// Resources within 10 % of it.
    pub near: Vec<Share>,
    /// All resources with a limit, the fullest first.
    pub shares: Vec<Share>,
}

/// Returns the bottleneck at the point of the peak. `reached`: share of the peak that the limit of workers allows.
pub fn find(formulas: &Formulas, peak: &Point, network: &Network, limit: Option<u32>, reached: f64) -> Bottleneck {
    let processors = network.processors();
    let mut shares: Vec<Share> = formulas
        .necessary
        .items
        .iter()
        .filter(|item| item.units.is_some() && item.ms > 0.0)
        .map(|item| {
            let nominal = formulas.utilisation(item, peak.per_second);
            let (utilisation, in_use, queued) = match item.place {
                // What runs on processors changes with load, so the simulation is the better count.
                Place::Processors => {
                    let full = peak.busy / processors + peak.stopped;
                    (full, full, 0.0)
                }
                Place::Collections => (peak.stopped, peak.stopped, 0.0),
                Place::Resource(at) => (nominal, peak.stations[at].utilisation, peak.stations[at].queued),
                Place::Workers => {
                    let full = f64::from(peak.clients) / limit.map_or(f64::INFINITY, f64::from);
                    (full, full, 0.0)
                }
            };
            Share { place: item.place, kind: item.kind, name: item.name.clone(), utilisation, in_use, queued }
        })
        .collect();
    shares.sort_by(|a, b| b.utilisation.total_cmp(&a.utilisation));
    let stops = peak.stopped >= STOPPED;
    let is_full = |share: &&Share| match share.place {
        Place::Workers => false,
        Place::Collections => stops,
        // Collections take the processors: both are one bottleneck, by the name of its cause.
        Place::Processors => !stops,
        Place::Resource(_) => true,
    };
    let first = match shares.iter().find(|share| share.place == Place::Workers) {
        Some(workers) if reached < LIMITED => Some(workers.clone()),
        _ => shares.iter().find(|share| is_full(share) && (share.utilisation >= BOUNDS)).cloned(),
    };
    let near = match &first {
        Some(first) => {
            let is_near = |share: &&Share| {
                is_full(share) && share.place != first.place && share.utilisation >= NEAR * first.utilisation
            };
            shares.iter().filter(is_near).cloned().collect()
        }
        None => Vec::new(),
    };
    Bottleneck { first, near, shares }
}
