//! Sets of whole numbers, of which a column must have one for a row to count.
//!
//! ```text
//!   [-3,5,9]        numbers in ascending order
//!   -3:g0P..        bits from the least number on, six a character, the lowest first, added to '0'
//! ```

/// Whole numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueSet {
    /// In ascending order.
    List(Vec<i64>),
    Bits {
        least: i64,
        bits: Vec<u64>,
    },
}

impl ValueSet {
    /// Returns the set of a text; None for a text that is none.
    pub fn parse(text: &str) -> Option<ValueSet> {
        if let Some(list) = text.strip_prefix('[') {
            let list = list.strip_suffix(']')?;
            let numbers: Option<Vec<i64>> = list.split(',').map(|number| number.parse().ok()).collect();
            return numbers.filter(|numbers| numbers.is_sorted()).map(ValueSet::List);
        }
        let (least, digits) = text.split_once(':')?;
        let mut bits = Vec::with_capacity(digits.len() / 10 + 1);
        let (mut word, mut at) = (0u64, 0);
        for digit in digits.bytes() {
            let six = u64::from(digit.wrapping_sub(b'0'));
            if six > 63 {
                return None;
            }
            word |= six << at;
            at += 6;
            if at >= 64 {
                bits.push(word);
                at -= 64;
                // Bits of the digit that the word had no room for.
                word = six >> (6 - at);
            }
        }
        bits.push(word);
        Some(ValueSet::Bits { least: least.parse().ok()?, bits })
    }

    /// Returns true if the set has a number.
    #[inline]
    pub fn has(&self, value: i64) -> bool {
        match self {
            ValueSet::List(list) => list.binary_search(&value).is_ok(),
            ValueSet::Bits { least, bits } => {
                let place = value.wrapping_sub(*least) as u64;
                bits.get((place / 64) as usize).is_some_and(|word| word >> (place % 64) & 1 == 1)
            }
        }
    }

    /// Returns the least number, and one that is not less than the largest; none if the first is larger.
    pub fn range(&self) -> (i128, i128) {
        match self {
            ValueSet::List(list) => match (list.first(), list.last()) {
                (Some(&least), Some(&most)) => (least.into(), most.into()),
                _ => (0, -1),
            },
            ValueSet::Bits { least, bits } => (i128::from(*least), i128::from(*least) + bits.len() as i128 * 64 - 1),
        }
    }

    /// Returns true if the set has a number from `least` to `most`.
    pub fn has_any(&self, least: i128, most: i128) -> bool {
        let (first, last) = self.range();
        let (from, to) = (least.max(first), most.min(last));
        if from > to {
            return false;
        }
        match self {
            ValueSet::List(list) => {
                let next = list.get(list.partition_point(|&number| i128::from(number) < from));
                next.is_some_and(|&number| i128::from(number) <= to)
            }
            ValueSet::Bits { bits, .. } => {
                let (from, to) = ((from - first) as usize, (to - first) as usize);
                let (word, end) = (from / 64, to / 64);
                let (head, tail) = (u64::MAX << (from % 64), u64::MAX >> (63 - to % 64));
                if word == end {
                    return bits[word] & head & tail != 0;
                }
                bits[word] & head != 0 || bits[end] & tail != 0 || bits[word + 1..end].iter().any(|word| *word != 0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(bits: &[bool]) -> String {
        let six = |six: &[bool]| six.iter().enumerate().fold(0, |all, (n, &bit)| all | u8::from(bit) << n);
        bits.chunks(6).map(|of| char::from(b'0' + six(of))).collect()
    }

    #[test]
    fn texts_are_sets() {
        let has: Vec<bool> = (0..1000).map(|n| n % 7 == 3 || n > 900 && n % 2 == 0).collect();
        let list: Vec<String> = (0..1000).filter(|&n| has[n]).map(|n| (n as i64 - 500).to_string()).collect();
        for text in [format!("-500:{}", digits(&has)), format!("[{}]", list.join(","))] {
            let of = ValueSet::parse(&text).unwrap();
            for value in -600..700 {
                let expect = usize::try_from(value + 500).is_ok_and(|n| has.get(n) == Some(&true));
                assert_eq!(of.has(value), expect, "{value}");
                for len in [0, 1, 3, 64, 200] {
                    let any = (value..=value + len).any(|value| of.has(value));
                    assert_eq!(of.has_any(value.into(), (value + len).into()), any, "{value}, {len}");
                }
            }
            assert!(!of.has_any(5, 4) && of.has_any(i128::MIN, i128::MAX) && !of.has(i64::MAX) && !of.has(i64::MIN));
        }
    }

    #[test]
    fn other_texts_are_none() {
        for text in ["", "[", "[]", "[1,x]", "[3,1]", "5", "x:00", "5:\u{7f}", "5:!", "[99999999999999999999]"] {
            assert_eq!(ValueSet::parse(text), None, "{text}");
        }
        let of = ValueSet::parse("9223372036854775807:3").unwrap();
        assert!(of.has(i64::MAX) && of.has_any(i128::from(i64::MAX), i128::MAX) && !of.has(5));
    }
}
