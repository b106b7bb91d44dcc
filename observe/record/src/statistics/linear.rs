//! Linear least squares of a few unknowns.

/// Symmetric positive matrix that is ready to solve many systems (Cholesky).
pub struct Factored {
    lower: Vec<f64>,
    count: usize,
}

impl Factored {
    /// Factors the matrix of `count` rows, which `matrix` has one after another.
    pub fn of(matrix: &[f64], count: usize) -> Factored {
        let mut lower = vec![0.0; count * count];
        let largest = (0..count).map(|i| matrix[i * count + i]).fold(0.0, f64::max);
        for i in 0..count {
            for j in 0..=i {
                let sum: f64 = (0..j).map(|k| lower[i * count + k] * lower[j * count + k]).sum();
                let rest = matrix[i * count + j] - sum;
                lower[i * count + j] = match i == j {
                    true if rest > largest * 1e-12 => rest.sqrt(),
                    true => f64::INFINITY,
                    false => rest / lower[j * count + j],
                };
            }
        }
        Factored { lower, count }
    }

    /// Solves `matrix * x = right`. Unknowns that nothing determines are 0.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let (count, lower) = (self.count, &self.lower);
        let mut x = right.to_vec();
        for i in 0..count {
            let sum: f64 = (0..i).map(|k| lower[i * count + k] * x[k]).sum();
            x[i] = (x[i] - sum) / lower[i * count + i];
        }
        for i in (0..count).rev() {
            let sum: f64 = (i + 1..count).map(|k| lower[k * count + i] * x[k]).sum();
            x[i] = (x[i] - sum) / lower[i * count + i];
        }
        x
    }
}

/// Solves one system of [`Factored`].
pub fn solve(matrix: &[f64], right: &[f64]) -> Vec<f64> {
    Factored::of(matrix, right.len()).solve(right)
}

/// Returns the coefficients that minimise the sum of `weight * (y - row * coefficients)^2`. `ridge` is added to the
/// diagonal and pulls coefficients to 0.
pub fn least_squares(rows: &[Vec<f64>], y: &[f64], weights: &[f64], ridge: f64) -> Vec<f64> {
    let unknowns = rows.first().map_or(0, Vec::len);
    let mut matrix = vec![0.0; unknowns * unknowns];
    let mut right = vec![0.0; unknowns];
    for ((row, y), weight) in rows.iter().zip(y).zip(weights) {
        for i in 0..unknowns {
            right[i] += weight * row[i] * y;
            for j in 0..unknowns {
                matrix[i * unknowns + j] += weight * row[i] * row[j];
            }
        }
    }
    (0..unknowns).for_each(|i| matrix[i * unknowns + i] += ridge);
    solve(&matrix, &right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found() {
        let rows: Vec<Vec<f64>> = (0..5).map(|x| vec![1.0, f64::from(x)]).collect();
        let y: Vec<f64> = (0..5).map(|x| 3.0 - 2.0 * f64::from(x)).collect();
        let found = least_squares(&rows, &y, &[1.0, 2.0, 1.0, 3.0, 1.0], 0.0);
        assert!((found[0] - 3.0).abs() < 1e-9 && (found[1] + 2.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn unknowns_without_data_are_zero() {
        let found = least_squares(&[vec![1.0, 0.0], vec![1.0, 0.0]], &[2.0, 4.0], &[1.0, 1.0], 0.0);
        assert!((found[0] - 3.0).abs() < 1e-12 && found[1] == 0.0, "{found:?}");
    }
}
