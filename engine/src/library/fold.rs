//! Known folds (count, sum, minimum, maximum) as reducers and combiners.

use crate::operator::{Groups, KnownFold, Out, Reducer};
use yunti_base::{Code, Error, Result};

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
