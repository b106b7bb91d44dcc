//! Flags of `yunti sql`.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use yunti_engine::job::spec::parse_size;
use yunti_outside::stores::StoreFlags;
use yunti_sql_front::session::{Dialect, Executor};

/// Query files with SQL: Parquet, CSV and JSON, compressed, in directories, patterns and stores.
#[derive(Debug, Parser)]
#[command(
    name = "yunti sql",
    version,
    after_help = "A table is a path in quotes: select count(*) from 'sales/*.parquet'\n\
    Without a query, standard input is read; on a terminal, a shell starts.\nGuide: docs/guide/sql.md"
)]
pub struct Flags {
    /// Statements, with semicolons between them
    #[arg(value_name = "QUERY")]
    pub queries: Vec<String>,

    /// File with statements; - is standard input; may be repeated
    #[arg(short, long, value_name = "FILE")]
    pub file: Vec<PathBuf>,

    /// Name for a table: NAME=PATH[,format=F][,header=true|false][,delimiter=C]; may be repeated
    #[arg(long = "table", value_name = "NAME=PATH")]
    pub tables: Vec<String>,

    /// Class library with functions and aggregates, as in Geo.cell(lat, lon); may be repeated
    #[arg(long = "lib", value_name = "FILE")]
    pub libraries: Vec<PathBuf>,

    /// Write the result to this file or directory instead of standard output
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Format of results: table, csv, csv-no-header, tsv, tsv-no-header, json, text, parquet, arrow,
    /// arrow-stream
    /// [default: table on a terminal, else csv; for --output the extension, else parquet]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub output_format: Option<String>,

    /// Answer statements of standard input, a JSON string a line, with a JSON line each
    #[arg(long, conflicts_with_all = ["queries", "file", "output", "output_format", "explain", "analyze"],
        help_heading = "Output")]
    pub statements: bool,

    /// Replace an output that exists
    #[arg(long, help_heading = "Output")]
    pub overwrite: bool,

    /// Print no notes and no progress on standard error
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// Report an error as a line of JSON on standard error
    #[arg(long, help_heading = "Output")]
    pub json_errors: bool,

    /// Print the plan, and run nothing
    #[arg(long, conflicts_with = "analyze", help_heading = "Plans")]
    pub explain: bool,

    /// Run the query and print its plan with rows and times
    #[arg(long, help_heading = "Plans")]
    pub analyze: bool,

    /// Run the query on a cluster: yarn, by the hadoop in PATH. Paths are those of HDFS, and -D mapreduce.NAME=VALUE is
    /// a setting of Hadoop
    #[arg(long, value_name = "WHERE", conflicts_with = "executor", help_heading = "Resources")]
    pub on: Option<Where>,

    /// Dialect of statements: own (PostgreSQL's, with habits of others), or hive
    #[arg(long, value_name = "DIALECT", default_value = "own", help_heading = "Settings")]
    pub dialect: DialectName,

    /// Executor of queries: native, general, or auto: native where it can
    #[arg(long, value_name = "EXECUTOR", default_value = "auto", help_heading = "Plans")]
    pub executor: ExecutorName,

    /// Machine code for queries: off, on: from the first rows, or auto: when the rows that are left are worth it
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Plans")]
    pub compile: CompileName,

    /// Print the rows that machine code took, and its compilations, after each query
    #[arg(long, help_heading = "Plans")]
    pub compile_report: bool,

    /// Memory of a query, as in 512MiB [default: derived from the control group and the free memory]
    #[arg(short, long, value_name = "SIZE", value_parser = parse_size, help_heading = "Resources")]
    pub memory: Option<u64>,

    /// Number of threads [default: the number of processors]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = "Resources")]
    pub threads: Option<u16>,

    /// Local directory for what does not fit in memory [default: the system's temporary directory]
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub temp_dir: Option<PathBuf>,

    /// Setting of the front end, as execution.parquet.binary_as_string=true; may be repeated
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = pair, help_heading = "Settings")]
    pub options: Vec<(String, String)>,

    /// Value of a parameter: $1 by number, $name by name; may be repeated. TYPE is text, int, float, bool, decimal,
    /// date, timestamp, timestamptz, binary or null; without it the spelling decides
    #[arg(long = "param", value_name = "NAME[:TYPE]=VALUE", value_parser = pair, help_heading = "Settings")]
    pub parameters: Vec<(String, String)>,

    /// Catalog of tables, as hive:thrift://HOST:9083: a metastore's, by their names db.table (docs/guide/sql.md)
    #[arg(long, value_name = "CATALOG", help_heading = "Settings")]
    pub catalog: Option<String>,

    /// Pipes to a process that serves functions (docs/formats/sql-functions.md); may be repeated
    #[arg(long, value_name = "REQUESTS,ANSWERS", value_parser = ends, help_heading = "Settings")]
    pub functions: Vec<(PathBuf, PathBuf)>,

    #[command(flatten)]
    pub stores: StoreFlags,

    /// Refuse statements that write
    #[arg(long, help_heading = "Safety")]
    pub read_only: bool,

    /// Path outside of which nothing is read or written; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Safety")]
    pub allow: Vec<PathBuf>,
}

/// Where queries run, if not here.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Where {
    Yarn,
}

/// Executor of queries.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ExecutorName {
    Auto,
    Native,
    General,
}

/// When queries become machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompileName {
    Off,
    On,
    Auto,
}

/// Dialect of statements.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DialectName {
    Own,
    Hive,
}

impl From<DialectName> for Dialect {
    fn from(name: DialectName) -> Dialect {
        match name {
            DialectName::Own => Dialect::Own,
            DialectName::Hive => Dialect::Hive,
        }
    }
}

impl From<ExecutorName> for Executor {
    fn from(name: ExecutorName) -> Executor {
        match name {
            ExecutorName::Auto => Executor::Auto,
            ExecutorName::Native => Executor::Native,
            ExecutorName::General => Executor::General,
        }
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("write NAME=VALUE".into()),
    }
}

fn ends(text: &str) -> Result<(PathBuf, PathBuf), String> {
    match text.split_once(',') {
        Some((requests, answers)) if !requests.is_empty() && !answers.is_empty() => {
            Ok((requests.into(), answers.into()))
        }
        _ => Err("write REQUESTS,ANSWERS".into()),
    }
}
