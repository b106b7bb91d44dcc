//! Split of a request's time: its overlap with waits of its thread and
//! with pauses of the JVM. The rest was on a processor.

use std::rc::Rc;

use super::request::Request;
use crate::jvm::{Pause, overlaps};
use crate::time_kind::TimeKind;
use yunti_probe::kernel::Wait;
use yunti_probe::stack::{Frame, Kind};

/// A part of a request's time.
#[derive(Clone, Debug)]
pub struct Part {
    pub kind: TimeKind,
    pub ns: u64,
    /// Stack of the thread, if it is known.
    pub frames: Option<Rc<[Frame]>>,
}

/// A sampled stack of a thread.
#[derive(Clone, Debug)]
pub struct StackSample {
    pub time_ns: u64,
    /// Nanoseconds that the sample represents.
    pub ns: u64,
    /// True if the thread ran at that moment, perhaps only to take its stack.
    pub is_running: bool,
    pub frames: Rc<[Frame]>,
}

/// Returns the samples within a range of time, from a slice sorted by time.
pub fn within(all: &[StackSample], from: u64, to: u64) -> &[StackSample] {
    let begin = all.partition_point(|sample| sample.time_ns < from);
    let end = all.partition_point(|sample| sample.time_ns < to);
    &all[begin..end.max(begin)]
}

/// Nanoseconds for which the signal that takes a stack wakes a waiting thread.
const INTERRUPTION_NS: u64 = 1_000_000;
/// Nanoseconds after an uninterruptible wait within which its stack is
/// taken. The signal arrives at the end of the system call.
const LATE_NS: u64 = 100_000;

/// Returns the stack of a wait: taken before the thread's next wait, or just before this one.
fn stack_of(waits: &[Wait], at: usize, samples: &[StackSample], until: u64) -> Option<Rc<[Frame]>> {
    let wait = &waits[at];
    let next = waits.get(at + 1).map_or(until, |next| next.off_ns).max(wait.off_ns + 1);
    let asleep = |from, to| within(samples, from, to).iter().filter(|sample| !sample.is_running);
    let late = || {
        let mut after = within(samples, wait.on_ns, next.min(wait.on_ns + LATE_NS)).iter();
        after.find(|sample| {
            wait.is_uninterruptible
                && sample.frames.last().is_some_and(|frame| matches!(frame.kind, Kind::Native | Kind::Kernel))
        })
    };
    let during = asleep(wait.off_ns, next.min(wait.on_ns + INTERRUPTION_NS)).next();
    let before = || asleep(wait.off_ns.saturating_sub(INTERRUPTION_NS), wait.off_ns).next_back();
    during.or_else(before).or_else(late).map(|sample| sample.frames.clone())
}

/// Returns the waits of a request as parts. The rest of its duration was on a processor.
///
/// @param waits of its thread, by time
/// @param pauses by time
/// @param samples stacks of its thread during waits, by time
pub fn waits_of(request: &Request, waits: &[Wait], pauses: &[Pause], samples: &[StackSample]) -> Vec<Part> {
    let (begin, end) = (request.begin_ns, request.end_ns);
    let first = waits.partition_point(|wait| wait.on_ns <= begin);
    let last = waits.partition_point(|wait| wait.off_ns < end);
    // Samples outside the request do not belong to it.
    let samples = within(samples, begin, end);
    let mut parts = Vec::new();
    for at in first..last.max(first) {
        let wait = &waits[at];
        let frames = stack_of(waits, at, samples, end);
        let kind = TimeKind::of_wait(wait, frames.as_deref());
        let inside = |ns: u64| ns.clamp(begin, end);
        let (off, woken, on) = (inside(wait.off_ns), inside(wait.woken_ns), inside(wait.on_ns));
        for (from, to, kind) in [(off, woken, kind), (woken, on, TimeKind::RunQueue)] {
            let mut left = to.saturating_sub(from);
            if !kind.goes_on_in_pauses() {
                for (pause, ns) in overlaps(pauses, from, to) {
                    left -= ns.min(left);
                    parts.push(Part { kind: of_pause(pause), ns, frames: frames.clone() });
                }
            }
            if left > 0 {
                parts.push(Part { kind, ns: left, frames: frames.clone().filter(|_| kind != TimeKind::RunQueue) });
            }
        }
    }
    parts
}

pub fn of_pause(pause: &Pause) -> TimeKind {
    if pause.is_gc() { TimeKind::Gc } else { TimeKind::Safepoint }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(off_ns: u64, woken_ns: u64, on_ns: u64, call: i64) -> Wait {
        Wait {
            tid: 1,
            off_ns,
            woken_ns,
            on_ns,
            is_uninterruptible: false,
            system_call: Some(call as u32),
            stack: 0,
            file: None,
        }
    }

    fn check(
        waits: &[Wait],
        pauses: &[(u64, u64, &str)],
        samples: &[(u64, &str)],
        expected: &[(TimeKind, u64)],
    ) -> Vec<Part> {
        let request = Request { tid: 1, thread: "t".into(), begin_ns: 100, end_ns: 200 };
        let pauses: Vec<Pause> = pauses
            .iter()
            .map(|(begin_ns, end_ns, reason)| Pause {
                begin_ns: *begin_ns,
                end_ns: *end_ns,
                reason: (*reason).to_owned(),
            })
            .collect();
        let samples: Vec<StackSample> = samples
            .iter()
            .map(|(time_ns, name)| StackSample {
                time_ns: *time_ns,
                ns: 1,
                is_running: false,
                frames: vec![Frame { name: (*name).into(), kind: Kind::Native }].into(),
            })
            .collect();
        let parts = waits_of(&request, waits, &pauses, &samples);
        assert_eq!(parts.iter().map(|part| (part.kind, part.ns)).collect::<Vec<_>>(), expected);
        parts
    }

    #[test]
    fn overlaps_with_waits() {
        use TimeKind::{Lock, Network, RunQueue};
        check(&[wait(10, 50, 60, libc::SYS_futex)], &[], &[], &[]);
        check(&[wait(120, 150, 160, libc::SYS_futex)], &[], &[], &[(Lock, 30), (RunQueue, 10)]);
        // Waits that begin before or end after the request are cut.
        check(
            &[wait(50, 110, 120, libc::SYS_recvfrom), wait(190, 300, 310, libc::SYS_recvfrom)],
            &[],
            &[],
            &[(Network, 10), (RunQueue, 10), (Network, 10)],
        );
        // A thread that was ready at once.
        check(&[wait(120, 120, 140, libc::SYS_recvfrom)], &[], &[], &[(RunQueue, 20)]);
    }

    #[test]
    fn overlaps_with_pauses() {
        use TimeKind::{Gc, Lock, Network, Safepoint};
        let pauses = [(90, 130, "G1CollectFull"), (140, 145, "RedefineClasses"), (170, 300, "G1CollectFull")];
        check(&[wait(120, 180, 180, libc::SYS_futex)], &pauses, &[], &[(Gc, 10), (Safepoint, 5), (Gc, 10), (Lock, 35)]);
        check(&[wait(120, 180, 180, libc::SYS_recvfrom)], &pauses, &[], &[(Network, 60)]);
    }

    #[test]
    fn stacks_of_waits() {
        let samples = [(90, "outside"), (125, "java.lang.Thread.sleep"), (210, "outside")];
        let parts = check(&[wait(120, 130, 130, libc::SYS_futex)], &[], &samples, &[(TimeKind::Sleep, 10)]);
        assert_eq!(&*parts[0].frames.as_ref().unwrap()[0].name, "java.lang.Thread.sleep");
        // The wait continues after the signal that took its stack.
        check(
            &[wait(110, 120, 120, libc::SYS_futex), wait(126, 140, 140, libc::SYS_futex)],
            &[],
            &samples,
            &[(TimeKind::Sleep, 10), (TimeKind::Sleep, 14)],
        );
        check(&[wait(110, 190, 190, libc::SYS_futex)], &[], &[(90, "java.lang.Thread.sleep")], &[(TimeKind::Lock, 80)]);
    }
}
