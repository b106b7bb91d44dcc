//! The sweep: each operation of each job with each fault that applies to it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use yunti_base::{Code, Error};
use yunti_engine::env::faulty::{Fault, Operation, Place, Step};

use crate::cases::{self, Case};

const EINTR: Fault = Fault::Errno(libc::EINTR);
const EIO: Fault = Fault::Errno(libc::EIO);
const FULL: Fault = Fault::Errno(libc::ENOSPC);
const SLOW: Fault = Fault::Slow(2);

/// Operations of one kind that are tried for a fault if not all are.
const SAMPLE: usize = 3;

fn name_of(fault: Fault) -> &'static str {
    match fault {
        EINTR => "EINTR",
        EIO => "EIO",
        FULL => "ENOSPC",
        Fault::Errno(_) => "another errno",
        Fault::Short => "short",
        Fault::Torn => "torn write or flipped bit",
        Fault::Slow(_) => "slow",
        Fault::Killed => "killed",
    }
}

/// Returns true if the operations are the same in two runs. A claim's name differs in each run
/// (`.out._temporary-TOKEN`), and the choice of a scratch directory depends on the clock.
fn is_same(a: &Step, b: &Step) -> bool {
    let claimed = |step: &Step| {
        let path = step.path.to_string_lossy().into_owned();
        path.find("._temporary-").map_or(path.clone(), |at| path[..at].to_string() + &path[at + 28..])
    };
    let same_path = a.place == Place::Scratch || claimed(a) == claimed(b);
    (a.operation, a.place) == (b.operation, b.place) && same_path
}

/// Returns the expected outcome of a fault. A flipped bit in a user's text is undetectable.
fn faults_of(step: &Step) -> Vec<Fault> {
    let mut faults = vec![EINTR, EIO, SLOW];
    match step.operation {
        Operation::Read => faults.push(Fault::Short),
        Operation::Write => faults.extend([Fault::Short, FULL]),
        Operation::Create | Operation::CreateDir | Operation::Scratch | Operation::Allocate => faults.push(FULL),
        Operation::Rename | Operation::Exchange | Operation::Sync | Operation::SyncDir => faults.push(FULL),
        _ => {}
    }
    if step.place == Place::Scratch && matches!(step.operation, Operation::Read | Operation::Write) {
        faults.push(Fault::Torn);
    }
    faults
}

#[derive(PartialEq)]
enum Expect {
    Same,
    Error,
    Either,
}

fn expected(step: &Step, fault: Fault) -> Expect {
    match (fault, step.operation, step.place) {
        (EINTR | Fault::Short | Fault::Slow(_), ..) => Expect::Same,
        // A torn block on the disk may never be read.
        (Fault::Torn, Operation::Write, _) => Expect::Either,
        // A file that cannot be mapped is read.
        (_, Operation::Map, _) => Expect::Same,
        // Another directory is used, or the operation is retried.
        (_, _, Place::Scratch) => Expect::Same,
        (_, Operation::Meta | Operation::List | Operation::Len | Operation::FreeBytes, _) => Expect::Either,
        (_, operation, _) if operation.is_removal() => Expect::Either,
        _ => Expect::Error,
    }
}

fn check_error(step: &Step, fault: Fault, e: &Error, what: &str) {
    let message = e.to_string();
    let codes: &[Code] = match (fault, step.place) {
        (Fault::Torn, _) => &[Code::Corrupt],
        (_, Place::Opened) => &[Code::Input],
        (_, Place::Created | Place::Scratch) => &[Code::Output],
        (_, Place::Name | Place::Stream) => &[Code::Input, Code::Output],
    };
    assert!(codes.contains(&e.code()), "{what}: {:?}: {message}", e.code());
    assert!(!message.contains('\n') && e.path().is_some(), "{what}: {message}");
    if let Fault::Errno(errno) = fault {
        let why = std::io::Error::from_raw_os_error(errno).to_string();
        assert!(message.contains(why.split(" (os").next().unwrap()), "{what}: the reason is not message: {message}");
    }
}

/// Cases by fault: tried, succeeded, failed.
type Tally = BTreeMap<&'static str, [u64; 3]>;

fn sweep(case: &Case, full: bool, tally: &mut Tally) {
    let (counted, streams, result) = case.run(0, EIO);
    let spill = result.unwrap_or_else(|e| panic!("{}: {e}", case.name)).report.spill;
    assert_eq!(case.name.contains("spilled"), spill.runs > 1 && spill.merge_passes == 0, "{}: {spill:?}", case.name);
    assert_eq!(case.name.contains("in passes"), spill.merge_passes > 0, "{}: {spill:?}", case.name);
    case.expect_answer(&streams, "nothing fails");
    let steps = counted.steps();
    for (i, step) in steps.iter().enumerate() {
        for fault in faults_of(step) {
            // A delay is the same everywhere, so some operations suffice.
            let limit = if fault == SLOW { 1 } else { SAMPLE };
            if (fault == SLOW || !full) && !sampled(&steps, i, limit) {
                continue;
            }
            let nth = i as u64 + 1;
            let what = format!("operation {nth} of {}: {step}: {}", steps.len(), name_of(fault));
            let (faulty, streams, result) = case.run(nth, fault);
            assert!(
                faulty.operations() >= nth && is_same(&faulty.steps()[i], step),
                "{}, {what}: not reached",
                case.name
            );
            let what_case = format!("{}, {what}", case.name);
            let expect = expected(step, fault);
            match &result {
                Ok(_) => assert!(expect != Expect::Error, "{what_case}: the failure was ignored"),
                Err(e) => {
                    assert!(expect != Expect::Same, "{what_case}: {e}");
                    check_error(step, fault, e, &what_case);
                }
            }
            if step.operation.is_removal() && fault == EIO {
                // The next job for the same output removes what could not be removed.
                case.reset();
                let (_, streams, again) = case.run(0, EIO);
                again.unwrap_or_else(|e| panic!("{what_case}, the job after it: {e}"));
                case.expect_answer(&streams, &format!("{what}, the job after it"));
            } else if result.is_ok() {
                case.expect_answer(&streams, &what);
            } else {
                case.expect_nothing(&streams, &what);
                case.reset();
            }
            let counts = tally.entry(name_of(fault)).or_default();
            counts[0] += 1;
            counts[if result.is_ok() { 1 } else { 2 }] += 1;
        }
    }
    eprintln!("{}: {} operations", case.name, steps.len());
}

/// Returns true for the representatives among `n` operations of one kind: the first, the last, and some between.
fn sampled(steps: &[Step], i: usize, n: usize) -> bool {
    let same = |s: &&Step| (s.operation, s.place) == (steps[i].operation, steps[i].place);
    let all = steps.iter().filter(same).count();
    let before = steps[..i].iter().filter(same).count();
    all <= n || (before * (n - 1).max(1)) % (all - 1) < (n - 1).max(1) || before + 1 == all
}

#[test]
fn every_operation_in_every_mode() {
    let full = std::env::var("YUNTI_SWEEP").is_ok_and(|v| v == "full");
    let cases = cases::all();
    let next = AtomicUsize::new(0);
    let total: Mutex<Tally> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()).min(8) {
            scope.spawn(|| {
                while let Some(make) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut tally = Tally::new();
                    sweep(&make(), full, &mut tally);
                    let mut total = total.lock().unwrap_or_else(|e| e.into_inner());
                    for (fault, counts) in tally {
                        let all = total.entry(fault).or_default();
                        (0..3).for_each(|i| all[i] += counts[i]);
                    }
                }
            });
        }
    });
    let total = total.into_inner().unwrap();
    println!("| fault | cases | the same output | one error |");
    for (fault, [tried, well, failed]) in &total {
        println!("| {fault} | {tried} | {well} | {failed} |");
    }
    println!("{} cases of {} jobs", total.values().map(|c| c[0]).sum::<u64>(), cases.len());
}
