//! Change of a request's processor time with what happens beside it: processors that work, and requests under way.
//!
//! Idle processors must be woken, and their caches are cold; busy ones share caches, memory and often a core. So the
//! same request needs another time under load. Other services work more with each request under way: they walk a list
//! of all sessions, or a queue. Traffic varies, and with it what runs beside each request: a plane through these points
//! (linear regression) shows both changes.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::requests::Request;
use super::timeline::Span;
use super::work::Work;
use crate::demands::evidence::Evidence;

/// Requests from which on a line is drawn.
const REQUESTS_MIN: usize = 100;
/// Spread of the processors that work, below which the points say nothing.
const SPREAD_MIN: f64 = 0.05;

/// Standard error of a slope that the points say nothing of.
const UNKNOWN: f64 = 1.0;
/// Correlation of both numbers beside a request, squared, above which the points cannot tell their changes apart.
const ONE_LINE: f64 = 0.95;

/// Number of intervals that cover each time.
struct Covering {
    /// Times, and the integral of the number up to each, and the number from each on.
    steps: Vec<(u64, f64, i64)>,
}

impl Covering {
    fn of(intervals: impl Iterator<Item = (u64, u64)>) -> Covering {
        let mut edges: Vec<(u64, i64)> = intervals.flat_map(|(from, to)| [(from, 1), (to, -1)]).collect();
        edges.sort_unstable();
        let (mut steps, mut at, mut sum, mut now) = (Vec::with_capacity(edges.len()), 0, 0.0, 0);
        for (time, change) in edges {
            sum += (time - at) as f64 * now as f64;
            (at, now) = (time, now + change);
            steps.push((at, sum, now));
        }
        Covering { steps }
    }

    fn integral(&self, to: u64) -> f64 {
        let after = self.steps.partition_point(|(time, ..)| *time <= to);
        after.checked_sub(1).map_or(0.0, |last| {
            let (time, sum, now) = self.steps[last];
            sum + (to - time) as f64 * now as f64
        })
    }

    /// Returns the mean number over intervals that last this long in total.
    fn mean(&self, intervals: &[(u64, u64)], ns: f64) -> f64 {
        intervals.iter().map(|(from, to)| self.integral(*to) - self.integral(*from)).sum::<f64>() / ns
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

/// Returns the relative changes for each further processor that works and each further request under way, with their
/// standard errors; null without enough requests.
pub fn scaling(requests: &[&Request], work: &Work, evidence: &Evidence) -> Value {
    let parts = work.requests.iter().flat_map(|request| &request.parts);
    let all = parts.chain(work.tasks.values().flatten());
    let running = Covering::of(all.flat_map(|span| on_processor(span, evidence)));
    let under_way = Covering::of(work.requests.iter().map(|request| (request.begin_ns, request.end_ns)));
    let mut points = Vec::new();
    let mut kinds = Vec::new();
    for request in requests {
        let own: Vec<(u64, u64)> = request.parts.iter().flat_map(|span| on_processor(span, evidence)).collect();
        let ns: f64 = own.iter().map(|(from, to)| (to - from) as f64).sum();
        if ns > 0.0 {
            let beside = [running.mean(&own, ns) - 1.0, under_way.mean(&own, ns) - 1.0];
            points.push(Point { beside, log_ns: ns.ln() });
            kinds.push(request.name);
        }
    }
    compare_within_kinds(&mut points, &kinds);
    let Some(plane) = Plane::through(&points) else { return Value::Null };
    let [busy, requests] = plane.slopes;
    let busy = busy.unwrap_or(Slope { value: 0.0, error: UNKNOWN });
    let mut scaling = json!({"per_busy": busy.value, "se": busy.error});
    if let Some(Slope { value, error }) = requests {
        let at = plane.means[1] + 1.0;
        scaling["requests"] = json!({"per_request": value, "se": error, "at_requests": at});
    }
    scaling
}

/// Makes times relative to the mean of their kind: that one kind needs more than another one says nothing of load.
fn compare_within_kinds(points: &mut [Point], kinds: &[Option<u32>]) {
    let mut sums: HashMap<Option<u32>, (f64, f64)> = HashMap::new();
    for (point, kind) in points.iter().zip(kinds) {
        let (count, sum) = sums.entry(*kind).or_default();
        (*count, *sum) = (*count + 1.0, *sum + point.log_ns);
    }
    for (point, kind) in points.iter_mut().zip(kinds) {
        let (count, sum) = sums[kind];
        point.log_ns -= sum / count;
    }
}

/// Request: processors and requests beside it, and the logarithm of its processor time.
struct Point {
    beside: [f64; 2],
    log_ns: f64,
}

#[derive(Clone, Copy, Debug)]
struct Slope {
    value: f64,
    error: f64,
}

/// Plane through points by least squares.
struct Plane {
    /// Absent where the points say nothing.
    slopes: [Option<Slope>; 2],
    means: [f64; 2],
}

impl Plane {
    /// Returns nothing if no slope is known.
    fn through(points: &[Point]) -> Option<Plane> {
        if points.len() < REQUESTS_MIN {
            return None;
        }
        let n = points.len() as f64;
        let mean = |of: &dyn Fn(&Point) -> f64| points.iter().map(of).sum::<f64>() / n;
        let means = [0, 1].map(|axis| mean(&|point| point.beside[axis]));
        let level = mean(&|point| point.log_ns);
        let x = |point: &Point, axis: usize| point.beside[axis] - means[axis];
        let product = |a: usize, b: usize| mean(&|point| x(point, a) * x(point, b));
        let with_time = [0, 1].map(|axis| mean(&|point| x(point, axis) * (point.log_ns - level)));
        let (squares, mixed) = ([product(0, 0), product(1, 1)], product(0, 1));
        let [has_busy, mut has_requests] = squares.map(|square| square.sqrt() >= SPREAD_MIN);
        has_requests &= !has_busy || mixed.powi(2) <= ONE_LINE * squares[0] * squares[1];
        // Variances of the slopes, per variance of what the plane leaves open in one point.
        let (slopes, shares) = match (has_busy, has_requests) {
            (false, false) => return None,
            (true, true) => {
                let determinant = squares[0] * squares[1] - mixed.powi(2);
                let slope = |a: usize| (squares[1 - a] * with_time[a] - mixed * with_time[1 - a]) / determinant;
                ([slope(0), slope(1)], [squares[1] / determinant, squares[0] / determinant])
            }
            (true, false) => ([with_time[0] / squares[0], 0.0], [1.0 / squares[0], 0.0]),
            (false, true) => ([0.0, with_time[1] / squares[1]], [0.0, 1.0 / squares[1]]),
        };
        let rest = |point: &Point| point.log_ns - level - slopes[0] * x(point, 0) - slopes[1] * x(point, 1);
        let variance = mean(&|point| rest(point).powi(2)) * n / (n - 3.0);
        let slope = |axis: usize| Slope { value: slopes[axis], error: (variance * shares[axis] / n).sqrt() };
        Some(Plane { slopes: [has_busy.then(|| slope(0)), has_requests.then(|| slope(1))], means })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_over_time() {
        let running = Covering::of([(0, 10), (5, 10), (20, 30)].into_iter());
        assert_eq!([0, 5, 10, 15, 25].map(|at| running.integral(at)), [0.0, 5.0, 15.0, 15.0, 20.0]);
        assert_eq!(running.mean(&[(0, 5), (20, 25)], 10.0), 1.0);
    }

    fn points(count: usize, busy: f64, requests: f64) -> Vec<Point> {
        let point = |i: usize| {
            let beside = [(i % 3) as f64, (i % 3 + i % 7) as f64];
            Point { beside, log_ns: 1.0 + busy * beside[0] + requests * beside[1] }
        };
        (0..count).map(point).collect()
    }

    #[test]
    fn slopes_with_errors() {
        let plane = Plane::through(&points(210, -0.1, 0.05)).unwrap();
        let [busy, requests] = plane.slopes.map(Option::unwrap);
        assert!((busy.value + 0.1).abs() < 1e-9 && busy.error < 1e-6, "{busy:?}");
        assert!((requests.value - 0.05).abs() < 1e-9 && requests.error < 1e-6, "{requests:?}");
        assert!((plane.means[1] - 4.0).abs() < 1e-9);
        assert!(Plane::through(&points(50, -0.1, 0.05)).is_none());
    }

    #[test]
    fn slopes_that_the_points_do_not_show() {
        let mut alone = points(200, -0.1, 0.0);
        alone.iter_mut().for_each(|point| point.beside[1] = 2.0 * point.beside[0]);
        let [busy, requests] = Plane::through(&alone).unwrap().slopes;
        assert!((busy.unwrap().value + 0.1).abs() < 1e-9 && requests.is_none());
        alone.iter_mut().for_each(|point| point.beside = [1.0, 1.0]);
        assert!(Plane::through(&alone).is_none());
    }

    #[test]
    fn kinds_are_compared_with_themselves() {
        let mut mixed = points(210, -0.1, 0.05);
        let kinds: Vec<Option<u32>> = (0..210).map(|i| Some(i % 2)).collect();
        mixed.iter_mut().zip(&kinds).for_each(|(point, kind)| point.log_ns += f64::from(kind.unwrap()) * 3.0);
        compare_within_kinds(&mut mixed, &kinds);
        let slopes = Plane::through(&mixed).unwrap().slopes.map(|slope| slope.unwrap());
        assert!((slopes[0].value + 0.1).abs() < 0.01 && slopes[0].error < 0.01, "{slopes:?}");
    }

    #[test]
    fn errors_shrink_with_points() {
        let noisy = |count: usize| {
            let mut points = points(count, 0.0, 0.0);
            points.iter_mut().enumerate().for_each(|(i, point)| point.log_ns += ((i * 7919) % 101) as f64 / 500.0);
            Plane::through(&points).unwrap().slopes[1].unwrap()
        };
        let (few, many) = (noisy(200), noisy(3200));
        assert!((few.error / many.error - 4.0).abs() < 0.5, "{few:?} {many:?}");
        assert!(few.value.abs() < 3.0 * few.error && many.value.abs() < 3.0 * many.error);
    }
}
