//! False discoveries: the method of Benjamini and Hochberg (1995).

/// Returns the q-value of each p-value: the share of false findings among all whose q-value is at most this one.
pub fn q_values(p_values: &[f64]) -> Vec<f64> {
    let count = p_values.len();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| p_values[*b].total_cmp(&p_values[*a]));
    let mut q_values = vec![1.0; count];
    let mut least: f64 = 1.0;
    for (behind, at) in order.into_iter().enumerate() {
        let rank = (count - behind) as f64;
        least = least.min(p_values[at] * count as f64 / rank);
        q_values[at] = least;
    }
    q_values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_values_are_monotonic() {
        let q = q_values(&[0.01, 0.5, 0.02, 0.04, 0.9]);
        let wanted = [0.05, 0.625, 0.05, 0.2 / 3.0, 0.9];
        assert!(q.iter().zip(wanted).all(|(q, wanted)| (q - wanted).abs() < 1e-12), "{q:?}");
        assert!(q_values(&[]).is_empty());
    }
}
