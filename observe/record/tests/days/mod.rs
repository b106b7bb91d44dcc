//! Days of a service that never was: hundreds of functions, load and mix of requests that vary, a host that is faster
//! and slower, samples by chance.

use std::sync::Arc;

use yunti_record::{Frame, FrameKind, Measure, Slice};

pub const DAY_MS: u64 = 86_400_000;
pub const HOUR_MS: u64 = 3_600_000;

/// 2026-11-02, a Monday.
pub const FIRST_DAY_MS: u64 = 1_793_577_600_000;

/// Nanoseconds of a sample at 99 Hz.
pub const PERIOD_NS: u64 = 10_101_010;

/// Windows of an hour, one each 10 minutes.
const WINDOWS: usize = 6;

const KINDS: usize = 6;

/// Random numbers of a seed.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x9e37_79b9)
    }

    /// A number from 0 to 1.
    pub fn part(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.part() * end as f64) as usize
    }

    /// A value of the standard normal distribution (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.part()).ln()).sqrt() * (std::f64::consts::TAU * self.part()).cos()
    }

    /// A value of the Poisson distribution.
    pub fn count(&mut self, mean: f64) -> u64 {
        if mean > 50.0 {
            return (mean + mean.sqrt() * self.normal()).round().max(0.0) as u64;
        }
        let (limit, mut product, mut count) = ((-mean).exp(), self.part(), 0);
        while product > limit {
            product *= self.part();
            count += 1;
        }
        count
    }
}

/// Noise of a service's days.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    /// Deviation of a window's host, common to all functions.
    pub host: f64,
    /// Deviation of a day's host, common to all functions.
    pub host_day: f64,
    /// Deviation of each kind of request in a window; a window keeps four fifths of the one before.
    pub mix: f64,
    /// Deviation of each function on a day.
    pub function_day: f64,
    /// Processors' seconds of profile in a second.
    pub busy: f64,
    /// Seconds of profile in each window.
    pub seconds: f64,
    /// True if requests are counted.
    pub has_requests: bool,
}

impl Default for Noise {
    fn default() -> Noise {
        Noise {
            host: 0.1,
            host_day: 0.02,
            mix: 0.15,
            function_day: 0.002,
            busy: 1.0,
            seconds: 60.0,
            has_requests: true,
        }
    }
}

struct Stack {
    frames: Vec<usize>,
    kind: usize,
    weight: f64,
}

/// Service with its state, day after day.
pub struct Service {
    random: Random,
    noise: Noise,
    names: Vec<Arc<str>>,
    stacks: Vec<Stack>,
    /// Mix of each kind of request.
    mix: [f64; KINDS],
    day: u64,
    pub release: String,
    /// Factors of functions' own costs.
    pub own: Vec<f64>,
    /// Factors of whole stacks that contain a function.
    pub calls: Vec<f64>,
    /// Factor of everything.
    pub host: f64,
}

impl Service {
    /// Functions have shares by Zipf's law: 16, 8, 5.3 % and so on of 300.
    pub fn new(seed: u64, noise: Noise) -> Service {
        Service::of(seed, noise, 300)
    }

    pub fn of(seed: u64, noise: Noise, count: usize) -> Service {
        let mut random = Random::new(seed);
        let mut names: Vec<Arc<str>> =
            (0..count).map(|n| format!("com.example.Part{}.work{n}", n % 40).into()).collect();
        let (run, handle) = (count, count + 1);
        names.extend(["java.lang.Thread.run", "com.example.Server.handle"].map(Arc::from));
        names.extend((0..KINDS).map(|kind| Arc::from(format!("com.example.Handler{kind}.serve"))));
        let all: f64 = (0..count).map(|n| 1.0 / (n as f64 + 1.0)).sum();
        let mut stacks = Vec::new();
        for leaf in 0..count {
            let paths = 1 + random.below(4);
            for _ in 0..paths {
                let kind = random.below(KINDS);
                let mut middle: Vec<usize> = (0..2 + random.below(8))
                    .map(|_| count / 3 + random.below(count * 2 / 3))
                    .filter(|f| *f != leaf)
                    .collect();
                // Callers have higher numbers than callees, so that there are no circles.
                middle.sort_unstable_by(|a, b| b.cmp(a));
                middle.dedup();
                let frames = [vec![run, handle, count + 2 + kind], middle, vec![leaf]].concat();
                stacks.push(Stack { frames, kind, weight: 1.0 / (leaf as f64 + 1.0) / all / paths as f64 });
            }
        }
        let functions = names.len();
        Service {
            random,
            noise,
            names,
            stacks,
            mix: [0.0; KINDS],
            day: 0,
            release: "v1".into(),
            own: vec![1.0; functions],
            calls: vec![1.0; functions],
            host: 1.0,
        }
    }

    pub fn name(&self, function: usize) -> &str {
        &self.names[function]
    }

    /// Part of a function in all cost, with its callees.
    pub fn total_share(&self, function: usize) -> f64 {
        self.stacks.iter().filter(|stack| stack.frames.contains(&function)).map(|stack| stack.weight).sum()
    }

    /// Number of different functions right below or further below one.
    pub fn callees(&self, function: usize) -> usize {
        let mut below: Vec<usize> = Vec::new();
        for stack in &self.stacks {
            if let Some(at) = stack.frames.iter().position(|f| *f == function) {
                below.extend(&stack.frames[at + 1..]);
            }
        }
        below.sort_unstable();
        below.dedup();
        below.len()
    }

    /// Returns the hours of the next day.
    pub fn next_day(&mut self) -> Vec<Slice> {
        self.next_hours(24, |_, _| {})
    }

    /// Returns hours from midnight on; `change` is called before each hour.
    pub fn next_hours(&mut self, hours: u64, change: impl Fn(&mut Service, u64)) -> Vec<Slice> {
        let host_day = (self.noise.host_day * self.random.normal()).exp();
        let drift: Vec<f64> =
            (0..self.names.len()).map(|_| (self.noise.function_day * self.random.normal()).exp()).collect();
        let mut slices = Vec::new();
        for hour in 0..hours {
            change(self, hour);
            slices.push(self.hour(hour, host_day, &drift));
        }
        self.day += 1;
        slices
    }

    fn hour(&mut self, hour: u64, host_day: f64, drift: &[f64]) -> Slice {
        let angle = hour as f64 / 24.0 * std::f64::consts::TAU;
        let (mut counts, mut requests) = (vec![0; self.stacks.len()], 0);
        for _ in 0..WINDOWS {
            let load = (1.0 - 0.5 * angle.cos()) * (1.0 + 0.1 * self.random.normal()).max(0.2);
            let host = (self.noise.host * self.random.normal()).exp() * host_day * self.host;
            let mut mix = [0.0; KINDS];
            for (kind, part) in mix.iter_mut().enumerate() {
                let kept = &mut self.mix[kind];
                *kept = 0.8 * *kept + 0.6 * self.noise.mix * self.random.normal();
                // Each kind has hours of its own.
                let hours = 0.2 * (angle + kind as f64).sin();
                *part = (*kept + hours).exp();
            }
            let samples = load * self.noise.busy * self.noise.seconds * 99.0;
            for (stack, count) in self.stacks.iter().zip(&mut counts) {
                let leaf = *stack.frames.last().unwrap();
                let calls: f64 = stack.frames.iter().map(|function| self.calls[*function]).product();
                let mean = samples * stack.weight * mix[stack.kind] * host * self.own[leaf] * calls * drift[leaf];
                *count += self.random.count(mean);
            }
            requests += self.random.count(load * 200.0 * self.noise.seconds);
        }
        let mut slice = Slice::default();
        slice.facts.service.name = "shop".into();
        slice.facts.service.release = self.release.clone();
        slice.facts.begin_ms = FIRST_DAY_MS + self.day * DAY_MS + hour * HOUR_MS;
        slice.facts.duration_ms = (WINDOWS as f64 * self.noise.seconds * 1000.0) as u64;
        slice.facts.requests = self.noise.has_requests.then_some(requests);
        slice.facts.periods = [(Measure::Cpu, PERIOD_NS)].into();
        let numbers: Vec<u32> = self
            .names
            .iter()
            .map(|name| slice.stacks.number(&Frame { name: name.clone(), file: "".into(), kind: FrameKind::Compiled }))
            .collect();
        for (stack, count) in self.stacks.iter().zip(counts) {
            let frames = stack.frames.iter().map(|function| numbers[*function]).collect();
            slice.stacks.add_numbers(frames, [count * PERIOD_NS, 0, 0, 0]);
        }
        slice
    }
}
