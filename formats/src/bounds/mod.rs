//! Bounds of a scan: comparisons of columns with constants, of which each must hold for a row to count.
//!
//! A line each: `name TAB operator TAB value`, the value in the shape of a block of columns: numbers in the units of
//! the column, texts escaped, or a set of whole numbers (`value_set.rs`) behind the operator `in`. A unit whose
//! statistics exclude one of them has no row of the scan.

pub mod value_set;

use std::cmp::Ordering;
use std::sync::Arc;

use self::value_set::ValueSet;
use crate::cells::record::unescape;

/// A comparison of a column with a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Name of the column, as the scan has it.
    pub column: String,
    op: Op,
    value: String,
    values: Option<Arc<ValueSet>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
}

/// Least and largest value of a column in a unit, in the shape of the column. Either may be beyond the real one.
#[derive(Clone, Debug, PartialEq)]
pub enum Range {
    Whole(i128, i128),
    /// Without NaN, which is larger than all others and of which nothing is known.
    Float(f64, f64),
    Bytes(Vec<u8>, Vec<u8>),
}

/// Returns the bounds of a scan's condition; lines that are none are left out, which only reads more.
pub fn parse(condition: &str) -> Vec<Bound> {
    let one = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        let (column, op, value) = (parts.next()?, parts.next()?, parts.next()?);
        let op = match op {
            "=" => Op::Equal,
            "<" => Op::Less,
            "<=" => Op::LessOrEqual,
            ">" => Op::Greater,
            ">=" => Op::GreaterOrEqual,
            "in" => Op::In,
            _ => return None,
        };
        let plain = String::from_utf8(unescape(column.as_bytes()).into_owned()).ok()?;
        if op == Op::In {
            let values = Some(Arc::new(ValueSet::parse(value)?));
            return Some(Bound { column: plain, op, value: String::new(), values });
        }
        Some(Bound { column: plain, op, value: value.into(), values: None })
    };
    condition.lines().filter_map(one).collect()
}

impl Bound {
    /// Returns true if no value of the range can meet the bound.
    pub fn excludes(&self, range: &Range) -> bool {
        if let Some(values) = &self.values {
            return matches!(range, Range::Whole(least, most) if !values.has_any(*least, *most));
        }
        // Order of the least and of the largest value to the constant.
        let orders = match range {
            Range::Whole(least, most) => self.value.parse::<i128>().ok().map(|v| (least.cmp(&v), most.cmp(&v))),
            Range::Float(least, most) => self.value.parse::<f64>().ok().and_then(|v| {
                let order = |a: f64| a.partial_cmp(&v);
                // A NaN may be in the unit, and it is larger.
                Some((order(*least)?, order(*most).map(|_| Ordering::Greater)?))
            }),
            Range::Bytes(least, most) => {
                let v = unescape(self.value.as_bytes());
                Some((least[..].cmp(&v), most[..].cmp(&v)))
            }
        };
        let Some((least, most)) = orders else { return false };
        match self.op {
            Op::Equal => least.is_gt() || most.is_lt(),
            Op::Less => least.is_ge(),
            Op::LessOrEqual => least.is_gt(),
            Op::Greater => most.is_le(),
            Op::GreaterOrEqual => most.is_lt(),
            Op::In => false,
        }
    }
}

/// A bound as a test of single values. What it cannot compare passes: the engine has the whole condition.
#[derive(Clone, Debug)]
pub struct Test {
    op: Op,
    whole: Option<i128>,
    float: Option<f64>,
    bytes: Vec<u8>,
    values: Option<Arc<ValueSet>>,
}

impl Bound {
    /// Returns the constant that a column must equal; None for another comparison.
    pub fn equal_to(&self) -> Option<&str> {
        (self.op == Op::Equal).then_some(&self.value)
    }

    /// Returns the bound as a test of values.
    pub fn test(&self) -> Test {
        Test {
            op: self.op,
            whole: self.value.parse().ok(),
            float: self.value.parse().ok(),
            bytes: unescape(self.value.as_bytes()).into_owned(),
            values: self.values.clone(),
        }
    }
}

impl Test {
    /// Returns the least and the largest whole number that meet all tests; none if the first is larger.
    pub fn whole_range(tests: &[Test]) -> (i128, i128) {
        let one = |(least, most): (i128, i128), test: &Test| match (test.whole, test.op) {
            (_, Op::In) => {
                let (first, last) = test.values.as_ref().map_or((least, most), |values| values.range());
                (least.max(first), most.min(last))
            }
            (None, _) => (least, most),
            (Some(v), Op::Equal) => (least.max(v), most.min(v)),
            (Some(v), Op::Less) => (least, v.checked_sub(1).map_or(i128::MIN, |v| most.min(v))),
            (Some(v), Op::LessOrEqual) => (least, most.min(v)),
            (Some(v), Op::Greater) => (v.checked_add(1).map_or(i128::MAX, |v| least.max(v)), most),
            (Some(v), Op::GreaterOrEqual) => (least.max(v), most),
        };
        tests.iter().fold((i128::MIN, i128::MAX), one)
    }

    /// Returns the sets of the tests.
    pub fn sets(tests: &[Test]) -> Vec<&ValueSet> {
        tests.iter().filter_map(|test| test.values.as_deref()).collect()
    }

    #[inline]
    fn holds(&self, order: Ordering) -> bool {
        match self.op {
            Op::Equal => order.is_eq(),
            Op::Less => order.is_lt(),
            Op::LessOrEqual => order.is_le(),
            Op::Greater => order.is_gt(),
            Op::GreaterOrEqual => order.is_ge(),
            Op::In => true,
        }
    }

    /// Tests an integer, a date, a time, or the units of a decimal.
    #[inline]
    pub fn whole(&self, value: i128) -> bool {
        if let Some(values) = &self.values {
            return i64::try_from(value).is_ok_and(|value| values.has(value));
        }
        self.whole.is_none_or(|constant| self.holds(value.cmp(&constant)))
    }

    /// Tests a float. NaN has no order here.
    #[inline]
    pub fn float(&self, value: f64) -> bool {
        self.float.and_then(|constant| value.partial_cmp(&constant)).is_none_or(|order| self.holds(order))
    }

    /// Tests a text.
    #[inline]
    pub fn bytes(&self, value: &[u8]) -> bool {
        self.holds(value.cmp(&self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_a_bound_excludes() {
        let whole = Range::Whole(3, 7);
        let bytes = Range::Bytes(b"b".to_vec(), b"d".to_vec());
        for (line, range, expect) in [
            ("n\t=\t2", &whole, true),
            ("n\t=\t3", &whole, false),
            ("n\t=\t8", &whole, true),
            ("n\t<\t3", &whole, true),
            ("n\t<=\t3", &whole, false),
            ("n\t>\t7", &whole, true),
            ("n\t>=\t7", &whole, false),
            ("n\t>=\t8", &whole, true),
            ("n\t>\tx", &whole, false),
            ("n\t=\ta", &bytes, true),
            ("n\t<\tb", &bytes, true),
            ("n\t>\tc", &bytes, false),
            ("n\t>=\tda", &bytes, true),
            ("x\t<\t1.5", &Range::Float(1.5, 2.0), true),
            ("x\t>\t2.5", &Range::Float(1.5, 2.0), false),
            ("x\t=\t1.0", &Range::Float(1.5, 2.0), true),
            ("x\t<\tNaN", &Range::Float(1.5, 2.0), false),
        ] {
            assert_eq!(parse(line)[0].excludes(range), expect, "{line}");
        }
        for (lines, expect) in [
            ("n\t>\t3\nn\t<=\t7\nn\t>=\t-5", (4, 7)),
            ("n\t=\t3\nn\t<\t3", (3, 2)),
            ("n\t>\tx", (i128::MIN, i128::MAX)),
        ] {
            let tests: Vec<Test> = parse(lines).iter().map(Bound::test).collect();
            let range = Test::whole_range(&tests);
            assert_eq!(range, expect, "{lines}");
            for v in -9..9 {
                assert_eq!(range.0 <= v && v <= range.1, tests.iter().all(|test| test.whole(v)), "{lines}: {v}");
            }
        }
        for (line, range, expect) in [
            ("n\tin\t[2,9]", &whole, true),
            ("n\tin\t[2,5]", &whole, false),
            ("n\tin\t8:1", &whole, true),
            ("n\tin\t2:2", &whole, false),
            ("n\tin\t[2]", &bytes, false),
        ] {
            assert_eq!(parse(line)[0].excludes(range), expect, "{line}");
        }
        let tests: Vec<Test> = parse("n\tin\t[2,5,90]\nn\t<\t80").iter().map(Bound::test).collect();
        assert_eq!((Test::whole_range(&tests), Test::sets(&tests).len()), ((2, 79), 1));
        assert!(tests[0].whole(5) && !tests[0].whole(4) && parse("n\tin\t[x]").is_empty());
        assert_eq!(parse("a\\tb\t=\tx\\ty\nbroken\nn\t?\t1").len(), 1);
        assert_eq!(parse("a\\tb\t=\tx")[0].column, "a\tb");
    }
}
