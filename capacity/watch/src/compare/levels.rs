//! Levels of a series: where they begin, by E-divisive on the whole and on windows of it.
//!
//! E-divisive splits a series in two, so a level between two equal ones is seen late or not at all. Windows see it; a
//! test of both neighbours then keeps what chance finds in many windows away.

use yunti_record::statistics::change_point::{SERIES_MAX, change_points};

/// Values of a window, and the distance of two windows.
const WINDOW: usize = 30;
const DISTANCE: usize = 10;
/// Points that are as near are one.
const NEAR: usize = 2;
/// Standard errors between the means of neighbours at least.
const ERRORS: f64 = 4.0;

/// Returns the places at which a new level begins, in order. Of a longer series, the last [`SERIES_MAX`] values count.
pub fn levels(series: &[f64]) -> Vec<usize> {
    let skipped = series.len().saturating_sub(SERIES_MAX);
    let series = &series[skipped..];
    let mut points = change_points(series);
    let ends = (0..).map(|n| series.len().saturating_sub(n * DISTANCE)).take_while(|end| *end > DISTANCE);
    // The whole series is one of the windows if it is short.
    for end in ends.filter(|_| series.len() > DISTANCE) {
        for length in [WINDOW / 2, WINDOW] {
            let begin = end.saturating_sub(length);
            let found = change_points(&series[begin..end]).into_iter().map(|at| begin + at);
            let fresh: Vec<usize> = found.filter(|at| points.iter().all(|point| point.abs_diff(*at) > NEAR)).collect();
            points.extend(fresh);
        }
    }
    points.sort_unstable();
    while let Some(weakest) = weakest(series, &points) {
        points.remove(weakest);
    }
    points.into_iter().map(|point| point + skipped).collect()
}

/// Returns the place of the point whose neighbours differ least, if that may be chance.
fn weakest(series: &[f64], points: &[usize]) -> Option<usize> {
    let bounds: Vec<usize> = [0].into_iter().chain(points.iter().copied()).chain([series.len()]).collect();
    let strengths = bounds.windows(3).map(|part| distance(&series[part[0]..part[1]], &series[part[1]..part[2]]));
    let (at, strength) = strengths.enumerate().min_by(|a, b| a.1.total_cmp(&b.1))?;
    (strength < ERRORS).then_some(at)
}

/// Returns the distance of two means in standard errors.
fn distance(left: &[f64], right: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (a, b) = (mean(left), mean(right));
    let squares = |values: &[f64], mean: f64| values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let degrees = (left.len() + right.len()).saturating_sub(2).max(1) as f64;
    let variance = (squares(left, a) + squares(right, b)) / degrees;
    let error = (variance * (1.0 / left.len() as f64 + 1.0 / right.len() as f64)).sqrt();
    if error > 0.0 { (a - b).abs() / error } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_record::statistics::random::Random;

    fn noise(count: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..count).map(|_| 0.02 * (random.below(1000) as f64 / 1000.0)).collect()
    }

    #[test]
    fn a_level_between_equal_ones_is_found() {
        for (before, between, after) in [(25, 7, 9), (300, 6, 8), (14, 8, 8)] {
            let mut series = noise(before + between + after, 5);
            series[before..before + between].iter_mut().for_each(|value| *value += 0.06);
            assert_eq!(levels(&series), [before, before + between], "{before} {between} {after}");
        }
    }

    #[test]
    fn equal_days_have_one_level() {
        let found: usize = (0..10).map(|seed| levels(&noise(200, seed)).len()).sum();
        assert!(found <= 2, "{found}");
        assert!(levels(&[]).is_empty() && levels(&[1.0; 40]).is_empty());
    }
}
