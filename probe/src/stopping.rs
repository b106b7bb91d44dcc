//! Until when to look: the time is over, the user has seen enough (ctrl-C), or the target is gone.

use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use yunti_base::{Code, Error, Result};
use yunti_program::terminal::signals;

use crate::target::Process;

/// How often rings are emptied.
pub const PULSE: Duration = Duration::from_millis(20);

/// Why looking ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    TimeOver,
    Interrupted,
    TargetGone,
    /// What is seen cannot be told any more.
    Enough,
}

/// How looking went.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    pub end: End,
    pub time: Duration,
}

/// Catches ctrl-C and the like from its making on: what has been seen until then is still told.
pub struct Stopping {
    signals: UnixStream,
}

impl Stopping {
    pub fn new() -> Result<Stopping> {
        let failed = |e: std::io::Error| Error::io(Code::Internal, "cannot catch signals", &e);
        let (signals, told) = UnixStream::pair().map_err(failed)?;
        signals.set_nonblocking(true).map_err(failed)?;
        for signal in signals::that_end() {
            signal_hook::low_level::pipe::register(signal, told.try_clone().map_err(failed)?).map_err(failed)?;
        }
        Ok(Stopping { signals })
    }

    /// The same where no process is looked at.
    pub fn wait_for_time(&mut self, time: Duration, pulse: Duration, each: impl FnMut() -> bool) -> Watched {
        let begin = Instant::now();
        let end = self.first(None, begin + time, pulse, each);
        Watched { end, time: begin.elapsed() }
    }

    /// Waits for the first of the three, and meanwhile does now and then what has to be done, which says whether it is worth to go on.
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
            // Without a pidfd (before Linux 5.3) the target is asked for.
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
