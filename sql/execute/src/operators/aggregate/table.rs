//! Groups with the states of their aggregates, and the memory that they take.

use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::memory::{Budget, Grant};

use super::calls::Calls;
use super::groups::{Groups, Shortage};
use super::keys::{KeyRows, Keys, Layout, put_key};
use super::states::{Argument, Rows, State};

/// A table of groups.
pub struct Table {
    pub groups: Groups,
    pub states: Vec<Box<dyn State>>,
    /// Memory; none if the caller has taken it.
    grant: Option<Grant>,
    /// Groups of the rows of a call.
    found: Vec<u32>,
}

/// Rows that come into a table.
pub trait Feed {
    type Keys: Keys;

    fn keys(&self) -> &Self::Keys;

    /// Adds some rows to the states of their groups, all of which exist.
    fn apply(&self, states: &mut [Box<dyn State>], rows: &[u32], groups: &[u32], all_groups: usize) -> Result<()>;
}

impl Table {
    /// Returns an empty table whose memory comes from a budget.
    pub fn new(layout: &Arc<Layout>, shared_bits: u32, calls: &Calls, budget: Option<&Arc<Budget>>) -> Result<Table> {
        let (groups, states) = (Groups::new(layout, shared_bits), calls.new_states()?);
        let grant = match budget {
            Some(budget) => Some(budget.grant(0, "an aggregate")?),
            None => None,
        };
        Ok(Table { groups, states, grant, found: Vec::new() })
    }

    fn group_bytes(&self) -> usize {
        self.states.iter().map(|states| states.group_bytes()).sum()
    }

    fn other_bytes(&self) -> usize {
        self.states.iter().map(|states| states.other_bytes()).sum()
    }

    /// Returns the bytes that the table takes.
    pub fn used_bytes(&self) -> usize {
        let (slots, texts) = self.groups.used_bytes();
        slots + texts + self.groups.capacity() * self.group_bytes() + self.other_bytes()
    }

    /// Adds rows as far as there is room. Returns the number of rows, and what the table lacks if a row is left.
    pub fn absorb(&mut self, feed: &impl Feed, rows: &[u32]) -> Result<(usize, Option<Shortage>)> {
        self.found.clear();
        let shortage = self.groups.assign(feed.keys(), rows, &mut self.found);
        let done = self.found.len();
        if done > 0 {
            let all = self.groups.len();
            self.states.iter_mut().for_each(|states| states.resize(all));
            feed.apply(&mut self.states, &rows[..done], &self.found, all)?;
        }
        Ok((done, shortage))
    }

    /// Adds rows whose groups are known; all groups exist.
    pub fn update(&mut self, feed: &impl Feed, rows: &[u32], groups: &[u32]) -> Result<()> {
        let all = self.groups.len();
        self.states.iter_mut().for_each(|states| states.resize(all));
        feed.apply(&mut self.states, rows, groups, all)
    }

    /// Takes memory for what the table lacks; returns false, without a change, if there is none.
    pub fn grow(&mut self, shortage: Shortage) -> bool {
        let (slots, texts) = self.groups.used_bytes();
        let used = self.used_bytes();
        if shortage.text_bytes > 0 {
            let bytes = self.groups.next_text_bytes(shortage.text_bytes);
            if !self.take(used - texts + bytes) {
                return false;
            }
            self.groups.grow_texts(bytes);
            return true;
        }
        let (capacity, bytes) = self.groups.next_size();
        if !self.take(used - slots + bytes + (capacity - self.groups.capacity()) * self.group_bytes()) {
            return false;
        }
        self.groups.grow();
        self.states.iter_mut().for_each(|states| states.reserve(capacity));
        true
    }

    /// Takes memory for all groups of another table; returns false if there is too little.
    pub fn grow_for(&mut self, other: &Groups) -> bool {
        while self.groups.capacity() < self.groups.len() + other.len() {
            if !self.grow(Shortage::default()) {
                return false;
            }
        }
        let (_, text_bytes) = other.used_bytes();
        text_bytes == 0 || self.grow(Shortage { text_bytes })
    }

    /// Takes memory for what the states took by themselves; returns false if there is none.
    pub fn settle(&mut self) -> bool {
        let used = self.used_bytes();
        match &self.grant {
            Some(grant) if used as u64 > grant.bytes() => self.take(used + used / 16) || self.take(used),
            _ => true,
        }
    }

    fn take(&mut self, bytes: usize) -> bool {
        self.grant.as_mut().is_none_or(|grant| grant.try_resize(bytes as u64))
    }

    /// Removes all groups, and keeps the memory of slots.
    pub fn clear(&mut self) {
        self.groups.clear();
        self.states.iter_mut().for_each(|states| states.clear());
    }

    /// Returns true if keys or results may have long texts.
    pub fn has_texts(&self) -> bool {
        !self.groups.layout().texts.is_empty() || self.states.iter().any(|states| states.has_texts())
    }

    /// Returns the bytes of the texts in a group's row.
    pub fn text_bytes(&self, group: u32) -> usize {
        let layout = self.groups.layout();
        let words = &self.groups.words()[group as usize * layout.width..][..layout.width];
        let keys = layout.texts.iter().filter_map(|&at| Layout::long_len(words[at])).sum::<usize>();
        keys + self.states.iter().map(|states| states.result_bytes(group)).sum::<usize>()
    }

    /// Appends the states of a group.
    pub fn put_states(&self, group: usize, out: &mut Vec<u8>) {
        self.states.iter().for_each(|states| states.encode(group, out));
    }

    /// Appends the key of a group as bytes that sort by its hash. Returns their number.
    pub fn put_key(&self, group: usize, out: &mut Vec<u8>) -> usize {
        let before = out.len();
        put_key(self.groups.layout(), &self.groups, group, out);
        out.len() - before
    }
}

/// The groups of another table.
impl Feed for Table {
    type Keys = Groups;

    fn keys(&self) -> &Groups {
        &self.groups
    }

    fn apply(&self, states: &mut [Box<dyn State>], rows: &[u32], groups: &[u32], _all: usize) -> Result<()> {
        states.iter_mut().zip(&self.states).for_each(|(to, from)| to.merge(&**from, rows, groups));
        Ok(())
    }
}

/// Values of a batch that keys and aggregates need.
#[derive(Default)]
pub struct Prepared {
    pub rows: usize,
    pub arguments: Vec<Argument>,
    /// For each condition, true for each row that meets it.
    pub masks: Vec<Vec<bool>>,
}

/// Rows of a batch with their keys.
pub struct BatchFeed<'a> {
    pub batch: &'a Prepared,
    pub keys: &'a KeyRows,
    pub calls: &'a Calls,
}

impl Feed for BatchFeed<'_> {
    type Keys = KeyRows;

    fn keys(&self) -> &KeyRows {
        self.keys
    }

    fn apply(&self, states: &mut [Box<dyn State>], rows: &[u32], groups: &[u32], all: usize) -> Result<()> {
        let Prepared { arguments, masks, .. } = self.batch;
        let rows = (rows.len() < self.batch.rows).then_some(rows);
        let whole = Rows::new(groups, rows, all);
        let mut parts: Vec<Option<(Vec<u32>, Vec<u32>)>> = masks.iter().map(|_| None).collect();
        for (states, column) in states.iter_mut().zip(&self.calls.states) {
            let argument = column.argument.map(|number| &arguments[number]);
            let Some(condition) = column.condition else {
                states.update(&whole, argument);
                continue;
            };
            let (groups, rows) = parts[condition].get_or_insert_with(|| {
                let row = |n: usize| rows.map_or(n as u32, |rows| rows[n]);
                let all = groups.iter().enumerate().map(|(n, &group)| (group, row(n)));
                all.filter(|(_, row)| masks[condition][*row as usize]).unzip()
            });
            let mut part = Rows::new(groups, Some(rows), all);
            part.is_part = true;
            states.update(&part, argument);
        }
        Ok(())
    }
}

/// Groups that come from a file.
#[derive(Default)]
pub struct Records {
    pub keys: KeyRows,
    /// States of each, as a stretch of `bytes`.
    pub states: Vec<std::ops::Range<usize>>,
    pub bytes: Vec<u8>,
}

pub fn damaged() -> Error {
    Error::new(Code::Corrupt, "a spilled group of an aggregate is damaged").hint("run the query again; check the disk")
}

impl Feed for Records {
    type Keys = KeyRows;

    fn keys(&self) -> &KeyRows {
        &self.keys
    }

    fn apply(&self, states: &mut [Box<dyn State>], rows: &[u32], groups: &[u32], _all: usize) -> Result<()> {
        for (&row, &group) in rows.iter().zip(groups) {
            let mut from = &self.bytes[self.states[row as usize].clone()];
            for states in states.iter_mut() {
                states.decode(group as usize, &mut from).ok_or_else(damaged)?;
            }
            if !from.is_empty() {
                return Err(damaged());
            }
        }
        Ok(())
    }
}

/// Keys without rows, whose groups have empty states.
pub struct KeysAlone(pub KeyRows);

impl Feed for KeysAlone {
    type Keys = KeyRows;

    fn keys(&self) -> &KeyRows {
        &self.0
    }

    fn apply(&self, _: &mut [Box<dyn State>], _: &[u32], _: &[u32], _: usize) -> Result<()> {
        Ok(())
    }
}
