//! Answer about a log as JSON.

use serde_json::{Value, json};

use super::GcReport;
use yunti_gc::Comparison;
use yunti_gc::comparison::Unit;
use yunti_gc::event::Space;
use yunti_gc::log::Sum;
use yunti_gc::summary::WINDOWS_MS;
use yunti_gc::young::YoungModel;
use yunti_gc::{Change, Event, Log};

/// Pauses in the document; a longer log has its first and its longest ones.
const EVENTS_MAX: usize = 10_000;
/// Sizes of the young generation that are predicted, as multiples of the log's.
const FACTORS: [f64; 4] = [0.5, 1.0, 2.0, 4.0];

/// Returns the facts of a log.
pub fn of(report: &GcReport) -> Value {
    let GcReport { log, summary, findings } = report;
    let settings = &log.settings;
    let model = YoungModel::of(log);
    json!({
        "collector": log.collector.map(|collector| collector.name()),
        "settings": {
            "version": settings.version,
            "flags": settings.flags,
            "heap_min": settings.heap_min,
            "heap_initial": settings.heap_initial,
            "heap_max": summary.heap_max,
            "region_bytes": settings.region_bytes,
            "processors": settings.processors,
            "memory": settings.memory,
            "workers": settings.workers,
        },
        "lines": log.lines,
        "lines_foreign": log.foreign,
        "lines_damaged": log.damaged,
        "runs": log.runs(),
        "began_unix_s": log.first_began_unix_s(),
        "log_seconds": summary.seconds,
        "pauses": sum(&summary.pauses),
        "pause_share": summary.pause_share(),
        "percentiles_ms": { "50": summary.percentiles_ms[0], "90": summary.percentiles_ms[1], "99": summary.percentiles_ms[2] },
        "utilization": WINDOWS_MS.iter().zip(summary.utilization)
            .map(|(window, left)| (format!("{window:.0}"), json!(left))).collect::<serde_json::Map<_, _>>(),
        "by_kind": summary.kinds.iter().map(|(kind, s)| named("kind", kind.name(), s)).collect::<Vec<_>>(),
        "by_cause": summary.causes.iter().map(|(cause, s)| named("cause", cause, s)).collect::<Vec<_>>(),
        "phases": table(&log.phases.0),
        "concurrent": table(&log.concurrent.0),
        "stalls": table(&log.stalls.0),
        "stops": summary.stops.iter().map(|(operation, is_collection, stops)| json!({
            "operation": operation,
            "is_collection": is_collection,
            "total": sum(&stops.total),
            "reaching": sum(&stops.reaching),
        })).collect::<Vec<_>>(),
        "allocation_bytes_per_s": summary.allocation,
        "promotion_bytes_per_s": summary.promotion,
        "survivors_bytes": summary.survivors,
        "live": summary.live.map(|live| json!({ "bytes": live.bytes, "is_exact": live.is_exact })),
        "growth_bytes_per_s": summary.growth,
        "metaspace_bytes": summary.metaspace,
        "cpu_s": { "user": summary.cpu[0], "sys": summary.cpu[1], "real": summary.cpu[2] },
        "exhausted": log.exhausted,
        "lost_cycles": log.lost_cycles,
        "findings": findings.iter().map(|finding| json!({
            "rule": finding.rule, "cost": finding.cost, "text": finding.text, "cure": finding.cure,
        })).collect::<Vec<_>>(),
        "young": model.map(|model| json!({
            "eden_bytes": model.eden_bytes,
            "interval_s": model.interval_s,
            "pause_ms": model.pause_ms,
            "survivors_from_ages": model.has_ages,
            "predictions": FACTORS.map(|factor| {
                let prediction = model.predict(factor);
                json!({
                    "factor": factor,
                    "eden_bytes": prediction.eden_bytes,
                    "collections_per_s": prediction.collections_per_s,
                    "pause_ms": prediction.pause_ms,
                    "share": prediction.share,
                })
            }),
        })),
        "events_omitted": (log.events.len().saturating_sub(EVENTS_MAX)) as u64 + log.events_dropped,
        "events": log.events.iter().take(EVENTS_MAX).map(|e| event(e, log)).collect::<Vec<_>>(),
        "longest": log.longest.iter().map(|longest| {
            let mut value = event(&longest.event, log);
            value["phases"] = longest.phases.iter().filter_map(|(index, ms)| {
                log.phases.0.get(usize::from(*index)).map(|(name, _)| json!({ "phase": name, "ms": ms }))
            }).collect();
            value
        }).collect::<Vec<_>>(),
    })
}

fn sum(sum: &Sum) -> Value {
    json!({ "count": sum.count, "total_ms": sum.total_ms, "max_ms": sum.max_ms })
}

fn named(key: &str, name: &str, value: &Sum) -> Value {
    let mut value = sum(value);
    value[key] = json!(name);
    value
}

fn table(rows: &[(String, Sum)]) -> Vec<Value> {
    rows.iter().map(|(name, value)| named("name", name, value)).collect()
}

fn change(change: &Change) -> Value {
    json!({ "before": change.before, "after": change.after, "total": change.total })
}

fn event(event: &Event, log: &Log) -> Value {
    let mut value = json!({
        "start_s": event.start_s,
        "pause_ms": event.pause_ms,
        "kind": event.kind.name(),
        "cause": log.cause(event),
        "gc": event.number,
    });
    if event.workers > 0 {
        value["workers"] = json!(event.workers);
    }
    if event.is_exhausted {
        value["exhausted"] = json!(true);
    }
    if event.heap.is_known() {
        value["heap"] = change(&event.heap);
    }
    for space in Space::ALL.iter().filter(|space| event.space(**space).is_known()) {
        value[space.name()] = change(event.space(*space));
    }
    if let Some(cpu) = event.cpu {
        value["cpu_s"] = json!({ "user": cpu.user, "sys": cpu.sys, "real": cpu.real });
    }
    value
}

/// Returns a comparison.
pub fn comparison(comparison: &Comparison) -> Value {
    let unit = |unit: Unit| match unit {
        Unit::Share => "share",
        Unit::Milliseconds => "ms",
        Unit::Bytes => "bytes",
        Unit::BytesPerSecond => "bytes_per_s",
        Unit::PerMinute => "per_minute",
    };
    let rows = comparison
        .rows
        .iter()
        .map(|row| json!({ "name": row.name, "unit": unit(row.unit), "before": row.before, "after": row.after }));
    rows.collect()
}
