//! Sum of floats without rounding until the end, so that it is the same in any order of additions.
//!
//! ```text
//!   sum x 2^exponent      128 bits: enough while the exponents of the floats are near each other
//!   | 2176 bits x 2^-1088 |   beside it, once they are not: every float, and 2^64 of them, fit
//! ```

/// Words of the wide form.
const WORDS: usize = 34;
/// Exponent of the lowest bit of the wide form.
const WIDE_EXPONENT: i32 = -1088;
/// Bits of the narrow sum that may be used, so that a float can still be added.
const NARROW_BITS: u32 = 126;
/// Exponents of narrow sums that are neither subnormal nor beyond the largest float.
const NORMAL_EXPONENTS: std::ops::RangeInclusive<i32> = -1000..=890;

/// A sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FloatSum {
    sum: i128,
    exponent: i32,
    /// 1: NaN, 2: infinity, 4: minus infinity.
    special: u8,
    wide: Option<Box<[u64; WORDS]>>,
}

impl FloatSum {
    /// Adds a float.
    #[inline]
    pub fn add(&mut self, value: f64) {
        let bits = value.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        if exponent == 0x7ff {
            self.special |= if fraction != 0 { 1 } else { 2 << (bits >> 63) };
            return;
        }
        let (mantissa, exponent) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
        if mantissa == 0 {
            return;
        }
        let signed = if bits >> 63 == 1 { -i128::from(mantissa) } else { mantissa.into() };
        self.add_scaled(signed, exponent);
    }

    /// Adds `number` x 2^`exponent`.
    #[inline]
    fn add_scaled(&mut self, number: i128, exponent: i32) {
        if self.sum == 0 {
            (self.sum, self.exponent) = (number, exponent);
            return;
        }
        match shifted_sum(number, exponent - self.exponent, self.sum) {
            Some(sum) => self.sum = sum,
            None => self.add_apart(number, exponent),
        }
    }

    #[cold]
    fn add_apart(&mut self, number: i128, exponent: i32) {
        if let Some(sum) = shifted_sum(self.sum, self.exponent - exponent, number) {
            (self.sum, self.exponent) = (sum, exponent);
            return;
        }
        let wide = self.wide.get_or_insert_with(|| Box::new([0; WORDS]));
        add_wide(wide, self.sum, self.exponent);
        (self.sum, self.exponent) = (number, exponent);
    }

    /// Returns true if the sum takes memory of its own beside this value: exponents were far from each other.
    #[inline]
    pub fn is_wide(&self) -> bool {
        self.wide.is_some()
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &FloatSum) {
        self.special |= other.special;
        if let Some(theirs) = &other.wide {
            let own = self.wide.get_or_insert_with(|| Box::new([0; WORDS]));
            let mut carry = false;
            for (word, add) in own.iter_mut().zip(theirs.iter()) {
                let (sum, over) = word.overflowing_add(*add);
                let (sum, over_carry) = sum.overflowing_add(carry.into());
                (*word, carry) = (sum, over | over_carry);
            }
        }
        if other.sum != 0 {
            self.add_scaled(other.sum, other.exponent);
        }
    }

    /// Returns the sum as the nearest float; ties go to the even one.
    pub fn value(&self) -> f64 {
        match self.special {
            0 => {}
            2 => return f64::INFINITY,
            4 => return f64::NEG_INFINITY,
            _ => return f64::NAN,
        }
        if self.wide.is_none() && NORMAL_EXPONENTS.contains(&self.exponent) {
            // The conversion rounds to the nearest float, and the product with a power of two is exact.
            return self.sum as f64 * f64::from_bits(((self.exponent + 1023) as u64) << 52);
        }
        let mut all = self.wide.as_deref().copied().unwrap_or([0; WORDS]);
        add_wide(&mut all, self.sum, self.exponent);
        let is_negative = all[WORDS - 1] >> 63 == 1;
        if is_negative {
            let mut carry = true;
            for word in &mut all {
                (*word, carry) = (!*word).overflowing_add(carry.into());
            }
        }
        let magnitude = nearest(&all);
        if is_negative { -magnitude } else { magnitude }
    }

    /// Appends the state.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.special | if self.wide.is_some() { 8 } else { 0 });
        out.extend_from_slice(&(self.exponent as i16).to_le_bytes());
        out.extend_from_slice(&self.sum.to_le_bytes());
        for word in self.wide.iter().flat_map(|wide| wide.iter()) {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// Takes a state from the front of `from`; None if it is none.
    pub fn decode(from: &mut &[u8]) -> Option<FloatSum> {
        let (flags, rest) = from.split_first()?;
        let (exponent, rest) = rest.split_first_chunk::<2>()?;
        let (sum, mut rest) = rest.split_first_chunk::<16>()?;
        let mut wide = None;
        if flags & 8 != 0 {
            let (words, behind) = rest.split_first_chunk::<{ 8 * WORDS }>()?;
            let mut all = Box::new([0; WORDS]);
            for (word, bytes) in all.iter_mut().zip(words.as_chunks::<8>().0) {
                *word = u64::from_le_bytes(*bytes);
            }
            (wide, rest) = (Some(all), behind);
        }
        *from = rest;
        let exponent = i16::from_le_bytes(*exponent).into();
        Some(FloatSum { sum: i128::from_le_bytes(*sum), exponent, special: flags & 7, wide })
    }
}

/// Returns `number` x 2^`shift` + `other`, if the narrow sum may use as many bits.
#[inline]
fn shifted_sum(number: i128, shift: i32, other: i128) -> Option<i128> {
    let fits = (0..NARROW_BITS as i32).contains(&shift) && bits(number) + (shift as u32) < NARROW_BITS;
    let sum = if fits { (number << shift).checked_add(other) } else { None };
    sum.filter(|sum| bits(*sum) < NARROW_BITS)
}

/// Returns the bits of a number without its sign.
#[inline]
fn bits(number: i128) -> u32 {
    128 - number.unsigned_abs().leading_zeros()
}

/// Adds `number` x 2^`exponent` to a wide sum.
fn add_wide(wide: &mut [u64; WORDS], number: i128, exponent: i32) {
    let place = (exponent - WIDE_EXPONENT) as usize;
    let (word, bit) = (place / 64, (place % 64) as u32);
    let low = (number as u128) << bit;
    // Three words, and the sign in all above.
    let high = if bit == 0 { (number >> 127) as u64 } else { (number >> (128 - bit)) as u64 };
    let parts = [low as u64, (low >> 64) as u64, high];
    let sign = (number >> 127) as u64;
    let mut carry = false;
    for (n, to) in wide[word..].iter_mut().enumerate() {
        let add = parts.get(n).copied().unwrap_or(sign);
        let (sum, over) = to.overflowing_add(add);
        let (sum, over_carry) = sum.overflowing_add(carry.into());
        (*to, carry) = (sum, over | over_carry);
    }
}

/// Returns the float nearest to a positive wide sum.
fn nearest(all: &[u64; WORDS]) -> f64 {
    let Some(top) = all.iter().rposition(|&word| word != 0) else { return 0.0 };
    let highest = top as i32 * 64 + 63 - all[top].leading_zeros() as i32;
    // The lowest bit that the float keeps: 53 bits, or less for a subnormal one.
    let lowest = (highest - 52).max(-1074 - WIDE_EXPONENT);
    let bit = |place: i32| place >= 0 && all[place as usize / 64] >> (place % 64) & 1 == 1;
    let mut mantissa = 0u64;
    for place in (lowest..=highest).rev() {
        mantissa = mantissa << 1 | u64::from(bit(place));
    }
    let half = bit(lowest - 1);
    let below = (0..(lowest - 1).max(0)).rev().any(bit);
    if half && (below || mantissa & 1 == 1) {
        mantissa += 1;
    }
    scaled(mantissa, lowest + WIDE_EXPONENT)
}

/// Returns `mantissa` x 2^`exponent`, which a float can be; beyond the largest, infinity.
fn scaled(mantissa: u64, exponent: i32) -> f64 {
    // 2^53 has one bit more, and an even mantissa.
    let (mantissa, exponent) = if mantissa == 1 << 53 { (mantissa >> 1, exponent + 1) } else { (mantissa, exponent) };
    if mantissa < 1 << 52 {
        // Subnormal: its exponent is the least one.
        return f64::from_bits(mantissa);
    }
    let biased = exponent + 1075;
    if biased >= 0x7ff { f64::INFINITY } else { f64::from_bits((biased as u64) << 52 | (mantissa & ((1 << 52) - 1))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::random::Random;

    fn sum(values: &[f64]) -> f64 {
        let mut sum = FloatSum::default();
        values.iter().for_each(|&value| sum.add(value));
        sum.value()
    }

    #[test]
    fn sums_are_exact() {
        for (values, expect) in [
            (&[][..], 0.0),
            (&[0.1; 10], 1.0),
            (&[1e300, 1.0, -1e300], 1.0),
            (&[1e300, -1e300, 5e-324], 5e-324),
            (&[5e-324, 5e-324, 5e-324], 1.5e-323),
            (&[f64::MAX, f64::MAX], f64::INFINITY),
            (&[f64::MAX, f64::MAX, -f64::MAX], f64::MAX),
            (&[9007199254740992.0, 1.0, 1e-30], 9007199254740994.0),
            (&[9007199254740992.0, 1.0], 9007199254740992.0),
            (&[-9007199254740992.0, -1.0, -1e-30], -9007199254740994.0),
            (&[2.2250738585072014e-308, -5e-324], 2.225073858507201e-308),
            (&[f64::INFINITY, 1.0], f64::INFINITY),
            (&[f64::NEG_INFINITY, 1.0], f64::NEG_INFINITY),
        ] {
            assert_eq!(sum(values), expect, "{values:?}");
        }
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan() && sum(&[f64::NAN, 1.0]).is_nan());
    }

    #[test]
    fn any_order_and_any_parts_give_the_same() {
        let random = &mut Random::new(3);
        for case in 0..300 {
            let spread = [4, 60, 400, 2000][case % 4];
            let mut values: Vec<f64> = (0..1 + random.below(60))
                .map(|_| {
                    let exponent = (1023 + random.below(spread) as i64 - spread as i64 / 2).clamp(0, 2046) as u64;
                    f64::from_bits(random.next_u64() & !(0x7ff << 52) | exponent << 52)
                })
                .collect();
            if case % 3 == 0 {
                // What cancels leaves the small ones.
                let opposite: Vec<f64> = values.iter().skip(1).map(|v| -v).collect();
                values.extend(opposite);
            }
            let whole = sum(&values);
            let mut parts = vec![FloatSum::default(); 1 + random.below(5) as usize];
            for value in &values {
                let n = random.below(parts.len() as u64) as usize;
                parts[n].add(*value);
            }
            let mut merged = FloatSum::default();
            for part in parts.iter().rev() {
                let mut bytes = Vec::new();
                part.encode(&mut bytes);
                let mut rest = &bytes[..];
                merged.merge(&FloatSum::decode(&mut rest).unwrap());
                assert!(rest.is_empty() && FloatSum::decode(&mut &bytes[..bytes.len() - 1]).is_none());
            }
            assert_eq!(merged.value().to_bits(), whole.to_bits());
            if case % 3 == 0 {
                assert_eq!(whole, values[0] + 0.0);
            }
        }
    }
}
