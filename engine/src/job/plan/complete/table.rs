//! Tables as inputs: their format, and the names and types of their columns by the first file.

use std::path::PathBuf;

use super::formats::{Load, description, read_format};
use super::infer::{self, Fields};
use super::recognise::{first_file, recognise_formats};
use crate::env::Env;
use crate::format::file_formats;
use crate::job::spec::{InputFormat, JobSpec};
use serde_json::Value;
use yunti_base::{Code, Error, Result};

/// Returns the format of inputs by the first file. Errors: `Usage` for a file that has no known columns.
pub fn format_of(inputs: &[String], env: &Env, stores_are_near: bool) -> Result<InputFormat> {
    let mut spec = JobSpec { inputs: inputs.to_vec(), ..JobSpec::default() };
    recognise_formats(&mut spec, env, stores_are_near)?;
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
    let first = first_file(inputs, env)?;
    let name = first.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let is = |extension: &str| name.ends_with(extension) || name.contains(&format!("{extension}."));
    match () {
        () if is(".csv") => Ok(InputFormat::Csv { separator: b',', header: true }),
        () if is(".tsv") => Ok(InputFormat::Csv { separator: b'\t', header: true }),
        () if is(".json") || is(".jsonl") || is(".ndjson") => Ok(InputFormat::Json),
        () => Err(unknown()),
    }
}

/// Returns the format of a table among others: of its first file, else the one of the job, else by its name.
pub fn format_among(spec: &JobSpec, inputs: &[String], env: &Env, stores_are_near: bool) -> Result<InputFormat> {
    let mut own = JobSpec { inputs: inputs.to_vec(), ..JobSpec::default() };
    if !inputs.iter().any(|name| name == "-") {
        recognise_formats(&mut own, env, stores_are_near)?;
    }
    match (&own.input_format, &spec.input_format) {
        (InputFormat::Class(_), _) => Ok(own.input_format),
        (_, InputFormat::Text { .. }) => format_of(inputs, env, stores_are_near),
        (_, format @ (InputFormat::Csv { .. } | InputFormat::Json | InputFormat::Class(_))) => Ok(format.clone()),
        _ => {
            let error = Error::new(Code::Usage, "the input has no named columns");
            Err(error.hint(format!("formats with columns are csv, json, {}", file_formats::names())))
        }
    }
}

/// The first file of inputs, whose columns are those of all.
pub struct Table {
    pub path: PathBuf,
    format: InputFormat,
    /// Fields of its description, if a class of the library reads its format.
    schema: Option<Value>,
}

impl Table {
    /// Finds the first file and describes it. Errors: `Input` if there is none; those of the library and of the file.
    pub fn of(inputs: &[String], format: &InputFormat, env: &Env, load: Load<'_>) -> Result<Table> {
        let path = first_file(inputs, env)?;
        let described = read_format(format).map(|read| description(&path, read, env, load)).transpose()?;
        Ok(Table { path, format: format.clone(), schema: described.map(|mut document| document["fields"].take()) })
    }

    /// Returns the columns: all of them, or for JSON those of `names`. A type is empty unless `typed`, or known from a
    /// schema.
    ///
    /// Errors: `Usage` for a format without columns, or JSON without names; those of the file.
    pub fn fields(&self, names: &[String], typed: bool, env: &Env) -> Result<Fields> {
        if self.schema.is_some() {
            return Ok(self.described("text_type"));
        }
        let path = self.path.to_string_lossy();
        match self.format {
            InputFormat::Csv { separator, header } => infer::of_csv(&path, separator, header, typed, env),
            InputFormat::Json if !names.is_empty() => infer::of_json(&path, names, typed, env),
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

    /// Returns the names of all columns, if they are no part of a schema or a header: of JSON lines.
    pub fn json_names(&self, env: &Env) -> Result<Vec<String>> {
        match self.format {
            InputFormat::Json => infer::names_of_json(&self.path.to_string_lossy(), env),
            _ => Ok(Vec::new()),
        }
    }

    /// Returns the columns whose texts are JSON values, by the schema.
    pub fn json_values(&self) -> Vec<String> {
        let values = self.described("type").into_iter().filter(|(_, kind)| is_json_value(kind));
        values.map(|(name, _)| name).collect()
    }

    /// Returns the type of the member of structs at a path of names with dots, if the schema has it.
    pub fn type_at(&self, path: &str) -> Option<String> {
        self.found_at(path, "text_type")
    }

    /// Returns the type of a column, or of the member of structs at a path, as the file has it.
    pub fn own_type_at(&self, path: &str) -> Option<String> {
        self.found_at(path, "type")
    }

    fn found_at(&self, path: &str, what: &str) -> Option<String> {
        fn below(fields: &Value, path: &str, what: &str) -> Option<String> {
            fields.as_array()?.iter().find_map(|field| {
                let rest = path.strip_prefix(field["name"].as_str()?)?;
                match rest.strip_prefix('.') {
                    Some(rest) => below(&field["members"], rest, what),
                    None if rest.is_empty() => Some(field[what].as_str()?.to_string()),
                    None => None,
                }
            })
        }
        below(self.schema.as_ref()?, path, what)
    }

    /// Returns the columns of the schema, each with a member of its description.
    fn described(&self, member: &str) -> Fields {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let fields = self.schema.as_ref().and_then(Value::as_array).into_iter().flatten();
        fields.map(|field| (text(&field["name"]), text(&field[member]))).collect()
    }
}

/// Returns true for a type of several values. `kind`: the type as Arrow spells it.
pub fn is_nested(kind: &str) -> bool {
    ["List", "LargeList", "FixedSizeList", "Struct", "Map"].iter().any(|known| kind.starts_with(known))
}

/// Returns true for a type whose texts are JSON values. `kind`: the type as Arrow spells it.
pub fn is_json_value(kind: &str) -> bool {
    const KINDS: [&str; 8] = ["Int", "UInt", "Float", "Boolean", "Decimal", "List", "Struct", "Map"];
    KINDS.iter().any(|known| kind.starts_with(known)) && !kind.starts_with("Interval")
}
