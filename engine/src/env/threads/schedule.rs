//! A schedule: threads of which one runs at a time, chosen from a seed wherever threads can meet.
//!
//! ```text
//!   thread 0   runs --- point ------------------------------- chosen again, runs
//!   thread 1   .......... chosen, runs --- waits for a lock
//!   thread 2   ............................. chosen, runs --- point
//! ```
//!
//! The simulation runs a job under a schedule: the same seed gives the same order of all operations. The threads are
//! real ones, so user code, panics and thread-local values behave as ever, but all except one are parked. A thread can
//! lose its turn at a *point*: an operation on files, a lock, a wait, a task that begins, a message of a worker. Time
//! is virtual: operations cost some, and it jumps to the next timer when nothing else can run.
//!
//! If no thread can run and none waits for time, that is a deadlock. The waiting threads then panic, so that the job
//! ends with an error instead of hanging.
//!
//! A thread outside of any schedule pays one thread-local flag a lock. Rejected: coroutines (a dependency with
//! assembly, and panics that cross), shuttle (its locks replace std's by a build flag, so tests run another build).

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::Thread;

use crate::env::random::Random;

thread_local! {
    static IS_SCHEDULED: Cell<bool> = const { Cell::new(false) };
    static SEAT: RefCell<Option<Seat>> = const { RefCell::new(None) };
}

/// Points of a run, at most: more are a livelock.
const POINTS_MAX: u64 = 20_000_000;
/// Waits of threads that unwind after a failure, at most.
const WAITS_AFTER_FAILURE_MAX: u64 = 1_000_000;

/// Payload of the panic that ends a killed thread.
pub struct Killed;

/// Reason to wait. Threads that wait for the same key are woken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A condition variable, by its address.
    Condition(usize),
    /// The end of a thread.
    End(usize),
    /// A message in shared memory.
    Message,
    /// Only time.
    Time,
    /// Nothing that ever happens: a thread that hangs.
    Nothing,
}

/// Rule that chooses the next thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// At each point, with this chance in 1024, any thread that can run goes on.
    Uniform(u64),
    /// The thread of the highest priority runs. At each point, with this chance in 1024, the running thread gets the
    /// lowest one (probabilistic concurrency testing; Burckhardt and others, 2010).
    Priorities(u64),
}

/// Threads that run one at a time.
pub struct Schedule {
    state: Mutex<State>,
}

struct State {
    random: Random,
    policy: Policy,
    now_ns: u64,
    running: usize,
    places: Vec<Place>,
    /// Points so far. Threads that spin try again only after others have passed one.
    points: u64,
    /// Lowest priority given so far.
    lowest: i64,
    failure: Option<String>,
    waits_after_failure: u64,
}

struct Place {
    status: Status,
    turn: Arc<Turn>,
    priority: i64,
    is_killed: bool,
    /// Runs at the point of this number of the thread, counted down.
    hook: Option<(u64, Hook)>,
}

/// Something that happens to a thread at one of its points.
pub type Hook = Box<dyn FnOnce() + Send>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Ready,
    /// Wants a lock that another thread holds; tried at this number of points.
    Spins(u64),
    Waits(Key, Option<u64>),
    /// Time was up.
    TimedOut,
    Ended,
}

#[derive(Default)]
struct Turn {
    is_given: AtomicBool,
    thread: Mutex<Option<Thread>>,
}

impl Turn {
    fn give(&self) {
        self.is_given.store(true, Ordering::Release);
        if let Some(thread) = &*self.thread.lock().unwrap_or_else(|e| e.into_inner()) {
            thread.unpark();
        }
    }

    fn wait(&self) {
        while !self.is_given.swap(false, Ordering::Acquire) {
            std::thread::park();
        }
    }
}

#[derive(Clone)]
struct Seat {
    schedule: Arc<Schedule>,
    number: usize,
}

/// Membership of the calling thread in a schedule, until it is dropped.
pub struct Entered(());

impl Drop for Entered {
    fn drop(&mut self) {
        IS_SCHEDULED.set(false);
        SEAT.take();
    }
}

/// Returns true if the calling thread belongs to a schedule.
#[inline]
pub fn is_scheduled() -> bool {
    IS_SCHEDULED.get()
}

fn with_seat<T>(f: impl FnOnce(&Arc<Schedule>, usize) -> T) -> Option<T> {
    SEAT.with_borrow(|seat| seat.as_ref().map(|seat| f(&seat.schedule, seat.number)))
}

/// Passes a point that costs `cost_ns` of virtual time: another thread may run. Does nothing outside of a schedule.
pub fn point(cost_ns: u64) {
    if is_scheduled() {
        with_seat(|schedule, me| schedule.point(me, cost_ns));
    }
}

/// Lets others run until one of them may have freed a lock. The calling thread belongs to a schedule.
pub fn spin() {
    with_seat(|schedule, me| schedule.block(me, |state| Status::Spins(state.points)));
}

/// Waits for a notification of `key`, at most for a time. Returns false if the time was up. The calling thread belongs
/// to a schedule.
pub fn wait(key: Key, at_most_ns: Option<u64>) -> bool {
    with_seat(|schedule, me| {
        schedule.block(me, |state| Status::Waits(key, at_most_ns.map(|ns| state.now_ns.saturating_add(ns))))
    })
    .unwrap_or(true)
}

/// Wakes one or all threads that wait for `key`. Does nothing outside of a schedule.
pub fn notify(key: Key, all: bool) {
    if is_scheduled() {
        with_seat(|schedule, _| schedule.state().notify(key, all));
    }
}

impl Schedule {
    /// Returns a schedule without threads. Equal seeds choose equally.
    pub fn new(seed: u64) -> Arc<Schedule> {
        let mut random = Random::new(seed);
        let policy = match random.below(4) {
            0 => Policy::Uniform(1024),
            1 => Policy::Uniform(100),
            2 => Policy::Priorities(10),
            _ => Policy::Priorities(100),
        };
        let state = State {
            random,
            policy,
            now_ns: 1_000_000,
            running: 0,
            places: Vec::new(),
            points: 0,
            lowest: 0,
            failure: None,
            waits_after_failure: 0,
        };
        Arc::new(Schedule { state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Makes the calling thread the first of the schedule.
    pub fn enter(self: &Arc<Self>) -> Entered {
        let number = self.state().add();
        assert_eq!(number, 0, "a schedule has one first thread");
        self.sit(number)
    }

    fn sit(self: &Arc<Self>, number: usize) -> Entered {
        let turn = self.state().places[number].turn.clone();
        *turn.thread.lock().unwrap_or_else(|e| e.into_inner()) = Some(std::thread::current());
        IS_SCHEDULED.set(true);
        SEAT.set(Some(Seat { schedule: self.clone(), number }));
        Entered(())
    }

    /// Returns virtual nanoseconds.
    pub fn now_ns(&self) -> u64 {
        self.state().now_ns
    }

    /// Returns the number of the running thread.
    pub fn running(&self) -> usize {
        self.state().running
    }

    /// Returns why the run has failed, if it has: a deadlock or a livelock.
    pub fn failure(&self) -> Option<String> {
        self.state().failure.clone()
    }

    /// Runs `body(0)` to `body(n - 1)`, each on a thread of the schedule, and returns when all have returned.
    ///
    /// A panic of one goes on in the caller, once all have ended: a thread that kept its turn would stop the others for
    /// ever.
    pub fn run(self: &Arc<Self>, n: usize, body: &(dyn Fn(usize) + Sync)) {
        let panic = Mutex::new(None);
        let caught = |worker| {
            if let Err(payload) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(worker))) {
                panic.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(payload);
            }
        };
        std::thread::scope(|scope| {
            let mut others = Vec::new();
            for worker in 1..n {
                let (number, turn) = self.add();
                let (schedule, caught) = (self.clone(), &caught);
                let spawned = std::thread::Builder::new().spawn_scoped(scope, move || {
                    let _entered = schedule.sit(number);
                    turn.wait();
                    caught(worker);
                    schedule.end(number);
                });
                match spawned {
                    Ok(thread) => self.set_thread(number, thread.thread()),
                    Err(_) => {
                        self.state().places[number].status = Status::Ended;
                        break;
                    }
                }
                others.push(number);
            }
            caught(0);
            others.into_iter().for_each(|number| self.join(number));
        });
        if let Some(payload) = panic.into_inner().unwrap_or_else(|e| e.into_inner()) {
            std::panic::resume_unwind(payload);
        }
    }

    /// Starts a thread of the schedule that runs beside the others, and returns its number. `join` waits for its end.
    ///
    /// Fails if the system cannot start it.
    pub fn spawn(self: &Arc<Self>, body: impl FnOnce() + Send + 'static) -> std::io::Result<usize> {
        let (number, turn) = self.add();
        let schedule = self.clone();
        let thread = std::thread::Builder::new().spawn(move || {
            let _entered = schedule.sit(number);
            turn.wait();
            // Killed threads unwind; a panic of another kind is the end of a process, which its owner sees.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            schedule.end(number);
        });
        match thread {
            Ok(thread) => self.set_thread(number, thread.thread()),
            Err(e) => {
                self.state().places[number].status = Status::Ended;
                return Err(e);
            }
        }
        Ok(number)
    }

    fn add(&self) -> (usize, Arc<Turn>) {
        let mut state = self.state();
        let number = state.add();
        (number, state.places[number].turn.clone())
    }

    fn set_thread(&self, number: usize, thread: &Thread) {
        let turn = self.state().places[number].turn.clone();
        *turn.thread.lock().unwrap_or_else(|e| e.into_inner()) = Some(thread.clone());
    }

    /// Makes a thread unwind at its next point.
    pub fn kill(&self, number: usize) {
        let mut state = self.state();
        let place = &mut state.places[number];
        if place.status != Status::Ended {
            (place.is_killed, place.status) = (true, Status::Ready);
        }
    }

    /// Runs a hook on a thread at its `nth` point, counted from now and from 1.
    pub fn at_point(&self, number: usize, nth: u64, hook: Hook) {
        self.state().places[number].hook = Some((nth.max(1), hook));
    }

    /// Waits until a thread has ended. The caller belongs to the schedule.
    pub fn join(&self, number: usize) {
        let me = self.running();
        while self.state().places[number].status != Status::Ended {
            self.pass(me, |_| Status::Waits(Key::End(number), None));
        }
    }

    /// Returns true if a thread has ended.
    pub fn has_ended(&self, number: usize) -> bool {
        self.state().places[number].status == Status::Ended
    }

    fn end(&self, me: usize) {
        let mut state = self.state();
        state.places[me].status = Status::Ended;
        state.points += 1;
        state.notify(Key::End(me), true);
        if let Some(next) = state.next() {
            state.running = next;
            state.places[next].turn.give();
        }
    }

    fn point(&self, me: usize, cost_ns: u64) {
        let mut state = self.state();
        state.now_ns += cost_ns;
        state.points += 1;
        if state.points > POINTS_MAX && state.failure.is_none() {
            state.fail("no end: a livelock, or a job that is far too large");
        }
        let mut hook = None;
        if let Some((left, _)) = &mut state.places[me].hook {
            *left -= 1;
            if *left == 0 {
                hook = state.places[me].hook.take();
            }
        }
        if !state.switches(me) && hook.is_none() {
            check(state, me);
            return;
        }
        drop(state);
        if let Some((_, hook)) = hook {
            hook();
        }
        self.block(me, |_| Status::Ready);
    }

    /// Gives the turn away with a status, and returns with the next turn; false if the time was up. Panics if the
    /// thread was killed or the run has failed.
    fn block(&self, me: usize, status: impl FnOnce(&State) -> Status) -> bool {
        let in_time = self.pass(me, status);
        check(self.state(), me);
        in_time
    }

    fn pass(&self, me: usize, status: impl FnOnce(&State) -> Status) -> bool {
        let mut state = self.state();
        if state.failure.is_some() || state.places[me].is_killed {
            state.waits_after_failure += 1;
            if state.waits_after_failure > WAITS_AFTER_FAILURE_MAX {
                eprintln!("simulation: {}; its threads do not end", state.failure.as_deref().unwrap_or("a kill"));
                std::process::abort();
            }
            // A thread that unwinds must not wait for a notification that never comes; turns still go round.
            state.points += 1;
            state.places[me].status = Status::Ready;
        } else {
            let status = status(&state);
            // It may have freed a lock since its last point.
            state.points += u64::from(!matches!(status, Status::Spins(_)));
            state.places[me].status = status;
        }
        let next = match state.next() {
            Some(next) => next,
            None => {
                state.fail("a deadlock");
                me
            }
        };
        if next != me {
            let (own, other) = (state.places[me].turn.clone(), state.places[next].turn.clone());
            state.running = next;
            drop(state);
            other.give();
            own.wait();
            state = self.state();
        }
        state.running = me;
        let place = &mut state.places[me];
        let in_time = place.status != Status::TimedOut;
        place.status = Status::Ready;
        in_time
    }
}

/// Panics if the running thread was killed or the run has failed, unless it unwinds already.
fn check(state: MutexGuard<'_, State>, me: usize) {
    let (is_killed, failure) = (state.places[me].is_killed, state.failure.as_ref());
    if !is_killed && failure.is_none() || std::thread::panicking() {
        return;
    }
    let failure = failure.cloned();
    drop(state);
    match failure {
        Some(failure) => panic!("simulation: {failure}"),
        None => std::panic::resume_unwind(Box::new(Killed)),
    }
}

impl State {
    fn add(&mut self) -> usize {
        let priority = self.random.below(1 << 20) as i64;
        let turn = Arc::new(Turn::default());
        self.places.push(Place { status: Status::Ready, turn, priority, is_killed: false, hook: None });
        self.places.len() - 1
    }

    /// Decides if another thread may run at a point of the running one.
    fn switches(&mut self, me: usize) -> bool {
        if self.places.len() == 1 {
            return false;
        }
        match self.policy {
            Policy::Uniform(chance) => self.random.below(1024) < chance,
            Policy::Priorities(chance) => {
                if self.random.below(1024) < chance {
                    self.lowest -= 1;
                    self.places[me].priority = self.lowest;
                }
                true
            }
        }
    }

    fn can_run(&self, place: &Place) -> bool {
        match place.status {
            Status::Ready | Status::TimedOut => true,
            Status::Spins(tried) => self.points > tried,
            Status::Waits(_, Some(until_ns)) => until_ns <= self.now_ns,
            Status::Waits(..) | Status::Ended => false,
        }
    }

    /// Chooses the next thread; moves the time on if all wait for it. None: no thread can ever run again.
    fn next(&mut self) -> Option<usize> {
        let mut can_run = self.places.iter().filter(|place| self.can_run(place)).count() as u64;
        if can_run == 0 {
            let timers = self.places.iter().filter_map(|place| match place.status {
                Status::Waits(_, until_ns) => until_ns,
                _ => None,
            });
            self.now_ns = timers.min()?;
            can_run = self.places.iter().filter(|place| self.can_run(place)).count() as u64;
        }
        let next = match self.policy {
            // In turn: a thread that waits must not starve the one that it waits for.
            _ if self.failure.is_some() => {
                let behind = self.places.iter().enumerate().cycle().skip(self.running + 1);
                behind.take(self.places.len()).find(|(_, place)| self.can_run(place))?.0
            }
            Policy::Uniform(_) => {
                let nth = if can_run == 1 { 0 } else { self.random.below(can_run) as usize };
                self.places.iter().enumerate().filter(|(_, place)| self.can_run(place)).nth(nth)?.0
            }
            Policy::Priorities(_) => {
                let able = self.places.iter().enumerate().filter(|(_, place)| self.can_run(place));
                able.max_by_key(|(number, place)| (place.priority, *number))?.0
            }
        };
        if let Status::Waits(..) = self.places[next].status {
            self.places[next].status = Status::TimedOut;
        }
        Some(next)
    }

    fn notify(&mut self, key: Key, all: bool) {
        let waits = |place: &Place| matches!(place.status, Status::Waits(of, _) if of == key);
        let waiting = self.places.iter().filter(|place| waits(place)).count() as u64;
        if waiting == 0 {
            return;
        }
        let chosen = if all { None } else { Some(self.random.below(waiting) as usize) };
        let woken = self.places.iter_mut().filter(|place| waits(place)).enumerate();
        for (n, place) in woken {
            if chosen.is_none_or(|chosen| chosen == n) {
                place.status = Status::Ready;
            }
        }
    }

    /// Ends the run: every thread that waits goes on and panics.
    fn fail(&mut self, why: &str) {
        let statuses: Vec<String> =
            self.places.iter().enumerate().map(|(n, place)| format!("thread {n}: {:?}", place.status)).collect();
        self.failure.get_or_insert_with(|| format!("{why} ({})", statuses.join(", ")));
        for place in self.places.iter_mut().filter(|place| place.status != Status::Ended) {
            place.status = Status::Ready;
        }
    }
}
