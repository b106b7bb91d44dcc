//! Sets of whole numbers, of which a column must have one for a row to count.
//!
//! ```text
//!   [-3,5,9]        numbers in ascending order
//!   -3:g0P..        bits from the least number on, six a character, the lowest first, added to '0'
//! ```

/// Bits of the range of a list, at most: 512 KiB, which stay in the cache beside a page.
const BITS_MAX: i128 = 1 << 22;
/// Bits of a filter for each number of a list.
const BITS_A_NUMBER: usize = 32;

/// Whole numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueSet {
    List(List),
    Bits(Bits),
}

/// Bits from the least number on.
#[derive(Clone, Debug, PartialEq)]
pub struct Bits {
    least: i64,
    words: Vec<u64>,
}

impl Bits {
    #[inline(always)]
    pub fn has(&self, value: i64) -> bool {
        let place = value.wrapping_sub(self.least) as u64;
        self.words.get((place / 64) as usize).map_or(0, |word| word >> (place % 64) & 1) == 1
    }
}

/// Numbers that are far apart, in ascending order, behind a filter: most values that are none of them differ from all
/// in a bit of their hash, and need no search, whose branches no processor can predict.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    numbers: Vec<i64>,
    /// Bits by the leading bits of a hash: 64 << n.
    filter: Vec<u64>,
}

impl List {
    fn of(numbers: Vec<i64>) -> List {
        let mut filter = vec![0u64; (numbers.len() * BITS_A_NUMBER / 64).next_power_of_two()];
        for &number in &numbers {
            let (word, bit) = place(number, filter.len());
            filter[word] |= 1 << bit;
        }
        List { numbers, filter }
    }

    #[inline(always)]
    pub fn has(&self, value: i64) -> bool {
        let (word, bit) = place(value, self.filter.len());
        self.filter[word] >> bit & 1 == 1 && self.numbers.binary_search(&value).is_ok()
    }
}

/// Returns the word and the bit of a number in a filter of a power of two of words.
#[inline(always)]
fn place(number: i64, words: usize) -> (usize, u32) {
    let hash = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((hash >> 6) as usize >> 20 & (words - 1), (hash >> 58) as u32)
}

impl ValueSet {
    /// Returns the set of a text; None for a text that is none.
    pub fn parse(text: &str) -> Option<ValueSet> {
        if let Some(list) = text.strip_prefix('[') {
            let list = list.strip_suffix(']')?;
            let numbers: Option<Vec<i64>> = list.split(',').map(|number| number.parse().ok()).collect();
            return numbers.filter(|numbers| numbers.is_sorted()).map(ValueSet::of);
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
        Some(ValueSet::Bits(Bits { least: least.parse().ok()?, words: bits }))
    }

    /// Returns the set of numbers in ascending order.
    fn of(numbers: Vec<i64>) -> ValueSet {
        let (Some(&least), Some(&most)) = (numbers.first(), numbers.last()) else {
            return ValueSet::List(List::of(numbers));
        };
        let range = i128::from(most) - i128::from(least) + 1;
        if range > BITS_MAX {
            return ValueSet::List(List::of(numbers));
        }
        let mut words = vec![0u64; (range as usize).div_ceil(64)];
        for number in numbers {
            let place = number.wrapping_sub(least) as usize;
            words[place / 64] |= 1 << (place % 64);
        }
        ValueSet::Bits(Bits { least, words })
    }

    /// Returns true if the set has a number.
    #[inline(always)]
    pub fn has(&self, value: i64) -> bool {
        match self {
            ValueSet::List(list) => list.has(value),
            ValueSet::Bits(bits) => bits.has(value),
        }
    }

    /// Returns the least number, and one that is not less than the largest; none if the first is larger.
    pub fn range(&self) -> (i128, i128) {
        match self {
            ValueSet::List(list) => match (list.numbers.first(), list.numbers.last()) {
                (Some(&least), Some(&most)) => (least.into(), most.into()),
                _ => (0, -1),
            },
            ValueSet::Bits(Bits { least, words }) => {
                (i128::from(*least), i128::from(*least) + words.len() as i128 * 64 - 1)
            }
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
                let next = list.numbers.get(list.numbers.partition_point(|&number| i128::from(number) < from));
                next.is_some_and(|&number| i128::from(number) <= to)
            }
            ValueSet::Bits(Bits { words: bits, .. }) => {
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
    fn numbers_far_apart_are_found_behind_a_filter() {
        let numbers: Vec<i64> = (0..1000).map(|n| n * 1_000_003 - 77).chain([i64::MAX - 3, i64::MAX]).collect();
        let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
        let of = ValueSet::parse(&format!("[{}]", texts.join(","))).unwrap();
        assert!(matches!(of, ValueSet::List(_)));
        for &number in &numbers {
            assert!(of.has(number) && !of.has(number.wrapping_add(1)) && !of.has(number - 1), "{number}");
            assert!(of.has_any(number.into(), number.into()));
        }
        assert!(!of.has_any(-76, 900_000) && (0..10_000).all(|n| !of.has(n)));
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
