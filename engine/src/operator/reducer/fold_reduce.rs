//! A folder as a reducer: merges the states of a key, or folds its values in order, then finishes them.

use crate::memory::buffer::SLACK_BYTES;
use crate::operator::folder::{FOLD_BATCH, FoldShape, FoldValues};
use crate::operator::{Folder, Groups, Out, Reducer};
use yunti_base::{Code, Error, Result};

/// Form of the values in the groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldInput {
    /// States that were folded before, to be merged.
    States,
    /// Values of the mapper, to be folded from the beginning.
    Values,
}

/// Reducer that folds each group.
pub struct FoldReduce {
    folder: Box<dyn Folder>,
    shape: FoldShape,
    input: FoldInput,
    /// Keys of a batch and their states. The last group may still be open.
    keys: Vec<Vec<u8>>,
    states: Vec<u8>,
}

impl FoldReduce {
    /// Makes a reducer of `folder` for groups of this form.
    pub fn new(folder: Box<dyn Folder>, input: FoldInput) -> FoldReduce {
        let shape = folder.shape();
        FoldReduce { folder, shape, input, keys: Vec::new(), states: Vec::new() }
    }

    fn add(&mut self, groups: &Groups<'_>, i: usize, fresh: bool) -> Result<()> {
        let n = self.shape.state_bytes;
        let mut range = groups.range(i);
        if fresh {
            // Class libraries may read the slack after a key.
            let mut key = Vec::with_capacity(groups.key(i).len() + SLACK_BYTES);
            key.extend_from_slice(groups.key(i));
            self.keys.push(key);
            let at = self.states.len();
            self.states.resize(at + n, 0);
            let state = self.states[at..].as_mut_ptr();
            match (self.input, self.shape.known) {
                (FoldInput::States, _) => {
                    let value = groups.value(range.start);
                    if value.len() != n {
                        return Err(Error::new(Code::Internal, "a spilled state has the wrong length"));
                    }
                    self.states[at..].copy_from_slice(value);
                    range.start += 1;
                }
                (FoldInput::Values, Some(known)) => {
                    let first = known.first(number(groups.value(range.start)));
                    self.states[at..].copy_from_slice(&first.to_le_bytes());
                    range.start += 1;
                }
                (FoldInput::Values, None) => self.folder.init(&[state])?,
            }
        }
        let at = self.states.len() - n;
        if let Some(known) = self.shape.known {
            let mut state = number(&self.states[at..]);
            for v in range {
                let value = number(groups.value(v));
                state =
                    if self.input == FoldInput::States { known.merge(state, value) } else { known.fold(state, value) };
            }
            self.states[at..].copy_from_slice(&state.to_le_bytes());
            return Ok(());
        }
        let state = self.states[at..].as_mut_ptr();
        while !range.is_empty() {
            let step = range.len().min(FOLD_BATCH);
            let batch = range.start..range.start + step;
            range.start += step;
            let into = [state; FOLD_BATCH];
            match self.input {
                FoldInput::States => {
                    let from: Vec<*const u8> = batch.map(|v| groups.value(v).as_ptr()).collect();
                    self.folder.merge(&into[..step], &from)?;
                }
                FoldInput::Values if self.shape.eight => {
                    let values: Vec<u64> = batch.map(|v| number(groups.value(v))).collect();
                    self.folder.fold(&into[..step], FoldValues::Eight(&values))?;
                }
                FoldInput::Values => {
                    let values: Vec<&[u8]> = batch.map(|v| groups.value(v)).collect();
                    self.folder.fold(&into[..step], FoldValues::Slices(&values))?;
                }
            }
        }
        Ok(())
    }

    /// Finishes all keys except the last `keep`.
    fn finish(&mut self, keep: usize, out: &mut Out) -> Result<()> {
        let n = self.shape.state_bytes;
        let done = self.keys.len() - keep;
        for start in (0..done).step_by(FOLD_BATCH) {
            let end = (start + FOLD_BATCH).min(done);
            let keys: Vec<&[u8]> = self.keys[start..end].iter().map(|k| &k[..]).collect();
            let states: Vec<*const u8> = (start..end).map(|i| self.states[i * n..].as_ptr()).collect();
            self.folder.finish(&keys, &states, out)?;
        }
        self.keys.drain(..done);
        self.states.drain(..done * n);
        Ok(())
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

impl Reducer for FoldReduce {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        for i in 0..groups.len() {
            self.add(groups, i, i > 0 || !groups.continues())?;
        }
        self.finish(groups.goes_on() as usize, out)
    }

    fn flush(&mut self, out: &mut Out) -> Result<()> {
        self.finish(0, out)
    }
}
