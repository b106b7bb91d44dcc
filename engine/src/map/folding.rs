//! A mapper that folds what it emits: it emits the state of each key, at the end of its split.
//!
//! A folder of user code in a worker process has its states there, out of the engine's reach. Without this, each of its
//! values would cross to the engine and be sorted first. So the worker folds the records of a split itself, and a
//! reducer merges the states (`job/plan/early_fold.rs`).
//!
//! States of a full table wait until the call of the mapper has succeeded. So a call that fails has emitted nothing,
//! and an attempt in other parts of a batch emits the same before it.

use std::sync::Arc;

use crate::fold::FoldTable;
use crate::map::fold_sink::{FoldSink, Overflow, best_form};
use crate::memory::Budget;
use crate::operator::class::find_class;
use crate::operator::context::{LENGTH_COUNTERS, TASK_COUNTERS};
use crate::operator::reducer::fold_reduce::{FoldInput, FoldReduce};
use crate::operator::{Batch, Class, ClassInfo, ClassSource, Emitter, Kind, Mapper, Out, Reducer, TaskContext};
use yunti_base::Result;

/// Memory of a table. States beyond it are emitted before the end of the split.
const TABLE_BYTES: u64 = 64 << 20;

/// Classes that fold what mappers of other sources emit. They are found by the names that `ClassInfo::folding` and
/// `ClassInfo::merging` return.
pub struct FoldingClasses(pub Vec<Arc<dyn ClassSource>>);

impl ClassSource for FoldingClasses {
    fn find(&self, name: &str) -> Option<Arc<dyn Class>> {
        let of = |name: &str, kind: Kind| find_class(&self.0, name, &[kind]).ok();
        if let Some(folder) = ClassInfo::merged_by(name) {
            let folder = of(folder, Kind::Folder)?;
            return Some(Arc::new(Merging { info: folder.info().merging(), folder }));
        }
        let (mapper, folder) = ClassInfo::folded(name)?;
        let (mapper, folder) = (of(mapper, Kind::Mapper)?, of(folder, Kind::Folder)?);
        Some(Arc::new(Folding { info: mapper.info().folding(folder.info()), mapper, folder }))
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

struct Folding {
    info: ClassInfo,
    mapper: Arc<dyn Class>,
    folder: Arc<dyn Class>,
}

impl Class for Folding {
    fn info(&self) -> &ClassInfo {
        &self.info
    }

    fn mapper(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Mapper>> {
        let (mapper, folder) = (self.mapper.mapper(context)?, self.folder.folder(context)?);
        let flags = &self.mapper.info().flags;
        let form = best_form(flags.emits_refs && folder.shape().eight, flags.emits_one && folder.shape().eight);
        let table = FoldTable::new(folder.shape(), 0, &Budget::new(TABLE_BYTES))?;
        let overflow = Overflow::Waiting(Vec::new());
        let sink = FoldSink::new(table, folder, overflow, form)?;
        let emitter = Emitter::new(sink, flags.emits_refs, flags.emits_one)?;
        Ok(Box::new(FoldingMapper { mapper, emitter, context: context.clone() }))
    }
}

/// Mapper whose records are folded.
struct FoldingMapper {
    mapper: Box<dyn Mapper>,
    emitter: Emitter<FoldSink<'static>>,
    context: Arc<TaskContext>,
}

impl FoldingMapper {
    /// Emits the states that left the table.
    fn pass_on(&mut self, out: &mut Out) -> Result<()> {
        self.emitter.sink_mut().take_waiting(|key, state| Ok(out.emit(key, state)?))
    }
}

impl Mapper for FoldingMapper {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let mapper = &mut self.mapper;
        self.emitter.run(batch.data(), |own| mapper.map(batch, own))?;
        self.pass_on(out)
    }

    fn flush(&mut self, out: &mut Out) -> Result<()> {
        let mapper = &mut self.mapper;
        self.emitter.run(&[], |own| mapper.flush(own))?;
        self.emitter.hand_over()?;
        self.emitter.sink_mut().drain()?;
        self.pass_on(out)?;
        // The engine counts the states, which are what it sees.
        let sink = self.emitter.sink();
        let (records, states) = (sink.records(), sink.states());
        self.context.count(TASK_COUNTERS, "MAP_OUTPUT_RECORDS", records - states);
        let bytes = sink.bytes();
        self.context.count(TASK_COUNTERS, "MAP_OUTPUT_BYTES", bytes.content);
        self.context.count(LENGTH_COUNTERS, "KEYS", bytes.key_lengths);
        self.context.count(LENGTH_COUNTERS, "VALUES", bytes.value_lengths);
        self.context.count(TASK_COUNTERS, "COMBINE_INPUT_RECORDS", records);
        self.context.count(TASK_COUNTERS, "COMBINE_OUTPUT_RECORDS", states);
        Ok(())
    }
}

/// Reducer that merges the states of a folder, and finishes them.
struct Merging {
    info: ClassInfo,
    folder: Arc<dyn Class>,
}

impl Class for Merging {
    fn info(&self) -> &ClassInfo {
        &self.info
    }

    fn reducer(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Reducer>> {
        Ok(Box::new(FoldReduce::new(self.folder.folder(context)?, FoldInput::States)))
    }
}
