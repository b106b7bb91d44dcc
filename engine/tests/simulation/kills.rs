//! Troubles at every operation: small jobs that are killed, lose the power, or meet an error at each of their
//! operations in turn, and then run again.

use yunti_engine::env::simulated::Trouble;

use crate::case::{Case, Only};
use crate::job::Limits;

/// Jobs whose operations are all tried.
const JOBS: usize = 40;

/// Runs small jobs with each of some troubles at each operation. `change` changes a job before.
fn sweep(troubles: impl Fn(u64) -> Vec<Trouble>, change: impl Fn(&mut Case)) {
    let only = Only { limits: Limits { bytes: 3000, ..Limits::default() }, troubles: Some(Vec::new()) };
    let case_of = |seed: u64| {
        let mut case = Case::of(seed, &only);
        change(&mut case);
        case
    };
    // Rivals have one crash for both, which is no kill of one process.
    let seeds = (0..).filter(|&seed| case_of(seed).rivals == 1).take(JOBS);
    let mut runs = 0;
    for seed in seeds {
        let operations = case_of(seed).run().operations;
        for trouble in (1..=operations + 1).flat_map(&troubles) {
            let mut case = case_of(seed);
            case.troubles = vec![trouble];
            case.job.spec.durable |= matches!(trouble, Trouble::Crash { power: true, .. });
            let outcome = case.run().outcome;
            assert!(outcome.is_ok(), "seed {seed}, {:?}: {outcome:?}", case.troubles);
            runs += 1;
        }
    }
    println!("{JOBS} jobs, {runs} runs");
}

#[test]
fn a_kill_at_every_operation_leaves_all_or_nothing() {
    sweep(|nth| [false, true].map(|power| Trouble::Crash { nth, power }).into(), |_| {});
}

/// A disk that fails from some operation on may leave the older output in the directory of the claim.
#[test]
fn a_disk_that_fails_from_any_operation_on_keeps_the_older_output() {
    let failing = |nth| vec![Trouble::Failing { nth, errno: libc::EIO, disk: 0 }];
    sweep(failing, |case| {
        case.exchanges = false;
        (case.job.older, case.job.spec.overwrite, case.job.spec.durable) = (true, true, false);
    });
}

/// Whatever a job with a journal leaves after an error, the next one takes over or removes.
#[test]
fn an_error_at_every_operation_blocks_no_later_job() {
    let error = |nth| vec![Trouble::Error { nth, errno: libc::EIO, disk: None }];
    sweep(error, |case| case.job.spec.resume = case.rivals == 1);
}
