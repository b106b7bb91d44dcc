//! `yunti convert`: the same records in another format. It is a job without a reduce; this module finds the columns.
//!
//! ```text
//!   input      columns                             types
//!   a file     of its schema                       of the schema, such as Parquet's
//!   CSV        of its first record                 inferred from its first records, for a file with types
//!   JSON       named by --columns                  the same
//! ```

use std::path::Path;

use clap::Args;
use serde_json::Value;
use yunti_base::{Code, Error, Result};
use yunti_engine::env::Env;
use yunti_engine::format::file_formats::{self, FileFormat};
use yunti_engine::job;
use yunti_engine::job::spec::change::{parse_input_format, parse_output, parse_output_format};
use yunti_engine::job::spec::{InputFormat, JobSpec, OutputFormat};

use super::infer::{self, Fields};
use super::library;
use crate::command::run::common_flags::{ReportingFlags, ResourceFlags};
use crate::command::run::flags::RunFlags;
use crate::command::run::run;
use crate::failure::Outcome;

/// Write records in another format: files of columns such as Parquet, CSV or JSON
///
/// A directory with part files appears when all of them are written. The columns are those of the input, or the ones
/// of --columns.
#[derive(Debug, Args)]
pub struct ConvertFlags {
    /// Inputs, then the output: a directory that does not exist yet, or - for standard output
    #[arg(required = true, num_args = 2.., value_name = "INPUT.. OUTPUT")]
    pub paths: Vec<String>,

    #[arg(long, value_name = "FORMAT", value_parser = parse_output_format,
          help = format!("Format of the output: csv[:SEPARATOR], csv-no-header[:SEPARATOR], json, {}",
                         file_formats::names()))]
    pub output_format: OutputFormat,

    #[arg(long, value_name = "FORMAT", value_parser = parse_input_format,
          help = format!("Format of the input: csv[:SEPARATOR], json, {} [default: by the content or the name of the \
                          first file]", file_formats::names()))]
    pub input_format: Option<InputFormat>,

    /// Columns to write [default: all columns of the first file; JSON: required]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub columns: Vec<String>,

    /// Types of columns in the output, as Arrow spells them, as in day=Date32,amount=Decimal128(12, 2) [default: of the
    /// input; CSV, JSON: inferred from the first records]; may be repeated
    #[arg(long, value_name = "NAME=TYPE")]
    pub r#type: Vec<String>,

    #[arg(long, value_name = "CODEC", help = format!("Codec of the output; {}", file_formats::codecs()))]
    pub codec: Option<String>,

    /// Replace the output if it exists
    #[arg(long)]
    pub overwrite: bool,

    #[command(flatten)]
    pub resources: ResourceFlags,

    #[command(flatten)]
    pub reports: ReportingFlags,
}

pub fn convert(flags: ConvertFlags) -> Outcome {
    let env = Env::real();
    let (output, inputs) = flags.paths.split_last().expect("the parser requires two paths");
    let format = match &flags.input_format {
        Some(format) => format.clone(),
        None => recognised(inputs, &env)?,
    };
    let (read, written) = (library::read_format(&format), library::written_format(&flags.output_format));
    if !(written.is_some() || matches!(flags.output_format, OutputFormat::Csv { .. } | OutputFormat::Json)) {
        let error = Error::new(Code::Usage, "convert writes columns");
        let hint =
            format!("use --output-format csv, json, {}; yunti run identity writes others", file_formats::names());
        return Err(error.hint(hint).into());
    }
    let first = job::first_file(inputs, &env)?;
    let fields = fields(&flags, &first, &format, written.is_some(), &env)?;
    if fields.is_empty() {
        return Err(Error::new(Code::Input, "the input has no column").at_path(first.to_string_lossy()).into());
    }
    let names: Vec<String> = fields.iter().map(|(name, _)| name.clone()).collect();
    let (key, value) = names.split_at(1);
    let mut settings = Vec::new();
    if let Some(written) = written {
        // A null of a file is not an empty text.
        if read.is_some() {
            settings.push((job::MARK_NULLS.to_string(), "true".to_string()));
        }
        let types = fields.iter().filter(|(_, kind)| !kind.is_empty());
        let mut types: Vec<String> = types.map(|(name, kind)| format!("{name}={kind}")).collect();
        // The first type of a name counts.
        types.splice(..0, flags.r#type.iter().cloned());
        settings.push((format!("{}.types", written.settings), types.join("\n")));
        settings.extend(flags.codec.iter().map(|codec| (format!("{}.compression", written.settings), codec.clone())));
    }
    if let (OutputFormat::Json, Some(read)) = (&flags.output_format, read) {
        settings.push((job::JSON_VALUES.into(), json_values(&first, read, &env)?.join("\n")));
    }
    run(RunFlags {
        application: Some("identity".into()),
        input: inputs.to_vec(),
        output: Some(parse_output(output)?),
        overwrite: flags.overwrite,
        input_format: Some(format),
        key_columns: key.to_vec(),
        value_columns: value.to_vec(),
        output_format: Some(flags.output_format),
        output_key_columns: key.to_vec(),
        output_value_columns: value.to_vec(),
        settings,
        name: Some("convert".into()),
        resources: flags.resources,
        reports: flags.reports,
        ..RunFlags::default()
    })
}

/// Returns the format of inputs by the first file. Errors: `Usage` for a file that has no known columns.
fn recognised(inputs: &[String], env: &Env) -> Result<InputFormat> {
    let mut spec = JobSpec { inputs: inputs.to_vec(), ..JobSpec::default() };
    job::recognise_formats(&mut spec, env)?;
    if let InputFormat::Class(_) = spec.input_format {
        return Ok(spec.input_format);
    }
    let name = Path::new(&inputs[0]).file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let is = |extension: &str| name.ends_with(extension) || name.contains(&format!("{extension}."));
    match () {
        () if is(".csv") => Ok(InputFormat::Csv { separator: b',', header: true }),
        () if is(".tsv") => Ok(InputFormat::Csv { separator: b'\t', header: true }),
        () if is(".json") || is(".jsonl") || is(".ndjson") => Ok(InputFormat::Json),
        () => Err(Error::new(Code::Usage, "the format of the input is not known")
            .at_path(inputs[0].as_str())
            .hint(format!("name it with --input-format: csv, json, {}", file_formats::names()))),
    }
}

/// Returns the columns of the first input, or the columns that the flags name, with their types if `typed`.
fn fields(flags: &ConvertFlags, first: &Path, format: &InputFormat, typed: bool, env: &Env) -> Result<Fields> {
    let of_schema = match format {
        InputFormat::Class(_) if let Some(read) = library::read_format(format) => schema(first, read, env)?,
        InputFormat::Csv { separator, header: true } => {
            infer::of_csv(&first.to_string_lossy(), *separator, typed, env)?
        }
        InputFormat::Json if !flags.columns.is_empty() => {
            infer::of_json(&first.to_string_lossy(), &flags.columns, typed, env)?
        }
        InputFormat::Json => {
            let error = Error::new(Code::Usage, "no column of the JSON lines is named");
            return Err(error.hint("as in --columns id,user.name"));
        }
        _ => {
            let error = Error::new(Code::Usage, "the input has no named columns");
            let hint = format!("convert reads csv with a header, json, {}", file_formats::names());
            return Err(error.hint(hint));
        }
    };
    if flags.columns.is_empty() {
        return Ok(of_schema);
    }
    let kind =
        |name: &String| of_schema.iter().find(|(n, _)| n == name).map_or(String::new(), |(_, kind)| kind.clone());
    Ok(flags.columns.iter().map(|name| (name.clone(), kind(name))).collect())
}

/// Returns the columns of a file whose texts are JSON values.
fn json_values(path: &Path, format: &FileFormat, env: &Env) -> Result<Vec<String>> {
    const KINDS: [&str; 8] = ["Int", "UInt", "Float", "Boolean", "Decimal", "List", "Struct", "Map"];
    let fields = fields_of(path, format, "type", env)?;
    let is_value = |kind: &str| KINDS.iter().any(|known| kind.starts_with(known) && !kind.starts_with("Interval"));
    Ok(fields.into_iter().filter(|(_, kind)| is_value(kind)).map(|(name, _)| name).collect())
}

/// Returns the columns of a file with the types of their texts.
fn schema(path: &Path, format: &FileFormat, env: &Env) -> Result<Fields> {
    fields_of(path, format, "text_type", env)
}

/// Returns the columns of a file, each with a member of its description.
fn fields_of(path: &Path, format: &FileFormat, member: &str, env: &Env) -> Result<Fields> {
    let document = library::description(path, format, env)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let fields = document["fields"].as_array().into_iter().flatten();
    Ok(fields.map(|field| (text(&field["name"]), text(&field[member]))).collect())
}
