//! Events and waits of one thread, by time.

use yunti_probe::kernel::Wait;

use crate::jvm::PlaceEvent;
use crate::time_kind::TimeKind;

/// Time off the processor.
#[derive(Clone, Copy, Debug)]
pub struct Sleep {
    pub off_ns: u64,
    /// From here on the thread waited for a processor.
    pub woken_ns: u64,
    pub on_ns: u64,
    pub kind: TimeKind,
    /// Number of the remote end, for a wait for the network.
    pub peer: Option<u16>,
}

impl Sleep {
    /// Returns the time of a wait.
    ///
    /// @param peer remote end of a descriptor by its number
    pub fn of(wait: &Wait, peer: impl FnOnce(u32) -> Option<u16>) -> Sleep {
        let kind = TimeKind::of_wait(wait, None);
        let peer = wait.file.filter(|_| kind == TimeKind::Network).and_then(peer);
        Sleep { off_ns: wait.off_ns, woken_ns: wait.woken_ns, on_ns: wait.on_ns, kind, peer }
    }

    /// Returns true if the thread was ready all the time.
    pub fn is_queueing(&self) -> bool {
        self.woken_ns <= self.off_ns
    }
}

/// Events and waits of one thread.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    pub name: String,
    /// Thread ID in the JVM's PID namespace.
    pub tid: Option<u32>,
    pub is_virtual: bool,
    pub events: Vec<PlaceEvent>,
    pub sleeps: Vec<Sleep>,
    /// Bytes that the thread has allocated up to the begins and ends of requests and tasks.
    pub allocated: Vec<(i64, u64)>,
}

/// Work of one thread from a begin to an end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Place in the list of timelines.
    pub thread: usize,
    pub begin_ns: u64,
    pub end_ns: u64,
    /// Identity of the pool that runs it, if one does.
    pub pool: Option<u32>,
}

impl Span {
    /// Returns true if a thread was at this work at a time.
    pub fn holds(&self, thread: usize, at_ns: u64) -> bool {
        self.thread == thread && (self.begin_ns..=self.end_ns).contains(&at_ns)
    }
}

impl Timeline {
    /// Sets the name and the number that the agent sends: `http-3|4711`.
    pub fn set_name(&mut self, text: &str) {
        let (name, tid) = text.rsplit_once('|').unwrap_or((text, ""));
        self.name = name.to_owned();
        self.tid = tid.parse().ok().or(self.tid);
    }

    /// Returns the bytes that the thread allocated between two of its begins and ends; `None` if they are not known.
    pub fn allocated_within(&self, from: u64, to: u64) -> Option<u64> {
        let at = |time: u64| {
            let place = self.allocated.partition_point(|(at, _)| (*at as u64) < time);
            self.allocated.get(place).filter(|(at, _)| *at as u64 == time).map(|(_, bytes)| *bytes)
        };
        at(to)?.checked_sub(at(from)?)
    }

    /// Returns the waits that overlap a range of time.
    pub fn sleeps_within(&self, from: u64, to: u64) -> &[Sleep] {
        let first = self.sleeps.partition_point(|sleep| sleep.on_ns <= from);
        let last = self.sleeps.partition_point(|sleep| sleep.off_ns < to);
        &self.sleeps[first..last.max(first)]
    }

    /// Returns the events within a range of time, with both ends.
    pub fn events_within(&self, from: u64, to: u64) -> &[PlaceEvent] {
        let first = self.events.partition_point(|event| (event.at_ns as u64) < from);
        let last = self.events.partition_point(|event| event.at_ns as u64 <= to);
        &self.events[first..last.max(first)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocation_between_two_times() {
        let timeline = Timeline { allocated: vec![(10, 100), (20, 350)], ..Timeline::default() };
        assert_eq!((timeline.allocated_within(10, 20), timeline.allocated_within(10, 15)), (Some(250), None));
    }

    #[test]
    fn names_with_numbers() {
        let mut timeline = Timeline::default();
        timeline.set_name("a|b|77");
        assert_eq!((&*timeline.name, timeline.tid), ("a|b", Some(77)));
        timeline.set_name("virtual-3|");
        assert_eq!((&*timeline.name, timeline.tid), ("virtual-3", Some(77)));
    }
}
