//! Mapper of `yunti run select` and `filter`: rows that meet a condition, as columns and expressions over them.

use std::sync::Arc;

use super::expression::{Field, Typed, bind, parse_list};
use super::input::{ColumnInput, condition};
use super::kind::Kind;
use super::settings::{MARK_NULLS, SELECT, is_true};
use super::text;
use super::vector::Vector;
use crate::operator::{Batch, Mapper, Out, TaskContext};
use yunti_base::{Code, Error, Result};

/// Mapper that emits the first expression as the key, and the others as the value.
pub struct SelectRows {
    input: ColumnInput,
    condition: Option<Typed>,
    list: Vec<Typed>,
    marks_nulls: bool,
}

impl SelectRows {
    /// Reads the settings. Errors: `Usage`.
    pub fn new(context: &Arc<TaskContext>) -> Result<Self> {
        let input = ColumnInput::new(context)?;
        Ok(SelectRows {
            condition: condition(context, input.fields())?,
            list: selected(context, input.fields())?,
            marks_nulls: is_true(context, MARK_NULLS),
            input,
        })
    }
}

/// Returns the columns and expressions that a job selects. Errors: `Usage`.
pub fn selected(context: &TaskContext, fields: &[Field]) -> Result<Vec<Typed>> {
    let missing = || Error::new(Code::Usage, format!("the setting {SELECT} is missing"));
    let list = parse_list(context.setting(SELECT).ok_or_else(missing)?)?;
    list.iter().map(|(tree, ..)| bind(tree, fields)).collect()
}

/// Appends columns of a row as text.
pub fn put_row(columns: &[(Kind, &Vector)], row: usize, marks_nulls: bool, out: &mut Vec<u8>) {
    text::put_columns(columns.iter().map(|(kind, column)| (*kind, column.cell(row))), marks_nulls, out);
}

impl Mapper for SelectRows {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let SelectRows { input, condition, list, marks_nulls } = self;
        let (mut key, mut value) = (Vec::new(), Vec::new());
        input.each_where(batch, condition.as_ref(), |columns, rows, _| {
            let columns = list.iter().map(|typed| typed.evaluate(columns, rows)).collect::<Result<Vec<_>>>()?;
            let columns: Vec<(Kind, &Vector)> =
                list.iter().zip(&columns).map(|(typed, v)| (typed.kind, &**v)).collect();
            let (first, others) = columns.split_at(1);
            for row in 0..rows {
                key.clear();
                value.clear();
                put_row(first, row, *marks_nulls, &mut key);
                put_row(others, row, *marks_nulls, &mut value);
                out.emit(&key, &value)?;
            }
            Ok(())
        })
    }
}
