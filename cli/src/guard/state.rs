//! The state of the guarded job, and the thread that may end the process.
//!
//! ```text
//!   Off -> Running <-> Switching <-> Done -> Over        Switching: the output is being renamed
//!             \-----------> Ending (by one thread; the others wait)
//! ```

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU64, Ordering::SeqCst};

use super::ErrorOutput;

const OFF: u64 = 0;
const RUNNING: u64 = 1;
const SWITCHING: u64 = 2;
const DONE: u64 = 3;
const OVER: u64 = 4;
const ENDING: u64 = 5;
/// Bits below the thread's number, which `SWITCHING` and `ENDING` have above the state.
const THREAD_SHIFT: u32 = 8;
const STATE_MASK: u64 = (1 << THREAD_SHIFT) - 1;

/// Milliseconds that a handler waits for the main thread to finish a rename, or to print the result of a finished job.
const WAIT_MS: u32 = 10_000;

static STATE: AtomicU64 = AtomicU64::new(OFF);
/// Process of the job. Children of `fork` inherit the handlers, and must not act on the parent's job.
static PROCESS: AtomicI32 = AtomicI32::new(0);
static CODE: AtomicU8 = AtomicU8::new(0);
static JSON: AtomicBool = AtomicBool::new(false);
static BAR: AtomicBool = AtomicBool::new(false);

/// Action that a handler may take.
pub enum Claim {
    /// No job of this process runs: take the default action.
    Foreign,
    /// The job was running: this thread ends the process.
    Job,
    /// The job is done, with this exit code of the process.
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

/// Sleeps for one millisecond, by a system call alone.
pub fn pause() {
    let millisecond = rustix::thread::Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    let _ = rustix::thread::nanosleep(&millisecond);
}

/// Waits until another thread ends the process.
pub fn wait_for_the_end() -> ! {
    loop {
        pause();
    }
}

pub fn begin(output: ErrorOutput) {
    JSON.store(output.json, SeqCst);
    BAR.store(output.bar, SeqCst);
    PROCESS.store(process(), SeqCst);
    STATE.store(RUNNING, SeqCst);
}

pub fn wants_json() -> bool {
    JSON.load(SeqCst)
}

pub fn has_bar() -> bool {
    BAR.load(SeqCst)
}

/// Returns false in a child that a class forked.
fn is_own_process() -> bool {
    is_process(process())
}

/// Returns true for the id of the process that runs the job.
pub fn is_process(number: i32) -> bool {
    PROCESS.load(SeqCst) == number
}

/// Returns true from the start of this process's job until its result is printed.
pub fn is_open() -> bool {
    is_own_process() && !matches!(STATE.load(SeqCst) & STATE_MASK, OFF | OVER)
}

/// Moves from one of the states to `to`, and returns the previous state. If the process is ending, waits for the end.
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

/// Marks the job as done, with the exit code of the process.
pub fn job_done(code: u8) {
    CODE.store(code, SeqCst);
    leave(&[RUNNING], DONE);
}

/// Marks the result as printed, with the exit code of the process.
pub fn over(code: u8) {
    CODE.store(code, SeqCst);
    leave(&[RUNNING, DONE], OVER);
}

/// Runs the rename that commits the output, or reverts the commit; the job is then done, or runs again. No handler ends
/// the process during the rename, and no rename begins after a handler has begun to.
pub fn switch(rename: impl FnOnce() -> std::io::Result<()>) -> std::io::Result<()> {
    let before = leave(&[RUNNING, DONE], with_thread(SWITCHING));
    let result = rename();
    if let Some(before) = before {
        let other = if before == RUNNING { DONE } else { RUNNING };
        leave(&[SWITCHING], if result.is_ok() { other } else { before });
    }
    result
}

/// Makes a directory that is removed if the job ends early. No handler removes directories until it is remembered.
pub fn hold<T>(make: impl FnOnce() -> T) -> T {
    let before = leave(&[RUNNING], with_thread(SWITCHING));
    let result = make();
    if before.is_some() {
        leave(&[SWITCHING], RUNNING);
    }
    result
}

/// Waits for the end if a handler is removing the job's files, so that no new file is made.
pub fn before_new_name() {
    if STATE.load(SeqCst) & STATE_MASK == ENDING && is_own_process() {
        wait_for_the_end();
    }
}

/// Returns the action for a caller that a library's exit or a signal has interrupted.
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
            // A handler on another thread waits for the main thread to print the result.
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
