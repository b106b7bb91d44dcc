//! Collections of the simulation: when they come, how long they stop the process, and what they promote.

use crate::demands::{Collector, Demands, Gc};

/// Collections seen below which the measured interval is no estimate of the size of Eden.
const COLLECTIONS_MIN: f64 = 5.0;
/// Pauses that a line through pauses by requests in process needs.
const PAUSES_MIN: usize = 8;
/// Milliseconds that a full collection needs for a megabyte of live objects, unless measured.
const FULL_MS_PER_MB: f64 = 0.5;
/// Passes over a live object in a full collection, against its one copy in a young one: it is marked and moved.
const FULL_PASSES: f64 = 2.0;
const FULL_MS_MIN: f64 = 5.0;
/// Share of Eden: promotions below it are long-lived objects, not memory of requests in process.
const PROMOTED_SHARE_MIN: f64 = 0.01;

/// Collector of the service, as the simulation needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Collections {
    pub allocated_bytes: f64,
    /// Bytes allocated from one collection to the next.
    pub eden_bytes: f64,
    pub pause_ms: f64,
    /// Addition to the pause for each request in process, up to `live_max` requests.
    pub pause_ms_per_live: f64,
    pub live_max: f64,
    /// Bytes that a request in process keeps alive.
    pub held_bytes: f64,
    pub survivor_bytes: f64,
    /// Promotion at each collection that does not depend on the requests in process.
    pub promoted_bytes: f64,
    /// Free bytes of the old generation. Absent: the collector frees it beside the requests.
    pub old_free_bytes: Option<f64>,
    pub full_pause_ms: Option<f64>,
    pub old_live_bytes: f64,
}

impl Collections {
    /// Returns the collections of a process; absent if it allocates nothing or its Eden is unknown.
    pub fn of(demands: &Demands) -> Option<Collections> {
        let gc = demands.gc.as_ref()?;
        let (allocated, interval) = (gc.allocated_bytes_per_request, gc.collections_per_request);
        let counted = interval * demands.requests.count as f64;
        let eden = match gc.eden_bytes {
            Some(eden) if eden > 0.0 && (counted < COLLECTIONS_MIN || interval == 0.0) => eden,
            _ if interval > 0.0 => allocated / interval,
            _ => 0.0,
        };
        if allocated <= 0.0 || eden <= 0.0 {
            return None;
        }
        let mean = gc.pause_ms_mean.unwrap_or(gc.pause_ms_per_request * eden / allocated);
        let in_process = Self::mean_in_process(demands, gc);
        let survivor = gc.survivor_bytes.unwrap_or(0.0);
        let promoted = gc.promoted_bytes_per_request * eden / allocated;
        let growing = line(&gc.pauses_by_live);
        let dumped = demands.held.as_ref().and_then(|held| held.bytes_per_request());
        let given = gc.held_bytes_per_request.or(dumped);
        let held = given.unwrap_or_else(|| held_bytes(gc, promoted, in_process, eden, growing)).min(allocated);
        let (pause_ms, pause_ms_per_live) = growing.unwrap_or((mean, 0.0));
        let (old_free, old_live) = old_after_collection(gc);
        let seen = gc.pauses_by_live.iter().map(|(n, _)| *n).fold(0.0, f64::max);
        Some(Collections {
            allocated_bytes: allocated,
            eden_bytes: eden,
            pause_ms,
            pause_ms_per_live,
            live_max: seen.max(eden / if held > 0.0 { held } else { allocated }),
            held_bytes: held,
            survivor_bytes: survivor,
            promoted_bytes: (promoted - (in_process * held - survivor).max(0.0)).max(0.0),
            old_free_bytes: old_free.filter(|free| *free > 0.0 && Collector::of(&gc.collector).stops_for_old()),
            full_pause_ms: gc.full_pause_ms_mean.filter(|pause| *pause > 0.0),
            old_live_bytes: old_live.unwrap_or(0.0),
        })
    }

    /// Returns the mean number of requests in process at a collection, or at any moment.
    pub fn mean_in_process(demands: &Demands, gc: &Gc) -> f64 {
        if !gc.pauses_by_live.is_empty() {
            return gc.pauses_by_live.iter().map(|(n, _)| *n).sum::<f64>() / gc.pauses_by_live.len() as f64;
        }
        let seconds: f64 = demands.in_process.iter().map(|(_, seconds, _)| *seconds).sum();
        if seconds > 0.0 {
            return demands.in_process.iter().map(|(n, s, _)| f64::from(*n) * s).sum::<f64>() / seconds;
        }
        demands.requests.per_second * demands.measured_ms().unwrap_or(0.0) / 1000.0
    }

    /// Returns the pause of a collection of the young generation with this many requests in process.
    pub fn young_pause_ms(&self, in_process: f64) -> f64 {
        self.pause_ms + self.pause_ms_per_live * in_process.min(self.live_max)
    }

    /// Returns the bytes that a collection of the young generation promotes.
    pub fn promoted(&self, in_process: f64) -> f64 {
        let overflow = (in_process * self.held_bytes - self.survivor_bytes).max(0.0);
        self.promoted_bytes + overflow.min(self.eden_bytes)
    }

    /// Returns the pause of a full collection.
    pub fn full_pause_ms(&self, in_process: f64) -> f64 {
        let live_mb = (self.old_live_bytes + in_process * self.held_bytes) / 1e6;
        self.full_pause_ms.unwrap_or((live_mb * self.full_ms_per_mb()).max(FULL_MS_MIN))
    }

    /// Returns the milliseconds of a full collection for a megabyte of live objects.
    fn full_ms_per_mb(&self) -> f64 {
        // Large arrays are copied faster than small objects, as the pauses show.
        match self.pause_ms_per_live {
            ms if ms > 0.0 && self.held_bytes > 0.0 => (FULL_PASSES * ms / (self.held_bytes / 1e6)).min(FULL_MS_PER_MB),
            _ => FULL_MS_PER_MB,
        }
    }
}

/// Returns free and live bytes of the old generation after it was collected.
///
/// If no collection of it was seen, what it has now is live memory and garbage, and how much of each is unknown: half.
fn old_after_collection(gc: &Gc) -> (Option<f64>, Option<f64>) {
    match (gc.old_free_bytes, gc.heap_bytes, gc.young_bytes) {
        (Some(free), Some(heap), Some(young)) if gc.full_pause_ms_mean.is_none() && heap > young => {
            let old = heap - young;
            let live = (old - free).max(0.0) / 2.0;
            (Some(old - live), Some(live))
        }
        (free, ..) => (free, gc.live_bytes_after_old),
    }
}

/// Returns the bytes that a request in process keeps alive, from what collections could not free because of it.
///
/// @param growing base and slope of pauses that grow with the requests in process
fn held_bytes(gc: &Gc, promoted: f64, in_process: f64, eden: f64, growing: Option<(f64, f64)>) -> f64 {
    let survivor = gc.survived_bytes.or(gc.survivor_bytes).unwrap_or(0.0);
    if promoted > PROMOTED_SHARE_MIN * eden && in_process > 0.0 {
        return (promoted + survivor) / in_process;
    }
    // Below the survivor space nothing is promoted, but pauses grow with the requests whose memory they copy.
    growing.map_or(0.0, |(base, slope)| survivor * slope / (base + slope * in_process).max(f64::MIN_POSITIVE))
}

/// Returns base and slope of a line through pauses, if the slope is clearly positive.
fn line(pauses: &[(f64, f64)]) -> Option<(f64, f64)> {
    if pauses.len() < PAUSES_MIN {
        return None;
    }
    let count = pauses.len() as f64;
    let (x, y) = (pauses.iter().map(|p| p.0).sum::<f64>() / count, pauses.iter().map(|p| p.1).sum::<f64>() / count);
    let xx: f64 = pauses.iter().map(|p| (p.0 - x).powi(2)).sum();
    if xx <= 0.0 {
        return None;
    }
    let slope = pauses.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / xx;
    let rest: f64 = pauses.iter().map(|p| (p.1 - y - slope * (p.0 - x)).powi(2)).sum();
    let error = (rest / (count - 2.0) / xx).sqrt();
    if slope <= 2.0 * error {
        return None;
    }
    // A base below zero is an artefact of the line: pauses then grow in proportion.
    let base = y - slope * x;
    Some(if base < 0.0 { (0.0, y / x) } else { (base, slope) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_a_line_only_where_pauses_grow() {
        let growing: Vec<_> = (1..20).map(|n| (f64::from(n), 5.0 + 2.0 * f64::from(n))).collect();
        let (base, slope) = line(&growing).unwrap();
        assert!((base - 5.0).abs() < 1e-9 && (slope - 2.0).abs() < 1e-9);
        assert_eq!(line(&growing[..7]), None);
        let noise: Vec<_> = (1..20).map(|n| (f64::from(n), 5.0 + f64::from(n * 7 % 5))).collect();
        assert_eq!(line(&noise), None);
        assert_eq!(line(&[(3.0, 1.0); 20]), None);
        let steep: Vec<_> = (10..30).map(|n| (f64::from(n), 3.0 * f64::from(n) - 20.0)).collect();
        assert_eq!(line(&steep).unwrap().0, 0.0);
    }

    #[test]
    fn derives_the_held_bytes_from_pauses_that_grow_with_requests() {
        let mut gc = Gc {
            collector: "Parallel".into(),
            allocated_bytes_per_request: 4e6,
            collections_per_request: 0.05,
            survivor_bytes: Some(50e6),
            survived_bytes: Some(24e6),
            pauses_by_live: (1..20).map(|n| (f64::from(n), 1.0 + 0.5 * f64::from(n))).collect(),
            ..Gc::default()
        };
        let held = |gc: &Gc| {
            let mut demands = Demands { gc: Some(gc.clone()), ..Demands::default() };
            demands.requests.count = 1000;
            Collections::of(&demands).unwrap().held_bytes
        };
        // Ten requests in process on average: 5 of 6 ms copy their memory.
        assert!((held(&gc) - 2e6).abs() < 1e3, "{}", held(&gc));
        gc.pauses_by_live = (1..20).map(|n| (f64::from(n), 6.0)).collect();
        assert_eq!(held(&gc), 0.0);
    }

    #[test]
    fn derives_the_held_bytes_from_promotion() {
        let gc = Gc {
            collector: "Parallel".into(),
            allocated_bytes_per_request: 10e6,
            collections_per_request: 0.1,
            survivor_bytes: Some(5e6),
            promoted_bytes_per_request: 1.5e6,
            old_free_bytes: Some(1e9),
            pauses_by_live: vec![(10.0, 7.0); 4],
            pause_ms_mean: Some(7.0),
            ..Gc::default()
        };
        let mut demands = Demands { gc: Some(gc), ..Demands::default() };
        demands.requests.count = 1000;
        let at = Collections::of(&demands).unwrap();
        assert_eq!((at.eden_bytes, at.held_bytes, at.promoted_bytes), (100e6, 2e6, 0.0));
        assert_eq!((at.promoted(2.0), at.promoted(10.0), at.young_pause_ms(10.0)), (0.0, 15e6, 7.0));
        demands.gc.as_mut().unwrap().collector = "G1".into();
        assert_eq!(Collections::of(&demands).unwrap().old_free_bytes, None);
        // Too few collections: the size of Eden is the estimate.
        demands.requests.count = 10;
        demands.gc.as_mut().unwrap().eden_bytes = Some(80e6);
        assert_eq!(Collections::of(&demands).unwrap().eden_bytes, 80e6);
    }
}
