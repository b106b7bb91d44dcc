//! Slice after slice, until a signal ends the recorder or its processes have ended.
//!
//! ```text
//!   find processes -> begin a slice of each -> sample until its end -> stacks, counters -> store -> expire
//! ```
//!
//! A slice that cannot be written is counted as lost, and nothing is sampled until the store has room again.

use std::time::{Duration, Instant};

use yunti_base::{Code, Error, Result};
use yunti_probe::stopping::{End, Stopping};
use yunti_record::Store;

use super::budget::Budget;
use super::counters::MachineCounters;
use super::heartbeat::{Heartbeat, ServiceState, State};
use super::services::Services;
use super::settings::Settings;
use super::watch::{Watch, unix_ms};
use crate::jvm;

/// Interval of sampling without a perf clock.
const PULSE_SLOW: Duration = Duration::from_millis(500);
/// Share of a slice below which it is joined with the next one.
const SHORT: f64 = 0.2;
/// Room that the store's disk must have for another slice, in bytes.
const ROOM_MIN: u64 = 4 << 20;
/// Share of a day's bytes that may be written at once.
const BYTES_AT_ONCE: f64 = 0.1;
/// Priority lower than the one of services.
const NICE: i32 = 5;
/// Searches for old slices in the time for which slices are kept, and the longest time between two of them.
const EXPIRES_A_KEEP: u32 = 200;
const EXPIRE_EVERY_MAX: Duration = Duration::from_secs(1800);
const DAY_MS: u64 = 86_400_000;

/// Records until the end.
pub fn record(settings: &Settings) -> Result<()> {
    let mut stopping = Stopping::new()?;
    let store = Store::create(&settings.store)?.with_day_bytes_max(settings.day_bytes_max);
    let heartbeat = Heartbeat::take(&settings.store)?;
    let _ = rustix::process::setpriority_process(None, NICE);
    let mut recorder = Running::new(settings, store, heartbeat);
    recorder.choose();
    if recorder.watches.is_empty() && !recorder.waits_for_processes() {
        return Err(Error::new(Code::Input, "none of these processes exists").hint("`ps -e` lists what there is"));
    }
    loop {
        let end = recorder.slice(&mut stopping);
        recorder.tidy();
        if end == End::Interrupted {
            return Ok(());
        }
        recorder.choose();
        if recorder.watches.is_empty() && !recorder.waits_for_processes() {
            return Ok(());
        }
    }
}

/// Recorder at work.
struct Running<'a> {
    settings: &'a Settings,
    store: Store,
    heartbeat: Heartbeat,
    services: Services,
    watches: Vec<Watch>,
    budget: Budget,
    state: State,
    /// Processor time and time of all slices, without the first start.
    slices_cpu: Duration,
    slices_time: Duration,
    accounted_at: Instant,
    accounted_cpu: Duration,
    expired_at: Instant,
    day: u64,
}

impl<'a> Running<'a> {
    fn new(settings: &'a Settings, store: Store, heartbeat: Heartbeat) -> Running<'a> {
        let now_ms = unix_ms();
        let state = State {
            pid: std::process::id(),
            started_ms: now_ms,
            slice_seconds: settings.slice.as_secs_f64(),
            keep_seconds: settings.keep.as_secs_f64(),
            day_bytes_max: settings.day_bytes_max,
            divisor: 1,
            ..State::default()
        };
        let mut running = Running {
            settings,
            store,
            heartbeat,
            services: Services::new(&settings.chosen),
            watches: Vec::new(),
            budget: Budget::new(settings.share_max),
            state,
            slices_cpu: Duration::ZERO,
            slices_time: Duration::ZERO,
            accounted_at: Instant::now(),
            accounted_cpu: Duration::ZERO,
            expired_at: Instant::now(),
            day: now_ms / DAY_MS,
        };
        running.state.bytes_today = running.bytes_of(running.day);
        running
    }

    /// Returns true if processes may come later.
    fn waits_for_processes(&self) -> bool {
        self.settings.chosen.is_machine || !self.settings.chosen.names.is_empty()
    }

    /// Finds the processes to record. Watches of processes that still run go on.
    fn choose(&mut self) {
        let found = self.services.find();
        self.watches.retain(|watch| found.iter().any(|p| p.pid == watch.process.pid && watch.process.is_alive()));
        for process in found {
            let known = self.watches.iter_mut().find(|watch| watch.process.pid == process.pid);
            // A launcher becomes a JVM some moments after its start.
            let is_jvm = known.as_ref().is_some_and(|watch| watch.is_jvm) || jvm::is_jvm(&process);
            match known {
                Some(watch) if watch.is_jvm == is_jvm => {}
                known => {
                    let service = self.services.service(&process, self.settings);
                    let watch = Watch::new(&process, service, is_jvm, self.settings);
                    match known {
                        Some(known) => *known = watch,
                        None => self.watches.push(watch),
                    }
                }
            }
        }
    }

    /// Records one slice of all processes, up to the next multiple of the slice's length.
    fn slice(&mut self, stopping: &mut Stopping) -> End {
        self.check_room();
        let length = self.settings.slice;
        if self.state.blocked.is_some() {
            self.watches.iter_mut().for_each(Watch::release);
            self.beat();
            return stopping.wait_for_time(time_left(length, unix_ms()), PULSE_SLOW, || true).end;
        }
        if is_ahead(self.state.bytes_today, self.settings.day_bytes_max, unix_ms()) {
            self.state.thinned += self.watches.len() as u64;
            self.beat();
            return stopping.wait_for_time(time_left(length, unix_ms()), PULSE_SLOW, || true).end;
        }
        let divisor = self.budget.divisor();
        self.watches.iter_mut().for_each(|watch| watch.begin(length * 2, divisor));
        let machine = MachineCounters::now();
        if self.slices_time.is_zero() {
            // The first start reads the symbols of the kernel and of each program.
            (self.accounted_at, self.accounted_cpu) = (Instant::now(), own_cpu());
        }
        self.beat();
        let pulse = self.watches.iter().filter_map(Watch::pulse).min().unwrap_or(PULSE_SLOW);
        let ends_with_last = !self.waits_for_processes();
        let end = stopping.wait_for_time(time_left(length, unix_ms()), pulse, || {
            self.watches.iter_mut().for_each(Watch::keep_up);
            !ends_with_last || self.watches.iter().any(|watch| watch.process.is_alive())
        });
        let machine = MachineCounters::now().since(&machine);
        for watch in &mut self.watches {
            match watch.finish(divisor) {
                Ok(Some(mut slice)) => {
                    slice.facts.counters.extend(machine.clone());
                    let begin_ms = slice.facts.begin_ms;
                    match self.store.put(&slice) {
                        Ok(entry) => {
                            watch.written += 1;
                            watch.last_ms = begin_ms;
                            self.state.slices += 1;
                            self.state.bytes_today += entry.bytes;
                        }
                        Err(e) => {
                            watch.lost_slices += 1;
                            self.state.lost += 1;
                            self.state.blocked = Some(e.to_string());
                        }
                    }
                }
                Ok(None) => {
                    watch.lost_slices += 1;
                    self.state.lost += 1;
                }
                Err(e) => {
                    watch.failure = Some(e.to_string());
                    watch.release();
                    watch.lost_slices += 1;
                    self.state.lost += 1;
                }
            }
        }
        let (now, cpu) = (Instant::now(), own_cpu());
        let (time, spent) = (now - self.accounted_at, cpu.saturating_sub(self.accounted_cpu));
        (self.accounted_at, self.accounted_cpu) = (now, cpu);
        self.slices_time += time;
        self.slices_cpu += spent;
        self.state.last_cpu_percent = self.budget.account(spent, time) * 100.0;
        end.end
    }

    /// Removes old slices, and reports.
    fn tidy(&mut self) {
        let now_ms = unix_ms();
        if now_ms / DAY_MS != self.day {
            self.day = now_ms / DAY_MS;
            self.state.bytes_today = 0;
        }
        let every = (self.settings.keep / EXPIRES_A_KEEP).min(EXPIRE_EVERY_MAX);
        if self.expired_at.elapsed() >= every {
            self.expired_at = Instant::now();
            // Expiring must not end the recorder: the next time tries again.
            let _ = self.store.expire(now_ms, self.settings.keep, u64::MAX);
        }
        self.beat();
    }

    /// Finds out whether another slice has room.
    fn check_room(&mut self) {
        let free = rustix::fs::statvfs(&self.settings.store).map_or(u64::MAX, |disk| disk.f_bavail * disk.f_frsize);
        self.state.blocked = if free < ROOM_MIN {
            Some(format!("the disk of the store has {free} bytes left"))
        } else if self.state.bytes_today >= self.settings.day_bytes_max {
            Some(format!("today's slices have {} bytes, the limit of --day-max", self.state.bytes_today))
        } else {
            None
        };
    }

    fn bytes_of(&self, day: u64) -> u64 {
        let days = self.store.status().map(|status| status.days).unwrap_or_default();
        days.get(&(day * DAY_MS)).copied().unwrap_or(0)
    }

    fn beat(&mut self) {
        let service = |watch: &Watch| ServiceState {
            name: watch.service.name.clone(),
            pid: watch.process.pid,
            release: watch.service.release.clone(),
            container: watch.service.container.clone(),
            last_ms: watch.last_ms,
            slices: watch.written,
            lost: watch.lost_slices,
            failure: watch.failure.clone(),
        };
        self.state.services = self.watches.iter().map(service).collect();
        self.state.now_ms = unix_ms();
        self.state.divisor = self.budget.divisor();
        self.state.cpu_seconds = own_cpu().as_secs_f64();
        self.state.cpu_percent = self.slices_cpu.as_secs_f64() / self.slices_time.as_secs_f64().max(0.001) * 100.0;
        self.heartbeat.beat(&self.state);
    }
}

/// Returns the time until the next multiple of a slice's length. A short rest is joined with the next slice.
fn time_left(slice: Duration, now_ms: u64) -> Duration {
    let length = (slice.as_millis() as u64).max(1);
    let left = Duration::from_millis(length - now_ms % length);
    if left < slice.mul_f64(SHORT) { left + slice } else { left }
}

/// Returns true if a day's slices have more bytes than the part of the day that has passed may have. Leaving out some
/// slices all day long is better than to leave out the evening.
fn is_ahead(bytes: u64, bytes_max: u64, now_ms: u64) -> bool {
    let passed = (now_ms % DAY_MS) as f64 / DAY_MS as f64;
    bytes as f64 > bytes_max as f64 * (BYTES_AT_ONCE + (1.0 - BYTES_AT_ONCE) * passed)
}

/// Returns the processor time of this process and of its helpers that have ended.
fn own_cpu() -> Duration {
    let line = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = line.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    let ticks: u64 = (11..15).filter_map(|field| fields.get(field)?.parse::<u64>().ok()).sum();
    Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_end_at_multiples() {
        let minute = Duration::from_secs(60);
        let left = |now_ms| time_left(minute, now_ms).as_millis();
        assert_eq!((left(0), left(1000), left(47_000), left(59_000)), (60_000, 59_000, 13_000, 61_000));
    }

    #[test]
    fn bytes_are_spread_over_the_day() {
        let check =
            |bytes, hours: u64, expected| assert_eq!(is_ahead(bytes, 1000, 7 * DAY_MS + hours * 3_600_000), expected);
        check(90, 0, false);
        check(110, 0, true);
        check(540, 12, false);
        check(560, 12, true);
        check(1000, 23, true);
    }

    #[test]
    fn knows_its_own_processor_time() {
        let before = own_cpu();
        let begun = Instant::now();
        while own_cpu() == before {
            assert!(begun.elapsed() < Duration::from_secs(20));
        }
    }
}
