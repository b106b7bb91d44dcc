//! Intervals of whole numbers: the proof that an operation of a program does not wrap around.

use crate::code::program::Number;

/// Numbers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub low: i128,
    pub high: i128,
}

impl Interval {
    /// Returns the numbers of a number of bits, without the sign.
    pub fn of_bits(bits: u32) -> Interval {
        match bits {
            127.. => Interval { low: i128::MIN, high: i128::MAX },
            bits => Interval { low: -(1 << bits), high: (1 << bits) - 1 },
        }
    }

    pub fn of(number: i128) -> Interval {
        Interval { low: number, high: number }
    }

    /// Returns all numbers of both.
    pub fn or(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Returns the numbers of both that are within limits.
    pub fn within(self, low: i128, high: i128) -> Interval {
        Interval { low: self.low.clamp(low, high), high: self.high.clamp(low, high) }
    }

    pub fn is_within(self, low: i128, high: i128) -> bool {
        low <= self.low && self.high <= high
    }

    pub fn fits_64(self) -> bool {
        self.is_within(i64::MIN.into(), i64::MAX.into())
    }

    /// Returns the bits of the number that is furthest from zero, without its sign.
    pub fn bits(self) -> u32 {
        let of = |number: i128| 128 - (number ^ number >> 127).leading_zeros();
        of(self.low).max(of(self.high))
    }

    /// Returns the results of an operation; None if 128 bits do not hold them. A divisor of zero has no result.
    pub fn compute(self, how: Number, other: Interval) -> Option<Interval> {
        let ends = |f: fn(i128, i128) -> Option<i128>| {
            let all = [
                f(self.low, other.low)?,
                f(self.low, other.high)?,
                f(self.high, other.low)?,
                f(self.high, other.high)?,
            ];
            Some(Interval { low: *all.iter().min()?, high: *all.iter().max()? })
        };
        match how {
            Number::Add => {
                Some(Interval { low: self.low.checked_add(other.low)?, high: self.high.checked_add(other.high)? })
            }
            Number::Subtract => {
                Some(Interval { low: self.low.checked_sub(other.high)?, high: self.high.checked_sub(other.low)? })
            }
            Number::Multiply => ends(i128::checked_mul),
            // No quotient is further from zero than the dividend, or its opposite.
            Number::Divide => {
                let most = self.low.checked_abs()?.max(self.high.checked_abs()?);
                Some(Interval { low: -most, high: most })
            }
            Number::Remainder => {
                let most = other.low.checked_abs()?.max(other.high.checked_abs()?);
                let low = if self.low < 0 { self.low.max(-most) } else { 0 };
                Some(Interval { low, high: if self.high > 0 { self.high.min(most) } else { 0 } })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_hold_all_results() {
        let all = [(-3i128, 5i128), (0, 7), (-9, -2), (4, 4), (-1, 1)];
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b))) {
            for how in [Number::Add, Number::Subtract, Number::Multiply, Number::Divide, Number::Remainder] {
                let of = |(low, high)| Interval { low, high };
                let result = of(a).compute(how, of(b)).unwrap();
                for (x, y) in (a.0..=a.1).flat_map(|x| (b.0..=b.1).map(move |y| (x, y))) {
                    let value = match how {
                        Number::Add => x + y,
                        Number::Subtract => x - y,
                        Number::Multiply => x * y,
                        _ if y == 0 => continue,
                        Number::Divide => x / y,
                        Number::Remainder => x % y,
                    };
                    assert!(result.is_within(result.low, result.high));
                    assert!(result.low <= value && value <= result.high, "{x} {how:?} {y} not in {result:?}");
                }
            }
        }
        assert_eq!(Interval::of_bits(126).compute(Number::Multiply, Interval::of_bits(2)), None);
        assert_eq!(Interval::of_bits(127).compute(Number::Add, Interval::of(1)), None);
        assert_eq!(Interval::of(i128::MIN).compute(Number::Divide, Interval::of(-1)), None);
    }

    #[test]
    fn bits_of_numbers() {
        for bits in [0, 1, 8, 24, 63, 64, 126] {
            let of = Interval::of_bits(bits);
            assert_eq!(of.bits(), bits);
            assert_eq!(of.fits_64(), bits <= 63);
        }
        assert_eq!(Interval::of_bits(127).bits(), 127);
    }
}
