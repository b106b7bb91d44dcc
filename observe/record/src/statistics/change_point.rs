//! Change points of a series by E-divisive (Matteson and James, 2014): the split between the most different parts,
//! where differences are distances of values, tested by shuffling; then the same within each part.

use super::random::Random;

/// Values of the shortest part.
const PART_MIN: usize = 3;

/// Shuffles of a test. The smallest probability is 1 of 200.
const SHUFFLES: usize = 199;

/// Probability of a split by chance at most.
const P_MAX: f64 = 0.01;

/// Values of a series at most; the time grows with the square.
pub const SERIES_MAX: usize = 500;

/// Returns the places at which a new level begins, in order. Series of more than [`SERIES_MAX`] values have none.
pub fn change_points(series: &[f64]) -> Vec<usize> {
    let mut points = Vec::new();
    let mut parts = vec![(0, series.len())];
    if series.len() > SERIES_MAX {
        return points;
    }
    let mut random = Random::new(series.len() as u64);
    while let Some((begin, end)) = parts.pop() {
        let Some((at, strength)) = split(&series[begin..end]) else { continue };
        let mut shuffled = series[begin..end].to_vec();
        let mut beyond = 1;
        for _ in 0..SHUFFLES {
            random.shuffle(&mut shuffled);
            beyond += usize::from(split(&shuffled).is_some_and(|(_, other)| other >= strength));
            // It cannot become rare any more.
            if beyond as f64 / (SHUFFLES + 1) as f64 > P_MAX {
                break;
            }
        }
        if beyond as f64 / (SHUFFLES + 1) as f64 <= P_MAX {
            points.push(begin + at);
            parts.extend([(begin, begin + at), (begin + at, end)]);
        }
    }
    points.sort_unstable();
    points
}

/// Returns the best split of values and its strength; `None` if they are too few.
fn split(values: &[f64]) -> Option<(usize, f64)> {
    let count = values.len();
    if count < 2 * PART_MIN {
        return None;
    }
    // Sums of distances within the left part, within the right part, and between both, as values move to the left.
    let distance_sum = |at: usize, others: &[f64]| others.iter().map(|other| (values[at] - other).abs()).sum::<f64>();
    let (mut left, mut between) = (0.0, 0.0);
    let mut right: f64 = (0..count).map(|at| distance_sum(at, &values[at + 1..])).sum();
    let mut best: Option<(usize, f64)> = None;
    for at in 0..count - PART_MIN {
        let (to_left, to_right) = (distance_sum(at, &values[..at]), distance_sum(at, &values[at + 1..]));
        left += to_left;
        right -= to_right;
        between += to_right - to_left;
        let (n, m) = ((at + 1) as f64, (count - at - 1) as f64);
        if at + 1 < PART_MIN {
            continue;
        }
        let energy = 2.0 * between / (n * m) - 2.0 * left / (n * (n - 1.0)) - 2.0 * right / (m * (m - 1.0));
        let strength = energy * n * m / (n + m);
        if best.is_none_or(|(_, most)| strength > most) {
            best = Some((at + 1, strength));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(count: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..count).map(|_| random.below(1000) as f64 / 1000.0).collect()
    }

    #[test]
    fn levels_are_found() {
        let mut series = noise(60, 3);
        series[25..].iter_mut().for_each(|value| *value += 2.0);
        series[45..].iter_mut().for_each(|value| *value -= 4.0);
        assert_eq!(change_points(&series), [25, 45]);
    }

    #[test]
    fn noise_has_no_change_points() {
        let found = (0..20).filter(|seed| !change_points(&noise(50, *seed)).is_empty()).count();
        assert!(found <= 1, "{found}");
        assert!(change_points(&[1.0; 40]).is_empty());
        assert!(change_points(&[1.0, 2.0]).is_empty());
    }
}
