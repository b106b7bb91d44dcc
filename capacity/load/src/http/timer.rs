//! Timer with a fine resolution. The time limit of `epoll_wait` has whole milliseconds, which a request would be late.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

const SECOND_NS: u64 = 1_000_000_000;

/// Timer that makes its file descriptor readable.
pub struct Timer {
    file: OwnedFd,
    armed_ns: Option<u64>,
}

impl Timer {
    /// Returns a timer that is not set.
    pub fn new() -> io::Result<Timer> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        Ok(Timer { file: timerfd_create(TimerfdClockId::Monotonic, flags)?, armed_ns: None })
    }

    /// Sets the timer to a moment, both on the clock of the caller. A timer that is set to it already stays as it is.
    pub fn set(&mut self, at_ns: u64, now_ns: u64) -> io::Result<()> {
        if self.armed_ns == Some(at_ns) {
            return Ok(());
        }
        // A time of zero would switch the timer off.
        let ns = at_ns.saturating_sub(now_ns).max(1);
        let once = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: Timespec { tv_sec: (ns / SECOND_NS) as i64, tv_nsec: (ns % SECOND_NS) as i64 },
        };
        timerfd_settime(&self.file, TimerfdTimerFlags::empty(), &once)?;
        self.armed_ns = Some(at_ns);
        Ok(())
    }

    /// Marks the timer as expired. Its file need not be read: the next setting makes it unreadable.
    pub fn expire(&mut self) {
        self.armed_ns = None;
    }
}

impl AsRawFd for Timer {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
