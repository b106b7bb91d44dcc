//! Exact sums of integers, or of the units of decimals.
//!
//! ```text
//!   64 bits a group        while (largest value) x (rows), summed over all batches, fits 63 bits
//!   128 bits               then
//!   128 bits, and a word   then: no sum wraps around on its way, whatever the order of rows
//! ```

use yunti_engine::columns::vector::{Data, Vector};

use super::{Argument, Rows, Seen, State, by_lanes, put_number, same, take, take_number};
use crate::operators::aggregate::keys::smallest;

#[derive(Default)]
pub struct Sum {
    small: Vec<i64>,
    /// In place of `small`.
    wide: Option<Vec<i128>>,
    /// Times that a wide sum has wrapped around.
    wraps: Option<Vec<i32>>,
    /// No sum is further from zero; saturating.
    bound: u128,
    seen: Seen,
    capacity: usize,
}

impl Sum {
    /// Makes room for values that add up to at most `more`.
    fn bound(&mut self, more: u128) {
        self.bound = self.bound.saturating_add(more);
        if self.bound > i64::MAX as u128 {
            self.widen();
        }
        if self.bound > i128::MAX as u128 && self.wraps.is_none() {
            let mut wraps = Vec::with_capacity(self.capacity);
            wraps.resize(self.seen.groups, 0);
            self.wraps = Some(wraps);
        }
    }

    fn widen(&mut self) {
        if self.wide.is_none() {
            let mut wide = Vec::with_capacity(self.capacity);
            wide.extend(self.small.iter().map(|&sum| i128::from(sum)));
            self.wide = Some(wide);
            self.small = Vec::new();
        }
    }

    #[inline(always)]
    fn add_wide(wide: &mut [i128], wraps: Option<&mut Vec<i32>>, group: usize, value: i128) {
        let (sum, is_over) = wide[group].overflowing_add(value);
        wide[group] = sum;
        if let (true, Some(wraps)) = (is_over, wraps) {
            wraps[group] += if value < 0 { -1 } else { 1 };
        }
    }

    /// Adds the value of each row.
    #[inline(always)]
    fn add(&mut self, rows: &Rows<'_>, nulls: Option<&Vec<bool>>, value: impl Fn(usize) -> i128) {
        match &mut self.wide {
            None => rows.each(nulls, |group, row| self.small[group] += value(row) as i64),
            Some(wide) => match &mut self.wraps {
                None => rows.each(nulls, |group, row| wide[group] += value(row)),
                Some(wraps) => {
                    rows.each(nulls, |group, row| Sum::add_wide(wide, Some(wraps), group, value(row)));
                }
            },
        }
    }

    fn sum(&self, group: usize) -> i128 {
        self.wide.as_ref().map_or_else(|| self.small[group].into(), |wide| wide[group])
    }

    /// Returns true if a group's sum is beyond 128 bits.
    pub fn is_over(&self, group: u32) -> bool {
        self.wraps.as_ref().is_some_and(|wraps| wraps[group as usize] != 0)
    }
}

impl State for Sum {
    fn resize(&mut self, groups: usize) {
        match &mut self.wide {
            None => self.small.resize(groups, 0),
            Some(wide) => wide.resize(groups, 0),
        }
        self.wraps.iter_mut().for_each(|wraps| wraps.resize(groups, 0));
        self.seen.resize(groups);
    }

    fn reserve(&mut self, groups: usize) {
        self.capacity = groups;
        match &mut self.wide {
            None => self.small.reserve_exact(groups - self.small.len()),
            Some(wide) => wide.reserve_exact(groups - wide.len()),
        }
    }

    fn clear(&mut self) {
        self.small.clear();
        self.wide.iter_mut().for_each(Vec::clear);
        self.wraps = None;
        self.bound = 0;
        self.seen.clear();
        if self.wide.take().is_some() {
            self.small.reserve_exact(self.capacity);
        }
    }

    fn group_bytes(&self) -> usize {
        8
    }

    fn other_bytes(&self) -> usize {
        let wide = if self.wide.is_some() { 8 * self.capacity } else { 0 };
        wide + self.wraps.as_ref().map_or(0, |wraps| 4 * wraps.capacity()) + self.seen.used_bytes()
    }

    fn update(&mut self, rows: &Rows<'_>, argument: Option<&Argument>) {
        let Some(Argument { vector, most, .. }) = argument else { return };
        let nulls = vector.nulls.as_ref();
        let batch = most.saturating_mul(rows.groups.len() as u128);
        self.bound(batch);
        self.seen.note(rows, nulls);
        match &vector.data {
            Data::Ints(values) | Data::SmallDecimals(values) => {
                // The sums of a batch gather apart, where rows of one group do not wait for each other.
                if rows.few > 0 && nulls.is_none() && batch <= i64::MAX as u128 {
                    let mut put = |sums: &mut dyn Iterator<Item = i64>| match &mut self.wide {
                        None => self.small.iter_mut().zip(sums).for_each(|(sum, more)| *sum += more),
                        Some(wide) => sums.enumerate().for_each(|(group, more)| {
                            Sum::add_wide(wide, self.wraps.as_mut(), group, more.into());
                        }),
                    };
                    match rows.rows {
                        None => {
                            let values = &values[..rows.groups.len()];
                            put(&mut by_lanes(rows.groups, rows.few, |row| values[row]));
                        }
                        Some(of) => put(&mut by_lanes(rows.groups, rows.few, |row| values[of[row] as usize])),
                    }
                    return;
                }
                self.add(rows, nulls, |row| values[row].into());
            }
            Data::Decimals(values) => self.add(rows, nulls, |row| values[row]),
            _ => {}
        }
    }

    fn add(&mut self, group: usize, number: i128, values: i64) {
        if values == 0 {
            return;
        }
        self.bound(number.unsigned_abs());
        self.seen.set(group);
        match &mut self.wide {
            None => self.small[group] += number as i64,
            Some(wide) => Sum::add_wide(wide, self.wraps.as_mut(), group, number),
        }
    }

    fn merge(&mut self, from: &dyn State, groups: &[u32], to: &[u32]) {
        let from = same::<Sum>(from);
        self.bound(from.bound);
        self.seen.merge(&from.seen, groups, to);
        let pairs = groups.iter().zip(to).map(|(&group, &to)| (group as usize, to as usize));
        match (&mut self.wide, &mut self.wraps) {
            (None, _) => pairs.for_each(|(group, to)| self.small[to] += from.small[group]),
            (Some(wide), wraps) => pairs.for_each(|(group, to)| {
                Sum::add_wide(wide, wraps.as_mut(), to, from.sum(group));
                if let (Some(wraps), Some(more)) = (wraps.as_mut(), &from.wraps) {
                    wraps[to] += more[group];
                }
            }),
        }
    }

    fn encode(&self, group: usize, out: &mut Vec<u8>) {
        let wraps = self.wraps.as_ref().map_or(0, |wraps| wraps[group]);
        match (self.seen.has(group), wraps) {
            (false, _) => out.push(0),
            (true, 0) => out.push(1),
            (true, wraps) => {
                out.push(2);
                out.extend_from_slice(&wraps.to_le_bytes());
            }
        }
        if self.seen.has(group) {
            put_number(self.sum(group), out);
        }
    }

    fn decode(&mut self, group: usize, from: &mut &[u8]) -> Option<()> {
        let wraps = match take::<1>(from)? {
            [0] => return Some(()),
            [1] => 0,
            [2] => i32::from_le_bytes(take(from)?),
            _ => return None,
        };
        let sum = take_number(from)?;
        self.bound(if wraps == 0 { sum.unsigned_abs() } else { u128::MAX });
        self.seen.set(group);
        match &mut self.wide {
            None => self.small[group] += sum as i64,
            Some(wide) => {
                Sum::add_wide(wide, self.wraps.as_mut(), group, sum);
                if let Some(of) = &mut self.wraps {
                    of[group] = of[group].checked_add(wraps)?;
                }
            }
        }
        Some(())
    }

    fn results(&self, groups: &[u32]) -> Vector {
        let nulls = self.seen.nulls(groups);
        let data = match &self.wide {
            None => Data::SmallDecimals(groups.iter().map(|&group| self.small[group as usize]).collect()),
            Some(wide) => smallest(groups.iter().map(|&group| wide[group as usize]).collect()),
        };
        Vector { data, nulls }
    }
}
