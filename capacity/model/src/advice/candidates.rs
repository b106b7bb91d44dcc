//! Changes that are worth trying for a service.

use crate::curve::{Curve, Share};
use crate::demands::{Demands, ResourceKind};
use crate::formulas::Place;
use crate::what_if::{Amount, Change, Conversion};
use crate::young::Young;

/// Use of a resource, against the fullest, from which on a change of it is tried.
const WORTH: f64 = 0.5;
/// Resources whose changes are tried.
const RESOURCES_MAX: usize = 5;
/// Calls at once, at most.
const CALLS_MAX: usize = 6;
/// Share of the time stopped from which on less allocation is tried.
const STOPPED: f64 = 0.03;

/// Returns lists of changes to try, each list as one.
pub fn list(demands: &Demands, curve: &Curve, young: Option<&Young>, conversions: &[Conversion]) -> Vec<Vec<Change>> {
    let mut lists: Vec<Vec<Change>> = Vec::new();
    let shares = &curve.bottleneck.shares;
    let fullest = shares.first().map_or(0.0, |share| share.utilisation);
    let worth = shares.iter().filter(|share| share.utilisation.max(share.in_use) >= WORTH * fullest);
    for share in worth.take(RESOURCES_MAX) {
        lists.extend(doubling(demands, share).map(|change| vec![change]));
    }
    // Resources that are nearly equal bring nothing one by one.
    if !curve.bottleneck.near.is_empty() {
        let all = curve.bottleneck.first.iter().chain(&curve.bottleneck.near);
        lists.push(all.filter_map(|share| doubling(demands, share)).collect());
    }
    lists.extend(workers(demands, curve).map(|change| vec![change]));
    lists.extend(at_once(demands, curve).map(|change| vec![change]));
    if let Some(young) = young {
        if young.gain > 0.0 {
            lists.push(vec![Change::Young(young.enough.young_bytes)]);
        }
        if curve.points.iter().any(|point| point.simulated.stopped > STOPPED) {
            lists.push(vec![Change::Memory(0.5)]);
        }
    }
    for entry in conversions {
        lists.push(vec![Change::Convert { from: entry.from.clone(), to: entry.to.clone(), factor: None }]);
    }
    lists
}

/// Returns the change that halves what requests need of a resource.
fn doubling(demands: &Demands, share: &Share) -> Option<Change> {
    let Place::Resource(at) = share.place else {
        let double = Change::Processors(Amount::Add(demands.processors.count.round().max(1.0)));
        return (share.place == Place::Processors).then_some(double);
    };
    let resource = demands.resources.get(at)?;
    let (kind, name) = (resource.kind, Some(resource.name.clone()).filter(|name| !name.is_empty()));
    Some(match kind {
        ResourceKind::Pool | ResourceKind::Threads | ResourceKind::Remote => {
            Change::Units { kind, name, amount: Amount::Set(f64::from(resource.parallelism? * 2)) }
        }
        _ => Change::Hold { kind, name, factor: 0.5 },
    })
}

/// Returns the best number of workers, if the present one is below it or where the service falls.
fn workers(demands: &Demands, curve: &Curve) -> Option<Change> {
    let (limit, best) = (demands.workers.limit?, curve.threads.high);
    let is_wrong = f64::from(limit) < curve.threads.value || curve.falls_at.is_some_and(|falls| limit >= falls);
    (is_wrong && !curve.is_unbounded).then_some(Change::Workers(Amount::Set(best)))
}

/// Returns calls at once, if a request makes several in turn.
fn at_once(demands: &Demands, curve: &Curve) -> Option<Change> {
    let calls = curve.formulas.necessary.calls;
    if calls.count < 1.5 || calls.elapsed_ms < 0.8 * calls.ms {
        return None;
    }
    let items = &curve.formulas.necessary.items;
    let mut remotes: Vec<(f64, &str)> = items
        .iter()
        .filter_map(|item| match item.place {
            Place::Resource(at) if demands.resources[at].kind == ResourceKind::Remote && !item.name.is_empty() => {
                Some((item.ms, item.name.as_str()))
            }
            _ => None,
        })
        .collect();
    remotes.sort_by(|a, b| b.0.total_cmp(&a.0));
    remotes.truncate(CALLS_MAX);
    (!remotes.is_empty()).then(|| Change::AtOnce(remotes.iter().map(|(_, name)| name.to_string()).collect()))
}
