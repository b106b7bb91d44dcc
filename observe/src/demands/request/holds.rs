//! Times at which objects were held, by any thread. What one thread takes, another one may give back: a semaphore
//! whose permit ends with an answer, a connection that its request hands on.

use std::collections::HashMap;

use super::places::{Places, Role};
use super::timeline::Timeline;

/// Share of what is taken from which on the same thread gives it back, so that anything else is noise.
const SAME_THREAD: f64 = 0.9;

/// Times at which an object was held: begin, end, the thread that took it.
pub type Hold = (u64, u64, usize);

/// Times at which objects were held.
#[derive(Debug, Default)]
pub struct Holds {
    by_object: HashMap<u32, Vec<Hold>>,
    /// Ends of holds that another thread ends, by object, thread and begin.
    handed_over: HashMap<(u32, usize, u64), u64>,
    /// Units that are taken at once, and how often some are: objects of which several may be taken.
    weights: HashMap<u32, (u64, u64)>,
}

/// Change of an object: time, thread, and whether it is taken.
type Change = (u64, usize, bool);

impl Holds {
    pub fn of(timelines: &[Timeline], places: &Places) -> Holds {
        let mut changes: HashMap<u32, Vec<Change>> = HashMap::new();
        let (mut monitors, mut weights) = (HashMap::new(), HashMap::<u32, (u64, u64)>::new());
        for (thread, timeline) in timelines.iter().enumerate() {
            let mut weight = None;
            for event in &timeline.events {
                let is_taken = match places.role(event) {
                    Some(Role::Acquired | Role::Shared | Role::Regained) => {
                        if let Some(weight) = weight.take() {
                            let (sum, times) = weights.entry(event.object).or_default();
                            *sum += u64::from(weight);
                            *times += 1;
                        }
                        true
                    }
                    role @ Some(Role::Weight | Role::Failed) => {
                        weight = Some(event.object).filter(|_| role == Some(Role::Weight));
                        continue;
                    }
                    Some(Role::Entered) => {
                        monitors.insert(event.object, true);
                        true
                    }
                    Some(Role::Released) => false,
                    _ => continue,
                };
                changes.entry(event.object).or_default().push((event.at_ns as u64, thread, is_taken));
            }
        }
        let mut holds = Holds { weights, ..Holds::default() };
        for (object, mut changes) in changes {
            changes.sort_by_key(|(at, ..)| *at);
            let may_hand_over =
                !monitors.contains_key(&object) && places.object(object).is_some_and(|it| can_hand_over(&it.class));
            holds.add(object, &changes, may_hand_over);
        }
        holds
    }

    fn add(&mut self, object: u32, changes: &[Change], may_hand_over: bool) {
        let own = by_thread(changes, !may_hand_over);
        let taken = changes.iter().filter(|(.., is_taken)| *is_taken).count();
        let of = if may_hand_over && (own.len() as f64) < taken as f64 * SAME_THREAD {
            let all = in_order(changes);
            for (begin, end, thread, by) in &all {
                if thread != by {
                    self.handed_over.insert((object, *thread, *begin), *end);
                }
            }
            all.into_iter().map(|(begin, end, thread, _)| (begin, end, thread)).collect()
        } else {
            own
        };
        if !of.is_empty() {
            let all = self.by_object.entry(object).or_default();
            *all = of;
            all.sort_unstable();
        }
    }

    /// Returns the times at which an object was held, by begin.
    pub fn get(&self, object: u32) -> &[Hold] {
        self.by_object.get(&object).map_or(&[], Vec::as_slice)
    }

    /// Returns the mean number of units that are taken at once.
    pub fn weight(&self, object: u32) -> f64 {
        self.weights.get(&object).map_or(1.0, |(sum, times)| *sum as f64 / *times as f64).max(1.0)
    }

    /// Returns the end of a hold that another thread ends.
    pub fn end_elsewhere(&self, object: u32, thread: usize, begin_ns: u64) -> Option<u64> {
        self.handed_over.get(&(object, thread, begin_ns)).copied()
    }
}

/// Returns true for a class whose objects another thread may give back than the one that took it. An item of a queue
/// that another thread puts is work, not a unit of a pool.
fn can_hand_over(class: &str) -> bool {
    let class = class.strip_prefix("java.util.concurrent.").unwrap_or(class);
    !class.starts_with("locks.Reentrant")
        && !class.contains("BlockingQueue")
        && !class.contains("BlockingDeque")
        && class != "LinkedTransferQueue"
}

/// Returns holds that the thread itself ends.
///
/// @param is_reentrant true if a hold within another one of the same thread is no second one
fn by_thread(changes: &[Change], is_reentrant: bool) -> Vec<Hold> {
    let mut of_threads: HashMap<usize, Vec<(u64, bool)>> = HashMap::new();
    for (at, thread, is_taken) in changes {
        of_threads.entry(*thread).or_default().push((*at, *is_taken));
    }
    let of_thread = |(thread, changes): (usize, Vec<(u64, bool)>)| {
        ends(&changes, is_reentrant).into_iter().map(move |(begin, end)| (begin, end, thread))
    };
    of_threads.into_iter().flat_map(of_thread).collect()
}

/// Returns begins and ends of the holds of one thread.
///
/// Some ends are never seen: while a measurement begins, methods that take an object are changed before the methods
/// that give it back. Such a hold is around no other one, or a lock would never be free again.
fn ends(changes: &[(u64, bool)], is_reentrant: bool) -> Vec<(u64, u64)> {
    let mut depth = 0;
    let depths = changes.iter().map(|(_, is_taken)| {
        depth = if *is_taken { depth + 1 } else { std::cmp::max(depth, 1) - 1 };
        depth
    });
    // The least depth from each change on: holds below it never end.
    let mut least: Vec<usize> = depths.collect();
    for at in (1..least.len()).rev() {
        least[at - 1] = least[at - 1].min(least[at]);
    }
    let (mut open, mut holds) = (Vec::new(), Vec::new());
    for (at, (time, is_taken)) in changes.iter().enumerate() {
        if *is_taken {
            open.push(at);
        } else if let Some(begin) = open.pop()
            && (!is_reentrant || least[begin] == open.len())
        {
            holds.push((changes[begin].0, *time));
        }
    }
    holds
}

/// Returns holds with the thread that ends each: its own one, or else the oldest.
fn in_order(changes: &[Change]) -> Vec<(u64, u64, usize, usize)> {
    let mut open: Vec<(u64, usize)> = Vec::new();
    let mut holds = Vec::new();
    for (at, thread, is_taken) in changes {
        if *is_taken {
            open.push((*at, *thread));
            continue;
        }
        let own = open.iter().rposition(|(_, by)| by == thread);
        if let Some(from) = own.or(if open.is_empty() { None } else { Some(0) }) {
            let (begin, by) = open.remove(from);
            holds.push((begin, *at, by, *thread));
        }
    }
    holds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_end_where_they_are_given_back() {
        // Thread 0 takes what thread 1 gives back.
        let changes = [(10, 0, true), (20, 0, true), (30, 1, false), (40, 1, false), (50, 1, false)];
        let mut holds = Holds::default();
        holds.add(7, &changes, true);
        assert_eq!(holds.get(7), [(10, 30, 0), (20, 40, 0)]);
        assert_eq!((holds.end_elsewhere(7, 0, 20), holds.end_elsewhere(7, 0, 21)), (Some(40), None));
        holds.add(8, &changes, false);
        assert!(holds.get(8).is_empty());
        // Nested holds of one thread, and a stray end.
        let changes = [(5, 1, false), (10, 0, true), (20, 0, true), (30, 0, false), (40, 0, false)];
        holds.add(9, &changes, true);
        assert_eq!(holds.get(9), [(10, 40, 0), (20, 30, 0)]);
        assert_eq!(holds.end_elsewhere(9, 0, 10), None);
    }

    #[test]
    fn ends_that_are_never_seen() {
        let of_one = |text: &str| -> Vec<(u64, bool)> {
            text.split_whitespace().zip(1..).map(|(word, at)| (at, word == "take")).collect()
        };
        let once = of_one("take take give take give");
        assert_eq!(ends(&once, true), [(2, 3), (4, 5)]);
        // The end of the second one is missing; the last one goes on after the measurement.
        let amid = of_one("take give take take take give give take give take");
        assert_eq!(ends(&amid, true), [(1, 2), (4, 7), (8, 9)]);
        assert_eq!(ends(&of_one("give take take give give give"), true), [(2, 5)]);
        assert_eq!(ends(&of_one("take take give give"), false), [(2, 3), (1, 4)]);
    }

    #[test]
    fn classes_that_hand_over() {
        for (class, expected) in [
            ("java.util.concurrent.Semaphore", true),
            ("com.zaxxer.hikari.pool.HikariPool", true),
            ("java.util.concurrent.locks.ReentrantLock", false),
            ("java.util.concurrent.LinkedBlockingQueue", false),
        ] {
            assert_eq!(can_hand_over(class), expected, "{class}");
        }
    }
}
