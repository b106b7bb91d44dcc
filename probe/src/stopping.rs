//! End of a measurement: its time is over, the user stops it (ctrl-C), or the target has ended.

use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use yunti_base::{Code, Error, Result};
use yunti_program::terminal::signals;

use crate::target::Process;

/// Interval of emptying ring buffers.
pub const PULSE: Duration = Duration::from_millis(20);

/// Reason why a measurement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its time is over.
    TimeOver,
    /// The user stopped it.
    Interrupted,
    /// The target ended.
    TargetGone,
    /// The command stopped it, because its output cannot be written.
    Enough,
}

/// Course of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    /// Reason of its end.
    pub end: End,
    /// Its duration.
    pub time: Duration,
}

/// Receiver of ctrl-C and other signals. The results until then are still reported.
pub struct Stopping {
    signals: UnixStream,
}

impl Stopping {
    /// Catches the signals from now on.
    pub fn new() -> Result<Stopping> {
        let failed = |e: std::io::Error| Error::io(Code::Internal, "cannot catch signals", &e);
        let (signals, sender) = UnixStream::pair().map_err(failed)?;
        signals.set_nonblocking(true).map_err(failed)?;
        for signal in signals::that_end() {
            signal_hook::low_level::pipe::register(signal, sender.try_clone().map_err(failed)?).map_err(failed)?;
        }
        Ok(Stopping { signals })
    }

    /// Waits as [`Stopping::wait`], without a target process.
    pub fn wait_for_time(&mut self, time: Duration, pulse: Duration, each: impl FnMut() -> bool) -> Watched {
        let begin = Instant::now();
        let end = self.first(None, begin + time, pulse, each);
        Watched { end, time: begin.elapsed() }
    }

    /// Waits for the first of the three ends. Calls `each` in intervals of `pulse`; it returns false to stop.
    pub fn wait(&mut self, target: &Process, time: Duration, pulse: Duration, each: impl FnMut() -> bool) -> Watched {
        let begin = Instant::now();
        let end = self.first(Some(target), begin + time, pulse, each);
        Watched { end, time: begin.elapsed() }
    }

    fn first(
        &mut self,
        target: Option<&Process>,
        end: Instant,
        pulse: Duration,
        mut each: impl FnMut() -> bool,
    ) -> End {
        let death = target.and_then(Process::death);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return End::TimeOver;
            }
            let slice = left.min(pulse);
            let mut watched = vec![readable(self.signals.as_fd())];
            watched.extend(death.as_ref().map(|fd| readable(fd.as_fd())));
            let timeout =
                rustix::event::Timespec { tv_sec: slice.as_secs() as i64, tv_nsec: slice.subsec_nanos().into() };
            let _ = poll(&mut watched, Some(&timeout));
            let goes_on = each();
            let (interrupted, gone) = (fired(&watched[0]), watched.get(1).is_some_and(fired));
            if interrupted && matches!(self.signals.read(&mut [0; 64]), Ok(1..)) {
                return End::Interrupted;
            }
            if !goes_on {
                return End::Enough;
            }
            // Without a pidfd (before Linux 5.3), the target is checked in /proc.
            if gone || death.is_none() && target.is_some_and(|target| !target.is_alive()) {
                return End::TargetGone;
            }
        }
    }
}

fn readable(fd: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(fd, PollFlags::IN)
}

fn fired(fd: &PollFd<'_>) -> bool {
    fd.revents().intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR)
}
