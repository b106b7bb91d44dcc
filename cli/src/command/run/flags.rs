//! The flags of `yunti run`. Each is also a key of job.toml, with the same name and values.

use std::path::PathBuf;

use crate::command::numbers::whole;
use clap::Args;
use yunti_base::{Code, Error};
use yunti_engine::columns::settings;
use yunti_engine::job::applications;
use yunti_engine::job::spec::change::{
    SpecChange, input_formats, output_formats, parse_compress, parse_input_format, parse_mode, parse_output,
    parse_output_format, parse_partitioning,
};
use yunti_engine::job::spec::{Compress, InputFormat, Mode, OutputFormat, OutputTarget, Partitioning, parse_size};
use yunti_engine::library::tables::TablePlace;
use yunti_engine::operator::Type;

use super::common_flags::{ReportingFlags, ResourceFlags, TaskFlags};

/// Run a job: a ready application, a job file, or your own classes
///
/// Without --output, prints the records with the largest numbers, and where the time went. With --output DIR, creates
/// the directory when the job is done, with part files, _SUCCESS and _yunti/report.json. `yunti report DIR` explains
/// it.
#[derive(Debug, Default, Args)]
#[command(after_help = after_help())]
pub struct RunFlags {
    /// Ready application: wordcount, sort, grep, join, top, .. (--list shows all); omit it with --file, --mapper,
    /// --reducer or --folder
    pub application: Option<String>,

    /// List the ready applications in groups, and exit
    #[arg(long)]
    pub list: bool,

    /// Inputs to read: files, directories, globs, or - for standard input; same as --input
    #[arg(value_name = "INPUT")]
    pub more_inputs: Vec<String>,

    /// Input to read: a file, a directory, a glob, or - for standard input; may be repeated
    #[arg(short, long, value_name = "PATH", help_heading = "Input and output")]
    pub input: Vec<String>,

    /// Output to write: a directory that does not exist yet, or - for standard output
    #[arg(short, long, value_name = "DIR", value_parser = parse_output, help_heading = "Input and output", conflicts_with = "top")]
    pub output: Option<OutputTarget>,

    /// Number of records to print without an output [default: 20]
    #[arg(long, value_name = "N", value_parser = whole(0..=usize::MAX), help_heading = "Input and output")]
    pub top: Option<usize>,

    /// Replace the output if it exists
    #[arg(long, help_heading = "Input and output")]
    pub overwrite: bool,

    /// Wait if another job is writing the output
    #[arg(long, help_heading = "Input and output")]
    pub wait: bool,

    /// Sync the output to the disk before it is renamed, so that it survives a power loss
    #[arg(long, help_heading = "Input and output")]
    pub durable: bool,

    /// Keep a journal of what is done; after a kill, a crash or a full disk, the same command goes on from there
    #[arg(long, help_heading = "Input and output")]
    pub resume: bool,

    /// Read the input files; by default a sort of unchanged records maps them
    #[arg(long, help_heading = "Input and output")]
    pub no_mmap: bool,

    #[arg(long, value_name = "FORMAT", value_parser = parse_input_format, help_heading = "Input and output",
          help = format!("Format of the input: {}, or a class as class:LIBRARY.CLASS [default: by the first file: its \
                          format of columns, or text]", input_formats()))]
    pub input_format: Option<InputFormat>,

    /// Columns of csv, json or a file of columns that form the key, as in id or user.name,city; for join also pairs, as
    /// in id=customer_id, and for top an order, as in 'amount desc' [default: the first; json: none]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Input and output")]
    pub key_columns: Vec<String>,

    /// Columns of csv, json or a file of columns that form the value [default: all others; json: the line]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Input and output")]
    pub value_columns: Vec<String>,

    /// Columns by which aggregate groups rows, as in city,month [default: all rows are one group]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "Columns (aggregate, select, filter, top, join, ..)"
    )]
    pub by: Vec<String>,

    /// Aggregates, as in 'sum(amount) as total, count' (docs/guide/columns.md lists the functions)
    #[arg(long, value_name = "LIST", help_heading = "Columns (aggregate, select, filter, top, join, ..)")]
    pub agg: Option<String>,

    /// Columns and expressions to select, as in 'city, amount * 1.2 as gross'; for join and sample columns alone
    /// [default: all columns]
    #[arg(long, value_name = "LIST", help_heading = "Columns (aggregate, select, filter, top, join, ..)")]
    pub columns: Option<String>,

    /// Condition that rows must meet, in SQL, as in "amount > 10 and city like 'P%'"
    #[arg(
        long = "where",
        value_name = "CONDITION",
        help_heading = "Columns (aggregate, select, filter, top, join, ..)"
    )]
    pub condition: Option<String>,

    /// Type of a column of csv or json, as in 'amount=Decimal128(10, 2)' [default: inferred]; may be repeated
    #[arg(long, value_name = "NAME=TYPE", help_heading = "Columns (aggregate, select, filter, top, join, ..)")]
    pub r#type: Vec<String>,

    #[arg(long, value_name = "FORMAT", value_parser = parse_output_format, help_heading = "Input and output",
          help = format!("Format of the output: {}, or a writer class as class:LIBRARY.CLASS [default: text]",
                         output_formats()))]
    pub output_format: Option<OutputFormat>,

    /// Columns of a csv or json output that take the key [default: none, if --output-value-columns is given]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Input and output")]
    pub output_key_columns: Vec<String>,

    /// Columns of a csv or json output that take the value; several take the parts between its tabs
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Input and output")]
    pub output_value_columns: Vec<String>,

    /// Compress the output: none, gzip, zstd, bzip2, xz, lz4, snappy, hadoop-lz4, hadoop-snappy or deflate; gzip,
    /// deflate, zstd, bzip2 and xz take a level, as in zstd:9 [default: none]
    #[arg(long, value_name = "CODEC[:LEVEL]", value_parser = parse_compress, help_heading = "Input and output")]
    pub compress: Option<Compress>,

    /// Job file (job.toml); flags override its keys
    #[arg(short, long, value_name = "FILE", help_heading = "The job")]
    pub file: Option<PathBuf>,

    /// Setting for the classes, or a setting of Hadoop; may be repeated
    #[arg(short = 'D', value_name = "KEY=VALUE", value_parser = parse_setting, help_heading = "The job")]
    pub settings: Vec<(String, String)>,

    /// Name of the job in its report
    #[arg(long, help_heading = "The job")]
    pub name: Option<String>,

    /// sorted: keys in order; grouped: equal keys together, in no order; none: records in input order
    #[arg(long, value_name = "MODE", value_parser = parse_mode, help_heading = "The job")]
    pub mode: Option<Mode>,

    /// Number of output partitions [default: 1]
    #[arg(short, long, value_name = "N", value_parser = whole(0..=u32::MAX), help_heading = "The job")]
    pub reduces: Option<u32>,

    /// Order keys as text, bytes, i32, i64, u32, u64, f32 or f64 [default: the mapper's key type]
    #[arg(long, value_name = "TYPE", value_parser = Type::parse, help_heading = "The job")]
    pub key_type: Option<Type>,

    /// Order keys from the largest to the smallest
    #[arg(long, help_heading = "The job")]
    pub descending: bool,

    /// Class that orders keys, and defines which part of a key forms a group
    #[arg(long, value_name = "LIB.CLASS", help_heading = "Classes")]
    pub key_order: Option<String>,

    /// Extra output that classes write to by its name; may be repeated
    #[arg(long, value_name = "NAME=FORMAT", value_parser = parse_named_output, help_heading = "Input and output")]
    pub named_output: Vec<(String, OutputFormat)>,

    /// Write grouped output in a fixed order, for any number of threads and any memory
    #[arg(long, help_heading = "The job")]
    pub deterministic: bool,

    /// Class library to load; may be repeated
    #[arg(short, long, value_name = "FILE.so", help_heading = "Classes (Yunti.X are built in)")]
    pub lib: Vec<PathBuf>,

    /// Run the classes of --lib in worker processes: a crash costs one attempt of a task
    #[arg(long, help_heading = "Classes (Yunti.X are built in)")]
    pub isolate: bool,

    /// Run the classes of --lib and the workers in a sandbox: no network, files are read-only except a directory of
    /// their own (TMPDIR), no reach into other processes
    #[arg(long, help_heading = "Classes (Yunti.X are built in)")]
    pub sandbox: bool,

    /// Memory that a worker process may allocate, as in 2GiB [default: any]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Resources")]
    pub worker_memory: Option<u64>,

    /// Program that serves classes by the protocol of workers, as in 'python3 -m yunti.worker job.py'; may be repeated
    #[arg(long, value_name = "COMMAND", help_heading = "Classes (Yunti.X are built in)")]
    pub worker: Vec<String>,

    /// File or directory that programs and workers find at the same place below their working directory, on a cluster
    /// too; may be repeated
    #[arg(long, value_name = "FILE[#PLACE]", help_heading = "Classes (Yunti.X are built in)")]
    pub ship: Vec<String>,

    /// Archive that each node of a cluster unpacks as a directory of this name, where programs and workers start; may
    /// be repeated
    #[arg(long, value_name = "FILE#NAME", help_heading = "Classes (Yunti.X are built in)")]
    pub archive: Vec<String>,

    /// Command of each --worker in the tasks of a cluster, if it is another one there; in the same order
    #[arg(long, value_name = "COMMAND", hide = true)]
    pub task_worker: Vec<String>,

    /// File that every task can read whole, by its name; may be repeated
    #[arg(long, value_name = "FILE", help_heading = "Classes")]
    pub side_file: Vec<PathBuf>,

    /// Table that classes find by this name: a file of `yunti table build`, or the addresses of `yunti table serve` as
    /// in users=server:db1:7070,db2:7070 or users=server:unix:/run/users; may be repeated
    #[arg(long, value_name = "NAME=PLACE", value_parser = parse_table, help_heading = "Classes")]
    pub table: Vec<(String, TablePlace)>,

    /// File with the token of the servers of tables
    #[arg(long, value_name = "FILE", help_heading = "Classes")]
    pub table_token_file: Option<PathBuf>,

    /// TLS to the servers of tables on TCP, with the certificates of authorities in this file (PEM)
    #[arg(long, value_name = "FILE", help_heading = "Classes")]
    pub table_tls_ca: Option<PathBuf>,

    /// Class that maps input records [default: records pass unchanged]
    #[arg(long, value_name = "CLASS", help_heading = "Classes (Yunti.X are built in)")]
    pub mapper: Option<String>,

    /// Class that reduces early, before records are sorted and spilled
    #[arg(long, value_name = "CLASS", help_heading = "Classes (Yunti.X are built in)")]
    pub combiner: Option<String>,

    /// Class that reduces each key and its values to records
    #[arg(long, value_name = "CLASS", help_heading = "Classes (Yunti.X are built in)")]
    pub reducer: Option<String>,

    /// Class that replaces combiner and reducer, with one state per key
    #[arg(long, value_name = "CLASS", conflicts_with_all = ["reducer", "combiner"], help_heading = "Classes (Yunti.X are built in)")]
    pub folder: Option<String>,

    /// Partitioner: hash, total-order or a class [default: hash]
    #[arg(long, value_name = "CLASS", value_parser = parse_partitioning, help_heading = "Classes (Yunti.X are built in)")]
    pub partitioner: Option<Partitioning>,

    /// Place to run: here, or on the cluster of the `hadoop` in PATH, where inputs and output are Hadoop's paths
    #[arg(long, value_name = "WHERE", value_enum, default_value_t = Cluster::Here, help_heading = "The job")]
    pub on: Cluster,

    #[command(flatten)]
    pub tasks: TaskFlags,

    #[command(flatten)]
    pub resources: ResourceFlags,

    #[command(flatten)]
    pub reports: ReportingFlags,
}

/// Place where a job runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Cluster {
    /// On this machine
    #[default]
    Here,
    /// On a Hadoop cluster
    Yarn,
}

/// Returns the applications with their settings, and examples.
fn after_help() -> String {
    let mut out = String::from("Applications:\n");
    for application in applications() {
        out += &format!("  {:<13} {}\n", application.name, application.summary);
        for (key, meaning) in application.settings {
            out += &format!("  {:<13}   -D {key}: {meaning}\n", "");
        }
    }
    out + "\nExamples:\n  \
        yunti run wordcount books/\n  \
        yunti run sort --input a.txt --output - --memory 512MiB | head\n  \
        yunti run terasort --input t/ --output s/ --reduces 8\n  \
        yunti run --lib ./libmine.so --mapper Mine.Tokenizer --folder Mine.Max -i in/ -o out/"
}

pub fn parse_setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_string(), value.to_string())),
        _ => Err("write -D key=value".into()),
    }
}

fn parse_named_output(text: &str) -> yunti_base::Result<(String, OutputFormat)> {
    let (name, format) = text.split_once('=').unwrap_or((text, "text"));
    Ok((name.to_string(), parse_output_format(format)?))
}

fn parse_table(text: &str) -> yunti_base::Result<(String, TablePlace)> {
    match text.split_once('=') {
        Some((name, place)) if !name.is_empty() && !place.is_empty() => Ok((name.to_string(), place.parse()?)),
        _ => Err(Error::new(Code::Usage, "write --table NAME=FILE, or NAME=server:ADDRESS,..")),
    }
}

impl RunFlags {
    /// Returns the settings of `-D` and of the flags that stand for a setting.
    fn settings(&self) -> Vec<(String, String)> {
        let lists = [(settings::BY, &self.by), (settings::TYPES_GIVEN, &self.r#type)];
        // A space behind a comma is no part of a name.
        let joined = |list: &[String]| list.iter().map(|item| item.trim()).collect::<Vec<_>>().join("\n");
        let lists = lists.into_iter().filter(|(_, list)| !list.is_empty()).map(|(key, list)| (key, joined(list)));
        let texts = [(settings::OF, &self.agg), (settings::SELECT, &self.columns), (settings::WHERE, &self.condition)];
        let texts = texts.into_iter().filter_map(|(key, text)| Some((key, text.clone()?)));
        let columns = lists.chain(texts).map(|(key, text)| (key.to_string(), text));
        self.settings.iter().cloned().chain(columns).chain(self.tasks.settings()).collect()
    }

    /// Returns the changes that the flags make to a job. Lists replace the job file's lists; settings are added to its
    /// settings.
    pub fn change(&self) -> SpecChange {
        let list = |v: &[PathBuf]| if v.is_empty() { None } else { Some(v.to_vec()) };
        let names = |v: &[String]| if v.is_empty() { None } else { Some(v.to_vec()) };
        let inputs: Vec<String> = self.more_inputs.iter().chain(&self.input).cloned().collect();
        SpecChange {
            name: self.name.clone(),
            inputs: if inputs.is_empty() { None } else { Some(inputs) },
            input_format: self.input_format.clone(),
            key_columns: names(&self.key_columns),
            value_columns: names(&self.value_columns),
            output: self.output.clone().or(self.top.map(OutputTarget::Top)),
            output_format: self.output_format.clone(),
            output_key_columns: names(&self.output_key_columns),
            output_value_columns: names(&self.output_value_columns),
            compress: self.compress,
            libraries: list(&self.lib),
            mapper: self.mapper.clone(),
            combiner: self.combiner.clone(),
            reducer: self.reducer.clone(),
            folder: self.folder.clone(),
            partitioning: self.partitioner.clone(),
            mode: self.mode,
            reduces: self.reduces,
            key_type: self.key_type,
            descending: self.descending.then_some(true),
            key_order: self.key_order.clone(),
            deterministic: self.deterministic.then_some(true),
            split_bytes: self.resources.split_size,
            memory_bytes: self.resources.memory,
            threads: self.resources.threads,
            scratch_dirs: (!self.resources.scratch.is_empty()).then(|| self.resources.scratch.clone()),
            side_files: list(&self.side_file),
            spill_codec: self.resources.spill_codec,
            overwrite: self.overwrite.then_some(true),
            wait: self.wait.then_some(true),
            durable: self.durable.then_some(true),
            resume: self.resume.then_some(true),
            settings: self.settings(),
            outputs: self.named_output.clone(),
            tables: self.table.clone(),
            table_token_file: self.table_token_file.clone(),
            table_tls_ca: self.table_tls_ca.clone(),
            sources: None,
            then: None,
        }
    }
}
