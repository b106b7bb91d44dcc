//! Kills at every operation: small jobs whose process is killed, or whose power is lost, at each of their operations in
//! turn, and then run again.

use yunti_engine::env::simulated::Trouble;

use crate::case::{Case, Only};
use crate::job::Limits;

/// Jobs whose operations are all tried.
const JOBS: u64 = 40;

#[test]
fn a_kill_at_every_operation_leaves_all_or_nothing() {
    let only = Only { limits: Limits { bytes: 3000, ..Limits::default() }, troubles: Some(Vec::new()) };
    let (mut kills, mut jobs) = (0, 0);
    for seed in 0.. {
        let calm = Case::of(seed, &only);
        // Rivals have one crash for both, which is no kill of one process.
        if calm.rivals > 1 {
            continue;
        }
        let operations = calm.run().operations;
        for power in [false, true] {
            for nth in 1..=operations + 1 {
                let mut case = Case::of(seed, &only);
                case.troubles = vec![Trouble::Crash { nth, power }];
                case.job.spec.durable |= power;
                let outcome = case.run().outcome;
                assert!(outcome.is_ok(), "seed {seed}, {:?}: {outcome:?}", case.troubles);
                kills += 1;
            }
        }
        jobs += 1;
        if jobs == JOBS {
            break;
        }
    }
    println!("{jobs} jobs, killed {kills} times");
}
