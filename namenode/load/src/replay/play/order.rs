//! Order of the calls of one path: a change waits for the calls before it, and later calls wait for the change.
//!
//! Calls of different paths have no order, as calls of different clients have none. Without this order a file could be
//! opened before the call that creates it has a response, since both go over connections of their own.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};

/// Number of a call under way.
pub type CallNumber = usize;

#[derive(Debug, Default)]
struct Gate {
    reading: u32,
    is_changing: bool,
    /// Calls that wait, and whether they change the path.
    waiting: VecDeque<(CallNumber, bool)>,
}

/// Calls under way, by path.
#[derive(Debug, Default)]
pub struct PathOrder {
    gates: HashMap<u64, Gate>,
    hasher: RandomState,
}

impl PathOrder {
    /// Returns the key of a path.
    pub fn key(&self, path: &str) -> u64 {
        self.hasher.hash_one(path)
    }

    /// Enters a call; returns true if it may start, false if [`PathOrder::leave`] returns it later.
    pub fn enter(&mut self, call: CallNumber, key: u64, is_change: bool) -> bool {
        let gate = self.gates.entry(key).or_default();
        if !gate.waiting.is_empty() || gate.is_changing || is_change && gate.reading > 0 {
            gate.waiting.push_back((call, is_change));
            return false;
        }
        gate.admit(is_change);
        true
    }

    /// Ends a call, and adds the calls that may start now to `admitted`.
    pub fn leave(&mut self, key: u64, is_change: bool, admitted: &mut Vec<CallNumber>) {
        let Some(gate) = self.gates.get_mut(&key) else { return };
        if is_change {
            gate.is_changing = false;
        } else {
            gate.reading -= 1;
        }
        while let Some((call, is_change)) = gate.waiting.front().copied() {
            if gate.is_changing || is_change && gate.reading > 0 {
                break;
            }
            gate.waiting.pop_front();
            gate.admit(is_change);
            admitted.push(call);
        }
        if gate.reading == 0 && !gate.is_changing && gate.waiting.is_empty() {
            self.gates.remove(&key);
        }
    }
}

impl Gate {
    fn admit(&mut self, is_change: bool) {
        if is_change {
            self.is_changing = true;
        } else {
            self.reading += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_alone_and_in_order() {
        let mut order = PathOrder::default();
        let key = order.key("/a");
        let none: [CallNumber; 0] = [];
        let left = |order: &mut PathOrder, is_change| {
            let mut admitted = Vec::new();
            order.leave(key, is_change, &mut admitted);
            admitted
        };
        assert!(order.enter(0, key, false) && order.enter(1, key, false));
        assert!(!order.enter(2, key, true), "two calls read");
        assert!(!order.enter(3, key, false), "a change is before");
        assert!(!order.enter(4, key, false) && !order.enter(5, key, true));
        let other = order.key("/b");
        assert!(order.enter(6, other, true), "another path");
        assert_eq!(left(&mut order, false), none);
        assert_eq!(left(&mut order, false), [2]);
        assert_eq!(left(&mut order, true), [3, 4]);
        assert_eq!(left(&mut order, false), none);
        assert_eq!(left(&mut order, false), [5]);
        assert_eq!(left(&mut order, true), none);
        assert_eq!(order.gates.len(), 1);
    }
}
