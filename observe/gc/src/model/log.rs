//! Log under construction: the parsers add events to it, and it keeps sums whose size does not depend on the log's.

use crate::model::collector::{Collector, Settings};
use crate::model::event::{Event, Kind, Space};
use crate::model::heap::HeapCurve;
use crate::scan::stamp::Stamp;

/// Pauses that are kept one by one; further ones are in the sums only.
pub const EVENTS_MAX: usize = 1 << 20;
/// Names of one table: causes, phases, operations. Further ones share the last entry.
const NAMES_MAX: usize = 250;
/// Length of a name in bytes.
const NAME_BYTES_MAX: usize = 100;
/// Longest pauses whose phases are kept.
const LONGEST_KEPT: usize = 20;
/// Seconds by which the time of a line may lie before the line above it; threads write lines out of order.
const DISORDER_SECONDS: f64 = 1.0;
/// Ages of objects, in collections survived.
const AGES: usize = 16;

/// Count, sum and maximum of durations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    pub count: u64,
    pub total_ms: f64,
    pub max_ms: f64,
}

impl Sum {
    pub fn add(&mut self, ms: f64) {
        self.count += 1;
        self.total_ms += ms;
        self.max_ms = self.max_ms.max(ms);
    }
}

/// Values by name, in the order of their first use.
#[derive(Clone, Debug)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<T: Default> Named<T> {
    /// Returns the index of a name; a table that is full has one entry for all further names.
    pub fn index(&mut self, name: &[u8]) -> u16 {
        let name = &name[..name.len().min(NAME_BYTES_MAX)];
        let found = self.0.iter().position(|(known, _)| known.as_bytes() == name).or_else(|| {
            // A name that is no text is stored with substitutes.
            let text = String::from_utf8_lossy(name);
            self.0.iter().position(|(known, _)| *known == text)
        });
        let index = found.unwrap_or_else(|| {
            if self.0.len() < NAMES_MAX {
                self.0.push((String::from_utf8_lossy(name).into_owned(), T::default()));
            } else if self.0.len() == NAMES_MAX {
                self.0.push(("others".to_owned(), T::default()));
            }
            self.0.len() - 1
        });
        index as u16
    }

    /// Returns the value of a name.
    pub fn entry(&mut self, name: &[u8]) -> &mut T {
        let index = self.index(name);
        &mut self.0[usize::from(index)].1
    }

    /// Returns the value of a name, if it is there.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

/// Stops of all threads for one operation of the JVM.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Safepoints {
    pub total: Sum,
    /// Time until the last thread stopped.
    pub reaching: Sum,
}

/// Pause among the longest, with its phases in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Longest {
    pub event: Event,
    pub phases: Vec<(u16, f64)>,
}

/// Contents of log files.
#[derive(Clone, Debug, Default)]
pub struct Log {
    pub collector: Option<Collector>,
    pub settings: Settings,
    /// Lines in all.
    pub lines: u64,
    /// Lines that are no lines of a JVM's log.
    pub foreign: u64,
    /// Lines of a collection that could not be understood.
    pub damaged: u64,
    /// Pauses in the order of the log.
    pub events: Vec<Event>,
    /// Pauses that were too many for `events`.
    pub events_dropped: u64,
    /// Pauses by kind, all of them.
    pub by_kind: [Sum; Kind::ALL.len()],
    /// Pauses by cause, all of them.
    pub causes: Named<Sum>,
    /// Phases of pauses.
    pub phases: Named<Sum>,
    /// Phases of cycles that run beside the program.
    pub concurrent: Named<Sum>,
    /// Longest pauses, the longest first.
    pub longest: Vec<Longest>,
    /// Allocations that waited for a collection, by thread.
    pub stalls: Named<Sum>,
    /// Stops by operation.
    pub safepoints: Named<Safepoints>,
    /// Bytes of objects by the collections that they survived, summed over all collections with an age table.
    pub ages: [u64; AGES],
    pub age_tables: u64,
    /// Collections with `To-space exhausted`, `Evacuation Failure` or `promotion failed`.
    pub exhausted: u64,
    /// Concurrent cycles that lost against the program: failures and aborts.
    pub lost_cycles: u64,
    /// Heap over time.
    pub heap: HeapCurve,
    clock: Clock,
}

/// Time of the log, over several runs of JVMs.
#[derive(Clone, Debug, Default)]
struct Clock {
    runs: u32,
    has_time: bool,
    /// Seconds of earlier runs, from their first to their last line.
    closed_s: f64,
    /// Time of the log at uptime 0 of this run.
    offset_s: f64,
    first_s: f64,
    last_s: f64,
    /// Date of uptime 0 of this run, and of the first run.
    began_unix_s: Option<f64>,
    first_began_unix_s: Option<f64>,
}

impl Clock {
    /// Returns the time of a stamp; true with the first line of another run.
    fn advance(&mut self, stamp: &Stamp) -> (f64, bool) {
        let raw = match (stamp.uptime_s, stamp.unix_s) {
            (Some(uptime), _) => uptime,
            (None, Some(unix)) => unix - *self.began_unix_s.get_or_insert(unix),
            (None, None) => return (self.now_s(), false),
        };
        if !self.has_time {
            (self.has_time, self.runs) = (true, 1);
            (self.first_s, self.last_s) = (raw, raw);
        }
        let is_new = raw + DISORDER_SECONDS < self.last_s;
        let mut raw = raw;
        if is_new {
            let end = self.now_s();
            self.closed_s += self.last_s - self.first_s;
            self.runs += 1;
            if stamp.uptime_s.is_none() {
                raw = 0.0;
            }
            self.began_unix_s = stamp.unix_s.map(|unix| unix - raw);
            let by_date = self.began_unix_s.zip(self.first_began_unix_s).map_or(0.0, |(began, first)| began - first);
            self.offset_s = by_date.max(end);
            (self.first_s, self.last_s) = (raw, raw);
        }
        if let (Some(uptime), Some(unix)) = (stamp.uptime_s, stamp.unix_s) {
            self.began_unix_s.get_or_insert(unix - uptime);
        }
        self.first_began_unix_s = self.first_began_unix_s.or(self.began_unix_s);
        self.last_s = self.last_s.max(raw);
        (self.offset_s + raw, is_new)
    }

    fn now_s(&self) -> f64 {
        self.offset_s + self.last_s
    }
}

/// Pause as a parser found it.
pub struct Pause<'a> {
    pub kind: Kind,
    pub cause: &'a [u8],
    pub pause_ms: f64,
    /// The stamp is the time of the start, not of the end.
    pub is_stamped_at_start: bool,
    pub event: Event,
    pub phases: &'a [(u16, f64)],
}

impl Log {
    /// Moves the time to a stamp. Returns the time in seconds since the start of the first JVM.
    pub(crate) fn advance(&mut self, stamp: &Stamp) -> f64 {
        let (time, is_new) = self.clock.advance(stamp);
        if is_new {
            self.heap.restart();
        }
        time
    }

    /// Returns the time of the last line.
    pub fn now_s(&self) -> f64 {
        self.clock.now_s()
    }

    /// Returns true if the lines have times.
    pub fn has_time(&self) -> bool {
        self.clock.has_time
    }

    /// Returns the number of JVMs whose lines are in the log.
    pub fn runs(&self) -> u32 {
        self.clock.runs.max(1)
    }

    /// Returns the seconds from the first to the last line, without gaps between runs; 0 if the lines have no times.
    pub fn seconds(&self) -> f64 {
        self.clock.closed_s + self.clock.last_s - self.clock.first_s
    }

    /// Returns the date of the first line in seconds since 1970.
    pub fn first_began_unix_s(&self) -> Option<f64> {
        self.clock.first_began_unix_s
    }

    /// Adds a pause that begins or ends at `time_s`.
    pub(crate) fn add(&mut self, pause: Pause, time_s: f64) {
        let Pause { kind, cause, pause_ms, is_stamped_at_start, mut event, phases } = pause;
        let seconds = pause_ms / 1000.0;
        event.start_s = if is_stamped_at_start { time_s } else { (time_s - seconds).max(0.0) };
        if !self.clock.has_time {
            // Without times, pauses stand one behind the other.
            event.start_s = self.clock.last_s;
            self.clock.last_s += seconds;
            self.clock.first_s = self.clock.last_s;
        } else if is_stamped_at_start {
            self.clock.last_s = self.clock.last_s.max(event.end_s() - self.clock.offset_s);
        }
        (event.kind, event.pause_ms) = (kind, pause_ms);
        event.cause = self.causes.index(cause);
        self.causes.0[usize::from(event.cause)].1.add(pause_ms);
        self.by_kind[kind as usize].add(pause_ms);
        self.exhausted += u64::from(event.is_exhausted);
        self.heap.add_pause(&event);
        self.keep_longest(&event, phases);
        if self.events.len() < EVENTS_MAX {
            self.events.push(event);
        } else {
            self.events_dropped += 1;
        }
    }

    fn keep_longest(&mut self, event: &Event, phases: &[(u16, f64)]) {
        let is_full = self.longest.len() == LONGEST_KEPT;
        if is_full && self.longest.last().is_some_and(|last| last.event.pause_ms >= event.pause_ms) {
            return;
        }
        let at = self.longest.partition_point(|longer| longer.event.pause_ms >= event.pause_ms);
        self.longest.insert(at, Longest { event: *event, phases: phases.to_vec() });
        self.longest.truncate(LONGEST_KEPT);
    }

    /// Returns the last pause, for details that follow it.
    pub(crate) fn last(&mut self) -> Option<&mut Event> {
        if self.events_dropped == 0 { self.events.last_mut() } else { None }
    }

    /// Adds a row of an age table.
    pub(crate) fn add_age(&mut self, age: u64, bytes: u64) {
        if age == 1 {
            self.age_tables += 1;
        }
        if let Some(sum) = usize::try_from(age).ok().and_then(|age| self.ages.get_mut(age)) {
            *sum = sum.saturating_add(bytes);
        }
    }

    /// Returns the sum of all pauses.
    pub fn pauses(&self) -> Sum {
        self.by_kind.iter().fold(Sum::default(), |all, one| Sum {
            count: all.count + one.count,
            total_ms: all.total_ms + one.total_ms,
            max_ms: all.max_ms.max(one.max_ms),
        })
    }

    /// Returns the pauses of a kind.
    pub fn of(&self, kind: Kind) -> Sum {
        self.by_kind[kind as usize]
    }

    /// Returns the name of an event's cause.
    pub fn cause(&self, event: &Event) -> &str {
        self.causes.0.get(usize::from(event.cause)).map_or("", |(name, _)| name)
    }
}

/// Returns an event without contents, for a parser to fill.
pub(crate) fn blank() -> Event {
    Event {
        start_s: 0.0,
        pause_ms: 0.0,
        kind: Kind::Other,
        cause: 0,
        number: 0,
        workers: 0,
        is_exhausted: false,
        heap: Default::default(),
        spaces: [Default::default(); Space::ALL.len()],
        cpu: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(uptime_s: f64) -> Stamp {
        Stamp { uptime_s: Some(uptime_s), unix_s: None }
    }

    fn on(unix_s: f64) -> Stamp {
        Stamp { uptime_s: None, unix_s: Some(unix_s) }
    }

    #[test]
    fn time_that_goes_back_begins_another_run() {
        let mut log = Log::default();
        let times: Vec<f64> = [5.0, 9.0, 8.5, 20.0, 0.5, 10.5].map(|s| log.advance(&at(s))).into();
        assert_eq!(times, [5.0, 9.0, 8.5, 20.0, 20.5, 30.5]);
        assert_eq!((log.runs(), log.seconds()), (2, 25.0));
    }

    #[test]
    fn dates_alone_are_times_since_the_first() {
        let mut log = Log::default();
        let times: Vec<f64> = [1000.0, 1002.5, 900.0, 901.0].map(|s| log.advance(&on(s))).into();
        assert_eq!(times, [0.0, 2.5, 2.5, 3.5]);
        assert_eq!((log.runs(), log.seconds()), (2, 3.5));
    }

    #[test]
    fn a_full_table_of_names_has_a_common_entry() {
        let mut named: Named<u32> = Named::default();
        for n in 0..1000 {
            *named.entry(format!("name {n}").as_bytes()) += 1;
        }
        assert_eq!(named.0.len(), NAMES_MAX + 1);
        assert_eq!(named.get("others"), Some(&(1000 - NAMES_MAX as u32)));
    }
}
