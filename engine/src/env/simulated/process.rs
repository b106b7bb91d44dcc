//! A simulated process: its disks, its schedule, its troubles, and the one way in which each operation happens.
//!
//! After a crash the process is a ghost: its threads run on until they end, but every operation fails and changes
//! nothing. The disks are then as the crash left them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::disks::Disks;
use super::trace::{Event, Trace};
use super::trouble::{Call, Strike, Trouble, Troubles};
use crate::env::faulty::{Operation, Place};
use crate::env::files::{File, Meta};
use crate::env::random::Random;
use crate::env::threads::schedule::{self, Schedule};

/// Virtual nanoseconds of an operation, of a byte, of a sync.
const OPERATION_NS: u64 = 10_000;
const BYTE_NS: u64 = 1;
const SYNC_NS: u64 = 1_000_000;
/// Calendar time at which simulations begin, in milliseconds.
const BEGIN_UNIX_MS: u64 = 1_700_000_000_000;

/// Program that runs the job, and that troubles reach.
pub trait Host: Send + Sync {
    /// Keeps the job to this many bytes of memory.
    fn shrink(&self, bytes: u64);
    /// Learns that the process has crashed: the job may end sooner.
    fn crashed(&self);
}

/// A process and all that it sees.
pub struct Process {
    pub schedule: Arc<Schedule>,
    state: Mutex<State>,
    host: Box<dyn Host>,
}

struct State {
    disks: Disks,
    troubles: Troubles,
    trace: Trace,
    operations: u64,
    is_dead: bool,
    random: Random,
    /// Memory that others leave, in bytes.
    left_bytes: u64,
    workers: u64,
}

/// Names an operation.
pub struct Step<'p> {
    pub operation: Operation,
    pub place: Place,
    pub path: &'p Path,
    pub disk: Option<usize>,
    pub offset: u64,
    pub len: u64,
}

/// Number of a result, for the trace.
pub trait Measure {
    fn number(&self) -> u64;
}

impl Measure for () {
    fn number(&self) -> u64 {
        0
    }
}
impl Measure for usize {
    fn number(&self) -> u64 {
        *self as u64
    }
}
impl Measure for u64 {
    fn number(&self) -> u64 {
        *self
    }
}
impl Measure for Meta {
    fn number(&self) -> u64 {
        self.len << 1 | u64::from(self.is_dir)
    }
}
impl Measure for Vec<PathBuf> {
    fn number(&self) -> u64 {
        self.len() as u64
    }
}
impl Measure for Arc<dyn File> {
    fn number(&self) -> u64 {
        0
    }
}

fn dead() -> io::Error {
    io::Error::from_raw_os_error(libc::EIO)
}

impl Process {
    /// Returns a process that has done nothing yet. The seed chooses the schedule, and which bytes survive a crash.
    pub fn new(mut disks: Disks, troubles: Vec<Trouble>, seed: u64, left_bytes: u64, host: Box<dyn Host>) -> Process {
        let mut random = Random::new(seed);
        for trouble in &troubles {
            match *trouble {
                Trouble::FullDisk { disk, free_bytes } => disks.set_free(disk, free_bytes),
                Trouble::Crash { power: true, .. } => disks.begin_journal(),
                _ => {}
            }
        }
        let schedule = Schedule::new(random.next_u64());
        let troubles = Troubles::new(troubles, random.next_u64());
        let trace = Trace::default();
        let state = State { disks, troubles, trace, operations: 0, is_dead: false, random, left_bytes, workers: 0 };
        Process { schedule, state: Mutex::new(state), host }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Performs an operation: lets other threads run, takes its time, strikes it with troubles, writes it down.
    pub fn perform<T: Measure>(
        &self,
        step: Step<'_>,
        act: impl FnOnce(&mut Disks, u64, Option<Strike>, &mut Random) -> io::Result<T>,
    ) -> io::Result<T> {
        let Step { operation, place, path, len, .. } = step;
        let (call, cost_ns) = {
            let state = self.state();
            if state.is_dead {
                return Err(dead());
            }
            let call = Call { operation, place, disk: step.disk.unwrap_or_else(|| state.disks.disk_of(path)) };
            let sync = matches!(operation, Operation::Sync | Operation::SyncDir);
            let cost_ns = OPERATION_NS + len * BYTE_NS + if sync { SYNC_NS } else { 0 };
            (call, cost_ns * state.troubles.slowness(state.operations, call))
        };
        schedule::point(cost_ns);
        let mut state = self.state();
        if state.is_dead {
            return Err(dead());
        }
        state.operations += 1;
        let number = state.operations;
        let (mut fault, mut error, mut shrink) = (None, None, None);
        for strike in state.troubles.strike(number, call) {
            match strike {
                Strike::Errno(errno, why) => error = Some((errno, why)),
                Strike::Short | Strike::BitFlip => fault = Some(strike),
                Strike::Pressure(bytes) => state.left_bytes = bytes,
                Strike::Shrink(bytes) => shrink = Some(bytes),
                Strike::Crash { power } => {
                    state.is_dead = true;
                    let State { disks, random, .. } = &mut *state;
                    if power {
                        disks.lose_power(random)
                    } else {
                        disks.kill()
                    }
                    let event = self.event(&step, number, Err(libc::EIO), "the crash");
                    state.trace.add(event);
                    drop(state);
                    self.host.crashed();
                    return Err(dead());
                }
            }
        }
        let trouble = match (error, fault) {
            (Some((_, why)), _) => why,
            (_, Some(Strike::Short)) => "fewer bytes",
            (_, Some(_)) => "a flipped bit",
            _ => "",
        };
        let now_ms = self.unix_ms();
        let result = match error {
            Some((errno, _)) => Err(io::Error::from_raw_os_error(errno)),
            None => {
                let State { disks, random, .. } = &mut *state;
                act(disks, now_ms, fault, random)
            }
        };
        let number_of = result.as_ref().map(T::number).map_err(|e| e.raw_os_error().unwrap_or(libc::EAGAIN));
        let event = self.event(&step, number, number_of, trouble);
        state.trace.add(event);
        drop(state);
        if let Some(bytes) = shrink {
            self.host.shrink(bytes);
        }
        result
    }

    fn event(&self, step: &Step<'_>, number: u64, result: Result<u64, i32>, trouble: &'static str) -> Event {
        Event {
            number,
            thread: self.schedule.running(),
            now_ns: self.schedule.now_ns(),
            operation: step.operation,
            place: step.place,
            path: step.path.into(),
            offset: step.offset,
            len: step.len,
            result,
            trouble,
        }
    }

    /// Changes the disks without an operation: closing and punching have no outcome. A ghost changes nothing.
    pub fn quietly(&self, act: impl FnOnce(&mut Disks)) {
        let mut state = self.state();
        if !state.is_dead {
            act(&mut state.disks);
        }
    }

    /// Returns milliseconds since 1970.
    pub fn unix_ms(&self) -> u64 {
        BEGIN_UNIX_MS + self.schedule.now_ns() / 1_000_000
    }

    /// Returns the bytes of memory that others leave.
    pub fn left_bytes(&self) -> u64 {
        self.state().left_bytes
    }

    /// Returns a number that no other call returns.
    pub fn unique(&self) -> u64 {
        self.state().random.next_u64()
    }

    /// Returns the troubles of the next worker: each worker trouble strikes one worker, in order.
    pub fn next_worker_trouble(&self) -> Option<Trouble> {
        let mut state = self.state();
        let number = state.workers as usize;
        state.workers += 1;
        let is_of_worker = |trouble: &&Trouble| {
            matches!(trouble, Trouble::WorkerDies { .. } | Trouble::WorkerHangs { .. } | Trouble::WorkerDamages { .. })
        };
        state.troubles.list().iter().filter(is_of_worker).nth(number).copied()
    }

    /// Ends the process in good order, and returns its disks, whether it crashed before, and its trace.
    pub fn finish(&self) -> Finished {
        let mut state = self.state();
        let left_open = if state.is_dead { 0 } else { state.disks.open_files() };
        if !state.is_dead {
            // A crash that was planned for later comes now: right after the job's success.
            let power = state.troubles.list().iter().any(|t| matches!(t, Trouble::Crash { power: true, .. }));
            let State { disks, random, .. } = &mut *state;
            if power { disks.lose_power(random) } else { disks.kill() }
        }
        Finished {
            disks: std::mem::take(&mut state.disks),
            has_crashed: std::mem::replace(&mut state.is_dead, true),
            operations: state.operations,
            left_open,
            trace: std::mem::take(&mut state.trace),
            failure: self.schedule.failure(),
        }
    }
}

/// A process that has ended.
pub struct Finished {
    pub disks: Disks,
    pub has_crashed: bool,
    pub operations: u64,
    /// Files that the process has not closed, unless it crashed.
    pub left_open: usize,
    pub trace: Trace,
    /// Deadlock or livelock.
    pub failure: Option<String>,
}
