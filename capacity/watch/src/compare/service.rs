//! Rules of the service as a whole: processor time and bytes a request, 99th percentile, peak.

use serde::Serialize;

use super::day::Day;
use super::forecast::{Belief, Forecast, Point, forecast};
use super::functions::Functions;
use super::starts;

/// Days before without which nothing is said.
pub const DAYS_MIN: usize = 3;
/// Last days that show how starts of the process differ.
const STARTS_SEARCHED: usize = 60;

/// Figure of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    CpuPerRequest,
    BytesPerRequest,
    P99,
    Peak,
}

/// Result of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Same,
    Worse,
    Better,
    /// Too few days, or a figure that is not measured.
    Unknown,
}

impl Verdict {
    /// Returns the name in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Same => "same",
            Verdict::Worse => "worse",
            Verdict::Better => "better",
            Verdict::Unknown => "unknown",
        }
    }
}

/// Rule with its result. Numbers are absent without a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Rule {
    pub figure: Figure,
    pub verdict: Verdict,
    pub now: Option<f64>,
    /// Value that the history makes likely under today's load and host.
    pub expected: Option<f64>,
    /// Change against the expected value: 0.05 is 5 % more.
    pub change: Option<f64>,
    /// Standard error of the change.
    pub error: Option<f64>,
    /// Probability of a change this large by chance.
    pub probability: Option<f64>,
    /// Change that would be found in 19 of 20 cases.
    pub detectable: Option<f64>,
    /// Change beyond what all functions share, if there is a profile.
    pub beyond_common: Option<f64>,
    /// Days that it is compared with.
    pub days: usize,
}

/// Settings of a rule.
struct Terms {
    /// Deviation between days by belief.
    deviation: f64,
    /// Change that counts.
    least: f64,
    /// Probability of a false alarm.
    alpha: f64,
    belief: Belief,
    /// 1 if more is worse, -1 if less is worse.
    worse: f64,
}

impl Figure {
    pub const ALL: [Figure; 4] = [Figure::CpuPerRequest, Figure::BytesPerRequest, Figure::P99, Figure::Peak];

    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Figure::CpuPerRequest => "cpu_per_request",
            Figure::BytesPerRequest => "bytes_per_request",
            Figure::P99 => "p99",
            Figure::Peak => "peak",
        }
    }

    /// Returns the name for readers.
    pub fn title(self) -> &'static str {
        match self {
            Figure::CpuPerRequest => "processor time a request",
            Figure::BytesPerRequest => "bytes a request",
            Figure::P99 => "99th percentile",
            Figure::Peak => "peak requests a second",
        }
    }

    /// Returns the value of a day.
    pub fn of(self, day: &Day) -> Option<f64> {
        match self {
            Figure::CpuPerRequest => day.cpu_ms,
            Figure::BytesPerRequest => day.bytes,
            Figure::P99 => day.p99_ms,
            Figure::Peak => day.peak,
        }
    }

    /// Returns the deviation between starts of the process, as far as earlier days show it.
    pub fn start_deviation(self, days: &[&Day]) -> f64 {
        let known: Vec<&Day> = days.iter().copied().filter(|day| self.of(day).is_some()).collect();
        let known = &known[known.len().saturating_sub(STARTS_SEARCHED)..];
        let terms = self.terms();
        let labels: Vec<&str> = known.iter().map(|day| &*day.label).collect();
        starts::deviation(&points(self, known, &terms), &labels, &terms.belief)
    }

    fn terms(self) -> Terms {
        let belief = |deviation: f64, rate: f64, calibration: (f64, f64), start: f64| Belief {
            rate,
            calibration,
            weekday: 0.7 * deviation,
            start,
            days: 3.0,
        };
        let (deviation, start, least, alpha, worse) = match self {
            Figure::CpuPerRequest => (0.010, 0.005, 0.03, 0.005, 1.0),
            Figure::BytesPerRequest => (0.005, 0.002, 0.03, 0.0003, 1.0),
            Figure::P99 => (0.10, 0.0, 0.15, 0.0003, 1.0),
            Figure::Peak => (0.02, 0.005, 0.05, 0.0003, -1.0),
        };
        let belief = match self {
            Figure::CpuPerRequest => belief(deviation, 0.1, (1.0, 0.4), start),
            Figure::BytesPerRequest => belief(deviation, 0.05, (0.0, 0.0), start),
            Figure::P99 => belief(deviation, 0.5, (0.5, 0.5), start),
            Figure::Peak => belief(deviation, 0.0, (-1.0, 0.4), start),
        };
        Terms { deviation, least, alpha, belief, worse }
    }
}

/// Days of a comparison.
pub struct Compared<'a> {
    /// All earlier days that are searched.
    pub searched: &'a [&'a Day],
    /// Days to compare with.
    pub days: &'a [&'a Day],
    pub today: &'a Day,
    /// Days without which nothing is said.
    pub days_min: usize,
}

/// Applies a rule to today and the days before.
pub fn rule(figure: Figure, compared: &Compared, functions: Option<&Functions>) -> Rule {
    let Compared { searched, days, today, days_min } = *compared;
    let known: Vec<&Day> = days.iter().copied().filter(|day| figure.of(day).is_some()).collect();
    let mut rule = Rule {
        figure,
        verdict: Verdict::Unknown,
        now: figure.of(today),
        expected: None,
        change: None,
        error: None,
        probability: None,
        detectable: None,
        beyond_common: None,
        days: known.len(),
    };
    let Some(now) = rule.now.filter(|_| known.len() >= days_min) else { return rule };
    let mut terms = figure.terms();
    terms.belief.start = figure.start_deviation(searched);
    let with_today: Vec<&Day> = known.iter().copied().chain([today]).collect();
    let mut points = points(figure, &with_today, &terms);
    let Some(level) = points.pop().and_then(|now| forecast(&points, &now, &terms.belief)) else { return rule };
    let change = now.ln() - level.mean;
    rule.expected = Some(level.mean.exp());
    rule.change = Some(change.exp_m1());
    rule.error = Some(level.error);
    rule.detectable = Some(level.detectable(terms.alpha).exp_m1());
    let mut decide = Decision { terms: &terms, probability: 1.0, verdict: Verdict::Same };
    decide.test(&level, now.ln());
    if let (Figure::CpuPerRequest, Some(functions)) = (figure, functions)
        && let Some((beyond, forecast)) = beyond_common(functions, &terms)
    {
        rule.beyond_common = Some((beyond - forecast.mean).exp_m1());
        rule.detectable = rule.detectable.map(|least| least.min(forecast.detectable(terms.alpha).exp_m1()));
        decide.test(&forecast, beyond);
    }
    rule.probability = Some(decide.probability);
    rule.verdict = decide.verdict;
    rule
}

/// Verdict of several tests: the surest one decides, and worse comes before better.
struct Decision<'a> {
    terms: &'a Terms,
    probability: f64,
    verdict: Verdict,
}

impl Decision<'_> {
    fn test(&mut self, forecast: &Forecast, value: f64) {
        let (above, below) = (forecast.above(value), forecast.below(value));
        let probability = above.min(below);
        self.probability = self.probability.min(probability);
        let size = (value - forecast.mean) * self.terms.worse;
        if probability > self.terms.alpha || size.abs() < self.terms.least.ln_1p() {
            return;
        }
        if size > 0.0 {
            self.verdict = Verdict::Worse;
        } else if self.verdict != Verdict::Worse {
            self.verdict = Verdict::Better;
        }
    }
}

fn points(figure: Figure, days: &[&Day], terms: &Terms) -> Vec<Point> {
    let numbers = starts::numbers(days);
    days.iter().zip(numbers).map(|(day, process)| Point { process, ..point(figure, day, terms) }).collect()
}

fn point(figure: Figure, day: &Day, terms: &Terms) -> Point {
    let within = match figure {
        Figure::CpuPerRequest => day.cpu_error,
        Figure::BytesPerRequest => day.bytes_error,
        Figure::P99 | Figure::Peak => 0.0,
    };
    Point {
        value: figure.of(day).map_or(0.0, f64::ln),
        variance: terms.deviation * terms.deviation + within * within,
        rate: day.rate.map(f64::ln),
        calibration: day.calibration_ms.map(f64::ln),
        weekday: Some(day.weekday),
        process: None,
    }
}

/// Returns today's cost beyond the factor that all functions share, and its forecast.
fn beyond_common(functions: &Functions, terms: &Terms) -> Option<(f64, Forecast)> {
    let beyond = functions.beyond()?;
    let points: Vec<Point> = beyond
        .iter()
        .zip(functions.processes())
        .map(|((value, variance), process)| Point {
            value: *value,
            variance: (terms.deviation * 0.5).powi(2) + variance,
            process: *process,
            ..Point::default()
        })
        .collect();
    let (today, days) = points.split_last()?;
    let belief = Belief { rate: 0.0, calibration: (0.0, 0.0), weekday: 0.0, days: 4.0, ..terms.belief };
    Some((today.value, forecast(days, today, &belief)?))
}
