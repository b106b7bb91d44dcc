//! Many simulated jobs, and what is printed of one that fails.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::case::{Case, KEEPS_TRACES, Only, Verdict};
use crate::shrink::shrink;
use crate::watch::say;

/// Jobs of `make test`.
const JOBS: u64 = 1_500;
/// Jobs between two lines of progress.
const PROGRESS: u64 = 100_000;

fn variable(name: &str) -> Option<String> {
    std::env::var(format!("YUNTI_SIMULATION_{name}")).ok().filter(|text| !text.is_empty())
}

fn number(name: &str) -> Option<u64> {
    let text = variable(name)?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// Prints a failure, its command and its trace, and the smallest variant that fails.
fn explain(seed: u64, only: &Only, verdict: &Verdict) -> String {
    let small = shrink(seed, only.clone(), |only| Case::of(seed, only).run().outcome.is_err());
    KEEPS_TRACES.set(true);
    let case = Case::of(seed, &small);
    let again = case.run();
    KEEPS_TRACES.set(false);
    let outcome = |verdict: &Verdict| match &verdict.outcome {
        Ok(outcome) => format!("passes now ({outcome}): the seed does not decide everything"),
        Err(e) => e.clone(),
    };
    format!(
        "the simulated job of seed {seed} fails: {}\n  again: make soak SEED={seed} ONLY={only}\n{}\n\
         shrunk: {}\n  again: make soak SEED={seed} ONLY={small}\n{}\n",
        outcome(verdict),
        again.trace.join("\n"),
        outcome(&again),
        case.describe(),
    )
}

/// Keeps the calling thread and its children on one processor: only one of them runs at a time.
fn stay_on_one_processor(worker: usize) {
    let Ok(allowed) = rustix::thread::sched_getaffinity(None) else { return };
    let processors: Vec<usize> = (0..rustix::thread::CpuSet::MAX_CPU).filter(|&n| allowed.is_set(n)).collect();
    let mut one = rustix::thread::CpuSet::new();
    one.set(processors[worker % processors.len()]);
    // It only saves time.
    let _ = rustix::thread::sched_setaffinity(None, &one);
}

#[test]
fn simulated_jobs() {
    let only = variable("ONLY").map_or_else(Only::default, |text| Only::parse(&text));
    if let Some(seed) = number("SEED") {
        let case = Case::of(seed, &only);
        println!("{}", case.describe());
        KEEPS_TRACES.set(true);
        for _ in 0..number("TIMES").unwrap_or(1) {
            let verdict = case.run();
            if variable("TRACE").is_some() {
                println!("{}", verdict.trace.join("\n"));
            }
            println!("trace {:016x} of {} operations: {:?}", verdict.hash, verdict.operations, verdict.outcome);
            assert!(verdict.outcome.is_ok(), "{}", explain(seed, &only, &verdict));
        }
        return;
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as u64 >> 10;
    let first = number("FIRST").unwrap_or(now);
    let seconds = number("SECONDS");
    let jobs = number("JOBS").unwrap_or(if seconds.is_some() { u64::MAX } else { JOBS });
    println!("simulated jobs from seed {first} on");
    let began = Instant::now();
    let next = AtomicU64::new(0);
    let failed = AtomicBool::new(false);
    let totals: Mutex<(BTreeMap<&'static str, u64>, u64, u64)> = Mutex::default();
    std::thread::scope(|scope| {
        for worker in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            let (next, failed, totals, only) = (&next, &failed, &totals, &only);
            scope.spawn(move || {
                stay_on_one_processor(worker);
                while seconds.is_none_or(|s| began.elapsed() < Duration::from_secs(s))
                    && (!failed.load(Ordering::Relaxed) || variable("ALL").is_some())
                {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= jobs {
                        break;
                    }
                    if n > 0 && n.is_multiple_of(PROGRESS) {
                        println!("{n} jobs in {} s", began.elapsed().as_secs());
                    }
                    let seed = first.wrapping_add(n);
                    let verdict = Case::of(seed, only).run();
                    match &verdict.outcome {
                        Ok(outcome) => {
                            let mut totals = totals.lock().unwrap();
                            *totals.0.entry(outcome).or_default() += 1;
                            totals.1 += verdict.operations;
                            totals.2 += u64::from(verdict.spilled > 0);
                        }
                        Err(e) if variable("ALL").is_some() => {
                            println!("seed {seed} fails: {e}");
                            failed.store(true, Ordering::Relaxed);
                        }
                        Err(_) if failed.swap(true, Ordering::Relaxed) => {}
                        Err(e) => {
                            say(&format!("the simulated job of seed {seed} fails: {e}"));
                            println!("{}", explain(seed, only, &verdict));
                        }
                    }
                }
            });
        }
    });
    let (outcomes, operations, spilled) = totals.into_inner().unwrap();
    let n: u64 = outcomes.values().sum();
    let seconds = began.elapsed().as_secs_f64();
    println!("{n} simulated jobs from seed {first} on, {operations} operations, {seconds:.0} s: {outcomes:?}");
    println!("{spilled} of them spilled");
    assert!(!failed.load(Ordering::Relaxed), "a simulated job failed: its seed is printed above");
}

#[test]
fn a_seed_gives_the_same_operations_again() {
    for seed in 0..200 {
        let run = || Case::of(seed, &Only::default()).run();
        let (one, other) = (run(), run());
        assert_eq!((one.hash, one.operations), (other.hash, other.operations), "seed {seed}");
        assert_eq!(one.outcome, other.outcome, "seed {seed}");
    }
}
