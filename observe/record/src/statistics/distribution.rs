//! Distribution functions: the normal distribution, and Student's t.

/// Returns the probability that a standard normal value exceeds `z`.
pub fn normal_tail(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - normal_tail(-z);
    }
    if z > 38.0 {
        return 0.0;
    }
    0.5 * gamma_tail(0.5, z * z / 2.0)
}

/// Returns the value that a standard normal value exceeds with probability `p`, for 0 < p < 1.
pub fn normal_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-39.0, 39.0);
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if normal_tail(middle) > p { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// Returns the probability that a value of Student's t with `degrees` of freedom exceeds `t`.
pub fn student_tail(t: f64, degrees: f64) -> f64 {
    if !t.is_finite() {
        return if t > 0.0 { 0.0 } else { 1.0 };
    }
    let tail = 0.5 * beta_part(degrees / 2.0, 0.5, degrees / (degrees + t * t));
    if t > 0.0 { tail } else { 1.0 - tail }
}

/// Regularised upper incomplete gamma function, by its series or its continued fraction.
fn gamma_tail(a: f64, x: f64) -> f64 {
    let front = (a * x.max(1e-300).ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * 1e-16 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return 1.0 - sum * front;
    }
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1e300, 1.0 / b);
    let mut fraction = d;
    for n in 1..300 {
        let n = f64::from(n);
        let an = -n * (n - a);
        b += 2.0;
        d = 1.0 / nonzero(an * d + b);
        c = nonzero(b + an / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction * front
}

/// Regularised incomplete beta function, by its continued fraction (modified Lentz).
fn beta_part(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_part(b, a, 1.0 - x);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp() / a;
    let (mut c, mut d) = (1.0, 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for n in 1..500 {
        let n = f64::from(n);
        let even = n * (b - n) * x / ((a + 2.0 * n - 1.0) * (a + 2.0 * n));
        let odd = -(a + n) * (a + b + n) * x / ((a + 2.0 * n) * (a + 2.0 * n + 1.0));
        for term in [even, odd] {
            d = 1.0 / nonzero(1.0 + term * d);
            c = nonzero(1.0 + term / c);
            fraction *= d * c;
        }
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

fn nonzero(x: f64) -> f64 {
    if x.abs() < 1e-300 { 1e-300 } else { x }
}

/// Logarithm of the gamma function for positive values: Stirling's series after shifts to 10 and more.
fn ln_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 10.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let x2 = x * x;
    let series = (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * x2)) / x2) / x2) / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, wanted: f64) {
        assert!((found / wanted - 1.0).abs() < 1e-6, "{found:e} is not {wanted:e}");
    }

    /// Values of printed tables.
    #[test]
    fn tails_are_those_of_tables() {
        near(normal_tail(0.0), 0.5);
        near(normal_tail(1.959_963_985), 0.025);
        near(normal_tail(-1.0), 0.841_344_746);
        near(normal_tail(6.0), 9.865_876e-10);
        near(normal_quantile(0.025), 1.959_963_985);
        near(normal_quantile(0.975), -1.959_963_985);
        near(student_tail(2.570_582, 5.0), 0.025);
        near(student_tail(12.706_205, 1.0), 0.025);
        near(student_tail(-1.0, 3.0), 0.804_498_9);
        near(student_tail(3.0, 1e5), 1.350_230_4e-3);
        assert_eq!(student_tail(f64::INFINITY, 3.0), 0.0);
    }
}
