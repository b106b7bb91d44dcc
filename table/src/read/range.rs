//! Keys in their order: from one to another, or all that begin alike.

use std::cmp::Ordering;
use std::ops::Range;

use yunti_base::{Code, Error, Result};

use super::rows::{Row, Rows, each_or_error};
use super::table::{Table, contradiction, number};
use crate::format::header::FENCE;
use crate::index::order;

/// Values of the first columns of a key, as they are in a row. Fewer than the key has stand for all keys with them.
pub type KeyBegin<'k> = &'k [Vec<u8>];

/// Where a range begins and ends; `None`: with the first key, with the last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits<'k> {
    pub from: Option<KeyBegin<'k>>,
    /// The last key of the range; it is part of it.
    pub to: Option<KeyBegin<'k>>,
    /// True if the last value of `from` stands for all texts that begin with it. `to` does not count then.
    pub is_prefix: bool,
}

impl Table {
    /// Yields the rows of keys within limits, in the order of keys.
    pub fn range(&self, limits: Limits<'_>) -> Result<impl Iterator<Item = Result<Row<'_>>>> {
        Ok(self.positions(limits)?.flat_map(|position| each_or_error(self.rows_at(position))))
    }

    /// Returns the places of keys within limits in the order of keys.
    pub fn positions(&self, limits: Limits<'_>) -> Result<Range<u64>> {
        if !self.header.is_sorted {
            return Err(Error::new(Code::Usage, "the table has no order of keys")
                .hint("build it with --sorted")
                .at_path(self.path().to_string_lossy()));
        }
        let all = 0..self.header.keys;
        let given = [(limits.from, limits.is_prefix), (limits.to.filter(|_| !limits.is_prefix), false)];
        if given.iter().any(|(values, is_prefix)| values.is_some_and(|values| !self.begins_key(values, *is_prefix))) {
            return Err(Error::new(Code::Usage, "these are no values of the key's first columns"));
        }
        if limits.is_prefix {
            let Some((last, columns)) = limits.from.and_then(<[_]>::split_last) else { return Ok(all) };
            let kind = self.schema.columns[self.schema.keys[columns.len()]].kind;
            if kind.width().is_some() {
                let what = format!("only text has a begin, and the key's column is {}", kind.name());
                return Err(Error::new(Code::Usage, what));
            }
            let side = |values: &[&[u8]]| {
                let own = values.get(columns.len()).copied().unwrap_or_default();
                let before = order::compare(&self.schema, values.iter().copied(), columns.iter().map(Vec::as_slice));
                before.then_with(|| if own.starts_with(last) { Ordering::Equal } else { own.cmp(last) })
            };
            return Ok(self.first(|values| side(values).is_lt())?..self.first(|values| side(values).is_le())?);
        }
        let side = |values: &[&[u8]], key: KeyBegin<'_>| {
            order::compare(&self.schema, values.iter().copied(), key.iter().map(Vec::as_slice))
        };
        let begin = match limits.from {
            Some(key) => self.first_near(key, |values| side(values, key).is_lt())?,
            None => all.start,
        };
        let end = match limits.to {
            Some(key) => self.first_near(key, |values| side(values, key).is_le())?,
            None => all.end,
        };
        Ok(begin..end.max(begin))
    }

    /// Returns true for values of the first columns of a key. The last one of a prefix may be any.
    fn begins_key(&self, values: KeyBegin<'_>, is_prefix: bool) -> bool {
        let width = |at: usize| self.schema.keys.get(at).map(|column| self.schema.columns[*column].kind.width());
        values.iter().enumerate().all(|(at, value)| {
            let is_last = is_prefix && at + 1 == values.len();
            width(at).is_some_and(|width| is_last || width.is_none_or(|width| width == value.len()))
        })
    }

    /// Returns the place of the first key that is not before. All keys before it are.
    fn first(&self, is_before: impl Fn(&[&[u8]]) -> bool) -> Result<u64> {
        self.search(0..self.header.keys, is_before)
    }

    /// The same, with the fences around a key as limits of the search.
    fn first_near(&self, key: KeyBegin<'_>, is_before: impl Fn(&[&[u8]]) -> bool) -> Result<u64> {
        let Some(first) = key.first() else { return self.first(is_before) };
        let begin = order::begin(&self.schema, std::iter::once(first.as_slice()));
        let below = self.fences(|fence| fence < begin)?;
        let above = self.fences(|fence| fence <= begin)?;
        // The key of the fence before may be the last that is before; between fences, anything may.
        self.search(below.saturating_sub(1) * FENCE..(above * FENCE).min(self.header.keys), is_before)
    }

    /// Returns the number of fences for which this holds: it does for the first ones.
    fn fences(&self, holds: impl Fn(u64) -> bool) -> Result<u64> {
        let (mut low, mut high) = (0, self.header.sections.fences.bytes / 8);
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(self.u64_in(self.header.sections.fences, middle as usize * 8)?) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    fn search(&self, within: Range<u64>, is_before: impl Fn(&[&[u8]]) -> bool) -> Result<u64> {
        let Range { start: mut low, end: mut high } = within;
        while low < high {
            let middle = low + (high - low) / 2;
            let row = self.rows_at(middle)?.next().ok_or_else(contradiction)??;
            if is_before(&row.key_values().collect::<Vec<_>>()) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Returns the rows of a place in the order of keys.
    pub fn rows_at(&self, position: u64) -> Result<Rows<'_>> {
        let width = self.header.order_bytes() as usize;
        let slot = number(self.in_section(self.header.sections.order, position as usize * width, width)?);
        if slot >= self.header.all_slots() {
            return Err(contradiction());
        }
        self.slot_bytes(slot).map(|bytes| self.rows_in(bytes))
    }

    /// Checks that the keys are in their order, and the fences at their keys.
    pub(super) fn verify_order(&self) -> Result<()> {
        let mut before: Option<Vec<Vec<u8>>> = None;
        for position in 0..if self.header.is_sorted { self.header.keys } else { 0 } {
            let row = self.rows_at(position)?.next().ok_or_else(contradiction)??;
            let values: Vec<Vec<u8>> = row.key_values().map(<[u8]>::to_vec).collect();
            let of = |values: &'_ [Vec<u8>]| order::begin(&self.schema, values.iter().map(Vec::as_slice));
            let is_behind = before.as_ref().is_none_or(|before| {
                let (one, other) = (before.iter().map(Vec::as_slice), values.iter().map(Vec::as_slice));
                order::compare(&self.schema, one, other).is_lt()
            });
            let is_fenced = !position.is_multiple_of(FENCE)
                || self.u64_in(self.header.sections.fences, (position / FENCE) as usize * 8)? == of(&values);
            if !is_behind || !is_fenced {
                return Err(contradiction());
            }
            before = Some(values);
        }
        Ok(())
    }
}
