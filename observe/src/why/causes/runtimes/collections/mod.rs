//! Garbage collection and other work of a JVM that bounds a program.
//!
//! `compiler.rs` has interpreted code, compilations and class loading.
//!
//! Collections that are too frequent or too long have causes that need opposite cures. Each is recognised by a sign
//! that only it shows, in this order:
//!
//! ```text
//!   Did the heap need the collection?       no: its cause in the JVM's words is System.gc(), metadata, or a tool
//!   Do objects that stay fill the heap?     yes: the old generation after collections is nearly as large as it may be.
//!                                           A larger young generation would take memory from it
//!   Do many threads collect on few processors?
//!   Do objects live a little too long?      yes: bytes are promoted, relative to allocated ones
//!   none of these                           the young generation is small
//! ```

mod compiler;

pub use compiler::needs_code_cache;

use crate::why::causes::finding::{Finding, has_frame, of_processor, percent};
use crate::why::facts::{Facts, HeapFacts};
use yunti_probe::answer;

type Rule = fn(&Facts) -> Option<Finding>;

pub const RULES: [Rule; 7] = [
    collections,
    stalls,
    finalizers,
    compiler::interpreted,
    compiler::deoptimised,
    compiler::compilation,
    compiler::class_loading,
];

/// Share of the time in pauses from which on collections count.
const PAUSES_MIN: f64 = 0.1;
/// Share of a cause in the pauses from which on it is the cause.
const MOST: f64 = 0.5;
/// Share of the heap that objects which stay fill after a full collection, from which on the heap is too small.
const FULL_MIN: f64 = 0.7;
/// The same after other collections, which leave dead objects too.
const FULL_MIN_INEXACT: f64 = 0.85;
/// Collections by request per second that make a loop.
const REQUESTED_MIN: f64 = 0.5;

const SYSTEM_GC: &str = "System.gc()";
/// Causes of collections that a tool wants.
const BY_TOOLS: [&str; 5] =
    ["Heap Inspection", "Heap Dump", "Diagnostic Command", "JvmtiEnv", "Full GC Collected by Diagnostic"];

fn collections(facts: &Facts) -> Option<Finding> {
    let heap = facts.heap.as_ref()?;
    let share = heap.pause_share;
    if share < PAUSES_MIN {
        return None;
    }
    let evidence = evidence(facts, heap);
    let finding = |cause, sentence: String, cure: String| Finding {
        cause,
        cost: share.min(1.0),
        sentence,
        evidence: evidence.clone(),
        cure,
    };
    let bounds = format!("Garbage collection bounds it: {} of the time", percent(share));
    let seconds = facts.seconds.max(0.001);
    let of = |test: &dyn Fn(&str) -> bool| heap.share_of(test);
    let count = |test: &dyn Fn(&str) -> bool| {
        heap.causes.iter().filter(|cause| test(&cause.name)).map(|cause| cause.collections).sum::<f64>() / seconds
    };
    if let Some((sentence, cure)) = requested(facts, heap, &bounds) {
        return Some(finding("system-gc", sentence, cure));
    }
    let is_tool = |cause: &str| BY_TOOLS.iter().any(|tool| cause.starts_with(tool));
    if of(&is_tool) > MOST {
        let who = facts.outside.named_by.first().map_or_else(String::new, |(name, ..)| format!(", {name} for one"));
        return Some(finding(
            "collections-by-tools",
            format!(
                "{bounds}, {:.1} times per second because a tool counts or dumps its heap (jmap, jcmd{who}).",
                count(&is_tool)
            ),
            "end the tool, or let it ask less often and not for live objects".to_owned(),
        ));
    }
    let is_metadata = |cause: &str| cause.starts_with("Metadata GC");
    if of(&is_metadata) > MOST {
        return Some(finding(
            "metaspace",
            format!(
                "{bounds}, because the space for classes is full: {:.0} classes per second are loaded, and each \
                 collection makes room for more.",
                heap.classes / seconds
            ),
            "-XX:MaxMetaspaceSize larger or without it, -XX:MetaspaceSize as large as it becomes; and fewer generated \
             classes (scripts, proxies, lambdas by reflection, one class loader per request)"
                .to_owned(),
        ));
    }
    if is_too_small(heap) {
        let (live, all) = (heap.live_bytes, capacity(heap));
        return Some(finding(
            "heap-too-small",
            format!(
                "{bounds}, because the heap is too small: {} of {} stay in use after {} collections, so little is \
                 left for new objects.",
                answer::bytes(live as u64),
                answer::bytes(all as u64),
                if heap.is_live_exact { "full" } else { "its" }
            ),
            format!(
                "a larger heap: -Xmx of at least {}, twice what stays in use; or hold less (caches, sessions). A \
                 larger young generation makes it worse",
                answer::bytes((live * 2.0) as u64)
            ),
        ));
    }
    let is_humongous = |cause: &str| cause.contains("Humongous");
    if of(&is_humongous) > MOST {
        return Some(finding(
            "humongous-objects",
            format!(
                "{bounds}, because large arrays fill it: G1 gives each object of half a region or more regions of its \
                 own, {:.1} collections per second for them.",
                count(&is_humongous)
            ),
            "-XX:G1HeapRegionSize larger (up to 32 MB; objects below half of it are ordinary ones), smaller or reused \
             buffers, or ParallelGC"
                .to_owned(),
        ));
    }
    let processors = facts.processors.ceil().max(1.0);
    let promoted = promoted(heap);
    let rate = heap.young_collections / seconds;
    Some(if facts.gc_threads as f64 > (processors * 1.5).max(processors + 1.0) {
        finding(
            "too-many-gc-threads",
            format!(
                "{bounds}, by {} threads on {processors:.0} processors, which wait for each other.",
                facts.gc_threads
            ),
            "set -XX:ParallelGCThreads to the number of processors, or remove it; in a container, use a JVM that \
             honours its limits"
                .to_owned(),
        )
    } else if promoted > 0.08 || promoted > 0.05 && heap.old_collections / seconds > 0.3 {
        finding(
            "promotion",
            format!(
                "{bounds}, because {} per second live long enough to be promoted to the old generation.",
                answer::bytes((heap.promoted_bytes / seconds) as u64)
            ),
            "slow requests keep their allocations alive: let them hold less (stream, page), or limit how many run at \
             once; or enlarge the young generation (-Xmn)"
                .to_owned(),
        )
    } else {
        finding(
            "small-young-generation",
            format!(
                "{bounds}, {rate:.0} collections per second of an eden of {}.",
                answer::bytes(heap.eden_bytes as u64)
            ),
            "a larger young generation (-Xmn, -XX:NewSize, -XX:MaxNewSize), or G1 without these flags and with a \
             larger -Xmx"
                .to_owned(),
        )
    })
}

/// Returns the share of the allocated bytes that were promoted.
fn promoted(heap: &HeapFacts) -> f64 {
    if heap.young_collections <= 0.0 {
        return 0.0;
    }
    heap.promoted_bytes / (heap.eden_bytes * heap.young_collections).max(1.0)
}

fn evidence(facts: &Facts, heap: &HeapFacts) -> Vec<String> {
    let causes: Vec<String> = heap
        .causes
        .iter()
        .take(3)
        .map(|cause| format!("{} {:.0} times, {:.2} s", cause.name, cause.collections, cause.seconds))
        .collect();
    vec![
        format!(
            "pauses: {} of the time; {:.1} young collections per second, {} full, {} others",
            percent(heap.pause_share),
            heap.young_collections / facts.seconds.max(0.001),
            heap.full_collections,
            heap.old_collections - heap.full_collections
        ),
        format!(
            "eden {}, heap at most {}, old generation {} after collections; {} promoted{}",
            answer::bytes(heap.eden_bytes as u64),
            answer::bytes(heap.heap_max_bytes as u64),
            answer::bytes(heap.live_bytes as u64),
            answer::bytes(heap.promoted_bytes as u64),
            match heap.young_collections > 0.0 {
                true => format!(", {} of the allocated bytes", percent(promoted(heap))),
                false => String::new(),
            }
        ),
        if causes.is_empty() { String::new() } else { format!("causes: {}", causes.join("; ")) },
        format!(
            "{} GC threads on {:.0} processors, {:.1} s of processor time",
            facts.gc_threads,
            facts.processors.ceil().max(1.0),
            facts.gc_seconds
        ),
    ]
}

/// Returns the sentence and the cure if the program itself asks for its collections.
fn requested(facts: &Facts, heap: &HeapFacts, bounds: &str) -> Option<(String, String)> {
    let is_requested = |cause: &str| cause == SYSTEM_GC;
    let n: f64 = heap.causes.iter().filter(|cause| is_requested(&cause.name)).map(|cause| cause.collections).sum();
    let rate = n / facts.seconds.max(0.001);
    if heap.share_of(is_requested) < MOST || rate < REQUESTED_MIN {
        return None;
    }
    let caller = facts.jvm.gc_caller();
    let place = caller.as_ref().map_or_else(String::new, |(name, _)| format!(" in {name}"));
    let all: f64 = facts.jvm.gc_callers.values().sum();
    if facts.jvm.out_of_direct > all * MOST && all > 0.0 {
        return Some((
            format!(
                "{bounds}, because direct memory is at its limit: ByteBuffer.allocateDirect{place} calls System.gc() \
                 {rate:.1} times per second to free some."
            ),
            "-XX:MaxDirectMemorySize larger, and pooled or reused direct buffers".to_owned(),
        ));
    }
    Some((
        format!("{bounds}, because the program calls System.gc(){place}, {rate:.1} times per second."),
        "remove the call, or -XX:+DisableExplicitGC; with direct buffers or RMI -XX:+ExplicitGCInvokesConcurrent"
            .to_owned(),
    ))
}

fn capacity(heap: &HeapFacts) -> f64 {
    heap.old_max_bytes.max(1.0)
}

/// Returns true if objects that stay in use fill the heap.
fn is_too_small(heap: &HeapFacts) -> bool {
    let filled = heap.live_bytes / capacity(heap);
    let least = if heap.is_live_exact { FULL_MIN } else { FULL_MIN_INEXACT };
    // Full collections that take most of the pauses find no room elsewhere: the JVM makes them as a last resort.
    let is_last_resort = heap.full_share > heap.pause_share * MOST && filled > FULL_MIN * 0.8;
    filled > least || is_last_resort
}

/// Threads in stalled allocations at a time, on average, from which on they count.
const STALLED_MIN: f64 = 0.1;

fn stalls(facts: &Facts) -> Option<Finding> {
    let stalled = facts.jvm.stalled;
    (stalled > STALLED_MIN).then(|| Finding {
        cause: "allocation-stall",
        cost: (stalled / (facts.busy_threads() + stalled).max(0.01)).min(1.0),
        sentence: format!(
            "The concurrent collector does not keep up: {stalled:.1} threads at a time wait for memory that it frees."
        ),
        evidence: vec!["frames of ZPageAllocator, or of Shenandoah's pacer, in the threads' stacks".to_owned()],
        cure: "a larger -Xmx, fewer allocations, more collector threads (-XX:ConcGCThreads), \
               -XX:+ZGenerational before Java 23"
            .to_owned(),
    })
}

/// Share of the time in which the finalizer's thread works from which on it does not keep up.
const FINALIZING_MIN: f64 = 0.8;

fn finalizers(facts: &Facts) -> Option<Finding> {
    let share = facts.jvm.finalizing;
    if share < FINALIZING_MIN {
        return None;
    }
    let pauses = facts.heap.as_ref().map_or(0.0, |heap| heap.pause_share.min(1.0));
    let registering =
        facts.cpu_share(|frames| has_frame(frames, &["java.lang.ref.Finalizer", "JVM_RegisterFinalizer"]));
    let place = facts.jvm.finalizer.as_ref().map_or_else(String::new, |name| format!(", mostly in {name}"));
    Some(Finding {
        cause: "finalizers",
        cost: (pauses + registering * of_processor(facts)).min(1.0),
        sentence: format!(
            "Finalizers bound it: their one thread works {} of the time{place}, and objects wait for it in the heap; \
             collections take {} of the time.",
            percent(share),
            percent(pauses)
        ),
        evidence: vec![
            format!("{} of the processor time outside of it in java.lang.ref.Finalizer", percent(registering)),
            "jcmd GC.finalizer_info shows how many wait".to_owned(),
        ],
        cure: "close() and try-with-resources instead of finalize(); java.lang.ref.Cleaner where it must be; a \
               finalize() that does not wait"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::account::waiting::Waiting;
    use crate::why::facts::{GcCause, JvmStacks, ThreadFacts};

    fn heap(causes: &[(&str, f64)], live: f64, is_live_exact: bool) -> HeapFacts {
        let of =
            |(name, seconds): &(&str, f64)| GcCause { name: (*name).to_owned(), collections: 50.0, seconds: *seconds };
        HeapFacts {
            pause_share: 0.5,
            young_collections: 100.0,
            eden_bytes: 10e6,
            heap_max_bytes: 100e6,
            old_max_bytes: 100e6,
            live_bytes: live,
            is_live_exact,
            causes: causes.iter().map(of).collect(),
            ..HeapFacts::default()
        }
    }

    fn facts(heap: HeapFacts) -> Facts {
        let thread = ThreadFacts { shares: [(Waiting::Not, 1.0)].into(), ..ThreadFacts::default() };
        Facts {
            seconds: 10.0,
            processors: 2.0,
            is_jvm: true,
            threads: vec![thread],
            heap: Some(heap),
            ..Facts::default()
        }
    }

    fn cause(heap: HeapFacts) -> &'static str {
        collections(&facts(heap)).unwrap().cause
    }

    #[test]
    fn causes_in_the_words_of_the_jvm() {
        let of = |name: &str| cause(heap(&[(name, 4.0), ("G1 Evacuation Pause", 1.0)], 10e6, false));
        assert_eq!(of("System.gc()"), "system-gc");
        assert_eq!(of("Metadata GC Threshold"), "metaspace");
        assert_eq!(of("G1 Humongous Allocation"), "humongous-objects");
        assert_eq!(of("Heap Inspection Initiated GC"), "collections-by-tools");
        assert_eq!(of("Allocation Failure"), "small-young-generation");
    }

    #[test]
    fn a_full_heap_needs_a_larger_heap() {
        let of = |live, is_exact| cause(heap(&[("Allocation Failure", 5.0)], live, is_exact));
        assert_eq!((of(75e6, true), of(90e6, false)), ("heap-too-small", "heap-too-small"));
        // After a young collection the old generation holds dead objects too.
        assert_eq!((of(75e6, false), of(30e6, true)), ("small-young-generation", "small-young-generation"));
        let last_resort = HeapFacts { full_share: 0.4, ..heap(&[("Ergonomics", 5.0)], 60e6, true) };
        assert_eq!(cause(last_resort), "heap-too-small");
        let cure = collections(&facts(heap(&[], 75e6, true))).unwrap().cure;
        assert!(cure.starts_with("a larger heap"), "{cure}");
    }

    #[test]
    fn promotion_and_threads() {
        assert_eq!(cause(HeapFacts { promoted_bytes: 200e6, ..heap(&[], 10e6, false) }), "promotion");
        let many = Facts { gc_threads: 16, ..facts(heap(&[], 10e6, false)) };
        assert_eq!(collections(&many).unwrap().cause, "too-many-gc-threads");
        assert!(collections(&facts(HeapFacts { pause_share: 0.05, ..HeapFacts::default() })).is_none());
    }

    #[test]
    fn direct_memory_and_callers() {
        let callers = [("a.Shop.buffer".into(), 0.4)].into();
        let direct = JvmStacks { gc_callers: callers, out_of_direct: 0.4, ..JvmStacks::default() };
        let of = |jvm| collections(&Facts { jvm, ..facts(heap(&[(SYSTEM_GC, 5.0)], 10e6, true)) }).unwrap();
        assert!(of(direct.clone()).cure.contains("MaxDirectMemorySize"));
        let found = of(JvmStacks { out_of_direct: 0.0, ..direct });
        assert!(found.sentence.contains("calls System.gc() in a.Shop.buffer, 5.0 times"), "{}", found.sentence);
    }

    #[test]
    fn finalizers_that_do_not_keep_up() {
        let of = |finalizing| {
            let jvm = JvmStacks { finalizing, ..JvmStacks::default() };
            finalizers(&Facts { jvm, ..facts(heap(&[], 10e6, false)) }).map(|found| found.cost)
        };
        assert_eq!((of(0.95), of(0.3)), (Some(0.5), None));
    }
}
