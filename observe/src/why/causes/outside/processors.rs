//! Processors that others take, or that a setting denies: neighbours, affinity, priority, steal, clock.

use std::fmt::Write as _;

use crate::why::account::waiting::Waiting;
use crate::why::causes::finding::{DEMAND_MIN, Finding, of_processor, percent};
use crate::why::facts::Facts;
use yunti_probe::target::{Kin, Neighbour, Policy};

/// Share of the ready time in the run queue from which on processors are lacking.
const QUEUED_MIN: f64 = 0.15;
/// Processors of others, as a share of the allowed ones, from which on they count.
const OTHERS_MIN: f64 = 0.2;
/// Share of a kind of neighbour, of all neighbours' time, from which on it is the cause.
const MOST: f64 = 0.5;
/// Difference of nice values that makes a noticeable difference: a factor of about two.
const NICER: i64 = 3;

fn throttled(facts: &Facts) -> f64 {
    facts.throttling.throttled_periods as f64 / facts.throttling.periods.max(1) as f64
}

fn queued_share(facts: &Facts) -> f64 {
    facts.queued_seconds / (facts.cpu_seconds() + facts.queued_seconds).max(0.001)
}

/// Causes of this kind are shares of the whole time; other causes are shares of the time that they leave.
pub const OF_NEIGHBOURS: [&str; 4] = ["cpu-neighbour", "low-priority", "realtime-neighbour", "own-children"];

/// Processors of children that end from which on a process that waits for them depends on them.
const CHILDREN_MIN: f64 = 0.2;

/// Children of a process that does little itself: it starts them, and waits for their end.
pub fn children(facts: &Facts) -> Option<Finding> {
    let seconds = facts.seconds.max(0.001);
    let used = facts.children_seconds / seconds;
    let waits = facts.threads_waiting(Waiting::Result);
    if used < CHILDREN_MIN || waits < 0.5 || facts.cpu_seconds() > facts.children_seconds {
        return None;
    }
    let place = facts.in_place(Waiting::Result);
    let in_kernel = facts.children_system_seconds / facts.children_seconds.max(0.001);
    Some(Finding {
        cause: "short-lived-children",
        cost: (waits / (waits + facts.busy_threads()).max(0.01)) * (used / waits.max(used)).min(1.0),
        sentence: format!(
            "Processes that it starts bound it: {waits:.1} threads at a time wait for the end of children{place}, which \
             use {used:.2} processors, {} of it in the kernel.",
            percent(in_kernel)
        ),
        evidence: vec![format!("{:.2} processors used by itself", facts.cpu_seconds() / seconds)],
        cure: "`yunti observe why` on a child that lives longer, or `yunti observe flame -- COMMAND`, shows what they do; \
               a few processes that stay, or a library call, save their start"
            .to_owned(),
    })
}

pub fn neighbour(facts: &Facts) -> Option<Finding> {
    // Threads that a quota throttles wait too, but for no other process. One that wants little is not held up by much.
    if throttled(facts) > 0.1 || facts.demand() < DEMAND_MIN {
        return None;
    }
    let ready = facts.cpu_seconds() + facts.queued_seconds;
    let queued = queued_share(facts);
    let others = facts.others_processors() / facts.processors.max(0.01);
    if queued < QUEUED_MIN || others < OTHERS_MIN {
        return None;
    }
    let seconds = facts.seconds.max(0.001);
    let busy = facts.busy_threads() + facts.queued_for_others() / seconds;
    let of_busy = (ready / seconds / busy.max(0.01)).min(1.0);
    let first = facts.others.first()?;
    // A tracer runs while the traced thread stands: that is its own cause.
    if facts.outside.traced_threads > 0.0 && facts.outside.tracer_pid == Some(first.pid) {
        return None;
    }
    let waits = format!("its threads were ready for {ready:.1} s and waited {} of it for one", percent(queued));
    let all: f64 = facts.others.iter().map(|other| other.seconds).sum();
    let share = |test: &dyn Fn(&Neighbour) -> bool| {
        facts.others.iter().filter(|other| test(other)).map(|other| other.seconds).sum::<f64>() / all.max(0.001)
    };
    let used = |other: &Neighbour| format!("{} ({:.2} processors)", other.name(), other.seconds / seconds);
    let (cause, sentence, cure) = if share(&|other| other.kin == Kin::Child) > MOST {
        let of_all = facts.others.iter().filter(|other| other.kin == Kin::Child).count();
        (
            "own-children",
            format!(
                "Its own {of_all} child processes take the processors: {waits}, above all because of {}.",
                used(first)
            ),
            "start fewer of them at once, at most one per processor; the work is its own".to_owned(),
        )
    } else if share(&|other| other.policy == Policy::RealTime) > MOST && facts.outside.policy != Policy::RealTime {
        (
            "realtime-neighbour",
            format!(
                "Processes with real-time priority take the processors: {waits}, above all because of {}.",
                used(first)
            ),
            format!("give {} a normal policy (chrt -o -p 0 {})", first.name(), first.pid),
        )
    } else if let Some(low) = low_priority(facts) {
        (
            "low-priority",
            format!("It has a low priority ({low}): {waits}, above all because of {}.", used(first)),
            "renice it, or give its control group the weight of the others (cpu.weight, cpu.shares)".to_owned(),
        )
    } else {
        let name = first.name();
        let end = match first.kin {
            Kin::Pipe => ", which is in the same pipeline",
            Kin::Child => ", its own child",
            Kin::Stranger => "",
        };
        (
            "cpu-neighbour",
            format!("Other processes take the processors: {waits}, above all because of {}{end}.", used(first)),
            format!(
                "give {name} less (nice, a control group with cpu.weight or a quota), move it, or move this process"
            ),
        )
    };
    Some(Finding {
        cause,
        // Waits of its own threads for each other would remain without the other processes.
        cost: queued.min(others) * of_busy,
        sentence,
        evidence: facts
            .others
            .iter()
            .take(5)
            .map(|other| {
                let mut line = used(other);
                let _ = match other.kin {
                    Kin::Child => write!(line, ", its own child"),
                    Kin::Pipe => write!(line, ", at the other end of its pipe"),
                    Kin::Stranger => Ok(()),
                };
                if other.nice != 0 {
                    let _ = write!(line, ", nice {}", other.nice);
                }
                line
            })
            .collect(),
        cure,
    })
}

/// Returns what lowers its priority against the neighbours.
fn low_priority(facts: &Facts) -> Option<String> {
    let outside = &facts.outside;
    if outside.policy == Policy::Idle {
        return Some("SCHED_IDLE: it runs only when nobody else wants to".to_owned());
    }
    if let Some(weight) = outside.placement.weight.filter(|weight| *weight <= MOST) {
        return Some(format!("its control group has {} of the default weight", percent(weight)));
    }
    // With autogroup, nice values count only within a session.
    let counts = |other: &&Neighbour| !outside.placement.has_autogroup || other.session == outside.session;
    let rivals: Vec<_> = facts.others.iter().filter(counts).collect();
    let all: f64 = rivals.iter().map(|other| other.seconds).sum();
    let mean = rivals.iter().map(|other| other.nice as f64 * other.seconds).sum::<f64>() / all.max(0.001);
    (!rivals.is_empty() && outside.nice as f64 >= mean + NICER as f64)
        .then(|| format!("nice {}, the others {mean:.0}", outside.nice))
}

/// Processors outside the mask that must be idle.
const IDLE_MIN: f64 = 0.3;

pub fn affinity(facts: &Facts) -> Option<Finding> {
    let outside = &facts.outside;
    let machine = outside.machine.idle.len();
    let mask = outside.placement.masks.first().filter(|mask| mask.processors.len() < machine)?;
    if throttled(facts) > 0.1 {
        return None;
    }
    let ready = mask.waited_seconds + mask.ran_seconds;
    let idle = outside.machine.idle_outside(&mask.processors);
    let queued = mask.waited_seconds / ready.max(0.001);
    if queued < QUEUED_MIN || idle < IDLE_MIN {
        return None;
    }
    let one = mask.processors.len() == 1;
    let list = mask.processors.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let by_group = !outside.placement.cpuset.is_empty() && outside.placement.cpuset == mask.processors;
    let how = if by_group { "the cpuset of its control group" } else { "its affinity (taskset, sched_setaffinity)" };
    Some(Finding {
        cause: "affinity",
        cost: facts.crowded(),
        sentence: format!(
            "{} threads compete for {} {list} alone, because of {how}, while {idle:.1} of the {machine} processors \
             are idle.",
            mask.threads,
            if one { "processor" } else { "processors" },
        ),
        evidence: vec![
            format!("they were ready for {ready:.1} s, and waited {} of it for a processor", percent(queued)),
            format!("other processes used {:.2} processors", facts.others_processors()),
        ],
        cure: if by_group {
            "more processors in its group (cpuset.cpus)".to_owned()
        } else {
            format!("taskset -a -p with all processors for {}, or without it in its start script", outside.pid)
        },
    })
}

pub fn steal(facts: &Facts) -> Option<Finding> {
    let share = facts.outside.machine.stolen;
    (share > 0.05).then(|| Finding {
        cause: "steal",
        cost: share * of_processor(facts),
        sentence: format!(
            "The hypervisor takes the processors: {} of the time in which this machine's processors had work, another \
             machine ran on them.",
            percent(share)
        ),
        evidence: vec!["steal in /proc/stat and in top (st)".to_owned()],
        cure: "a larger or dedicated machine type, another host, or credits for a burstable machine".to_owned(),
    })
}

/// Share of the base clock below which the clock is low.
const CLOCK_MIN: f64 = 0.7;

pub fn clock(facts: &Facts) -> Option<Finding> {
    let speed = &facts.outside.speed;
    let share = speed.now_khz / speed.base_khz.max(1.0);
    if speed.now_khz <= 0.0 || share > CLOCK_MIN || facts.cpu_seconds() < facts.seconds * 0.5 {
        return None;
    }
    let why = match speed.limit_khz {
        Some(limit) => format!(", because it is limited to {:.1} GHz", limit / 1e6),
        None if speed.hot > 0 => format!(", because it is hot ({} times)", speed.hot),
        None => String::new(),
    };
    Some(Finding {
        cause: "low-clock",
        cost: (1.0 - share) * of_processor(facts),
        sentence: format!(
            "The processors run slowly: at {:.1} GHz, {} of their base clock{why}.",
            speed.now_khz / 1e6,
            percent(share)
        ),
        evidence: vec!["/sys/devices/system/cpu/cpu*/cpufreq".to_owned()],
        cure: "the governor `performance`, a higher scaling_max_freq, better cooling".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::facts::OutsideFacts;
    use crate::why::facts::ThreadFacts;
    use yunti_probe::target::outside::{MachineChange, Mask, Placement, Speed};

    fn facts(cpu: f64, queued: f64, others: Vec<Neighbour>, outside: OutsideFacts) -> Facts {
        let thread = ThreadFacts { shares: [(Waiting::Not, 1.0)].into(), ..ThreadFacts::default() };
        Facts {
            seconds: 10.0,
            processors: 2.0,
            user_seconds: cpu,
            queued_seconds: queued,
            threads: vec![thread.clone(), thread],
            others,
            outside,
            ..Facts::default()
        }
    }

    fn other(label: &str, kin: Kin) -> Neighbour {
        Neighbour { pid: 47, label: label.to_owned(), seconds: 15.0, kin, ..Neighbour::default() }
    }

    #[test]
    fn neighbours_by_what_they_are() {
        let of = |other: Neighbour, outside| neighbour(&facts(5.0, 10.0, vec![other], outside)).unwrap();
        let stranger = of(other("java shop.jar", Kin::Stranger), OutsideFacts::default());
        assert_eq!(stranger.cause, "cpu-neighbour");
        assert!(stranger.sentence.contains("java shop.jar 47 (1.50 processors)"), "{}", stranger.sentence);
        assert_eq!(of(other("gcc", Kin::Child), OutsideFacts::default()).cause, "own-children");
        let nice = OutsideFacts { nice: 19, ..OutsideFacts::default() };
        assert_eq!(of(other("gcc", Kin::Stranger), nice).cause, "low-priority");
        let real_time = Neighbour { policy: Policy::RealTime, ..other("jackd", Kin::Stranger) };
        assert_eq!(of(real_time, OutsideFacts::default()).cause, "realtime-neighbour");
        assert!(neighbour(&facts(15.0, 0.5, vec![other("gcc", Kin::Stranger)], OutsideFacts::default())).is_none());
    }

    #[test]
    fn two_threads_on_one_processor() {
        let of = |processors: Vec<usize>, idle: f64, waited_seconds: f64| {
            let mask = Mask { processors, threads: 2, ran_seconds: 10.0, waited_seconds };
            let placement = Placement { masks: vec![mask], ..Placement::default() };
            let machine = MachineChange { idle: [(0, idle), (1, 0.0)].into(), ..MachineChange::default() };
            let outside = OutsideFacts { placement, machine, ..OutsideFacts::default() };
            affinity(&facts(10.0, waited_seconds, Vec::new(), outside))
        };
        let found = of(vec![1], 1.0, 10.0).unwrap();
        assert!(found.cost > 0.4, "{}", found.cost);
        assert!(found.sentence.starts_with("2 threads compete for processor 1 alone"), "{}", found.sentence);
        // The other processor is busy; it may use all; its threads do not wait.
        assert!(of(vec![1], 0.0, 10.0).is_none() && of(vec![0, 1], 1.0, 10.0).is_none());
        assert!(of(vec![1], 1.0, 0.1).is_none());
    }

    #[test]
    fn steal_and_clock() {
        let machine = MachineChange { stolen: 0.4, ..MachineChange::default() };
        let found = steal(&facts(15.0, 0.0, Vec::new(), OutsideFacts { machine, ..OutsideFacts::default() })).unwrap();
        assert!(found.cost > 0.3, "{}", found.cost);
        let of = |now_khz| {
            let mut speed = Speed::default();
            (speed.now_khz, speed.base_khz) = (now_khz, 2e6);
            clock(&facts(15.0, 0.0, Vec::new(), OutsideFacts { speed, ..OutsideFacts::default() })).is_some()
        };
        assert!(of(8e5) && !of(2e6) && !of(0.0));
    }
}
