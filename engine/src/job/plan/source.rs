//! A source of a job's records: files of one format, and the mapper of these records. Most jobs have one source.

use std::sync::Arc;

use crate::columns::input::bounds_of;
use crate::columns::settings::{MARK_NULLS, SKIP_BAD_RECORDS};
use crate::format::LineEnd;
use crate::format::columns::{BadRecords, Columns};
use crate::format::csv::CsvShape;
use crate::format::json::JsonShape;
use crate::job::spec::{InputFormat, JobSpec, SourceSpec};
use crate::operator::class::find_class;
use crate::operator::{Class, ClassSource, Kind, Scan, Type};
use crate::read::split::RecordFormat;
use yunti_base::{Code, Error, Result};

/// One source of a job's records.
#[derive(Clone)]
pub struct Source {
    pub format: RecordFormat,
    pub mapper: Option<Arc<dyn Class>>,
    /// Class that reads the files, if their format is a class.
    pub reader: Option<Arc<dyn Class>>,
    /// Types of keys and values that the mapper emits.
    pub types: (Type, Type),
}

impl Source {
    /// Returns true if records pass unchanged.
    pub fn passes_on(&self) -> bool {
        passes_on(&self.mapper)
    }

    /// Returns true if each task of the source starts a process.
    pub fn starts_processes(&self) -> bool {
        self.mapper.as_ref().is_some_and(|m| m.info().flags.starts_process)
    }

    /// Finds the classes of a source and its types.
    ///
    /// Errors: `UserCode` for a class that does not exist or is of another kind; `Usage` for a bad setting.
    pub fn make(spec: &JobSpec, source: &SourceSpec, sources: &[Arc<dyn ClassSource>]) -> Result<Source> {
        let mapper = source.mapper.as_ref().map(|name| find_class(sources, name, &[Kind::Mapper])).transpose()?;
        let reader = match &source.input_format {
            InputFormat::Class(name) => Some(find_class(sources, name, &[Kind::Reader, Kind::Source])?),
            _ => None,
        };
        let no_value = passes_on(&mapper) && ignores_values(spec, sources);
        let of = |class: &Arc<dyn Class>| (class.info().key_type, class.info().value_type);
        let passes = |m: &Arc<dyn Class>| m.info().selects || (m.info().is_identity && reader.is_some());
        let types = match (&mapper, &source.input_format) {
            (Some(m), _) if !passes(m) => of(m),
            (_, InputFormat::Text { .. }) => (Type::Bytes, Type::None),
            (_, InputFormat::Framed) => spec.input_types.unwrap_or((Type::Bytes, Type::Bytes)),
            (_, InputFormat::Class(_)) => reader.as_ref().map_or_else(Default::default, of),
            _ => (Type::Bytes, Type::Bytes),
        };
        let blocks = mapper.as_ref().is_some_and(|m| m.info().flags.takes_blocks)
            && reader.as_ref().is_some_and(|r| r.info().flags.gives_blocks);
        let format = format(spec, source, reader.as_ref(), no_value, blocks)?;
        Ok(Source { format, mapper, reader, types })
    }
}

fn passes_on(mapper: &Option<Arc<dyn Class>>) -> bool {
    mapper.as_ref().is_none_or(|m| m.info().is_identity)
}

/// Returns true if the job's folder needs no values.
fn ignores_values(spec: &JobSpec, sources: &[Arc<dyn ClassSource>]) -> bool {
    let folder = spec.folder.as_ref().and_then(|name| find_class(sources, name, &[Kind::Folder]).ok());
    folder.is_some_and(|class| class.info().flags.ignores_values)
}

fn format(
    spec: &JobSpec,
    source: &SourceSpec,
    reader: Option<&Arc<dyn Class>>,
    no_value: bool,
    blocks: bool,
) -> Result<RecordFormat> {
    let SourceSpec { input_format, columns, .. } = source;
    Ok(match input_format {
        InputFormat::Text { delimiter } => RecordFormat::Lines { end: line_end(delimiter) },
        InputFormat::KeyValue { separator } => RecordFormat::KeyValue { end: LineEnd::Any, separator: *separator },
        InputFormat::Fixed { record_bytes, key_bytes } => {
            RecordFormat::Fixed { record_bytes: *record_bytes, key_bytes: *key_bytes }
        }
        InputFormat::Framed => RecordFormat::Framed,
        InputFormat::Class(_) if reader.is_some_and(|r| r.info().kind == Kind::Source) => {
            let (key, value) = (columns.key.clone(), columns.value.clone());
            // The mapper checks the condition; the source may leave out what surely does not meet it.
            let condition = if blocks { bounds_of(&spec.settings)? } else { String::new() };
            // Named columns of the value are wanted even if the folder ignores them.
            let no_value = no_value && value.is_empty();
            RecordFormat::Source(Scan {
                key,
                value,
                no_value,
                marks_nulls: is_true(spec, MARK_NULLS)?,
                blocks,
                condition,
                ..Scan::default()
            })
        }
        InputFormat::Class(name) => {
            if *columns != Columns::default() {
                let error = Error::new(Code::Usage, format!("the reader {name} has no columns"));
                return Err(error.hint("leave out --key-columns and --value-columns"));
            }
            RecordFormat::Class { cut_at: reader.filter(|r| r.info().flags.finds).map(|r| r.look_back()) }
        }
        InputFormat::Csv { separator, header } => {
            let (separator, header, columns) = (*separator, *header, columns.clone());
            RecordFormat::Csv(CsvShape { separator, header, columns, bad: bad_records(spec)? })
        }
        InputFormat::Json => {
            let shape = JsonShape { columns: columns.clone(), bad: bad_records(spec)? };
            RecordFormat::Json { end: LineEnd::Lf, shape }
        }
    })
}

/// Returns what happens to records that break their format.
fn bad_records(spec: &JobSpec) -> Result<BadRecords> {
    Ok(if is_true(spec, SKIP_BAD_RECORDS)? { BadRecords::Skip } else { BadRecords::Fail })
}

/// Returns the value of a setting that is true or false, by default false.
pub fn is_true(spec: &JobSpec, key: &str) -> Result<bool> {
    match spec.settings.get(key).map(|value| value.trim()) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(other) => Err(Error::new(Code::Usage, format!("{key}: '{other}' is neither true nor false"))),
    }
}

fn line_end(delimiter: &Option<Vec<u8>>) -> LineEnd {
    match delimiter {
        None => LineEnd::Any,
        Some(d) if d == b"\n" => LineEnd::Lf,
        Some(d) => LineEnd::Delimiter(d.clone()),
    }
}
