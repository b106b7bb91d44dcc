//! Jobs with a journal are killed at their Nth operation on files, for every N, and go on with `--resume`: the same
//! bytes, and nothing is left.
//!
//! A kill is an operation from which on every operation fails, removals too; half of a write may be in the file.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use yunti_engine::env::faulty::{Fault, FaultyFiles};
use yunti_engine::job::JobSpec;

use crate::cases::{self, Case, Out};

/// Operations that are tried of a job, if not all are.
const SAMPLE: u64 = 6;

/// Returns the case as a job that can be resumed. `eager`: each split is a checkpoint.
fn resumed(case: Case, eager: bool) -> Case {
    case.changed(|spec| {
        spec.resume = true;
        if spec.split_bytes == JobSpec::default().split_bytes {
            spec.split_bytes = 300;
        }
        if eager {
            spec.settings.insert("resume.checkpoint.ms".into(), "0".into());
        }
    })
}

fn kill(case: &Case, nth: u64) -> u64 {
    let (files, ..) = case.run_over(|files| FaultyFiles::new(files, nth, true, Fault::Killed));
    files.operations()
}

/// Runs the job to its end and expects its answer. The output may be in place already, if the kill came late.
fn finish(case: &Case, what: &str) -> Option<u64> {
    let (files, streams, result) = case.run(0, Fault::Killed);
    match result {
        Ok(outcome) => {
            case.expect_answer(&streams, what);
            let kept = outcome.report.resumed.map(|resumed| resumed.splits);
            return Some(kept.unwrap_or(0)).filter(|_| files.operations() > 0);
        }
        Err(e) if e.code() == yunti_base::Code::Exists => {
            let spec = JobSpec { overwrite: true, ..case.spec.clone() };
            let (streams, result) = case.run_spec(&spec);
            result.unwrap_or_else(|e| panic!("{}, {what}, overwritten: {e}", case.name));
            case.expect_answer(&streams, what);
        }
        Err(e) => panic!("{}, {what}: {e}", case.name),
    }
    None
}

fn sweep(case: &Case, full: bool) -> (u64, u64, u64) {
    let (counted, streams, result) = case.run(0, Fault::Killed);
    result.unwrap_or_else(|e| panic!("{}: {e}", case.name));
    case.expect_answer(&streams, "nothing fails");
    let all = counted.operations();
    let step = if full { 1 } else { (all / SAMPLE).max(1) };
    let (mut tried, mut gained) = (0, 0);
    for nth in (1..=all).step_by(step as usize) {
        kill(case, nth);
        let kept = finish(case, &format!("killed at {nth} of {all}"));
        (tried, gained) = (tried + 1, gained + u64::from(kept.is_some_and(|splits| splits > 0)));
        // The attempt that goes on is killed too, at several places.
        if nth % (3 * step) == 1 {
            for again in [nth / 2 + 1, nth, nth + 5] {
                kill(case, nth);
                kill(case, again);
                finish(case, &format!("killed at {nth} and {again} of {all}"));
            }
        }
        // A job without a journal takes nothing over.
        if nth % (5 * step) == 1 && case.out != Out::Overwrite {
            kill(case, nth);
            let spec = JobSpec { resume: false, ..case.spec.clone() };
            let (streams, result) = case.run_spec(&spec);
            match result {
                Ok(_) => case.expect_answer(&streams, &format!("killed at {nth} of {all}, begun again")),
                Err(e) => assert!(e.code() == yunti_base::Code::Exists, "{}, {nth}: {e}", case.name),
            }
            case.reset();
        }
    }
    (all, tried, gained)
}

fn sweep_all(eager: bool) {
    let full = std::env::var("YUNTI_SWEEP").is_ok_and(|v| v == "full");
    let cases = cases::all();
    let next = AtomicUsize::new(0);
    let total = Mutex::new((0, 0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()).min(8) {
            scope.spawn(|| {
                while let Some(make) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let case = make();
                    // A stream cannot be read again, and a job to one has no journal. A job in memory begins again.
                    let spills = ["spilled", "in passes", "none"].iter().any(|kind| case.name.contains(kind));
                    if case.out == Out::Stdout || !eager && !spills {
                        continue;
                    }
                    let case = resumed(case, eager);
                    let (operations, tried, gained) = sweep(&case, full);
                    eprintln!("{}: {operations} operations, {tried} kills, {gained} kept splits", case.name);
                    let mut total = total.lock().unwrap_or_else(|e| e.into_inner());
                    *total = (total.0 + tried, total.1 + gained);
                }
            });
        }
    });
    let (tried, gained) = *total.lock().unwrap();
    println!("{tried} kills, {gained} of them with kept splits");
    // Operations of the plan, which reads compressed files too, keep nothing.
    assert!(gained * 5 > tried, "only {gained} of {tried} attempts kept something");
}

#[test]
fn killed_at_any_operation_and_resumed() {
    sweep_all(true);
}

#[test]
fn killed_at_any_operation_and_resumed_with_natural_spills() {
    sweep_all(false);
}
