//! Rules, one per cause. Each estimates the share of the time that its
//! cause costs, and returns the evidence and the cure.

use super::facts::Facts;
use super::finding::{COST_MIN, DEMAND_MIN, Finding, GIVING_BACK_FRAMES, PAGE_FAULT_FRAMES, has_frame, of_processor, percent, while_processors_are_free};
use super::waiting::Waiting;
use super::deadlock::deadlock;
use super::held::waits_for_others;
use super::hot::{faulting_function, hot_method, system_calls};
use super::{connections, go, held, node, one_thread, requests, storage, wire};
use yunti_probe::answer;

/// Cost of a further cause, as a share of the first one's, from which on it is reported.
const OF_FIRST: f64 = 0.4;
/// Causes reported at most.
const FINDINGS_MAX: usize = 3;
const DEADLOCK: &str = "deadlock";
const NEIGHBOUR: &str = "cpu-neighbour";
/// Threads waiting for peers at a time, on average, from which on they count. A thread that sends a request now and
/// then waits for each answer without being held up.
const PEER_WAITERS_MIN: f64 = 0.2;

const MAPPING_FRAMES: [&str; 7] =
    ["sys_mmap", "sys_munmap", "sys_mprotect", "sys_mremap", "do_mmap", "vm_mmap_pgoff", "sys_madvise"];

/// Returns the causes by descending cost; empty if nothing is wrong.
pub fn findings(facts: &Facts) -> Vec<Finding> {
    type Rule = fn(&Facts) -> Option<Finding>;
    let rules: [Rule; 15] = [
        deadlock,
        quota,
        neighbour,
        collections,
        memory,
        mappings,
        waits_for_others,
        held::sleeps,
        name_service,
        remote,
        hot_method,
        system_calls,
        one_thread::one_thread,
        node::collections,
        node::sync_calls,
    ];
    let of_storage: [Rule; 5] = [storage::fsync, storage::journal, storage::dirty, storage::directory, storage::reads];
    let of_connections: [Rule; 2] = [connections::listen_overflow, connections::ports];
    let of_go: [Rule; 2] = [go::collections, go::processors];
    let of_requests: [Rule; 6] = [
        requests::outstanding,
        requests::connection_per_request,
        requests::unanswered_connects,
        wire::slow_receiver,
        wire::small_writes,
        wire::loss,
    ];
    let all = rules.iter().chain(&of_storage).chain(&of_connections).chain(&of_go).chain(&of_requests);
    let mut found: Vec<Finding> = all.filter_map(|rule| rule(facts)).collect();
    // A deadlock comes first, because nothing else helps its threads.
    found.sort_by(|a, b| (b.cause == DEADLOCK).cmp(&(a.cause == DEADLOCK)).then(b.cost.total_cmp(&a.cost)));
    // A neighbour's cost is a share of the whole time. The other costs are shares of the time that neighbours leave.
    let largest =
        |test: fn(&&Finding) -> bool| found.iter().filter(test).map(|finding| finding.cost).fold(0.0, f64::max);
    let (of_all, of_own) = (largest(|_| true), largest(|finding| finding.cause != NEIGHBOUR));
    let least = |finding: &Finding| if finding.cause == NEIGHBOUR { of_all } else { of_own };
    found.retain(|finding| finding.cost >= COST_MIN.max(least(finding) * OF_FIRST));
    found.truncate(FINDINGS_MAX);
    found
}

/// Returns the cost of a kind of wait.
fn waited(facts: &Facts, waiting: Waiting) -> f64 {
    facts.threads_waiting(waiting) / facts.busy_threads().max(0.01) * while_processors_are_free(facts)
}

fn throttled(facts: &Facts) -> f64 {
    facts.throttling.throttled_periods as f64 / facts.throttling.periods.max(1) as f64
}

fn quota(facts: &Facts) -> Option<Finding> {
    let share = throttled(facts);
    let allowed = facts.throttling.processors?;
    (share > 0.1).then(|| Finding {
        cause: "cpu-quota",
        cost: share,
        sentence: format!(
            "The quota of its control group bounds it: {allowed:.2} processors, used up in {} of the periods.",
            percent(share)
        ),
        evidence: vec![
            format!(
                "throttled in {} of {} periods, {:.1} s in all",
                facts.throttling.throttled_periods, facts.throttling.periods, facts.throttling.throttled_seconds
            ),
            format!("{:.2} processors used", facts.cpu_seconds() / facts.seconds),
        ],
        cure: "a larger quota (cpu.max, cpu.cfs_quota_us; limits.cpu of Kubernetes), or fewer threads so that the \
             quota lasts for the whole period"
            .to_owned(),
    })
}

fn neighbour(facts: &Facts) -> Option<Finding> {
    // Threads that a quota throttles wait too, but for no other process. One that wants little is not held up by much.
    if throttled(facts) > 0.1 || facts.demand() < DEMAND_MIN {
        return None;
    }
    let ready = facts.cpu_seconds() + facts.queued_seconds;
    let queued = facts.queued_seconds / ready.max(0.001);
    let others = facts.others_processors() / facts.processors.max(0.01);
    let seconds = facts.seconds.max(0.001);
    let busy = facts.busy_threads() + facts.queued_for_others() / seconds;
    let of_busy = (ready / seconds / busy.max(0.01)).min(1.0);
    // Waits of its own threads for each other would remain without the other processes.
    let cost = queued.min(others) * of_busy;
    let (name, seconds) = facts.others.first()?;
    (queued > 0.15 && others > 0.2).then(|| Finding {
        cause: NEIGHBOUR,
        cost,
        sentence: format!(
            "Other processes take the processors: its threads were ready for {ready:.1} s and waited {} of it for \
             one, above all because of {name} ({:.2} processors).",
            percent(queued),
            seconds / facts.seconds
        ),
        evidence: facts
            .others
            .iter()
            .take(5)
            .map(|(name, seconds)| format!("{name}: {:.2} processors", seconds / facts.seconds))
            .collect(),
        cure: format!(
            "give {name} less (nice, a control group with cpu.weight or a quota), move it, or move this process"
        ),
    })
}

/// Share of the time in pauses from which on collections count.
const PAUSES_MIN: f64 = 0.1;

fn collections(facts: &Facts) -> Option<Finding> {
    let heap = facts.heap.as_ref()?;
    let share = heap.pause_share;
    if share < PAUSES_MIN {
        return None;
    }
    let processors = facts.processors.ceil().max(1.0);
    let rate = heap.young_collections / facts.seconds;
    let consumed = heap.eden_bytes * heap.young_collections;
    let promoted = heap.promoted_bytes / consumed.max(1.0);
    let evidence = vec![
        format!(
            "pauses: {} of the time; {rate:.1} young collections per second, {} others",
            percent(share),
            heap.old_collections
        ),
        format!(
            "eden {}, heap at most {}; {} promoted, {} of the allocated bytes",
            answer::bytes(heap.eden_bytes as u64),
            answer::bytes(heap.heap_max_bytes as u64),
            answer::bytes(heap.promoted_bytes as u64),
            percent(promoted)
        ),
        format!(
            "{} GC threads on {processors:.0} processors, {:.1} s of processor time",
            facts.gc_threads, facts.gc_seconds
        ),
    ];
    let finding = |cause, sentence: String, cure: &str| Finding {
        cause,
        cost: share,
        sentence,
        evidence: evidence.clone(),
        cure: cure.to_owned(),
    };
    Some(if facts.gc_threads as f64 > (processors * 1.5).max(processors + 1.0) {
        finding(
            "too-many-gc-threads",
            format!(
                "Garbage collection bounds it: {} of the time, by {} threads on {processors:.0} processors, which \
                 wait for each other.",
                percent(share),
                facts.gc_threads
            ),
            "set -XX:ParallelGCThreads to the number of processors, or remove it; in a container, use a JVM that \
             honours its limits",
        )
    } else if promoted > 0.08 || promoted > 0.05 && heap.old_collections / facts.seconds > 0.3 {
        finding(
            "promotion",
            format!(
                "Garbage collection bounds it: {} of the time, because {} per second live long enough to be promoted \
                 to the old generation.",
                percent(share),
                answer::bytes((heap.promoted_bytes / facts.seconds) as u64)
            ),
            "slow requests keep their allocations alive: let them hold less (stream, page), or limit how many run at \
             once; or enlarge the young generation (-Xmn)",
        )
    } else {
        finding(
            "small-young-generation",
            format!(
                "Garbage collection bounds it: {} of the time, {rate:.0} collections per second of an eden of {}.",
                percent(share),
                answer::bytes(heap.eden_bytes as u64)
            ),
            "a larger young generation (-Xmn, -XX:NewSize, -XX:MaxNewSize), or G1 without these flags and with a \
             larger -Xmx",
        )
    })
}

/// Page faults per second from which on small pages have a noticeable cost.
const FAULTS_MANY: f64 = 5000.0;

fn memory(facts: &Facts) -> Option<Finding> {
    let faulting = facts.cpu_share(|frames| has_frame(frames, &PAGE_FAULT_FRAMES));
    let both =
        facts.cpu_share(|frames| has_frame(frames, &PAGE_FAULT_FRAMES) || has_frame(frames, &GIVING_BACK_FRAMES));
    let faults = facts.details.faults.as_ref()?;
    // Pages of mapped files are not fresh memory. Their cost is reading.
    if faults.first_touch + faults.again + faults.copies < 0.5 {
        return None;
    }
    let place = faulting_function(facts).map_or_else(String::new, |name| format!(", above all in {name}"));
    let evidence = vec![
        format!("{:.0} page faults per second, above all {}", faults.per_second, faults.place),
        format!(
            "{} of its processor time in page faults, {} including the return of memory to the system",
            percent(faulting),
            percent(both)
        ),
        format!(
            "first touches {}, repeated touches of returned pages {}, copies on write {}",
            percent(faults.first_touch),
            percent(faults.again),
            percent(faults.copies)
        ),
    ];
    // Few faults with a high cost: each one maps a huge page.
    let is_huge = faulting > 0.2 && facts.faults / facts.seconds.max(0.001) < FAULTS_MANY;
    let cure = match &faults.advice {
        _ if is_huge => "the pages are huge already, and the kernel clears each one: keep and reuse memory".to_owned(),
        Some(advice) => advice.clone(),
        None => "`yunti observe faults` shows where".to_owned(),
    };
    let weight = of_processor(facts);
    Some(if faults.copies > 0.4 {
        Finding {
            cause: "copy-on-write",
            cost: faulting * weight,
            sentence: format!(
                "Copying pages bounds it: after a fork each page that is written is copied first, {} of its \
                 processor time{}.",
                percent(faulting),
                place
            ),
            evidence,
            cure,
        }
    } else if faults.again > 0.5 && by_allocator(facts) > 0.5 {
        Finding {
            cause: "eager-allocator",
            cost: both * weight,
            sentence: format!(
                "Returning memory to the system and taking it again bounds it: {} of its processor time{}.",
                percent(both),
                place
            ),
            evidence,
            cure,
        }
    } else {
        Finding {
            cause: "first-touch",
            cost: faulting * weight,
            sentence: format!(
                "Fresh memory bounds it: {} of its processor time is spent on first touches of pages{}.",
                percent(faulting),
                place
            ),
            evidence,
            cure,
        }
    })
}

const ALLOCATORS: [&str; 12] = [
    "_int_free",
    "__libc_free",
    "systrim",
    "sysmalloc",
    "_int_malloc",
    "munmap_chunk",
    "heap_trim",
    "je_",
    "mi_free",
    "mi_malloc",
    "tc_free",
    "tcmalloc",
];

/// Returns the share of the time of returning memory that an allocator spends, not the program itself.
fn by_allocator(facts: &Facts) -> f64 {
    let all = facts.cpu_share(|frames| has_frame(frames, &GIVING_BACK_FRAMES));
    facts.cpu_share(|frames| has_frame(frames, &GIVING_BACK_FRAMES) && has_frame(frames, &ALLOCATORS)) / all.max(1e-9)
}

/// Mappings from which on their number slows the kernel down.
const MAPPINGS_MANY: usize = 20_000;

fn mappings(facts: &Facts) -> Option<Finding> {
    let share = facts.cpu_share(|frames| has_frame(frames, &MAPPING_FRAMES));
    (facts.mappings >= MAPPINGS_MANY).then(|| Finding {
        cause: "many-mappings",
        cost: share * of_processor(facts),
        sentence: format!(
            "Mapping and unmapping memory bounds it: {} of its processor time, in a process with {} mappings.",
            percent(share),
            facts.mappings
        ),
        evidence: vec![format!("{} mappings; the limit is /proc/sys/vm/max_map_count", facts.mappings)],
        cure:
            "map large pieces and divide them in the program, or read() into reused buffers; fewer and larger mappings"
                .to_owned(),
    })
}

fn name_service(facts: &Facts) -> Option<Finding> {
    let cost = waited(facts, Waiting::NameService);
    if facts.threads_waiting(Waiting::NameService) < PEER_WAITERS_MIN * facts.unhindered() {
        return None;
    }
    let place = facts.waits_in(Waiting::NameService).map_or_else(String::new, |(name, _)| format!(", in {name}"));
    Some(Finding {
        cause: "slow-dns",
        cost,
        sentence: format!(
            "Name look-ups bound it: {:.1} threads at a time wait for an address{place}.",
            facts.threads_waiting(Waiting::NameService)
        ),
        evidence: vec!["`yunti observe native getaddrinfo` shows each name and its duration".to_owned()],
        cure: "a resolver that answers (order and timeout in /etc/resolv.conf, search domains, ndots), a local cache, \
             or connections that are kept open"
            .to_owned(),
    })
}

fn remote(facts: &Facts) -> Option<Finding> {
    // Threads that proceed in a pool, or work for a full queue, belong to that cause.
    if waits_for_others(facts).is_some_and(|other| other.cause != "lock" && other.cost > COST_MIN) {
        return None;
    }
    if facts.threads_waiting(Waiting::Network) < PEER_WAITERS_MIN * facts.unhindered() {
        return None;
    }
    let cost = waited(facts, Waiting::Network);
    let (peer, _) = facts.peers.first().cloned().unwrap_or_else(|| ("a peer".to_owned(), 0.0));
    let place = facts.waits_in(Waiting::Network).map_or_else(String::new, |(name, _)| format!(", in {name}"));
    Some(Finding {
        cause: "slow-remote",
        cost,
        sentence: format!(
            "A remote bounds it: {:.1} threads at a time wait for {peer}{place}.",
            facts.threads_waiting(Waiting::Network)
        ),
        evidence: facts
            .peers
            .iter()
            .take(3)
            .map(|(peer, seconds)| format!("{peer}: {seconds:.1} s of waiting"))
            .collect(),
        cure: "find the cause there; here, make fewer calls, several at once, cache answers, or use more threads if \
             there is work for them"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::facts::{Details, FaultSummary, ThreadFacts};
    use yunti_probe::stack::Frame;
    use yunti_probe::stack::Kind;

    fn facts(cpu_seconds: f64, queued_seconds: f64, frames: &[(&str, Kind)]) -> Facts {
        let running = (cpu_seconds + queued_seconds) / 10.0;
        let thread = ThreadFacts { shares: [(Waiting::Not, running)].into(), ..ThreadFacts::default() };
        let frames: Vec<Frame> =
            frames.iter().map(|(name, kind)| Frame { name: (*name).into(), kind: *kind }).collect();
        Facts {
            seconds: 10.0,
            processors: 2.0,
            user_seconds: cpu_seconds,
            queued_seconds,
            threads: vec![thread],
            on_cpu: vec![(frames.into(), 100)],
            ..Facts::default()
        }
    }

    #[test]
    fn occasional_work_is_not_cpu_bound() {
        let is_reported = |cpu, queued| findings(&facts(cpu, queued, &[("distance", Kind::Native)])).len() == 1;
        assert!(is_reported(9.0, 0.5));
        // It gets an eighth of a processor and would use a whole one.
        assert!(is_reported(1.2, 8.7));
        // One line every five milliseconds, from a thread that waits for a processor before it writes.
        assert!(!is_reported(0.4, 0.6) && !is_reported(0.2, 6.0));
    }

    #[test]
    fn pages_of_files_are_not_fresh_memory() {
        let of = |first_touch| {
            let faults = FaultSummary {
                per_second: 9000.0,
                first_touch,
                again: 0.0,
                copies: 0.0,
                place: "somewhere".to_owned(),
                advice: None,
            };
            let frames = [("main", Kind::Native), ("asm_exc_page_fault", Kind::Kernel)];
            let details = Details { faults: Some(faults), ..Details::default() };
            findings(&Facts { details, ..facts(9.0, 0.5, &frames) }).first().map(|found| found.cause)
        };
        assert_eq!((of(0.9), of(0.0)), (Some("first-touch"), None));
    }
}
