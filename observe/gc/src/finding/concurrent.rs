//! Rules about collectors that run beside the program: it allocates faster than they free.

use yunti_program::text::numbers::milliseconds;

use super::{COST_MIN, Finding, times};
use crate::model::collector::Collector;
use crate::model::event::Kind;
use crate::model::log::Log;
use crate::summary::Summary;

/// Longest stall in milliseconds below which stalls are no finding.
const STALL_MS: f64 = 10.0;

/// Threads wait until ZGC has freed memory.
pub fn stalls(log: &Log, summary: &Summary) -> Option<Finding> {
    let stalls = summary.stalls;
    if stalls.count == 0 || stalls.max_ms < STALL_MS {
        return None;
    }
    let threads = log.stalls.0.len();
    // Of the time of each thread that stalled, in the mean.
    let cost = summary.share(stalls.total_ms / threads.max(1) as f64);
    let generational = match log.collector {
        Some(Collector::Z) => {
            "; generational ZGC (JDK 21 and later, the only one from 24 on) frees young objects sooner"
        }
        _ => "",
    };
    Some(Finding {
        rule: "allocation stalls",
        cost,
        text: format!(
            "{} waited {} until ZGC had freed memory, up to {} at once",
            if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") },
            times(stalls.count),
            milliseconds(stalls.max_ms)
        ),
        cure: format!("a larger -Xmx first; then more -XX:ConcGCThreads, if processors are idle{generational}"),
    })
}

/// The concurrent cycle ends after the heap is full, so the program stops for a full collection.
pub fn late_cycle(log: &Log, summary: &Summary) -> Option<Finding> {
    let degenerated = summary.of_kind(Kind::Degenerated);
    let is_fallback =
        |cause: &str| !cause.starts_with("System.gc") && !cause.starts_with("Heap ") && !cause.starts_with("Metadata");
    let full: Vec<f64> = log
        .events
        .iter()
        .filter(|event| event.kind == Kind::Full && is_fallback(log.cause(event)))
        .map(|event| event.pause_ms)
        .collect();
    let ms = full.iter().sum::<f64>() + degenerated.total_ms;
    let cost = summary.share(ms);
    let count = full.len() as u64 + degenerated.count;
    let cure = match log.collector? {
        Collector::G1 => {
            "-XX:InitiatingHeapOccupancyPercent=30 starts marking earlier, more -XX:ConcGCThreads end it sooner, a larger \
             -Xmx gives it time"
        }
        Collector::Cms => "-XX:CMSInitiatingOccupancyFraction=60 -XX:+UseCMSInitiatingOccupancyOnly starts it earlier",
        Collector::Shenandoah | Collector::GenerationalShenandoah => {
            "a larger -Xmx; more -XX:ConcGCThreads; -XX:ShenandoahMinFreeThreshold=20 starts cycles earlier"
        }
        _ => return None,
    };
    if count == 0 || cost < COST_MIN {
        return None;
    }
    Some(Finding {
        rule: "late cycle",
        cost,
        text: format!(
            "the concurrent cycle was too late {}, and the program stopped for {} until memory was free",
            times(count),
            milliseconds(ms)
        ),
        cure: cure.to_owned(),
    })
}
