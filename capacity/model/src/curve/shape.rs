//! Shape of a curve: smoothed rates, and what can be read from them.

use super::Estimate;
use crate::simulate::Point;

/// Share of the peak that counts as reached.
const REACHED: f64 = 0.95;
/// Shares that give the range of threads.
const RANGE: (f64, f64) = (0.92, 0.98);
/// Share of the peak at which more clients bring nothing any more.
const FULL: f64 = 0.995;

/// Rates by clients without the noise of the simulation.
pub struct Shape {
    /// Rate of each point: up to the peak, never falling.
    pub rates: Vec<f64>,
    pub peak: f64,
}

impl Shape {
    /// Returns the shape of simulated points. `most`: requests a second that no number of clients exceeds for long.
    pub fn of(points: &[Point], most: f64) -> Shape {
        let mut rates: Vec<f64> = points.iter().map(|point| point.per_second.min(most)).collect();
        let top = (0..rates.len()).max_by(|a, b| rates[*a].total_cmp(&rates[*b])).unwrap_or(0);
        // Points at the top are equal but for noise, whose largest value would be too high a peak.
        let flat: Vec<f64> = rates.iter().copied().filter(|rate| *rate >= FULL * rates[top]).collect();
        let peak = flat.iter().sum::<f64>() / flat.len().max(1) as f64;
        let top = rates.iter().position(|rate| *rate >= FULL * rates[top]).unwrap_or(0);
        rising(&mut rates[..=top]);
        rates.iter_mut().for_each(|rate| *rate = rate.min(peak));
        Shape { rates, peak }
    }

    /// Returns the place of the first point at the peak.
    pub fn peak_at(&self, points: &[Point]) -> usize {
        self.peak_within(points, u32::MAX)
    }

    /// Returns the place of the first point with the most requests a second for at most this many clients.
    pub fn peak_within(&self, points: &[Point], limit: u32) -> usize {
        let count = points.iter().take_while(|point| point.clients <= limit).count().max(1);
        let most = self.rates[..count].iter().copied().fold(0.0, f64::max);
        self.rates[..count].iter().position(|rate| *rate >= FULL * most).unwrap_or(0)
    }

    /// Returns the least number of clients with 95 % of the peak.
    pub fn threads(&self, points: &[Point]) -> Estimate {
        let at = |share: f64| self.reaches(points, share * self.peak);
        Estimate { value: at(REACHED).ceil(), low: at(RANGE.0).floor().max(1.0), high: at(RANGE.1).ceil() }
    }

    /// Returns the number of clients, between two points, at which the curve reaches a rate.
    fn reaches(&self, points: &[Point], rate: f64) -> f64 {
        let Some(above) = self.rates.iter().position(|at| *at >= rate) else {
            return points.last().map_or(1.0, |point| f64::from(point.clients));
        };
        let clients = f64::from(points[above].clients);
        if above == 0 {
            return clients;
        }
        let (below, from) = (self.rates[above - 1], f64::from(points[above - 1].clients));
        from + (clients - from) * (rate - below) / (self.rates[above] - below)
    }

    /// Returns the rate at a number of clients, if it is one of the points.
    pub fn rate_at(&self, points: &[Point], clients: u32) -> Option<f64> {
        points.iter().position(|point| point.clients == clients).map(|at| self.rates[at])
    }

    /// Returns the number of clients with the best ratio of rate to response time.
    pub fn knee(&self, points: &[Point]) -> u32 {
        let power = |at: &usize| self.rates[*at].powi(2) / f64::from(points[*at].clients);
        let best = (0..points.len()).max_by(|a, b| power(a).total_cmp(&power(b)));
        best.map_or(1, |at| points[at].clients)
    }

    /// Returns the least number of clients beyond the peak at which the rate is clearly below it.
    pub fn falls_at(&self, points: &[Point]) -> Option<u32> {
        let top = self.peak_at(points);
        let is_low = |at: &usize| self.rates[*at] + 2.0 * points[*at].per_second_se < REACHED * self.peak;
        (top..points.len()).find(is_low).map(|at| points[at].clients)
    }
}

/// Replaces falling neighbours by their mean until no rate is below the one before it.
fn rising(rates: &mut [f64]) {
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for rate in rates.iter() {
        blocks.push((*rate, 1));
        while let [.., (before, n), (last, m)] = blocks[..]
            && before > last
        {
            blocks.pop();
            blocks.pop();
            blocks.push(((before * n as f64 + last * m as f64) / (n + m) as f64, n + m));
        }
    }
    let smooth = blocks.iter().flat_map(|(rate, count)| std::iter::repeat_n(*rate, *count));
    rates.iter_mut().zip(smooth).for_each(|(rate, by)| *rate = by);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(rates: &[(u32, f64)]) -> Vec<Point> {
        rates.iter().map(|(clients, rate)| Point { clients: *clients, per_second: *rate, ..Point::default() }).collect()
    }

    #[test]
    fn noise_is_smoothed_up_to_the_peak() {
        let mut rates = [1.0, 3.0, 2.0, 4.0];
        rising(&mut rates);
        assert_eq!(rates, [1.0, 2.5, 2.5, 4.0]);
    }

    #[test]
    fn reads_threads_knee_and_fall() {
        let points = points(&[(1, 10.0), (5, 50.0), (10, 90.0), (12, 100.0), (16, 100.2), (24, 99.8), (50, 80.0)]);
        let shape = Shape::of(&points, f64::INFINITY);
        assert_eq!(shape.peak, 100.0);
        assert_eq!(shape.threads(&points), Estimate { value: 11.0, low: 10.0, high: 12.0 });
        assert_eq!((shape.falls_at(&points), points[shape.peak_at(&points)].clients), (Some(50), 12));
        assert_eq!(shape.knee(&points), 12);
        assert_eq!((shape.peak_within(&points, 5), shape.rate_at(&points, 50)), (1, Some(80.0)));
        let flat = self::points(&[(1, 10.0)]);
        assert_eq!(Shape::of(&flat, f64::INFINITY).threads(&flat).value, 1.0);
    }
}
