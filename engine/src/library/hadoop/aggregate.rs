//! Yunti.AggregateReducer and Yunti.AggregateCombiner: the key says how its values are aggregated, as in
//! `LongValueSum:apples`. They are Hadoop's ValueAggregatorReducer and ValueAggregatorCombiner (`-reducer aggregate`).
//!
//! | type | values | result |
//! |---|---|---|
//! | LongValueSum, LongValueMax, LongValueMin | whole numbers | the sum, largest or smallest |
//! | DoubleValueSum | numbers | the sum |
//! | StringValueMax, StringValueMin | texts | the last or first in order |
//! | UniqValueCount | texts | the number of different ones |
//! | ValueHistogram | text, or text TAB count | number of texts; least, median, largest, mean and deviation of counts |

use std::collections::{BTreeMap, BTreeSet};

use crate::bytes::escape::escape;
use crate::bytes::java_number::double_text;
use crate::operator::{Groups, Out, Reducer};
use yunti_base::{Code, Error, Result};

/// Separates the type from the rest of the key.
const TYPE_END: u8 = b':';

/// Aggregate of one key.
enum Aggregate {
    LongSum(i64),
    LongMax(i64),
    LongMin(i64),
    DoubleSum(f64),
    StringMax(Option<String>),
    StringMin(Option<String>),
    Unique(BTreeSet<Vec<u8>>),
    /// Count of each text.
    Histogram(BTreeMap<Vec<u8>, i64>),
}

impl Aggregate {
    /// Returns the empty aggregate of a key. Errors: `UserCode` for a key without a known type.
    fn of(key: &[u8]) -> Result<Aggregate> {
        let name = memchr::memchr(TYPE_END, key).map(|at| key[..at].to_ascii_lowercase());
        Ok(match name.as_deref() {
            Some(b"longvaluesum") => Aggregate::LongSum(0),
            Some(b"longvaluemax") => Aggregate::LongMax(i64::MIN),
            Some(b"longvaluemin") => Aggregate::LongMin(i64::MAX),
            Some(b"doublevaluesum") => Aggregate::DoubleSum(0.0),
            Some(b"stringvaluemax") => Aggregate::StringMax(None),
            Some(b"stringvaluemin") => Aggregate::StringMin(None),
            Some(b"uniqvaluecount") => Aggregate::Unique(BTreeSet::new()),
            Some(b"valuehistogram") => Aggregate::Histogram(BTreeMap::new()),
            _ => {
                let what = format!("the key {} has no type of an aggregate", escape(key));
                return Err(Error::new(Code::UserCode, what).hint("write it as LongValueSum:key"));
            }
        })
    }

    fn add(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let text = String::from_utf8_lossy(value);
        let wrong = || {
            let what = format!("the value '{}' of the key {} is not a number", escape(value), escape(key));
            Error::new(Code::UserCode, what).hint("check the output of the mapper")
        };
        let long = |text: &str| text.parse::<i64>().map_err(|_| wrong());
        // Java orders texts by their units of UTF-16.
        let is_less = |a: &str, b: &str| a.encode_utf16().lt(b.encode_utf16());
        match self {
            Aggregate::LongSum(sum) => *sum = sum.wrapping_add(long(&text)?),
            Aggregate::LongMax(most) => *most = long(&text)?.max(*most),
            Aggregate::LongMin(least) => *least = long(&text)?.min(*least),
            Aggregate::DoubleSum(sum) => *sum += text.trim().parse::<f64>().map_err(|_| wrong())?,
            Aggregate::StringMax(last) => {
                if last.as_deref().is_none_or(|last| is_less(last, &text)) {
                    *last = Some(text.into_owned());
                }
            }
            Aggregate::StringMin(first) => {
                if first.as_deref().is_none_or(|first| is_less(&text, first)) {
                    *first = Some(text.into_owned());
                }
            }
            Aggregate::Unique(texts) => {
                texts.insert(value.to_vec());
            }
            Aggregate::Histogram(counts) => {
                let (item, by) = match memchr::memrchr(b'\t', value) {
                    Some(at) => (&value[..at], long(&String::from_utf8_lossy(&value[at + 1..]))?),
                    None => (value, 1),
                };
                let count = counts.entry(item.to_vec()).or_insert(0);
                *count = count.wrapping_add(by);
            }
        }
        Ok(())
    }

    /// Returns the result, as Hadoop prints it.
    fn result(&self) -> Vec<u8> {
        match self {
            Aggregate::LongSum(n) | Aggregate::LongMax(n) | Aggregate::LongMin(n) => n.to_string().into(),
            Aggregate::DoubleSum(sum) => double_text(*sum).into(),
            Aggregate::StringMax(text) | Aggregate::StringMin(text) => text.clone().unwrap_or_default().into(),
            Aggregate::Unique(texts) => texts.len().to_string().into(),
            Aggregate::Histogram(counts) => histogram(counts.values().copied().collect()).into(),
        }
    }

    /// Passes values to `emit` that aggregate to the same.
    fn partial(&self, mut emit: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        match self {
            Aggregate::Unique(texts) => texts.iter().try_for_each(|text| emit(text)),
            Aggregate::Histogram(counts) => (counts.iter())
                .try_for_each(|(item, count)| emit(&[item, &b"\t"[..], count.to_string().as_bytes()].concat())),
            _ => emit(&self.result()),
        }
    }
}

/// Returns the number of counts, the least, the median, the largest, the mean and the standard deviation.
fn histogram(mut counts: Vec<i64>) -> String {
    counts.sort_unstable();
    let [Some(least), Some(most)] = [counts.first(), counts.last()] else { return "0".into() };
    let n = counts.len() as f64;
    let mean = counts.iter().sum::<i64>() as f64 / n;
    let squares: f64 = counts.iter().map(|&count| (count as f64 - mean) * (count as f64 - mean)).sum();
    let deviation = (squares / n).sqrt();
    let median = counts[counts.len() / 2];
    format!("{}\t{least}\t{median}\t{most}\t{}\t{}", counts.len(), double_text(mean), double_text(deviation))
}

/// Reducer or combiner that aggregates as the keys say.
pub struct AggregateReducer {
    combines: bool,
    /// Aggregate of a group that goes on in the next batch.
    open: Option<Aggregate>,
}

impl AggregateReducer {
    /// Returns a reducer, or a combiner if `combines` is true.
    pub fn new(combines: bool) -> AggregateReducer {
        AggregateReducer { combines, open: None }
    }
}

impl Reducer for AggregateReducer {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        for i in 0..groups.len() {
            let key = groups.key(i);
            let mut aggregate = match self.open.take().filter(|_| i == 0 && groups.continues()) {
                Some(open) => open,
                None => Aggregate::of(key)?,
            };
            for v in groups.range(i) {
                aggregate.add(key, groups.value(v))?;
            }
            if !groups.completes(i) {
                self.open = Some(aggregate);
            } else if self.combines {
                aggregate.partial(|value| Ok(out.emit(key, value)?))?;
            } else {
                let id = memchr::memchr(TYPE_END, key).map_or(0, |at| at + 1);
                out.emit(&key[id..], &aggregate.result())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &str, values: &[&str], expect: &str) {
        let mut whole = Aggregate::of(key.as_bytes()).unwrap();
        let mut parts = Aggregate::of(key.as_bytes()).unwrap();
        for values in values.chunks(2) {
            let mut part = Aggregate::of(key.as_bytes()).unwrap();
            for value in values {
                whole.add(key.as_bytes(), value.as_bytes()).unwrap();
                part.add(key.as_bytes(), value.as_bytes()).unwrap();
            }
            part.partial(|value| parts.add(key.as_bytes(), value)).unwrap();
        }
        assert_eq!(String::from_utf8(whole.result()).unwrap(), expect, "{key}");
        assert_eq!(String::from_utf8(parts.result()).unwrap(), expect, "{key}");
    }

    #[test]
    fn aggregates_wholes_and_parts() {
        check("LongValueSum:a", &["1", "-5", "+7"], "3");
        check("longvaluemax:a", &["1", "-5", "7"], "7");
        check("LongValueMin:a", &["1", "-5", "7"], "-5");
        check("DoubleValueSum:a", &["1.5", " 2 ", "1e3"], "1003.5");
        check("StringValueMax:a", &["b", "a", "bb"], "bb");
        check("StringValueMin:a", &["b", "a", "bb"], "a");
        check("UniqValueCount:a", &["b", "a", "b"], "2");
        check("ValueHistogram:a", &["b", "a", "b", "c\t5"], "3\t1\t2\t5\t2.6666666666666665\t1.699673171197595");
    }

    #[test]
    fn wrong_keys_and_values_are_named() {
        for key in ["a", "Sum:a", ":"] {
            assert!(Aggregate::of(key.as_bytes()).is_err_and(|e| e.to_string().contains("has no type")), "{key}");
        }
        let error = Aggregate::LongSum(0).add(b"LongValueSum:a", b"x").unwrap_err();
        assert!(error.to_string().starts_with("the value 'x' of the key LongValueSum:a is not a number"), "{error}");
    }
}
