//! Forecast: what a figure should be today by its history, and how sure that is.
//!
//! A linear model of the logarithm: level + slope x load + slope x speed of the host + weekday + process, with weak
//! beliefs about each (ridge), Huber's weights against odd days, and a scale of the noise that begins with a belief and
//! moves to what days show. With few days the answer is wide; it never claims more than Student's t allows.

use yunti_record::statistics::distribution::student_tail;
use yunti_record::statistics::linear::Factored;

/// Terms: level, load, host, seven weekdays; a term for each process follows.
const TERMS: usize = 10;
/// Deviation of the level: any.
const LEVEL: f64 = 100.0;
const ROUNDS: usize = 8;
/// Deviations of a residual from which on its weight falls.
const HUBER: f64 = 2.0;

/// Day's value and conditions. Absent conditions have no effect.
#[derive(Clone, Copy, Debug, Default)]
pub struct Point {
    /// Logarithm of the figure.
    pub value: f64,
    /// Variance that this day has by belief: days differ, windows and samples are noisy.
    pub variance: f64,
    /// Logarithm of the rate of requests.
    pub rate: Option<f64>,
    /// Logarithm of the calibration time.
    pub calibration: Option<f64>,
    pub weekday: Option<usize>,
    /// Number of the process that served the day.
    pub process: Option<usize>,
}

/// Beliefs before any day is seen.
#[derive(Clone, Copy, Debug)]
pub struct Belief {
    /// Deviation of the slope over the logarithm of the load.
    pub rate: f64,
    /// Slope over the calibration time, and its deviation.
    pub calibration: (f64, f64),
    /// Deviation of a weekday.
    pub weekday: f64,
    /// Deviation between processes of equal code.
    pub start: f64,
    /// Number of days that the belief in the scale of the noise is worth.
    pub days: f64,
}

/// Forecast of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    pub mean: f64,
    /// Standard error of a new day around the mean.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub degrees: f64,
}

impl Forecast {
    /// Returns the probability of a value this high, or higher, if nothing changed.
    pub fn above(&self, value: f64) -> f64 {
        student_tail((value - self.mean) / self.error, self.degrees)
    }

    /// Returns the probability of a value this low, or lower, if nothing changed.
    pub fn below(&self, value: f64) -> f64 {
        student_tail((self.mean - value) / self.error, self.degrees)
    }

    /// Returns the change that a test at probability `alpha` finds in 19 of 20 cases.
    pub fn detectable(&self, alpha: f64) -> f64 {
        (self.quantile(alpha) + self.quantile(0.05)) * self.error
    }

    fn quantile(&self, p: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1e4);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if student_tail(middle, self.degrees) > p { low = middle } else { high = middle }
        }
        high
    }
}

/// Returns the forecast for the conditions of `today`; `None` without days. The value of `today` is not used.
pub fn forecast(days: &[Point], today: &Point, belief: &Belief) -> Option<Forecast> {
    if days.is_empty() {
        return None;
    }
    let fit = Fit::of(days, today.process, belief);
    let row = fit.row(today);
    let mean = dot(&row, &fit.fitted) + belief.calibration.0 * fit.host(today);
    let variance = fit.scale * today.variance + dot(&row, &fit.factored.solve(&row));
    Some(Forecast { mean, error: variance.sqrt(), degrees: fit.degrees })
}

/// Returns what each process costs beyond what load, host and weekdays explain, and the variance that the noise of its
/// days leaves. The belief in the deviation of starts must be wide.
pub fn process_effects(days: &[Point], belief: &Belief) -> Vec<(f64, f64)> {
    let fit = Fit::of(days, None, belief);
    let noise = |process: usize| {
        let of_it = days.iter().filter(|day| day.process == Some(process));
        fit.scale / of_it.map(|day| 1.0 / day.variance).sum::<f64>()
    };
    fit.fitted[TERMS..].iter().enumerate().map(|(process, effect)| (*effect, noise(process))).collect()
}

/// Model that is fitted to days.
struct Fit<'a> {
    belief: &'a Belief,
    terms: usize,
    /// Means of the logarithms of load and calibration, which the terms count from.
    rate: f64,
    calibration: f64,
    fitted: Vec<f64>,
    factored: Factored,
    /// Variance of the noise as a multiple of the belief.
    scale: f64,
    degrees: f64,
}

impl Fit<'_> {
    fn of<'a>(days: &[Point], process: Option<usize>, belief: &'a Belief) -> Fit<'a> {
        let center = |condition: fn(&Point) -> Option<f64>| {
            let values: Vec<f64> = days.iter().filter_map(condition).collect();
            if values.is_empty() { f64::NAN } else { values.iter().sum::<f64>() / values.len() as f64 }
        };
        let processes = days.iter().map(|day| day.process).chain([process]).flatten();
        let terms = TERMS + processes.max().map_or(0, |last| last + 1);
        let mut fit = Fit {
            belief,
            terms,
            rate: center(|p| p.rate),
            calibration: center(|p| p.calibration),
            fitted: Vec::new(),
            factored: Factored::of(&[], 0),
            scale: 1.0,
            degrees: belief.days,
        };
        let rows: Vec<Vec<f64>> = days.iter().map(|day| fit.row(day)).collect();
        // The belief about the host's slope is not zero, so its part is taken off first.
        let values: Vec<f64> = days.iter().map(|day| day.value - belief.calibration.0 * fit.host(day)).collect();
        let mut weights = vec![1.0; days.len()];
        for _ in 0..ROUNDS {
            fit.improve(days, &rows, &values, &mut weights);
        }
        fit
    }

    fn improve(&mut self, days: &[Point], rows: &[Vec<f64>], values: &[f64], weights: &mut [f64]) {
        let terms = self.terms;
        let (mut matrix, mut right) = (vec![0.0; terms * terms], vec![0.0; terms]);
        for ((row, value), (weight, day)) in rows.iter().zip(values).zip(weights.iter().zip(days)) {
            let weight = weight / (self.scale * day.variance);
            for i in (0..terms).filter(|i| row[*i] != 0.0) {
                right[i] += weight * row[i] * value;
                (0..terms).for_each(|j| matrix[i * terms + j] += weight * row[i] * row[j]);
            }
        }
        for term in 0..terms {
            // A term that no belief allows stays at zero.
            matrix[term * terms + term] += self.deviation(term).max(1e-6).powi(-2);
        }
        self.factored = Factored::of(&matrix, terms);
        self.fitted = self.factored.solve(&right);
        let (mut squares, mut used) = (0.0, 0.0);
        for (((row, value), day), weight) in rows.iter().zip(values).zip(days).zip(weights) {
            let residual = value - dot(row, &self.fitted);
            let distance = residual.abs() / (self.scale * day.variance).sqrt();
            *weight = if distance > HUBER { HUBER / distance } else { 1.0 };
            squares += *weight * residual * residual / day.variance;
            used += *weight * dot(row, &self.factored.solve(row)) / (self.scale * day.variance);
        }
        self.degrees = (self.belief.days + days.len() as f64 - used).max(1.0);
        self.scale = ((self.belief.days + squares) / self.degrees).max(1e-3);
    }

    fn deviation(&self, term: usize) -> f64 {
        match term {
            0 => LEVEL,
            1 => self.belief.rate,
            2 => self.belief.calibration.1,
            3..TERMS => self.belief.weekday,
            _ => self.belief.start,
        }
    }

    fn row(&self, point: &Point) -> Vec<f64> {
        let mut row = vec![0.0; self.terms];
        (row[0], row[1], row[2]) = (1.0, from(point.rate, self.rate), self.host(point));
        if let Some(weekday) = point.weekday {
            row[3 + weekday % 7] = 1.0;
        }
        if let Some(process) = point.process {
            row[TERMS + process] = 1.0;
        }
        row
    }

    fn host(&self, point: &Point) -> f64 {
        from(point.calibration, self.calibration)
    }
}

/// Returns the distance of a condition from its mean; 0 if one of them is unknown.
fn from(value: Option<f64>, center: f64) -> f64 {
    value.map(|v| v - center).filter(|v| v.is_finite()).unwrap_or(0.0)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_record::statistics::random::Random;

    const BELIEF: Belief = Belief { rate: 0.1, calibration: (0.5, 0.5), weekday: 0.007, start: 0.01, days: 4.0 };

    /// Values of variance 1 that are normal enough.
    fn noise(random: &mut Random) -> f64 {
        (0..12).map(|_| random.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0
    }

    fn point(value: f64) -> Point {
        Point { value, variance: 0.01 * 0.01, ..Point::default() }
    }

    #[test]
    fn the_probability_is_honest() {
        for (count, deviation) in [(7, 0.01), (14, 0.02), (28, 0.005)] {
            let mut random = Random::new(count);
            let (mut early, mut rare) = (0, 0);
            let rounds = 4000;
            for _ in 0..rounds {
                let days: Vec<Point> = (0..count).map(|_| point(deviation * noise(&mut random))).collect();
                let p = forecast(&days, &point(0.0), &BELIEF).unwrap().above(deviation * noise(&mut random));
                early += usize::from(p < 0.05);
                rare += usize::from(p < 0.001);
            }
            let share = early as f64 / f64::from(rounds);
            assert!((0.005..0.085).contains(&share) && rare <= 24, "{count} days, {deviation}: {share} {rare}");
        }
    }

    #[test]
    fn conditions_explain_days() {
        let mut random = Random::new(3);
        let day = |at: usize, random: &mut Random| {
            let (rate, host) = ((at % 7) as f64 * 0.1, 0.02 * noise(random));
            let value = 1.0 - 0.1 * rate + host + 0.004 * noise(random);
            Point { rate: Some(rate), calibration: Some(host), weekday: Some(at % 7), ..point(value) }
        };
        let days: Vec<Point> = (0..28).map(|at| day(at, &mut random)).collect();
        let plain: Vec<Point> = days.iter().map(|day| point(day.value)).collect();
        let today = day(28, &mut random);
        let known = forecast(&days, &today, &BELIEF).unwrap();
        let unknown = forecast(&plain, &point(0.0), &BELIEF).unwrap();
        assert!(known.error < 0.5 * unknown.error, "{known:?} {unknown:?}");
        assert!((known.mean - today.value).abs() < 0.02, "{known:?} {}", today.value);
    }

    #[test]
    fn an_odd_day_moves_little() {
        let mut days: Vec<Point> = (0..14).map(|at| point(0.01 * f64::from(at % 3 - 1))).collect();
        days[6].value = 0.5;
        let found = forecast(&days, &point(0.0), &BELIEF).unwrap();
        assert!(found.mean.abs() < 0.02 && found.error < 0.08, "{found:?}");
        assert!(forecast(&[], &point(0.0), &BELIEF).is_none());
    }

    #[test]
    fn a_new_process_is_less_sure() {
        let day = |process: usize, value: f64| Point { process: Some(process), ..point(value) };
        let days: Vec<Point> = (0..14).map(|at| day(at / 7, 0.002 * f64::from(at as u8 % 3))).collect();
        let known = forecast(&days, &day(1, 0.0), &BELIEF).unwrap();
        let fresh = forecast(&days, &day(2, 0.0), &BELIEF).unwrap();
        assert!(fresh.error > 1.5 * known.error, "{known:?} {fresh:?}");
        // The days of a process move its own forecast.
        let moved: Vec<Point> =
            days.iter().map(|d| day(d.process.unwrap(), d.value + 0.02 * d.process.unwrap() as f64)).collect();
        let (old, new) =
            (forecast(&moved, &day(0, 0.0), &BELIEF).unwrap(), forecast(&moved, &day(1, 0.0), &BELIEF).unwrap());
        assert!(new.mean - old.mean > 0.012, "{old:?} {new:?}");
    }

    #[test]
    fn few_days_are_not_sure() {
        let one = forecast(&[point(0.0)], &point(0.0), &BELIEF).unwrap();
        assert!(one.above(0.03) > 0.01 && one.detectable(0.001) > 0.08, "{one:?}");
    }
}
