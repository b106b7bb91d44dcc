//! Rules, one per cause. Each estimates the share of the time that its
//! cause costs, and returns the evidence and the cure.

use std::rc::Rc;

use super::facts::Facts;
use super::finding::{Finding, PAGE_FAULT_FRAMES, has_frame, of_processor, percent, while_processors_are_free};
use super::waiting::Waiting;
use super::{collections, connections, growth, outside, storage};

/// Cost below which a cause is not reported.
const COST_MIN: f64 = 0.15;
/// Cost of a further cause, as a share of the first one's, from which on it is reported.
const OF_FIRST: f64 = 0.4;
/// Causes reported at most.
const FINDINGS_MAX: usize = 3;
/// Threads waiting for peers at a time, on average, from which on they count. A thread that sends a request now and
/// then waits for each answer without being held up.
const PEER_WAITERS_MIN: f64 = 0.2;

const GIVING_BACK_FRAMES: [&str; 6] =
    ["sys_munmap", "sys_madvise", "sys_brk", "unmap_region", "zap_page_range", "do_madvise"];
const MAPPING_FRAMES: [&str; 7] =
    ["sys_mmap", "sys_munmap", "sys_mprotect", "sys_mremap", "do_mmap", "vm_mmap_pgoff", "sys_madvise"];

/// Returns the causes by descending cost; empty if nothing is wrong.
pub fn findings(facts: &Facts) -> Vec<Finding> {
    type Rule = fn(&Facts) -> Option<Finding>;
    let rules: [Rule; 7] = [quota, memory, mappings, waits_for_others, name_service, remote, hot_method];
    let of_storage: [Rule; 5] = [storage::fsync, storage::journal, storage::dirty, storage::directory, storage::reads];
    let of_connections: [Rule; 2] = [connections::listen_overflow, connections::ports];
    let all = rules.iter().chain(&of_storage).chain(&of_connections);
    let all = all.chain(&outside::RULES).chain(&collections::RULES).chain(&growth::RULES);
    let mut found: Vec<Finding> = all.filter_map(|rule| rule(facts)).collect();
    found.sort_by(|a, b| b.cost.total_cmp(&a.cost));
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

/// Returns the program's own function with the most page faults.
fn faulting_function(facts: &Facts) -> Option<Rc<str>> {
    facts.own_function(|frames| has_frame(frames, &PAGE_FAULT_FRAMES)).map(|(name, _)| name)
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

/// Threads waiting for locks at a time, on average, from which on they count.
const LOCK_WAITERS_MIN: f64 = 0.2;
/// Waits per second for a fair lock from which on it has a convoy.
const CONVOY_WAITS_PER_SECOND: f64 = 500.0;

/// Returns the costliest wait for another thread of the process: lock, pool or queue.
fn waits_for_others(facts: &Facts) -> Option<Finding> {
    let found = [full_queue(facts), pool_of_one(facts), lock(facts)];
    found.into_iter().flatten().max_by(|a, b| a.cost.total_cmp(&b.cost))
}

/// Queued tasks from which on a queue counts as full.
const QUEUED_MANY: u64 = 1000;

fn full_queue(facts: &Facts) -> Option<Finding> {
    let queued = facts.details.queued_tasks.filter(|queued| *queued >= QUEUED_MANY)?;
    let free = while_processors_are_free(facts);
    use Waiting::{File, Lock, NameService, Network, Not, Resource, Result, Sleep};
    let of_workers = |waiting| facts.waits_in_of(waiting, |thread| thread.is_worker);
    let ways = [Network, NameService, File, Resource, Lock, Result, Sleep, Not].into_iter().filter_map(of_workers);
    let (place, _) = ways.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(Finding {
        cause: "full-executor-queue",
        cost: free,
        sentence: format!(
            "The threads of an executor bound it: up to {queued} tasks wait in its queue, and its threads are never \
             idle while {} of the processors are.",
            percent(1.0 - facts.utilisation())
        ),
        evidence: vec![
            format!("{queued} queue entries in the heap, including finished ones that are not collected yet"),
            format!("its threads are mostly in {place}"),
        ],
        cure:
            "more threads in the executor, because they wait rather than compute; and a bounded queue for back-pressure"
                .to_owned(),
    })
}

/// Finds threads that wait in one place while together they do the work of one thread.
fn pool_of_one(facts: &Facts) -> Option<Finding> {
    let (place, _) = facts.waits_in(Waiting::Resource)?;
    let here = |thread: &&super::facts::ThreadFacts| {
        thread.waits_in.get(&(Waiting::Resource, place.clone())).copied().unwrap_or(0.0)
    };
    let group: Vec<_> = facts.threads.iter().filter(|thread| here(thread) > 0.3).collect();
    let waiting: f64 = group.iter().map(here).sum();
    let active = group.len() as f64
        - waiting
        - group.iter().map(|t| t.share(Waiting::Idle) + t.share(Waiting::Sleep)).sum::<f64>();
    let is_one = group.len() >= 3 && (0.6..=1.4).contains(&active);
    is_one.then(|| Finding {
        cause: "pool-of-one",
        cost: waiting / facts.busy_threads().max(0.01) * while_processors_are_free(facts),
        sentence: format!(
            "A pool of one bounds it: {} threads use it in {place}, {waiting:.1} of them wait at a time, and only \
             one proceeds.",
            group.len()
        ),
        evidence: vec![
            format!("{active:.2} of {} threads are active at a time, never more than one", group.len()),
            facts.waits_in(Waiting::Network).map_or_else(String::new, |(name, n)| {
                format!("at the same time {n:.2} threads wait for a peer in {name}")
            }),
        ],
        cure: "a larger pool: as large as the other side can bear, or one entry per thread".to_owned(),
    })
}

fn lock(facts: &Facts) -> Option<Finding> {
    let longest = facts.details.lock.as_ref();
    let waiting = match longest {
        Some(lock) if !facts.is_jvm => lock.waiting_threads,
        _ => facts.threads_waiting(Waiting::Lock),
    };
    if waiting < LOCK_WAITERS_MIN {
        return None;
    }
    let busy = if facts.is_jvm { facts.busy_threads() } else { facts.busy_threads() + waiting };
    // The contention of the first measurement may be over in the second.
    let name = longest.map_or("a lock", |lock| &lock.name);
    let rate = longest.map_or(0.0, |lock| lock.waits_per_second);
    let is_fair = name.contains("FairSync") && !name.contains("NonfairSync");
    // Handing over a lock costs processor time, so busy processors do not lower the weight.
    let is_convoy = is_fair && rate > CONVOY_WAITS_PER_SECOND;
    let cost = waiting / busy.max(0.01) * if is_convoy { 1.0 } else { while_processors_are_free(facts) };
    let place = facts.waits_in(Waiting::Lock).map_or_else(String::new, |(name, _)| format!(", wanted in {name}"));
    let held =
        longest.and_then(|lock| lock.held_in.as_ref()).map_or_else(String::new, |name| format!(", held in {name}"));
    let holder =
        longest.and_then(|lock| lock.holder.as_ref()).map_or_else(String::new, |name| format!("mostly held by {name}"));
    let evidence = vec![
        format!("{waiting:.1} threads wait for locks at a time; {rate:.0} waits per second for this one"),
        format!("{:.0} context switches per second", facts.switches / facts.seconds.max(0.001)),
        holder,
    ];
    Some(if is_convoy {
        Finding {
            cause: "fair-lock-convoy",
            cost,
            sentence: format!(
                "A fair lock bounds it: {name} is handed from thread to thread, {rate:.0} times per second{place}."
            ),
            evidence,
            cure: "an unfair lock (new ReentrantLock()): a running thread may take it again, without a wait for \
                 another one to wake up; or more work each time it is held"
                .to_owned(),
        }
    } else {
        Finding {
            cause: "lock",
            cost,
            sentence: format!(
                "One lock bounds it: {name} is waited for by {waiting:.1} threads at a time{place}{held}."
            ),
            evidence,
            cure: "hold it for less time (no waits, logging or formatting inside), split it, or read without it"
                .to_owned(),
        }
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

/// Share of processor time from which on one function counts as hot. Services of many functions stay far below it.
const HOT_MIN: f64 = 0.6;

fn hot_method(facts: &Facts) -> Option<Finding> {
    let (name, share) = facts.hottest()?;
    // The function's share of the time outside memory management.
    let memory =
        facts.cpu_share(|frames| has_frame(frames, &PAGE_FAULT_FRAMES) || has_frame(frames, &GIVING_BACK_FRAMES));
    // A function that only appears hot because it first touches pages is not a cause of its own.
    if memory > COST_MIN && faulting_function(facts).is_some_and(|place| place == name) {
        return None;
    }
    (share / (1.0 - memory).max(0.1) >= HOT_MIN).then(|| Finding {
        cause: "hot-method",
        cost: share * of_processor(facts),
        sentence: format!("One method bounds it: {name} takes {} of its processor time.", percent(share)),
        evidence: vec![format!(
            "{:.2} processors used of {:.2}",
            facts.cpu_seconds() / facts.seconds,
            facts.processors
        )],
        cure: "a better algorithm there, or calling it less; `yunti observe flame` shows who calls it".to_owned(),
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
