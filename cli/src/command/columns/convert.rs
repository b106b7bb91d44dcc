//! `yunti convert`: the same records in another format. It is a job without a reduce; this module finds the columns.
//!
//! ```text
//!   input      columns                             types
//!   a file     of its schema                       of the schema, such as Parquet's
//!   CSV        of its first record                 inferred from its first records, for a file with types
//!   JSON       named by --columns                  the same
//! ```

use clap::Args;
use yunti_base::{Code, Error, Result};
use yunti_engine::env::Env;
use yunti_engine::format::file_formats;
use yunti_engine::job::spec::change::{parse_input_format, parse_output, parse_output_format};
use yunti_engine::job::spec::{InputFormat, Mode, OutputFormat, OutputTarget};
use yunti_engine::job::{self, Fields, Table, is_nested};

use super::library;
use crate::command::part::stores::StoreFlags;
use crate::command::run::common_flags::{ReportingFlags, ResourceFlags, TaskFlags};
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

    /// Columns whose values become directories, as Hive and Spark have them: day=2026-11-01/city=Rome. The files below
    /// have the other columns
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub partition_by: Vec<String>,

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
    pub stores: StoreFlags,

    #[command(flatten)]
    pub resources: ResourceFlags,

    #[command(flatten)]
    pub reports: ReportingFlags,
}

pub fn convert(flags: ConvertFlags) -> Outcome {
    let env = flags.stores.env();
    let (output, inputs) = flags.paths.split_last().expect("the parser requires two paths");
    let format = match &flags.input_format {
        Some(format) => format.clone(),
        None => job::format_of(inputs, &env, false)?,
    };
    let (read, written) = (job::read_format(&format), job::written_format(&flags.output_format));
    if !(written.is_some() || matches!(flags.output_format, OutputFormat::Csv { .. } | OutputFormat::Json)) {
        let error = Error::new(Code::Usage, "convert writes columns");
        let hint =
            format!("use --output-format csv, json, {}; yunti run identity writes others", file_formats::names());
        return Err(error.hint(hint).into());
    }
    let table = Table::of(inputs, &format, &env, &library::load)?;
    let fields = fields(&flags, &table, written.is_some(), &env)?;
    if fields.is_empty() {
        return Err(Error::new(Code::Input, "the input has no column").at_path(table.path.to_string_lossy()).into());
    }
    let names: Vec<String> = fields.iter().map(|(name, _)| name.clone()).collect();
    let output = parse_output(output)?;
    let layout = match flags.partition_by.is_empty() {
        true => Layout::in_parts(&names),
        false => Layout::in_directories(&flags, &names, &table, &output, &env)?,
    };
    let mut settings = Vec::new();
    if layout.directories {
        settings.push((job::KEY_DIRECTORIES.to_string(), layout.key.join("\n")));
    }
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
    if flags.output_format == OutputFormat::Json && read.is_some() {
        settings.push((job::JSON_VALUES.into(), table.json_values().join("\n")));
    }
    run(RunFlags {
        application: Some("identity".into()),
        input: inputs.to_vec(),
        output: Some(output),
        overwrite: flags.overwrite,
        input_format: Some(format),
        key_columns: layout.key,
        value_columns: layout.value.clone(),
        output_format: Some(flags.output_format),
        output_key_columns: layout.output_key,
        output_value_columns: layout.value,
        mapper: layout.directories.then(|| "Yunti.KeyDirectoriesMapper".into()),
        mode: layout.directories.then_some(Mode::Sorted),
        reduces: layout.reduces,
        settings,
        name: Some("convert".into()),
        tasks: TaskFlags { stores: flags.stores, ..TaskFlags::default() },
        resources: flags.resources,
        reports: flags.reports,
        ..RunFlags::default()
    })
}

/// Columns of the records on their way, and of the files.
struct Layout {
    key: Vec<String>,
    value: Vec<String>,
    /// Columns of the key in the files.
    output_key: Vec<String>,
    /// True if the key is the directory.
    directories: bool,
    reduces: Option<u32>,
}

/// Partitions for each thread: several share out directories of different sizes.
const PARTITIONS_A_THREAD: usize = 4;
const PARTITIONS_MAX: usize = 256;

impl Layout {
    /// Returns the layout in part files, one for each split.
    fn in_parts(names: &[String]) -> Layout {
        let (key, value) = names.split_at(1);
        Layout { key: key.into(), value: value.into(), output_key: key.into(), directories: false, reduces: None }
    }

    /// Returns the layout in directories. The number of partitions changes no byte: a directory has one file.
    fn in_directories(
        flags: &ConvertFlags,
        names: &[String],
        table: &Table,
        output: &OutputTarget,
        env: &Env,
    ) -> Result<Layout> {
        let usage = |what: String, hint: &str| Err(Error::new(Code::Usage, what).hint(hint));
        if *output == OutputTarget::Stdout {
            return usage("--partition-by writes directories, not standard output".into(), "name a directory");
        }
        let by = &flags.partition_by;
        for (number, name) in by.iter().enumerate() {
            if !names.contains(name) {
                let hint = format!("the columns of the output are {}", names.join(", "));
                return usage(format!("there is no column {name} to partition by"), &hint);
            }
            if by[..number].contains(name) {
                return usage(format!("--partition-by names the column {name} twice"), "name it once");
            }
            if let Some(kind) = table.own_type_at(name).filter(|kind| !names_directories(kind)) {
                let hint = "use columns of texts, numbers, booleans, dates or times";
                return usage(format!("the column {name} of the type {kind} cannot name directories"), hint);
            }
        }
        let value: Vec<String> = names.iter().filter(|name| !by.contains(name)).cloned().collect();
        if value.is_empty() {
            return usage(
                "all columns are named in --partition-by, so the files would have none".into(),
                "leave one out",
            );
        }
        let threads = flags.resources.threads.unwrap_or_else(|| env.threads.processors());
        let reduces = Some((PARTITIONS_A_THREAD * threads).min(PARTITIONS_MAX) as u32);
        Ok(Layout { key: by.clone(), value, output_key: Vec::new(), directories: true, reduces })
    }
}

/// Returns true for a type whose values can name directories. `kind`: the type as Arrow spells it.
fn names_directories(kind: &str) -> bool {
    const OTHERS: [&str; 5] = ["Binary", "FixedSizeBinary", "LargeBinary", "Union", "Interval"];
    !is_nested(kind) && !OTHERS.iter().any(|other| kind.starts_with(other))
}

/// Returns the columns of the first input, or the columns that the flags name, with their types if `typed`.
fn fields(flags: &ConvertFlags, table: &Table, typed: bool, env: &Env) -> Result<Fields> {
    let all = table.fields(&flags.columns, typed, env)?;
    if flags.columns.is_empty() {
        return Ok(all);
    }
    let kind = |name: &String| all.iter().find(|(n, _)| n == name).map_or(String::new(), |(_, kind)| kind.clone());
    Ok(flags.columns.iter().map(|name| (name.clone(), kind(name))).collect())
}
