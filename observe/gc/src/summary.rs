//! Summary of a log: shares, percentiles, utilization, rates, and the live set.

use crate::model::event::{Event, Kind, Space};
use crate::model::heap::HeapSample;
use crate::model::log::{Log, Safepoints, Sum};
use crate::read::is_collection;

/// Windows of the minimum mutator utilization, in milliseconds.
pub const WINDOWS_MS: [f64; 3] = [50.0, 200.0, 1000.0];
/// Windows of time, each with its smallest heap, from which growth is computed.
const GROWTH_WINDOWS: usize = 20;
/// Fewest windows that show growth.
const GROWTH_WINDOWS_MIN: usize = 8;
/// Agreement of pairs of windows, Kendall's tau, from which on a heap grows.
const TAU_MIN: f64 = 0.7;
/// Shortest log in seconds that shows growth: in a shorter one a program is starting.
const GROWTH_SECONDS_MIN: f64 = 60.0;
/// Part of the time that is left out as warm-up.
const WARM_UP: f64 = 0.2;

/// Size of the objects in use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiveSet {
    pub bytes: u64,
    /// Collections of the whole heap measured it; otherwise it is an upper bound.
    pub is_exact: bool,
}

/// Summary of a log.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Seconds that the log covers; 0 if its lines have no times.
    pub seconds: f64,
    pub pauses: Sum,
    /// Pauses by cause, the most expensive first.
    pub causes: Vec<(String, Sum)>,
    /// Pauses by kind, the most expensive first.
    pub kinds: Vec<(Kind, Sum)>,
    /// Percentiles 50, 90 and 99 of the pauses, in milliseconds.
    pub percentiles_ms: [f64; 3],
    /// Smallest share of a window that is left to the program, for each of [`WINDOWS_MS`].
    pub utilization: [Option<f64>; 3],
    /// Bytes that the program allocates a second.
    pub allocation: Option<f64>,
    /// Bytes that move to the old generation a second.
    pub promotion: Option<f64>,
    /// Mean bytes that survive a young collection.
    pub survivors: Option<f64>,
    /// Largest size that the heap may have or had.
    pub heap_max: u64,
    pub live: Option<LiveSet>,
    /// Bytes by which the live set grows a second, if it does.
    pub growth: Option<f64>,
    /// Largest use of the metaspace.
    pub metaspace: u64,
    pub stalls: Sum,
    /// Stops by operation, the most expensive first; true for collections.
    pub stops: Vec<(String, bool, Safepoints)>,
    /// Processor time of all pauses that name it, in seconds: user, system, and their duration.
    pub cpu: [f64; 3],
}

impl Summary {
    pub fn of(log: &Log) -> Summary {
        let seconds = if log.has_time() { log.seconds() } else { 0.0 };
        let mut causes: Vec<(String, Sum)> = log.causes.0.clone();
        causes.sort_by(|a, b| b.1.total_ms.total_cmp(&a.1.total_ms));
        let mut kinds: Vec<(Kind, Sum)> =
            Kind::ALL.iter().map(|kind| (*kind, log.of(*kind))).filter(|(_, sum)| sum.count > 0).collect();
        kinds.sort_by(|a, b| b.1.total_ms.total_cmp(&a.1.total_ms));
        let mut stops: Vec<_> =
            log.safepoints.0.iter().map(|(name, stops)| (name.clone(), is_collection(name), *stops)).collect();
        stops.sort_by(|a, b| b.2.total.total_ms.total_cmp(&a.2.total.total_ms));
        let sampled = sampled_seconds(log);
        let rate = |bytes: u64| sampled.filter(|_| bytes > 0).map(|seconds| bytes as f64 / seconds);
        let heap_seen = log.heap.samples.iter().map(|sample| sample.total.max(sample.before)).max().unwrap_or(0);
        let metaspace = log.events.iter().map(|event| event.space(Space::Metaspace).before).max().unwrap_or(0);
        let survivors =
            (log.heap.survivor_counts > 0).then(|| log.heap.survived as f64 / log.heap.survivor_counts.max(1) as f64);
        Summary {
            seconds,
            pauses: log.pauses(),
            causes,
            kinds,
            percentiles_ms: percentiles(&log.events),
            utilization: utilization(&log.events, seconds),
            allocation: rate(log.heap.allocated),
            promotion: rate(log.heap.promoted),
            survivors,
            heap_max: if log.settings.heap_max > 0 { log.settings.heap_max } else { heap_seen },
            live: live_set(&log.heap.samples),
            growth: if log.runs() == 1 { growth(&log.heap.samples) } else { None },
            metaspace,
            stalls: sum(log.stalls.0.iter().map(|(_, stalls)| *stalls)),
            stops,
            cpu: cpu(&log.events),
        }
    }

    /// Returns the share of the time that some milliseconds are; 0 for logs without times.
    pub fn share(&self, ms: f64) -> f64 {
        if self.seconds > 0.0 { (ms / 1000.0 / self.seconds).min(1.0) } else { 0.0 }
    }

    /// Returns the share of the time that pauses take.
    pub fn pause_share(&self) -> f64 {
        self.share(self.pauses.total_ms)
    }

    /// Returns the pauses of a kind.
    pub fn of_kind(&self, kind: Kind) -> Sum {
        self.kinds.iter().find(|(known, _)| *known == kind).map_or_else(Sum::default, |(_, sum)| *sum)
    }

    /// Returns the pauses with a cause.
    pub fn of_cause(&self, cause: &str) -> Sum {
        sum(self.causes.iter().filter(|(known, _)| known == cause).map(|(_, sum)| *sum))
    }

    /// Returns stops for other operations than collections.
    pub fn other_stops(&self) -> Sum {
        sum(self.stops.iter().filter(|(_, is_collection, _)| !is_collection).map(|(_, _, stops)| stops.total))
    }

    /// Returns the waits until the last thread stopped, of all stops.
    pub fn reaching(&self) -> Sum {
        sum(self.stops.iter().map(|(_, _, stops)| stops.reaching))
    }
}

fn sum(sums: impl Iterator<Item = Sum>) -> Sum {
    sums.fold(Sum::default(), |all, one| Sum {
        count: all.count + one.count,
        total_ms: all.total_ms + one.total_ms,
        max_ms: all.max_ms.max(one.max_ms),
    })
}

/// Returns the seconds between the first and the last collection.
fn sampled_seconds(log: &Log) -> Option<f64> {
    let (first, last) = (log.heap.samples.first()?, log.heap.samples.last()?);
    Some(last.time_s - first.time_s).filter(|seconds| *seconds > 0.0 && log.has_time())
}

fn percentiles(events: &[Event]) -> [f64; 3] {
    let mut pauses: Vec<f64> = events.iter().map(|event| event.pause_ms).collect();
    [0.5, 0.9, 0.99].map(|part| {
        let rank = (part * pauses.len() as f64).ceil() as usize;
        let at = rank.max(1) - 1;
        if at < pauses.len() { *pauses.select_nth_unstable_by(at, f64::total_cmp).1 } else { 0.0 }
    })
}

/// Returns the smallest share of each window that is left to the program.
///
/// A worst window begins where a pause begins, or ends where one ends (Cheng, Blelloch: A Parallel, Real-Time Garbage
/// Collector, 2001).
fn utilization(events: &[Event], seconds: f64) -> [Option<f64>; 3] {
    let mut pauses: Vec<(f64, f64)> = events.iter().map(|event| (event.start_s, event.pause_ms / 1000.0)).collect();
    pauses.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut paused = Vec::with_capacity(pauses.len() + 1);
    let mut total = 0.0;
    for (_, pause) in &pauses {
        paused.push(total);
        total += pause;
    }
    paused.push(total);
    // Seconds of pauses before a time. `count`: pauses that began before the last time, which is near.
    let until = |time: f64, count: &mut usize| {
        while *count > 0 && pauses[*count - 1].0 > time {
            *count -= 1;
        }
        while pauses.get(*count).is_some_and(|(start, _)| *start <= time) {
            *count += 1;
        }
        let Some((start, pause)) = count.checked_sub(1).and_then(|at| pauses.get(at)) else { return 0.0 };
        paused[*count - 1] + pause.min(time - start)
    };
    WINDOWS_MS.map(|window_ms| {
        let window = window_ms / 1000.0;
        if seconds < window {
            return None;
        }
        let mut counts = [0; 4];
        let mut between = |from: f64, to: f64, at: usize| until(to, &mut counts[at + 1]) - until(from, &mut counts[at]);
        let worst = pauses.iter().fold(0.0f64, |worst, (start, pause)| {
            let end = start + pause;
            worst.max(between(*start, start + window, 0)).max(between(end - window, end, 2))
        });
        Some((1.0 - worst / window).clamp(0.0, 1.0))
    })
}

/// Returns the smallest heap after the collections of the last third of the log.
fn live_set(samples: &[HeapSample]) -> Option<LiveSet> {
    let is_exact = samples.iter().any(|sample| sample.is_whole);
    let (first, last) = (samples.first()?.time_s, samples.last()?.time_s);
    let whole = || samples.iter().filter(move |sample| sample.is_whole == is_exact);
    let from = first + (last - first) * 2.0 / 3.0;
    let smallest = whole().filter(|sample| sample.time_s >= from).map(|sample| sample.live).min();
    // No collection of the whole heap fell into it.
    let bytes = smallest.or_else(|| whole().next_back().map(|sample| sample.live))?;
    Some(LiveSet { bytes, is_exact })
}

/// Returns the growth of the live set in bytes a second, if most pairs of windows agree that it grows.
///
/// The slope is the median of all pairs (Theil, Sen), which a few windows cannot move.
fn growth(samples: &[HeapSample]) -> Option<f64> {
    let whole = samples.iter().filter(|sample| sample.is_whole);
    let only_whole = whole.count() >= GROWTH_WINDOWS_MIN;
    let (first, last) = (samples.first()?.time_s, samples.last()?.time_s);
    let from = first + (last - first) * WARM_UP;
    let width = (last - from) / GROWTH_WINDOWS as f64;
    if width <= 0.0 || last - first < GROWTH_SECONDS_MIN {
        return None;
    }
    let mut smallest: [Option<(f64, f64)>; GROWTH_WINDOWS] = [None; GROWTH_WINDOWS];
    for sample in samples.iter().filter(|s| s.time_s >= from && (s.is_whole || !only_whole)) {
        let window = ((sample.time_s - from) / width) as usize;
        let smallest = &mut smallest[window.min(GROWTH_WINDOWS - 1)];
        if smallest.is_none_or(|(_, bytes)| bytes > sample.live as f64) {
            *smallest = Some((sample.time_s, sample.live as f64));
        }
    }
    let points: Vec<(f64, f64)> = smallest.into_iter().flatten().collect();
    if points.len() < GROWTH_WINDOWS_MIN {
        return None;
    }
    let mut slopes = Vec::new();
    for (n, a) in points.iter().enumerate() {
        slopes.extend(points[n + 1..].iter().filter(|b| b.0 > a.0).map(|b| (b.1 - a.1) / (b.0 - a.0)));
    }
    slopes.sort_by(f64::total_cmp);
    let rising = slopes.iter().filter(|slope| **slope > 0.0).count() as f64;
    let falling = slopes.iter().filter(|slope| **slope < 0.0).count() as f64;
    let slope = *slopes.get(slopes.len() / 2)?;
    ((rising - falling) / slopes.len() as f64 >= TAU_MIN && slope > 0.0).then_some(slope)
}

fn cpu(events: &[Event]) -> [f64; 3] {
    events.iter().filter_map(|event| event.cpu).fold([0.0; 3], |[user, sys, real], cpu| {
        [user + f64::from(cpu.user), sys + f64::from(cpu.sys), real + f64::from(cpu.real)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::log::blank;

    fn pause(start_s: f64, pause_ms: f64) -> Event {
        let mut event = blank();
        (event.start_s, event.pause_ms) = (start_s, pause_ms);
        event
    }

    fn sample(time_s: f64, after: u64) -> HeapSample {
        HeapSample { time_s, before: after + 50, after, live: after, total: 1000, is_whole: false }
    }

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let events: Vec<Event> = (1..=100).map(|ms| pause(0.0, f64::from(ms))).collect();
        assert_eq!(percentiles(&events), [50.0, 90.0, 99.0]);
        assert_eq!(percentiles(&[]), [0.0; 3]);
        assert_eq!(percentiles(&[pause(0.0, 7.0)]), [7.0; 3]);
    }

    #[test]
    fn utilization_sees_pauses_close_together() {
        // 20 ms at 1.00 s and 20 ms at 1.03 s: a window of 50 ms holds both.
        let [short, middle, long] = utilization(&[pause(1.0, 20.0), pause(1.03, 20.0)], 10.0).map(Option::unwrap);
        assert!((short - 0.2).abs() < 1e-9 && (middle - 0.8).abs() < 1e-9 && (long - 0.96).abs() < 1e-9);
        assert_eq!(utilization(&[pause(1.0, 70.0)], 10.0)[0], Some(0.0));
        assert_eq!(utilization(&[], 0.1), [Some(1.0), None, None]);
    }

    #[test]
    fn growth_needs_agreement() {
        let rising: Vec<HeapSample> = (0..100).map(|n| sample(f64::from(n), 100 + 3 * n as u64)).collect();
        assert!((growth(&rising).unwrap() - 3.0).abs() < 0.01);
        let flat: Vec<HeapSample> = (0..100).map(|n| sample(f64::from(n), 100 + (n * 7919 % 50) as u64)).collect();
        assert_eq!(growth(&flat), None);
        assert_eq!(growth(&rising[..5]), None);
        assert_eq!(live_set(&rising), Some(LiveSet { bytes: 100 + 3 * 66, is_exact: false }));
    }
}
