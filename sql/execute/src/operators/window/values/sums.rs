//! Counts and exact sums of frames: differences of the sums of all rows before the frame's end and before its first
//! row. A frame of any size costs two loads.
//!
//! ```text
//!   64 bits     while (largest value) x (rows) fits
//!   128 bits    then
//!   two of 128 bits: units of 2^64, and the rest; no sum wraps around, however many values a frame has
//! ```

use yunti_base::Result;
use yunti_engine::columns::vector::{Data, Vector};

use super::super::frames::Frames;
use crate::operators::aggregate::keys::smallest;
use crate::store::column::{Column, Values};
use crate::store::wrong_shape;

/// Returns the number of rows of each frame that count. `counts`: rows that count, if not all do.
pub fn counts(frames: &Frames, counts: Option<&[bool]>) -> Vec<i64> {
    match counts {
        None => frames.first.iter().zip(&frames.end).map(|(&first, &end)| i64::from(end - first)).collect(),
        Some(counts) => {
            let before = running(counts.iter().map(|&counts| u32::from(counts)), 0u32, |sum, more| sum + more);
            each(frames, |first, end| i64::from(before[end] - before[first]))
        }
    }
}

/// A sum beyond 128 bits.
pub struct Beyond;

/// Returns the sums of the frames' whole numbers or units, without nulls.
pub fn sums(column: &Column, frames: &Frames, counts: Option<&[bool]>) -> Result<std::result::Result<Vector, Beyond>> {
    let Values::Fixed(data) = &column.values else { return Err(wrong_shape()) };
    Ok(match data {
        Data::Ints(v) | Data::SmallDecimals(v) => {
            let (least, most) = v.iter().fold((0, 0), |(a, b), &v| (v.min(a), v.max(b)));
            let bound = u128::from(least.unsigned_abs().max(most.unsigned_abs())) * v.len() as u128;
            let value = |row: usize| if counts.is_none_or(|counts| counts[row]) { v[row] } else { 0 };
            if bound <= i64::MAX as u128 {
                let before = running((0..v.len()).map(value), 0i64, |sum, more| sum + more);
                return Ok(Ok(Vector::of(Data::SmallDecimals(each(frames, |first, end| before[end] - before[first])))));
            }
            // 2^32 values of 2^63 fit 128 bits.
            let before = running((0..v.len()).map(|row| i128::from(value(row))), 0i128, |sum, more| sum + more);
            Ok(Vector::of(smallest(each(frames, |first, end| before[end] - before[first]))))
        }
        Data::Decimals(v) => {
            let value = |row: usize| if counts.is_none_or(|counts| counts[row]) { v[row] } else { 0 };
            let most = v.iter().map(|v| v.unsigned_abs()).max().unwrap_or(0);
            if most.checked_mul(v.len() as u128).is_some_and(|bound| bound <= i128::MAX as u128) {
                let before = running((0..v.len()).map(value), 0i128, |sum, more| sum + more);
                return Ok(Ok(Vector::of(smallest(each(frames, |first, end| before[end] - before[first])))));
            }
            let before = running((0..v.len()).map(value), Wide::default(), Wide::plus);
            let all: Option<Vec<i128>> =
                each(frames, |first, end| before[end].minus(before[first])).into_iter().collect();
            all.map(|all| Vector::of(smallest(all))).ok_or(Beyond)
        }
        _ => return Err(wrong_shape()),
    })
}

/// A sum of up to 2^62 numbers of 128 bits: `high` x 2^64 + `low`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wide {
    high: i128,
    low: i128,
}

impl Wide {
    #[inline(always)]
    pub fn plus(self, value: i128) -> Wide {
        Wide { high: self.high + (value >> 64), low: self.low + i128::from(value as u64) }
    }

    #[inline(always)]
    pub fn less(self, value: i128) -> Wide {
        Wide { high: self.high - (value >> 64), low: self.low - i128::from(value as u64) }
    }

    fn minus(self, other: Wide) -> Option<i128> {
        Wide { high: self.high - other.high, low: self.low - other.low }.value()
    }

    /// Returns the sum; None beyond 128 bits.
    pub fn value(self) -> Option<i128> {
        let high = self.high + (self.low >> 64);
        i64::try_from(high).ok().map(|high| i128::from(high) << 64 | i128::from(self.low as u64))
    }
}

/// Returns the sum of the values before each row, and of all.
#[inline(always)]
fn running<T, S: Copy>(values: impl ExactSizeIterator<Item = T>, zero: S, add: impl Fn(S, T) -> S) -> Vec<S> {
    let mut all = Vec::with_capacity(values.len() + 1);
    let mut sum = zero;
    all.push(sum);
    for value in values {
        sum = add(sum, value);
        all.push(sum);
    }
    all
}

#[inline(always)]
fn each<T>(frames: &Frames, f: impl Fn(usize, usize) -> T) -> Vec<T> {
    frames.first.iter().zip(&frames.end).map(|(&first, &end)| f(first as usize, end as usize)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_sums_come_back_once_they_fit() {
        let most = i128::MAX;
        let sum = (0..1000).fold(Wide::default(), |sum, _| sum.plus(most));
        assert_eq!(sum.value(), None);
        let back = (0..999).fold(sum, |sum, _| sum.less(most));
        assert_eq!(back.value(), Some(most));
        for value in [0, 1, -1, i128::MIN, i128::MAX, 1 << 64, -(1 << 64), -(1 << 64) - 1] {
            assert_eq!(Wide::default().plus(value).value(), Some(value));
            assert_eq!(Wide::default().plus(value).plus(-7).less(-7).value(), Some(value));
        }
    }
}
