//! The collector's part of a request, by the JVM's log of its collections and stops.

use serde_json::{Value, json};
use yunti_gc::Summary;
use yunti_gc::young::YoungModel;

use super::evidence::Evidence;

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
        .take(PAUSES_MAX)
        .map(|pause| json!([in_process(pause.begin_ns), (pause.end_ns - pause.begin_ns) as f64 / 1e6]))
        .collect();
    json!({
        "collector": log.collector.map(|collector| collector.name()),
        "collections": pauses.len(),
        "collections_per_request": pauses.len() as f64 / requests,
        "pause_ms_per_request": all_ms / requests,
        "pause_ms_mean": if pauses.is_empty() { None } else { Some(all_ms / pauses.len() as f64) },
        "safepoint_ms_per_request": other_ms / requests,
        "cpu_ms_per_request": evidence.processors.collector * 1e3 / requests,
        "allocated_bytes_per_request":
            young.map(|young| young.eden_bytes / young.interval_s * seconds / requests)
                .or(summary.allocation.map(|rate| rate * seconds / requests)),
        "eden_bytes": young.map(|young| young.eden_bytes),
        "young_exponent": young.map(|young| young.exponent),
        "survivor_bytes": summary.survivors,
        "promoted_bytes_per_request": summary.promotion.map(|rate| rate * seconds / requests),
        "live_bytes_after_old": summary.live.map(|live| live.bytes),
        "heap_max_bytes": summary.heap_max,
        "full_pause_ms_mean": mean(&full),
        "pauses_by_live": by_live,
    })
}
