//! Requests under way over the time, and how fast they ended at each number of them.

use std::collections::BTreeMap;

use super::requests::Request;

/// Requests under way over the time.
pub struct UnderWay {
    /// Time, and requests under way from it on.
    changes: Vec<(u64, usize)>,
    /// Seconds and departures by requests under way.
    by_number: BTreeMap<usize, (f64, u64)>,
}

impl UnderWay {
    pub fn of(requests: &[Request], from: u64, to: u64) -> UnderWay {
        let mut edges: Vec<(u64, bool)> = Vec::with_capacity(requests.len() * 2);
        for request in requests {
            edges.push((request.begin_ns, true));
            edges.push((request.end_ns, false));
        }
        edges.sort_unstable();
        let mut under_way = UnderWay { changes: vec![(0, 0)], by_number: BTreeMap::new() };
        let (mut now, mut at) = (0_usize, from);
        for (time, is_begin) in edges {
            if time > from && time <= to {
                let entry = under_way.by_number.entry(now).or_default();
                entry.0 += time.saturating_sub(at) as f64 / 1e9;
                entry.1 += u64::from(!is_begin);
                at = time;
            }
            now = if is_begin { now + 1 } else { now.saturating_sub(1) };
            under_way.changes.push((time, now));
        }
        under_way
    }

    pub fn at(&self, time: u64) -> usize {
        let after = self.changes.partition_point(|(at, _)| *at <= time);
        after.checked_sub(1).map_or(0, |last| self.changes[last].1)
    }

    /// Returns each number of requests under way with the seconds in it, and the requests that ended then.
    pub fn by_number(&self) -> impl Iterator<Item = (usize, f64, u64)> {
        self.by_number.iter().map(|(n, (seconds, departures))| (*n, *seconds, *departures))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demands::request::timeline::Span;

    #[test]
    fn requests_under_way() {
        let span = |begin_ns, end_ns| Request::on_one_thread(Span { thread: 0, begin_ns, end_ns, pool: None }, None);
        let under_way = UnderWay::of(&[span(0, 4_000_000_000), span(1_000_000_000, 3_000_000_000)], 0, 10_000_000_000);
        assert_eq!((under_way.at(500_000_000), under_way.at(2_000_000_000), under_way.at(5_000_000_000)), (1, 2, 0));
        assert_eq!(under_way.by_number[&1], (2.0, 1));
        assert_eq!(under_way.by_number[&2], (2.0, 1));
    }
}
