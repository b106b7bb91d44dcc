//! Tests of schedules: what they find, and that a seed decides all.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::schedule::{self, Key, Schedule};
use super::sync::{Condvar, Mutex, RwLock};

/// Runs `n` threads under a schedule. Returns why it failed, if it did.
fn run(seed: u64, n: usize, body: &(dyn Fn(usize) + Sync)) -> Option<String> {
    let schedule = Schedule::new(seed);
    let _entered = schedule.enter();
    // As in a crew: a panic of one thread does not end the others.
    schedule.run(n, &|worker| {
        let _ = catch_unwind(AssertUnwindSafe(|| body(worker)));
    });
    schedule.failure()
}

#[test]
fn finds_an_update_that_is_lost() {
    let found = (0..100).filter(|&seed| {
        let n = AtomicU64::new(0);
        run(seed, 2, &|_| {
            let before = n.load(Ordering::Relaxed);
            schedule::point(1);
            n.store(before + 1, Ordering::Relaxed);
        });
        n.into_inner() == 1
    });
    let found = found.count();
    assert!((5..95).contains(&found), "{found} of 100");
}

#[test]
fn a_lock_keeps_others_out_and_a_condition_wakes_them() {
    for seed in 0..100 {
        let (queue, changed, sum) = (Mutex::new(Vec::new()), Condvar::new(), RwLock::new(0));
        let failure = run(seed, 4, &|worker| {
            for i in 0..20 {
                if worker < 2 {
                    queue.lock().unwrap().push(i);
                    changed.notify_one();
                    continue;
                }
                let mut waiting = queue.lock().unwrap();
                let item = loop {
                    match waiting.pop() {
                        Some(item) => break item,
                        None => waiting = changed.wait(waiting).unwrap(),
                    }
                };
                schedule::point(1);
                drop(waiting);
                *sum.write().unwrap() += item;
                assert!(*sum.read().unwrap() >= item);
            }
        });
        assert_eq!((failure, *sum.read().unwrap()), (None, 2 * 190), "seed {seed}");
    }
}

#[test]
fn a_lock_that_an_ending_thread_frees_is_no_deadlock() {
    for seed in 0..200 {
        let lock = Mutex::new(0);
        let failure = run(seed, 3, &|_| {
            let mut n = lock.lock().unwrap();
            schedule::point(1);
            *n += 1;
        });
        assert_eq!((failure, *lock.lock().unwrap()), (None, 3), "seed {seed}");
    }
}

#[test]
fn finds_a_deadlock_and_ends() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let locks = || (Mutex::new(0), Mutex::new(0));
    let crossed = |seed: u64| {
        let (a, b) = locks();
        run(seed, 2, &|worker| {
            let (first, second) = if worker == 0 { (&a, &b) } else { (&b, &a) };
            let _first = first.lock().unwrap();
            let _second = second.lock();
        })
    };
    let found: Vec<String> = (0..100).filter_map(crossed).collect();
    let never = run(1, 2, &|_| {
        schedule::wait(Key::Nothing, None);
    });
    std::panic::set_hook(hook);
    assert!((5..95).contains(&found.len()) && found[0].starts_with("a deadlock"), "{} of 100", found.len());
    assert!(never.is_some_and(|why| why.starts_with("a deadlock")));
}

#[test]
fn time_passes_only_when_all_wait() {
    let schedule = Schedule::new(3);
    let entered = schedule.enter();
    let start_ns = schedule.now_ns();
    let nobody = Condvar::new();
    let lock = Mutex::new(());
    let timed_out = nobody.wait_timeout(lock.lock().unwrap(), Duration::from_secs(3600)).unwrap().1.timed_out();
    assert!(timed_out && schedule.now_ns() - start_ns >= 3600 * 1_000_000_000);
    drop(entered);
    assert!(!schedule::is_scheduled());
}

#[test]
fn a_seed_decides_the_order() {
    let order = |seed: u64| {
        let order = std::sync::Mutex::new(Vec::new());
        run(seed, 3, &|worker| {
            for _ in 0..10 {
                schedule::point(1);
                order.lock().unwrap().push(worker);
            }
        });
        order.into_inner().unwrap()
    };
    let all: BTreeSet<Vec<usize>> = (0..50).map(order).collect();
    assert!(all.len() > 30, "{}", all.len());
    assert!((0..50).all(|seed| order(seed) == order(seed)));
}

#[test]
fn a_killed_thread_unwinds_at_its_next_point() {
    let schedule = Schedule::new(5);
    let _entered = schedule.enter();
    let steps = Arc::new(AtomicU64::new(0));
    let counted = steps.clone();
    let thread = schedule.spawn(move || {
        loop {
            schedule::point(1);
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    let thread = thread.unwrap();
    let killer = schedule.clone();
    schedule.at_point(thread, 10, Box::new(move || killer.kill(thread)));
    schedule.join(thread);
    assert!(schedule.has_ended(thread));
    assert_eq!(steps.load(Ordering::Relaxed), 9);
}

/// Each thread but the one that panics waits for its turn again: it must get it.
#[test]
fn a_panic_of_any_thread_goes_on_in_the_caller() {
    for seed in 0..50 {
        for bad in 0..3 {
            let schedule = Schedule::new(seed);
            let _entered = schedule.enter();
            let ended = AtomicU64::new(0);
            let result = catch_unwind(AssertUnwindSafe(|| {
                schedule.run(3, &|worker| {
                    schedule::point(1);
                    assert_ne!(worker, bad, "planted");
                    (0..10).for_each(|_| schedule::point(1));
                    ended.fetch_add(1, Ordering::Relaxed);
                });
            }));
            let payload = result.expect_err("the panic");
            assert!(payload.downcast_ref::<String>().is_some_and(|text| text.contains("planted")));
            assert_eq!((ended.into_inner(), schedule.failure()), (2, None));
        }
    }
}
