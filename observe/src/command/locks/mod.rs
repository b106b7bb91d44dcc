//! `yunti observe locks`: contention by lock, with waiters, holders and the stacks of both.

mod futexes;
mod java;
mod lock;

use clap::Args;
use serde_json::{Value, json};
use yunti_base::Result;
use yunti_program::failure::Outcome;

use super::Measurement;
use crate::jvm;
pub use lock::Lock;
use yunti_probe::answer::{self, Answer, Graph, Table};
use yunti_probe::options::{OutputFlags, TargetFlags};
use yunti_probe::stack::{Frame, Kind, Tree};
use yunti_probe::stopping::{Stopping, Watched};
use yunti_probe::target::Start;

/// Show lock contention: waits by lock, duration, waiter and holder, with the stacks of both
///
/// For a JVM: monitors and java.util.concurrent, each lock by its class and identity. For other processes: pthread
/// mutexes, and everything else built on futexes.
#[derive(Debug, Args)]
pub struct LocksFlags {
    #[command(flatten)]
    target: TargetFlags,
    #[command(flatten)]
    pub output: OutputFlags,
    /// Measure futexes of native code in a JVM, including the JVM's own locks
    #[arg(long)]
    native: bool,
    /// Include waits for work, results and time: conditions, parked threads
    #[arg(long)]
    all: bool,
}

/// Locks that get a histogram, waiters and stacks.
const DETAILED: usize = 3;
const THREADS_SHOWN: usize = 10;

pub fn locks(flags: &LocksFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    let target = flags.target.find(Start::Running)?;
    let process = &target.process;
    let is_jvm = jvm::recognise(&target)?;
    let mut answer = Answer::new("locks", process);
    let measure = if is_jvm && flags.native { futexes::measure } else { measure };
    let measurement = Measurement { process, is_jvm, time: flags.output.seconds };
    let (mut all, watched) = measure(measurement, &mut stopping, &mut answer)?;
    answer.watched(&watched);
    all.retain(|lock| flags.all || lock.kind.is_contention());
    all.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.name.cmp(&b.name)));
    render(&all, &mut answer);
    answer.give(&flags.output.answer, watched.end, facts(&all))
}

/// Measures Java locks of a JVM, or futexes of any other process.
pub fn measure(measurement: Measurement, stopping: &mut Stopping, answer: &mut Answer) -> Result<(Vec<Lock>, Watched)> {
    match measurement.is_jvm {
        true => java::measure(measurement.process, measurement.time, stopping, answer),
        false => futexes::measure(measurement, stopping, answer),
    }
}

fn render(all: &[Lock], answer: &mut Answer) {
    let (waits, total): (u64, u64) = (all.iter().map(|l| l.contentions).sum(), all.iter().map(|l| l.total_ns).sum());
    answer.lead = match all.first() {
        None => "no lock contention".to_owned(),
        Some(first) => format!(
            "{waits} waits for {} locks, {} in all, {} of it for {}",
            all.len(),
            answer::time(total),
            answer::percent(first.total_ns, total),
            first.name
        ),
    };
    let rows = all.iter().map(|lock| {
        let holder = lock.holders().first().map_or_else(String::new, |(thread, _)| (*thread).to_owned());
        vec![
            lock.contentions.to_string(),
            answer::time(lock.total_ns),
            answer::time(lock.total_ns / lock.contentions.max(1)),
            answer::time(lock.longest_ns),
            lock.waiters.len().to_string(),
            lock.kind.name().to_owned(),
            holder,
            lock.name.clone(),
        ]
    });
    answer.tables.push(Table {
        title: "Locks by total wait time".to_owned(),
        columns: vec![
            ("waits", true),
            ("total", true),
            ("mean", true),
            ("max", true),
            ("threads", true),
            ("kind", false),
            ("mostly held by", false),
            ("lock", false),
        ],
        rows: rows.collect(),
        shown: 20,
    });
    for lock in all.iter().take(DETAILED) {
        answer.tables.push(Table {
            title: format!("Waits for {}", lock.name),
            columns: vec![("from us", true), ("to", true), ("waits", true), ("", false)],
            rows: lock.histogram.rows(),
            shown: 40,
        });
        let waiters = lock.waiters().into_iter();
        answer.tables.push(Table {
            title: format!("Waiters for {}", lock.name),
            columns: vec![("waits", true), ("total", true), ("thread", false)],
            rows: waiters.map(|(thread, n, ns)| vec![n.to_string(), answer::time(ns), thread.to_owned()]).collect(),
            shown: THREADS_SHOWN,
        });
        let title = format!("Stacks of waiters for {}", lock.name);
        answer.listings.push(answer::stacks(&title, lock.waiting.dearest(5), answer::time));
        let title = format!("Stacks of holders of {}", lock.name);
        answer.listings.push(answer::stacks(&title, lock.holding.dearest(5), |n| format!("{n} times")));
    }
    let mut tree = Tree::default();
    for lock in all {
        let head = Frame { name: lock.name.as_str().into(), kind: Kind::Group };
        tree.join(&[head], &lock.waiting);
    }
    answer.graph = Graph::of("Waiters by lock", tree, 1e9);
}

fn facts(all: &[Lock]) -> Value {
    json!({
        "waits": all.iter().map(|lock| lock.contentions).sum::<u64>(),
        "total_ns": all.iter().map(|lock| lock.total_ns).sum::<u64>(),
        "locks": all.iter().map(Lock::to_json).collect::<Vec<_>>(),
    })
}
