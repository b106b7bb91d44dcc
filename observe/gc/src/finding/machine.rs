//! Rules about the machine: processors, memory, the time until threads stop.

use yunti_program::text::numbers::milliseconds;

use super::young::percent;
use super::{COST_MIN, Finding, times};
use crate::model::collector::Collector;
use crate::model::event::Event;
use crate::model::log::Log;
use crate::summary::Summary;

/// Shortest pause in seconds whose processor time says something: the log names it in steps of 10 ms.
const TIMED_MIN_S: f32 = 0.05;
/// Duration of a starved pause as a multiple of its processor time.
const STARVED: f32 = 2.0;
/// Waits for the last thread in milliseconds from which on one is long.
const REACHING_LONG_MS: f64 = 200.0;
/// Share of pauses from which on a collector with one thread is too slow.
const SERIAL_SHARE: f64 = 0.02;

/// Pauses that take longer than their processor time.
pub fn starved(log: &Log, summary: &Summary) -> Option<Finding> {
    let is_starved = |event: &&Event| {
        event.cpu.is_some_and(|cpu| cpu.real >= TIMED_MIN_S && cpu.real > STARVED * (cpu.user + cpu.sys))
    };
    let starved: Vec<&Event> = log.events.iter().filter(is_starved).collect();
    let lost_s: f64 =
        starved.iter().filter_map(|event| event.cpu).map(|cpu| f64::from(cpu.real - cpu.user - cpu.sys)).sum();
    let cost = summary.share(lost_s * 1000.0);
    if cost < COST_MIN {
        return None;
    }
    let longest = starved.iter().map(|event| event.pause_ms).fold(0.0, f64::max);
    Some(Finding {
        rule: "starved",
        cost,
        text: format!(
            "{} of {} pauses wait for processors or memory instead of working, up to {}",
            starved.len(),
            summary.pauses.count,
            milliseconds(longest)
        ),
        cure: "check swapping, the quota of the control group, and other programs (`yunti machine cgroup`, `vmstat 1`)"
            .to_owned(),
    })
}

/// Pauses spend their time in the kernel.
pub fn system_time(log: &Log, summary: &Summary) -> Option<Finding> {
    let [user, sys, _] = summary.cpu;
    // The kernel's part of each pause, as far as pauses name it.
    let cost = summary.pause_share() * sys / (user + sys).max(0.01);
    if sys < user * 0.5 || cost < COST_MIN {
        return None;
    }
    let is_small = log.settings.heap_initial < log.settings.heap_max;
    Some(Finding {
        rule: "system time",
        cost,
        text: format!("collections spend {} of their processor time in the kernel", percent(sys / (user + sys))),
        cure: format!(
            "{}-XX:+AlwaysPreTouch touches the memory at the start; check swapping and transparent huge pages",
            if is_small { "-Xms at the value of -Xmx; " } else { "" }
        ),
    })
}

/// Threads take long to stop.
pub fn slow_to_stop(_log: &Log, summary: &Summary) -> Option<Finding> {
    let reaching = summary.reaching();
    let cost = summary.share(reaching.total_ms);
    if cost < COST_MIN && reaching.max_ms < REACHING_LONG_MS {
        return None;
    }
    Some(Finding {
        rule: "slow to stop",
        cost,
        text: format!(
            "threads need {} until the last one stops, up to {}",
            milliseconds(reaching.total_ms),
            milliseconds(reaching.max_ms)
        ),
        cure: "-XX:+SafepointTimeout -XX:SafepointTimeoutDelay=100 names the threads that are late: counted loops, \
               large array copies, page faults on mapped files, or too few processors"
            .to_owned(),
    })
}

/// Other operations than collections stop all threads.
pub fn other_stops(_log: &Log, summary: &Summary) -> Option<Finding> {
    let stops = summary.other_stops();
    let cost = summary.share(stops.total_ms);
    if cost < COST_MIN {
        return None;
    }
    let (operation, _, most) = summary.stops.iter().find(|(_, is_collection, _)| !is_collection)?;
    let cure = match &**operation {
        name if name.contains("Bias") => "-XX:-UseBiasedLocking",
        "PrintThreads" | "ThreadDump" | "FindDeadlocks" => {
            "request fewer thread dumps; a monitoring tool requests them"
        }
        "HeapDumper" | "GC_HeapInspection" => "request fewer heap dumps and class histograms",
        "RedefineClasses" | "ChangeBreakpoints" => "an agent changes classes; load it at the start only",
        name if name.starts_with("Deoptimize") => "-Xlog:deoptimization=debug names the methods (JDK 17 and later)",
        _ => "-Xlog:safepoint*=debug says more of it",
    };
    Some(Finding {
        rule: "other stops",
        cost,
        text: format!(
            "other operations than collections stop the program {} for {}, most of it for {operation} ({})",
            times(stops.count),
            milliseconds(stops.total_ms),
            milliseconds(most.total.total_ms)
        ),
        cure: cure.to_owned(),
    })
}

/// A collector with one thread on a machine with several processors.
pub fn wrong_collector(log: &Log, summary: &Summary) -> Option<Finding> {
    let processors = log.settings.processors;
    let share = summary.pause_share();
    if log.collector != Some(Collector::Serial) || processors < 2 || share < SERIAL_SHARE {
        return None;
    }
    Some(Finding {
        rule: "wrong collector",
        cost: share * (1.0 - 1.0 / f64::from(processors.min(4))),
        text: format!("the Serial collector uses one of {processors} processors"),
        cure:
            "-XX:+UseParallelGC for throughput, -XX:+UseG1GC for shorter pauses. A JVM chooses Serial by itself below \
               two processors or 1792 MB of memory"
                .to_owned(),
    })
}
