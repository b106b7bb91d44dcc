//! Causes in Go's runtime: the collector, and the number of processors that Go uses.

use crate::runtime::GoFacts;
use crate::why::account::waiting::{self, Waiting};
use crate::why::causes::finding::{Finding, has_frame, of_processor, percent, while_processors_are_free};
use crate::why::facts::{Facts, Moment};
use yunti_probe::answer::bytes;
use yunti_probe::stack::Frame;

/// Functions of the collector, on stacks of their own or of goroutines that allocate.
const COLLECTOR: [&str; 16] = [
    "runtime.gcBgMarkWorker",
    "runtime.gcAssistAlloc",
    "runtime.gcDrain",
    "runtime.gcMarkDone",
    "runtime.gcMarkTermination",
    "runtime.gcStart",
    "runtime.markroot",
    "runtime.scanobject",
    "runtime.scanblock",
    "runtime.scanSpan",
    "runtime.greyobject",
    "runtime.wbBufFlush",
    "runtime.bgsweep",
    "runtime.sweepone",
    "runtime.(*sweepLocked).sweep",
    "runtime.deductSweepCredit",
];
/// Marking on processors that nobody else wants.
const IN_IDLE_TIME: [&str; 1] = ["runtime.gcDrainMarkWorkerIdle"];
const ASSISTS: [&str; 1] = ["runtime.gcAssistAlloc"];
const ALLOCATION: [&str; 3] = ["runtime.mallocgc", "runtime.growslice", "runtime.newobject"];

/// Goroutines ready to run at a time, on average, from which on more processors would be used.
const RUNNABLE_MIN: f64 = 0.5;
/// Share of the limit that the live heap takes up, from which on the limit makes the collector run.
const OF_LIMIT: f64 = 0.5;

fn collects(frames: &[Frame]) -> bool {
    has_frame(frames, &COLLECTOR) && !has_frame(frames, &IN_IDLE_TIME)
}

/// Finds a collector that takes much of the processor time.
pub fn collections(facts: &Facts) -> Option<Finding> {
    let go = facts.go.as_ref()?;
    let share = facts.cpu_share(collects);
    let assists = facts.cpu_share(|frames| has_frame(frames, &ASSISTS));
    let cost = share * of_processor(facts);
    let rate = go.collections / facts.seconds.max(0.001);
    if cost <= 0.0 || go.collections < 1.0 {
        return None;
    }
    let place = facts.own_function(|frames| has_frame(frames, &ALLOCATION)).map(|(name, _)| name);
    let above = place.as_ref().map_or_else(String::new, |name| format!(", above all in {name}"));
    let live = bytes(go.live_bytes);
    let mut evidence = vec![
        format!(
            "{} of its processor time in the collector, of which goroutines that allocate do {} (assists)",
            percent(share),
            percent(assists)
        ),
        format!("{rate:.1} collections per second; {live} live after the last one, next at {}", bytes(go.goal_bytes)),
        format!("GOGC={}, GOMEMLIMIT={}", gc_percent(go), go.memory_limit.map_or_else(|| "off".to_owned(), bytes)),
    ];
    if go.held_by_collector > 0.01 {
        evidence.push(format!("{:.2} goroutines at a time wait until they may allocate", go.held_by_collector));
    }
    if let Some(pauses) = go.pause_seconds {
        evidence.push(format!("pauses of all goroutines: {} of the time", percent(pauses / facts.seconds.max(0.001))));
    }
    let less =
        format!("allocate less{above}: reuse buffers (sync.Pool), give slices and maps their size, avoid copies");
    let bounds = format!(
        "Garbage collection bounds it: {} of its processor time, {rate:.1} collections per second",
        percent(share)
    );
    let finding = |cause, sentence, cure| Finding { cause, cost, sentence, evidence, cure };
    Some(if let Some(limit) = go.memory_limit.filter(|limit| is_at_limit(go, *limit)) {
        finding(
            "go-memory-limit",
            format!("{bounds}, because {live} of GOMEMLIMIT={} are live{above}.", bytes(limit)),
            format!("a higher GOMEMLIMIT, if the machine has the memory; or keep less: {less}"),
        )
    } else if (0..100).contains(&go.gc_percent.unwrap_or(100)) {
        finding(
            "go-gc-percent",
            format!("{bounds} of {live} live heap with GOGC={}{above}.", gc_percent(go)),
            format!("GOGC=100 or more, with GOMEMLIMIT against running out of memory; or {less}"),
        )
    } else {
        finding(
            "go-collections",
            format!("{bounds} of {live} live heap with GOGC={}{above}.", gc_percent(go)),
            format!("{less}; or a higher GOGC (200, 400), with GOMEMLIMIT against running out of memory"),
        )
    })
}

/// Goroutines in runtime.GC() at a time, on average, from which on they count.
const FORCED_MIN: f64 = 0.15;

/// Finds collections that the program itself asks for.
pub fn forced(facts: &Facts) -> Option<Finding> {
    const CALLS: [&str; 2] = ["runtime.GC", "runtime/debug.FreeOSMemory"];
    let go = facts.go.as_ref()?;
    let within = |moment: &&Moment| moment.frames.iter().any(|frame| CALLS.contains(&&*frame.name));
    let sum: f64 = facts.moments().filter(within).map(|moment| moment.share).sum();
    let largest = facts.moments().filter(within).max_by(|a, b| a.share.total_cmp(&b.share))?;
    let (first, rate) = (waiting::own_frame(&largest.frames)?, go.collections / facts.seconds.max(0.001));
    let busy: f64 = facts
        .moments()
        .filter(|moment| within(moment) || !matches!(moment.waiting, Waiting::Idle | Waiting::Sleep | Waiting::Unknown))
        .map(|moment| moment.share)
        .sum();
    (sum >= FORCED_MIN && rate >= 1.0).then(|| Finding {
        cause: "go-forced-collections",
        cost: (sum / busy.max(sum)).min(1.0),
        sentence: format!(
            "Forced garbage collections bound it: {} calls runtime.GC() or debug.FreeOSMemory(), {rate:.1} collections \
             per second run, and {sum:.2} goroutines at a time wait for one.",
            first.name
        ),
        evidence: vec![format!("{} live after the last collection", bytes(go.live_bytes))],
        cure: "no such calls: the collector runs when the heap has grown (GOGC, GOMEMLIMIT)".to_owned(),
    })
}

fn gc_percent(go: &GoFacts) -> String {
    match go.gc_percent {
        Some(-1) => "off".to_owned(),
        Some(percent) => percent.to_string(),
        None => "?".to_owned(),
    }
}

/// Returns true if the limit makes the collector run earlier than GOGC.
fn is_at_limit(go: &GoFacts, limit: u64) -> bool {
    let by_percent = match go.gc_percent {
        Some(percent @ 0..) => go.live_bytes as f64 * (1.0 + percent as f64 / 100.0),
        _ => f64::INFINITY,
    };
    let is_earlier = (go.goal_bytes as f64) < by_percent * 0.9;
    is_earlier && go.live_bytes as f64 > limit as f64 * OF_LIMIT
}

/// Finds goroutines that are ready to run while Go leaves processors unused.
pub fn processors(facts: &Facts) -> Option<Finding> {
    let go = facts.go.as_ref()?;
    let used = go.processors? as f64;
    let is_full = go.running > used * 0.7;
    if used + 0.5 > facts.processors || go.runnable < RUNNABLE_MIN || !is_full {
        return None;
    }
    let gain = 1.0 - used / facts.processors;
    let waiting = go.runnable / (go.runnable + go.running).max(0.01);
    Some(Finding {
        cause: "gomaxprocs",
        cost: gain.min(waiting) * while_processors_are_free(facts),
        sentence: format!(
            "GOMAXPROCS bounds it: Go runs goroutines on {used:.0} of {:.0} processors, and {:.1} more are ready to \
             run at a time.",
            facts.processors, go.runnable
        ),
        evidence: vec![
            format!("GOMAXPROCS={used:.0}; the process may use {:.2} processors", facts.processors),
            format!("{:.2} goroutines run at a time, {:.2} are ready", go.running, go.runnable),
        ],
        cure: "remove GOMAXPROCS from the environment, or the call of runtime.GOMAXPROCS".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::account::waiting::Waiting;
    use crate::why::facts::ThreadFacts;
    use std::rc::Rc;
    use yunti_probe::stack::Kind;

    /// Two processors' worth of work, of which the collector takes a share.
    fn facts(go: GoFacts, of_collector: u64) -> Facts {
        let stack = |names: &[&str]| -> Rc<[Frame]> {
            names.iter().map(|name| Frame { name: (*name).into(), kind: Kind::Native }).collect()
        };
        let allocates = ["main.parse", "runtime.mallocgc", "runtime.gcAssistAlloc", "runtime.gcDrainN"];
        let mut thread = ThreadFacts::default();
        thread.add(Waiting::Not, &stack(&["main.parse"]), 1.0);
        Facts {
            seconds: 10.0,
            processors: 2.0,
            user_seconds: 19.0,
            threads: vec![thread],
            on_cpu: vec![(stack(&allocates), of_collector), (stack(&["main.parse"]), 100 - of_collector)],
            go: Some(go),
            ..Facts::default()
        }
    }

    #[test]
    fn collections_by_their_reason() {
        let go = GoFacts {
            gc_percent: Some(100),
            collections: 50.0,
            live_bytes: 50 << 20,
            goal_bytes: 100 << 20,
            ..GoFacts::default()
        };
        let check = |go: &GoFacts, expected: Option<&str>| {
            let found = collections(&facts(go.clone(), 40));
            assert_eq!(found.as_ref().map(|found| found.cause), expected, "{go:?}");
            found.map(|found| found.sentence)
        };
        let sentence = check(&go, Some("go-collections")).unwrap();
        assert!(sentence.contains("40 %") && sentence.contains("main.parse"), "{sentence}");
        check(&GoFacts { gc_percent: Some(10), goal_bytes: 55 << 20, ..go.clone() }, Some("go-gc-percent"));
        let limited = GoFacts { memory_limit: Some(64 << 20), goal_bytes: 60 << 20, ..go.clone() };
        check(&limited, Some("go-memory-limit"));
        check(&GoFacts { gc_percent: Some(-1), ..limited }, Some("go-memory-limit"));
        // A limit that is far away, and a program without collections.
        check(&GoFacts { memory_limit: Some(8 << 30), ..go.clone() }, Some("go-collections"));
        check(&GoFacts { collections: 0.0, ..go }, None);
        assert!(collections(&Facts::default()).is_none());
    }

    #[test]
    fn processors_that_go_does_not_use() {
        let cause = |processors, runnable, running| {
            let go = GoFacts { processors: Some(processors), runnable, running, ..GoFacts::default() };
            let facts = Facts { user_seconds: 10.0, ..facts(go, 0) };
            super::processors(&facts).map(|found| found.cause)
        };
        assert_eq!(cause(1, 3.0, 1.0), Some("gomaxprocs"));
        assert_eq!(cause(2, 3.0, 2.0), None);
        assert_eq!(cause(1, 0.1, 0.9), None);
        assert_eq!(cause(1, 3.0, 0.1), None);
    }
}
