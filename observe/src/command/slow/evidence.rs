//! Evidence of a process and its requests, and the breakdown of one request's time.

use std::collections::HashMap;

use super::request::Request;
use super::split::{Part, StackSample, of_pause, waits_of, within};
use crate::jvm::{Pause, overlaps};
use crate::time_kind::{KINDS, TimeKind, is_page_fault};
use yunti_probe::kernel::Wait;

/// Items by thread, each sorted by time.
pub struct ByThread<T>(HashMap<u32, Vec<T>>);

impl<T> Default for ByThread<T> {
    fn default() -> Self {
        ByThread(HashMap::new())
    }
}

impl<T> ByThread<T> {
    pub fn add(&mut self, tid: u32, one: T) {
        self.0.entry(tid).or_default().push(one);
    }

    pub fn sort_by_time(&mut self, time: impl Fn(&T) -> u64) {
        self.0.values_mut().for_each(|all| all.sort_by_key(|one| time(one)));
    }

    pub fn of(&self, tid: u32) -> &[T] {
        self.0.get(&tid).map_or(&[], Vec::as_slice)
    }
}

/// Everything measured of a process and its requests.
#[derive(Default)]
pub struct Evidence {
    /// Name of a request: `com.shop.Cart.total`.
    pub what: String,
    pub requests: Vec<Request>,
    /// Further requests of virtual threads, which are only counted.
    pub of_virtual_threads: usize,
    /// Waits from the kernel. If `None`, the stacks of `waiting` give an estimate.
    pub waits: Option<ByThread<Wait>>,
    pub pauses: Vec<Pause>,
    /// Stacks of threads on a processor.
    pub running: ByThread<StackSample>,
    /// Stacks of waiting threads.
    pub waiting: ByThread<StackSample>,
}

/// Nanoseconds by kind, in the order of [`KINDS`].
pub type Times = [u64; KINDS.len()];

/// Time of one request, by kind and by stack.
pub struct Breakdown {
    /// The times add up to the request's duration.
    pub times: Times,
    /// Stacks, with the time that each represents.
    pub stacks: Vec<Part>,
}

impl Evidence {
    pub fn breakdown(&self, request: &Request) -> Breakdown {
        let running = within(self.running.of(request.tid), request.begin_ns, request.end_ns);
        let mut stacks = match &self.waits {
            Some(waits) => waits_of(request, waits.of(request.tid), &self.pauses, self.waiting.of(request.tid)),
            None => self.estimated(request, running),
        };
        let mut times = Times::default();
        for part in &stacks {
            times[part.kind as usize] += part.ns;
        }
        let waited: u64 = times.iter().sum();
        let mut on_cpu = request.duration_ns().saturating_sub(waited);
        for sample in running {
            let kind = if is_page_fault(&sample.frames) { TimeKind::PageFault } else { TimeKind::OnCpu };
            if kind == TimeKind::PageFault {
                let ns = sample.ns.min(on_cpu);
                times[kind as usize] += ns;
                on_cpu -= ns;
            }
            stacks.push(Part { kind, ns: sample.ns, frames: Some(sample.frames.clone()) });
        }
        times[TimeKind::OnCpu as usize] += on_cpu;
        Breakdown { times, stacks }
    }

    /// Estimates waits without the kernel. Time outside pauses and
    /// processors is divided among the stacks of the waiting
    /// thread. Without such stacks it counts as time on a processor.
    fn estimated(&self, request: &Request, running: &[StackSample]) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut left = request.duration_ns();
        for (pause, ns) in overlaps(&self.pauses, request.begin_ns, request.end_ns) {
            left -= ns.min(left);
            parts.push(Part { kind: of_pause(pause), ns, frames: None });
        }
        left = left.saturating_sub(running.iter().map(|sample| sample.ns).sum());
        let waiting = within(self.waiting.of(request.tid), request.begin_ns, request.end_ns);
        let asleep = || waiting.iter().filter(|sample| !sample.is_running);
        let all: u64 = asleep().map(|sample| sample.ns).sum();
        for sample in asleep() {
            let ns = (u128::from(left) * u128::from(sample.ns) / u128::from(all.max(1))) as u64;
            parts.push(Part { kind: TimeKind::of_stack(&sample.frames), ns, frames: Some(sample.frames.clone()) });
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_probe::stack::{Frame, Kind};

    fn sample(time_ns: u64, name: &str, kind: Kind) -> StackSample {
        StackSample { time_ns, ns: 10, is_running: false, frames: vec![Frame { name: name.into(), kind }].into() }
    }

    fn check(waits: Option<Vec<Wait>>, expected: &[(TimeKind, u64)]) {
        let mut evidence =
            Evidence { waits: waits.map(|all| ByThread(HashMap::from([(1, all)]))), ..Evidence::default() };
        for (time, name, kind) in [
            (99, "outside", Kind::Native),
            (110, "f", Kind::Native),
            (120, "exc_page_fault", Kind::Kernel),
            (200, "outside", Kind::Native),
        ] {
            evidence.running.add(1, sample(time, name, kind));
        }
        for time in [150, 160] {
            evidence.waiting.add(1, sample(time, "pthread_mutex_lock", Kind::Native));
        }
        evidence.pauses.push(Pause { begin_ns: 190, end_ns: 300, reason: "G1CollectFull".to_owned() });
        let request = Request { tid: 1, thread: "t".into(), begin_ns: 100, end_ns: 200 };
        let breakdown = evidence.breakdown(&request);
        for kind in KINDS {
            let ns = expected.iter().find(|(k, _)| *k == kind).map_or(0, |(_, ns)| *ns);
            assert_eq!(breakdown.times[kind as usize], ns, "{kind:?}");
        }
        assert_eq!(breakdown.times.iter().sum::<u64>(), 100);
        let outside =
            breakdown.stacks.iter().filter_map(|part| part.frames.as_ref()).any(|frames| &*frames[0].name == "outside");
        assert!(!outside);
    }

    #[test]
    fn times_add_up() {
        let wait = Wait {
            tid: 1,
            off_ns: 150,
            woken_ns: 195,
            on_ns: 200,
            is_uninterruptible: false,
            system_call: Some(libc::SYS_futex as u32),
            stack: 0,
            file: None,
        };
        check(
            Some(vec![wait]),
            &[(TimeKind::Lock, 40), (TimeKind::Gc, 10), (TimeKind::PageFault, 10), (TimeKind::OnCpu, 40)],
        );
        check(None, &[(TimeKind::Lock, 70), (TimeKind::Gc, 10), (TimeKind::PageFault, 10), (TimeKind::OnCpu, 10)]);
    }
}
