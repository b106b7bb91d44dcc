//! Simulated histories: a service of 300 functions on a host that varies, with restarts that inline otherwise.

use yunti_record::statistics::random::Random;

use super::day::Day;
use crate::record::{Function, Head, Host, Record, Window};

const FUNCTIONS: usize = 300;
const CPU_MS: f64 = 4.0;
const SAMPLE_MS: f64 = 10.101;
const DAY_MS: u64 = 86_400_000;
/// 2026-06-01, a Monday.
const BEGIN_MS: u64 = 1_780_272_000_000;

/// Noise and size of a simulated service.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Deviation of the host between days.
    pub host: f64,
    /// Part of it that the calibration loop sees.
    pub seen: f64,
    /// Samples of the profile a day.
    pub samples: f64,
    pub windows: usize,
    /// Deviation of windows.
    pub spread: f64,
    /// Probability of a restart before a day.
    pub restarts: f64,
    /// Deviation of the service's cost between starts.
    pub starts: f64,
    /// Deviation of each function between days.
    pub functions: f64,
    /// Share of the function that a regression is planted in; 0 takes one of 1 to 4 %.
    pub hot: f64,
}

pub const USUAL: Setting = Setting {
    host: 0.015,
    seen: 0.7,
    samples: 12_000.0,
    windows: 20,
    spread: 0.03,
    restarts: 0.3,
    starts: 0.005,
    functions: 0.005,
    hot: 0.0,
};

/// Regression that is planted on the last day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Plant {
    Nothing,
    /// One function grows by this part of the service's processor time.
    Function(f64),
    /// A caller's whole subtree grows by this part in sum.
    Subtree(f64),
    /// All functions grow by this part.
    All(f64),
}

/// Service with its random numbers.
pub struct World {
    setting: Setting,
    random: Random,
    parents: Vec<Option<usize>>,
    shares: Vec<f64>,
    /// Part of the own cost that moves to the caller since the last start.
    inlined: Vec<f64>,
    /// Cost of this start, its process, and its first day.
    start: f64,
    pid: u32,
    started: u64,
    /// Function that a regression is planted in.
    pub planted: usize,
    next: u64,
}

impl World {
    pub fn new(setting: Setting, seed: u64) -> World {
        let mut random = Random::new(seed.wrapping_mul(7919) + 1);
        let parents = (0..FUNCTIONS).map(|at| (at > 0).then(|| random.below(at.min(40)))).collect();
        let mut shares: Vec<f64> = (1..=FUNCTIONS).map(|rank| 1.0 / rank as f64).collect();
        random.shuffle(&mut shares);
        let whole: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= whole);
        // A function of 1 to 4 % of all.
        let fit: Vec<usize> = (1..FUNCTIONS).filter(|at| (0.01..0.04).contains(&shares[*at])).collect();
        let planted = fit[random.below(fit.len())];
        if setting.hot > 0.0 {
            shares.iter_mut().for_each(|share| *share *= 1.0 - setting.hot);
            shares[planted] = setting.hot;
        }
        let mut world = World {
            setting,
            random,
            parents,
            shares,
            inlined: vec![0.0; FUNCTIONS],
            start: 1.0,
            pid: 0,
            started: 0,
            planted,
            next: 0,
        };
        world.restart();
        world
    }

    pub fn name(at: usize) -> String {
        format!("com.shop.F{at}.run")
    }

    fn restart(&mut self) {
        self.start = (self.setting.starts * self.normal()).exp();
        self.pid += 1;
        self.started = self.next;
        self.inlined.fill(0.0);
        for _ in 0..6 {
            let at = 1 + self.random.below(FUNCTIONS - 1);
            self.inlined[at] = 0.7 * self.uniform();
        }
    }

    fn uniform(&mut self) -> f64 {
        (self.random.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().max(1e-300).ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn poisson(&mut self, mean: f64) -> f64 {
        if mean > 60.0 {
            return (mean + mean.sqrt() * self.normal()).round().max(0.0);
        }
        let (limit, mut product, mut count) = ((-mean).exp(), self.uniform(), 0.0);
        while product > limit {
            product *= self.uniform();
            count += 1.0;
        }
        count
    }

    /// Costs by function before noise, as parts of the usual cost.
    fn costs(&mut self, plant: Plant) -> Vec<f64> {
        let mut costs = self.shares.clone();
        match plant {
            Plant::Nothing => {}
            Plant::Function(part) => costs[self.planted] += part,
            Plant::All(part) => costs.iter_mut().for_each(|cost| *cost *= 1.0 + part),
            Plant::Subtree(part) => {
                let below: Vec<usize> =
                    (0..FUNCTIONS).filter(|at| self.is_below(*at, self.parents[self.planted])).collect();
                let whole: f64 = below.iter().map(|at| self.shares[*at]).sum();
                below.iter().for_each(|at| costs[*at] *= 1.0 + part / whole);
            }
        }
        for at in 1..FUNCTIONS {
            let moved = costs[at] * self.inlined[at];
            costs[at] -= moved;
            costs[self.parents[at].unwrap_or(0)] += moved;
        }
        for cost in &mut costs {
            *cost *= 1.0 + self.setting.functions * self.normal();
        }
        costs
    }

    fn is_below(&self, at: usize, ancestor: Option<usize>) -> bool {
        std::iter::successors(Some(at), |at| self.parents[*at]).any(|at| Some(at) == ancestor)
    }

    /// Returns the record of the next day.
    pub fn record(&mut self, plant: Plant, label: &str) -> Record {
        let setting = self.setting;
        let day = self.next;
        if plant != Plant::Nothing || self.uniform() < setting.restarts {
            self.restart();
        }
        self.next += 1;
        let costs = self.costs(plant);
        // Half of the variance is of the host, as far as the loop sees it.
        let seen = setting.host * setting.seen.sqrt() * self.normal();
        let unseen = setting.host * (1.0 - setting.seen).sqrt() * self.normal();
        let weekend = if day % 7 >= 5 { 0.6 } else { 1.0 };
        let rate = weekend * (1.0 + 0.1 * self.normal()).max(0.5);
        let host = (seen + unseen - 0.08 * rate.ln()).exp() * self.start;
        let bytes = 50_000.0 * (1.0 + 0.003 * self.normal());
        let p99 = 30.0 * (0.08 * self.normal() + 0.3 * rate.ln()).exp();
        let peak = 400.0 * (0.015 * self.normal() - seen - unseen).exp();
        let bad = if self.uniform() < 0.1 { self.random.below(setting.windows) } else { usize::MAX };
        let scale = setting.samples / setting.windows as f64;
        let requests = rate * scale * SAMPLE_MS / CPU_MS;
        let mut record = Record {
            head: Head {
                sequence: day + 1,
                time_ms: BEGIN_MS + day * DAY_MS,
                label: label.into(),
                host: Host {
                    pid: self.pid,
                    age_seconds: 60.0 + ((day - self.started) * DAY_MS / 1000) as f64,
                    ..Host::default()
                },
                sample_ms: SAMPLE_MS,
                ..Head::default()
            },
            functions: (0..FUNCTIONS)
                .map(|at| Function { name: World::name(at), caller: self.parents[at], ..Function::default() })
                .collect(),
            ..Record::default()
        };
        record.head.load.peak_per_second = Some(peak);
        for at in 0..setting.windows {
            let level = host * (1.0 + setting.spread * self.normal()) * if at == bad { 2.0 } else { 1.0 };
            let mut counts: Vec<f64> = Vec::with_capacity(FUNCTIONS);
            for cost in &costs {
                counts.push(self.poisson(cost * level * rate * scale) * SAMPLE_MS);
            }
            let cpu: f64 = costs.iter().sum::<f64>() * level * requests * CPU_MS;
            record.head.windows.push(Window {
                seconds: 6.0,
                requests: Some((requests * (1.0 + 0.002 * self.normal())).round()),
                cpu_ms: Some(cpu),
                allocated_bytes: Some(bytes * requests * (1.0 + 0.01 * self.normal())),
                p50_ms: None,
                p99_ms: Some(p99 * (1.0 + 0.05 * self.normal())),
                calibration_ms: Some(20.0 * (seen + 0.01 * self.normal()).exp()),
                ..Window::default()
            });
            record.sampled_ms.push(counts.iter().sum());
            let mut totals = counts.clone();
            for child in (1..FUNCTIONS).rev() {
                totals[self.parents[child].unwrap_or(0)] += totals[child];
            }
            for (function, (own, total)) in record.functions.iter_mut().zip(counts.into_iter().zip(totals)) {
                function.own_ms.push(own);
                function.total_ms.push(total);
            }
        }
        record
    }

    /// Returns some equal days.
    pub fn days(&mut self, count: usize) -> Vec<Day> {
        (0..count).map(|_| Day::of(&self.record(Plant::Nothing, "v1"))).collect()
    }
}
