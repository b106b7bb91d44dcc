//! Tests of all functions: own cost and cost with callees, by request, without the day's common factor.
//!
//! Costs are parts of the service's usual cost, so a function that is new needs no logarithm. The noise of a day is
//! the noise of sampling and a deviation between days. Its scale is measured for each function between days, and
//! begins with the scale of all functions.

use std::collections::HashMap;

use yunti_record::statistics::discovery::q_values;
use yunti_record::statistics::distribution::student_tail;
use yunti_record::statistics::median::{chi_squared_median, median};

use super::day::Day;
use super::factor::{Common, common};
use super::starts;

/// Share of false findings among findings.
pub const Q_MAX: f64 = 0.005;
/// Growth of a function that counts: of its own cost, and of all processor time.
pub const OWN_MIN: f64 = 0.05;
pub const SHARE_MIN: f64 = 0.005;
/// Samples of a growth at least. Fewer are frames that a compiler showed or hid after a start.
const SAMPLES_MIN: f64 = 12.0;
/// Change of a function that is no change.
const NULL: f64 = 0.01;
/// Deviation of a function between days by belief.
const DEVIATION: f64 = 0.01;
/// The same where nothing takes off the factor of the host.
const DEVIATION_OF_ALL: f64 = 0.025;
/// Days that the belief in the scale is worth.
const BELIEF_DAYS: f64 = 5.0;
/// Largest weight of a day's distance: odd days count less.
const HUBER: f64 = 2.5;

/// Cost of a function that a test compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Own,
    Total,
}

/// Change of one cost of a function.
#[derive(Clone, Debug)]
pub struct Change {
    pub name: String,
    /// Place of the function in the tests.
    pub place: usize,
    pub part: Part,
    /// Milliseconds a request, the common factor taken off.
    pub before_ms: f64,
    pub now_ms: f64,
    pub error_ms: f64,
    /// Change as a part of the service's processor time.
    pub share: f64,
    /// Probability of a change this large by chance, in its direction, and the share of false findings up to it.
    pub probability: f64,
    pub q: f64,
}

/// Costs of all functions on all days, as parts of the service's usual cost.
pub struct Functions {
    pub names: Vec<String>,
    /// Dominant caller by place, as of today, or of the last day that had the function.
    pub callers: Vec<Option<usize>>,
    own: Vec<Vec<f64>>,
    total: Vec<Vec<f64>>,
    /// Cost of the service and samples by day.
    wholes: Vec<f64>,
    samples: Vec<f64>,
    /// Process of each day.
    processes: Vec<Option<usize>>,
    /// Deviation of a function between starts of the process, where today's process is new.
    start: f64,
    /// Usual cost of the service in milliseconds.
    pub usual_ms: f64,
    /// Factor of each day; the last one is today's.
    pub factors: Vec<Option<Common>>,
}

/// Mean, error of today around it, and today's value.
#[derive(Clone, Copy, Debug)]
pub struct Shift {
    pub mean: f64,
    pub now: f64,
    pub error: f64,
    pub degrees: f64,
}

impl Shift {
    pub fn difference(&self) -> f64 {
        self.now - self.mean
    }
}

impl Part {
    /// Returns the name in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Part::Own => "self",
            Part::Total => "total",
        }
    }
}

impl Functions {
    /// Returns the costs of days with a profile; `None` if today has none, or no day before. `start` is the deviation
    /// of the service's cost between starts of its process.
    pub fn of(days: &[&Day], today: &Day, start: f64) -> Option<Functions> {
        let mut with_profile: Vec<&Day> = days.iter().copied().filter(|day| !day.functions.is_empty()).collect();
        if with_profile.is_empty() || today.functions.is_empty() {
            return None;
        }
        with_profile.push(today);
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut names = Vec::new();
        for cost in with_profile.iter().flat_map(|day| &day.functions) {
            places.entry(&cost.name).or_insert_with(|| {
                names.push(cost.name.clone());
                names.len() - 1
            });
        }
        let count = with_profile.len();
        let zeros = vec![vec![0.0; count]; names.len()];
        let (mut own, mut total, mut callers) = (zeros.clone(), zeros, vec![None; names.len()]);
        let costs: Vec<f64> = with_profile.iter().map(|day| day.cpu_ms.unwrap_or(0.0)).collect();
        let usual_ms = median(&costs[..count - 1]);
        for (at, day) in with_profile.iter().enumerate() {
            for cost in &day.functions {
                let place = places[&*cost.name];
                own[place][at] += cost.own / usual_ms;
                total[place][at] += cost.total / usual_ms;
                callers[place] = cost.caller.map(|caller| places[&*day.functions[caller].name]);
            }
        }
        let samples: Vec<f64> = with_profile.iter().map(|day| day.samples).collect();
        let wholes = costs.iter().map(|cost| cost / usual_ms).collect();
        let processes = starts::numbers(&with_profile);
        let is_new = processes[count - 1].is_some_and(|today| !processes[..count - 1].contains(&Some(today)));
        let start = if is_new { start } else { 0.0 };
        let factors = Vec::new();
        let mut functions =
            Functions { names, callers, own, total, wholes, samples, processes, start, usual_ms, factors };
        functions.take_factors();
        Some(functions)
    }

    /// Takes the common factor of each day off its costs.
    fn take_factors(&mut self) {
        let count = self.samples.len();
        let weights = &self.samples[..count - 1];
        let usual: Vec<f64> = self.own.iter().map(|costs| weighted_mean(costs, weights)).collect();
        for at in 0..count {
            let costs: Vec<f64> = self.own.iter().map(|costs| costs[at]).collect();
            self.factors.push(common(&usual, &costs, self.samples[at]));
        }
        if self.factors.iter().any(Option::is_none) {
            self.factors.fill(None);
            return;
        }
        for costs in self.own.iter_mut().chain(&mut self.total) {
            for (cost, factor) in costs.iter_mut().zip(self.factors.iter().flatten()) {
                *cost /= factor.factor;
            }
        }
    }

    /// Returns the logarithm of each day's cost beyond its common factor, with the variance of its error; today last.
    pub fn beyond(&self) -> Option<Vec<(f64, f64)>> {
        let one = |at: usize| {
            let factor = self.factors[at]?;
            Some(((self.wholes[at] / factor.factor).ln(), factor.variance)).filter(|(value, _)| value.is_finite())
        };
        (0..self.samples.len()).map(one).collect()
    }

    /// Returns the function whose own cost grew most, the common factor included, sure or not.
    pub fn largest_growth(&self) -> Option<Change> {
        let factor = self.factors[self.days()].map_or(1.0, |common| common.factor);
        let scale = self.scale();
        let grown = |place: usize| {
            let shift = self.shift(place, Part::Own, scale);
            let shift = Shift { now: shift.now * factor, ..shift };
            self.change(place, Part::Own, &shift, 1.0, 1.0)
        };
        (0..self.names.len()).map(grown).max_by(|a, b| a.share.total_cmp(&b.share))
    }

    /// Returns today's common factor as a change against the median of the days before.
    pub fn common_change(&self) -> Option<f64> {
        let factors: Vec<f64> = self.factors.iter().map(|factor| Some((*factor)?.factor)).collect::<Option<_>>()?;
        let (today, days) = factors.split_last()?;
        Some(today / median(days) - 1.0)
    }

    /// Returns the number of each day's process; today last.
    pub fn processes(&self) -> &[Option<usize>] {
        &self.processes
    }

    /// Returns the number of days before today.
    pub fn days(&self) -> usize {
        self.samples.len() - 1
    }

    /// Returns today's number of samples.
    pub fn samples_today(&self) -> f64 {
        self.samples[self.samples.len() - 1]
    }

    fn costs(&self, place: usize, part: Part) -> &[f64] {
        if part == Part::Own { &self.own[place] } else { &self.total[place] }
    }

    /// Returns the shift of a function's cost, with the scale of the noise that all functions have.
    pub fn shift(&self, place: usize, part: Part, scale: f64) -> Shift {
        self.shift_of(self.costs(place, part), scale)
    }

    /// Returns the shift of the own costs of several functions together.
    pub fn shift_of_sum(&self, places: &[usize], scale: f64) -> Shift {
        let sum = |at: usize| places.iter().map(|place| self.own[*place][at]).sum();
        self.shift_of(&(0..self.samples.len()).map(sum).collect::<Vec<f64>>(), scale)
    }

    fn shift_of(&self, costs: &[f64], scale: f64) -> Shift {
        let (days, mean) = (self.days(), self.mean(costs));
        let squares: f64 = self.distances(costs, mean).map(|z| z.abs().min(HUBER).powi(2)).sum();
        let degrees = BELIEF_DAYS + days as f64 - 1.0;
        let scale = ((BELIEF_DAYS * scale + squares) / degrees).max(scale * 0.5);
        let information: f64 = (0..days).map(|at| 1.0 / self.variance(mean, at)).sum();
        let factor = self.factors[days].map_or(0.0, |factor| factor.variance * mean * mean);
        let start = (self.start * mean).powi(2);
        let variance = scale * (self.variance(mean, days) + 1.0 / information) + factor + start;
        Shift { mean, now: costs[days], error: variance.sqrt(), degrees }
    }

    /// Returns the scale of the noise of a typical function: 1 if days differ as believed.
    pub fn scale(&self) -> f64 {
        let days = self.days();
        if days < 3 {
            return 1.0;
        }
        let degrees = days as f64 - 1.0;
        let scales: Vec<f64> = (0..self.names.len())
            .map(|place| (&self.own[place], self.mean(&self.own[place])))
            .filter(|(_, mean)| *mean >= SHARE_MIN)
            .map(|(costs, mean)| self.distances(costs, mean).map(|z| z * z).sum::<f64>() / degrees)
            .collect();
        (median(&scales) / chi_squared_median(degrees)).max(1.0)
    }

    fn mean(&self, costs: &[f64]) -> f64 {
        let days = self.days();
        let center = weighted_mean(&costs[..days], &self.samples[..days]);
        let weights: Vec<f64> = (0..days)
            .map(|at| {
                let z = (costs[at] - center).abs() / self.variance(center, at).sqrt();
                self.samples[at] * if z > HUBER { HUBER / z } else { 1.0 }
            })
            .collect();
        weighted_mean(&costs[..days], &weights)
    }

    fn distances<'a>(&'a self, costs: &'a [f64], mean: f64) -> impl Iterator<Item = f64> + 'a {
        (0..self.days()).map(move |at| (costs[at] - mean) / self.variance(mean, at).sqrt())
    }

    /// Variance of a cost on a day: samples are counts, and days differ.
    fn variance(&self, mean: f64, at: usize) -> f64 {
        let samples = self.samples[at].max(1.0);
        let deviation = if self.factors[at].is_some() { DEVIATION } else { DEVIATION_OF_ALL };
        (mean + 1.0 / samples) / samples + (deviation * mean).powi(2)
    }

    /// Tests all functions that have a part of the service's cost. Returns growths and falls that are sure and large.
    pub fn changes(&self) -> (Vec<Change>, Vec<Change>) {
        let scale = self.scale();
        let parts = [Part::Own, Part::Total];
        let all = (0..self.names.len()).flat_map(|place| parts.map(|part| (place, part)));
        let tested: Vec<(usize, Part, Shift)> = all
            .map(|(place, part)| (place, part, self.shift(place, part, scale)))
            .filter(|(_, _, shift)| shift.mean.max(shift.now) >= SHARE_MIN)
            .collect();
        let least = SHARE_MIN.max(SAMPLES_MIN / self.samples_today().max(1.0));
        let one_way = |sign: f64| {
            let p_values: Vec<f64> = tested
                .iter()
                .map(|(_, _, shift)| {
                    let distance = sign * shift.difference() - NULL * shift.mean;
                    student_tail(distance / shift.error, shift.degrees)
                })
                .collect();
            let q_values = q_values(&p_values);
            let found = tested.iter().zip(p_values.iter().zip(q_values)).filter(|((_, _, shift), (_, q))| {
                let size = sign * shift.difference();
                *q <= Q_MAX && size >= OWN_MIN * shift.mean && size >= least
            });
            found.map(|((place, part, shift), (p, q))| self.change(*place, *part, shift, *p, q)).collect()
        };
        (one_way(1.0), one_way(-1.0))
    }

    fn change(&self, place: usize, part: Part, shift: &Shift, probability: f64, q: f64) -> Change {
        Change {
            name: self.names[place].clone(),
            place,
            part,
            before_ms: shift.mean * self.usual_ms,
            now_ms: shift.now * self.usual_ms,
            error_ms: shift.error * self.usual_ms,
            share: shift.difference(),
            probability,
            q,
        }
    }
}

fn weighted_mean(values: &[f64], weights: &[f64]) -> f64 {
    let whole: f64 = weights.iter().sum();
    let sum: f64 = values.iter().zip(weights).map(|(value, weight)| value * weight).sum();
    if whole > 0.0 { sum / whole } else { 0.0 }
}
