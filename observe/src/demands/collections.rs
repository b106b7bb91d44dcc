//! The collector's part of a request, by the JVM's log of its collections and stops.

use serde_json::{Value, json};
use yunti_gc::Summary;
use yunti_gc::young::YoungModel;

use super::evidence::Evidence;
use super::measure::spaces::Spaces;

/// Pauses that the model gets one by one.
const PAUSES_MAX: usize = 500;

/// Returns the collector's facts; null without collections.
///
/// @param in_process requests under way at a time, by CLOCK_MONOTONIC
pub fn facts(evidence: &Evidence, requests: f64, in_process: impl Fn(u64) -> usize) -> Value {
    let Some(log) = &evidence.collections else { return Value::Null };
    let summary = Summary::of(log);
    let young = YoungModel::of(log);
    let pauses: Vec<_> = evidence.pauses.iter().filter(|pause| pause.is_gc()).collect();
    let all_ms: f64 = pauses.iter().map(|pause| (pause.end_ns - pause.begin_ns) as f64 / 1e6).sum();
    let seconds = evidence.processors.seconds.max(0.001);
    // A cycle of a collector beside the program has several short pauses.
    let is_concurrent = log.collector.is_some_and(|collector| collector.is_concurrent());
    let collections = if is_concurrent { log.heap.samples.len() } else { pauses.len() };
    let full: Vec<f64> = log.events.iter().filter(|event| event.kind.frees_old()).map(|event| event.pause_ms).collect();
    let mean = |all: &[f64]| (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64);
    let other_ms: f64 = evidence
        .pauses
        .iter()
        .filter(|pause| !pause.is_gc())
        .map(|pause| (pause.end_ns - pause.begin_ns) as f64 / 1e6)
        .sum();
    let by_live: Vec<Value> = pauses
        .iter()
        .take(if is_concurrent { 0 } else { PAUSES_MAX })
        .map(|pause| json!([in_process(pause.begin_ns), (pause.end_ns - pause.begin_ns) as f64 / 1e6]))
        .collect();
    json!({
        "collector": log.collector.map(|collector| collector.name()),
        "collections": collections,
        "collections_per_request": collections as f64 / requests,
        "pause_ms_per_request": all_ms / requests,
        "pause_ms_mean": if collections == 0 { None } else { Some(all_ms / collections as f64) },
        "stall_ms_per_request": summary.stalls.total_ms / requests,
        "safepoint_ms_per_request": other_ms / requests,
        "cpu_ms_per_request": evidence.processors.collector * 1e3 / requests,
        "allocated_bytes_per_request":
            summary.allocation.map(|rate| rate * seconds / requests)
                .or(young.map(|young| young.eden_bytes / young.interval_s * seconds / requests)),
        "eden_bytes": if is_concurrent { None } else { young.map(|young| young.eden_bytes) },
        "young_exponent": young.map(|young| young.exponent),
        "young_bytes": evidence.spaces.young,
        "survivor_bytes": evidence.spaces.survivor,
        "survived_bytes": summary.survivors,
        "old_free_bytes": old_free(&evidence.spaces, summary.live.map(|live| live.bytes as f64)),
        "promoted_bytes_per_request": summary.promotion.map(|rate| rate * seconds / requests),
        "live_bytes_after_old": summary.live.map(|live| live.bytes),
        "heap_bytes": summary.heap_max,
        "full_pause_ms_mean": mean(&full),
        "pauses_by_live": by_live,
    })
}

/// Returns the bytes of the old generation that a full collection leaves free.
fn old_free(spaces: &Spaces, live: Option<f64>) -> Option<f64> {
    let used = spaces.old_used.unwrap_or(0.0);
    Some((spaces.old? - live.map_or(used, |live| live.min(used))).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_collection_leaves_what_lives() {
        let spaces = Spaces { old: Some(200.0), old_used: Some(50.0), ..Spaces::default() };
        assert_eq!(old_free(&spaces, Some(20.0)), Some(180.0));
        // The heap after a young collection holds more than the old generation.
        assert_eq!((old_free(&spaces, Some(90.0)), old_free(&spaces, None)), (Some(150.0), Some(150.0)));
        assert_eq!(old_free(&Spaces::default(), Some(20.0)), None);
    }
}
