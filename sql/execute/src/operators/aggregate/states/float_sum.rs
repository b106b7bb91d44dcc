//! Exact sums of floats, rounded once at the end, and of their squares.
//!
//! A variance is (sum of squares - square of the sum / n) / n. Both sums are exact: a square is the sum of two floats,
//! the second of which is the rounding error of the first. The difference cancels digits, so that it is computed with
//! the leading two floats of each sum: values may be 10^7 times as large as their deviation without a loss.

use yunti_engine::columns::aggregate::float_sum::FloatSum;
use yunti_engine::columns::vector::{Data, Vector};

use super::{Argument, Rows, Seen, State, put_number, same, take, take_number};

#[derive(Default)]
pub struct FloatTotal {
    sums: Vec<FloatSum>,
    seen: Seen,
    wide: usize,
}

/// Bytes of a sum whose values have exponents far from each other.
const WIDE_BYTES: usize = 280;

/// Adds to a sum, and counts the sums that take memory of their own.
#[inline(always)]
fn add(sum: &mut FloatSum, wide: &mut usize, f: impl FnOnce(&mut FloatSum)) {
    let before = sum.is_wide();
    f(sum);
    *wide += usize::from(sum.is_wide() && !before);
}

impl State for FloatTotal {
    fn resize(&mut self, groups: usize) {
        self.sums.resize(groups, FloatSum::default());
        self.seen.resize(groups);
    }

    fn reserve(&mut self, groups: usize) {
        self.sums.reserve_exact(groups - self.sums.len());
    }

    fn clear(&mut self) {
        self.sums.clear();
        self.seen.clear();
        self.wide = 0;
    }

    fn group_bytes(&self) -> usize {
        size_of::<FloatSum>()
    }

    fn other_bytes(&self) -> usize {
        self.wide * WIDE_BYTES + self.seen.used_bytes()
    }

    fn update(&mut self, rows: &Rows<'_>, argument: Option<&Argument>) {
        let Some(Argument { vector, .. }) = argument else { return };
        self.seen.note(rows, vector.nulls.as_ref());
        if let Data::Floats(values) = &vector.data {
            let FloatTotal { sums, wide, .. } = self;
            rows.each(vector.nulls.as_ref(), |group, row| add(&mut sums[group], wide, |sum| sum.add(values[row])));
        }
    }

    fn merge(&mut self, from: &dyn State, groups: &[u32], to: &[u32]) {
        let from = same::<FloatTotal>(from);
        self.seen.merge(&from.seen, groups, to);
        for (&group, &to) in groups.iter().zip(to) {
            add(&mut self.sums[to as usize], &mut self.wide, |sum| sum.merge(&from.sums[group as usize]));
        }
    }

    fn encode(&self, group: usize, out: &mut Vec<u8>) {
        out.push(self.seen.has(group).into());
        if self.seen.has(group) {
            self.sums[group].encode(out);
        }
    }

    fn decode(&mut self, group: usize, from: &mut &[u8]) -> Option<()> {
        if take::<1>(from)?[0] == 1 {
            self.seen.set(group);
            let other = FloatSum::decode(from)?;
            add(&mut self.sums[group], &mut self.wide, |sum| sum.merge(&other));
        }
        Some(())
    }

    fn results(&self, groups: &[u32]) -> Vector {
        let sums = groups.iter().map(|&group| self.sums[group as usize].value()).collect();
        Vector { data: Data::Floats(sums), nulls: self.seen.nulls(groups) }
    }
}

/// Variance or deviation.
pub struct Spread {
    /// True for the sample: n - 1 instead of n.
    is_sample: bool,
    is_deviation: bool,
    moments: Vec<Moments>,
    wide: usize,
}

/// Count, sum and sum of the squares of some values.
#[derive(Clone, Default)]
pub struct Moments {
    n: u64,
    sum: FloatSum,
    squares: FloatSum,
}

impl Moments {
    /// Adds a value that was not added before, or removes one that was. The square of the value must be finite.
    pub fn change(&mut self, value: f64, adds: bool) {
        let (high, low) = product(value, value);
        let (sign, n) = if adds { (1.0, self.n + 1) } else { (-1.0, self.n - 1) };
        self.n = n;
        self.sum.add(sign * value);
        self.squares.add(sign * high);
        self.squares.add(sign * low);
    }

    /// Returns the variance with n - 1 as the divisor if it is a sample's, else n; None of too few values.
    pub fn variance(&self, is_sample: bool) -> Option<f64> {
        let few = u64::from(is_sample);
        (self.n > few).then(|| self.deviations() / (self.n - few) as f64)
    }

    fn merge(&mut self, other: &Moments, wide: &mut usize) {
        self.n += other.n;
        add(&mut self.sum, wide, |sum| sum.merge(&other.sum));
        add(&mut self.squares, wide, |sum| sum.merge(&other.squares));
    }

    /// Returns n x variance.
    fn deviations(&self) -> f64 {
        let n = self.n as f64;
        let (sum, squares) = (leading(&self.sum), leading(&self.squares));
        if !sum.0.is_finite() || !squares.0.is_finite() {
            return f64::NAN;
        }
        // sum x sum / n, as two floats.
        let (high, low) = product(sum.0, sum.0);
        let low = low + 2.0 * sum.0 * sum.1;
        let first = high / n;
        let (back, back_low) = product(first, n);
        let second = ((high - back) - back_low + low) / n;
        let difference = (squares.0 - first) + (squares.1 - second);
        // The square of the sum may be beyond the floats although no value is.
        if difference.is_nan() { f64::NAN } else { difference.max(0.0) }
    }
}

/// Returns a product as two floats, whose sum is exact unless it is beyond the floats.
fn product(a: f64, b: f64) -> (f64, f64) {
    let high = a * b;
    (high, if high.is_finite() { a.mul_add(b, -high) } else { 0.0 })
}

/// Returns the leading two floats of a sum.
fn leading(sum: &FloatSum) -> (f64, f64) {
    let first = sum.value();
    if !first.is_finite() {
        return (first, 0.0);
    }
    let mut rest = sum.clone();
    rest.add(-first);
    (first, rest.value())
}

impl Spread {
    pub fn new(is_sample: bool, is_deviation: bool) -> Spread {
        Spread { is_sample, is_deviation, moments: Vec::new(), wide: 0 }
    }
}

impl State for Spread {
    fn resize(&mut self, groups: usize) {
        self.moments.resize(groups, Moments::default());
    }

    fn reserve(&mut self, groups: usize) {
        self.moments.reserve_exact(groups - self.moments.len());
    }

    fn clear(&mut self) {
        self.moments.clear();
        self.wide = 0;
    }

    fn group_bytes(&self) -> usize {
        size_of::<Moments>()
    }

    fn other_bytes(&self) -> usize {
        self.wide * WIDE_BYTES
    }

    fn update(&mut self, rows: &Rows<'_>, argument: Option<&Argument>) {
        let Some(Argument { vector, .. }) = argument else { return };
        if let Data::Floats(values) = &vector.data {
            let Spread { moments, wide, .. } = self;
            rows.each(vector.nulls.as_ref(), |group, row| {
                let moments = &mut moments[group];
                let (high, low) = product(values[row], values[row]);
                moments.n += 1;
                add(&mut moments.sum, wide, |sum| sum.add(values[row]));
                add(&mut moments.squares, wide, |sum| {
                    sum.add(high);
                    sum.add(low);
                });
            });
        }
    }

    fn merge(&mut self, from: &dyn State, groups: &[u32], to: &[u32]) {
        let from = same::<Spread>(from);
        for (&group, &to) in groups.iter().zip(to) {
            self.moments[to as usize].merge(&from.moments[group as usize], &mut self.wide);
        }
    }

    fn encode(&self, group: usize, out: &mut Vec<u8>) {
        let Moments { n, sum, squares } = &self.moments[group];
        put_number((*n).into(), out);
        if *n > 0 {
            sum.encode(out);
            squares.encode(out);
        }
    }

    fn decode(&mut self, group: usize, from: &mut &[u8]) -> Option<()> {
        let n = u64::try_from(take_number(from)?).ok()?;
        if n > 0 {
            let other = Moments { n, sum: FloatSum::decode(from)?, squares: FloatSum::decode(from)? };
            self.moments[group].merge(&other, &mut self.wide);
        }
        Some(())
    }

    fn results(&self, groups: &[u32]) -> Vector {
        let few = u64::from(self.is_sample);
        let all = groups.iter().map(|&group| &self.moments[group as usize]);
        let nulls: Vec<bool> = all.clone().map(|of| of.n <= few).collect();
        let results = all.map(|of| {
            let variance = of.deviations() / of.n.saturating_sub(few).max(1) as f64;
            if self.is_deviation { variance.sqrt() } else { variance }
        });
        Vector { data: Data::Floats(results.collect()), nulls: nulls.contains(&true).then_some(nulls) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variance(values: &[f64]) -> f64 {
        let mut moments = Moments { n: values.len() as u64, ..Moments::default() };
        for &value in values {
            let (high, low) = product(value, value);
            moments.sum.add(value);
            moments.squares.add(high);
            moments.squares.add(low);
        }
        moments.deviations() / values.len() as f64
    }

    #[test]
    fn variances_lose_no_digits_to_a_large_mean() {
        for (offset, within) in [(0.0, 1e-15), (1e6, 1e-15), (1e9, 1e-15), (4e12, 1e-9)] {
            let values: Vec<f64> = (0..1000).map(|n| offset + f64::from(n)).collect();
            let expect = (1000.0 * 1000.0 - 1.0) / 12.0;
            let found = variance(&values);
            assert!((found - expect).abs() <= within * expect, "{offset}: {found} for {expect}");
        }
        assert_eq!(variance(&[0.1; 7]), 0.0);
        assert_eq!(variance(&[1e300, 1e300]).is_nan(), true);
        assert!(variance(&[f64::INFINITY, 1.0]).is_nan() && variance(&[f64::NAN, 1.0]).is_nan());
    }
}
