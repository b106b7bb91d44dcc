//! Locks and condition variables of the engine: std's, and under a schedule the simulation's.
//!
//! A thread outside of a schedule pays one thread-local flag a lock. Under a schedule, locking and waiting are points
//! where another thread may run, and nobody blocks: the thread that holds a lock may be parked.

use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, PoisonError, TryLockError};
use std::time::Duration;

pub use std::sync::{RwLockReadGuard, RwLockWriteGuard};

use super::schedule::{self, Key};

/// A mutual exclusion, as std's.
#[derive(Debug, Default)]
pub struct Mutex<T: ?Sized>(std::sync::Mutex<T>);

/// A held lock, as std's.
pub struct MutexGuard<'a, T: ?Sized> {
    inner: std::sync::MutexGuard<'a, T>,
    lock: &'a Mutex<T>,
}

impl<T> Mutex<T> {
    /// Returns an unlocked value.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(std::sync::Mutex::new(value))
    }
    /// Returns the value.
    pub fn into_inner(self) -> LockResult<T> {
        self.0.into_inner()
    }
}

/// Locks, also if another holder has panicked: its panic is the error of its task, and ends the job.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: ?Sized> Mutex<T> {
    /// Locks, and waits for the holder if there is one. The error holds the guard: another holder has panicked.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let result = if schedule::is_scheduled() { scheduled(|| self.0.try_lock()) } else { self.0.lock() };
        let guard = |inner| MutexGuard { inner, lock: self };
        result.map(guard).map_err(|e| PoisonError::new(guard(e.into_inner())))
    }
    /// Returns the value without locking.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.0.get_mut()
    }
}

#[cold]
fn scheduled<G>(mut try_lock: impl FnMut() -> Result<G, TryLockError<G>>) -> LockResult<G> {
    schedule::point(0);
    loop {
        match try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(e)) => return Err(e),
            Err(TryLockError::WouldBlock) => schedule::spin(),
        }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

/// Result of a wait with a limit, as std's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns true if the time was up.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// A condition variable, as std's.
#[derive(Debug, Default)]
pub struct Condvar(std::sync::Condvar);

impl Condvar {
    /// Returns a condition variable that nobody waits for.
    pub const fn new() -> Condvar {
        Condvar(std::sync::Condvar::new())
    }

    fn key(&self) -> Key {
        Key::Condition(std::ptr::from_ref(self).addr())
    }

    /// Frees the lock, waits for a notification and locks again. It may return without one.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let MutexGuard { inner, lock } = guard;
        if schedule::is_scheduled() {
            drop(inner);
            schedule::wait(self.key(), None);
            return lock.lock();
        }
        let guard = |inner| MutexGuard { inner, lock };
        self.0.wait(inner).map(guard).map_err(|e| PoisonError::new(guard(e.into_inner())))
    }

    /// Waits as `wait`, at most for a time.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        at_most: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let MutexGuard { inner, lock } = guard;
        if schedule::is_scheduled() {
            drop(inner);
            let in_time = schedule::wait(self.key(), Some(at_most.as_nanos() as u64));
            let pair = |guard| (guard, WaitTimeoutResult(!in_time));
            return lock.lock().map(pair).map_err(|e| PoisonError::new(pair(e.into_inner())));
        }
        let pair = |(inner, result): (_, std::sync::WaitTimeoutResult)| {
            (MutexGuard { inner, lock }, WaitTimeoutResult(result.timed_out()))
        };
        self.0.wait_timeout(inner, at_most).map(pair).map_err(|e| PoisonError::new(pair(e.into_inner())))
    }

    /// Wakes one thread that waits.
    pub fn notify_one(&self) {
        self.0.notify_one();
        schedule::notify(self.key(), false);
    }

    /// Wakes all threads that wait.
    pub fn notify_all(&self) {
        self.0.notify_all();
        schedule::notify(self.key(), true);
    }
}

/// A lock that several readers share, as std's.
#[derive(Debug, Default)]
pub struct RwLock<T: ?Sized>(std::sync::RwLock<T>);

impl<T> RwLock<T> {
    /// Returns an unlocked value.
    pub const fn new(value: T) -> RwLock<T> {
        RwLock(std::sync::RwLock::new(value))
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Locks for reading.
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        if schedule::is_scheduled() { scheduled(|| self.0.try_read()) } else { self.0.read() }
    }
    /// Locks for writing.
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        if schedule::is_scheduled() { scheduled(|| self.0.try_write()) } else { self.0.write() }
    }
    /// Returns the value without locking.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.0.get_mut()
    }
}
