//! Calls in turn that become calls at once.
//!
//! All calls begin where the first one began, the request goes on when all have ended, and the steps between them
//! follow in their order. A call under a lock or pool of its own moves together with its hold.

use std::ops::Range;

use crate::demands::Step;

/// Returns the steps with the calls to these resources at once.
pub fn at_once(steps: &[Step], is_call: &dyn Fn(u32) -> bool) -> Vec<Step> {
    let mut next_task = largest_task(steps).map_or(1, |task| task.saturating_add(1));
    overlap(steps, is_call, &mut next_task, &[])
}

/// `held`: resources that are held around the steps.
fn overlap(steps: &[Step], is_call: &dyn Fn(u32) -> bool, next_task: &mut u32, held: &[u32]) -> Vec<Step> {
    let units = units(steps);
    let calls: Vec<usize> = (0..units.len()).filter(|unit| calls_in(&steps[units[*unit].clone()], is_call)).collect();
    let mut made = Vec::with_capacity(steps.len() + 2 * calls.len());
    for (at, unit) in units.iter().enumerate() {
        let part = &steps[unit.clone()];
        match calls.iter().position(|call| *call == at) {
            None => made.extend(part.iter().map(|step| inside_tasks(step, is_call, next_task))),
            Some(0) => {
                let mut tasks = Vec::new();
                for other in &calls[1..] {
                    let mut own = inside(&steps[units[*other].clone()], is_call, next_task, held);
                    // The task is another thread, but what surrounds it is held already.
                    let is_of = |of: &u32| held.contains(of);
                    own.retain(
                        |step| !matches!(step, Step::Acquire(of) | Step::Share(of) | Step::Release(of) if is_of(of)),
                    );
                    made.push(Step::Spawn { task: *next_task, on: None, steps: own });
                    tasks.push(*next_task);
                    *next_task = next_task.saturating_add(1);
                }
                made.extend(inside(part, is_call, next_task, held));
                if !tasks.is_empty() {
                    made.push(Step::Join(tasks));
                }
            }
            Some(_) => {}
        }
    }
    made
}

/// Returns a unit with the calls inside of its hold at once.
fn inside(part: &[Step], is_call: &dyn Fn(u32) -> bool, next_task: &mut u32, held: &[u32]) -> Vec<Step> {
    match part {
        [first @ (Step::Acquire(of) | Step::Share(of)), between @ .., last] => {
            let held: Vec<u32> = held.iter().copied().chain([*of]).collect();
            let mut made = vec![first.clone()];
            made.extend(overlap(between, is_call, next_task, &held));
            made.push(last.clone());
            made
        }
        _ => part.to_vec(),
    }
}

fn inside_tasks(step: &Step, is_call: &dyn Fn(u32) -> bool, next_task: &mut u32) -> Step {
    match step {
        Step::Spawn { task, on, steps } => {
            Step::Spawn { task: *task, on: *on, steps: overlap(steps, is_call, next_task, &[]) }
        }
        step => step.clone(),
    }
}

/// Returns ranges that move as a whole: holds whose parts are nested properly, and single steps.
fn units(steps: &[Step]) -> Vec<Range<usize>> {
    let (mut units, mut at) = (Vec::new(), 0);
    while at < steps.len() {
        let end = hold_end(steps, at).unwrap_or(at + 1);
        units.push(at..end);
        at = end;
    }
    units
}

/// Returns the end of the hold that begins at a step, if all that it acquires inside is released inside.
fn hold_end(steps: &[Step], at: usize) -> Option<usize> {
    let mut open: Vec<u32> = Vec::new();
    for (place, step) in steps.iter().enumerate().skip(at) {
        match step {
            Step::Acquire(of) | Step::Share(of) => open.push(*of),
            Step::Release(of) if open.pop() != Some(*of) => return None,
            _ => {}
        }
        if open.is_empty() {
            return (place > at).then_some(place + 1);
        }
    }
    None
}

fn calls_in(steps: &[Step], is_call: &dyn Fn(u32) -> bool) -> bool {
    steps.iter().any(|step| matches!(step, Step::Wait { resource, .. } if is_call(*resource)))
}

fn largest_task(steps: &[Step]) -> Option<u32> {
    let of = |step: &Step| match step {
        Step::Spawn { task, steps, .. } => Some((*task).max(largest_task(steps).unwrap_or(0))),
        _ => None,
    };
    steps.iter().filter_map(of).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(steps: &str, expect: &str) {
        let steps: Vec<Step> = serde_json::from_str(steps).unwrap();
        let made = serde_json::to_string(&at_once(&steps, &|resource| resource >= 5)).unwrap();
        assert_eq!(made, expect.replace([' ', '\n'], ""));
    }

    #[test]
    fn calls_begin_with_the_first_one() {
        check(
            r#"[["cpu",10.0],["wait",5,50.0],["cpu",1.0],["wait",6,25.0],["wait",1,3.0],["wait",7,100.0],["cpu",15.0]]"#,
            r#"[["cpu",10.0],["spawn",1,null,[["wait",6,25.0]]],["spawn",2,null,[["wait",7,100.0]]],["wait",5,50.0],
                ["join",[1,2]],["cpu",1.0],["wait",1,3.0],["cpu",15.0]]"#,
        );
        check(r#"[["cpu",10.0],["wait",5,50.0]]"#, r#"[["cpu",10.0],["wait",5,50.0]]"#);
    }

    #[test]
    fn a_hold_moves_with_its_call_or_surrounds_them() {
        check(
            r#"[["wait",5,1.0],["acquire",0],["wait",5,2.0],["release",0],["spawn",7,2,[["cpu",1.0]]],["join",[7]]]"#,
            r#"[["spawn",8,null,[["acquire",0],["wait",5,2.0],["release",0]]],["wait",5,1.0],["join",[8]],
                ["spawn",7,2,[["cpu",1.0]]],["join",[7]]]"#,
        );
        check(
            r#"[["acquire",0],["wait",5,1.0],["acquire",0],["wait",6,2.0],["release",0],["release",0]]"#,
            r#"[["acquire",0],["spawn",1,null,[["wait",6,2.0]]],["wait",5,1.0],["join",[1]],["release",0]]"#,
        );
        // Holds that overlap stay where they are; the calls in them move alone.
        check(
            r#"[["acquire",0],["wait",5,1.0],["acquire",1],["release",0],["wait",6,2.0],["release",1]]"#,
            r#"[["acquire",0],["spawn",1,null,[["wait",6,2.0]]],["wait",5,1.0],["join",[1]],["acquire",1],["release",0],
                ["release",1]]"#,
        );
    }

    #[test]
    fn calls_inside_of_a_task_overlap_there() {
        check(
            r#"[["spawn",1,2,[["wait",5,1.0],["wait",6,2.0]]],["join",[1]]]"#,
            r#"[["spawn",1,2,[["spawn",2,null,[["wait",6,2.0]]],["wait",5,1.0],["join",[2]]]],["join",[1]]]"#,
        );
    }
}
