//! Tests of the thread sanitizer: it reports planted races, and nothing for race-free code. The tests exist only under
//! the sanitizer (`make test-full-engine` compiles them with `--cfg thread_sanitizer`).
//! One of the listed files with `unsafe`: safe Rust has no races to plant.
//!
//! Each case runs this program again, so that the report and the exit code belong to the case.
#![cfg(thread_sanitizer)]

use std::cell::UnsafeCell;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, RwLock, mpsc};
use std::thread;

use yunti_engine::env::Threads;
use yunti_engine::env::threads::RealThreads;
use yunti_engine::memory::Buffer;

/// Environment variable with the name of a case.
const CASE: &str = "YUNTI_RACES_CASE";

struct Cell(UnsafeCell<u64>);
// SAFETY: none, on purpose: sharing a Cell without a lock is a race; the cases below plant it or take a lock.
unsafe impl Sync for Cell {}

impl Cell {
    fn new() -> Cell {
        Cell(UnsafeCell::new(0))
    }
    fn add(&self) {
        // SAFETY: as above.
        unsafe { *self.0.get() += 1 }
    }
}

/// Runs `body` on two workers at the same time, without ordering between them. The sanitizer may forget a worker that
/// ended before the other began.
fn side_by_side(body: impl Fn(usize) + Sync) {
    let arrived = AtomicU64::new(0);
    RealThreads.run(2, &|worker| {
        arrived.fetch_add(1, Ordering::Relaxed);
        while arrived.load(Ordering::Relaxed) < 2 {
            thread::yield_now();
        }
        (0..100).for_each(|_| body(worker));
    });
}

type Case = (&'static str, fn());

const RACES: [Case; 4] = [
    ("two workers add to one cell", || {
        let cell = Cell::new();
        side_by_side(|_| cell.add());
    }),
    ("a worker writes to mapped memory that another reads", || {
        let mut buffer = Buffer::new(1 << 20, None).unwrap();
        let base = AtomicPtr::new(buffer.as_mut_ptr());
        side_by_side(|worker| {
            // SAFETY: inside of the buffer; the race is intended.
            unsafe {
                let byte = base.load(Ordering::Relaxed).add(70_000);
                if worker == 0 { byte.write(1) } else { _ = std::hint::black_box(byte.read()) }
            }
        });
    }),
    ("two workers, each under a lock of its own", || {
        let (cell, locks) = (Cell::new(), [Mutex::new(()), Mutex::new(())]);
        side_by_side(|worker| {
            let _held = locks[worker].lock().unwrap();
            cell.add();
        });
    }),
    ("handed over by a flag without an order", || {
        let (cell, ready) = (Cell::new(), AtomicBool::new(false));
        RealThreads.run(2, &|worker| {
            if worker == 0 {
                cell.add();
                ready.store(true, Ordering::Relaxed);
            } else {
                while !ready.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
                cell.add();
            }
        });
    }),
];

/// Synchronisation inside std. If std is not instrumented, the sanitizer reports several of these cases.
const NO_RACES: [Case; 8] = [
    ("a lock that is waited for", || {
        let (cell, lock) = (Cell::new(), Mutex::new(()));
        RealThreads.run(4, &|_| {
            for n in 0..2000 {
                let _held = lock.lock().unwrap();
                cell.add();
                if n % 100 == 0 {
                    thread::yield_now();
                }
            }
        });
    }),
    ("a lock of readers and writers", || {
        let (cell, lock) = (Cell::new(), RwLock::new(()));
        RealThreads.run(4, &|_| {
            for _ in 0..500 {
                let _held = lock.write().unwrap();
                cell.add();
            }
        });
    }),
    ("a condition that is waited for", || {
        let (cell, lock, changed) = (Cell::new(), Mutex::new(0), Condvar::new());
        RealThreads.run(2, &|worker| {
            for turn in 0..200 {
                drop(changed.wait_while(lock.lock().unwrap(), |now| *now != turn * 2 + worker).unwrap());
                cell.add();
                *lock.lock().unwrap() += 1;
                changed.notify_all();
            }
        });
    }),
    ("a channel", || {
        let (send, receive) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(move || (0..1000u64).for_each(|n| send.send(vec![n; 10]).unwrap()));
            assert_eq!(receive.into_iter().map(|v| v.iter().sum::<u64>()).sum::<u64>(), 4_995_000);
        });
    }),
    ("what is counted, dropped by the last", || {
        for _ in 0..200 {
            let shared = Arc::new(Cell::new());
            let other = shared.clone();
            let worker = thread::spawn(move || other.0.get() as usize);
            drop(shared);
            worker.join().unwrap();
        }
    }),
    ("made once", || {
        let once = OnceLock::new();
        RealThreads.run(4, &|_| assert_eq!(once.get_or_init(|| vec![7u64; 1000])[999], 7));
    }),
    ("a thread that is parked", || {
        let (cell, ready) = (Arc::new(Cell::new()), Arc::new(AtomicU64::new(0)));
        let (its_cell, its_ready) = (cell.clone(), ready.clone());
        let worker = thread::spawn(move || {
            while its_ready.load(Ordering::Acquire) == 0 {
                thread::park();
            }
            its_cell.add();
        });
        cell.add();
        ready.store(1, Ordering::Release);
        worker.thread().unpark();
        worker.join().unwrap();
        cell.add();
    }),
    ("a result that is joined", || {
        let cell = Arc::new(Cell::new());
        for _ in 0..10 {
            let its = cell.clone();
            thread::spawn(move || its.add()).join().unwrap();
            cell.add();
        }
    }),
];

fn run(test: &str, case: &str) -> Output {
    Command::new(std::env::current_exe().unwrap()).args(["--exact", test]).env(CASE, case).output().unwrap()
}

/// Runs the case that this process was started for, if any.
fn is_case(cases: &[Case]) -> bool {
    let Ok(name) = std::env::var(CASE) else { return false };
    cases.iter().find(|(n, _)| *n == name).expect("a case of this name").1();
    true
}

#[test]
fn planted_races_are_reported() {
    if is_case(&RACES) {
        return;
    }
    for (case, _) in RACES {
        let output = run("planted_races_are_reported", case);
        let report = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(report.contains("WARNING: ThreadSanitizer: data race"), "{case}: {report}");
        assert!(!output.status.success(), "{case}: reported, and the program ended well");
    }
}

#[test]
fn race_free_code_is_not_reported() {
    if is_case(&NO_RACES) {
        return;
    }
    for (case, _) in NO_RACES {
        let output = run("race_free_code_is_not_reported", case);
        let report = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && report.is_empty(), "{case}: {report}");
    }
}
