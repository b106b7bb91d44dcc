//! Comparison of slow requests with fast ones: time per request by kind and by stack.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use super::evidence::{Breakdown, Times};
use super::place::place;
use crate::time_kind::{KINDS, TimeKind};
use yunti_probe::stack::Frame;

/// Nanoseconds and frames of a stack.
type Sum = (u64, Rc<[Frame]>);

/// Sums of all slow requests, or of all fast ones.
#[derive(Default)]
pub struct Group {
    pub requests: u64,
    pub total_ns: u64,
    pub times: Times,
    /// Stacks by kind and frame names. Interpreted and compiled frames of a method are equal.
    stacks: HashMap<(TimeKind, u64), Sum>,
}

impl Group {
    pub fn add(&mut self, duration_ns: u64, breakdown: &Breakdown) {
        self.requests += 1;
        self.total_ns += duration_ns;
        self.times.iter_mut().zip(breakdown.times).for_each(|(sum, ns)| *sum += ns);
        for part in &breakdown.stacks {
            if let Some(frames) = &part.frames {
                let stack = self.stacks.entry((part.kind, names_of(frames)));
                stack.or_insert_with(|| (0, frames.clone())).0 += part.ns;
            }
        }
    }

    /// Returns the mean per request.
    pub fn mean(&self, ns: u64) -> u64 {
        ns.checked_div(self.requests).unwrap_or(0)
    }
}

fn names_of(frames: &[Frame]) -> u64 {
    let mut hasher = DefaultHasher::new();
    frames.iter().for_each(|frame| frame.name.hash(&mut hasher));
    hasher.finish()
}

/// Mean nanoseconds per request, slow and fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    pub slow_ns: u64,
    pub fast_ns: u64,
}

impl Comparison {
    pub fn difference(self) -> i64 {
        self.slow_ns as i64 - self.fast_ns as i64
    }
}

/// Returns the kinds of time, by descending difference.
pub fn kinds(slow: &Group, fast: &Group) -> Vec<(TimeKind, Comparison)> {
    let of = |kind: TimeKind| Comparison {
        slow_ns: slow.mean(slow.times[kind as usize]),
        fast_ns: fast.mean(fast.times[kind as usize]),
    };
    let mut all: Vec<_> = KINDS
        .map(|kind| (kind, of(kind)))
        .into_iter()
        .filter(|(_, comparison)| *comparison != Comparison { slow_ns: 0, fast_ns: 0 })
        .collect();
    all.sort_by_key(|(_, comparison)| -comparison.difference());
    all
}

/// A stack of slow requests.
pub struct Stack {
    pub kind: TimeKind,
    pub comparison: Comparison,
    pub frames: Rc<[Frame]>,
}

/// Returns the stacks of slow requests, by descending difference.
pub fn stacks(slow: &Group, fast: &Group) -> Vec<Stack> {
    let mut all: Vec<Stack> = slow
        .stacks
        .iter()
        .map(|(name, (ns, frames))| {
            let of_fast = fast.stacks.get(name).map_or(0, |(ns, _)| *ns);
            Stack {
                kind: name.0,
                comparison: Comparison { slow_ns: slow.mean(*ns), fast_ns: fast.mean(of_fast) },
                frames: frames.clone(),
            }
        })
        .collect();
    all.sort_by(|a, b| {
        b.comparison.difference().cmp(&a.comparison.difference()).then_with(|| names(&a.frames).cmp(names(&b.frames)))
    });
    all
}

fn names(frames: &[Frame]) -> impl Iterator<Item = &str> {
    frames.iter().map(|frame| &*frame.name)
}

/// Returns the place in the program with the largest difference in a kind of time.
pub fn main_place(stacks: &[Stack], kind: TimeKind) -> Option<String> {
    let mut by_place: HashMap<String, i64> = HashMap::new();
    for stack in stacks.iter().filter(|stack| stack.kind == kind) {
        *by_place.entry(place(&stack.frames)?).or_default() += stack.comparison.difference();
    }
    by_place
        .into_iter()
        .filter(|(_, ns)| *ns > 0)
        .max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)))
        .map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::super::split::Part;
    use super::*;
    use yunti_probe::stack::Kind;

    fn breakdown(stacks: &[(TimeKind, u64, &str)]) -> Breakdown {
        let mut times = Times::default();
        let stacks = stacks.iter().map(|(kind, ns, names)| {
            times[*kind as usize] += ns;
            let frames: Vec<Frame> =
                names.split(' ').map(|name| Frame { name: name.into(), kind: Kind::Compiled }).collect();
            Part { kind: *kind, ns: *ns, frames: Some(frames.into()) }
        });
        let stacks = stacks.collect();
        Breakdown { times, stacks }
    }

    #[test]
    fn sorts_by_difference() {
        let (mut slow, mut fast) = (Group::default(), Group::default());
        slow.add(70, &breakdown(&[(TimeKind::OnCpu, 30, "a.B.c a.B.d"), (TimeKind::Lock, 40, "a.B.c a.B.e")]));
        fast.add(30, &breakdown(&[(TimeKind::OnCpu, 30, "a.B.c a.B.d")]));
        fast.add(10, &breakdown(&[(TimeKind::OnCpu, 10, "a.B.c a.B.x")]));
        let kinds = kinds(&slow, &fast);
        assert_eq!(
            kinds,
            [
                (TimeKind::Lock, Comparison { slow_ns: 40, fast_ns: 0 }),
                (TimeKind::OnCpu, Comparison { slow_ns: 30, fast_ns: 20 })
            ]
        );
        let stacks = stacks(&slow, &fast);
        let times: Vec<_> = stacks.iter().map(|s| (s.kind, s.comparison.slow_ns, s.comparison.fast_ns)).collect();
        assert_eq!(times, [(TimeKind::Lock, 40, 0), (TimeKind::OnCpu, 30, 15)]);
        assert_eq!(main_place(&stacks, TimeKind::Lock).as_deref(), Some("a.B.e <- a.B.c"));
        assert_eq!(main_place(&stacks, TimeKind::Gc), None);
        // Stacks of fast requests only are left out.
        assert!(!stacks.iter().any(|stack| stack.frames.iter().any(|frame| &*frame.name == "a.B.x")));
    }
}
