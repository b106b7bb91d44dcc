//! The mean of decimals, from their sum and their number.

/// Returns `sum` of a scale / n, in another scale, rounded half away from zero; None beyond 128 bits.
pub fn mean_of(sum: i128, n: i64, from: u32, to: u32) -> Option<i128> {
    let n = i128::from(n);
    if to < from {
        let divisor = n.checked_mul(10i128.checked_pow(from - to)?)?;
        return Some(rounded(sum, divisor));
    }
    let more = 10i128.checked_pow(to - from)?;
    // The remainder is less than 2^63.
    let (whole, rest) = (sum / n, sum % n);
    let digits = match rest.checked_mul(more) {
        Some(rest) => rounded(rest, n),
        // A digit at a time.
        None => {
            let (mut digits, mut rest) = (0i128, rest);
            for _ in from..to {
                rest *= 10;
                digits = digits.checked_mul(10)?.checked_add(rest / n)?;
                rest %= n;
            }
            digits + rounded(rest, n)
        }
    };
    whole.checked_mul(more)?.checked_add(digits)
}

/// Returns the quotient, rounded half away from zero. The divisor is above zero.
fn rounded(dividend: i128, divisor: i128) -> i128 {
    let (quotient, rest) = (dividend / divisor, dividend % divisor);
    let up = rest.unsigned_abs() >= divisor.unsigned_abs() - rest.unsigned_abs();
    quotient + if up { dividend.signum() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_rounded_half_away_from_zero() {
        for (sum, n, from, to, expect) in [
            (10, 4, 0, 0, 3),
            (-10, 4, 0, 0, -3),
            (10, 3, 2, 6, 33_333),
            (20, 3, 2, 6, 66_667),
            (-20, 3, 2, 6, -66_667),
            (0, 7, 2, 6, 0),
            (1_500, 1, 3, 2, 150),
            (1_505, 1, 3, 2, 151),
            (i64::MAX as i128, i64::MAX, 0, 30, 10i128.pow(30)),
            (2, 3, 0, 37, 6_666_666_666_666_666_666_666_666_666_666_666_667),
            (i64::MAX as i128 - 1, i64::MAX, 0, 25, 9_999_999_999_999_999_998_915_798),
        ] {
            assert_eq!(mean_of(sum, n, from, to), Some(expect), "{sum} / {n}");
        }
        assert_eq!(mean_of(10i128.pow(37), 1, 0, 4), None);
    }
}
