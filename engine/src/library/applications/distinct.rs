//! Distinct keys.

use crate::operator::folder::{FoldShape, FoldValues, Folder};
use crate::operator::{Groups, Out, Reducer};
use yunti_base::Result;

/// Folder that keeps only the key.
pub struct Distinct;

impl Folder for Distinct {
    fn shape(&self) -> FoldShape {
        FoldShape { state_bytes: 1, known: None, exact: true, eight: false }
    }
    fn init(&mut self, _: &[*mut u8]) -> Result<()> {
        Ok(())
    }
    fn fold(&mut self, _: &[*mut u8], _: FoldValues<'_>) -> Result<()> {
        Ok(())
    }
    fn merge(&mut self, _: &[*mut u8], _: &[*const u8]) -> Result<()> {
        Ok(())
    }
    fn finish(&mut self, keys: &[&[u8]], _: &[*const u8], out: &mut Out) -> Result<()> {
        for key in keys {
            out.emit(key, &[])?;
        }
        Ok(())
    }
}

/// Reducer and combiner that emits each key once, without a value.
pub struct DistinctReducer;

impl Reducer for DistinctReducer {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        for i in usize::from(groups.continues())..groups.len() {
            out.emit(groups.key(i), &[])?;
        }
        Ok(())
    }
}
