//! Mappers of joins of tables: rows of one side by their key columns.

use std::sync::Arc;

use super::row_form::RowForm;
use super::{JoinKind, LEFT, RIGHT};
use crate::columns::expression::{Field, Tree, Typed, bind};
use crate::columns::input::{ColumnInput, fields_under};
use crate::columns::kind::Kind;
use crate::columns::settings::{JOIN_LEFT, JOIN_RIGHT};
use crate::columns::text;
use crate::columns::vector::Vector;
use crate::format::columns::{put_escaped, put_unescaped};
use crate::operator::{Batch, Mapper, Out, TaskContext};
use yunti_base::{Code, Error, Result};

/// Rows of one side, read column by column.
pub struct SideInput {
    pub input: ColumnInput,
    pub columns: SideColumns,
}

/// Key columns and other columns of a side.
pub struct SideColumns {
    keys: Vec<Typed>,
    rest: Vec<(usize, Kind)>,
    pub form: RowForm,
    tag: u8,
}

impl SideInput {
    /// Reads the settings of a side. Errors: `Usage`.
    pub fn new(context: &Arc<TaskContext>, is_left: bool) -> Result<SideInput> {
        let (side, tag) = if is_left { (JOIN_LEFT, LEFT) } else { (JOIN_RIGHT, RIGHT) };
        let fields = fields_under((side.names, side.types), |key| context.setting(key))?;
        let form = RowForm::new(context)?;
        let lines = |key: &str| context.setting(key).unwrap_or_default().lines();
        let key = |(name, kind): (&str, &Kind)| bind(&Tree::Column(name.into()), &fields)?.to_kind(*kind);
        let keys = lines(side.keys).zip(&form.kinds).map(key).collect::<Result<Vec<_>>>()?;
        if keys.len() != form.kinds.len() || keys.is_empty() {
            return Err(Error::new(Code::Usage, format!("the setting {} has no column for each key", side.keys)));
        }
        let missing = |name: &str| Error::new(Code::Usage, format!("{}: there is no column {name}", side.rest));
        let place = |name: &str| {
            let place = fields.iter().position(|Field { name: known, .. }| known == name);
            place.map(|place| (place, fields[place].kind)).ok_or_else(|| missing(name))
        };
        let rest = lines(side.rest).map(place).collect::<Result<_>>()?;
        Ok(SideInput { input: ColumnInput::of(context, fields)?, columns: SideColumns { keys, rest, form, tag } })
    }

    /// Calls `f` with each row that has a place in the join: its key, and true if no column of the key is null.
    pub fn each(
        &mut self,
        batch: &Batch<'_>,
        mut f: impl FnMut(&SideColumns, &[Vector], &[&Vector], usize, (&[u8], bool)) -> Result<()>,
    ) -> Result<()> {
        let SideInput { input, columns: side } = self;
        let mut key = Vec::new();
        input.each_where(batch, None, |columns, rows, _| {
            let keys = side.keys.iter().map(|key| key.evaluate(columns, rows)).collect::<Result<Vec<_>>>()?;
            let keys: Vec<&Vector> = keys.iter().map(|key| &**key).collect();
            for row in 0..rows {
                let is_whole = RowForm::set_key(&keys, row, side.tag, &mut key);
                f(side, columns, &keys, row, (&key, is_whole))?;
            }
            Ok(())
        })
    }
}

impl SideColumns {
    /// Appends the other columns of a row.
    pub fn put_rest(&self, columns: &[Vector], row: usize, is_escaped: bool, out: &mut Vec<u8>) {
        let cells = self.rest.iter().map(|&(place, kind)| (kind, columns[place].cell(row)));
        text::put_cells(cells, is_escaped, self.form.marks_nulls, out);
    }
}

/// Mapper that emits the rows of one side by their keys.
pub struct SideRows {
    side: SideInput,
    /// True if a row without a partner is in the output.
    is_outer: bool,
    /// True for lines: the escaped key, and the columns. Otherwise the columns have the tag of the side.
    as_lines: bool,
    value: Vec<u8>,
}

impl SideRows {
    /// Reads the settings of the left side. Errors: `Usage`.
    pub fn left(context: &Arc<TaskContext>) -> Result<Self> {
        SideRows::new(context, true, false)
    }

    /// Reads the settings of the right side. Errors: `Usage`.
    pub fn right(context: &Arc<TaskContext>) -> Result<Self> {
        SideRows::new(context, false, false)
    }

    /// Reads the settings of the right side, whose rows become the lines of a table. Errors: `Usage`.
    pub fn lines(context: &Arc<TaskContext>) -> Result<Self> {
        SideRows::new(context, false, true)
    }

    fn new(context: &Arc<TaskContext>, is_left: bool, as_lines: bool) -> Result<Self> {
        let kind = JoinKind::new(context)?;
        let is_outer = if is_left { kind.left } else { kind.right };
        Ok(SideRows { side: SideInput::new(context, is_left)?, is_outer, as_lines, value: Vec::new() })
    }
}

impl Mapper for SideRows {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let SideRows { side, is_outer, as_lines, value } = self;
        let mut line_key = Vec::new();
        side.each(batch, |side, columns, _, row, (key, is_whole)| {
            if !is_whole && !*is_outer {
                return Ok(());
            }
            value.clear();
            if *as_lines {
                line_key.clear();
                put_escaped(key, &mut line_key);
                side.put_rest(columns, row, true, value);
                return Ok(out.emit(&line_key, value)?);
            }
            value.push(side.tag);
            side.put_rest(columns, row, side.form.is_escaped, value);
            Ok(out.emit(key, value)?)
        })
    }
}

/// Mapper for the lines of a table that did not fit: right rows by their keys.
pub struct KeyedLines {
    form: RowForm,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl KeyedLines {
    /// Reads the settings of a join of tables. Errors: `Usage`.
    pub fn new(context: &TaskContext) -> Result<Self> {
        Ok(KeyedLines { form: RowForm::new(context)?, key: Vec::new(), value: Vec::new() })
    }
}

impl Mapper for KeyedLines {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        for i in 0..batch.len() {
            let line = batch.record(i).1;
            let (key, row) = line.split_at(memchr::memchr(b'\t', line).unwrap_or(line.len()));
            self.key.clear();
            put_unescaped(key, &mut self.key);
            self.value.clear();
            self.value.push(RIGHT);
            let row = row.get(1..).unwrap_or_default();
            match self.form.is_escaped {
                true => self.value.extend_from_slice(row),
                false => put_unescaped(row, &mut self.value),
            }
            out.emit(&self.key, &self.value)?;
        }
        Ok(())
    }
}
