//! Numbers of clients for which the curve is simulated: a coarse grid first, then closer around 95 % of the peak.

use yunti_base::{Error, Result};

use super::Hang;
use crate::formulas::Formulas;
use crate::simulate::Point;

/// Largest number of clients: a service that grows up to it has no limit that was seen.
const CLIENTS_MAX: u32 = 4096;
/// Number up to which a service with collections is followed, because it may fall.
const CLIENTS_WITH_COLLECTIONS: u32 = 100;
/// Growth from half the clients that counts as no growth.
const FLAT: f64 = 1.01;
/// Width of the interval around 95 % of the peak at which the search ends, as share of its place.
const CLOSE: f64 = 0.05;
const ROUNDS_MAX: usize = 6;

/// Simulated points by their number of clients.
pub struct Grid {
    pub points: Vec<Point>,
    pub hang: Option<Hang>,
    pub is_unbounded: bool,
}

/// Simulates a grid. An error says that not even a single client is served.
pub fn simulate(
    formulas: &Formulas,
    limit: Option<u32>,
    has_collections: bool,
    threads: usize,
    simulate: &dyn Fn(&[u32]) -> Vec<Result<Point>>,
) -> Result<Grid> {
    let threads = threads.max(1) as u32;
    let nominal = if formulas.threads.is_finite() { formulas.threads.ceil().min(f64::from(CLIENTS_MAX)) } else { 16.0 };
    let beyond = if has_collections { CLIENTS_WITH_COLLECTIONS } else { 8 };
    let limit = limit.unwrap_or(0).min(CLIENTS_MAX);
    let top = (4 * nominal as u32).max(beyond).max(limit).min(CLIENTS_MAX);
    let mut grid = Grid { points: Vec::new(), hang: None, is_unbounded: false };
    let mut wanted = coarse(top);
    if limit > 0 {
        wanted.push(limit);
    }
    grid.add(wanted, simulate)?;
    // Queues in front of one another need more clients than the formula says.
    while grid.is_growing() && grid.hang.is_none() {
        let last = grid.points.last().map_or(1, |point| point.clients);
        if last >= CLIENTS_MAX {
            grid.is_unbounded = true;
            break;
        }
        grid.add(vec![(last * 2).min(CLIENTS_MAX)], simulate)?;
    }
    for _ in 0..ROUNDS_MAX {
        let wanted = grid.closer(threads);
        if wanted.is_empty() {
            break;
        }
        grid.add(wanted, simulate)?;
    }
    Ok(grid)
}

/// Returns numbers from 1 to a top, close together at first.
fn coarse(top: u32) -> Vec<u32> {
    let mut numbers: Vec<u32> = vec![1, 2, 3, 4];
    let mut at = 6u32;
    while at < top {
        numbers.push(at);
        // 6, 8, 12, 16, 24, ..
        at = if at.is_power_of_two() { at / 2 * 3 } else { at / 3 * 4 };
    }
    numbers.retain(|number| *number < top);
    numbers.push(top);
    numbers
}

impl Grid {
    fn add(&mut self, mut clients: Vec<u32>, simulate: &dyn Fn(&[u32]) -> Vec<Result<Point>>) -> Result<()> {
        clients.sort_unstable();
        clients.dedup();
        clients.retain(|clients| self.points.iter().all(|point| point.clients != *clients));
        let mut failure: Option<(u32, Error)> = None;
        for (clients, result) in clients.iter().zip(simulate(&clients)) {
            match result {
                Ok(point) => self.points.push(point),
                Err(error) if failure.is_none() => failure = Some((*clients, error)),
                Err(_) => {}
            }
        }
        self.points.sort_by_key(|point| point.clients);
        if let Some((clients, error)) = failure {
            if clients == 1 || self.points.is_empty() {
                return Err(error);
            }
            if self.hang.as_ref().is_none_or(|hang| hang.clients > clients) {
                self.hang = Some(Hang { clients, what: error.what().to_string() });
            }
        }
        // Chance decides at which number requests meet; from the least on, they can.
        if let Some(hang) = &self.hang {
            self.points.retain(|point| point.clients < hang.clients);
        }
        Ok(())
    }

    fn is_growing(&self) -> bool {
        let Some(last) = self.points.last() else { return false };
        let half = self.points.iter().rfind(|point| point.clients * 2 <= last.clients);
        let most = self.points.iter().map(|point| point.per_second).fold(0.0, f64::max);
        last.per_second >= most && half.is_none_or(|half| last.per_second > half.per_second * FLAT)
    }

    /// Returns numbers between the two points around 95 % of the peak, as many as there are threads.
    fn closer(&self, threads: u32) -> Vec<u32> {
        let most = self.points.iter().map(|point| point.per_second).fold(0.0, f64::max);
        let Some(above) = self.points.iter().position(|point| point.per_second >= 0.95 * most) else { return vec![] };
        if above == 0 {
            return vec![];
        }
        let (low, high) = (self.points[above - 1].clients, self.points[above].clients);
        let width = high - low;
        if width <= 1 || f64::from(width) <= CLOSE * f64::from(high) {
            return vec![];
        }
        let parts = (threads + 1).min(width);
        (1..parts).map(|part| low + width * part / parts).filter(|n| *n > low && *n < high).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coarse_grid_is_close_at_first() {
        assert_eq!(coarse(40), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40]);
        assert_eq!((coarse(1), coarse(4)), (vec![1], vec![1, 2, 3, 4]));
    }
}
