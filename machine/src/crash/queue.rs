//! What waits to be sent: so many reports at most, and so many a minute at most. Nothing is taken out before it has arrived.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::syslog::Outgoing;

const MINUTE: Duration = Duration::from_secs(60);

/// What is to be done next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    Send(Box<Outgoing>),
    Wait(Duration),
    Nothing,
}

pub struct Queue {
    waiting: VecDeque<Outgoing>,
    waiting_max: usize,
    a_minute_max: usize,
    sent: VecDeque<Instant>,
    /// Reports that there was no room for, and that nobody has been told of yet.
    pub untold: u64,
    /// The same, all.
    pub not_taken: u64,
}

impl Queue {
    pub fn new(waiting_max: usize, a_minute_max: usize) -> Queue {
        let (waiting, sent) = (VecDeque::new(), VecDeque::new());
        Queue { waiting, waiting_max, a_minute_max, sent, untold: 0, not_taken: 0 }
    }

    /// Where there is no room the new one is left out: what came first is nearer to the cause.
    pub fn put(&mut self, outgoing: Outgoing) {
        if self.waiting.len() < self.waiting_max {
            self.waiting.push_back(outgoing);
        } else {
            self.untold += 1;
            self.not_taken += 1;
        }
    }

    pub fn next(&mut self, now: Instant) -> Next {
        while self.sent.front().is_some_and(|at| now.saturating_duration_since(*at) >= MINUTE) {
            self.sent.pop_front();
        }
        match (self.waiting.front(), self.sent.front()) {
            (None, _) => Next::Nothing,
            (Some(_), Some(oldest)) if self.sent.len() >= self.a_minute_max => {
                Next::Wait(MINUTE - now.saturating_duration_since(*oldest))
            }
            (Some(first), _) => Next::Send(Box::new(first.clone())),
        }
    }

    /// The first has arrived, and with it how many there was no room for.
    pub fn arrived(&mut self, told_untold: u64, now: Instant) {
        self.waiting.pop_front();
        self.untold -= told_untold.min(self.untold);
        self.sent.push_back(now);
    }

    /// These have not arrived after all, nor what they told of others.
    pub fn put_back(&mut self, outgoing: Vec<(Outgoing, u64)>) {
        for (one, told_untold) in outgoing.into_iter().rev() {
            self.sent.pop_back();
            self.waiting.push_front(one);
            self.untold += told_untold;
        }
    }

    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::super::{Kind, Report};
    use super::*;

    fn outgoing(id: u64) -> Outgoing {
        let report = Report::new(Kind::Oops, String::new(), String::new(), SystemTime::UNIX_EPOCH, Vec::new(), &[]);
        Outgoing { id, report, count: 1, is_again: false }
    }

    fn next_id(queue: &mut Queue, now: Instant) -> Option<u64> {
        match queue.next(now) {
            Next::Send(outgoing) => Some(outgoing.id),
            _ => None,
        }
    }

    #[test]
    fn in_order_and_nothing_before_it_has_arrived() {
        let (mut queue, now) = (Queue::new(10, 100), Instant::now());
        (1..=3).for_each(|id| queue.put(outgoing(id)));
        assert_eq!((next_id(&mut queue, now), next_id(&mut queue, now)), (Some(1), Some(1)));
        queue.arrived(0, now);
        queue.arrived(0, now);
        assert_eq!(next_id(&mut queue, now), Some(3));
        queue.put_back(vec![(outgoing(1), 0), (outgoing(2), 4)]);
        assert_eq!((next_id(&mut queue, now), queue.waiting(), queue.untold), (Some(1), 3, 4));
    }

    #[test]
    fn no_more_than_there_is_room_for() {
        let (mut queue, now) = (Queue::new(2, 100), Instant::now());
        (1..=5).for_each(|id| queue.put(outgoing(id)));
        assert_eq!((queue.waiting(), queue.untold), (2, 3));
        queue.arrived(3, now);
        assert_eq!((queue.untold, queue.not_taken, next_id(&mut queue, now)), (0, 3, Some(2)));
    }

    #[test]
    fn so_many_a_minute() {
        let (mut queue, begin) = (Queue::new(100, 3), Instant::now());
        (1..=5).for_each(|id| queue.put(outgoing(id)));
        for second in 0..3 {
            let now = begin + Duration::from_secs(second);
            assert!(next_id(&mut queue, now).is_some());
            queue.arrived(0, now);
        }
        let at = |second| begin + Duration::from_secs(second);
        assert_eq!(queue.next(at(10)), Next::Wait(Duration::from_secs(50)));
        assert_eq!(next_id(&mut queue, at(60)), Some(4));
        queue.arrived(0, at(60));
        assert_eq!(queue.next(at(60)), Next::Wait(Duration::from_secs(1)));
        assert_eq!(next_id(&mut queue, at(61)), Some(5));
    }
}
