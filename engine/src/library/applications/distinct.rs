//! Distinct keys: as they are, or of typed columns.

use crate::columns::input::{columns_of, fields};
use crate::columns::kind::Kind;
use crate::columns::settings::{BY, MARK_NULLS, is_true};
use crate::columns::text;
use crate::operator::folder::{FoldShape, FoldValues, Folder};
use crate::operator::{Groups, Out, Reducer, TaskContext};
use yunti_base::{Code, Error, Result};

/// Folder that keeps only the key.
#[derive(Default)]
pub struct Distinct {
    /// Types of the columns of a key in normal form, which becomes text; None: keys are emitted as they are.
    kinds: Option<Vec<Kind>>,
    marks_nulls: bool,
}

impl Distinct {
    /// Returns the folder of keys of typed columns. Reads the settings. Errors: `Usage`.
    pub fn of_rows(context: &TaskContext) -> Result<Self> {
        let by = columns_of(context, BY, &fields(context)?)?;
        let kinds = by.iter().map(|field| field.kind).collect();
        Ok(Distinct { kinds: Some(kinds), marks_nulls: is_true(context, MARK_NULLS) })
    }
}

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
        let Some(kinds) = &self.kinds else { return keys.iter().try_for_each(|key| Ok(out.emit(key, &[])?)) };
        let mut row = Vec::new();
        for key in keys {
            row.clear();
            text::put_key(kinds, key, self.marks_nulls, &mut row)
                .ok_or_else(|| Error::new(Code::Internal, "a key of distinct rows is no form of its columns"))?;
            out.emit(&row, &[])?;
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
