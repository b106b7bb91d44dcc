//! Rows and time of each operator of a plan that runs.
//!
//! Rows are pushed through a pipeline, so that the time of an operator's consumers lies within its own call. A step
//! behind each operator measures the time below it, and the difference is the operator's:
//!
//! ```text
//!   own time = loops over its source + ends of its sink + time below its inputs - time below itself
//! ```
//!
//! Times are those of all threads together.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The operators of a plan that runs.
#[derive(Debug, Default)]
pub struct Meter(Mutex<Vec<Operator>>);

#[derive(Debug)]
struct Operator {
    /// Number of the operator that takes its rows.
    above: Option<usize>,
    title: String,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
pub struct Counts {
    rows: AtomicU64,
    /// Nanoseconds in loops over its source, with all that rows pass; in the ends of its sink; and below it.
    loops: AtomicU64,
    ends: AtomicU64,
    below: AtomicU64,
}

/// Place in a plan: the operator for which work is done.
#[derive(Clone, Debug)]
pub struct Under {
    meter: Arc<Meter>,
    number: Option<usize>,
    counts: Arc<Counts>,
}

/// One operator as it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Operators between it and the result.
    pub depth: usize,
    pub title: String,
    pub rows: u64,
    /// Time of all threads together.
    pub time: Duration,
}

impl Under {
    /// Returns the place above all operators.
    pub fn top(meter: &Arc<Meter>) -> Under {
        Under { meter: meter.clone(), number: None, counts: Arc::default() }
    }

    /// Adds an operator whose rows go to this place.
    pub fn add(&self, title: String) -> Under {
        let counts = Arc::<Counts>::default();
        let mut all = self.meter.0.lock().unwrap_or_else(|e| e.into_inner());
        all.push(Operator { above: self.number, title, counts: counts.clone() });
        Under { meter: self.meter.clone(), number: Some(all.len() - 1), counts }
    }

    pub fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }
}

impl Counts {
    pub fn add_rows(&self, rows: u64, below: Duration) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.below.fetch_add(below.as_nanos() as u64, Ordering::Relaxed);
    }

    pub fn add_loop(&self, since: Instant) {
        add(&self.loops, since);
    }

    pub fn add_end(&self, since: Instant) {
        add(&self.ends, since);
    }
}

fn add(to: &AtomicU64, since: Instant) {
    to.fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
}

impl Meter {
    /// Returns all operators: each in front of those whose rows it took.
    pub fn measured(&self) -> Vec<Measured> {
        let all = self.0.lock().unwrap_or_else(|e| e.into_inner());
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let mut inputs = vec![Vec::new(); all.len()];
        for (n, operator) in all.iter().enumerate() {
            if let Some(above) = operator.above {
                inputs[above].push(n);
            }
        }
        let mut waiting: Vec<(usize, usize)> =
            (0..all.len()).rev().filter(|&n| all[n].above.is_none()).map(|n| (n, 0)).collect();
        let mut found = Vec::new();
        while let Some((n, depth)) = waiting.pop() {
            let Operator { title, counts, .. } = &all[n];
            let given: u64 = inputs[n].iter().map(|&input| of(&all[input].counts.below)).sum();
            let time = (of(&counts.loops) + of(&counts.ends) + given).saturating_sub(of(&counts.below));
            let time = Duration::from_nanos(time);
            found.push(Measured { depth, title: title.clone(), rows: of(&counts.rows), time });
            waiting.extend(inputs[n].iter().rev().map(|&input| (input, depth + 1)));
        }
        found
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.time.as_secs_f64() * 1e3;
        write!(f, "{:>13}  {millis:>9.1} ms  {:3$}{}", self.rows, "", self.title, 2 * self.depth)
    }
}
