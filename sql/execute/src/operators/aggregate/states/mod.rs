//! States of aggregates: of each aggregate those of all groups side by side, so that a loop over rows touches what it
//! needs and no more. No state depends on the order of rows.
//!
//! ```text
//!   count.rs      rows, or values
//!   sum.rs        exact sums of integers and decimals: 64 bits as long as no sum can be larger
//!   float_sum.rs  exact sums of floats, and of their squares
//!   least.rs      least or largest number
//!   text.rs       least or largest text
//!   sketch.rs     approximate number of different values
//!   distinct.rs   different values, each of which counts once in a state within
//!   foreign.rs    states of the user's aggregates
//! ```

use std::any::Any;
use std::cell::OnceCell;
use std::sync::Arc;

use yunti_engine::columns::vector::{Data, Vector};

pub mod count;
pub mod distinct;
pub mod float_sum;
pub mod foreign;
pub mod least;
pub mod sketch;
pub mod sum;
pub mod text;

/// States of one aggregate.
pub trait State: Any + Send {
    /// Adds empty states up to a number of groups.
    fn resize(&mut self, groups: usize);

    /// Takes memory for a number of groups.
    fn reserve(&mut self, groups: usize);

    /// Removes all states. Memory that `reserve` took stays.
    fn clear(&mut self);

    /// Returns the bytes that `reserve` takes for a group.
    fn group_bytes(&self) -> usize;

    /// Returns the bytes that the states take beside those.
    fn other_bytes(&self) -> usize;

    /// Adds rows.
    fn update(&mut self, rows: &Rows<'_>, argument: Option<&Argument>);

    /// Adds a sum, a count, or a least or largest number of some values of a group, which generated code has computed.
    /// Called for states that `Calls::kind_of_state` knows.
    fn add(&mut self, _group: usize, _number: i128, _values: i64) {}

    /// Adds states of the same type, each to a group.
    fn merge(&mut self, from: &dyn State, groups: &[u32], to: &[u32]);

    /// Appends the state of a group.
    fn encode(&self, group: usize, out: &mut Vec<u8>);

    /// Takes a state from the front of `from`, and adds it to a group's. Returns None if it is damaged.
    fn decode(&mut self, group: usize, from: &mut &[u8]) -> Option<()>;

    /// Returns the results of some groups.
    fn results(&self, groups: &[u32]) -> Vector;

    /// Returns true if results are texts.
    fn has_texts(&self) -> bool {
        false
    }

    /// Returns the bytes of a group's text.
    fn result_bytes(&self, _group: u32) -> usize {
        0
    }
}

/// Returns the states of another table as those of the same type. All tables of an operator have the same states.
fn same<S: State>(from: &dyn State) -> &S {
    (from as &dyn Any).downcast_ref().expect("states of one aggregate have one type")
}

/// Values of a batch, without codes of numbers.
pub struct Argument {
    pub vector: Arc<Vector>,
    /// Largest distance of an integer from zero; those of nulls count.
    pub most: u128,
    /// Values of the arguments behind this one, for aggregates that take several.
    pub with: Vec<Arc<Vector>>,
}

impl Argument {
    pub fn new(vector: Arc<Vector>) -> Argument {
        let vector = match vector.decoded() {
            std::borrow::Cow::Owned(decoded) => Arc::new(decoded),
            std::borrow::Cow::Borrowed(_) => vector,
        };
        let most = match &vector.data {
            Data::Ints(values) | Data::SmallDecimals(values) => {
                let (least, most) = values.iter().fold((0, 0), |(a, b), &v| (v.min(a), v.max(b)));
                u128::from(least.unsigned_abs().max(most.unsigned_abs()))
            }
            Data::Decimals(values) => values.iter().map(|v| v.unsigned_abs()).max().unwrap_or(0),
            _ => 0,
        };
        Argument { vector, most, with: Vec::new() }
    }
}

/// Rows of a batch with their groups.
pub struct Rows<'a> {
    pub groups: &'a [u32],
    /// Numbers of the rows in the batch; None: all, in order.
    pub rows: Option<&'a [u32]>,
    /// Groups of the table, if they are few for the rows; 0: they are many.
    pub few: usize,
    /// True if a group may have no row here although it is new.
    pub is_part: bool,
    tally: OnceCell<Vec<i64>>,
}

/// Groups that have lanes of their own, at most.
const FEW_GROUPS: usize = 512;
/// Tables of sums that take turns: rows of one group do not wait for each other.
const LANES: usize = 4;

impl<'a> Rows<'a> {
    /// Returns rows of a table that has `all` groups.
    pub fn new(groups: &'a [u32], rows: Option<&'a [u32]>, all: usize) -> Rows<'a> {
        let few = if all <= FEW_GROUPS && all * LANES <= groups.len() { all } else { 0 };
        Rows { groups, rows, few, is_part: false, tally: OnceCell::new() }
    }

    /// Returns the number of rows of each group, if the groups are few.
    fn tally(&self) -> Option<&[i64]> {
        (self.few > 0).then(|| &self.tally.get_or_init(|| by_lanes(self.groups, self.few, |_| 1).collect())[..])
    }

    /// Calls `f` with the group and the number of each row that is no null.
    #[inline(always)]
    fn each(&self, nulls: Option<&Vec<bool>>, mut f: impl FnMut(usize, usize)) {
        match (self.rows, nulls) {
            (None, None) => self.groups.iter().enumerate().for_each(|(row, &group)| f(group as usize, row)),
            (Some(rows), None) => {
                self.groups.iter().zip(rows).for_each(|(&group, &row)| f(group as usize, row as usize));
            }
            (None, Some(nulls)) => {
                for ((row, &group), null) in self.groups.iter().enumerate().zip(nulls) {
                    if !null {
                        f(group as usize, row);
                    }
                }
            }
            (Some(rows), Some(nulls)) => {
                for (&group, &row) in self.groups.iter().zip(rows) {
                    if !nulls[row as usize] {
                        f(group as usize, row as usize);
                    }
                }
            }
        }
    }
}

/// Returns the sum of `value` over the rows of each group.
fn by_lanes(rows: &[u32], groups: usize, value: impl Fn(usize) -> i64) -> impl Iterator<Item = i64> {
    let mut lanes = vec![0i64; groups * LANES];
    let (four, rest) = rows.as_chunks::<LANES>();
    for (n, groups) in four.iter().enumerate() {
        for (lane, &group) in groups.iter().enumerate() {
            let sum = &mut lanes[group as usize * LANES + lane];
            *sum = sum.wrapping_add(value(n * LANES + lane));
        }
    }
    for (n, &group) in rest.iter().enumerate() {
        let sum = &mut lanes[group as usize * LANES];
        *sum = sum.wrapping_add(value(four.len() * LANES + n));
    }
    (0..groups).map(move |group| lanes[group * LANES..][..LANES].iter().fold(0, |a, b| i64::wrapping_add(a, *b)))
}

/// Groups that have a value. As long as all have one, it needs no memory.
#[derive(Default)]
pub struct Seen {
    groups: usize,
    /// Groups, from the first, that all have a value while there are no flags.
    first: usize,
    flags: Option<Vec<bool>>,
}

impl Seen {
    fn resize(&mut self, groups: usize) {
        self.groups = groups;
        if let Some(flags) = &mut self.flags {
            flags.resize(groups, false);
        }
    }

    fn clear(&mut self) {
        *self = Seen::default();
    }

    fn used_bytes(&self) -> usize {
        self.flags.as_ref().map_or(0, Vec::capacity)
    }

    #[inline]
    fn has(&self, group: usize) -> bool {
        match &self.flags {
            Some(flags) => flags[group],
            None => group < self.first,
        }
    }

    fn flags(&mut self) -> &mut Vec<bool> {
        self.flags.get_or_insert_with(|| {
            let mut flags = vec![true; self.first.min(self.groups)];
            flags.resize(self.groups, false);
            flags
        })
    }

    fn set(&mut self, group: usize) {
        self.flags()[group] = true;
    }

    /// Notes the values of rows.
    fn note(&mut self, rows: &Rows<'_>, nulls: Option<&Vec<bool>>) {
        if !rows.is_part && nulls.is_none() && self.flags.is_none() {
            // Groups are made by rows, so that each new group has one here.
            self.first = self.groups;
            return;
        }
        let flags = self.flags();
        rows.each(nulls, |group, _| flags[group] = true);
    }

    /// Notes the values of states of another table.
    fn merge(&mut self, from: &Seen, groups: &[u32], to: &[u32]) {
        if self.flags.is_none() && from.flags.is_none() && from.first == from.groups {
            self.first = self.groups;
            return;
        }
        let flags = self.flags();
        groups.iter().zip(to).for_each(|(&group, &to)| flags[to as usize] |= from.has(group as usize));
    }

    /// Returns the nulls of some groups' results.
    fn nulls(&self, groups: &[u32]) -> Option<Vec<bool>> {
        let nulls: Vec<bool> = groups.iter().map(|&group| !self.has(group as usize)).collect();
        nulls.contains(&true).then_some(nulls)
    }
}

/// Takes some bytes from the front of `from`.
fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, rest) = from.split_first_chunk::<N>()?;
    *from = rest;
    Some(*bytes)
}

/// Appends a number: small ones in few bytes, whatever their sign.
fn put_number(number: i128, out: &mut Vec<u8>) {
    let mut rest = (number << 1 ^ number >> 127) as u128;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Takes such a number.
fn take_number(from: &mut &[u8]) -> Option<i128> {
    let mut number = 0u128;
    for shift in (0..128).step_by(7) {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        number |= u128::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some((number >> 1) as i128 ^ -((number & 1) as i128));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, -1, 63, 64, -64, -65, i128::from(i64::MIN), i128::MAX, i128::MIN] {
            let mut bytes = Vec::new();
            put_number(number, &mut bytes);
            assert_eq!(take_number(&mut &bytes[..]), Some(number));
            assert_eq!(take_number(&mut &bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(take_number(&mut &[0xff; 40][..]), None);
    }
}
