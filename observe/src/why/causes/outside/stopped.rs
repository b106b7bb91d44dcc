//! Threads that others hold: a tracer, a signal, the freezer of control groups.

use super::meddler;
use crate::why::causes::finding::{Finding, percent};
use crate::why::facts::Facts;
use yunti_probe::kernel::system::Act;
use yunti_probe::target::outside::Handle;

/// Share of the time from which on stops count. A debugger that looks once stops a process for milliseconds.
const SHARE_MIN: f64 = 0.02;
/// Traced threads at a time, on average, from which on a tracer counts.
const TRACED_MIN: f64 = 0.02;
/// Share from which on it never ran.
const ALWAYS: f64 = 0.98;

pub fn needs_holder(facts: &Facts) -> bool {
    facts.outside.stopped_share > SHARE_MIN
}

pub fn frozen(facts: &Facts) -> Option<Finding> {
    let share = facts.outside.frozen_share;
    (share > SHARE_MIN).then(|| Finding {
        cause: "frozen",
        cost: share,
        sentence: format!("Its control group is frozen for {} of the time: it cannot run.", percent(share)),
        evidence: vec!["cgroup.freeze or freezer.state of its group, or of a group above".to_owned()],
        cure: "thaw it (write 0 to cgroup.freeze, THAWED to freezer.state; docker unpause), and find who freezes it"
            .to_owned(),
    })
}

pub fn stopped(facts: &Facts) -> Option<Finding> {
    let (share, pid) = (facts.outside.stopped_share, facts.outside.pid);
    if share < SHARE_MIN {
        return None;
    }
    let known = meddler(facts, &[Act::Stop]);
    let who = known.clone().or_else(|| facts.outside.culprit(&[Handle::PidFd]));
    let surely = if known.is_some() { "" } else { "probably " };
    let by = who.as_ref().map_or_else(String::new, |who| format!(", {surely}by {who}"));
    Some(Finding {
        cause: "stopped",
        cost: share,
        sentence: match share >= ALWAYS {
            true => format!("It is stopped (SIGSTOP, SIGTSTP or ctrl-Z) and does not run at all{by}."),
            false => format!("It is stopped by SIGSTOP for {} of the time, and continued again{by}.", percent(share)),
        },
        evidence: vec![
            format!("its threads are in state T in {} of the samples", percent(share)),
            match who {
                Some(who) if known.is_some() => {
                    format!("{who} sends signals to process {pid} that stop or continue it")
                }
                Some(who) => format!("{who} names process {pid}, or holds a pidfd of it"),
                None => {
                    "no process names it on its command line; the kernel does not keep who sent a signal".to_owned()
                }
            },
        ],
        cure: match share >= ALWAYS {
            true => format!("kill -CONT {pid}, or `fg` in its shell"),
            false => "end what stops it: cpulimit, a scheduler of batch jobs, a script; limit processor time by a \
                      control group (cpu.max) instead"
                .to_owned(),
        },
    })
}

pub fn traced(facts: &Facts) -> Option<Finding> {
    let stops = facts.stops_of_tracer();
    let (held, cost) = (facts.outside.traced_threads, percent(stops.share));
    let tracer = facts.outside.tracer.clone().unwrap_or_else(|| "a process that has ended".to_owned());
    (held > TRACED_MIN || stops.per_second > 0.0).then(|| Finding {
        cause: "traced",
        cost: stops.share,
        sentence: match stops.per_second > 0.0 {
            true => format!(
                "{tracer} traces it (ptrace): its stops, up to {:.0} a second, take about {cost} of the time in which \
                 it has work.",
                stops.per_second
            ),
            false => format!(
                "{tracer} traces it (ptrace): {held:.2} of its threads at a time stand in a stop of the tracer, {cost} \
                 of the time in which they have work."
            ),
        },
        evidence: vec![
            format!("state t (tracing stop) in the samples of {held:.2} threads at a time"),
            format!("{:.0} stops a second with {:.2} processors in the kernel", stops.per_second, stops.processors),
            format!("TracerPid in /proc/{}/status", facts.outside.pid),
        ],
        cure: format!(
            "end {tracer}, or let it stop at fewer system calls (strace --seccomp-bpf -f -e ..); perf trace and \
             `yunti observe native` stop no thread"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::account::waiting::Waiting;
    use crate::why::facts::OutsideFacts;
    use crate::why::facts::ThreadFacts;

    #[test]
    fn stops_between_the_samples() {
        let tracer = Some("strace 47".to_owned());
        let mut facts = facts(OutsideFacts { tracer, ..OutsideFacts::default() });
        facts.threads[0].shares = [(Waiting::Not, 0.95)].into();
        facts.system_seconds = 3.5;
        assert!(traced(&facts).is_none());
        facts.switches = 100_000.0;
        let found = traced(&facts).unwrap();
        assert!(found.cost > 0.7 && found.sentence.contains("20000 a second"), "{}", found.sentence);
        // Its own waits, under a debugger that does not stop it.
        facts.threads[0].shares = [(Waiting::Not, 0.3), (Waiting::Network, 0.7)].into();
        assert!(traced(&facts).is_none());
    }

    fn facts(outside: OutsideFacts) -> Facts {
        let thread = ThreadFacts { shares: [(Waiting::Not, 0.1)].into(), ..ThreadFacts::default() };
        Facts { seconds: 5.0, processors: 2.0, threads: vec![thread], outside, ..Facts::default() }
    }

    #[test]
    fn a_tracer_is_named() {
        let tracer = Some("strace 47".to_owned());
        let found = traced(&facts(OutsideFacts { traced_threads: 0.9, tracer, ..OutsideFacts::default() })).unwrap();
        assert!(found.cost > 0.8 && found.sentence.starts_with("strace 47 traces it"), "{}", found.sentence);
        // A debugger that is attached and does not stop it.
        let tracer = Some("gdb 47".to_owned());
        assert!(traced(&facts(OutsideFacts { tracer, ..OutsideFacts::default() })).is_none());
    }

    #[test]
    fn stops_by_signals() {
        let of = |stopped_share, named_by| OutsideFacts { stopped_share, named_by, pid: 7, ..OutsideFacts::default() };
        let found = stopped(&facts(of(0.5, vec![("cpulimit".to_owned(), 1, 48)]))).unwrap();
        assert!(found.sentence.contains("50 % of the time") && found.sentence.contains("cpulimit 48"));
        assert!(stopped(&facts(of(1.0, Vec::new()))).unwrap().cure.contains("kill -CONT 7"));
        assert!(stopped(&facts(of(0.0, Vec::new()))).is_none());
    }
}
