//! Sink that combines: groups a window of records by key, calls the combiner once a key, and collects its output.
//!
//! Within a window, keys come to the combiner in any order, as its contract allows. Spilled runs are combined once
//! more, in key order.

use std::sync::Arc;

use crate::bytes::RecordBytes;
use crate::fold::Window;
use crate::key_order::KeyOrderCollector;
use crate::map::fold_sink::{REFS_BYTES, spill_splits};
use crate::map::timed_sink::TimedSink;
use crate::memory::Budget;
use crate::operator::cursor::Scratch;
use crate::operator::{Emitter, Form, Reducer, Sink, Type};
use yunti_base::Result;

/// Sink of a mapper with a combiner.
pub struct CombineSink<'a> {
    window: Window,
    combiner: Box<dyn Reducer>,
    collector: Emitter<TimedSink<KeyOrderCollector<'a>>>,
    form: Form,
    block: Scratch,
    /// Records too large for a window, and their bytes.
    large: u64,
    large_bytes: RecordBytes,
}

impl<'a> CombineSink<'a> {
    /// Makes a sink. `budget`: memory of the table. `value_type`: type of the mapper's values.
    pub fn new(
        budget: &Arc<Budget>,
        seed: u64,
        combiner: Box<dyn Reducer>,
        value_type: Type,
        form: Form,
        collector: Emitter<TimedSink<KeyOrderCollector<'a>>>,
    ) -> Result<Self> {
        let window = Window::new(value_type.fixed_bytes() == Some(8), seed, budget)?;
        let block = Scratch::new()?;
        Ok(CombineSink { window, combiner, collector, form, block, large: 0, large_bytes: RecordBytes::default() })
    }

    /// Returns the number of records combined so far, and of those too large for the combiner.
    pub fn records(&self) -> (u64, u64) {
        (self.window.taken(), self.large)
    }

    /// Returns the bytes of all these records.
    pub fn bytes(&self) -> RecordBytes {
        let mut bytes = self.window.bytes();
        bytes += self.large_bytes;
        bytes
    }

    /// Begins a split: collected records get its number.
    pub fn begin_split(&mut self, split: u32) -> Result<()> {
        self.collector.sink_mut().inner_mut().begin_split(split);
        self.collector.hand_over()
    }

    /// Combines the rest of the window at the end of a split, because its records have the number of this split.
    pub fn end_split(&mut self) -> Result<()> {
        self.combine()?;
        self.collector.hand_over()
    }

    /// Spills the records of finished splits, at the end of a split. `fresh`: another instance of the combiner, because
    /// the one so far emits what it still has.
    pub fn spill_splits(&mut self, fresh: Box<dyn Reducer>) -> Result<()> {
        let (combiner, collector) = (&mut self.combiner, &mut self.collector);
        collector.run(&[], |out| combiner.flush(out))?;
        self.combiner = fresh;
        spill_splits(&mut self.collector)
    }

    /// Returns the number of records that the collector has.
    pub fn collected(&self) -> u64 {
        self.collector.sink().inner().totals().0
    }

    /// Returns the memory of the collected records, as `Collector::fill` does.
    pub fn fill(&self) -> (u64, u64) {
        self.collector.sink().inner().fill()
    }

    /// Combines the rest and returns the collector.
    pub fn finish(mut self) -> Result<KeyOrderCollector<'a>> {
        self.combine()?;
        self.collector.run(&[], |out| self.combiner.flush(out))?;
        Ok(self.collector.finish()?.into_inner())
    }

    fn room(&mut self) -> (*mut u8, usize) {
        let (start, room) = self.block.block();
        (start, if self.form == Form::Copy { room } else { REFS_BYTES })
    }

    fn combine(&mut self) -> Result<()> {
        if self.window.is_empty() {
            return Ok(());
        }
        let (combiner, collector) = (&mut self.combiner, &mut self.collector);
        self.window.hand_out(|groups| collector.run(&[], |out| combiner.reduce(groups, out)))
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
        // `done` counts bytes.
        let mut done = 0;
        while done < len {
            let (window, block) = (&mut self.window, &self.block);
            match self.form {
                Form::Copy | Form::Bytes => done += window.take_copied(&block.bytes(len)[done..])?.done,
                Form::One => done += 8 * window.take_one(data, &block.ones(len)[done / 8..])?.done,
                Form::Ref => done += 16 * window.take_ref(data, &block.refs(len)[done / 16..])?.done,
            }
            if done < len || self.window.is_full() {
                self.combine()?;
            }
        }
        Ok(self.room())
    }

    fn large(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        // Too large for a window: collected directly, after all records emitted before.
        self.combine()?;
        self.large += 1;
        self.large_bytes.add(key.len(), value.len());
        self.collector.run(&[], |out| Ok(out.emit(key, value)?))?;
        Ok(self.room())
    }
}
