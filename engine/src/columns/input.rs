//! Rows of a mapper over columns: blocks of a source, or records whose value has the columns as text.

use std::sync::Arc;

use super::block::BlockReader;
use super::expression::{Field, Typed, bind, bounds, parse};
use super::kind::Kind;
use super::settings::{NAMES, SKIP_BAD_RECORDS, TYPES, WHERE, is_true};
use super::text::Builder;
use super::vector::Vector;
use crate::format::columns::put_unescaped;
use crate::operator::context::Settings;
use crate::operator::{Batch, TaskContext};
use yunti_base::{Code, Error, Result};

/// Returns the columns of a job from its settings. Errors: `Usage`.
pub fn fields(context: &TaskContext) -> Result<Vec<Field>> {
    fields_of(|key| context.setting(key))
}

/// Returns the columns of a job that a setting names, a line each. Errors: `Usage`.
pub fn columns_of(context: &TaskContext, setting: &str, fields: &[Field]) -> Result<Vec<Field>> {
    let find = |name: &str| {
        let found = fields.iter().find(|field| field.name == name).cloned();
        found.ok_or_else(|| Error::new(Code::Usage, format!("{setting}: there is no column {name}")))
    };
    context.setting(setting).unwrap_or_default().lines().map(find).collect()
}

/// Returns the columns that settings name. Errors: `Usage`.
fn fields_of<'s>(setting: impl Fn(&str) -> Option<&'s str>) -> Result<Vec<Field>> {
    fields_under((NAMES, TYPES), setting)
}

/// Returns the columns whose names and types two settings have. Errors: `Usage`.
pub fn fields_under<'s>(
    (names_key, types_key): (&str, &str),
    setting: impl Fn(&str) -> Option<&'s str>,
) -> Result<Vec<Field>> {
    let lines = |key: &str| setting(key).unwrap_or_default().lines();
    let (names, types) = (lines(names_key), lines(types_key));
    if names.clone().count() != types.clone().count() {
        let what = format!("the settings {names_key} and {types_key} have different numbers of lines");
        return Err(Error::new(Code::Usage, what));
    }
    names.zip(types).map(|(name, kind)| Ok(Field { name: name.into(), kind: Kind::parse(kind)? })).collect()
}

/// Returns the bounds of a job's condition, for sources. Errors: `Usage`.
pub fn bounds_of(settings: &Settings) -> Result<String> {
    let Some(text) = settings.get(WHERE) else { return Ok(String::new()) };
    let fields = fields_of(|key| settings.get(key).map(String::as_str))?;
    Ok(bounds(&bind(&parse(text)?, &fields)?, &fields))
}

/// Returns the condition of a job, over its columns. Errors: `Usage`.
pub fn condition(context: &TaskContext, fields: &[Field]) -> Result<Option<Typed>> {
    let Some(text) = context.setting(WHERE) else { return Ok(None) };
    bind(&parse(text)?, fields)?.into_condition().map(Some)
}

/// Reads the rows of one split.
pub struct ColumnInput {
    context: Arc<TaskContext>,
    fields: Vec<Field>,
    kinds: Vec<Kind>,
    blocks: BlockReader,
    builders: Vec<Builder>,
    cell: Vec<u8>,
    skips_bad: bool,
}

impl ColumnInput {
    /// Returns a reader of the columns that the job's settings name. Errors: `Usage`.
    pub fn new(context: &Arc<TaskContext>) -> Result<ColumnInput> {
        ColumnInput::of(context, fields(context)?)
    }

    /// Returns a reader of these columns. Errors: `Usage`.
    pub fn of(context: &Arc<TaskContext>, fields: Vec<Field>) -> Result<ColumnInput> {
        let kinds: Vec<Kind> = fields.iter().map(|field| field.kind).collect();
        Ok(ColumnInput {
            context: context.clone(),
            builders: kinds.iter().map(|&kind| Builder::new(kind)).collect(),
            kinds,
            fields,
            blocks: BlockReader::default(),
            cell: Vec::new(),
            skips_bad: is_true(context, SKIP_BAD_RECORDS),
        })
    }

    /// Returns the columns.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Calls `f` with the rows that meet a condition: their columns, their number, and the rows read for them.
    ///
    /// Errors: those of `each`, of the condition and of `f`.
    pub fn each_where(
        &mut self,
        batch: &Batch<'_>,
        condition: Option<&Typed>,
        mut f: impl FnMut(&[Vector], usize, usize) -> Result<()>,
    ) -> Result<()> {
        self.each(batch, |columns, rows| {
            let kept = condition.map(|condition| condition.rows(columns, rows)).transpose()?;
            match kept {
                Some(kept) if kept.len() < rows => {
                    let chosen: Vec<Vector> = columns.iter().map(|column| column.select(&kept)).collect();
                    f(&chosen, kept.len(), rows)
                }
                _ => f(columns, rows, rows),
            }
        })
    }

    /// Calls `f` with the columns of some rows, and their number, until all rows of the batch are passed on.
    ///
    /// Errors: `Corrupt` with the file for a text that is no value of its type, unless bad records are skipped.
    fn each(&mut self, batch: &Batch<'_>, mut f: impl FnMut(&[Vector], usize) -> Result<()>) -> Result<()> {
        if batch.has_blocks() {
            for record in 0..batch.len() {
                let (columns, rows) = self.blocks.read(batch.record(record).1, &self.kinds)?;
                f(&columns, rows)?;
            }
            return Ok(());
        }
        if self.builders.is_empty() {
            return f(&[], batch.len());
        }
        let mut bad = 0;
        let mut rows = 0;
        for record in 0..batch.len() {
            match self.parse(batch.record(record).1) {
                Ok(()) => rows += 1,
                Err(_) if self.skips_bad => {
                    self.builders.iter_mut().for_each(|builder| builder.truncate(rows));
                    bad += 1;
                }
                Err(what) => {
                    let file = self.context.job.inputs.get(batch.file_index() as usize).cloned().unwrap_or_default();
                    let what = format!("{what}, in a record behind byte {}", batch.first_position());
                    let error = Error::new(Code::Corrupt, what).at_path(file);
                    return Err(error.hint("name its type with --type, or skip such records: -D skip.bad.records=true"));
                }
            }
        }
        if bad > 0 {
            self.context.count("Yunti", "BAD_RECORDS", bad);
        }
        let columns: Vec<Vector> = self.builders.iter_mut().map(Builder::take).collect();
        f(&columns, rows)
    }

    /// Adds a record. Returns what is wrong with it.
    fn parse(&mut self, value: &[u8]) -> std::result::Result<(), String> {
        let wrong = |field: &Field, cell: &[u8]| {
            let cell: String = String::from_utf8_lossy(cell).chars().take(40).collect();
            format!("the column {} is '{cell}', which is no {}", field.name, field.kind)
        };
        let (builders, fields) = (&mut self.builders, &self.fields);
        if let ([builder], [field]) = (&mut builders[..], &fields[..]) {
            return if builder.push(value) { Ok(()) } else { Err(wrong(field, value)) };
        }
        let mut rest = Some(value);
        for (builder, field) in builders.iter_mut().zip(fields) {
            let Some(cells) = rest else { return Err(format!("the column {} is missing", field.name)) };
            let (mut cell, behind) = match memchr::memchr(b'\t', cells) {
                Some(tab) => (&cells[..tab], Some(&cells[tab + 1..])),
                None => (cells, None),
            };
            rest = behind;
            if memchr::memchr(b'\\', cell).is_some() {
                self.cell.clear();
                put_unescaped(cell, &mut self.cell);
                cell = &self.cell;
            }
            if !builder.push(cell) {
                return Err(wrong(field, cell));
            }
        }
        if rest.is_some() { Err("it has more columns than are named".into()) } else { Ok(()) }
    }
}
