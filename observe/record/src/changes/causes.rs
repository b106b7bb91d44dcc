//! Causes: among functions that changed, the few that explain the others.
//!
//! A function that grew makes all of its callers grow. It is the cause, and they are named with it. If instead several
//! functions grew in the same proportion below one caller, and the rest of that caller too, the caller is the cause: it
//! is called more often, or all below it is slower.

use std::collections::{BTreeMap, HashMap};

use super::series::Series;
use super::windows::Windows;

/// Change of a function that is surely there.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Number of the function in the windows.
    pub number: u32,
    /// True for the cost of the function itself, false for its cost with callees.
    pub is_own: bool,
    /// Difference of the cost an amount, and its standard error.
    pub difference: f64,
    pub error: f64,
    /// Cost an amount before.
    pub mean: f64,
}

impl Candidate {
    fn ratio(&self) -> f64 {
        self.difference / self.mean
    }
}

/// Cause with what it explains.
#[derive(Clone, Debug)]
pub struct Cause {
    /// Place of the candidate.
    pub at: usize,
    /// Places of candidates that it explains: callers, or callees that grew with it.
    pub explains: Vec<usize>,
}

/// Part of a caller's difference that causes must explain.
const EXPLAINED_MIN: f64 = 0.6;

/// Standard errors within which a rest is none: as sure as a finding among hundreds must be.
const REST_ERRORS: f64 = 4.0;

/// Standard errors within which two proportions are alike.
const ALIKE_ERRORS: f64 = 2.5;

/// Functions below a caller that grew alike, so that the caller is the cause.
const ALIKE_MIN: usize = 3;

/// Returns the causes, largest difference first.
pub fn causes(windows: &Windows, series: &Series, candidates: &[Candidate]) -> Vec<Cause> {
    let parts = Parts::of(windows, series, candidates);
    let mut causes: Vec<Cause> = Vec::new();
    let own = (0..candidates.len()).filter(|at| candidates[*at].is_own);
    causes.extend(own.map(|at| Cause { at, explains: Vec::new() }));
    // Callees before their callers: a caller's total is not smaller.
    let mut totals: Vec<usize> = (0..candidates.len()).filter(|at| !candidates[*at].is_own).collect();
    totals.sort_by(|a, b| candidates[*a].mean.total_cmp(&candidates[*b].mean).then(a.cmp(b)));
    for at in totals {
        let caller = &candidates[at];
        let below: Vec<(usize, f64)> = (0..causes.len())
            .map(|cause| {
                (cause, candidates[causes[cause].at].difference * parts.below(causes[cause].at, caller.number))
            })
            .filter(|(_, part)| *part != 0.0)
            .collect();
        if let Some(group) = alike(candidates, &parts, &causes, at, &below) {
            let mut explains: Vec<usize> = Vec::new();
            for cause in group.iter().rev() {
                let gone = causes.remove(*cause);
                explains.push(gone.at);
                explains.extend(gone.explains);
            }
            causes.push(Cause { at, explains });
            continue;
        }
        let explained: f64 = below.iter().map(|(_, part)| part).sum();
        let rest = caller.difference - explained;
        let is_explained = explained * caller.difference.signum() >= EXPLAINED_MIN * caller.difference.abs()
            || rest.abs() <= REST_ERRORS * caller.error && explained * caller.difference > 0.0;
        let main = below.iter().max_by(|a, b| (a.1 * caller.difference).total_cmp(&(b.1 * caller.difference)));
        match main.filter(|_| is_explained) {
            Some((cause, _)) => causes[*cause].explains.push(at),
            None => causes.push(Cause { at, explains: Vec::new() }),
        }
    }
    let mut causes = without_shared(candidates, &parts, causes);
    causes.sort_by(|a, b| {
        let size = |cause: &Cause| candidates[cause.at].difference.abs();
        size(b).total_cmp(&size(a)).then(a.at.cmp(&b.at))
    });
    causes
}

/// Moves causes to a subtree above that explains them: a function that is partly below it grew by this part.
fn without_shared(candidates: &[Candidate], parts: &Parts, causes: Vec<Cause>) -> Vec<Cause> {
    let (mut above, others): (Vec<Cause>, Vec<Cause>) =
        causes.into_iter().partition(|cause| !candidates[cause.at].is_own && cause.explains.len() >= ALIKE_MIN);
    let mut left = Vec::new();
    for cause in others {
        let callee = &candidates[cause.at];
        let explained = |above: &&mut Cause| {
            let caller = &candidates[above.at];
            let part = caller.ratio() * callee.mean * parts.below(cause.at, caller.number) / callee.difference;
            (EXPLAINED_MIN..=1.0 / EXPLAINED_MIN).contains(&part)
        };
        match above.iter_mut().find(explained) {
            Some(above) => {
                above.explains.push(cause.at);
                above.explains.extend(cause.explains);
            }
            None => left.push(cause),
        }
    }
    above.extend(left);
    above
}

/// Returns the causes below a caller that grew in the caller's proportion, if all did, and the caller's rest too.
fn alike(
    candidates: &[Candidate],
    parts: &Parts,
    causes: &[Cause],
    at: usize,
    below: &[(usize, f64)],
) -> Option<Vec<usize>> {
    let caller = &candidates[at];
    // Causes that are mostly below this caller.
    let inside: Vec<usize> = below
        .iter()
        .map(|(cause, _)| *cause)
        .filter(|cause| parts.below(causes[*cause].at, caller.number) >= 0.8)
        .collect();
    if inside.len() < ALIKE_MIN {
        return None;
    }
    let ratio = caller.ratio();
    let is_alike = |cause: &usize| {
        let callee = &candidates[causes[*cause].at];
        let distance = (callee.ratio() - ratio).abs();
        distance <= ALIKE_ERRORS * callee.error / callee.mean + 0.35 * ratio.abs()
    };
    let (mut mean, mut difference) = (caller.mean, caller.difference);
    for (cause, part) in below {
        difference -= part;
        mean -= candidates[causes[*cause].at].mean * parts.below(causes[*cause].at, caller.number);
    }
    // Without a rest there is nothing that could speak against it.
    let rest_grew = mean <= 0.05 * caller.mean
        || difference / mean >= 0.5 * ratio && ratio > 0.0
        || difference / mean <= 0.5 * ratio && ratio < 0.0;
    (inside.iter().all(is_alike) && rest_grew).then_some(inside)
}

/// Parts of candidates' costs below each function.
struct Parts {
    /// Parts by place of the candidate and number of the function.
    below: Vec<HashMap<u32, f64>>,
}

impl Parts {
    fn of(windows: &Windows, series: &Series, candidates: &[Candidate]) -> Parts {
        let mut by_function: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        candidates.iter().enumerate().for_each(|(at, c)| by_function.entry(c.number).or_default().push(at));
        let mut below: Vec<HashMap<u32, f64>> = vec![HashMap::new(); candidates.len()];
        let mut wholes = vec![0.0; candidates.len()];
        let mut above: Vec<u32> = Vec::new();
        for (stack, cost) in windows.stacks.iter().zip(&series.stack_costs).filter(|(_, cost)| **cost > 0.0) {
            above.clear();
            for (depth, number) in stack.iter().enumerate() {
                let is_leaf = depth + 1 == stack.len();
                let is_outermost = !above.contains(number);
                for at in by_function.get(number).into_iter().flatten() {
                    let counts = if candidates[*at].is_own { is_leaf } else { is_outermost };
                    if counts {
                        wholes[*at] += cost;
                        for caller in &above {
                            *below[*at].entry(*caller).or_default() += cost;
                        }
                        // The function itself contains its own cost.
                        if candidates[*at].is_own && is_outermost {
                            *below[*at].entry(*number).or_default() += cost;
                        }
                    }
                }
                if is_outermost {
                    above.push(*number);
                }
            }
        }
        for (below, whole) in below.iter_mut().zip(wholes) {
            below.values_mut().for_each(|part| *part /= whole);
        }
        Parts { below }
    }

    /// Returns the part of a candidate's cost that lies below a function.
    fn below(&self, candidate: usize, function: u32) -> f64 {
        self.below[candidate].get(&function).copied().unwrap_or(0.0)
    }
}
