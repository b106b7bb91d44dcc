//! Rules about the heap: live set, explicit collections, humongous objects, copies, metaspace.

use yunti_program::text::numbers::memory;

use super::young::percent;
use super::{COST_MIN, Finding, flag_size, times};
use crate::model::collector::Collector;
use crate::model::event::{Kind, Space};
use crate::model::log::{Log, Sum};
use crate::summary::Summary;

/// Part of the largest heap from which on a live set leaves a collector too little room.
const NEAR: f64 = 0.7;
/// Heap for a live set, as a multiple of it.
const ROOM: f64 = 2.0;
/// Growth over the log, as a part of the largest heap, that is worth a finding.
const GROWTH_MIN: f64 = 0.05;
const REGION_MAX: u64 = 32 << 20;

/// The live set is close to the largest heap, so collections of the whole heap free little.
pub fn live_set_near_the_maximum(_log: &Log, summary: &Summary) -> Option<Finding> {
    let live = summary.live?;
    let part = live.bytes as f64 / summary.heap_max.max(1) as f64;
    let whole = summary.of_kind(Kind::Full).total_ms + summary.of_kind(Kind::Degenerated).total_ms;
    let cost = summary.share(whole + summary.of_kind(Kind::Mixed).total_ms + stalled_ms(summary));
    if part < NEAR || cost < COST_MIN {
        return None;
    }
    let collections = summary.of_kind(Kind::Full).count;
    let leak = match summary.growth {
        Some(_) => {
            "it grows, so first find the leak by two class histograms (`jcmd PID GC.class_histogram`); otherwise "
        }
        None => "",
    };
    Some(Finding {
        rule: "heap too small",
        cost,
        text: format!(
            "{} in use fill {} of the largest heap, so {} free little",
            memory(live.bytes),
            percent(part),
            if collections > 0 { format!("{collections} full collections") } else { "collections".to_owned() }
        ),
        cure: format!("{leak}-Xmx{} would leave them room; a larger young generation would not", {
            flag_size(live.bytes as f64 * ROOM)
        }),
    })
}

/// The smallest heap after collections rises all the time.
pub fn growing_live_set(log: &Log, summary: &Summary) -> Option<Finding> {
    let growth = summary.growth?;
    let heap = summary.heap_max as f64;
    let live = summary.live?.bytes as f64;
    if heap <= 0.0 || growth * summary.seconds < heap * GROWTH_MIN {
        return None;
    }
    let left_s = ((heap - live) / growth).max(0.0);
    Some(Finding {
        rule: "growing live set",
        cost: 0.0,
        text: format!(
            "what stays in the heap grows by {} an hour; at this rate the heap is full {} after the log ends",
            memory((growth * 3600.0) as u64),
            yunti_program::text::numbers::seconds(left_s)
        ),
        cure: format!(
            "a cache that fills is no leak; otherwise compare two class histograms (`jcmd PID GC.class_histogram`){}",
            if log.collector == Some(Collector::Epsilon) { ", as this collector frees nothing" } else { "" }
        ),
    })
}

fn stalled_ms(summary: &Summary) -> f64 {
    // Several threads stall at once; the longest stalls say more than the sum.
    summary.stalls.total_ms.min(summary.seconds * 1000.0)
}

/// The program, or a tool, requests collections.
pub fn system_gc(log: &Log, summary: &Summary) -> Option<Finding> {
    let calls = summary.of_cause("System.gc()");
    let cost = summary.share(calls.total_ms);
    if cost < COST_MIN && calls.max_ms < 500.0 {
        return None;
    }
    let concurrent = match log.collector {
        Some(Collector::G1) => ", or -XX:+ExplicitGCInvokesConcurrent if it must stay",
        _ => "",
    };
    Some(Finding {
        rule: "System.gc()",
        cost,
        text: format!("System.gc() stops the program {}, for {}", times(calls.count), total(&calls, summary)),
        cure: format!(
            "-XX:+DisableExplicitGC stops it{concurrent}; `yunti observe native` or a breakpoint in java.lang.Runtime.gc \
             shows the caller (RMI's is set by -Dsun.rmi.dgc.server.gcInterval)"
        ),
    })
}

fn total(sum: &Sum, summary: &Summary) -> String {
    let share = if summary.seconds > 0.0 {
        format!(" ({} of the time)", percent(summary.share(sum.total_ms)))
    } else {
        String::new()
    };
    format!("{}{share}", yunti_program::text::numbers::milliseconds(sum.total_ms))
}

/// Objects of at least half a region get regions of their own in G1.
pub fn humongous(log: &Log, summary: &Summary) -> Option<Finding> {
    let caused = summary.of_cause("G1 Humongous Allocation");
    let cost = summary.share(caused.total_ms);
    if cost < COST_MIN {
        return None;
    }
    let region = log.settings.region_bytes.max(1 << 20);
    let cure = if region < REGION_MAX {
        format!(
            "-XX:G1HeapRegionSize={}m makes objects below {} ordinary; else allocate smaller buffers, or reuse them",
            (region * 4).min(REGION_MAX) >> 20,
            memory((region * 4).min(REGION_MAX) / 2)
        )
    } else {
        "allocate smaller buffers, or reuse them".to_owned()
    };
    Some(Finding {
        rule: "humongous objects",
        cost,
        text: format!(
            "objects of more than {} (half a region) start a collection {}, {}",
            memory(region / 2),
            times(caused.count),
            total(&caused, summary)
        ),
        cure,
    })
}

/// Collections find no room to copy what survives.
pub fn no_room_for_copies(log: &Log, summary: &Summary) -> Option<Finding> {
    if log.exhausted == 0 {
        return None;
    }
    let ms = |event: &&crate::model::event::Event| event.pause_ms;
    let failed: f64 = log.events.iter().filter(|event| event.is_exhausted).map(|event| ms(&event)).sum();
    let compactions = summary.of_cause("G1 Compaction Pause").total_ms;
    let cost = summary.share(failed + compactions);
    if cost < COST_MIN {
        return None;
    }
    let cure = match log.collector {
        Some(Collector::G1) => {
            "a larger -Xmx, or -XX:G1ReservePercent=20 and -XX:InitiatingHeapOccupancyPercent=30, so that marking starts \
             earlier"
        }
        Some(Collector::Cms) => {
            "-XX:CMSInitiatingOccupancyFraction=60 -XX:+UseCMSInitiatingOccupancyOnly, or a larger -Xmx"
        }
        _ => "a larger -Xmx, or a smaller young generation",
    };
    Some(Finding {
        rule: "no room for copies",
        cost,
        text: format!(
            "{} found no room to copy what survives",
            if log.exhausted == 1 { "1 collection".to_owned() } else { format!("{} collections", log.exhausted) }
        ),
        cure: cure.to_owned(),
    })
}

/// Classes fill the metaspace up to its threshold.
pub fn metaspace(log: &Log, summary: &Summary) -> Option<Finding> {
    let caused = summary.of_cause("Metadata GC Threshold");
    let ms = caused.total_ms + summary.of_cause("Metadata GC Clear Soft References").total_ms;
    let cost = summary.share(ms);
    if cost < COST_MIN {
        return None;
    }
    let used = log.events.iter().map(|event| event.space(Space::Metaspace).before).max().unwrap_or(0);
    let is_full = summary.of_cause("Metadata GC Clear Soft References").count > 0;
    Some(Finding {
        rule: "metaspace",
        cost,
        text: format!("classes that reach the metaspace's threshold start a collection {}", times(caused.count)),
        cure: match (used, is_full) {
            (_, true) => "the metaspace is full: raise -XX:MaxMetaspaceSize, or find the class loaders that stay \
                          (`jcmd PID VM.classloader_stats`)"
                .to_owned(),
            (0, false) => "-XX:MetaspaceSize at the size that the program reaches".to_owned(),
            (used, false) => format!("-XX:MetaspaceSize={} starts none of them", flag_size(used as f64 * 1.3)),
        },
    })
}
