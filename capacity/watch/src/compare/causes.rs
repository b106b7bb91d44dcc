//! Causes: functions that grew, each once, with the callers that grew by them. Cost that only moved is none.
//!
//! A JIT compiler that inlines otherwise after a restart moves samples from a function to its caller. Then the caller's
//! cost with callees is the same, or a neighbour fell by as much. Or frames appear between a caller and what it calls.
//! Only growth that reaches all callers is a cause.

use super::functions::{Change, Functions, Part};

/// Part of a growth that must reach the callers.
const REACHES: f64 = 0.5;
/// Standard errors within which a caller may have grown too.
const ERRORS: f64 = 2.0;
/// Standard errors from which on a neighbour has fallen.
const FALLEN: f64 = 2.5;
/// Callers that a cause names, and that are followed at most.
const CALLERS: usize = 4;
const NAMED: usize = 40;

/// Function that grew.
#[derive(Clone, Debug)]
pub struct Cause {
    pub change: Change,
    /// Dominant callers, nearest first.
    pub callers: Vec<String>,
    /// Callers whose growth is sure, nearest first.
    pub grown: Vec<String>,
}

/// Causes, and growths without one.
#[derive(Clone, Debug, Default)]
pub struct Causes {
    /// Largest growth first.
    pub causes: Vec<Cause>,
    /// Growths that are cost moved from another function.
    pub moved: Vec<Change>,
    /// Nearest caller that has several causes below it.
    pub common_caller: Option<String>,
}

/// Returns the causes among growths.
pub fn causes(functions: &Functions, grown: &[Change]) -> Causes {
    let scale = functions.scale();
    let mut found = Causes::default();
    let mut own: Vec<&Change> = grown.iter().filter(|change| change.part == Part::Own).collect();
    own.sort_by(|a, b| b.share.total_cmp(&a.share));
    let mut totals: Vec<&Change> = grown.iter().filter(|change| change.part == Part::Total).collect();
    // Callees before their callers: a caller's total is not smaller.
    totals.sort_by(|a, b| a.now_ms.total_cmp(&b.now_ms).then(b.place.cmp(&a.place)));
    let mut explained = vec![0.0; functions.names.len()];
    for change in own.into_iter().chain(totals) {
        if change.part == Part::Total && explained[change.place] >= REACHES * change.share {
            continue;
        }
        if has_moved(functions, change, scale) {
            found.moved.push(change.clone());
            continue;
        }
        explained[change.place] += change.share;
        let above: Vec<usize> = callers(functions, change.place).collect();
        above.iter().for_each(|caller| explained[*caller] += change.share);
        let grew = |caller: &&usize| grown.iter().any(|c| c.place == **caller && c.part == Part::Total);
        let name = |caller: &usize| functions.names[*caller].clone();
        found.causes.push(Cause {
            change: change.clone(),
            callers: above.iter().take(CALLERS).map(name).collect(),
            grown: above.iter().filter(grew).map(name).collect(),
        });
    }
    found.causes.sort_by(|a, b| b.change.share.total_cmp(&a.change.share));
    found.common_caller = common_caller(&found.causes);
    found
}

/// Returns the dominant callers, nearest first.
fn callers(functions: &Functions, place: usize) -> impl Iterator<Item = usize> + '_ {
    let mut seen = vec![place];
    std::iter::successors(functions.callers[place], |at| functions.callers[*at])
        .take_while(move |at| {
            let is_new = !seen.contains(at);
            seen.push(*at);
            is_new
        })
        .take(NAMED)
}

/// Returns true if the growth did not reach the callers, or a neighbour fell by as much.
fn has_moved(functions: &Functions, change: &Change, scale: f64) -> bool {
    let needed = REACHES * change.share;
    let itself = (change.part == Part::Own).then_some(change.place);
    // All callers: several frames that a compiler showed for the first time are all new, up to one that is not.
    let stopped = itself.into_iter().chain(callers(functions, change.place)).any(|place| {
        let shift = functions.shift(place, Part::Total, scale);
        shift.difference() + ERRORS * shift.error < needed
    });
    let parent = functions.callers[change.place];
    let callees = |of: usize| (0..functions.names.len()).filter(move |at| functions.callers[*at] == Some(of));
    // What a compiler inlines moves between a function and its caller, so both together keep their cost.
    let mut pairs = parent.into_iter().chain(callees(change.place));
    let is_paired = pairs.any(|other| {
        let other_own = functions.shift(other, Part::Own, scale);
        let both = functions.shift_of_sum(&[change.place, other], scale);
        other_own.difference() <= -needed && both.difference() < needed
    });
    // Several callees, or other callees of the same caller, as after a renaming.
    let siblings = parent.into_iter().flat_map(callees).filter(|place| *place != change.place);
    let fallen: f64 = siblings
        .chain(parent)
        .chain(callees(change.place))
        .map(|place| functions.shift(place, Part::Own, scale))
        .filter(|shift| shift.difference() < -FALLEN * shift.error)
        .map(|shift| -shift.difference())
        .sum();
    stopped || is_paired || fallen >= needed
}

/// Returns the nearest caller of at least half of the causes, if there are several.
fn common_caller(causes: &[Cause]) -> Option<String> {
    if causes.len() < 2 {
        return None;
    }
    let all = causes.iter().flat_map(|cause| cause.grown.iter().enumerate());
    let below =
        |name: &str| causes.iter().filter(|c| c.change.name == name || c.grown.iter().any(|n| n == name)).count();
    let shared = all.filter(|(_, name)| below(name) * 2 > causes.len());
    let nearest = shared.max_by(|a, b| below(a.1).cmp(&below(b.1)).then(b.0.cmp(&a.0)));
    nearest.map(|(_, name)| name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::day::{Cost, Day};

    /// Day of a service that spends 80 % of 4 ms in one stub. `frames` are between it and its caller.
    fn day(at: u64, samples: f64, frames: &[&str], more: &[(&str, f64)]) -> Day {
        let wobble = 1.0 + 0.004 * (at % 3) as f64;
        let cost = |name: &str, caller: Option<usize>, own: f64, total: f64| Cost {
            name: name.into(),
            caller,
            own: own * wobble,
            total: total * wobble,
        };
        let grown: f64 = more.iter().map(|(_, ms)| ms).sum();
        let mut functions = vec![cost("run", None, 0.4, 4.0 + grown), cost("hash", Some(0), 0.4, 3.6)];
        for frame in frames {
            functions.push(cost(frame, Some(functions.len() - 1), 0.0, 3.2));
        }
        functions.push(cost("stub", Some(functions.len() - 1), 3.2, 3.2));
        functions.extend(more.iter().map(|(name, ms)| cost(name, Some(0), *ms, *ms)));
        Day { sequence: at, cpu_ms: Some((4.0 + grown) * wobble), samples, functions, ..Day::default() }
    }

    fn found(samples: f64, today: Day) -> (Vec<String>, usize) {
        let days: Vec<Day> = (0..12).map(|at| day(at, samples, &[], &[])).collect();
        let functions = Functions::of(&days.iter().collect::<Vec<_>>(), &today, 0.0).unwrap();
        let found = causes(&functions, &functions.changes().0);
        (found.causes.into_iter().map(|cause| cause.change.name).collect(), found.moved.len())
    }

    #[test]
    fn frames_that_appear_are_no_cause() {
        let frames = ["f1", "f2", "f3", "f4", "f5", "f6"];
        let (causes, moved) = found(6000.0, day(12, 6000.0, &frames, &[]));
        assert!(causes.is_empty() && moved > 0, "{causes:?} {moved}");
        assert_eq!(found(6000.0, day(12, 6000.0, &frames, &[("new", 0.2)])).0, ["new"]);
    }

    #[test]
    fn a_handful_of_samples_is_no_cause() {
        assert_eq!(found(500.0, day(12, 500.0, &[], &[("new", 0.05)])).0, [""; 0]);
        assert_eq!(found(500.0, day(12, 500.0, &[], &[("new", 0.3)])).0, ["new"]);
    }
}
