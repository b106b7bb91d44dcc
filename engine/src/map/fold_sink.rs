//! Sink that folds records into the worker's table. States that do not fit go to a collector, or as a whole table to a
//! run.
//!
//! It has four uses:
//!
//! * a folder with unordered output: tables are spilled by hash range;
//! * a folder with sorted output: evicted states are merged after the sort;
//! * a combiner that is a fold: finished records go to the reducer;
//! * a mapper that folds for itself (`folding.rs`): states wait for its emitter.

use crate::bytes::RecordBytes;
use crate::fold::FoldTable;
use crate::key_order::KeyOrderCollector;
use crate::map::timed_sink::TimedSink;
use crate::operator::cursor::{HEADER_BYTES, Scratch, copied};
use crate::operator::folder::state_bytes;
use crate::operator::{Emitter, Folder, Form, Sink};
use yunti_base::Result;

/// Bytes of references collected before they are folded.
pub const REFS_BYTES: usize = 8 << 10;

/// Bytes of a state with its key in a run, about; for an estimate.
const STATE_BYTES: u64 = 32;

/// Form of the records that leave the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrainForm {
    /// States, to be merged later.
    States,
    /// Finished records.
    Finished,
}

/// Sink of a mapper with a fold.
pub struct FoldSink<'a> {
    table: FoldTable,
    folder: Box<dyn Folder>,
    overflow: Overflow<'a>,
    form: Form,
    block: Scratch,
    drained: u64,
}

/// Destination of a full table.
pub enum Overflow<'a> {
    /// A collector, which gets the last table too, because the output has an order, or a reducer follows.
    Collector {
        drained: DrainForm,
        /// Made when the table is drained first.
        collector: Option<CollectorEmitter<'a>>,
        make: Box<dyn FnMut() -> Result<CollectorEmitter<'a>> + Send + 'a>,
    },
    /// A run for each full table. `written`: true after the first run. A table that was never full stays a table.
    Run { write: WriteRun<'a>, written: bool },
    /// States in form COPY, for `take_waiting`.
    Waiting(Vec<u8>),
}

/// Function that writes a full table as a run.
pub type WriteRun<'a> = Box<dyn FnMut(&FoldTable) -> Result<()> + Send + 'a>;

impl<'a> FoldSink<'a> {
    /// Makes a sink. `form`: form in which the mapper emits.
    pub fn new(table: FoldTable, folder: Box<dyn Folder>, overflow: Overflow<'a>, form: Form) -> Result<Self> {
        let block = Scratch::new()?;
        Ok(FoldSink { table, folder, overflow, form, block, drained: 0 })
    }

    /// Returns the number of records folded so far.
    pub fn records(&self) -> u64 {
        self.table.records()
    }

    /// Returns the bytes of these records.
    pub fn bytes(&self) -> RecordBytes {
        self.table.bytes()
    }

    /// Returns the number of states, in the table or drained from it.
    pub fn states(&self) -> u64 {
        self.drained + self.table.len() as u64
    }

    /// Returns the block to fill. References are few bytes, folded while they are in the first-level cache.
    fn room(&mut self) -> (*mut u8, usize) {
        let (start, room) = self.block.block();
        (start, if self.form == Form::Copy { room } else { REFS_BYTES })
    }

    /// Empties the table into its destination.
    pub fn drain(&mut self) -> Result<()> {
        self.drained += self.table.len() as u64;
        match &mut self.overflow {
            Overflow::Collector { drained, collector, make } => {
                drain(&mut self.table, &mut *self.folder, *drained, collector, &mut **make)
            }
            Overflow::Run { write, written } => {
                if self.table.is_empty() {
                    return Ok(());
                }
                write(&self.table)?;
                *written = true;
                self.table.clear();
                self.table.enlarge()
            }
            Overflow::Waiting(waiting) => {
                let state_len = self.folder.shape().state_bytes;
                self.table.drain(|keys, states| {
                    for (key, state) in keys.iter().zip(states) {
                        put_copied(waiting, key, state_bytes(state, state_len));
                    }
                    Ok(())
                })
            }
        }
    }

    /// Passes on the states that wait, in the order in which they left the table.
    pub fn take_waiting(&mut self, mut take: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        let Overflow::Waiting(waiting) = &mut self.overflow else { return Ok(()) };
        for (at, klen, vlen) in copied(waiting) {
            let (key, state) = waiting[at + HEADER_BYTES..].split_at(klen);
            take(key, &state[..vlen])?;
        }
        waiting.clear();
        Ok(())
    }

    /// Writes all records of finished splits to runs. The caller has handed over the emitter's block before.
    pub fn spill_splits(&mut self) -> Result<()> {
        self.drain()?;
        if let Overflow::Collector { collector: Some(emitter), .. } = &mut self.overflow {
            spill_splits(emitter)?;
        }
        Ok(())
    }

    /// Returns the bytes of the states in memory.
    pub fn held_bytes(&self) -> u64 {
        let collected = match &self.overflow {
            Overflow::Collector { collector: Some(emitter), .. } => emitter.sink().inner().fill().0,
            _ => 0,
        };
        collected + self.table.len() as u64 * STATE_BYTES
    }

    /// Returns the table if it was never full; otherwise the collector with all records, or nothing if runs have them.
    pub fn finish(mut self) -> Result<FoldResult<'a>> {
        if let Overflow::Run { written: false, .. } = &self.overflow {
            return Ok(FoldResult::Table(self.table));
        }
        self.drain()?;
        drop(self.table);
        match self.overflow {
            Overflow::Collector { collector: Some(emitter), .. } => {
                Ok(FoldResult::Collector(emitter.finish()?.into_inner()))
            }
            _ => Ok(FoldResult::Empty),
        }
    }
}

/// Result of a fold on one worker.
#[expect(clippy::large_enum_variant, reason = "one a worker, which takes it apart at once")]
pub enum FoldResult<'a> {
    Table(FoldTable),
    Collector(KeyOrderCollector<'a>),
    Empty,
}

/// Emitter into a collector, with a stopwatch.
pub type CollectorEmitter<'a> = Emitter<TimedSink<KeyOrderCollector<'a>>>;

/// Spills the records of finished splits behind an emitter.
pub fn spill_splits(emitter: &mut CollectorEmitter<'_>) -> Result<()> {
    emitter.hand_over()?;
    emitter.sink_mut().inner_mut().spill_splits()?;
    // The emitter's block went with the records.
    emitter.hand_over()
}

/// Empties a table into a collector, which is made first if needed.
fn drain<'a>(
    table: &mut FoldTable,
    folder: &mut dyn Folder,
    drained: DrainForm,
    collector: &mut Option<CollectorEmitter<'a>>,
    make: &mut (dyn FnMut() -> Result<CollectorEmitter<'a>> + Send + 'a),
) -> Result<()> {
    if table.is_empty() {
        return Ok(());
    }
    let emitter = match collector {
        Some(emitter) => emitter,
        None => collector.insert(make()?),
    };
    let state_len = folder.shape().state_bytes;
    table.drain(|keys, states| {
        emitter.run(&[], |out| match drained {
            DrainForm::Finished => folder.finish(keys, states, out),
            DrainForm::States => {
                for (key, state) in keys.iter().zip(states) {
                    out.emit(key, state_bytes(state, state_len))?;
                }
                Ok(())
            }
        })
    })?;
    table.shrink()
}

/// Appends a record in form COPY.
fn put_copied(to: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    to.extend_from_slice(&(key.len() as u32).to_le_bytes());
    to.extend_from_slice(&(value.len() as u32).to_le_bytes());
    to.extend_from_slice(key);
    to.extend_from_slice(value);
    to.resize(to.len().next_multiple_of(8), 0);
}

/// Returns the best form that an operator with these flags can emit.
pub fn best_form(refs: bool, one: bool) -> Form {
    match (refs, one) {
        (_, true) => Form::One,
        (true, _) => Form::Ref,
        _ => Form::Copy,
    }
}

impl Sink for FoldSink<'_> {
    fn form(&self, _: bool, _: bool) -> Form {
        self.form
    }

    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        Ok(self.room())
    }

    fn filled(&mut self, len: usize, _: usize, data: &[u8]) -> Result<(*mut u8, usize)> {
        let mut done = 0;
        if self.table.is_over() {
            self.drain()?;
            self.table.shrink()?;
        }
        loop {
            let (table, folder, block) = (&mut self.table, &mut *self.folder, &self.block);
            // `done` counts bytes.
            match self.form {
                Form::Copy | Form::Bytes => done += table.fold_copied(folder, &block.bytes(len)[done..])?.done,
                Form::One => done += 8 * table.fold_one(folder, data, &block.ones(len)[done / 8..])?.done,
                Form::Ref => done += 16 * table.fold_ref(folder, data, &block.refs(len)[done / 16..])?.done,
            }
            if done >= len {
                break;
            }
            self.drain()?;
        }
        Ok(self.room())
    }

    fn large(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        let mut block = Vec::with_capacity(HEADER_BYTES + key.len() + value.len() + 80);
        put_copied(&mut block, key, value);
        let len = block.len();
        // Readable slack, as after every block.
        block.resize(len + 64, 0);
        while self.table.fold_copied(&mut *self.folder, &block[..len])?.done < len {
            self.drain()?;
        }
        Ok(self.room())
    }
}
