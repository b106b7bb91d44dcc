//! Garbage collection and other work of a JVM over the measurement, by its own counters.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::jvm::{self, PerfData};
use yunti_probe::target::Process;

/// Garbage collection in the measurement.
#[derive(Clone, Debug, Default)]
pub struct HeapFacts {
    /// Share of the time in pauses.
    pub pause_share: f64,
    pub young_collections: f64,
    /// Full, mixed or concurrent collections: all that are not young.
    pub old_collections: f64,
    /// Collections of the whole heap in one pause.
    pub full_collections: f64,
    /// Share of the time in pauses of full collections.
    pub full_share: f64,
    pub promoted_bytes: f64,
    /// Largest capacity of eden.
    pub eden_bytes: f64,
    /// Largest size of the heap: -Xmx.
    pub heap_max_bytes: f64,
    /// Largest size of the old generation.
    pub old_max_bytes: f64,
    /// Smallest occupancy of the old generation after a collection: the objects that stay.
    pub live_bytes: f64,
    /// True if this occupancy was measured after a full collection.
    pub is_live_exact: bool,
    /// Causes of collections in the JVM's words, with collections and pause seconds, the costliest first.
    pub causes: Vec<GcCause>,
    /// Stops of all threads that are no collections.
    pub safepoints: f64,
    pub safepoint_seconds: f64,
    /// Seconds until the last thread had stopped.
    pub safepoint_sync_seconds: f64,
    /// Classes loaded.
    pub classes: f64,
    pub compilations: f64,
    /// Times in seconds, and occupancy of the old generation after collections.
    pub after_collections: Vec<(f64, f64)>,
    /// Options of the JVM, also from its environment.
    pub options: String,
}

/// Cause of collections, in the JVM's words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GcCause {
    pub name: String,
    pub collections: f64,
    pub seconds: f64,
}

impl HeapFacts {
    /// Returns the share of a cause in the pauses.
    pub fn share_of(&self, test: impl Fn(&str) -> bool) -> f64 {
        let all: f64 = self.causes.iter().map(|cause| cause.seconds).sum();
        let these: f64 = self.causes.iter().filter(|cause| test(&cause.name)).map(|cause| cause.seconds).sum();
        these / all.max(1e-9)
    }
}

/// Sampler of the JVM's own counters.
pub struct HeapWatch {
    file: Option<PathBuf>,
    first: Option<PerfData>,
    last: Option<PerfData>,
    begun_at: Instant,
    sampled_at: Instant,
    promoted_bytes: f64,
    eden_bytes: f64,
    live_bytes: Option<(f64, bool)>,
    causes: HashMap<String, (f64, f64)>,
    after_collections: Vec<(f64, f64)>,
}

const HEAP_EVERY: Duration = Duration::from_millis(100);
const OLD_USED: &str = "sun.gc.generation.1.space.0.used";
const NO_CAUSE: &str = "No GC";
const SAFEPOINTS: &str = "sun.rt.safepoints";
const COLLECTORS: [usize; 3] = [0, 1, 2];

fn invocations(data: &PerfData, collector: usize) -> f64 {
    data.get(&format!("sun.gc.collector.{collector}.invocations")).unwrap_or(0.0)
}

fn seconds(data: &PerfData, collector: usize) -> f64 {
    data.seconds(&format!("sun.gc.collector.{collector}.time")).unwrap_or(0.0)
}

/// Returns true if a collector collects the whole heap in one pause. CMS and concurrent cycles do not.
fn is_full(data: &PerfData, collector: usize) -> bool {
    let name = data.text(&format!("sun.gc.collector.{collector}.name")).unwrap_or_default();
    collector == 1 && !name.contains("CMS") && !name.starts_with('Z') && !name.starts_with("Shenandoah")
}

impl HeapWatch {
    pub fn new(process: &Process) -> HeapWatch {
        let file = jvm::perf_data_file(process);
        let first = file.as_deref().and_then(jvm::perf_data);
        HeapWatch {
            file,
            last: first.clone(),
            first,
            begun_at: Instant::now(),
            sampled_at: Instant::now(),
            promoted_bytes: 0.0,
            eden_bytes: 0.0,
            live_bytes: None,
            causes: HashMap::new(),
            after_collections: Vec::new(),
        }
    }

    pub fn keep_up(&mut self) {
        if self.sampled_at.elapsed() < HEAP_EVERY {
            return;
        }
        self.sampled_at = Instant::now();
        let Some(now) = self.file.as_deref().and_then(jvm::perf_data) else { return };
        self.take(now, self.begun_at.elapsed().as_secs_f64());
    }

    fn take(&mut self, now: PerfData, at: f64) {
        let of = |data: &PerfData, name: &str| data.get(name).unwrap_or(0.0);
        if let Some(last) = &self.last {
            self.promoted_bytes += (of(&now, OLD_USED) - of(last, OLD_USED)).max(0.0);
            let gained = |f: fn(&PerfData, usize) -> f64, collector| (f(&now, collector) - f(last, collector)).max(0.0);
            let collections: f64 = COLLECTORS.map(|n| gained(invocations, n)).iter().sum();
            let paused: f64 = COLLECTORS.map(|n| gained(seconds, n)).iter().sum();
            if paused > 0.0 {
                // A collection is counted at its start. Its time and the old generation's occupancy change at its end.
                let old = of(&now, OLD_USED);
                let was_full = COLLECTORS.iter().any(|n| is_full(&now, *n) && gained(seconds, *n) > 0.0);
                let is_better = self.live_bytes.is_none_or(|(least, exact)| {
                    was_full && (!exact || old < least) || was_full == exact && old < least
                });
                if is_better {
                    self.live_bytes = Some((old, was_full));
                }
                self.after_collections.push((at, old));
            }
            if collections > 0.0 || paused > 0.0 {
                // While a collection runs, `cause` has its cause, and `lastCause` may have none.
                let texts = ["sun.gc.cause", "sun.gc.lastCause"].map(|name| now.text(name).unwrap_or(NO_CAUSE));
                let entry = texts.into_iter().find(|cause| *cause != NO_CAUSE).map(str::to_owned);
                if let Some(entry) = entry.map(|cause| self.causes.entry(cause).or_default()) {
                    entry.0 += collections;
                    entry.1 += paused;
                }
            }
        }
        self.eden_bytes = self.eden_bytes.max(of(&now, "sun.gc.generation.0.space.0.capacity"));
        self.last = Some(now);
    }

    pub fn facts(mut self, all_seconds: f64) -> Option<HeapFacts> {
        self.sampled_at = self.sampled_at.checked_sub(HEAP_EVERY).unwrap_or(self.sampled_at);
        self.keep_up();
        let (first, last) = (self.first?, self.last?);
        let count = |name: &str| (last.get(name).unwrap_or(0.0) - first.get(name).unwrap_or(0.0)).max(0.0);
        let time = |name: &str| (last.seconds(name).unwrap_or(0.0) - first.seconds(name).unwrap_or(0.0)).max(0.0);
        let paused = |n: usize| (seconds(&last, n) - seconds(&first, n)).max(0.0);
        let collected = |n: usize| (invocations(&last, n) - invocations(&first, n)).max(0.0);
        let of = |name: &str| last.get(name).unwrap_or(0.0);
        let full = || COLLECTORS.into_iter().filter(|n| is_full(&last, *n));
        let all_paused: f64 = COLLECTORS.map(paused).iter().sum();
        let all_collected: f64 = COLLECTORS.map(collected).iter().sum();
        let (young_max, old_max) = (of("sun.gc.generation.0.maxCapacity"), of("sun.gc.generation.1.maxCapacity"));
        // With G1 each generation may become the whole heap; with the others the heap is both together.
        let is_whole = old_max >= 0.99 * young_max && young_max >= 0.99 * old_max;
        let mut causes: Vec<GcCause> = self
            .causes
            .into_iter()
            .map(|(name, (collections, seconds))| GcCause { name, collections, seconds })
            .collect();
        causes.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then_with(|| a.name.cmp(&b.name)));
        let (live_bytes, is_live_exact) = self.live_bytes.unwrap_or((of(OLD_USED), false));
        Some(HeapFacts {
            pause_share: all_paused / all_seconds.max(0.001),
            young_collections: collected(0),
            old_collections: collected(1) + collected(2),
            full_collections: full().map(collected).sum(),
            full_share: full().map(paused).sum::<f64>() / all_seconds.max(0.001),
            promoted_bytes: self.promoted_bytes,
            eden_bytes: self.eden_bytes,
            heap_max_bytes: if is_whole { old_max } else { old_max + young_max },
            old_max_bytes: old_max,
            live_bytes,
            is_live_exact,
            causes,
            safepoints: (count(SAFEPOINTS) - all_collected).max(0.0),
            safepoint_seconds: (time("sun.rt.safepointTime") - all_paused).max(0.0),
            safepoint_sync_seconds: time("sun.rt.safepointSyncTime"),
            classes: count("java.cls.loadedClasses") + count("java.cls.sharedLoadedClasses"),
            compilations: count("sun.ci.totalCompiles"),
            after_collections: self.after_collections,
            options: last.text("java.rt.vmArgs").unwrap_or_default().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(old_used: i64, full: i64, seconds: i64, cause: &str) -> PerfData {
        PerfData::of(
            &[
                ("sun.os.hrt.frequency", 1),
                (OLD_USED, old_used),
                ("sun.gc.collector.1.invocations", full),
                ("sun.gc.collector.1.time", seconds),
                ("sun.gc.generation.0.maxCapacity", 100),
                ("sun.gc.generation.1.maxCapacity", 100),
                ("sun.rt.safepoints", full + 7),
            ],
            &[("sun.gc.lastCause", cause), ("sun.gc.collector.1.name", "G1 full collection pauses")],
        )
    }

    #[test]
    fn causes_and_live_objects() {
        let first = data(50, 0, 0, "No GC");
        let mut watch = HeapWatch {
            file: None,
            last: Some(first.clone()),
            first: Some(first),
            begun_at: Instant::now(),
            sampled_at: Instant::now(),
            promoted_bytes: 0.0,
            eden_bytes: 0.0,
            live_bytes: None,
            causes: HashMap::new(),
            after_collections: Vec::new(),
        };
        watch.take(data(60, 0, 0, "No GC"), 0.1);
        watch.take(data(70, 2, 3, "System.gc()"), 0.2);
        // A full collection that is under way has freed nothing yet.
        watch.take(data(30, 3, 3, "G1 Compaction Pause"), 0.3);
        watch.take(data(40, 3, 4, "G1 Compaction Pause"), 0.4);
        let heap = watch.facts(10.0).unwrap();
        assert_eq!((heap.full_collections, heap.live_bytes, heap.is_live_exact), (3.0, 40.0, true));
        assert_eq!((heap.heap_max_bytes, heap.safepoints, heap.after_collections.len()), (100.0, 0.0, 2));
        assert_eq!(heap.causes[0], GcCause { name: "System.gc()".to_owned(), collections: 2.0, seconds: 3.0 });
        assert_eq!(heap.share_of(|cause| cause == "System.gc()"), 0.75);
    }
}
