//! Queue of reports with a maximum length and a rate limit. A report stays in the queue until it has arrived.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::syslog::Outgoing;

const MINUTE: Duration = Duration::from_secs(60);

/// Next step of the delivery.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// Send this report.
    Send(Box<Outgoing>),
    /// Wait for the rate limit.
    Wait(Duration),
    /// The queue is empty.
    Nothing,
}

/// Queue of reports.
pub struct Queue {
    waiting: VecDeque<Outgoing>,
    waiting_max: usize,
    a_minute_max: usize,
    sent: VecDeque<Instant>,
    /// Reports that did not fit, and whose number is not sent yet.
    pub unreported: u64,
    /// All reports that did not fit.
    pub not_taken: u64,
}

impl Queue {
    /// Returns a queue for `waiting_max` reports and `a_minute_max` sends a minute.
    pub fn new(waiting_max: usize, a_minute_max: usize) -> Queue {
        let (waiting, sent) = (VecDeque::new(), VecDeque::new());
        Queue { waiting, waiting_max, a_minute_max, sent, unreported: 0, not_taken: 0 }
    }

    /// Adds a report. A full queue drops the new one, because earlier reports are nearer to the cause.
    pub fn put(&mut self, outgoing: Outgoing) {
        if self.waiting.len() < self.waiting_max {
            self.waiting.push_back(outgoing);
        } else {
            self.unreported += 1;
            self.not_taken += 1;
        }
    }

    /// Returns the next step.
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

    /// Removes the first report, which has arrived. `reported`: dropped reports that its message counted.
    pub fn arrived(&mut self, reported: u64, now: Instant) {
        self.waiting.pop_front();
        self.unreported -= reported.min(self.unreported);
        self.sent.push_back(now);
    }

    /// Puts reports back that have not arrived after all, with the dropped reports that they counted.
    pub fn put_back(&mut self, outgoing: Vec<(Outgoing, u64)>) {
        for (one, reported) in outgoing.into_iter().rev() {
            self.sent.pop_back();
            self.waiting.push_front(one);
            self.unreported += reported;
        }
    }

    /// Returns the number of waiting reports.
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
    fn keeps_order_and_reports_until_arrival() {
        let (mut queue, now) = (Queue::new(10, 100), Instant::now());
        (1..=3).for_each(|id| queue.put(outgoing(id)));
        assert_eq!((next_id(&mut queue, now), next_id(&mut queue, now)), (Some(1), Some(1)));
        queue.arrived(0, now);
        queue.arrived(0, now);
        assert_eq!(next_id(&mut queue, now), Some(3));
        queue.put_back(vec![(outgoing(1), 0), (outgoing(2), 4)]);
        assert_eq!((next_id(&mut queue, now), queue.waiting(), queue.unreported), (Some(1), 3, 4));
    }

    #[test]
    fn drops_reports_when_full() {
        let (mut queue, now) = (Queue::new(2, 100), Instant::now());
        (1..=5).for_each(|id| queue.put(outgoing(id)));
        assert_eq!((queue.waiting(), queue.unreported), (2, 3));
        queue.arrived(3, now);
        assert_eq!((queue.unreported, queue.not_taken, next_id(&mut queue, now)), (0, 3, Some(2)));
    }

    #[test]
    fn limits_reports_a_minute() {
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
