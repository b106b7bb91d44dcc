//! A window of records grouped by key, the input of a combiner.
//!
//! ```text
//!   records ->  table: key -> number of its group
//!               (group, value), in the order of emission
//!               counted, scattered by group  ->  Groups
//! ```
//!
//! Grouping costs about as much as folding; sorting the records instead costs forty times as much. Groups are in no
//! order.

use std::sync::Arc;

use super::batch::{Batch, Values as BatchValues, slice};
use super::table::{FoldProgress, FoldTable, GroupSink, RecordUse};
use crate::bytes::RecordBytes;
use crate::memory::Budget;
use crate::memory::buffer::SLACK_BYTES;
use crate::operator::cursor::RefEntry;
use crate::operator::folder::state_number;
use crate::operator::groups::{Groups, Values};
use yunti_base::Result;

/// Records of a window; their values fit in L2 while they are grouped.
const WINDOW_RECORDS: usize = if cfg!(debug_assertions) { 300 } else { 64 << 10 };
/// Records of a window while all values are 1: only their count is grouped.
const WINDOW_ONES: usize = 4 * WINDOW_RECORDS;
/// Bytes of a window's values that are not numbers.
const WINDOW_BYTES: usize = if cfg!(debug_assertions) { 4 << 10 } else { 1 << 20 };

/// Records of a window, and the table that numbers their keys.
pub struct Window {
    table: FoldTable,
    records: Records,
    columns: Columns,
}

/// Records so far: the numbers of their groups, and their values.
#[derive(Default)]
struct Records {
    groups: Vec<u32>,
    /// True if values are numbers of eight bytes.
    eight: bool,
    /// Values; empty as long as all are 1.
    numbers: Vec<u64>,
    /// Values that are not numbers, as (offset, length) in `bytes`.
    spans: Vec<[u32; 2]>,
    bytes: Vec<u8>,
}

/// Columns of the groups; kept for their memory.
#[derive(Default)]
struct Columns {
    /// Keys, then values that are not numbers.
    data: Vec<u8>,
    koff: Vec<u32>,
    klen: Vec<u32>,
    first: Vec<u32>,
    /// Position of each group's next value.
    next: Vec<u32>,
    v8: Vec<u64>,
    voff: Vec<u32>,
    vlen: Vec<u32>,
}

impl Window {
    /// `eight`: values are numbers of eight bytes. `budget` holds the table; fails with `Code::Memory` if it is too
    /// small.
    pub fn new(eight: bool, seed: u64, budget: &Arc<Budget>) -> Result<Window> {
        let table = FoldTable::numbering(eight, seed, budget)?;
        Ok(Window { table, records: Records { eight, ..Records::default() }, columns: Columns::default() })
    }

    /// Returns the number of records taken so far, including those already handed out.
    pub fn taken(&self) -> u64 {
        self.table.records()
    }

    /// Returns the bytes of these records.
    pub fn bytes(&self) -> RecordBytes {
        self.table.bytes()
    }

    /// Returns true if the window has no records.
    pub fn is_empty(&self) -> bool {
        self.records.groups.is_empty()
    }

    /// Returns true if the window should be handed out.
    pub fn is_full(&self) -> bool {
        let ones = self.records.eight && self.records.numbers.is_empty();
        let records_max = if ones { WINDOW_ONES } else { WINDOW_RECORDS };
        self.records.groups.len() >= records_max || self.records.bytes.len() >= WINDOW_BYTES
    }

    /// Takes entries of form ONE, as `FoldTable::fold_one` does.
    pub fn take_one(&mut self, data: &[u8], entries: &[[u32; 2]]) -> Result<FoldProgress> {
        self.table.ones(RecordUse::Number(&mut self.records), data, entries)
    }

    /// Takes entries of form REF.
    pub fn take_ref(&mut self, data: &[u8], entries: &[RefEntry]) -> Result<FoldProgress> {
        self.table.references(RecordUse::Number(&mut self.records), data, entries)
    }

    /// Takes a block of form COPY.
    pub fn take_copied(&mut self, block: &[u8]) -> Result<FoldProgress> {
        self.table.copied(RecordUse::Number(&mut self.records), block)
    }

    /// Passes all groups to `each` at once and empties the window. Fails with the error of `each`.
    pub fn hand_out(&mut self, each: impl FnOnce(&Groups<'_>) -> Result<()>) -> Result<()> {
        let Window { table, records, columns } = self;
        let groups = table.len();
        columns.keys(table)?;
        columns.count(&records.groups, groups);
        let Columns { data, koff, klen, first, next, v8, voff, vlen } = columns;
        let mut place = |group: u32| {
            let at = next[group as usize];
            next[group as usize] += 1;
            at as usize
        };
        let total = records.groups.len();
        let values = if !records.eight {
            let base = data.len() as u32;
            data.extend_from_slice(&records.bytes);
            voff.resize(total, 0);
            vlen.resize(total, 0);
            for (&group, &[offset, len]) in records.groups.iter().zip(&records.spans) {
                let at = place(group);
                (voff[at], vlen[at]) = (base + offset, len);
            }
            Values::Slices { offsets: &voff[..total], lengths: &vlen[..total] }
        } else if records.numbers.is_empty() {
            // Ones need no positions.
            v8.clear();
            v8.resize(total, 1);
            Values::Eight(v8)
        } else {
            v8.resize(total, 0);
            for (&group, &number) in records.groups.iter().zip(&records.numbers) {
                v8[place(group)] = number;
            }
            Values::Eight(&v8[..total])
        };
        data.reserve(SLACK_BYTES);
        let result = each(&Groups::new(data, koff, klen, first, values, 0));
        records.clear();
        columns.forget_large();
        result
    }
}

impl Columns {
    /// Sets the keys of the groups, in the order of their numbers, and empties the table.
    fn keys(&mut self, table: &mut FoldTable) -> Result<()> {
        let Columns { data, koff, klen, .. } = self;
        data.clear();
        koff.resize(table.len(), 0);
        klen.resize(table.len(), 0);
        table.drain(|keys, states| {
            for (key, state) in keys.iter().zip(states) {
                let group = state_number(state.cast_mut()) as usize;
                (koff[group], klen[group]) = (data.len() as u32, key.len() as u32);
                data.extend_from_slice(key);
            }
            Ok(())
        })
    }

    /// Sets the position of each group's first value.
    fn count(&mut self, groups: &[u32], n: usize) {
        let Columns { first, next, .. } = self;
        next.clear();
        next.resize(n, 0);
        for &group in groups {
            next[group as usize] += 1;
        }
        first.clear();
        let mut at = 0;
        for count in next {
            first.push(at);
            at += std::mem::replace(count, at);
        }
        first.push(at);
    }

    fn forget_large(&mut self) {
        self.data.clear();
        self.data.shrink_to(2 * WINDOW_BYTES);
    }
}

impl Records {
    fn clear(&mut self) {
        self.groups.clear();
        self.numbers.clear();
        self.spans.clear();
        self.bytes.clear();
        self.bytes.shrink_to(2 * WINDOW_BYTES);
    }
}

impl GroupSink for Records {
    fn take(&mut self, numbers: &[u32], batch: &Batch, data: &[u8]) {
        let before = self.groups.len();
        self.groups.extend_from_slice(numbers);
        match batch.values {
            BatchValues::Ones if self.numbers.is_empty() && self.eight => {}
            BatchValues::Spans => {
                for &span in &batch.value_spans[..numbers.len()] {
                    self.push(slice(data, span));
                }
            }
            _ if self.eight => {
                // All earlier values were 1.
                self.numbers.resize(before, 1);
                self.numbers.extend_from_slice(&batch.numbers[..numbers.len()]);
            }
            _ => {
                for number in &batch.numbers[..numbers.len()] {
                    self.push(&number.to_le_bytes());
                }
            }
        }
    }
}

impl Records {
    fn push(&mut self, value: &[u8]) {
        self.spans.push([self.bytes.len() as u32, value.len() as u32]);
        self.bytes.extend_from_slice(value);
    }
}
