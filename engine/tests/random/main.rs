//! Random jobs from a seed, compared with a simple reference. Random are operators, shapes of records, sizes, formats,
//! codecs, sources, side files, named outputs and chains; also modes, partitions, memory, threads and faults.
//!
//! ```text
//!   cargo test -p yunti-engine --test random                          2,000 jobs from a new seed, which is printed
//!   YUNTI_RANDOM_JOBS=50000 cargo test ..                             this number of jobs
//!   YUNTI_RANDOM_SECONDS=3600 cargo test ..                           for an hour (make soak)
//!   YUNTI_RANDOM_SEED=123 cargo test ..                               one job from this seed, twenty times
//! ```

mod answer;
#[path = "../jobs/classes.rs"]
mod classes;
mod input;
mod job;
mod plain;
mod real;
mod shapes;
mod stage;
#[path = "../jobs/support.rs"]
#[allow(dead_code)]
mod support;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

const JOBS: u64 = 400;
/// Runs of the job of a requested seed: with several threads a failure may need luck.
const TIMES: u64 = 20;
/// Seconds after which a job counts as hanging.
const JOB_SECONDS_MAX: u64 = 120;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

#[test]
fn random_jobs() {
    if let Some(seed) = number("YUNTI_RANDOM_SEED") {
        let case = real::RealJob::of(seed);
        println!("seed {seed}: {}", case.describe());
        for _ in 0..number("YUNTI_RANDOM_TIMES").unwrap_or(TIMES) {
            println!("{}", case.run());
        }
        return;
    }
    let first = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as u64 >> 10;
    let seconds = number("YUNTI_RANDOM_SECONDS");
    let jobs = number("YUNTI_RANDOM_JOBS").unwrap_or(if seconds.is_some() { u64::MAX } else { JOBS });
    println!("random jobs from seed {first} on");
    let began = Instant::now();
    let goes_on = || seconds.is_none_or(|s| began.elapsed() < Duration::from_secs(s));
    let next = AtomicU64::new(0);
    let failed = AtomicBool::new(false);
    let running: Mutex<BTreeMap<u64, Instant>> = Mutex::default();
    let outcomes: Mutex<BTreeMap<&'static str, u64>> = Mutex::default();
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get()).min(16);
    let left = AtomicU64::new(workers as u64);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while goes_on() && !failed.load(Ordering::Relaxed) {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= jobs {
                        break;
                    }
                    let seed = first.wrapping_add(n);
                    running.lock().unwrap().insert(seed, Instant::now());
                    let case = real::RealJob::of(seed);
                    match catch_unwind(AssertUnwindSafe(|| case.run())) {
                        Ok(outcome) => *outcomes.lock().unwrap().entry(outcome).or_default() += 1,
                        Err(_) => {
                            failed.store(true, Ordering::Relaxed);
                            println!("seed {seed} failed: {}", case.describe());
                            let again = "cargo test -p yunti-engine --test random -- --nocapture";
                            println!("again: YUNTI_RANDOM_SEED={seed} {again}");
                        }
                    }
                    running.lock().unwrap().remove(&seed);
                }
                left.fetch_sub(1, Ordering::Relaxed);
            });
        }
        while left.load(Ordering::Relaxed) > 0 {
            std::thread::sleep(Duration::from_millis(50));
            let now = running.lock().unwrap();
            if let Some((seed, _)) = now.iter().find(|(_, began)| began.elapsed().as_secs() > JOB_SECONDS_MAX) {
                eprintln!(
                    "the job of seed {seed} hangs: YUNTI_RANDOM_SEED={seed}: {}",
                    real::RealJob::of(*seed).describe()
                );
                std::process::abort();
            }
        }
    });
    let outcomes = outcomes.into_inner().unwrap();
    println!("{} random jobs from seed {first} on: {outcomes:?}", outcomes.values().sum::<u64>());
    assert!(!failed.load(Ordering::Relaxed), "a random job failed: its seed is printed above");
}
