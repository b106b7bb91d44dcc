//! A source of a job's records: files of one format, and the mapper of these records. Most jobs have one source.

use std::sync::Arc;

use crate::format::LineEnd;
use crate::format::columns::{BadRecords, Columns};
use crate::format::csv::CsvShape;
use crate::format::json::JsonShape;
use crate::job::spec::{InputFormat, JobSpec, SourceSpec};
use crate::operator::class::find_class;
use crate::operator::{Class, ClassSource, Kind, Type};
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
        self.mapper.as_ref().is_none_or(|m| m.info().is_identity)
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
            InputFormat::Class(name) => Some(find_class(sources, name, &[Kind::Reader])?),
            _ => None,
        };
        let of = |class: &Arc<dyn Class>| (class.info().key_type, class.info().value_type);
        let passes = |m: &Arc<dyn Class>| m.info().selects || (m.info().is_identity && reader.is_some());
        let types = match (&mapper, &source.input_format) {
            (Some(m), _) if !passes(m) => of(m),
            (_, InputFormat::Text { .. }) => (Type::Bytes, Type::None),
            (_, InputFormat::Framed) => spec.input_types.unwrap_or((Type::Bytes, Type::Bytes)),
            (_, InputFormat::Class(_)) => reader.as_ref().map_or_else(Default::default, of),
            _ => (Type::Bytes, Type::Bytes),
        };
        let format = format(spec, &source.input_format, &source.columns, reader.as_ref())?;
        Ok(Source { format, mapper, reader, types })
    }
}

fn format(
    spec: &JobSpec,
    format: &InputFormat,
    columns: &Columns,
    reader: Option<&Arc<dyn Class>>,
) -> Result<RecordFormat> {
    Ok(match format {
        InputFormat::Text { delimiter } => RecordFormat::Lines { end: line_end(delimiter) },
        InputFormat::KeyValue { separator } => RecordFormat::KeyValue { end: LineEnd::Any, separator: *separator },
        InputFormat::Fixed { record_bytes, key_bytes } => {
            RecordFormat::Fixed { record_bytes: *record_bytes, key_bytes: *key_bytes }
        }
        InputFormat::Framed => RecordFormat::Framed,
        InputFormat::Class(_) => {
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
    match spec.settings.get(SKIP_BAD_RECORDS).map(|value| value.trim()) {
        None | Some("false") => Ok(BadRecords::Fail),
        Some("true") => Ok(BadRecords::Skip),
        Some(other) => Err(Error::new(Code::Usage, format!("{SKIP_BAD_RECORDS}: '{other}' is neither true nor false"))),
    }
}

/// Setting: skip records that break their format, instead of failing.
const SKIP_BAD_RECORDS: &str = "skip.bad.records";

fn line_end(delimiter: &Option<Vec<u8>>) -> LineEnd {
    match delimiter {
        None => LineEnd::Any,
        Some(d) if d == b"\n" => LineEnd::Lf,
        Some(d) => LineEnd::Delimiter(d.clone()),
    }
}
