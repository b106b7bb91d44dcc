//! Rows of batches within the sets of a scan's filters.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use yunti_engine::columns::vector::{Data, Value, Vector};
use yunti_sql_plan::{Batch, Scan, ValueSet};

use super::KeyFilter;
use super::set::{KeySet, keep};
use crate::expression::Selection;

/// Rows that a filter tests before it is judged.
const JUDGED_ROWS: usize = 1 << 15;
/// Rows that pass untested by a filter that removes less than a quarter.
const IDLE_ROWS: usize = 1 << 19;
/// Shares of rows in thousandths: passed by a set that a source should have, expected of such a set, unknown.
const HANDED_OVER_SHARE: usize = 350;
const EXPECTED_SHARE: i128 = 100;
const UNKNOWN: usize = 1001;
/// Values of a dictionary for each row of a batch, at most, so that each is tested once.
const VALUES_A_ROW: usize = 32;

/// Filters of a scan, with what its workers learn of them.
pub struct Filters(Vec<Judged>);

struct Judged {
    filter: KeyFilter,
    tested: AtomicUsize,
    passed: AtomicUsize,
    idle: AtomicUsize,
    /// Share of rows that pass, expected at first and later measured, in thousandths; more than all if it is unknown.
    share: AtomicUsize,
    /// True once the source has the set.
    is_handed_over: AtomicBool,
}

impl Filters {
    /// `scan`: the one whose columns the filters number.
    pub fn new(filters: &[KeyFilter], scan: Option<&Scan>) -> Filters {
        let judged = |filter: &KeyFilter| Judged {
            filter: filter.clone(),
            tested: AtomicUsize::new(0),
            passed: AtomicUsize::new(0),
            idle: AtomicUsize::new(0),
            share: AtomicUsize::new(scan.and_then(|scan| expected(filter, scan)).unwrap_or(UNKNOWN)),
            is_handed_over: AtomicBool::new(false),
        };
        Filters(filters.iter().map(judged).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the sets that a source should have for its next morsel, so that it need not decode what it passes over.
    pub fn sets(&self, scan: &Scan) -> Vec<ValueSet> {
        let is_worth = |judged: &&Judged| {
            let is_worth = judged.is_handed_over.load(Ordering::Relaxed)
                || judged.share.load(Ordering::Relaxed) <= HANDED_OVER_SHARE;
            judged.is_handed_over.store(is_worth, Ordering::Relaxed);
            is_worth
        };
        let set = |judged: &Judged| {
            let column = *scan.columns.get(judged.filter.column)?;
            Some(ValueSet { column, text: judged.filter.set.text()? })
        };
        self.0.iter().filter(is_worth).filter_map(set).collect()
    }
}

/// Returns the share of a column's range that a set has, if it is small: values of a column may have gaps.
fn expected(filter: &KeyFilter, scan: &Scan) -> Option<usize> {
    let known = scan.table.statistics.columns.get(*scan.columns.get(filter.column)?)?;
    let (Value::Int(min), Value::Int(max)) = (known.min.as_ref()?, known.max.as_ref()?) else { return None };
    let range = i128::from(*max) - i128::from(*min) + 1;
    let share = i128::from(filter.set.count()) * 1000 / range.max(1);
    (share <= EXPECTED_SHARE).then_some(share as usize)
}

impl Judged {
    /// Returns true if the filter should test the rows of a batch.
    fn is_on(&self, rows: usize) -> bool {
        let idle = self.idle.load(Ordering::Relaxed);
        if idle > 0 {
            self.idle.store(idle.saturating_sub(rows), Ordering::Relaxed);
        }
        idle == 0
    }

    /// Notes how many rows passed. Counts that workers lose to each other cost nothing but speed.
    fn judge(&self, rows: usize, passed: usize) {
        let tested = self.tested.load(Ordering::Relaxed) + rows;
        let passed = self.passed.load(Ordering::Relaxed) + passed;
        let is_judged = tested >= JUDGED_ROWS;
        if is_judged && !self.is_handed_over.load(Ordering::Relaxed) {
            self.share.store(passed * 1000 / tested, Ordering::Relaxed);
        }
        if is_judged && passed > tested / 4 * 3 {
            self.idle.store(IDLE_ROWS, Ordering::Relaxed);
        }
        self.tested.store(if is_judged { 0 } else { tested }, Ordering::Relaxed);
        self.passed.store(if is_judged { 0 } else { passed }, Ordering::Relaxed);
    }
}

/// Tests of one worker.
#[derive(Default)]
pub struct Tester {
    /// For each filter: the last dictionary, and true for each value of it that passes.
    known: Vec<Option<(Arc<Data>, Vec<bool>)>>,
}

impl Tester {
    /// Returns those of the chosen rows of a batch that pass all filters. The filters number the columns of the batch.
    pub fn select(&mut self, filters: &Filters, batch: &Batch, chosen: Selection) -> Selection {
        self.known.resize_with(filters.0.len(), || None);
        let mut chosen = chosen;
        for (judged, known) in filters.0.iter().zip(&mut self.known) {
            let rows = match &chosen {
                Selection::All => batch.rows,
                Selection::Rows(rows) => rows.len(),
            };
            let Some(column) = batch.columns.get(judged.filter.column) else { continue };
            if rows == 0 || !judged.is_on(rows) {
                continue;
            }
            let mut left = match chosen {
                Selection::All => (0..batch.rows as u32).collect(),
                Selection::Rows(rows) => rows,
            };
            let kept = test(&judged.filter.set, column, known, &mut left);
            left.truncate(kept);
            judged.judge(rows, kept);
            chosen = if kept == batch.rows { Selection::All } else { Selection::Rows(left) };
        }
        chosen
    }
}

/// Moves the rows that pass to the front. Returns how many they are. Null is no key.
fn test(set: &KeySet, column: &Vector, known: &mut Option<(Arc<Data>, Vec<bool>)>, rows: &mut [u32]) -> usize {
    let mut left = rows.len();
    if let Some(nulls) = &column.nulls {
        left = keep(rows, |row| !nulls[row as usize]);
    }
    let rows = &mut rows[..left];
    match &column.data {
        Data::Ints(values) | Data::SmallDecimals(values) => set.keep(rows, |row| values[row as usize]),
        Data::Decimals(values) => {
            keep(rows, |row| i64::try_from(values[row as usize]).is_ok_and(|value| set.may_have(value)))
        }
        Data::NumberCodes(codes, dictionary) => match &**dictionary {
            Data::Ints(values) | Data::SmallDecimals(values) => {
                if values.len() > VALUES_A_ROW * codes.len() {
                    return set.keep(rows, |row| values[codes[row as usize] as usize]);
                }
                if !known.as_ref().is_some_and(|(of, _)| Arc::ptr_eq(of, dictionary)) {
                    *known = Some((dictionary.clone(), values.iter().map(|&value| set.may_have(value)).collect()));
                }
                let passes = known.as_ref().map_or(&[][..], |(_, passes)| passes);
                keep(rows, |row| passes[codes[row as usize] as usize])
            }
            _ => left,
        },
        _ => left,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::column::{Column, Values};
    use yunti_engine::memory::Budget;

    /// All shapes of a column give the same rows.
    #[test]
    fn shapes_of_a_column_pass_alike() {
        let kept = Column { values: Values::Fixed(Data::Ints(vec![3, 5, 900_000])), nulls: None };
        let set = Arc::new(KeySet::of(&kept, &Budget::new(1 << 20)).unwrap());
        let filters = Filters::new(&[KeyFilter { column: 0, set }], None);
        let values: Vec<i64> = (0..200).map(|n| n % 7).collect();
        let codes: Vec<u32> = values.iter().map(|&v| v as u32).collect();
        let own: Vec<u32> = (0..200).filter(|n| [3, 5].contains(&(n % 7))).collect();
        let nulls: Vec<bool> = (0..200).map(|n| n % 5 == 0).collect();
        for data in [
            Data::Ints(values.clone()),
            Data::SmallDecimals(values.clone()),
            Data::Decimals(values.iter().map(|&v| v.into()).collect()),
            Data::NumberCodes(codes.clone(), Arc::new(Data::Ints((0..7).collect()))),
            Data::NumberCodes(codes.clone(), Arc::new(Data::Ints((0..7000).collect()))),
        ] {
            for nulls in [None, Some(nulls.clone())] {
                let expect: Vec<u32> =
                    own.iter().copied().filter(|&n| nulls.as_ref().is_none_or(|nulls| !nulls[n as usize])).collect();
                let batch = Batch::of(vec![Vector { data: data.clone(), nulls }], 200);
                let mut tester = Tester::default();
                for _ in 0..2 {
                    let Selection::Rows(rows) = tester.select(&filters, &batch, Selection::All) else { panic!() };
                    assert_eq!(rows, expect, "{data:?}");
                }
                let some = Selection::Rows((100..120).collect());
                let Selection::Rows(rows) = tester.select(&filters, &batch, some) else { panic!() };
                assert_eq!(rows, expect.iter().copied().filter(|n| (100..120).contains(n)).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_filter_that_removes_nothing_rests() {
        let kept = Column { values: Values::Fixed(Data::Ints((0..10).collect())), nulls: None };
        let set = Arc::new(KeySet::of(&kept, &Budget::new(1 << 20)).unwrap());
        let filters = Filters::new(&[KeyFilter { column: 0, set }], None);
        let batch = |value: i64| Batch::of(vec![Vector::of(Data::Ints(vec![value; 1 << 15]))], 1 << 15);
        let mut tester = Tester::default();
        assert!(matches!(tester.select(&filters, &batch(3), Selection::All), Selection::All));
        assert!(matches!(tester.select(&filters, &batch(99), Selection::All), Selection::All), "it rests");
        (0..15).for_each(|_| drop(tester.select(&filters, &batch(3), Selection::All)));
        let Selection::Rows(rows) = tester.select(&filters, &batch(99), Selection::All) else { panic!() };
        assert!(rows.is_empty(), "it tests again");
    }
}
