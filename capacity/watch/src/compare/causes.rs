//! Causes: functions that grew, each once, with the callers that grew by them. Cost that only moved is none.
//!
//! A JIT compiler that inlines otherwise after a restart moves samples from a function to its caller. Then the caller's
//! cost with callees is the same, or a neighbour fell by as much. Only growth that reaches the callers is a cause.

use super::functions::{Change, Functions, Part};

/// Part of a growth that must reach the callers.
const REACHES: f64 = 0.5;
/// Standard errors within which a caller may have grown too.
const ERRORS: f64 = 2.0;
/// Standard errors from which on a neighbour has fallen.
const FALLEN: f64 = 2.5;
/// Callers that are checked, and named at most.
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
    let above: Vec<usize> = callers(functions, change.place).take(CALLERS).collect();
    let stopped = itself.iter().chain(&above).any(|place| {
        let shift = functions.shift(*place, Part::Total, scale);
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
