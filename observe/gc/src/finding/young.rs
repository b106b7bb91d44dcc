//! Rule about the young generation.

use yunti_program::text::numbers::{memory, milliseconds, seconds};

use super::{COST_MIN, Finding, flag_size};
use crate::model::collector::Collector;
use crate::model::event::Kind;
use crate::model::log::Log;
use crate::summary::Summary;
use crate::young::YoungModel;

/// Share of pauses that a larger young generation should reach.
const GOAL: f64 = 0.01;
/// Largest part of the heap for the young generation: the rest holds the live set and its growth.
const PART_MAX: f64 = 0.6;
/// Free space beside the live set in the old generation, as a multiple of it.
const OLD_OF_LIVE: f64 = 1.3;
/// Young generation as a multiple of the eden, with two survivor spaces of an eighth each.
const YOUNG_OF_EDEN: f64 = 1.25;
/// Largest growth of the heap that is recommended; more needs a trial.
const HEAP_FACTOR_MAX: f64 = 4.0;
/// Part of today's cost that a change must save.
const SAVED_MIN: f64 = 0.3;

/// Collections come often because the eden is small.
pub fn too_small(log: &Log, summary: &Summary) -> Option<Finding> {
    let model = YoungModel::of(log)?;
    // The model is of the time after the warm-up; the whole log may have a smaller share.
    let young = |kind: Kind| summary.share(summary.of_kind(kind).total_ms);
    let now = young(Kind::Young) + young(Kind::ConcurrentStart) + young(Kind::PrepareMixed);
    let share = |factor: f64| model.predict(factor).share * now / model.predict(1.0).share.max(f64::MIN_POSITIVE);
    if log.collector.is_some_and(Collector::is_concurrent) || now < COST_MIN.max(GOAL) {
        return None;
    }
    let live = summary.live.map_or(0, |live| live.bytes) as f64;
    let heap = summary.heap_max as f64;
    let room = (heap - live * OLD_OF_LIVE).min(heap * PART_MAX) / YOUNG_OF_EDEN / model.eden_bytes;
    let wanted = model.factor_for(GOAL * model.predict(1.0).share / now)?;
    let is_in_heap = room >= wanted.min(2.0);
    let room =
        if is_in_heap { room } else { (heap * HEAP_FACTOR_MAX - live) * PART_MAX / YOUNG_OF_EDEN / model.eden_bytes };
    let factor = wanted.min(room);
    let then = share(factor);
    let cost = now - then;
    if cost < now * SAVED_MIN || factor < 1.2 {
        return None;
    }
    let text = format!(
        "most are young collections, one every {}, because the eden has only {} of {}",
        if model.interval_s < 0.1 { milliseconds(model.interval_s * 1000.0) } else { seconds(model.interval_s) },
        memory(model.eden_bytes as u64),
        if is_in_heap { format!("a heap of {}", memory(summary.heap_max)) } else { memory(summary.heap_max) }
    );
    let young = model.eden_bytes * factor * YOUNG_OF_EDEN;
    let larger = flag_size((live * OLD_OF_LIVE + young).max(young / PART_MAX));
    let effect = format!("would bring young collections from {} to about {}", percent(now), percent(then));
    let flag = format!("-Xmn{}", flag_size(young));
    let cure = match (log.collector.unwrap_or(Collector::Parallel), is_in_heap) {
        (Collector::G1, true) => {
            let part = (young / heap * 100.0).ceil().clamp(5.0, 60.0);
            let goal = milliseconds((model.pause_ms * 2.0).max(200.0));
            format!(
                "-XX:+UnlockExperimentalVMOptions -XX:G1NewSizePercent={part:.0} {effect}; a longer \
                 -XX:MaxGCPauseMillis (above {goal}) lets G1 choose it"
            )
        }
        (_, true) => format!("{flag} {effect}"),
        (Collector::G1, false) => format!("-Xmx{larger} {effect}"),
        (_, false) => format!("-Xmx{larger} {flag} {effect}"),
    };
    Some(Finding { rule: "young too small", cost, text, cure })
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
