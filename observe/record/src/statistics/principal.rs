//! Principal components: the directions in which the columns of a matrix vary together.

use super::random::Random;

/// Returns up to `count_max` directions (unit vectors over columns) whose variance is beyond the noise, largest first.
///
/// `rows` has noise of variance `noise` in each cell. The largest singular value of noise alone is about
/// `sqrt(noise) * (sqrt(rows) + sqrt(columns))`; a direction must exceed it by a tenth.
pub fn directions(rows: &[Vec<f64>], noise: f64, count_max: usize) -> Vec<Vec<f64>> {
    let columns = rows.first().map_or(0, Vec::len);
    let edge = noise.sqrt() * ((rows.len() as f64).sqrt() + (columns as f64).sqrt()) * 1.1;
    let mut rest = rows.to_vec();
    let mut found = Vec::new();
    let mut random = Random::new(1);
    while found.len() < count_max {
        let mut direction: Vec<f64> = (0..columns).map(|_| random.below(2001) as f64 - 1000.0).collect();
        normalize(&mut direction);
        let mut size = 0.0;
        for _ in 0..200 {
            let mut next = vec![0.0; columns];
            for row in &rest {
                let along = dot(row, &direction);
                next.iter_mut().zip(row).for_each(|(sum, cell)| *sum += along * cell);
            }
            let new_size = normalize(&mut next).sqrt();
            direction = next;
            let is_still = (new_size - size).abs() <= size * 1e-6;
            size = new_size;
            if is_still {
                break;
            }
        }
        if size <= edge {
            break;
        }
        for row in &mut rest {
            let along = dot(row, &direction);
            row.iter_mut().zip(&direction).for_each(|(cell, part)| *cell -= along * part);
        }
        found.push(direction);
    }
    found
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Makes a vector's length 1 and returns its old length.
fn normalize(vector: &mut [f64]) -> f64 {
    let length = dot(vector, vector).sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|part| *part /= length);
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of variance 1 that are normal enough.
    fn noise(random: &mut Random) -> f64 {
        (0..12).map(|_| random.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0
    }

    #[test]
    fn noise_has_no_direction_and_a_factor_has_one() {
        let mut random = Random::new(7);
        let mut rows: Vec<Vec<f64>> = (0..60).map(|_| (0..40).map(|_| noise(&mut random)).collect()).collect();
        assert!(directions(&rows, 1.0, 5).is_empty());
        for row in &mut rows {
            let score = 4.0 * noise(&mut random);
            row[..10].iter_mut().for_each(|cell| *cell += score);
        }
        let found = directions(&rows, 1.0, 5);
        assert_eq!(found.len(), 1);
        let inside: f64 = found[0][..10].iter().map(|part| part * part).sum();
        assert!(inside > 0.95, "{inside}");
    }
}
