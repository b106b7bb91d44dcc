//! Formats of a job that classes of the library `formats/` read or write.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::env::Env;
use crate::format::file_formats::{FileFormat, of_source, of_writer};
use crate::job::inspect::describe;
use crate::job::spec::{InputFormat, JobSpec, OutputFormat};
use crate::operator::class::find_class;
use crate::operator::{ClassSource, Kind};
use yunti_base::{Code, Error, Result};

/// Function that returns the library for files of a format.
pub type Load<'a> = &'a dyn Fn(&FileFormat) -> Result<Arc<dyn ClassSource>>;

/// Means to complete a job.
#[derive(Clone, Copy)]
pub struct Completion<'a> {
    /// True if formats that the user left open are recognised by the first files.
    pub recognises: bool,
    /// True if tables are written in the format in which they are read, because the user names none.
    pub keeps_format: bool,
    /// True if reading the first bytes of a file of a store costs no more than of one of this machine.
    pub stores_are_near: bool,
    /// Library for files of columns.
    pub load: Load<'a>,
}

/// Returns the format of the first class of the library that a job names. Libraries of users may have other classes
/// that begin alike.
pub fn needed(spec: &JobSpec) -> Option<&'static FileFormat> {
    std::iter::once(spec).chain(&spec.then).find_map(|job| {
        let reads = job.sources().iter().find_map(|source| read_format(&source.input_format));
        reads.or_else(|| written_format(&job.output_format))
    })
}

/// Returns the format of files that an input format stands for, if the library reads it.
pub fn read_format(format: &InputFormat) -> Option<&'static FileFormat> {
    if let InputFormat::Class(name) = format { of_source(name) } else { None }
}

/// Returns the format of files that an output format stands for, if the library writes it.
pub fn written_format(format: &OutputFormat) -> Option<&'static FileFormat> {
    if let OutputFormat::Class(name) = format { of_writer(name) } else { None }
}

/// Returns the description of a file of columns: its schema, columns and statistics.
///
/// Errors: those of `load`; `Corrupt` and `Input` of the file.
pub fn description(path: &Path, format: &FileFormat, env: &Env, load: Load<'_>) -> Result<Value> {
    let class = find_class(&[load(format)?], format.source, &[Kind::Source])?;
    serde_json::from_str(&describe(path, &class, env)?)
        .map_err(|e| Error::new(Code::Internal, format!("the description of a file is no JSON ({e})")))
}
