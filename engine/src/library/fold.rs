//! Known folds (count, sum, minimum, maximum) as folders, and as reducers and combiners of the same name.

use crate::operator::folder::{FoldShape, FoldValues, Folder, KnownFold};
use crate::operator::{Groups, Out, Reducer};
use yunti_base::{Code, Error, Result};

/// A known fold as a folder.
pub struct KnownFolder(pub KnownFold);

impl Folder for KnownFolder {
    fn shape(&self) -> FoldShape {
        FoldShape { state_bytes: 8, known: Some(self.0), exact: self.0 != KnownFold::SumF64, eight: true }
    }
    // The engine folds known folds itself (see operator::folder).
    fn init(&mut self, _: &[*mut u8]) -> Result<()> {
        Err(Error::new(Code::Internal, "init of a known fold was called"))
    }
    fn fold(&mut self, _: &[*mut u8], _: FoldValues<'_>) -> Result<()> {
        Err(Error::new(Code::Internal, "fold of a known fold was called"))
    }
    fn merge(&mut self, _: &[*mut u8], _: &[*const u8]) -> Result<()> {
        Err(Error::new(Code::Internal, "merge of a known fold was called"))
    }
    fn finish(&mut self, keys: &[&[u8]], states: &[*const u8], out: &mut Out) -> Result<()> {
        for (key, state) in keys.iter().zip(states) {
            out.emit(key, crate::operator::folder::state_bytes(state, 8))?;
        }
        Ok(())
    }
}

/// A known fold as a reducer.
pub struct KnownReducer {
    fold: KnownFold,
    /// State of the open group, which may continue in the next batch.
    state: u64,
}

impl KnownReducer {
    /// Makes a reducer of `fold`.
    pub fn new(fold: KnownFold) -> Self {
        KnownReducer { fold, state: 0 }
    }
}

impl Reducer for KnownReducer {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        let Some(values) = groups.eights() else {
            return Err(Error::new(Code::UserCode, "a fold of numbers was given values that are not 8 bytes long"));
        };
        for i in 0..groups.len() {
            let mut range = groups.range(i);
            if i > 0 || !groups.continues() {
                let Some(first) = range.next() else { continue };
                self.state = self.fold.first(values[first]);
            }
            for v in range {
                self.state = self.fold.fold(self.state, values[v]);
            }
            if groups.completes(i) {
                out.emit(groups.key(i), &self.state.to_le_bytes())?;
            }
        }
        Ok(())
    }
}
