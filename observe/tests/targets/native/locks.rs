//! A `std::sync::Mutex` with known wait times, which the program measures and prints itself. It prints `ready`, then
//! runs its rounds after a line of input.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

static LOCK: Mutex<u64> = Mutex::new(0);
static ROUND: AtomicUsize = AtomicUsize::new(0);
static DONE: AtomicUsize = AtomicUsize::new(0);
static WAITED_NS: AtomicU64 = AtomicU64::new(0);
const ROUNDS: usize = 25;

fn main() {
    println!("ready");
    let mut line = String::new();
    let _ = std::io::stdin().read_line(&mut line);
    scope(|threads| {
        threads.spawn(|| {
            for round in 1..=ROUNDS {
                let held = LOCK.lock();
                ROUND.store(round, SeqCst);
                sleep(Duration::from_millis(10));
                drop(held);
                while DONE.load(SeqCst) < round {
                    sleep(Duration::from_millis(1));
                }
            }
        });
        for round in 1..=ROUNDS {
            while ROUND.load(SeqCst) < round {
                sleep(Duration::from_millis(1));
            }
            let begin = Instant::now();
            drop(LOCK.lock());
            WAITED_NS.fetch_add(begin.elapsed().as_nanos() as u64, SeqCst);
            DONE.store(round, SeqCst);
        }
    });
    println!("[{{\"name\": \"mutex\", \"at\": {}, \"bytes\": {}, \"waits\": {ROUNDS}, \"total_ns\": {}}}]", &raw const LOCK as usize, size_of::<Mutex<u64>>(), WAITED_NS.load(SeqCst));
    let _ = std::io::stdin().read_line(&mut line);
}
