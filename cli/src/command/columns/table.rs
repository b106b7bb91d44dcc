//! Tables as inputs: their format, and the names and types of their columns by the first file.

use std::path::Path;

use serde_json::Value;
use yunti_base::{Code, Error, Result};
use yunti_engine::env::Env;
use yunti_engine::format::file_formats::{self, FileFormat};
use yunti_engine::job;
use yunti_engine::job::spec::{InputFormat, JobSpec};

use super::infer::{self, Fields};
use super::library;

/// Returns the format of inputs by the first file. Errors: `Usage` for a file that has no known columns.
pub fn format_of(inputs: &[String], env: &Env) -> Result<InputFormat> {
    let mut spec = JobSpec { inputs: inputs.to_vec(), ..JobSpec::default() };
    job::recognise_formats(&mut spec, env)?;
    if let InputFormat::Class(_) = spec.input_format {
        return Ok(spec.input_format);
    }
    let unknown = || {
        Error::new(Code::Usage, "the format of the input is not known")
            .at_path(inputs.first().cloned().unwrap_or_default())
            .hint(format!("name it with --input-format: csv, json, {}", file_formats::names()))
    };
    if inputs.iter().any(|name| name == "-") {
        return Err(unknown());
    }
    let first = job::first_file(inputs, env)?;
    let name = first.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let is = |extension: &str| name.ends_with(extension) || name.contains(&format!("{extension}."));
    match () {
        () if is(".csv") => Ok(InputFormat::Csv { separator: b',', header: true }),
        () if is(".tsv") => Ok(InputFormat::Csv { separator: b'\t', header: true }),
        () if is(".json") || is(".jsonl") || is(".ndjson") => Ok(InputFormat::Json),
        () => Err(unknown()),
    }
}

/// Returns the columns of a file: all of them, or for JSON those of `names`. A type is empty unless `typed`, or known
/// from a schema.
///
/// Errors: `Usage` for a format without columns, or JSON without names; those of the file.
pub fn fields(first: &Path, format: &InputFormat, names: &[String], typed: bool, env: &Env) -> Result<Fields> {
    match format {
        InputFormat::Class(_) if let Some(read) = library::read_format(format) => schema(first, read, env),
        InputFormat::Csv { separator, header } => {
            infer::of_csv(&first.to_string_lossy(), *separator, *header, typed, env)
        }
        InputFormat::Json if !names.is_empty() => infer::of_json(&first.to_string_lossy(), names, typed, env),
        InputFormat::Json => {
            let error = Error::new(Code::Usage, "no column of the JSON lines is named");
            Err(error.hint("as in --columns id,user.name"))
        }
        _ => {
            let error = Error::new(Code::Usage, "the input has no named columns");
            Err(error.hint(format!("formats with columns are csv, json, {}", file_formats::names())))
        }
    }
}

/// Returns the columns of a file with the types of their texts.
fn schema(path: &Path, format: &FileFormat, env: &Env) -> Result<Fields> {
    fields_of(path, format, "text_type", env)
}

/// Returns the type of the member of structs at a path of names with dots, if a file has it.
pub fn type_at(path: &str, first: &Path, format: &FileFormat, env: &Env) -> Result<Option<String>> {
    fn below(fields: &Value, path: &str) -> Option<String> {
        fields.as_array()?.iter().find_map(|field| {
            let rest = path.strip_prefix(field["name"].as_str()?)?;
            match rest.strip_prefix('.') {
                Some(rest) => below(&field["members"], rest),
                None if rest.is_empty() => Some(field["text_type"].as_str()?.to_string()),
                None => None,
            }
        })
    }
    Ok(below(&library::description(first, format, env)?["fields"], path))
}

/// Returns the columns of a file, each with a member of its description.
pub fn fields_of(path: &Path, format: &FileFormat, member: &str, env: &Env) -> Result<Fields> {
    let document = library::description(path, format, env)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let fields = document["fields"].as_array().into_iter().flatten();
    Ok(fields.map(|field| (text(&field["name"]), text(&field[member]))).collect())
}
