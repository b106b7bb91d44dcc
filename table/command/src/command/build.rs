//! Runs `yunti table build`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use yunti_base::{Code, Error, Result};
use yunti_engine::job::default_budget_bytes_below;
use yunti_engine::job::spec::parse_size;
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;
use yunti_table::builder::text::{self, Format, Request, Wanted};
use yunti_table::builder::{Duplicates, Gather, Settings, table, write};
use yunti_table_remote::protocol::opened::SHARDS;

use super::query;

#[derive(Parser)]
pub struct Flags {
    /// File to build from; - is standard input
    input: PathBuf,
    /// Columns of the key: NAME[:TYPE],..
    #[arg(long, required = true)]
    key: String,
    /// Other columns: NAME[:TYPE][?],.. with ? if values may be missing [default: all]
    #[arg(long)]
    columns: Option<String>,
    /// Table to write; an old one is replaced at once
    #[arg(short, long)]
    output: PathBuf,
    /// Format of the input [default: by the ending of its name, else csv]
    #[arg(long, value_enum)]
    from: Option<From>,
    /// Rows that stay if a key has several
    #[arg(long, value_enum, default_value_t = Keep::Refuse)]
    duplicates: Keep,
    /// Write the order of keys too, for yunti table range
    #[arg(long)]
    sorted: bool,
    /// Character between fields of CSV
    #[arg(long, default_value = ",")]
    delimiter: char,
    /// Memory for the build, as in 512MiB [default: derived from the control group and the free memory]
    #[arg(short, long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,
    /// Number of threads [default: the number of processors]
    #[arg(short, long)]
    threads: Option<usize>,
    /// Take only the keys of one of several tables, for servers that share them
    #[arg(long, value_name = "NUMBER/COUNT", value_parser = shard)]
    shard: Option<(u32, u32)>,
    /// Print nothing
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum From {
    /// With a header line (RFC 4180)
    Csv,
    /// An object a line
    Json,
    /// Another table
    Table,
    /// File, directory or pattern, read by yunti sql, as the next four
    Parquet,
    Orc,
    Avro,
    Arrow,
    /// Hadoop's sequence files
    Sequence,
    /// Rows of a query: the input is the text of a SELECT for yunti sql
    Sql,
}

impl From {
    /// Returns the format's name for yunti sql; `None` if it is read here.
    fn of_sql(self) -> Option<&'static str> {
        Some(match self {
            From::Csv | From::Json | From::Table | From::Sql => return None,
            From::Parquet => "parquet",
            From::Orc => "orc",
            From::Avro => "avro",
            From::Arrow => "arrow",
            From::Sequence => "sequence",
        })
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Keep {
    /// None: two rows of a key are an error
    Refuse,
    First,
    Last,
    /// All of them
    List,
}

/// Parses `2/4`, the second of four.
pub fn shard(text: &str) -> std::result::Result<(u32, u32), String> {
    let numbers = text.split_once('/').and_then(|(one, all)| Some((one.parse().ok()?, all.parse().ok()?)));
    let is_shard = |(one, all): &(u32, u32)| (1..=*all).contains(one) && *all <= SHARDS;
    numbers.filter(is_shard).ok_or_else(|| "1/4 is the first of four, and 65,536 shards are the most".to_owned())
}

/// Returns the format that a name says.
fn format_of(path: &Path) -> From {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("json" | "jsonl" | "ndjson") => From::Json,
        Some("ytab") => From::Table,
        Some("parquet") => From::Parquet,
        Some("orc") => From::Orc,
        Some("avro") => From::Avro,
        Some("arrow" | "feather") => From::Arrow,
        Some("seq") => From::Sequence,
        _ => From::Csv,
    }
}

pub fn run(flags: &Flags) -> Outcome {
    let threads = flags.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1);
    let settings = Settings {
        duplicates: match flags.duplicates {
            Keep::Refuse => Duplicates::Refuse,
            Keep::First => Duplicates::KeepFirst,
            Keep::Last => Duplicates::KeepLast,
            Keep::List => Duplicates::List,
        },
        is_sorted: flags.sorted,
        budget_bytes: flags.memory.unwrap_or_else(|| default_budget_bytes_below("/".as_ref())),
        threads,
        shard: flags.shard.unwrap_or_default(),
    };
    let rows = gather(flags, &settings)?;
    let built = write(&flags.output, rows, &settings)?;
    if flags.quiet {
        return Ok(());
    }
    let rows = if built.rows > built.keys { format!(", {} rows", built.rows) } else { String::new() };
    stdout::print(&format!("{}: {} keys{rows}, {} bytes\n", flags.output.display(), built.keys, built.bytes))
}

fn gather(flags: &Flags, settings: &Settings) -> Result<Gather> {
    let name = flags.input.to_string_lossy();
    let keys = Wanted::parse(&flags.key)?;
    let columns = flags.columns.as_deref().map_or(Ok(Vec::new()), Wanted::parse)?;
    let delimiter = u8::try_from(flags.delimiter)
        .map_err(|_| Error::new(Code::Usage, format!("--delimiter {}: one byte is needed", flags.delimiter)))?;
    let from = flags.from.unwrap_or_else(|| format_of(&flags.input));
    let format = match from {
        From::Csv => Format::Csv { delimiter },
        From::Json => Format::JsonLines,
        From::Table => return table::read(&flags.input, &keys, &columns, &flags.output, settings),
        _ => Format::JsonLines,
    };
    let request = Request { format, keys, columns, settings: settings.clone() };
    if let Some(format) = from.of_sql() {
        let query = query::of_file(&name, format, &request);
        return query::read(&query, &name, &request, &flags.output);
    }
    if from == From::Sql {
        return query::read(&[name.to_string()], "the query", &request, &flags.output);
    }
    let mut input: Box<dyn Read> = if *name == *"-" {
        Box::new(std::io::stdin().lock())
    } else {
        let opened = File::open(&flags.input);
        Box::new(opened.map_err(|e| Error::io(Code::Input, "cannot open", &e).at_path(name.to_string()))?)
    };
    let mut first = Vec::new();
    let read = (&mut input).take(6).read_to_end(&mut first);
    read.map_err(|e| Error::io(Code::Input, "cannot read", &e).at_path(name.to_string()))?;
    if let Some((what, hint)) = other_format(&first) {
        return Err(Error::new(Code::Input, what).at_path(name.to_string()).hint(hint));
    }
    text::read(first.chain(input), &name, &request, &flags.output)
}

/// Returns what is wrong with a text that begins like this, and what to do.
fn other_format(first: &[u8]) -> Option<(String, &'static str)> {
    let known: [(&str, &[u8], &str); 9] = [
        ("gzip", b"\x1f\x8b", "gzip -dc FILE | yunti table build - .."),
        ("Zstandard", b"\x28\xb5\x2f\xfd", "zstd -dc FILE | yunti table build - .."),
        ("bzip2", b"BZh", "bzip2 -dc FILE | yunti table build - .."),
        ("xz", b"\xfd7zXZ\0", "xz -dc FILE | yunti table build - .."),
        ("Parquet", b"PAR1", "write --from parquet"),
        ("ORC", b"ORC", "write --from orc"),
        ("Avro", b"Obj\x01", "write --from avro"),
        ("Arrow", b"ARROW1", "write --from arrow"),
        ("a sequence file", b"SEQ\x06", "write --from sequence"),
    ];
    let (name, _, hint) = known.into_iter().find(|(_, begin, _)| first.starts_with(begin))?;
    Some((format!("this is no text, but {name}"), hint))
}
