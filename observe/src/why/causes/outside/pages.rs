//! Memory that is taken away from a process: swapped out, reclaimed at a limit, or reclaimed by request.
//!
//! ```text
//!   pages read back, and the kernel searched for memory     lack: of its group, or of the machine
//!   pages read back, and nobody searched for memory         request: process_madvise(PAGEOUT), memory.reclaim,
//!                                                           drop_caches, posix_fadvise(DONTNEED)
//! ```

use super::meddler;
use crate::why::account::waiting::Waiting;
use crate::why::causes::finding::{Finding, PAGE_FAULT_FRAMES, has_frame, percent};
use crate::why::facts::Facts;
use yunti_probe::answer::bytes;
use yunti_probe::kernel::system::Act;
use yunti_probe::target::DiskWait;
use yunti_probe::target::outside::Handle;

/// Page faults with I/O per second from which on they count.
const FAULTS_MIN: f64 = 20.0;
/// Share of pages that come back, of the page faults with I/O, from which on pages were there before.
const RETURNED_MIN: f64 = 0.5;
/// Pages that the kernel reclaimed itself, per page that comes back, below which a request took them away.
const RECLAIMED_MAX: f64 = 0.25;
/// Least size of a page.
const PAGE_BYTES: f64 = 4096.0;
/// Kernel functions that search for memory in the name of the process that needs it.
const RECLAIM_FRAMES: [&str; 4] =
    ["try_to_free_mem_cgroup_pages", "try_to_free_pages", "mem_cgroup_handle_over_high", "shrink_lruvec"];

fn faults_with_io(facts: &Facts) -> f64 {
    facts.faults_with_io / facts.seconds.max(0.001)
}

/// Returns the share of the busy time that page faults of mapped pages cost, waiting and computing.
fn cost(facts: &Facts) -> f64 {
    let waiting = facts.disk_threads(&[DiskWait::Mapped]);
    let computing =
        facts.threads_waiting(Waiting::Not) * facts.cpu_share(|frames| has_frame(frames, &PAGE_FAULT_FRAMES));
    let busy = facts.busy_threads().max(waiting + facts.threads_waiting(Waiting::Not));
    ((waiting + computing) / busy.max(0.01)).clamp(0.0, 1.0)
}

/// Returns the pages of files per second that came back after they had been evicted.
fn returned(facts: &Facts) -> f64 {
    facts.outside.machine.rate("workingset_refault_file").min(faults_with_io(facts) * 1024.0)
}

/// Returns true if pages left the process's memory: most pages that it read back did not add to it.
fn loses_pages(facts: &Facts) -> bool {
    let read_back = facts.faults_with_io * PAGE_BYTES;
    facts.outside.mapped_more_bytes < read_back * (1.0 - RETURNED_MIN)
}

/// Returns true if pages come back that neither the machine nor the group had reclaimed for lack of memory.
fn is_requested(facts: &Facts) -> bool {
    let machine = &facts.outside.machine;
    // The machine's counters of reclaimed pages leave out what a group reclaims at its limit.
    if facts.outside.memory.as_ref().is_some_and(|group| group.met > 0) || !loses_pages(facts) {
        return false;
    }
    let faults = faults_with_io(facts);
    let is_dropped = machine.rate("drop_pagecache") > 0.0;
    let comes_back = returned(facts) > faults * RETURNED_MIN;
    faults > FAULTS_MIN && (is_dropped || comes_back && machine.reclaimed() < returned(facts) * RECLAIMED_MAX)
}

pub fn needs_holder(facts: &Facts) -> bool {
    is_requested(facts)
}

pub fn swapped(facts: &Facts) -> Option<Finding> {
    let machine = &facts.outside.machine;
    let (read_back, faults) = (machine.rate("pswpin"), faults_with_io(facts));
    if faults < FAULTS_MIN || read_back < faults * RETURNED_MIN || facts.outside.swapped_bytes == 0 {
        return None;
    }
    let group = facts.outside.memory.as_ref().filter(|group| group.met > 0);
    let who = match group {
        Some(group) => format!("the limit of its control group ({})", bytes(group.limit_bytes)),
        None if machine.reclaimed() > 0.0 => "lack of memory on the machine".to_owned(),
        None => "a request to reclaim it (memory.reclaim, process_madvise)".to_owned(),
    };
    Some(Finding {
        cause: "swapped-out",
        cost: cost(facts),
        sentence: format!(
            "Its memory is swapped out by {who}: {faults:.0} page faults per second read it back, {} are still in \
             swap.",
            bytes(facts.outside.swapped_bytes)
        ),
        evidence: vec![
            format!("{read_back:.0} pages per second were read from swap on the machine"),
            format!("processes waited for memory {} of the time", percent(machine.memory_stall)),
        ],
        cure: "more memory for it, or less for others (memory.max of their groups); memory.swap.max=0 or mlock for \
               processes that must answer at once"
            .to_owned(),
    })
}

pub fn limited(facts: &Facts) -> Option<Finding> {
    let group = facts.outside.memory.as_ref()?;
    let is_lowered = group.limit_bytes < group.limit_before_bytes;
    let is_full = group.used_bytes as f64 > 0.9 * group.limit_bytes as f64;
    if group.met == 0 || !(is_full || is_lowered) {
        return None;
    }
    let reclaiming = facts.cpu_share(|frames| has_frame(frames, &RECLAIM_FRAMES));
    let running = facts.threads_waiting(Waiting::Not) * reclaiming / facts.busy_threads().max(0.01);
    let faults = if faults_with_io(facts) > FAULTS_MIN { cost(facts) } else { 0.0 };
    let again = match faults_with_io(facts) {
        few if few <= FAULTS_MIN => String::new(),
        many => format!("; {many:.0} page faults per second read pages of files from the disk again"),
    };
    Some(Finding {
        cause: "memory-limit",
        cost: running.max(faults),
        sentence: format!(
            "The memory limit of its control group bounds it: {} are {}, and each new page first pushes out another \
             one, {:.0} times per second{again}.",
            bytes(group.limit_bytes),
            if is_lowered { "its limit since a moment ago" } else { "used up" },
            group.met as f64 / facts.seconds.max(0.001)
        ),
        evidence: vec![
            format!("{}: {} used of {}", group.folder, bytes(group.used_bytes), bytes(group.limit_bytes)),
            format!(
                "{} of its processor time is spent on the search for memory; {:.0} page faults per second read a disk",
                percent(reclaiming),
                faults_with_io(facts)
            ),
            format!("processes of the group waited for memory {} of the time", percent(group.stalled)),
        ],
        cure: "a higher limit (memory.max, memory.limit_in_bytes; limits.memory of Kubernetes), or a smaller heap and \
               fewer cached files in the group"
            .to_owned(),
    })
}

pub fn taken(facts: &Facts) -> Option<Finding> {
    if !is_requested(facts) {
        return None;
    }
    let machine = &facts.outside.machine;
    let dropped = machine.rate("drop_pagecache");
    let known = meddler(facts, &[Act::Reclaim]);
    let surely = if known.is_some() { "" } else { "probably " };
    let who = known.or_else(|| facts.outside.culprit(&[Handle::PidFd, Handle::Memory]));
    let by = match &who {
        _ if dropped > 0.0 => ": somebody writes to /proc/sys/vm/drop_caches".to_owned(),
        Some(who) => format!(", {surely}by {who}"),
        None => String::new(),
    };
    Some(Finding {
        cause: "pages-taken",
        cost: cost(facts),
        sentence: format!(
            "Its pages are taken away by request, not for lack of memory{by}: {:.0} page faults per second bring \
             them back.",
            faults_with_io(facts)
        ),
        evidence: vec![
            format!(
                "{:.0} pages per second came back that had just been evicted; the kernel itself reclaimed {:.0}",
                returned(facts),
                machine.reclaimed()
            ),
            "a request is process_madvise(MADV_PAGEOUT), memory.reclaim, drop_caches, or posix_fadvise(DONTNEED)"
                .to_owned(),
        ],
        cure: "end the memory manager or script that reclaims it, or exempt this process (mlock, memory.min)"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::facts::ThreadFacts;
    use crate::why::facts::{GroupChange, OutsideFacts};
    use yunti_probe::target::outside::MachineChange;

    fn facts(counters: &[(&str, u64)], outside: OutsideFacts) -> Facts {
        let thread = ThreadFacts { shares: [(Waiting::File, 0.9)].into(), ..ThreadFacts::default() };
        let memory = counters.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
        let machine = MachineChange { seconds: 10.0, memory, ..MachineChange::default() };
        Facts {
            seconds: 10.0,
            processors: 2.0,
            faults_with_io: 5000.0,
            threads: vec![thread],
            disk_waits: [(DiskWait::Mapped, 0.9)].into(),
            outside: OutsideFacts { machine, ..outside },
            ..Facts::default()
        }
    }

    #[test]
    fn requests_and_lack_of_memory() {
        let of = |counters: &[(&str, u64)]| taken(&facts(counters, OutsideFacts::default())).map(|found| found.cause);
        assert_eq!(of(&[("workingset_refault_file", 9000)]), Some("pages-taken"));
        assert_eq!(of(&[("drop_pagecache", 3)]), Some("pages-taken"));
        let more = OutsideFacts { mapped_more_bytes: 5000.0 * 4096.0, ..OutsideFacts::default() };
        assert!(taken(&facts(&[("workingset_refault_file", 9000)], more)).is_none());
        // The kernel reclaims: a lack of memory. And first reads.
        assert_eq!(of(&[("workingset_refault_file", 9000), ("pgsteal_kswapd", 9000)]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn swap() {
        let outside = || OutsideFacts { swapped_bytes: 1 << 30, ..OutsideFacts::default() };
        let found = swapped(&facts(&[("pswpin", 5000), ("pgsteal_kswapd", 50)], outside())).unwrap();
        assert!(found.cost > 0.8 && found.sentence.contains("lack of memory on the machine"), "{}", found.sentence);
        // Others swap.
        assert!(swapped(&facts(&[("pswpin", 5000)], OutsideFacts::default())).is_none());
    }

    #[test]
    fn limits() {
        let of = |used_bytes, met| {
            let memory =
                GroupChange { limit_bytes: 1000, limit_before_bytes: 1000, used_bytes, met, ..GroupChange::default() };
            limited(&facts(&[], OutsideFacts { memory: Some(memory), ..OutsideFacts::default() })).map(|it| it.cost)
        };
        assert!(of(990, 100).is_some_and(|cost| cost > 0.8));
        assert_eq!((of(500, 100), of(990, 0)), (None, None));
    }
}
