//! Turns of one connection: which side spoke last at each sample, and from that, when a request was under way on it.
//!
//! ```text
//!   sample        k        k+1       k+2       k+3
//!   request   --->|         |         |         |
//!   answer        |         |      <--|         |
//!   under way     +---------+         .         .     samples k and k+1, confirmed when the answer has come
//! ```
//!
//! The kernel reports the times of the last data in each direction, as coarse as its clock tick (1-10 ms). On a fast
//! network an answer and the next request fall into one tick. Acknowledgements then show the order: data that the peer
//! has not acknowledged was sent last, and so was data that it acknowledged without sending data of its own.
//!
//! A sample counts only after an answer has come. Before that, a message may need no answer: a heartbeat, a window
//! update of HTTP/2, a line for a log server, a subscription. If more data follows in the same direction, the earlier
//! data was such a message, or a part of a longer request; the time until then does not count.
//!
//! Limits: concurrent requests on one connection (HTTP/2, pipelining) count as one. A message that needs no answer,
//! sent at once after an answer (the acknowledgement of a ping or of a pushed message), looks like the next request.

use yunti_probe::kernel::system::tcp_info::TcpInfo;

/// Side of the measured process in a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The peer connected to it. It owes answers.
    Accepted,
    /// It connected to the peer, which owes answers.
    Called,
}

/// Side whose turn it is: the other one spoke last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Ours,
    Theirs,
}

/// Longest delay of an acknowledgement that is not sent with data, in milliseconds.
const ACK_DELAY_MS_MAX: u32 = 250;

/// Requests sent while another one was under way, per exchange, from which on connections are shared.
const OVERLAPS_MIN: f64 = 0.3;
/// Shortest time of a poll.
const POLL_SECONDS_MIN: f64 = 0.4;
/// Polls end after a round time.
const POLL_ROUND_SECONDS: f64 = 0.5;
/// Standard deviation of a poll's times, as a share of their mean.
const POLL_VARIATION_MAX: f64 = 0.03;

/// State of a connection at a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Seconds since the start of the measurement.
    pub at: f64,
    /// Bytes that the process has not read.
    pub unread: u32,
    pub info: TcpInfo,
}

/// Durations: number, sum and extremes in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Durations {
    pub count: u64,
    pub sum: f64,
    squares: f64,
    pub longest: f64,
}

impl Durations {
    pub fn add(&mut self, seconds: f64) {
        self.count += 1;
        self.sum += seconds;
        self.squares += seconds * seconds;
        self.longest = self.longest.max(seconds);
    }

    pub fn join(&mut self, other: &Durations) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
        self.longest = self.longest.max(other.longest);
    }

    pub fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }

    /// Returns the standard deviation as a share of the mean.
    pub fn variation(&self) -> f64 {
        let mean = self.mean();
        (self.squares / self.count.max(1) as f64 - mean * mean).max(0.0).sqrt() / mean.max(1e-9)
    }
}

/// Exchanges counted on a connection, or on several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Answers that ended a request seen in a sample, alone in their interval.
    pub clean: Durations,
    /// Segments of these exchanges in the direction with fewer, summed.
    clean_segments: u64,
    /// Exchanges, at least: one per interval with data in both directions.
    at_least: u64,
    /// Exchanges if each had one segment in the direction with fewer.
    by_segments: u64,
    /// Intervals in which a further request came while one was under way.
    pub overlaps: u64,
}

impl Tally {
    /// Returns the number of exchanges. Segments count exchanges between two samples; exchanges that samples saw alone
    /// show how many segments one has.
    pub fn exchanges(&self) -> f64 {
        let segments =
            if self.clean.count == 0 { 1.0 } else { (self.clean_segments as f64 / self.clean.count as f64).max(1.0) };
        (self.at_least as f64).max(self.by_segments as f64 / segments)
    }

    /// Returns true if connections carry several requests at once.
    pub fn is_multiplexed(&self) -> bool {
        self.overlaps as f64 > self.at_least as f64 * OVERLAPS_MIN
    }

    /// Returns true if answers take the same long time, as if a timer sent them: a poll that found no news. Of one or
    /// two answers only a round time shows it.
    pub fn is_poll(&self) -> bool {
        let mean = self.clean.mean();
        let is_round = ((mean / POLL_ROUND_SECONDS).round() * POLL_ROUND_SECONDS - mean).abs() <= mean * 0.02;
        let is_even = self.clean.variation() <= POLL_VARIATION_MAX;
        self.clean.count > 0 && mean >= POLL_SECONDS_MIN && is_even && (self.clean.count >= 3 || is_round)
    }

    pub fn join(&mut self, other: &Tally) {
        self.clean.join(&other.clean);
        self.clean_segments += other.clean_segments;
        self.at_least += other.at_least;
        self.by_segments += other.by_segments;
        self.overlaps += other.overlaps;
    }
}

/// Connections with a request under way, by sample.
#[derive(Clone, Debug, Default)]
pub struct Timeline(Vec<u32>);

impl Timeline {
    pub fn add(&mut self, samples: std::ops::Range<usize>) {
        if self.0.len() < samples.end {
            self.0.resize(samples.end, 0);
        }
        self.0[samples].iter_mut().for_each(|n| *n += 1);
    }

    pub fn join(&mut self, other: &Timeline) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(sum, n)| *sum += n);
    }

    pub fn at(&self, sample: usize) -> f64 {
        f64::from(self.0.get(sample).copied().unwrap_or(0))
    }
}

/// Request under way that has no answer yet.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// First sample that saw it.
    sample: usize,
    /// Time of its last data, in seconds since the start of the measurement; negative before it.
    asked_at: f64,
    segments: u32,
}

/// Segments between two samples.
#[derive(Clone, Copy, Debug)]
struct Progress {
    asks: u32,
    /// Segments of requests without the one under way at the end.
    ended: u32,
    answers: u32,
    /// True if exactly one exchange ended.
    is_clean: bool,
}

/// One connection over the measurement.
#[derive(Clone, Debug)]
pub struct Dialogue {
    pub side: Side,
    last: Option<Sample>,
    turn: Option<Turn>,
    open: Option<Open>,
    /// True while an answer goes on from sample to sample.
    is_streaming: bool,
    pub tally: Tally,
}

impl Dialogue {
    pub fn new(side: Side) -> Dialogue {
        Dialogue { side, last: None, turn: None, open: None, is_streaming: false, tally: Tally::default() }
    }

    /// Takes a sample of the connection. Confirmed time under way is added to `timeline`.
    pub fn step(&mut self, sample: usize, now: Sample, timeline: &mut Timeline) {
        let turn = turn(self.last.as_ref(), self.turn, &now);
        let owes = self.side.owes(turn);
        if let Some(last) = self.last {
            let (asks, answers) = self.side.progress(&last.info, &now.info);
            if answers > 0 {
                // The only segment of answers came last, after a further request.
                if answers == 1 && asks > 0 && !owes {
                    self.open = None;
                }
                // One answer or one new request: exactly one exchange ended.
                let is_clean = asks == 0 || owes && (asks == 1 || answers == 1);
                let ended = if owes { asks.saturating_sub(1) } else { asks };
                self.answered(sample, &last, &now, Progress { asks, ended, answers, is_clean }, timeline);
            } else {
                self.is_streaming = false;
                if asks > 0 {
                    self.tally.overlaps += u64::from(self.open.is_some());
                    self.open = None;
                }
            }
            if owes && self.open.is_none() {
                // Most of many requests ended before this sample; the last one is under way.
                let segments = if answers > 0 { asks.min(1) } else { asks };
                self.open = Some(Open { sample, asked_at: self.side.asked_at(&now), segments });
            }
        } else if owes {
            self.open = Some(Open { sample, asked_at: self.side.asked_at(&now), segments: 1 });
        }
        if !owes && let Some(open) = self.open.take() {
            // The process has read what it had left unread for a while, and has not answered yet.
            if self.side == Side::Accepted && self.last.is_some_and(|last| last.unread > 0) {
                timeline.add(open.sample..sample);
            }
        }
        (self.last, self.turn) = (Some(now), turn);
    }

    fn answered(&mut self, sample: usize, last: &Sample, now: &Sample, progress: Progress, timeline: &mut Timeline) {
        let Progress { asks, ended, answers, is_clean } = progress;
        let open = self.open.take();
        match open {
            Some(open) => {
                timeline.add(open.sample..sample);
                if is_clean {
                    self.tally.clean.add((self.side.answered_at(now) - open.asked_at).max(0.0));
                    self.tally.clean_segments += u64::from(open.segments.min(answers).max(1));
                }
                self.tally.at_least += 1;
                self.tally.by_segments += u64::from((ended + open.segments.max(1)).min(answers).max(1));
                self.is_streaming = asks == 0;
            }
            None if asks > 0 => {
                self.tally.at_least += 1;
                self.tally.by_segments += u64::from(ended.max(1).min(answers));
                self.is_streaming = true;
            }
            // The answer goes on; an answer that waits to be read here does not.
            None if self.is_streaming && (self.side == Side::Accepted || last.unread == 0) => {
                timeline.add(sample - 1..sample);
            }
            None => {}
        }
    }

    /// Ends the connection: it was closed before this sample. A request under way ended with it.
    pub fn close(&mut self, sample: usize, at: f64, timeline: &mut Timeline) {
        if let Some(open) = self.open.take() {
            timeline.add(open.sample..sample);
            self.tally.at_least += 1;
            self.tally.by_segments += 1;
            // It ended between two samples.
            let before = self.last.map_or(at, |last| last.at);
            self.tally.clean.add(((before + at) / 2.0 - open.asked_at).max(0.0));
            self.tally.clean_segments += 1;
        }
    }

    /// Returns the age of the request under way at the end of the measurement, and the time of its last data.
    pub fn open_since(&self) -> Option<(f64, f64)> {
        let (open, last) = (self.open?, self.last?);
        Some((last.at - open.asked_at, open.asked_at))
    }

    /// Counts the request under way at the end of the measurement.
    pub fn confirm_open(&mut self, samples: usize, timeline: &mut Timeline) {
        if let Some(open) = self.open.take() {
            timeline.add(open.sample..samples);
        }
    }
}

impl Side {
    fn owes(self, turn: Option<Turn>) -> bool {
        turn == Some(if self == Side::Accepted { Turn::Ours } else { Turn::Theirs })
    }

    /// Returns the segments of requests and of answers between two samples.
    fn progress(self, before: &TcpInfo, now: &TcpInfo) -> (u32, u32) {
        let (received, sent) = progress(before, now);
        if self == Side::Accepted { (received, sent) } else { (sent, received) }
    }

    fn asked_at(self, now: &Sample) -> f64 {
        let age = if self == Side::Accepted { now.info.received_ms } else { now.info.sent_ms };
        now.at - f64::from(age) / 1000.0
    }

    fn answered_at(self, now: &Sample) -> f64 {
        let age = if self == Side::Accepted { now.info.sent_ms } else { now.info.received_ms };
        now.at - f64::from(age) / 1000.0
    }
}

/// Returns the segments with new data received and sent between two samples. A retransmission is no new data.
fn progress(before: &TcpInfo, now: &TcpInfo) -> (u32, u32) {
    let segments = |was: u32, is: u32, was_bytes: u64, bytes: u64| {
        if bytes > was_bytes { is.wrapping_sub(was).max(1) } else { 0 }
    };
    let received = if now.data_in == before.data_in {
        0
    } else {
        segments(before.data_in, now.data_in, before.bytes_received, now.bytes_received)
    };
    (received, segments(before.data_out, now.data_out, before.bytes_sent, now.bytes_sent))
}

/// Returns whose turn it is; `None` if nothing was said, or if the order is unknown.
fn turn(before: Option<&Sample>, was: Option<Turn>, now: &Sample) -> Option<Turn> {
    let info = &now.info;
    if now.unread > 0 {
        return Some(Turn::Ours);
    }
    match (info.data_in, info.data_out) {
        (0, 0) => return None,
        (0, _) => return Some(Turn::Theirs),
        (_, 0) => return Some(Turn::Ours),
        _ => {}
    }
    match info.received_ms.cmp(&info.sent_ms) {
        std::cmp::Ordering::Less => return Some(Turn::Ours),
        std::cmp::Ordering::Greater => return Some(Turn::Theirs),
        std::cmp::Ordering::Equal => {}
    }
    // Within one tick. The peer's data would have acknowledged what was sent before it.
    if info.unacked > 0 {
        return Some(Turn::Theirs);
    }
    // An acknowledgement came without data, later than the last data.
    if info.acked_ms < info.received_ms && info.received_ms - info.acked_ms <= ACK_DELAY_MS_MAX {
        return Some(Turn::Theirs);
    }
    let before = &before?.info;
    let (received, sent) = progress(before, info);
    if received == 0 && sent == 0 {
        return was;
    }
    let alone = |segments: u32, was: u32, data: u32, was_data: u32| {
        segments.wrapping_sub(was).saturating_sub(data.wrapping_sub(was_data))
    };
    let acks_in = alone(info.segments_in, before.segments_in, info.data_in, before.data_in);
    let acks_out = alone(info.segments_out, before.segments_out, info.data_out, before.data_out);
    // The last data sent is acknowledged, and not by an acknowledgement of its own: the peer's data did it.
    if acks_in == 0 {
        return Some(Turn::Ours);
    }
    // The side that lets the other one wait acknowledges without data; the prompt side does not.
    let exchanges = received.min(sent).max(1);
    (acks_in >= exchanges && acks_out < exchanges).then_some(Turn::Theirs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events on a wire: time in milliseconds, and what happened.
    #[derive(Clone, Copy)]
    enum Event {
        /// The peer's data comes, and acknowledges what was sent before.
        In,
        Out,
        /// The peer acknowledges without data.
        AckIn,
        AckOut,
        /// The process leaves what comes from now on unread, or reads all.
        StopsReading,
        Reads,
    }
    use Event::{AckIn, AckOut, In, Out, Reads, StopsReading};

    /// No divisor of the events' times.
    const SAMPLE_MS: f64 = 19.3;
    const SECONDS: f64 = 5.0;
    /// Clock tick of a kernel with 250 Hz.
    const TICK_MS: f64 = 4.0;

    /// Samples a connection with these events for five seconds. Returns the requests under way at a time, the exchanges
    /// and their mean duration in seconds, and the age of a message without an answer.
    fn look(side: Side, events: &[(f64, Event)]) -> (f64, Tally, Option<f64>) {
        let mut dialogue = Dialogue::new(side);
        let mut timeline = Timeline::default();
        let mut events = events.iter().peekable();
        let (mut info, mut unread, mut is_reading) = (TcpInfo::default(), 0, true);
        let (mut received, mut sent, mut acked) = (0.0, 0.0, 0.0);
        let samples = (SECONDS * 1000.0 / SAMPLE_MS) as usize;
        for sample in 0..samples {
            let now = sample as f64 * SAMPLE_MS + 1.7;
            while let Some((at, event)) = events.next_if(|(at, _)| *at <= now) {
                match event {
                    In => {
                        (info.data_in, info.segments_in) = (info.data_in + 1, info.segments_in + 1);
                        info.bytes_received += 100;
                        (info.unacked, received, acked) = (0, *at, *at);
                        unread += u32::from(!is_reading) * 100;
                    }
                    Out => {
                        (info.data_out, info.segments_out) = (info.data_out + 1, info.segments_out + 1);
                        info.bytes_sent += 100;
                        (info.unacked, sent) = (info.unacked + 1, *at);
                    }
                    AckIn => (info.segments_in, info.unacked, acked) = (info.segments_in + 1, 0, *at),
                    AckOut => info.segments_out += 1,
                    StopsReading => is_reading = false,
                    Reads => (is_reading, unread) = (true, 0),
                }
            }
            let age = |at: f64| (((now / TICK_MS).floor() - (at / TICK_MS).floor()) * TICK_MS) as u32;
            (info.received_ms, info.sent_ms, info.acked_ms) = (age(received), age(sent), age(acked));
            dialogue.step(sample, Sample { at: now / 1000.0, unread, info }, &mut timeline);
        }
        let under_way = (0..samples).map(|n| timeline.at(n)).sum::<f64>() / samples as f64;
        (under_way, dialogue.tally, dialogue.open_since().map(|(age, _)| age))
    }

    /// Exchanges of `turn_ms` each, with a pause between them: what the asking side sends, then the answer.
    fn exchanges(side: Side, turn_ms: f64, pause_ms: f64, quick_acks: bool) -> Vec<(f64, Event)> {
        const ACK_MS: f64 = 40.0;
        let mut events = Vec::new();
        let mut at = 0.3;
        let (ask, answer, ack_of_ask, ack_of_answer) = match side {
            Side::Accepted => (In, Out, AckOut, AckIn),
            Side::Called => (Out, In, AckIn, AckOut),
        };
        while at < SECONDS * 1000.0 {
            events.push((at, ask));
            // A side that answers promptly acknowledges with its data, and never at once without.
            let ack = |until_it_speaks: f64| if quick_acks && until_it_speaks > ACK_MS { 0.02 } else { ACK_MS };
            if turn_ms > ack(turn_ms) {
                events.push((at + ack(turn_ms), ack_of_ask));
            }
            events.push((at + turn_ms, answer));
            let ack = ack(pause_ms);
            if pause_ms > ack {
                events.push((at + turn_ms + ack, ack_of_answer));
            }
            at += turn_ms + pause_ms;
        }
        events
    }

    fn near(value: f64, expected: f64, within: f64) -> bool {
        (value - expected).abs() <= within
    }

    #[test]
    fn exchanges_of_any_pace() {
        for side in [Side::Accepted, Side::Called] {
            for quick_acks in [false, true] {
                // Durations and pauses below a tick, between ticks and samples, and beyond samples.
                let cases = [
                    (50.0, 0.1),
                    (10.0, 0.1),
                    (300.0, 0.1),
                    (50.0, 50.0),
                    (0.2, 30.0),
                    (0.2, 300.0),
                    (7.0, 13.0),
                    (120.0, 700.0),
                    (2.0, 2000.0),
                ];
                for (turn_ms, pause_ms) in cases {
                    let (under_way, tally, _) = look(side, &exchanges(side, turn_ms, pause_ms, quick_acks));
                    let share = turn_ms / (turn_ms + pause_ms);
                    let what = format!("{side:?} {turn_ms} {pause_ms} {quick_acks}: {under_way} of {share}, {tally:?}");
                    assert!(near(under_way, share, 0.08), "{what}");
                    let count = SECONDS * 1000.0 / (turn_ms + pause_ms);
                    assert!(
                        near(tally.exchanges(), count, 2.0 + count * 0.1),
                        "{} of {count}: {what}",
                        tally.exchanges()
                    );
                    if tally.clean.count > 3 && turn_ms > 40.0 {
                        assert!(near(tally.clean.mean() * 1000.0, turn_ms, TICK_MS), "{what}");
                    }
                }
            }
        }
    }

    /// Answers of two segments (head and body), and samples so rare that many exchanges end between two.
    #[test]
    fn rare_samples_count_each_request_once() {
        for (every_ms, turn_ms) in [(13.3, 4.0), (13.3, 12.0), (101.7, 60.0)] {
            let mut dialogue = Dialogue::new(Side::Accepted);
            let mut timeline = Timeline::default();
            let samples = 200;
            for sample in 0..samples {
                let now = sample as f64 * 500.0 + 1.7;
                let asked = (now / every_ms).floor() as u32 + 1;
                let answered = if now < turn_ms { 0 } else { ((now - turn_ms) / every_ms).floor() as u32 + 1 };
                let since = |at: f64| (now - at).max(0.0) as u32;
                let info = TcpInfo {
                    data_in: asked,
                    segments_in: asked,
                    bytes_received: u64::from(asked) * 100,
                    data_out: answered * 2,
                    segments_out: answered * 2,
                    bytes_sent: u64::from(answered) * 500,
                    received_ms: since(f64::from(asked - 1) * every_ms),
                    sent_ms: since(f64::from(answered.saturating_sub(1)) * every_ms + turn_ms),
                    ..TcpInfo::default()
                };
                dialogue.step(sample, Sample { at: now / 1000.0, unread: 0, info }, &mut timeline);
            }
            let wanted = f64::from(samples as u32 - 1) * 500.0 / every_ms;
            let found = dialogue.tally.exchanges();
            assert!(
                near(found, wanted, 0.02 * wanted),
                "{every_ms} {turn_ms}: {found}, not {wanted}: {:?}",
                dialogue.tally
            );
        }
    }

    #[test]
    fn messages_without_an_answer_are_no_requests() {
        let each = |every: f64, event| -> Vec<(f64, Event)> {
            (1..(SECONDS * 1000.0 / every) as usize).map(|n| (n as f64 * every + 0.5, event)).collect()
        };
        // Lines for a log server and the server's own view, heartbeats, a server that pushes, a stream.
        for every in [5.0, 30.0, 900.0] {
            for (side, event) in [(Side::Called, Out), (Side::Accepted, In), (Side::Called, In), (Side::Accepted, Out)]
            {
                let (under_way, tally, _) = look(side, &each(every, event));
                assert!(under_way == 0.0 && tally.exchanges() == 0.0, "{side:?} {every}: {under_way} {tally:?}");
            }
        }
    }

    #[test]
    fn window_updates_after_answers_are_no_requests() {
        // HTTP/2: a request of 2 ms every 500 ms; the client updates its window 30 ms after each answer.
        let events = (0..10).flat_map(|n| {
            let at = f64::from(n) * 500.0 + 3.0;
            [(at, In), (at + 2.0, Out), (at + 32.0, In)]
        });
        let (under_way, tally, _) = look(Side::Accepted, &events.collect::<Vec<_>>());
        assert!(under_way < 0.03, "{under_way}");
        assert!(near(tally.exchanges(), 10.0, 1.0), "{tally:?}");
    }

    #[test]
    fn idle_and_held_connections() {
        // One exchange long ago is idle on both sides; a message without an answer is held.
        let (idle, tally, open) = look(Side::Called, &[(0.1, Out), (0.2, In), (45.0, AckOut)]);
        assert_eq!((idle, tally.exchanges(), open), (0.0, 0.0, None));
        let (under_way, _, open) = look(Side::Accepted, &[(1005.0, In), (1045.0, AckOut)]);
        assert!(under_way == 0.0 && near(open.unwrap(), 3.97, 0.05), "{open:?}");
        // A web socket whose client spoke last, before the measurement.
        let (under_way, _, open) = look(Side::Accepted, &[(-2000.0, Out), (-1960.0, AckIn), (-1000.0, In)]);
        assert!(under_way == 0.0 && open.unwrap() > 4.9);
    }

    #[test]
    fn an_upload_counts_from_its_end() {
        // A second of data, then 100 ms for the answer.
        let mut events: Vec<(f64, Event)> = (0..100).map(|n| (f64::from(n) * 10.0 + 500.0, In)).collect();
        events.extend([(1590.0, Out), (1591.0, AckIn)]);
        let (under_way, tally, _) = look(Side::Accepted, &events);
        assert!(near(under_way * SECONDS, 0.1, 0.03) && tally.exchanges() == 1.0, "{under_way} {tally:?}");
        assert!(near(tally.clean.mean(), 0.1, 0.005), "{tally:?}");
    }

    #[test]
    fn a_long_answer_counts_to_its_last_byte() {
        // The answer begins after 10 ms and goes on for a second; so long as it is read, the peer takes the time.
        let mut events = vec![(490.0, Out)];
        events.extend((0..100).map(|n| (f64::from(n) * 10.0 + 500.0, In)));
        let (under_way, tally, _) = look(Side::Called, &events);
        assert!(near(under_way * SECONDS, 1.0, 0.08) && tally.exchanges() == 1.0, "{under_way} {tally:?}");
        events.insert(1, (495.0, StopsReading));
        events.push((3000.0, Reads));
        let (under_way, _, _) = look(Side::Called, &events);
        assert!(under_way * SECONDS < 0.08, "{under_way}");
    }

    #[test]
    fn unread_requests_are_under_way() {
        // Pipelined requests: the process answers the first one, and leaves the second one unread for 400 ms.
        let events = [(500.0, In), (500.5, StopsReading), (501.0, In), (520.0, Out), (901.0, Reads), (910.0, Out)];
        let (under_way, _, _) = look(Side::Accepted, &events);
        assert!(near(under_way * SECONDS, 0.41, 0.05), "{under_way}");
    }

    #[test]
    fn polls_take_an_even_time() {
        let is_poll =
            |turn_ms, pause_ms| look(Side::Called, &exchanges(Side::Called, turn_ms, pause_ms, false)).1.is_poll();
        assert!(is_poll(500.0, 1.0) && is_poll(1000.0, 3.0) && !is_poll(50.0, 1.0));
        let slow = [(100.0, Out), (730.0, In), (800.0, Out), (2200.0, In), (2210.0, Out), (2900.0, In)];
        assert!(!look(Side::Called, &slow).1.is_poll());
    }

    #[test]
    fn a_closed_connection_ends_its_request() {
        let mut dialogue = Dialogue::new(Side::Accepted);
        let mut timeline = Timeline::default();
        let info = TcpInfo { data_in: 1, bytes_received: 100, received_ms: 10, ..TcpInfo::default() };
        dialogue.step(0, Sample { at: 1.0, unread: 0, info }, &mut timeline);
        dialogue.close(3, 1.04, &mut timeline);
        assert_eq!((timeline.at(0), timeline.at(2), timeline.at(3)), (1.0, 1.0, 0.0));
        assert!(near(dialogue.tally.clean.mean(), 0.03, 0.001));
    }
}
