//! Requests and locks of a process that is no JVM, as events of its threads.
//!
//! ```text
//!   thread    waits for its client | works                    | waits for its client
//!                             woken ^ request begins    ends ^ off
//! ```

use std::collections::{HashMap, HashSet};

use yunti_probe::code::{find, is_go, name_at};
use yunti_probe::kernel::{LockEvent, LockFunctions, LockRole};
use yunti_probe::target::Process;

use super::peers::Peers;
use crate::demands::evidence::{Evidence, Runtime};
use crate::demands::request::timeline::Timeline;
use crate::jvm::PlaceEvent;
use crate::runtime::node;

/// Numbers of places.
const WANTS: u32 = 0;
const HAS: u32 = 1;
const FAILED: u32 = 2;
const RELEASES: u32 = 3;
const REQUEST_BEGINS: u32 = 4;
const REQUEST_ENDS: u32 = 5;
/// Shortest work between two waits for a client that is a request, not a piece of one.
const REQUEST_NS_MIN: u64 = 20_000;

/// Returns the runtime of a process that is no JVM. A Python whose name ends with 't' has no lock of its own.
pub fn runtime(process: &Process) -> Runtime {
    let file = process.executable();
    let name = file.as_deref().and_then(|path| path.file_name()?.to_str()).unwrap_or_default();
    match name {
        _ if is_go(process) => Runtime::Go,
        _ if node::is_node(process) => Runtime::Node,
        _ if name.starts_with("python") && !name.ends_with('t') => Runtime::Python,
        _ => Runtime::Native,
    }
}

/// Returns the functions of the C library that take locks and give them back.
pub fn lock_functions(process: &Process) -> LockFunctions {
    let all = |names: &[&str]| names.iter().flat_map(|name| find(process, None, name)).collect();
    LockFunctions {
        take: all(&["pthread_mutex_lock", "pthread_rwlock_wrlock"]),
        give: all(&["pthread_mutex_unlock", "pthread_rwlock_unlock"]),
        wait: all(&["pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait"]),
    }
}

/// Adds the events of requests and locks to the timelines.
pub fn add_events(evidence: &mut Evidence, process: &Process, locks: &[LockEvent]) {
    let roles = [(WANTS, "w"), (HAS, "a"), (FAILED, "f"), (RELEASES, "r"), (REQUEST_BEGINS, "q"), (REQUEST_ENDS, "Q")];
    roles.iter().for_each(|(number, letter)| evidence.places.add(*number, letter));
    let mut by_tid: HashMap<u32, Vec<PlaceEvent>> = HashMap::new();
    let mut known = HashSet::new();
    for lock in locks {
        let place = match lock.role {
            LockRole::Wants => WANTS,
            LockRole::Has => HAS,
            LockRole::Failed => FAILED,
            LockRole::Releases => RELEASES,
        };
        let object = identity(lock.address);
        if known.insert(object) {
            let name = name_at(process, lock.address).unwrap_or_else(|| format!("mutex at {:#x}", lock.address));
            evidence.places.add_object(&format!("{object}|{HAS}|{name}|1"));
        }
        by_tid.entry(lock.tid).or_default().push(PlaceEvent { at_ns: lock.at_ns as i64, place, object });
    }
    for timeline in &mut evidence.timelines {
        let mut events = timeline.tid.and_then(|tid| by_tid.remove(&tid)).unwrap_or_default();
        events.extend(requests(timeline));
        // A request begins before what it takes, and ends after what it gives back.
        events.sort_by_key(|event| (event.at_ns, event.place != REQUEST_BEGINS));
        timeline.events = events;
    }
}

/// Returns a number for an address. Locks are few, so that two hardly ever get the same.
fn identity(address: u64) -> u32 {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 | 1
}

/// Returns begins and ends of the requests of a thread that waits for its client between them.
fn requests(timeline: &Timeline) -> Vec<PlaceEvent> {
    let mut events = Vec::new();
    let mut begin = None;
    let event = |at: u64, place| PlaceEvent { at_ns: at as i64, place, object: 0 };
    for sleep in timeline.sleeps.iter().filter(|sleep| sleep.peer == Some(Peers::CLIENTS) && !sleep.is_queueing()) {
        if let Some(from) = begin.filter(|from| sleep.off_ns > from + REQUEST_NS_MIN) {
            events.push(event(from, REQUEST_BEGINS));
            events.push(event(sleep.off_ns, REQUEST_ENDS));
        }
        begin = Some(sleep.woken_ns);
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demands::request::timeline::Sleep;
    use crate::time_kind::TimeKind;

    #[test]
    fn requests_between_waits_for_the_client() {
        let sleep = |off_ns, woken_ns, peer| Sleep {
            off_ns,
            woken_ns,
            on_ns: woken_ns + 10,
            kind: TimeKind::Network,
            peer: Some(peer),
        };
        let sleeps = vec![
            sleep(0, 100_000, 0),
            sleep(200_000, 300_000, 1),
            sleep(400_000, 500_000, 0),
            sleep(510_000, 600_000, 0),
        ];
        let timeline = Timeline { sleeps, ..Timeline::default() };
        let found: Vec<_> = requests(&timeline).iter().map(|event| (event.at_ns, event.place)).collect();
        assert_eq!(found, [(100_000, REQUEST_BEGINS), (400_000, REQUEST_ENDS)]);
        assert!(requests(&Timeline::default()).is_empty());
    }
}
