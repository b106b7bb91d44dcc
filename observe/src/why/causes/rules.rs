//! Rules, one per cause. Each estimates the share of the time that its
//! cause costs, and returns the evidence and the cure.

use crate::why::account::waiting::Waiting;
use crate::why::causes::finding::{
    COST_MIN, Finding, GIVING_BACK_FRAMES, PAGE_FAULT_FRAMES, has_frame, of_processor, percent,
    while_processors_are_free,
};
use crate::why::causes::network::{connections, wire};
use crate::why::causes::processor::hot::{faulting_function, hot_method, system_calls};
use crate::why::causes::processor::one_thread;
use crate::why::causes::processor::repeated::repeated;
use crate::why::causes::runtimes::{collections, go, node, python};
use crate::why::causes::waits::blocked_loop::blocked_loop;
use crate::why::causes::waits::database::database_lock;
use crate::why::causes::waits::deadlock::deadlock;
use crate::why::causes::waits::held;
use crate::why::causes::waits::held::waits_for_others;
use crate::why::causes::waits::pipe::full_pipe;
use crate::why::causes::waits::workers::{UNKNOWN_PEER, peer};
use crate::why::causes::{growth, outside, storage};
use crate::why::facts::Facts;
use crate::why::requests;

/// Cost of a further cause, as a share of the first one's, from which on it is reported.
const OF_FIRST: f64 = 0.4;
/// Causes reported at most.
const FINDINGS_MAX: usize = 3;
const DEADLOCK: &str = "deadlock";
/// Threads waiting for peers at a time, on average, from which on they count. A thread that sends a request now and
/// then waits for each answer without being held up.
const PEER_WAITERS_MIN: f64 = 0.2;
const UNKNOWN_PEER_WAITERS_MIN: f64 = 0.5;

const MAPPING_FRAMES: [&str; 7] =
    ["sys_mmap", "sys_munmap", "sys_mprotect", "sys_mremap", "do_mmap", "vm_mmap_pgoff", "sys_madvise"];

/// Returns the causes by descending cost; empty if nothing is wrong.
pub fn findings(facts: &Facts) -> Vec<Finding> {
    type Rule = fn(&Facts) -> Option<Finding>;
    let rules: [Rule; 19] = [
        deadlock,
        blocked_loop,
        database_lock,
        quota,
        memory,
        mappings,
        waits_for_others,
        full_pipe,
        held::sleeps,
        name_service,
        remote,
        hot_method,
        system_calls,
        repeated,
        one_thread::one_thread,
        node::collections,
        python::gil,
        python::collector,
        node::sync_calls,
    ];
    let of_storage: [Rule; 6] =
        [storage::fsync, storage::journal, storage::dirty, storage::directory, storage::reads, storage::limit];
    let of_connections: [Rule; 2] = [connections::listen_overflow, connections::ports];
    let of_go: [Rule; 3] = [go::collections, go::processors, go::forced];
    let of_requests: [Rule; 6] = [
        requests::outstanding,
        requests::connection_per_request,
        requests::unanswered_connects,
        wire::slow_receiver,
        wire::small_writes,
        wire::loss,
    ];
    let all = rules.iter().chain(&of_storage).chain(&of_connections).chain(&of_go).chain(&of_requests);
    let all = all.chain(&outside::RULES).chain(&collections::RULES).chain(&growth::RULES);
    let mut found: Vec<Finding> = all.filter_map(|rule| rule(facts)).collect();
    // A deadlock comes first, because nothing else helps its threads.
    found.sort_by(|a, b| (b.cause == DEADLOCK).cmp(&(a.cause == DEADLOCK)).then(b.cost.total_cmp(&a.cost)));
    drop_remotes_behind_queues(&mut found);
    drop_thread_with_cause(&mut found);
    // A neighbour's cost is a share of the whole time. The other costs are shares of the time that neighbours leave.
    let largest =
        |test: fn(&&Finding) -> bool| found.iter().filter(test).map(|finding| finding.cost).fold(0.0, f64::max);
    let (of_all, of_own) = (largest(|_| true), largest(|finding| !is_of_neighbours(finding)));
    let least = |finding: &Finding| if is_of_neighbours(finding) { of_all } else { of_own };
    found.retain(|finding| finding.cost >= COST_MIN.max(least(finding) * OF_FIRST));
    found.truncate(FINDINGS_MAX);
    found
}

fn is_of_neighbours(finding: &Finding) -> bool {
    outside::OF_NEIGHBOURS.contains(&finding.cause)
}

/// Causes whose holders may wait for a peer: the sentence names it then.
const QUEUES: [&str; 11] = [
    "nagle-delayed-ack",
    "pool-of-one",
    "pool",
    "stage",
    "lock",
    "executor",
    "full-executor-queue",
    "pinned-virtual-threads",
    "blocked-event-loop",
    "database-lock",
    "connection-per-request",
];
/// Causes on the other side of a connection.
const REMOTES: [&str; 2] = ["slow-remote", "slow-receiver"];
/// Cost of a queue, as a share of the remote's, from which on the queue is the cause.
const QUEUE_MIN: f64 = 0.4;

/// Drops slow remotes where the requests to them go through something that lets only few at a time.
fn drop_remotes_behind_queues(found: &mut Vec<Finding>) {
    let queue = found.iter().filter(|finding| QUEUES.contains(&finding.cause)).map(|finding| finding.cost);
    let queue = queue.fold(0.0, f64::max);
    found.retain(|finding| !REMOTES.contains(&finding.cause) || queue < COST_MIN.max(finding.cost * QUEUE_MIN));
}

/// Causes that only say which thread has all the work.
const OF_THREAD: [&str; 2] = ["one-thread", "event-loop"];
/// Cost of a cause of the work itself from which on it says more than the thread.
const WITHIN_MIN: f64 = 0.35;

/// Drops the thread that bounds a process where the cause of its work is known.
fn drop_thread_with_cause(found: &mut Vec<Finding>) {
    let is_other = |finding: &Finding| {
        !OF_THREAD.contains(&finding.cause) && !REMOTES.contains(&finding.cause) && !is_of_neighbours(finding)
    };
    if found.iter().any(|finding| is_other(finding) && finding.cost >= WITHIN_MIN) {
        found.retain(|finding| !OF_THREAD.contains(&finding.cause));
    }
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
                "Returning memory to the system and taking it again (munmap, page faults) bounds it: {} of its processor \
                 time{}.",
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
    let place = facts.in_place(Waiting::NameService);
    let servers = match facts.name_servers.as_slice() {
        [] => String::new(),
        [first, ..] => format!(" {first}"),
    };
    Some(Finding {
        cause: "slow-dns",
        cost,
        sentence: format!(
            "Name look-ups (DNS) bound it: {:.1} threads at a time wait for an address from the resolver{servers}{place}.",
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
    let peer = peer(facts);
    // Reads whose other side is unknown may be for a client's next request.
    let least = if peer == UNKNOWN_PEER { UNKNOWN_PEER_WAITERS_MIN } else { PEER_WAITERS_MIN };
    if facts.threads_waiting(Waiting::Network) < least * facts.unhindered() {
        return None;
    }
    let cost = waited(facts, Waiting::Network);
    let place = facts.in_place(Waiting::Network);
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
