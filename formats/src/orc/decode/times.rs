//! Timestamps and decimals: numbers in two streams.
//!
//! ```text
//!   timestamp   DATA seconds from 2015      SECONDARY nanoseconds << 3 | zeros that were cut from their end, less one
//!   decimal     DATA varint of the digits   SECONDARY digits after the point
//! ```

use std::sync::Arc;

use arrow_array::{ArrayRef, Decimal128Array, StringArray, TimestampNanosecondArray};
use arrow_buffer::NullBuffer;
use chrono::DateTime;
use yunti_api::Result;

use super::zone::Zone;
use super::*;
use crate::file::varint;
use crate::orc::store::Stream;

/// Memory of a value that is kept as text, about.
const TEXT_BYTES: u64 = 64;

/// Decoder of timestamps.
pub struct Times {
    seconds: Ints,
    nanos: Ints,
    zone: Zone,
    is_instant: bool,
}

impl Times {
    pub fn open(of: &Type, stripe: &mut Stripe) -> Result<Times> {
        let is_instant = of.kind == Kind::Instant;
        let seconds = ints(of, StreamKind::Data, true, stripe)?;
        let nanos = ints(of, StreamKind::Secondary, false, stripe)?;
        // What counts from UTC has no zone.
        let zone = if is_instant { Zone::Fixed } else { Zone::of(stripe.zone())? };
        Ok(Times { seconds, nanos, zone, is_instant })
    }

    /// Decodes the next rows: nanoseconds from 1970, or texts if one of them lies beyond the years 1677 to 2262.
    pub fn read(&mut self, n: usize, rows: Option<NullBuffer>, memory: &mut Memory) -> Result<ArrayRef> {
        let valid = count(n, rows.as_ref());
        let (seconds, nanos) = (self.seconds.take(valid)?, self.nanos.take(valid)?);
        let mut times = Vec::with_capacity(valid);
        for (seconds, nanos) in seconds.into_iter().zip(nanos) {
            let nanos = nanos_of(nanos as u64)?;
            let shown = self.zone.shown(seconds).ok_or_else(|| damaged("a timestamp is out of range"))?;
            // Writers round seconds before 1970 towards 1970.
            let shown = if shown < 0 && nanos > 999_999 { shown - 1 } else { shown };
            times.push((shown, nanos));
        }
        let whole = |&(seconds, nanos): &(i64, u32)| seconds.checked_mul(1_000_000_000)?.checked_add(i64::from(nanos));
        if let Some(whole) = times.iter().map(whole).collect::<Option<Vec<i64>>>() {
            let times = TimestampNanosecondArray::new(spread(whole, n, rows.as_ref()).into(), rows);
            return Ok(Arc::new(if self.is_instant { times.with_timezone("+00:00") } else { times }));
        }
        memory.take(TEXT_BYTES * n as u64)?;
        let zone = if self.is_instant { "Z" } else { "" };
        let text = |(seconds, nanos)| {
            let time = DateTime::from_timestamp(seconds, nanos);
            let time = time.ok_or_else(|| unsupported("a timestamp lies beyond the calendar"))?;
            Ok(format!("{:?}{zone}", time.naive_utc()))
        };
        Ok(strings(times.into_iter().map(text).collect::<Result<_>>()?, n, rows))
    }
}

/// Returns nanoseconds as they are: zeros at their end are counted.
fn nanos_of(stored: u64) -> Result<u32> {
    let zeros = match stored & 7 {
        0 => 0,
        n => n as u32 + 1,
    };
    let nanos = (stored >> 3).checked_mul(10u64.pow(zeros)).filter(|&nanos| nanos < 1_000_000_000);
    nanos.map(|nanos| nanos as u32).ok_or_else(|| damaged("a timestamp has more than 999999999 nanoseconds"))
}

/// Decoder of decimals.
pub struct Decimals {
    digits: Stream,
    scales: Ints,
    /// Digits, and digits after the point. None: each value has its own, and becomes a text.
    kind: Option<(u8, i8)>,
}

impl Decimals {
    pub fn open(of: &Type, kind: Option<(u8, i8)>, stripe: &mut Stripe) -> Result<Decimals> {
        let digits = stripe.stream(of.number, StreamKind::Data);
        Ok(Decimals { digits, scales: ints(of, StreamKind::Secondary, true, stripe)?, kind })
    }

    pub fn read(&mut self, n: usize, rows: Option<NullBuffer>, memory: &mut Memory) -> Result<ArrayRef> {
        let valid = count(n, rows.as_ref());
        memory.take(32 * n as u64)?;
        let mut digits = Vec::with_capacity(valid);
        for _ in 0..valid {
            digits.push(wide(&mut self.digits)?);
        }
        let scales = self.scales.take(valid)?;
        let values = digits.into_iter().zip(scales);
        let Some((precision, scale)) = self.kind else {
            memory.take(TEXT_BYTES * n as u64)?;
            return Ok(strings(values.map(|(n, scale)| own(n, scale)).collect::<Result<_>>()?, n, rows));
        };
        let values = values.map(|(n, own)| rescaled(n, own, i64::from(scale))).collect::<Result<Vec<i128>>>()?;
        let most = 10i128.pow(u32::from(precision)) - 1;
        if values.iter().any(|n| n.unsigned_abs() > most as u128) {
            return Err(damaged(format!("a decimal has more than {precision} digits")));
        }
        let values = Decimal128Array::new(spread(values, n, rows.as_ref()).into(), rows);
        Ok(Arc::new(values.with_precision_and_scale(precision, scale).map_err(damaged)?))
    }
}

/// Returns the next varint of at most 128 bits, which is in zigzag form.
fn wide(stream: &mut Stream) -> Result<i128> {
    let n = varint::read_wide(|| stream.byte())?;
    n.map(varint::unzigzag_wide).ok_or_else(|| damaged("a decimal has more than 38 digits"))
}

/// Returns digits with another number of them after the point. Further ones are cut, as other readers do.
fn rescaled(digits: i128, own: i64, wanted: i64) -> Result<i128> {
    let too_large = || damaged("a decimal has more than 38 digits");
    let power = |n: i64| u32::try_from(n).ok().and_then(|n| 10i128.checked_pow(n));
    if own <= wanted {
        power(wanted - own).and_then(|power| digits.checked_mul(power)).ok_or_else(too_large)
    } else {
        Ok(power(own - wanted).map_or(0, |power| digits / power))
    }
}

/// Returns the text of a decimal.
fn own(digits: i128, scale: i64) -> Result<String> {
    let scale = usize::try_from(scale).ok().filter(|&scale| scale <= 38);
    let scale = scale.ok_or_else(|| damaged("a decimal has more than 38 digits after the point"))?;
    Ok(decimal_text(digits, scale as i8))
}

/// Returns digits as text, `scale` of them after the point: 0 to 38.
pub fn decimal_text(digits: i128, scale: i8) -> String {
    let scale = scale.max(0) as usize;
    let sign = if digits < 0 { "-" } else { "" };
    let text = format!("{:0>width$}", digits.unsigned_abs().to_string(), width = scale + 1);
    let (whole, part) = text.split_at(text.len() - scale);
    if part.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") }
}

fn strings(texts: Vec<String>, n: usize, rows: Option<NullBuffer>) -> ArrayRef {
    let mut texts = texts.into_iter();
    let text = |row| rows.as_ref().is_none_or(|rows| rows.is_valid(row)).then(|| texts.next().unwrap_or_default());
    Arc::new((0..n).map(text).collect::<StringArray>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orc::decode::tests::stream;

    #[test]
    fn decimals_of_any_scale() {
        let check = |digits, own, wanted, expect: Option<i128>| {
            assert_eq!(rescaled(digits, own, wanted).ok(), expect, "{digits} {own} {wanted}");
        };
        check(125, 2, 3, Some(1250));
        check(-1259, 3, 2, Some(-125));
        check(1, 0, 38, Some(10i128.pow(38)));
        check(2, 0, 38, None);
        check(1, i64::MIN, 0, None);
        check(1, i64::MAX, 0, Some(0));
        for (digits, scale, expect) in [(5, 0, "5"), (-5, 2, "-0.05"), (12345, 2, "123.45"), (0, 1, "0.0")] {
            assert_eq!(own(digits, scale).ok().as_deref(), Some(expect));
        }
        assert!(own(1, -1).is_err() && own(1, 39).is_err());
        let mut most = [0xff; 19];
        most[18] = 3;
        assert_eq!(wide(&mut stream(&most)).ok(), Some(i128::MIN));
        most[18] = 4;
        assert!(wide(&mut stream(&most)).is_err());
    }

    #[test]
    fn nanoseconds() {
        for (stored, expect) in [(0, 0), (5 << 3, 5), (1 << 3 | 7, 100_000_000), (12 << 3 | 1, 1200)] {
            assert_eq!(nanos_of(stored).ok(), Some(expect));
        }
        assert!(nanos_of(u64::MAX).is_err());
    }
}
