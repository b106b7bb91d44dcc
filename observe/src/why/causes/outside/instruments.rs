//! Tools of others in the process's way: probes, filters of system calls, samplers, thread dumps in a loop. And pages
//! that the kernel moves while they are used.

use crate::why::account::waiting;
use crate::why::causes::finding::{Finding, has_frame, of_processor, percent};
use crate::why::facts::Facts;
use yunti_probe::target::outside::Handle;

/// Kernel functions of breakpoints in a program: uprobes and debuggers.
const BREAKPOINT_FRAMES: [&str; 4] = ["uprobe", "handle_swbp", "exc_int3", "hw_breakpoint"];
/// Kernel functions of tracepoints and kprobes in use. BPF programs of networks and filters have other callers.
const TRACE_FRAMES: [&str; 12] = [
    "perf_trace_",
    "perf_tp_event",
    "perf_syscall_enter",
    "perf_syscall_exit",
    "trace_event_raw_event",
    "trace_event_buffer",
    "bpf_trace_run",
    "trace_call_bpf",
    "bpf_trampoline",
    "kprobe_",
    "kretprobe",
    "function_trace_call",
];
const FILTER_FRAMES: [&str; 4] = ["__seccomp_filter", "seccomp_run_filters", "__audit_syscall", "audit_filter"];
const MOVE_FRAMES: [&str; 8] = [
    "migrate_pages",
    "migration_entry_wait",
    "do_numa_page",
    "do_huge_pmd_numa_page",
    "compact_zone",
    "try_to_compact",
    "break_ksm",
    "split_huge_p",
];
/// Share of processor time from which on a tool is searched for.
const SHARE_MIN: f64 = 0.05;
/// Interrupts per second of a busy processor from which on somebody samples at a high rate. The tick of the scheduler
/// is at most 1000.
const INTERRUPTS_MIN: f64 = 3000.0;
/// Seconds that one sample costs, with a stack: perf record -F 20000 -g took 25 % of a processor.
const SAMPLE_SECONDS: f64 = 10e-6;
/// Largest share that the kernel allows to samplers: kernel.perf_cpu_time_max_percent.
const SAMPLES_MAX: f64 = 0.25;

fn breakpoints(facts: &Facts) -> f64 {
    facts.cpu_share(|frames| has_frame(frames, &BREAKPOINT_FRAMES))
}

fn tracing(facts: &Facts) -> f64 {
    facts.cpu_share(|frames| has_frame(frames, &TRACE_FRAMES) && !has_frame(frames, &BREAKPOINT_FRAMES))
}

pub fn needs_holder(facts: &Facts) -> bool {
    breakpoints(facts) + tracing(facts) > SHARE_MIN || facts.outside.machine.interrupts > INTERRUPTS_MIN
}

pub fn probes(facts: &Facts) -> Option<Finding> {
    let (in_program, in_kernel) = (breakpoints(facts), tracing(facts));
    let share = in_program + in_kernel;
    if share < SHARE_MIN {
        return None;
    }
    let who = facts.outside.culprit(&[Handle::Probes, Handle::Events]);
    let by = who.as_ref().map_or_else(String::new, |who| format!(", probably by {who}"));
    let (what, place) = match in_program > in_kernel {
        true => {
            ("Breakpoints in its code (uprobes)", facts.own_function(|frames| has_frame(frames, &BREAKPOINT_FRAMES)))
        }
        false => ("Probes in the kernel (tracepoints, kprobes)", None),
    };
    let place = place.map_or_else(String::new, |(name, _)| format!(", above all in {name}"));
    Some(Finding {
        cause: "probes-of-others",
        cost: share * of_processor(facts),
        sentence: format!("{what} take {} of its processor time{place}{by}.", percent(share)),
        evidence: vec![
            format!("{} in breakpoints, {} in tracepoints and kprobes", percent(in_program), percent(in_kernel)),
            "`bpftool link`, /sys/kernel/tracing/uprobe_events and enabled_functions list them".to_owned(),
        ],
        cure: match who {
            Some(who) => format!("end {who}, or let it probe a function that is called less often, or sample"),
            None => "end the tracing tool, or let it probe a function that is called less often, or sample".to_owned(),
        },
    })
}

pub fn system_call_filter(facts: &Facts) -> Option<Finding> {
    let share = facts.cpu_share(|frames| has_frame(frames, &FILTER_FRAMES));
    (share > SHARE_MIN).then(|| Finding {
        cause: "system-call-filter",
        cost: share * of_processor(facts),
        sentence: format!(
            "A filter checks each system call (seccomp, audit): {} of its processor time.",
            percent(share)
        ),
        evidence: vec![format!("Seccomp and Seccomp_filters in /proc/{}/status; auditctl -l", facts.outside.pid)],
        cure: "fewer system calls (larger reads and writes, batches), a shorter filter with its most frequent calls \
               first, net.core.bpf_jit_enable=1, fewer audit rules"
            .to_owned(),
    })
}

pub fn memory_moved(facts: &Facts) -> Option<Finding> {
    let share = facts.cpu_share(|frames| has_frame(frames, &MOVE_FRAMES));
    let machine = &facts.outside.machine;
    let rates = [
        ("moved between NUMA nodes", machine.rate("numa_pages_migrated")),
        ("moved by compaction", machine.rate("compact_migrate_scanned")),
        ("copied that KSM had merged", machine.rate("cow_ksm")),
        ("migrated in all", machine.rate("pgmigrate_success")),
    ];
    (share > SHARE_MIN).then(|| Finding {
        cause: "memory-moved",
        cost: share * of_processor(facts),
        sentence: format!("The kernel moves its pages while it uses them: {} of its processor time.", percent(share)),
        evidence: rates
            .iter()
            .filter(|(_, rate)| *rate > 0.0)
            .map(|(what, rate)| format!("{rate:.0} pages per second {what}"))
            .collect(),
        cure: "bind it to one NUMA node (numactl, kernel.numa_balancing=0); huge pages without compaction on demand \
               (transparent_hugepage/defrag); no KSM for it (prctl PR_SET_MEMORY_MERGE, madvise MADV_UNMERGEABLE)"
            .to_owned(),
    })
}

pub fn sampler(facts: &Facts) -> Option<Finding> {
    let rate = facts.outside.machine.interrupts;
    let who =
        facts.outside.culprit(&[Handle::Events]).filter(|_| facts.outside.holders(&[Handle::Events]).is_some())?;
    (rate > INTERRUPTS_MIN).then(|| Finding {
        cause: "sampler-at-high-rate",
        cost: (rate * SAMPLE_SECONDS).min(SAMPLES_MAX) * of_processor(facts),
        sentence: format!(
            "A profiler interrupts the processors {rate:.0} times per second of their work, probably {who}."
        ),
        evidence: vec!["interrupts of timers and performance counters in /proc/interrupts".to_owned()],
        cure: "99 samples per second show the same functions (perf record -F 99)".to_owned(),
    })
}

/// Safepoints per second, without collections, from which on somebody stops the threads in a loop.
const SAFEPOINTS_MIN: f64 = 2.0;
/// Share of the time in these safepoints from which on they count.
const SAFEPOINT_SHARE_MIN: f64 = 0.05;

/// Returns the function by which the program itself dumps its threads, and its own function that calls it.
fn dumper(facts: &Facts) -> Option<(String, String)> {
    const DUMPS: [&str; 8] = [
        "ThreadImpl.dumpThreads",
        "ThreadImpl.getThreadInfo",
        "ThreadImpl.dumpAllThreads",
        "ThreadImpl.findMonitorDeadlockedThreads",
        "ThreadImpl.findDeadlockedThreads",
        "Thread.getAllStackTraces",
        "Thread.dumpThreads",
        "Thread.getStackTrace",
    ];
    let moments = facts.moments().map(|moment| &*moment.frames);
    let on_cpu = facts.on_cpu.iter().map(|(frames, _)| &**frames);
    let mut calls = moments.chain(on_cpu).filter_map(|frames| {
        let at = frames.iter().position(|frame| DUMPS.iter().any(|dump| frame.name.contains(dump)))?;
        let class = frames[at].name.rsplitn(3, '.').take(2).collect::<Vec<_>>();
        let caller = waiting::user_frame(&frames[..at])?;
        Some((class.into_iter().rev().collect::<Vec<_>>().join("."), caller.name.to_string()))
    });
    calls.next()
}

pub fn thread_dumps(facts: &Facts) -> Option<Finding> {
    let heap = facts.heap.as_ref()?;
    let seconds = facts.seconds.max(0.001);
    let share = heap.safepoint_seconds / seconds;
    let rate = heap.safepoints / seconds;
    if share < SAFEPOINT_SHARE_MIN || rate < SAFEPOINTS_MIN {
        return None;
    }
    let (attached, named) = (facts.outside.attach_seconds / seconds, facts.outside.named());
    let evidence = vec![
        format!("{rate:.1} safepoints per second that are no collections, {} of the time", percent(share)),
        format!(
            "{} of the time until the last thread had stopped; the Attach Listener used {} of a processor",
            percent(heap.safepoint_sync_seconds / seconds),
            percent(attached)
        ),
    ];
    let own = dumper(facts);
    let is_attached = attached > 0.005 && own.is_none();
    let sentence = match (&own, is_attached, &named) {
        (Some((call, caller)), ..) => format!(
            "Its own code stops all its threads {rate:.0} times per second, {} of the time: {call}, called from {caller}.",
            percent(share)
        ),
        (None, true, Some(who)) => format!(
            "{who} stops all its threads {rate:.0} times per second (thread dumps or heap histograms): {} of the time.",
            percent(share)
        ),
        (None, true, None) => format!(
            "A tool at its attach socket (jstack, jcmd, jmap, a monitoring agent) stops all its threads {rate:.0} \
             times per second: {} of the time.",
            percent(share)
        ),
        (None, false, _) => format!(
            "Safepoints that are no collections bound it: all its threads are stopped {rate:.0} times per second, {} \
             of the time.",
            percent(share)
        ),
    };
    Some(Finding {
        cause: if is_attached { "thread-dumps" } else { "safepoints" },
        cost: share,
        sentence,
        evidence,
        cure: match is_attached {
            true => "end the tool or let it ask less often; a sampling profiler shows stacks without safepoints \
                     (`yunti observe flame --event wall`)"
                .to_owned(),
            false => "-Xlog:safepoint names the operations: thread dumps by its own monitoring (ThreadMXBean), \
                      deoptimisation, class redefinition, biased locking (-XX:-UseBiasedLocking)"
                .to_owned(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::account::waiting::Waiting;
    use crate::why::facts::OutsideFacts;
    use crate::why::facts::{HeapFacts, ThreadFacts};
    use yunti_probe::stack::{Frame, Kind};
    use yunti_probe::target::outside::{Attached, MachineChange};

    fn facts(function: &str, outside: OutsideFacts) -> Facts {
        let thread = ThreadFacts { shares: [(Waiting::Not, 1.0)].into(), ..ThreadFacts::default() };
        let frame = |name: &str, kind| Frame { name: name.into(), kind };
        Facts {
            seconds: 10.0,
            processors: 2.0,
            user_seconds: 10.0,
            threads: vec![thread],
            on_cpu: vec![(vec![frame("handle", Kind::Native), frame(function, Kind::Kernel)].into(), 10)],
            outside,
            ..Facts::default()
        }
    }

    fn tool(handle: Handle) -> OutsideFacts {
        let attached = vec![Attached { pid: 47, label: "tool".to_owned(), handles: vec![handle] }];
        OutsideFacts { attached, ..OutsideFacts::default() }
    }

    #[test]
    fn probes_by_frames_of_the_kernel() {
        let found = probes(&facts("uprobe_notify_resume", tool(Handle::Probes))).unwrap();
        assert!(found.sentence.contains("in handle, probably by tool 47"), "{}", found.sentence);
        assert!(found.cost > 0.9);
        assert!(probes(&facts("perf_trace_sched_switch", OutsideFacts::default())).is_some());
        // A filter of packets runs BPF programs too.
        assert!(probes(&facts("bpf_prog_run_clear_cb", OutsideFacts::default())).is_none());
        assert!(system_call_filter(&facts("__seccomp_filter", OutsideFacts::default())).is_some());
        assert!(memory_moved(&facts("do_numa_page", OutsideFacts::default())).is_some());
    }

    #[test]
    fn samplers_need_events() {
        let of = |interrupts, handle| {
            let machine = MachineChange { interrupts, ..MachineChange::default() };
            sampler(&facts("x", OutsideFacts { machine, ..tool(handle) })).map(|found| found.cost)
        };
        assert!(of(20_000.0, Handle::Events).is_some_and(|cost| cost > 0.05));
        assert_eq!((of(20_000.0, Handle::PidFd), of(1100.0, Handle::Events)), (None, None));
    }

    #[test]
    fn dumps_in_a_loop() {
        let of = |safepoint_seconds, attach_seconds| {
            let heap = HeapFacts { safepoints: 100.0, safepoint_seconds, ..HeapFacts::default() };
            let outside = OutsideFacts { attach_seconds, ..OutsideFacts::default() };
            thread_dumps(&Facts { heap: Some(heap), ..facts("x", outside) }).map(|found| found.cause)
        };
        assert_eq!(of(4.0, 1.0), Some("thread-dumps"));
        assert_eq!(of(4.0, 0.0), Some("safepoints"));
        assert_eq!(of(0.1, 1.0), None);
    }
}
