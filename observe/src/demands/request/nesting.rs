//! Events of what is taken within something else that is taken.
//!
//! ```text
//!   want(pool)  want(pool)  acquired(pool)  acquired(pool)      a method that calls another one of the same pool
//!   want(pool)  acquired(queue)  acquired(pool)                 a queue that is the pool's own store of free units
//! ```
//!
//! The outermost events say all: a unit is taken once.

use super::places::{Places, Role};
use crate::jvm::PlaceEvent;

/// Want that has no answer yet.
struct Want {
    event: PlaceEvent,
    /// True if the same object is wanted outside.
    is_inner: bool,
    /// Length of the list of events at it.
    at: usize,
}

/// Returns the events of a thread without these within others.
pub fn outermost(events: &[PlaceEvent], places: &Places) -> Vec<PlaceEvent> {
    let mut kept: Vec<PlaceEvent> = Vec::with_capacity(events.len());
    let mut wants: Vec<Want> = Vec::new();
    for event in events {
        match places.role(event) {
            Some(Role::Want) => {
                let is_inner = wants.iter().any(|want| want.event.object == event.object);
                wants.push(Want { event: *event, is_inner, at: kept.len() });
                if !is_inner {
                    kept.push(*event);
                }
            }
            Some(role @ (Role::Acquired | Role::Shared | Role::Failed)) => {
                let of = wants.iter().rposition(|want| places.is_same_method(&want.event, event));
                // Whatever an exception has ended has no answer.
                let want = of.and_then(|of| wants.drain(of..).next());
                if want.as_ref().is_some_and(|want| want.is_inner) {
                    continue;
                }
                if let Some(want) = want.filter(|_| role != Role::Failed) {
                    drop_stores(&mut kept, want.at, places);
                }
                kept.push(*event);
            }
            _ => kept.push(*event),
        }
    }
    kept
}

/// Removes what was taken since a place in the list and not given back: what is taken outside consists of it.
fn drop_stores(kept: &mut Vec<PlaceEvent>, from: usize, places: &Places) {
    let is_taken = |event: &PlaceEvent| matches!(places.role(event), Some(Role::Acquired | Role::Shared));
    let mut at = from;
    while at < kept.len() {
        let event = kept[at];
        let is_given = |later: &PlaceEvent| later.object == event.object && places.role(later) == Some(Role::Released);
        if is_taken(&event) && !kept[at + 1..].iter().any(is_given) {
            kept.remove(at);
        } else {
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_once_what_is_taken_within_itself() {
        let mut places = Places::default();
        let texts = ["w Pool.take", "a Pool.take", "f Pool.take", "w Queue.poll", "a Queue.poll", "r Queue.offer"];
        texts.iter().enumerate().for_each(|(number, text)| places.add(number as u32, text));
        let check = |events: &[(u32, u32)], expected: &[(u32, u32)]| {
            let event = |(at, (place, object)): (usize, &(u32, u32))| PlaceEvent {
                at_ns: at as i64,
                place: *place,
                object: *object,
            };
            let events: Vec<PlaceEvent> = events.iter().enumerate().map(event).collect();
            let found: Vec<_> = outermost(&events, &places).iter().map(|event| (event.place, event.object)).collect();
            assert_eq!(found, expected);
        };
        check(&[(0, 7), (0, 7), (1, 7), (1, 7)], &[(0, 7), (1, 7)]);
        // A queue within the pool, and a lock that is given back within it.
        check(&[(0, 7), (3, 8), (4, 8), (1, 7), (5, 8)], &[(0, 7), (3, 8), (1, 7), (5, 8)]);
        check(&[(0, 7), (3, 8), (4, 8), (5, 8), (1, 7)], &[(0, 7), (3, 8), (4, 8), (5, 8), (1, 7)]);
        // The identity of what is acquired may differ from the wanted one: a route of a pool.
        check(&[(0, 7), (1, 9), (0, 7), (2, 7)], &[(0, 7), (1, 9), (0, 7), (2, 7)]);
    }
}
