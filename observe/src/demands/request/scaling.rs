//! Change of a request's processor time with the number of processors that work beside it.
//!
//! Idle processors must be woken, and their caches are cold; busy ones share caches, memory and often a core. So the
//! same request needs another time under load. Traffic varies, and with it what runs beside each request: a line
//! through these points shows the change.

use serde_json::{Value, json};

use super::work::{Span, Work};
use crate::demands::evidence::Evidence;

/// Requests from which on a line is drawn.
const REQUESTS_MIN: usize = 100;
/// Spread of the processors that work, below which the points say nothing.
const SPREAD_MIN: f64 = 0.05;

/// Threads of the process that run, over time.
struct Running {
    /// Times, and the integral of running threads up to each, and the number from each on.
    steps: Vec<(u64, f64, i64)>,
}

impl Running {
    fn of(intervals: impl Iterator<Item = (u64, u64)>) -> Running {
        let mut edges: Vec<(u64, i64)> = intervals.flat_map(|(from, to)| [(from, 1), (to, -1)]).collect();
        edges.sort_unstable();
        let (mut steps, mut at, mut sum, mut now) = (Vec::with_capacity(edges.len()), 0, 0.0, 0);
        for (time, change) in edges {
            sum += (time - at) as f64 * now as f64;
            (at, now) = (time, now + change);
            steps.push((at, sum, now));
        }
        Running { steps }
    }

    fn integral(&self, to: u64) -> f64 {
        let after = self.steps.partition_point(|(time, ..)| *time <= to);
        after.checked_sub(1).map_or(0.0, |last| {
            let (time, sum, now) = self.steps[last];
            sum + (to - time) as f64 * now as f64
        })
    }
}

/// Returns the times of a span in which its thread was on a processor.
fn on_processor(span: &Span, evidence: &Evidence) -> Vec<(u64, u64)> {
    let mut at = span.begin_ns;
    let mut found = Vec::new();
    for sleep in evidence.timelines[span.thread].sleeps_within(span.begin_ns, span.end_ns) {
        if sleep.off_ns > at {
            found.push((at, sleep.off_ns.min(span.end_ns)));
        }
        at = at.max(sleep.on_ns);
    }
    if at < span.end_ns {
        found.push((at, span.end_ns));
    }
    found
}

/// Returns the relative change for each further processor that works, with its standard error; null without enough
/// requests.
pub fn scaling(requests: &[Span], work: &Work, evidence: &Evidence) -> Value {
    let all = work.requests.iter().chain(work.tasks.values().flatten());
    let running = Running::of(all.flat_map(|span| on_processor(span, evidence)));
    let points: Vec<(f64, f64)> = requests
        .iter()
        .filter_map(|span| {
            let own = on_processor(span, evidence);
            let ns: f64 = own.iter().map(|(from, to)| (to - from) as f64).sum();
            let beside: f64 =
                own.iter().map(|(from, to)| running.integral(*to) - running.integral(*from)).sum::<f64>() - ns;
            (ns > 0.0).then(|| (beside / ns, ns.ln()))
        })
        .collect();
    line(&points).map_or(Value::Null, |(slope, se)| json!({"per_busy": slope, "se": se}))
}

/// Returns the slope of a least-squares line, and its standard error.
fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    if points.len() < REQUESTS_MIN {
        return None;
    }
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let sxx: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let sxy: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    if (sxx / n).sqrt() < SPREAD_MIN {
        return None;
    }
    let slope = sxy / sxx;
    let rest: f64 = points.iter().map(|point| (point.1 - y - slope * (point.0 - x)).powi(2)).sum();
    Some((slope, (rest / (n - 2.0) / sxx).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_run() {
        let running = Running::of([(0, 10), (5, 10), (20, 30)].into_iter());
        assert_eq!([0, 5, 10, 15, 25].map(|at| running.integral(at)), [0.0, 5.0, 15.0, 15.0, 20.0]);
    }

    #[test]
    fn slopes_with_errors() {
        let points: Vec<(f64, f64)> = (0..200).map(|i| (f64::from(i % 3), 1.0 - 0.1 * f64::from(i % 3))).collect();
        let (slope, se) = line(&points).unwrap();
        assert!((slope + 0.1).abs() < 1e-9 && se < 1e-6);
        assert!(line(&points[..50]).is_none());
        assert!(line(&vec![(1.0, 1.0); 200]).is_none());
    }
}
