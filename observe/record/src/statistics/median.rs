//! Medians.

/// Returns the median, or 0 for no values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        count if count % 2 == 1 => sorted[count / 2],
        count => (sorted[count / 2 - 1] + sorted[count / 2]) / 2.0,
    }
}

/// Returns the median of a chi-squared value with `degrees` of freedom, divided by `degrees` (Wilson and Hilferty).
pub fn chi_squared_median(degrees: f64) -> f64 {
    (1.0 - 2.0 / (9.0 * degrees)).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!((median(&[]), median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0])), (0.0, 2.0, 2.5));
        assert!((chi_squared_median(6.0) - 5.348 / 6.0).abs() < 2e-3);
        assert!((chi_squared_median(1.0) - 0.4549).abs() < 2e-2);
    }
}
