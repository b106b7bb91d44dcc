//! Measurement of the page cache: begins and ends samples, and takes counts.

use std::time::{Duration, Instant};

use yunti_base::Result;
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::stdout;

use super::Filter;
use super::account::{Account, Row};
use super::names::Names;
use super::read_ahead::ReadAheadTracker;
use super::sampling::{Chance, Estimate, STRATUM, Share};
use yunti_probe::answer::{bytes, or_skip};
use yunti_probe::kernel::system::{CacheEvents, FileId, User, page_bytes};

/// Interval of `step`.
pub const PULSE: Duration = Duration::from_millis(20);
const SECOND: Duration = Duration::from_secs(1);

/// Running measurement.
pub struct CacheMeasurement {
    events: CacheEvents,
    filter: Filter,
    account: Account,
    read_ahead: Option<ReadAheadTracker>,
    share: Share,
    estimate: Estimate,
    chance: Chance,
    stratum: Instant,
    misses_taken: Instant,
    sample: Sample,
    ran: u64,
    live: Live,
    failed: Option<yunti_base::Error>,
}

/// Sample of the present stratum.
enum Sample {
    Planned { at: Instant },
    Running(Instant),
    Done(Duration),
}

/// Result of a measurement.
pub struct CacheSample {
    /// Counts by user of a file.
    pub account: Account,
    /// Outcome of read-ahead by file, if it was tracked.
    pub uses: Option<std::collections::HashMap<FileId, super::read_ahead::ReadAheadUse>>,
    /// Share of the time that was sampled.
    pub share: f64,
    /// Half-width of the 95 % confidence interval of the hits, and the share that slowed programs may have left out, in
    /// percent.
    pub error_percent: f64,
    /// Names of files, devices and processes.
    pub names: Names,
    /// Runs of the sampling programs.
    pub ran: u64,
    /// Nanoseconds that each run costs the measured program.
    pub event_ns: f64,
    /// Users and folios that were not counted.
    pub lost: u64,
}

impl CacheMeasurement {
    /// Starts a measurement. Parts that fail are added to `skips`.
    pub fn start(filter: Filter, is_live: bool, skips: &mut Vec<String>) -> Result<CacheMeasurement> {
        let mut events = CacheEvents::start(skips)?;
        let read_ahead = or_skip(skips, "use of pages that were read ahead", ReadAheadTracker::follow(&mut events));
        let (now, event_ns) = (Instant::now(), events.event_ns());
        let seed = std::process::id().into();
        Ok(CacheMeasurement {
            events,
            filter,
            account: Account::default(),
            read_ahead,
            share: Share::new(event_ns),
            estimate: Estimate::default(),
            chance: Chance::new(seed),
            stratum: now,
            misses_taken: now,
            sample: Sample::Planned { at: now },
            ran: 0,
            live: Live::new(is_live),
            failed: None,
        })
    }

    /// Does the work that is due. Returns false when the measurement must end.
    pub fn pass(&mut self) -> bool {
        if let Err(e) = self.step() {
            self.failed = Some(e);
            return false;
        }
        self.live.pass(&self.account, &self.filter);
        self.live.outcome.is_ok()
    }

    fn step(&mut self) -> Result<()> {
        if let Some(tracker) = &mut self.read_ahead {
            tracker.pass(&mut self.events)?;
        }
        if let Sample::Planned { at } = self.sample
            && Instant::now() >= at
        {
            self.events.begin_sample()?;
            self.sample = Sample::Running(Instant::now());
            // A sample shorter than the interval is awaited here.
            if self.share.sample() < PULSE {
                std::thread::sleep(self.share.sample());
            }
        }
        if let Sample::Running(since) = self.sample
            && self.share.get() < 1.0
            && since.elapsed() >= self.share.sample()
        {
            self.end_sample(since)?;
        }
        if self.stratum.elapsed() >= STRATUM {
            self.end_stratum()?;
        }
        if self.misses_taken.elapsed() >= SECOND {
            self.take_misses();
        }
        Ok(())
    }

    fn end_sample(&mut self, since: Instant) -> Result<()> {
        let sample = since.elapsed();
        self.events.end_sample()?;
        self.sample = Sample::Done(sample);
        Ok(())
    }

    fn end_stratum(&mut self) -> Result<()> {
        let (sample, goes_on) = match self.sample {
            Sample::Done(sample) => (sample, false),
            // Complete sampling: the next stratum is sampled from its beginning.
            Sample::Running(since) if self.share.get() >= 1.0 => (since.elapsed(), true),
            Sample::Running(since) => {
                self.end_sample(since)?;
                (since.elapsed(), false)
            }
            Sample::Planned { .. } => (Duration::ZERO, false),
        };
        let now = Instant::now();
        let stratum = now - self.stratum;
        self.stratum = now;
        self.take(sample, stratum);
        let is_all = self.share.get() >= 1.0;
        if goes_on && is_all {
            self.sample = Sample::Running(now);
            return Ok(());
        }
        if goes_on {
            self.events.end_sample()?;
        }
        let room = STRATUM.saturating_sub(self.share.sample() + PULSE);
        let at = if is_all { now } else { now + room.mul_f64(self.chance.next()) };
        self.sample = Sample::Planned { at };
        Ok(())
    }

    /// Takes the counts of a stratum.
    fn take(&mut self, sample: Duration, stratum: Duration) {
        if sample.is_zero() {
            return;
        }
        let (account, filter) = (&mut self.account, &self.filter);
        let weight = (stratum.as_secs_f64() / sample.as_secs_f64()).max(1.0);
        let mut touched = 0;
        self.events.take_touches(|user, touches| {
            if filter.has(&user) {
                touched += touches.read + touches.mapped + touches.written;
                account.touch(user, touches, weight);
            }
        });
        let ran = self.events.events();
        let cost = Duration::from_nanos((ran as f64 * self.events.event_ns()) as u64);
        self.estimate.add(touched as f64, sample, stratum, cost);
        self.ran += ran;
        self.share.adapt(ran, sample);
    }

    /// Takes the misses. Their map is large, so it is emptied no more often than necessary.
    fn take_misses(&mut self) {
        let (account, filter) = (&mut self.account, &self.filter);
        self.events.take_misses(|user: User, misses| {
            if filter.has(&user) {
                account.miss(user, misses);
            }
        });
        self.misses_taken = Instant::now();
    }

    /// Ends the measurement, and returns its result.
    pub fn end(mut self) -> std::result::Result<CacheSample, Failure> {
        if let Some(e) = self.failed {
            return Err(e.into());
        }
        std::mem::replace(&mut self.live.outcome, Ok(()))?;
        let goes_on = matches!(self.sample, Sample::Running(_)) && self.share.get() >= 1.0;
        let sample = match self.sample {
            Sample::Running(since) => {
                self.end_sample(since)?;
                since.elapsed()
            }
            Sample::Done(sample) => sample,
            Sample::Planned { .. } => Duration::ZERO,
        };
        let stratum = self.stratum.elapsed();
        self.take(sample, stratum);
        self.take_misses();
        // A thread's last request is reported when its next one comes. In a sample that runs until now, each open
        // request is the last one.
        let (account, filter) = (&mut self.account, &self.filter);
        self.events.take_open_requests(|user, pages| {
            if goes_on && filter.has(&user) {
                account.touch_read(user, pages, 1.0);
            }
        });
        let uses = self.read_ahead.map(|tracker| tracker.end(&mut self.events));
        let names = Names::of(&self.events, self.account.by(|user| Some(user.pid)).into_iter().map(|(pid, _)| pid));
        Ok(CacheSample {
            uses,
            share: self.estimate.share(),
            error_percent: self.estimate.error_percent(),
            names,
            ran: self.ran,
            event_ns: self.events.event_ns(),
            lost: self.events.lost(),
            account: self.account,
        })
    }
}

/// Prints a line each second.
struct Live {
    is_wanted: bool,
    begun: Instant,
    last: Instant,
    before: Row,
    outcome: Outcome,
}

impl Live {
    fn new(is_wanted: bool) -> Live {
        Live { is_wanted, begun: Instant::now(), last: Instant::now(), before: Row::default(), outcome: Ok(()) }
    }

    fn pass(&mut self, account: &Account, filter: &Filter) {
        if !self.is_wanted || self.last.elapsed() < SECOND {
            return;
        }
        let seconds = self.last.elapsed().as_secs_f64();
        let all = account.by(|user| filter.has(user).then_some(()));
        let now = all.first().map(|(_, row)| *row).unwrap_or_default();
        let before = std::mem::replace(&mut self.before, now);
        let rate = |pages: f64| format!("{:>8}/s", bytes((pages.max(0.0) * page_bytes() as f64 / seconds) as u64));
        let part = |name: &str, all: f64, hit: f64| {
            let share = if all > 0.0 { format!("({:5.1} % hit)", hit.max(0.0) / all * 100.0) } else { " ".repeat(13) };
            format!("  {name} {} {share}", rate(all))
        };
        let line = format!(
            "{:5.0} s{}{}{}  read ahead {}  dropped {}\n",
            self.begun.elapsed().as_secs_f64(),
            part("read", now.read() - before.read(), now.read_hit - before.read_hit),
            part("mapped", now.mapped() - before.mapped(), now.mapped_hit - before.mapped_hit),
            part("written", now.written() - before.written(), now.written_hit - before.written_hit),
            rate((now.missed.read_ahead - before.missed.read_ahead) as f64),
            rate((now.missed.dropped - before.missed.dropped) as f64),
        );
        self.outcome = stdout::print(&line);
        self.last = Instant::now();
    }
}
