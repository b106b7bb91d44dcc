//! The answer: causes, or why there are none. `nothing is wrong` is said only of a process whose figures show nothing.

use crate::why::account::waiting::Waiting;
use crate::why::causes::finding::{Finding, percent};
use crate::why::causes::findings;
use crate::why::facts::Facts;
use crate::why::requests::is_idle;

/// Answer to the question what bounds a process.
pub struct Verdict {
    pub sentence: String,
    /// Causes by descending cost.
    pub causes: Vec<Finding>,
}

/// Share of the time explained by the first cause below which the answer says so.
const EXPLAINED_MIN: f64 = 0.6;
/// Seconds of measurement below which no cause is reported.
const SECONDS_MIN: f64 = 0.3;

/// Causes that hold up work, and so bound nothing without work.
const OF_WORK: [&str; 12] = [
    "cpu-neighbour",
    "low-priority",
    "realtime-neighbour",
    "own-children",
    "slow-remote",
    "lock",
    "pool",
    "pool-of-one",
    "stage",
    "sleep",
    "hot-method",
    "one-thread",
];

/// Judges a measured process.
pub fn verdict(facts: &Facts) -> Verdict {
    let mut causes = findings(facts);
    if is_idle(facts).is_some() {
        causes.retain(|finding| !OF_WORK.contains(&finding.cause));
    }
    let sentence = match causes.first() {
        None if facts.seconds < SECONDS_MIN => {
            format!("it ran for {:.1} s, which is too short to find what bounds it.", facts.seconds)
        }
        None => match (is_idle(facts), known(facts)) {
            (Some(idle), _) if idle.is_at_own_pace => idle.sentence,
            (Some(idle), _) => format!("nothing is wrong. {}", idle.sentence),
            (None, known) if known.is_empty() => "nothing is wrong.".to_owned(),
            (None, known) => format!("No cause was found that explains it. What is known: {}.", known.join("; ")),
        },
        Some(first) if first.cost < EXPLAINED_MIN => format!(
            "{} This explains {} of the time{}.",
            first.sentence,
            percent(first.cost),
            if causes.len() > 1 { "; more below" } else { "; the rest is not explained" }
        ),
        Some(first) => first.sentence.clone(),
    };
    Verdict { sentence, causes }
}

/// Threads waiting at a time, on average, from which on a process without a cause is not said to be healthy.
const WAITERS_MANY: f64 = 0.5;
/// Page faults, and page faults with reads, in a second: likewise.
const FAULTS_MANY: f64 = 30_000.0;
const READING_FAULTS_MANY: f64 = 50.0;
/// Context switches in a second: likewise.
const SWITCHES_MANY: f64 = 50_000.0;

/// Returns the figures that are far from those of a healthy process.
fn known(facts: &Facts) -> Vec<String> {
    let seconds = facts.seconds.max(0.001);
    let mut known = Vec::new();
    let waits = [
        (Waiting::Lock, "wait for locks"),
        (Waiting::Resource, "wait for what others hold"),
        (Waiting::Network, "wait for peers"),
        (Waiting::NameService, "wait for addresses of names"),
        (Waiting::File, "wait for files"),
    ];
    for (waiting, what) in waits {
        let threads = facts.threads_waiting(waiting);
        // Threads that wait while all processors work bound nothing.
        if threads * crate::why::causes::finding::while_processors_are_free(facts) >= WAITERS_MANY {
            let place = facts.waits_in(waiting).map_or_else(String::new, |(place, _)| format!(" in {place}"));
            known.push(format!("{threads:.1} threads at a time {what}{place}"));
        }
    }
    let rates = [
        (facts.faults / seconds, FAULTS_MANY, "page faults"),
        (facts.faults_with_io / seconds, READING_FAULTS_MANY, "page faults that read a disk"),
        (facts.switches / seconds, SWITCHES_MANY, "context switches"),
    ];
    known.extend(rates.iter().filter(|(n, many, _)| n > many).map(|(n, _, what)| format!("{n:.0} {what} per second")));
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::facts::ThreadFacts;

    #[test]
    fn an_idle_process_and_one_that_waits() {
        let of = |waiting, share, cpu: f64| {
            let thread = ThreadFacts { shares: [(waiting, share)].into(), ..ThreadFacts::default() };
            let facts =
                Facts { seconds: 10.0, processors: 2.0, user_seconds: cpu, threads: vec![thread], ..Facts::default() };
            verdict(&facts).sentence
        };
        assert!(of(Waiting::File, 0.9, 0.6).contains("0.9 threads at a time wait for files"));
        assert_eq!(of(Waiting::Idle, 0.9, 0.6), "nothing is wrong.");
    }
}
