//! The sink that combines: a window of records is grouped by key, the combiner is called once a key, and what it emits is
//! collected.
//!
//! ```text
//!   window of records ->  table: key -> number of its group
//!                         (group, value), in the order of emission
//!                         counted, scattered by group  ->  Groups  ->  combiner  ->  collector
//! ```
//!
//! The table that folds states gives the groups their numbers: a state here is just the number. Grouping costs about what folding
//! does; sorting every record before the combiner sees it costs forty times as much. Keys come to the combiner in no order, as
//! its contract allows; it is called again, in order, when runs are spilled.

use std::sync::Arc;

use crate::base::Result;
use crate::collect::Collector;
use crate::fold::FoldTable;
use crate::map::fold_sink::REFS_BYTES;
use crate::map::timed::Timed;
use crate::memory::Budget;
use crate::memory::buffer::SLACK_BYTES;
use crate::operator::cursor::Scratch;
use crate::operator::folder::{FoldShape, FoldValues, Folder, set_state_number, state_number};
use crate::operator::groups::{Groups, Values};
use crate::operator::{Emitter, Form, Out, Reducer, Sink, Type};

/// Records of a window. Their values lie in L2 while they are grouped.
const WINDOW_RECORDS: usize = if cfg!(debug_assertions) { 300 } else { 64 << 10 };
/// Bytes of values that are not numbers.
const WINDOW_BYTES: usize = if cfg!(debug_assertions) { 4 << 10 } else { 1 << 20 };

pub struct CombineSink<'a> {
    table: FoldTable,
    window: Window,
    combiner: Box<dyn Reducer>,
    collector: Emitter<Timed<Collector<'a>>>,
    form: Form,
    block: Scratch,
}

/// Gives groups their numbers, and keeps the values.
struct Window {
    eight: bool,
    /// Values of each group so far.
    counts: Vec<u32>,
    groups: Vec<u32>,
    numbers: Vec<u64>,
    /// Values that are not numbers: (offset, length) in `bytes`.
    spans: Vec<(u32, u32)>,
    bytes: Vec<u8>,
}

impl<'a> CombineSink<'a> {
    /// `budget` holds the table; `value_type` is what the mapper emits.
    pub fn new(
        budget: &Arc<Budget>,
        seed: u64,
        combiner: Box<dyn Reducer>,
        value_type: Type,
        form: Form,
        collector: Emitter<Timed<Collector<'a>>>,
    ) -> Result<Self> {
        let eight = value_type.fixed_bytes() == Some(8);
        let window = Window {
            eight,
            counts: Vec::new(),
            groups: Vec::new(),
            numbers: Vec::new(),
            spans: Vec::new(),
            bytes: Vec::new(),
        };
        let table = FoldTable::new(window.shape(), seed, budget)?;
        let block = Scratch::new()?;
        Ok(CombineSink { table, window, combiner, collector, form, block })
    }

    pub fn begin_split(&mut self, split: u32) -> Result<()> {
        self.collector.sink_mut().inner_mut().begin_split(split);
        self.collector.hand_over()
    }

    /// Combines what is in the window: at the end of a split, whose number the records bear.
    pub fn end_split(&mut self) -> Result<()> {
        self.combine()?;
        self.collector.hand_over()
    }

    pub fn finish(mut self) -> Result<Collector<'a>> {
        self.combine()?;
        self.collector.run(&[], |out| self.combiner.flush(out))?;
        Ok(self.collector.finish()?.into_inner())
    }

    fn room(&mut self) -> (*mut u8, usize) {
        let (start, room) = self.block.block();
        (start, if self.form == Form::Copy { room } else { REFS_BYTES })
    }

    fn combine(&mut self) -> Result<()> {
        let CombineSink { table, window, combiner, collector, .. } = self;
        let n = window.counts.len();
        if n == 0 {
            return Ok(());
        }
        // Where the values of each group begin.
        let mut first = Vec::with_capacity(n + 1);
        let mut next = Vec::with_capacity(n);
        let mut at = 0u32;
        for &count in &window.counts {
            first.push(at);
            next.push(at);
            at += count;
        }
        first.push(at);
        // Keys, then values that are not numbers.
        let mut data: Vec<u8> = Vec::with_capacity(n * 16 + window.bytes.len() + SLACK_BYTES);
        let (mut koff, mut klen) = (vec![0u32; n], vec![0u32; n]);
        table.drain(|keys, states| {
            for (key, state) in keys.iter().zip(states) {
                let group = state_number(state.cast_mut()) as usize;
                (koff[group], klen[group]) = (data.len() as u32, key.len() as u32);
                data.extend_from_slice(key);
            }
            Ok(())
        })?;
        let total = at as usize;
        let mut place = |group: u32| {
            let at = next[group as usize] as usize;
            next[group as usize] += 1;
            at
        };
        if window.eight {
            let mut v8 = vec![0u64; total];
            for (&group, &number) in window.groups.iter().zip(&window.numbers) {
                v8[place(group)] = number;
            }
            data.reserve(SLACK_BYTES);
            let groups = Groups::new(&data, &koff, &klen, &first, Values::Eight(&v8), 0);
            collector.run(&[], |out| combiner.reduce(&groups, out))?;
        } else {
            let base = data.len() as u32;
            data.extend_from_slice(&window.bytes);
            data.reserve(SLACK_BYTES);
            let (mut voff, mut vlen) = (vec![0u32; total], vec![0u32; total]);
            for (&group, &(offset, len)) in window.groups.iter().zip(&window.spans) {
                let at = place(group);
                (voff[at], vlen[at]) = (base + offset, len);
            }
            let values = Values::Slices { offsets: &voff, lengths: &vlen };
            let groups = Groups::new(&data, &koff, &klen, &first, values, 0);
            collector.run(&[], |out| combiner.reduce(&groups, out))?;
        }
        window.clear();
        Ok(())
    }
}

impl Window {
    fn is_full(&self) -> bool {
        self.groups.len() >= WINDOW_RECORDS || self.bytes.len() >= WINDOW_BYTES
    }

    fn clear(&mut self) {
        self.counts.clear();
        self.groups.clear();
        self.numbers.clear();
        self.spans.clear();
        self.bytes.clear();
        self.bytes.shrink_to(2 * WINDOW_BYTES);
    }
}

impl Folder for Window {
    fn shape(&self) -> FoldShape {
        FoldShape { state_bytes: 8, known: None, exact: true, eight: self.eight }
    }

    fn init(&mut self, states: &[*mut u8]) -> Result<()> {
        for &state in states {
            set_state_number(state, self.counts.len() as u64);
            self.counts.push(0);
        }
        Ok(())
    }

    fn fold(&mut self, states: &[*mut u8], values: FoldValues<'_>) -> Result<()> {
        for &state in states {
            let group = state_number(state) as u32;
            self.groups.push(group);
            self.counts[group as usize] += 1;
        }
        match values {
            FoldValues::Eight(numbers) => self.numbers.extend_from_slice(numbers),
            FoldValues::Slices(slices) => {
                for slice in slices {
                    self.spans.push((self.bytes.len() as u32, slice.len() as u32));
                    self.bytes.extend_from_slice(slice);
                }
            }
        }
        Ok(())
    }

    fn merge(&mut self, _: &[*mut u8], _: &[*const u8]) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self, _: &[&[u8]], _: &[*const u8], _: &mut Out) -> Result<()> {
        Ok(())
    }
}

impl Sink for CombineSink<'_> {
    fn form(&self, _: bool, _: bool) -> Form {
        self.form
    }

    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        Ok(self.room())
    }

    fn filled(&mut self, len: usize, _: usize, data: &[u8]) -> Result<(*mut u8, usize)> {
        // Counts bytes.
        let mut done = 0;
        while done < len {
            let (table, window, block) = (&mut self.table, &mut self.window, &self.block);
            match self.form {
                Form::Copy => done += table.fold_copied(window, &block.bytes(len)[done..])?.done,
                Form::One => done += 8 * table.fold_one(window, data, &block.ones(len)[done / 8..])?.done,
                Form::Ref => done += 16 * table.fold_ref(window, data, &block.refs(len)[done / 16..])?.done,
            }
            if done < len || self.window.is_full() {
                self.combine()?;
            }
        }
        Ok(self.room())
    }

    fn big(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        // It would not fit a window: it is collected as it is, behind what was emitted before it.
        self.combine()?;
        self.collector.run(&[], |out| Ok(out.emit(key, value)?))?;
        Ok(self.room())
    }
}
