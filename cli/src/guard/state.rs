//! The state of the guarded job, and the one thread that may end the process.
//!
//! ```text
//!   Off -> Running <-> Switching <-> Done -> Over        Switching: the output is being renamed
//!             \-----------> Ending (by one thread; the others wait for the end)
//! ```

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU64, Ordering::SeqCst};

use super::Show;

const OFF: u64 = 0;
const RUNNING: u64 = 1;
const SWITCHING: u64 = 2;
const DONE: u64 = 3;
const OVER: u64 = 4;
const ENDING: u64 = 5;
/// The thread stands above the state, of `SWITCHING` and `ENDING`.
const THREAD_SHIFT: u32 = 8;
const STATE_MASK: u64 = (1 << THREAD_SHIFT) - 1;

/// Milliseconds that a handler waits for the main thread to finish a rename, or a job that is done.
const WAIT_MS: u32 = 10_000;

static STATE: AtomicU64 = AtomicU64::new(OFF);
/// Children of `fork` have the handlers too, and must not act on the parent's job.
static PROCESS: AtomicI32 = AtomicI32::new(0);
static CODE: AtomicU8 = AtomicU8::new(0);
static JSON: AtomicBool = AtomicBool::new(false);
static BAR: AtomicBool = AtomicBool::new(false);

/// What a handler may do.
pub enum Claim {
    /// No job of this process: the default action is right.
    Foreign,
    /// The job was running; this thread ends the process.
    Job,
    /// The job is done, and this is the exit code of the process.
    Done(u8),
    /// This thread is already ending the process.
    Again,
}

fn process() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

fn thread() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

fn with_thread(state: u64) -> u64 {
    state | (thread() as u64) << THREAD_SHIFT
}

fn thread_of(state: u64) -> i32 {
    (state >> THREAD_SHIFT) as i32
}

/// One millisecond of sleep, by the system call alone.
pub fn pause() {
    let millisecond = rustix::thread::Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    let _ = rustix::thread::nanosleep(&millisecond);
}

/// Another thread ends the process.
pub fn wait_for_the_end() -> ! {
    loop {
        pause();
    }
}

pub fn begin(show: Show) {
    JSON.store(show.json, SeqCst);
    BAR.store(show.bar, SeqCst);
    PROCESS.store(process(), SeqCst);
    STATE.store(RUNNING, SeqCst);
}

pub fn wants_json() -> bool {
    JSON.load(SeqCst)
}

pub fn has_bar() -> bool {
    BAR.load(SeqCst)
}

/// Returns false in a child that a class has forked.
fn is_own_process() -> bool {
    is_process(process())
}

/// Returns true for the number of the process that runs the job.
pub fn is_process(number: i32) -> bool {
    PROCESS.load(SeqCst) == number
}

/// Returns true while a job of this process has not ended and been reported.
pub fn is_open() -> bool {
    is_own_process() && !matches!(STATE.load(SeqCst) & STATE_MASK, OFF | OVER)
}

/// Moves from one of the states to `to`; a thread that finds the process ending waits for the end.
fn leave(from: &[u64], to: u64) -> Option<u64> {
    loop {
        let now = STATE.load(SeqCst);
        if now & STATE_MASK == ENDING && is_own_process() {
            wait_for_the_end();
        }
        if !from.contains(&(now & STATE_MASK)) {
            return None;
        }
        if STATE.compare_exchange(now, to, SeqCst, SeqCst).is_ok() {
            return Some(now);
        }
    }
}

/// The job has its result: `code` is the exit code of the process.
pub fn job_done(code: u8) {
    CODE.store(code, SeqCst);
    leave(&[RUNNING], DONE);
}

/// The result is printed.
pub fn over(code: u8) {
    CODE.store(code, SeqCst);
    leave(&[RUNNING, DONE], OVER);
}

/// The rename that makes the output appear, or takes it back: the job is done from then on, or runs again. No handler ends the process
/// during the rename, and no rename begins once a handler does.
pub fn switch(rename: impl FnOnce() -> std::io::Result<()>) -> std::io::Result<()> {
    let before = leave(&[RUNNING, DONE], with_thread(SWITCHING));
    let result = rename();
    if let Some(before) = before {
        let other = if before == RUNNING { DONE } else { RUNNING };
        leave(&[SWITCHING], if result.is_ok() { other } else { before });
    }
    result
}

/// Makes a directory that goes when the job ends early: no handler removes directories while it is made and remembered.
pub fn hold<T>(make: impl FnOnce() -> T) -> T {
    let before = leave(&[RUNNING], with_thread(SWITCHING));
    let result = make();
    if before.is_some() {
        leave(&[SWITCHING], RUNNING);
    }
    result
}

/// A file of the job is about to be made, which must not happen behind the back of a handler that removes them.
pub fn before_new_name() {
    if STATE.load(SeqCst) & STATE_MASK == ENDING && is_own_process() {
        wait_for_the_end();
    }
}

/// A library or a signal is about to end the process: what the caller may do about it.
pub fn claim() -> Claim {
    if !is_own_process() {
        return Claim::Foreign;
    }
    let mut waited_ms = 0;
    loop {
        let now = STATE.load(SeqCst);
        let patient = waited_ms < WAIT_MS;
        match now & STATE_MASK {
            OFF => return Claim::Foreign,
            OVER => return Claim::Done(CODE.load(SeqCst)),
            // The main thread is about to print the result, which a handler on another thread lets it do.
            DONE if !patient || thread() == process() => return Claim::Done(CODE.load(SeqCst)),
            DONE => {}
            SWITCHING if patient && thread_of(now) != thread() => {}
            RUNNING | SWITCHING => {
                if STATE.compare_exchange(now, with_thread(ENDING), SeqCst, SeqCst).is_ok() {
                    return Claim::Job;
                }
                continue;
            }
            _ if thread_of(now) == thread() => return Claim::Again,
            _ => wait_for_the_end(),
        }
        pause();
        waited_ms += 1;
    }
}
