//! Different values of each group. A value counts once in the state within, when it comes first.
//!
//! ```text
//!   set       (group, value) --> entry             a table of groups itself
//!   chains    group --> last entry --> entry before it --> ..
//!   within    counts or sums of the entries
//! ```

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::vector::{Data, Vector};

use super::{Argument, Rows, State, put_number, same, take_number};
use crate::operators::aggregate::groups::Groups;
use crate::operators::aggregate::keys::{KeyEncoder, KeyRows, Keys, Layout, put_key};
use arrow_schema::DataType;

pub struct Distinct {
    layout: Arc<Layout>,
    encoder: KeyEncoder,
    set: Groups,
    /// Last entry of each group, plus one.
    heads: Vec<u32>,
    /// Entry before each, plus one.
    before: Vec<u32>,
    within: Box<dyn State>,
}

impl Distinct {
    /// Returns the states of a function of different values of a type. Errors: `Usage` for a type without a shape.
    pub fn new(data_type: &DataType, within: Box<dyn State>) -> Result<Distinct> {
        // The first word of an entry is its group, which has fewer bits than a null.
        let layout = Arc::new(Layout::new(&[DataType::UInt32, data_type.clone()])?);
        let (encoder, set) = (KeyEncoder::new(&layout), Groups::new(&layout, 0));
        Ok(Distinct { layout, encoder, set, heads: Vec::new(), before: Vec::new(), within })
    }

    pub fn within(&self) -> &dyn State {
        &*self.within
    }

    /// Finds or adds the entries of some keys; returns the rows that are new.
    fn add(&mut self, keys: &KeyRows, rows: &[u32]) -> Vec<u32> {
        let mut entries = Vec::with_capacity(rows.len());
        loop {
            let done = entries.len();
            match self.set.assign(keys, &rows[done..], &mut entries) {
                None => break,
                Some(shortage) if shortage.text_bytes > 0 => {
                    let bytes = self.set.next_text_bytes(shortage.text_bytes);
                    self.set.grow_texts(bytes);
                }
                Some(_) => self.set.grow(),
            }
        }
        let mut new = Vec::new();
        for (&row, &entry) in rows.iter().zip(&entries) {
            if entry as usize == self.before.len() {
                let group = keys.words()[row as usize * self.layout.width] as usize;
                self.before.push(self.heads[group]);
                self.heads[group] = entry + 1;
                new.push(row);
            }
        }
        new
    }

    /// Adds entries whose keys have the group as their first word.
    fn add_entries(&mut self, keys: &KeyRows) {
        let rows: Vec<u32> = (0..keys.hashes().len() as u32).collect();
        let new = self.add(keys, &rows);
        let argument = Argument::new(Arc::new(self.layout.decode(1, keys, &new)));
        let groups: Vec<u32> = new.iter().map(|&row| keys.words()[row as usize * self.layout.width] as u32).collect();
        let mut rows = Rows::new(&groups, None, self.heads.len());
        rows.is_part = true;
        self.within.update(&rows, Some(&argument));
    }

    /// Calls `f` with each entry of a group.
    fn entries(&self, group: usize, mut f: impl FnMut(usize)) {
        let mut at = self.heads[group];
        while at != 0 {
            f(at as usize - 1);
            at = self.before[at as usize - 1];
        }
    }
}

impl State for Distinct {
    fn resize(&mut self, groups: usize) {
        self.heads.resize(groups, 0);
        self.within.resize(groups);
    }

    fn reserve(&mut self, groups: usize) {
        self.heads.reserve_exact(groups - self.heads.len());
        self.within.reserve(groups);
    }

    fn clear(&mut self) {
        self.set = Groups::new(&self.layout, 0);
        self.heads.clear();
        self.before = Vec::new();
        self.within.clear();
    }

    fn group_bytes(&self) -> usize {
        4 + self.within.group_bytes()
    }

    fn other_bytes(&self) -> usize {
        let (slots, texts) = self.set.used_bytes();
        slots + texts + 4 * self.before.capacity() + self.within.other_bytes()
    }

    fn update(&mut self, rows: &Rows<'_>, argument: Option<&Argument>) {
        let Some(Argument { vector, most, .. }) = argument else { return };
        let (mut groups, mut chosen) = (Vec::new(), Vec::new());
        rows.each(vector.nulls.as_ref(), |group, row| {
            groups.push(group as i64);
            chosen.push(row as u32);
        });
        let values = Arc::new(if chosen.len() == vector.len() && rows.rows.is_none() {
            Vector { data: vector.data.clone(), nulls: None }
        } else {
            Vector::of(vector.data.select(&chosen))
        });
        let columns = [Some(Arc::new(Vector::of(Data::Ints(groups)))), Some(values.clone())];
        // The types of both columns were checked when the operator began.
        let Ok(keys) = self.encoder.encode(&columns, chosen.len()) else { return };
        let all: Vec<u32> = (0..chosen.len() as u32).collect();
        let new = self.add(&keys, &all);
        let groups: Vec<u32> = new.iter().map(|&row| keys.words()[row as usize * self.layout.width] as u32).collect();
        let mut part = Rows::new(&groups, Some(&new), self.heads.len());
        part.is_part = true;
        self.within.update(&part, Some(&Argument { vector: values, most: *most, with: Vec::new() }));
    }

    fn merge(&mut self, from: &dyn State, groups: &[u32], to: &[u32]) {
        let from = same::<Distinct>(from);
        let mut keys = KeyRows::default();
        for (&group, &to) in groups.iter().zip(to) {
            from.entries(group as usize, |entry| keys.push_with(&self.layout, &from.set, entry, to.into()));
        }
        self.add_entries(&keys);
    }

    fn encode(&self, group: usize, out: &mut Vec<u8>) {
        let mut n = 0;
        self.entries(group, |_| n += 1);
        put_number(n, out);
        self.entries(group, |entry| put_key(&self.layout, &self.set, entry, out));
    }

    fn decode(&mut self, group: usize, from: &mut &[u8]) -> Option<()> {
        let n = take_number(from)?;
        let (mut read, mut keys) = (KeyRows::default(), KeyRows::default());
        for row in 0..usize::try_from(n).ok()? {
            read.push_encoded(&self.layout, from)?;
            keys.push_with(&self.layout, &read, row, group as u64);
        }
        self.add_entries(&keys);
        Some(())
    }

    fn results(&self, groups: &[u32]) -> Vector {
        self.within.results(groups)
    }
}
