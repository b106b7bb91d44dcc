//! Requests, and the threshold from which on they are slow.

use std::rc::Rc;
use std::time::Duration;

/// A request on one thread, from begin to end.
#[derive(Clone, Debug)]
pub struct Request {
    pub tid: u32,
    pub thread: Rc<str>,
    /// Nanoseconds of CLOCK_MONOTONIC.
    pub begin_ns: u64,
    pub end_ns: u64,
}

impl Request {
    pub fn duration_ns(&self) -> u64 {
        self.end_ns - self.begin_ns
    }
}

/// Returns the requests that are not within another one of their thread, by begin. A method that calls itself or its
/// superclass's method makes nested ones.
pub fn outermost(mut all: Vec<Request>) -> Vec<Request> {
    all.sort_by_key(|request| (request.tid, request.begin_ns, std::cmp::Reverse(request.end_ns)));
    let mut kept: Vec<Request> = Vec::new();
    for request in all {
        let is_within = kept.last().is_some_and(|last| last.tid == request.tid && request.begin_ns < last.end_ns);
        if !is_within && request.begin_ns <= request.end_ns {
            kept.push(request);
        }
    }
    kept.sort_by_key(|request| request.begin_ns);
    kept
}

/// Returns the nanoseconds from which on a request is slow: `over`, or the threshold of the slowest hundredth, at
/// least one request.
pub fn slow_from(requests: &[Request], over: Option<Duration>) -> u64 {
    match over {
        Some(over) => u64::try_from(over.as_nanos()).unwrap_or(u64::MAX),
        None => {
            let durations = sorted_durations(requests.iter());
            let slowest = durations.len().div_ceil(100);
            let from = durations.len().checked_sub(slowest).and_then(|at| durations.get(at)).copied().unwrap_or(0);
            // If many take the same time, only longer ones are slow, if there are any.
            let equal_or_slower = durations.len() - durations.partition_point(|ns| *ns < from);
            let is_last = durations.last().is_none_or(|last| *last == from);
            if equal_or_slower > 2 * slowest && !is_last { from + 1 } else { from }
        }
    }
}

pub fn sorted_durations<'a>(requests: impl Iterator<Item = &'a Request>) -> Vec<u64> {
    let mut durations: Vec<u64> = requests.map(Request::duration_ns).collect();
    durations.sort_unstable();
    durations
}

/// Returns a quantile of sorted values; `None` if there are none.
///
/// @param share 0.5 for the median, 1.0 for the maximum
pub fn quantile(sorted: &[u64], share: f64) -> Option<u64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * share).round() as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(tid: u32, begin_ns: u64, end_ns: u64) -> Request {
        Request { tid, thread: "t".into(), begin_ns, end_ns }
    }

    #[test]
    fn nested_calls_are_not_requests() {
        let found = outermost(vec![
            request(1, 10, 20),
            request(1, 0, 30),
            request(2, 10, 20),
            request(1, 30, 40),
            request(1, 31, 32),
        ]);
        let times: Vec<_> = found.iter().map(|r| (r.tid, r.begin_ns, r.end_ns)).collect();
        assert_eq!(times, [(1, 0, 30), (2, 10, 20), (1, 30, 40)]);
    }

    #[test]
    fn the_slowest_hundredth() {
        let of = |n: u64| (1..=n).map(|i| request(1, i * 1000, i * 1000 + i)).collect::<Vec<_>>();
        for (n, from) in [(1, 1), (100, 100), (101, 100), (1000, 991)] {
            assert_eq!(slow_from(&of(n), None), from, "{n}");
        }
        assert_eq!(slow_from(&[], None), 0);
        let mut coarse: Vec<_> = (0..100).map(|_| request(1, 0, 7)).collect();
        assert_eq!(slow_from(&coarse, None), 7);
        coarse.push(request(1, 0, 9));
        assert_eq!(slow_from(&coarse, None), 8);
        assert_eq!(slow_from(&of(10), Some(Duration::from_nanos(4))), 4);
    }

    #[test]
    fn quantiles() {
        assert_eq!(
            (quantile(&[1, 2, 3], 0.5), quantile(&[1, 2, 3], 1.0), quantile(&[], 0.5)),
            (Some(2), Some(3), None)
        );
    }
}
