//! Starts: days that one process served belong together, and two starts of equal code differ.
//!
//! A JIT compiler decides anew after each start what it inlines, and memory lies elsewhere. So the days of one process
//! agree to some tenths of a percent, while the next process may cost some percent more for good. A forecast that sees
//! the days of one process alone would call the first restart a regression.

use yunti_record::statistics::median::median;

use super::day::Day;
use super::forecast::{Belief, Point, process_effects};

/// Pairs of starts that the belief in their deviation is worth.
const BELIEF_PAIRS: f64 = 3.0;
/// Deviation of starts that explains each process by itself.
const WIDE: f64 = 0.05;
/// Factor from the median of absolute differences of two to the variance of one: 1.4826^2 / 2.
const MEDIAN_TO_VARIANCE: f64 = 1.0991;

/// Returns a number for each day that is equal for days of one process; `None` for unknown processes.
pub fn numbers(days: &[&Day]) -> Vec<Option<usize>> {
    let mut processes: Vec<&Day> = Vec::new();
    days.iter()
        .map(|day| {
            day.process?;
            Some(processes.iter().position(|known| known.is_of_process(day)).unwrap_or_else(|| {
                processes.push(day);
                processes.len() - 1
            }))
        })
        .collect()
}

/// Returns the deviation of a figure between starts of one release, relative. It begins with a belief, and moves to
/// what consecutive processes show beyond load, host and weekdays. Only equal labels count: releases differ for a
/// reason.
pub fn deviation(days: &[Point], labels: &[&str], belief: &Belief) -> f64 {
    let effects = process_effects(days, &Belief { start: WIDE, ..*belief });
    let processes = days.iter().zip(labels).filter_map(|(day, label)| Some((day.process?, *label)));
    let mut consecutive: Vec<(usize, &str)> = processes.collect();
    consecutive.dedup_by_key(|(process, _)| *process);
    let pairs = consecutive.windows(2).filter(|pair| pair[0].1 == pair[1].1);
    let pairs: Vec<[(f64, f64); 2]> = pairs.map(|pair| [effects[pair[0].0], effects[pair[1].0]]).collect();
    let count = pairs.len() as f64;
    let distances: Vec<f64> = pairs.iter().map(|[a, b]| (a.0 - b.0).abs()).collect();
    let noise = pairs.iter().map(|[a, b]| (a.1 + b.1) / 2.0).sum::<f64>() / count.max(1.0);
    // A few true changes among the pairs do not move the median.
    let shown = (median(&distances).powi(2) * MEDIAN_TO_VARIANCE - noise).max(0.0);
    ((BELIEF_PAIRS * belief.start * belief.start + count * shown) / (BELIEF_PAIRS + count)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(costs: &[(u32, &str, f64)]) -> Vec<Day> {
        let day = |(at, (pid, label, cost)): (usize, &(u32, &str, f64))| Day {
            sequence: at as u64,
            label: (*label).into(),
            process: Some((*pid, u64::from(*pid) * 1_000_000)),
            cpu_ms: Some(*cost),
            ..Day::default()
        };
        costs.iter().enumerate().map(day).collect()
    }

    fn shown(costs: &[(u32, &str, f64)]) -> f64 {
        let days = days(costs);
        let days: Vec<&Day> = days.iter().collect();
        let point = |(day, process): (&&Day, Option<usize>)| Point {
            value: day.cpu_ms.unwrap_or(1.0).ln(),
            variance: 0.01 * 0.01,
            process,
            ..Point::default()
        };
        let points: Vec<Point> = days.iter().zip(numbers(&days)).map(point).collect();
        let labels: Vec<&str> = days.iter().map(|day| &*day.label).collect();
        let belief = Belief { rate: 0.1, calibration: (0.5, 0.5), weekday: 0.007, start: 0.005, days: 3.0 };
        deviation(&points, &labels, &belief)
    }

    #[test]
    fn days_of_one_process_have_one_number() {
        let mut days = days(&[(7, "", 1.0), (7, "", 1.0), (9, "", 1.0), (7, "", 1.0)]);
        // The number of a process came round again; another day is of an unknown process.
        days[3].process = Some((7, 900_000_000));
        days.push(Day::default());
        assert_eq!(numbers(&days.iter().collect::<Vec<_>>()), [Some(0), Some(0), Some(1), Some(2), None]);
    }

    #[test]
    fn starts_show_how_they_differ() {
        assert!((shown(&[]) - 0.005).abs() < 1e-9);
        assert!((shown(&[(1, "", 4.0), (1, "", 4.4)]) - 0.005).abs() < 1e-9, "one process");
        assert!((shown(&[(1, "v1", 4.0), (2, "v2", 4.4)]) - 0.005).abs() < 1e-9, "another release");
        let quiet: Vec<(u32, &str, f64)> = (0..12).map(|at| (at, "v1", 4.0)).collect();
        assert!(shown(&quiet) < 0.003, "{}", shown(&quiet));
        let loud: Vec<(u32, &str, f64)> = (0..12).map(|at| (at, "v1", 4.0 + 0.16 * f64::from(at % 3))).collect();
        assert!((0.025..0.06).contains(&shown(&loud)), "{}", shown(&loud));
        let one_step: Vec<(u32, &str, f64)> = (0..12).map(|at| (at, "v1", if at < 6 { 4.0 } else { 4.4 })).collect();
        assert!(shown(&one_step) < 0.003, "{}", shown(&one_step));
    }
}
