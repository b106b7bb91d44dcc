//! Bound of the first rows: a row whose first key lies behind it is dropped before anything else is done with it.

use yunti_engine::columns::normal::ordered_float;
use yunti_engine::columns::vector::{Data, Vector};

use super::order::{Level, decimal_word, int_word, text_word};

/// First key of the worst row that is wanted so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    Null,
    Word(u64),
}

/// Calls `f` with a function from rows to words, for the shape of the vector.
macro_rules! with_words {
    ($vector:expr, $f:expr) => {
        match &$vector.data {
            Data::Ints(v) | Data::SmallDecimals(v) => $f(&|row: usize| int_word(v[row])),
            Data::Floats(v) => $f(&|row: usize| ordered_float(v[row])),
            Data::Bools(v) => $f(&|row: usize| u64::from(v[row])),
            Data::Decimals(v) => $f(&|row: usize| decimal_word(v[row])),
            Data::Bytes(v) => $f(&|row: usize| text_word(v.get(row))),
            Data::Codes(codes, values) => $f(&|row: usize| text_word(values.get(codes[row] as usize))),
            Data::NumberCodes(codes, values) => match &**values {
                Data::Ints(v) | Data::SmallDecimals(v) => $f(&|row: usize| int_word(v[codes[row] as usize])),
                Data::Floats(v) => $f(&|row: usize| ordered_float(v[codes[row] as usize])),
                Data::Bools(v) => $f(&|row: usize| u64::from(v[codes[row] as usize])),
                Data::Decimals(v) => $f(&|row: usize| decimal_word(v[codes[row] as usize])),
                _ => $f(&|_: usize| 0),
            },
        }
    };
}

impl Threshold {
    /// Returns the threshold of a row of a key.
    pub fn of(key: &Vector, row: usize, level: Level) -> Threshold {
        if key.is_null(row) {
            return Threshold::Null;
        }
        let flip = if level.descending { u64::MAX } else { 0 };
        let mut word = 0;
        with_words!(key, |of: &dyn Fn(usize) -> u64| word = of(row));
        Threshold::Word(word ^ flip)
    }

    /// Sets `rows` to the rows that are not behind the threshold.
    pub fn admit(&self, key: &Vector, level: Level, rows: &mut Vec<u32>) {
        let flip = if level.descending { u64::MAX } else { 0 };
        // The largest word that is admitted, and whether nulls are.
        let (most, nulls_pass) = match *self {
            Threshold::Word(word) => (Some(word), level.nulls_first),
            Threshold::Null if level.nulls_first => (None, true),
            Threshold::Null => (Some(u64::MAX), true),
        };
        let n = key.len();
        rows.clear();
        rows.resize(n, 0);
        let mut len = 0;
        match (&key.nulls, most) {
            (None, None) => {}
            (None, Some(most)) => with_words!(key, |of| len = admit(n, rows, flip, most, of)),
            (Some(nulls), most) => {
                let any = most.is_some();
                let most = most.unwrap_or(0);
                with_words!(key, |of| {
                    len = admit_nulls(nulls, rows, (flip, most, any), nulls_pass, of);
                });
            }
        }
        rows.truncate(len);
    }
}

#[inline(always)]
fn admit(n: usize, rows: &mut [u32], flip: u64, most: u64, of: &impl Fn(usize) -> u64) -> usize {
    let mut len = 0;
    // Most stretches have no row that passes: a test of a whole stretch has no dependence between rows.
    let mut first = 0;
    while first < n {
        let end = (first + 64).min(n);
        let mut some = false;
        for row in first..end {
            some |= of(row) ^ flip <= most;
        }
        if some {
            for row in first..end {
                rows[len] = row as u32;
                len += usize::from(of(row) ^ flip <= most);
            }
        }
        first = end;
    }
    len
}

#[inline(always)]
fn admit_nulls(
    nulls: &[bool],
    rows: &mut [u32],
    (flip, most, any): (u64, u64, bool),
    nulls_pass: bool,
    of: &impl Fn(usize) -> u64,
) -> usize {
    let mut len = 0;
    for (row, &null) in nulls.iter().enumerate() {
        rows[len] = row as u32;
        let passes = if null { nulls_pass } else { any && of(row) ^ flip <= most };
        len += usize::from(passes);
    }
    len
}
