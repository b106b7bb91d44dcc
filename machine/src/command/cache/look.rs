//! A look at the page cache from its beginning to its end: samples are begun and ended, counts taken.

use std::time::{Duration, Instant};

use yunti_base::Result;
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::stdout;

use super::Wanted;
use super::account::{Account, Row};
use super::ahead::Ahead;
use super::names::Names;
use super::sampling::{Chance, Estimate, STRATUM, Share};
use yunti_probe::answer::{bytes, or_skip};
use yunti_probe::kernel::system::{CacheEvents, FileId, User, page_bytes};

pub const PULSE: Duration = Duration::from_millis(20);
const SECOND: Duration = Duration::from_secs(1);

pub struct Look {
    events: CacheEvents,
    wanted: Wanted,
    account: Account,
    ahead: Option<Ahead>,
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

/// Of the stratum that it is.
enum Sample {
    Comes { at: Instant },
    Begun(Instant),
    Was(Duration),
}

/// What was seen.
pub struct Seen {
    pub account: Account,
    pub uses: Option<std::collections::HashMap<FileId, super::ahead::Uses>>,
    pub share: f64,
    pub error_percent: f64,
    pub names: Names,
    /// How often programs of samples ran.
    pub ran: u64,
    /// What that costs who is seen.
    pub event_ns: f64,
    pub lost: u64,
}

impl Look {
    pub fn start(wanted: Wanted, is_live: bool, skips: &mut Vec<String>) -> Result<Look> {
        let mut events = CacheEvents::start(skips)?;
        let ahead = or_skip(skips, "what was read ahead and never used", Ahead::follow(&mut events));
        let (now, event_ns) = (Instant::now(), events.event_ns());
        let seed = std::process::id().into();
        Ok(Look {
            events,
            wanted,
            account: Account::default(),
            ahead,
            share: Share::new(event_ns),
            estimate: Estimate::default(),
            chance: Chance::new(seed),
            stratum: now,
            misses_taken: now,
            sample: Sample::Comes { at: now },
            ran: 0,
            live: Live::new(is_live),
            failed: None,
        })
    }

    /// What is due. Returns whether to go on.
    pub fn pass(&mut self) -> bool {
        if let Err(e) = self.step() {
            self.failed = Some(e);
            return false;
        }
        self.live.pass(&self.account, &self.wanted);
        self.live.outcome.is_ok()
    }

    fn step(&mut self) -> Result<()> {
        if let Some(ahead) = &mut self.ahead {
            ahead.pass(&mut self.events)?;
        }
        if let Sample::Comes { at } = self.sample
            && Instant::now() >= at
        {
            self.events.begin_sample()?;
            self.sample = Sample::Begun(Instant::now());
            // Shorter than the pulse: it is waited for.
            if self.share.sample() < PULSE {
                std::thread::sleep(self.share.sample());
            }
        }
        if let Sample::Begun(since) = self.sample
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
        self.sample = Sample::Was(sample);
        Ok(())
    }

    fn end_stratum(&mut self) -> Result<()> {
        let (sample, goes_on) = match self.sample {
            Sample::Was(sample) => (sample, false),
            // All the time: the next stratum is seen from its beginning on.
            Sample::Begun(since) if self.share.get() >= 1.0 => (since.elapsed(), true),
            Sample::Begun(since) => {
                self.end_sample(since)?;
                (since.elapsed(), false)
            }
            Sample::Comes { .. } => (Duration::ZERO, false),
        };
        let now = Instant::now();
        let stratum = now - self.stratum;
        self.stratum = now;
        self.take(sample, stratum);
        let is_all = self.share.get() >= 1.0;
        if goes_on && is_all {
            self.sample = Sample::Begun(now);
            return Ok(());
        }
        if goes_on {
            self.events.end_sample()?;
        }
        let room = STRATUM.saturating_sub(self.share.sample() + PULSE);
        let at = if is_all { now } else { now + room.mul_f64(self.chance.next()) };
        self.sample = Sample::Comes { at };
        Ok(())
    }

    /// What a stratum brought.
    fn take(&mut self, sample: Duration, stratum: Duration) {
        if sample.is_zero() {
            return;
        }
        let (account, wanted) = (&mut self.account, &self.wanted);
        let weight = (stratum.as_secs_f64() / sample.as_secs_f64()).max(1.0);
        let mut seen = 0;
        self.events.take_touches(|user, touches| {
            if wanted.has(&user) {
                seen += touches.read + touches.mapped + touches.written;
                account.touch(user, touches, weight);
            }
        });
        self.estimate.add(seen as f64, sample, stratum);
        let ran = self.events.events();
        self.ran += ran;
        self.share.adapt(ran, sample);
    }

    /// Their map is a large one: it is not emptied more often than it must.
    fn take_misses(&mut self) {
        let (account, wanted) = (&mut self.account, &self.wanted);
        self.events.take_misses(|user: User, misses| {
            if wanted.has(&user) {
                account.miss(user, misses);
            }
        });
        self.misses_taken = Instant::now();
    }

    pub fn end(mut self) -> std::result::Result<Seen, Failure> {
        if let Some(e) = self.failed {
            return Err(e.into());
        }
        std::mem::replace(&mut self.live.outcome, Ok(()))?;
        let goes_on = matches!(self.sample, Sample::Begun(_)) && self.share.get() >= 1.0;
        let sample = match self.sample {
            Sample::Begun(since) => {
                self.end_sample(since)?;
                since.elapsed()
            }
            Sample::Was(sample) => sample,
            Sample::Comes { .. } => Duration::ZERO,
        };
        let stratum = self.stratum.elapsed();
        self.take(sample, stratum);
        self.take_misses();
        // The last request of a thread is told when the next one comes. Of a sample that has gone on until now each is known to be the last one.
        let (account, wanted) = (&mut self.account, &self.wanted);
        self.events.take_open_requests(|user, pages| {
            if goes_on && wanted.has(&user) {
                account.touch_read(user, pages, 1.0);
            }
        });
        let uses = self.ahead.map(|ahead| ahead.end(&mut self.events));
        let names = Names::of(&self.events, self.account.by(|user| Some(user.pid)).into_iter().map(|(pid, _)| pid));
        Ok(Seen {
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

/// A line each second.
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

    fn pass(&mut self, account: &Account, wanted: &Wanted) {
        if !self.is_wanted || self.last.elapsed() < SECOND {
            return;
        }
        let seconds = self.last.elapsed().as_secs_f64();
        let all = account.by(|user| wanted.has(user).then_some(()));
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
