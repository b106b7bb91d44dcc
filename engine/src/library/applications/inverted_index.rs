//! Inverted index: the files in which each word occurs.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::bytes::words::DELIMITERS;
use crate::operator::{Batch, Groups, Mapper, Out, Reducer, TaskContext};
use yunti_base::{Code, Error, Result};

/// Mapper that emits each word with the name of its file.
pub struct InvertedIndex {
    context: Arc<TaskContext>,
}

impl InvertedIndex {
    /// Makes the mapper of one task.
    pub fn new(context: &Arc<TaskContext>) -> Self {
        InvertedIndex { context: context.clone() }
    }
}

impl Mapper for InvertedIndex {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let Some(file) = self.context.job.inputs.get(batch.file_index() as usize) else {
            return Err(Error::new(Code::Internal, "a file of the input has no name"));
        };
        for i in 0..batch.len() {
            for word in batch.record(i).1.split(|byte| DELIMITERS.contains(byte)).filter(|word| !word.is_empty()) {
                out.emit(word, file.as_bytes())?;
            }
        }
        Ok(())
    }
}

/// Reducer of the distinct values of each key in byte order: one by one as a combiner, or joined by tabs as one value.
pub struct DistinctValues {
    joined: bool,
    values: BTreeSet<Vec<u8>>,
}

impl DistinctValues {
    /// Emits each distinct value as a record.
    pub fn one_by_one() -> Self {
        DistinctValues { joined: false, values: BTreeSet::new() }
    }
    /// Emits the distinct values of a key as one record.
    pub fn joined() -> Self {
        DistinctValues { joined: true, values: BTreeSet::new() }
    }
}

impl Reducer for DistinctValues {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        for i in 0..groups.len() {
            for v in groups.range(i) {
                if !self.values.contains(groups.value(v)) {
                    self.values.insert(groups.value(v).to_vec());
                }
            }
            if !groups.completes(i) {
                break;
            }
            let values: Vec<Vec<u8>> = std::mem::take(&mut self.values).into_iter().collect();
            match self.joined {
                true => out.emit(groups.key(i), &values.join(&b'\t'))?,
                false => values.iter().try_for_each(|value| out.emit(groups.key(i), value))?,
            }
        }
        Ok(())
    }
}
