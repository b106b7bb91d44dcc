//! The specification of a job, the same for one machine and for a cluster; written as flags, as a file (job.toml), or
//! in code.

pub mod applications;
pub mod change;
pub mod file;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::codec::encode::Compression;
use crate::format::columns::Columns;
use crate::format::file_formats::names_with_columns;
use crate::library::tables::{self, TablePlace};
use crate::operator::Type;
use crate::operator::context::Settings;
use crate::run::ScratchDir;
use crate::write::directories::KEY_DIRECTORIES;
use yunti_base::{Code, Error, Result};

/// Format of the input: how its bytes become records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// Lines as values. The key is the byte offset. Lines end at LF, CRLF or CR, as in Hadoop, or at `delimiter` only.
    Text { delimiter: Option<Vec<u8>> },
    /// Lines of key and value. The first separator divides them.
    KeyValue { separator: u8 },
    /// Records of `record_bytes`; the first `key_bytes` are the key.
    Fixed { record_bytes: u32, key_bytes: u32 },
    /// Any key and value, after their lengths (format::framed).
    Framed,
    /// Cells between separators, named by the first record of a file, or numbered (format::csv).
    Csv { separator: u8, header: bool },
    /// One object a line (format::json).
    Json,
    /// Reader of a class library, by its name.
    Class(String),
}

/// Format of the output: how records become bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// Key, separator, value, LF; without a value, key and LF. Numbers are decimal.
    Text { separator: Vec<u8> },
    /// Key and value unchanged, with nothing between them.
    Raw,
    /// Key and value unchanged, after their lengths (format::framed).
    Framed,
    /// Writer of a class library, by its name.
    Class(String),
    /// Cells between separators, after a line of names if `header` is set (write::column_encoder).
    Csv { separator: u8, header: bool },
    /// One object a line (write::column_encoder).
    Json,
}

/// A source: files of one format, and the mapper of their records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSpec {
    pub inputs: Vec<String>,
    pub input_format: InputFormat,
    pub columns: Columns,
    pub mapper: Option<String>,
}

/// Destination of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputTarget {
    /// A new directory with part-r-00000 .. and _SUCCESS.
    Directory(PathBuf),
    Stdout,
    /// No output. The outcome has the `n` records with the largest numbers as values; without numbers, the first `n`.
    Top(usize),
}

/// Order of the records in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Keys of each partition in order, as in MapReduce.
    Sorted,
    /// Equal keys together, in any order.
    Grouped,
    /// No reduce. Records are written as mapped.
    None,
}

/// Partitioner of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Partitioning {
    /// Hash of the key, as Hadoop's HashPartitioner with Text keys.
    Hash,
    /// Ranges of keys from a seeded sample, so that the concatenated parts are in order.
    TotalOrder,
    /// Partitioner of a class library, by its name.
    Class(String),
}

/// Codec of spilled runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpillCodec {
    /// No compression if the disk is faster than the codec, otherwise LZ4.
    Auto,
    None,
    Lz4,
}

/// Compression of an output, if any.
pub type Compress = Option<Compression>;

/// Specification of a job. `memory_bytes` and `threads` change its speed, but never the bytes of sorted output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSpec {
    pub name: String,
    /// Files, directories, globs, or "-" for standard input.
    pub inputs: Vec<String>,
    pub input_format: InputFormat,
    /// Several sources, each with its own inputs, format, columns and mapper; then the job's own are empty.
    pub sources: Vec<SourceSpec>,
    /// Columns of CSV and JSON input that form keys and values.
    pub columns: Columns,
    pub output: OutputTarget,
    pub output_format: OutputFormat,
    /// Names of the columns of CSV or JSON output, from keys and values.
    pub output_columns: Columns,
    /// Compression of output directories and standard output.
    pub compress: Compress,
    pub libraries: Vec<PathBuf>,
    /// Files whose contents every task gets.
    pub side_files: Vec<PathBuf>,
    /// Tables that classes find by their names: files that they map, and servers that they ask.
    pub tables: BTreeMap<String, TablePlace>,
    /// File with the token of the servers of tables.
    pub table_token_file: Option<PathBuf>,
    /// Certificates of authorities in PEM: TLS to the servers of tables.
    pub table_tls_ca: Option<PathBuf>,
    /// Class of the mapper; without one, records pass unchanged.
    pub mapper: Option<String>,
    pub combiner: Option<String>,
    pub reducer: Option<String>,
    pub folder: Option<String>,
    pub partitioning: Partitioning,
    pub mode: Mode,
    pub reduces: u32,
    /// Type by which keys are ordered, if it differs from the mapper's.
    pub key_type: Option<Type>,
    pub descending: bool,
    /// Class that orders the keys, instead of their type.
    pub key_order: Option<String>,
    /// Fixed order of grouped output, for any threads and memory.
    pub deterministic: bool,
    /// Target size of a split, in bytes. Splits depend only on the input and this size.
    pub split_bytes: u64,
    /// Memory budget; `None`: from the control group and the free memory.
    pub memory_bytes: Option<u64>,
    /// Worker threads; `None`: one for each processor.
    pub threads: Option<usize>,
    /// Local directories for spills; empty: the temporary directory of the system.
    pub scratch_dirs: Vec<ScratchDir>,
    pub spill_codec: SpillCodec,
    /// Replaces an existing output.
    pub overwrite: bool,
    /// Waits if another job is writing the output.
    pub wait: bool,
    /// Syncs the output to the disk before it gets its name.
    pub durable: bool,
    /// Keeps a journal of what is done, and goes on where an earlier attempt ended.
    pub resume: bool,
    pub settings: Settings,
    /// Named outputs beside the parts, with their formats.
    pub outputs: BTreeMap<String, OutputFormat>,
    /// Jobs after this one, each fed by the output of the job before. Only their work, names and settings count.
    pub then: Vec<JobSpec>,
    /// Types of framed input records, if an earlier job declares them.
    pub input_types: Option<(Type, Type)>,
}

/// Setting: no part file without records, as by LazyOutputFormat.
pub const LAZY_PARTS: &str = "output.lazy";

/// Default split size in bytes: small enough that the last splits of a job keep all workers busy.
pub const SPLIT_BYTES_DEFAULT: u64 = 16 << 20;

impl Default for JobSpec {
    fn default() -> Self {
        JobSpec {
            name: "job".into(),
            inputs: Vec::new(),
            sources: Vec::new(),
            input_format: InputFormat::Text { delimiter: None },
            columns: Columns::default(),
            output: OutputTarget::Top(20),
            output_format: OutputFormat::Text { separator: b"\t".to_vec() },
            output_columns: Columns::default(),
            compress: None,
            libraries: Vec::new(),
            side_files: Vec::new(),
            tables: BTreeMap::new(),
            table_token_file: None,
            table_tls_ca: None,
            mapper: None,
            combiner: None,
            reducer: None,
            folder: None,
            partitioning: Partitioning::Hash,
            mode: Mode::Sorted,
            reduces: 1,
            key_type: None,
            descending: false,
            key_order: None,
            deterministic: false,
            split_bytes: SPLIT_BYTES_DEFAULT,
            memory_bytes: None,
            threads: None,
            scratch_dirs: Vec::new(),
            spill_codec: SpillCodec::Auto,
            overwrite: false,
            wait: false,
            durable: false,
            resume: false,
            settings: Settings::new(),
            outputs: BTreeMap::new(),
            then: Vec::new(),
            input_types: None,
        }
    }
}

impl JobSpec {
    /// Yields the files of tables, and the files of the token and of TLS.
    pub fn table_files_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let tables = self.tables.values_mut().filter_map(|place| match place {
            TablePlace::File(path) => Some(path),
            TablePlace::Servers(_) => None,
        });
        tables.chain(&mut self.table_token_file).chain(&mut self.table_tls_ca)
    }

    /// Checks that the fields fit together, before any file is opened. Errors: `Usage`, with what to change.
    pub fn check(&self) -> Result<()> {
        let usage = |what: &str, hint: &str| Err(Error::new(Code::Usage, what).hint(hint));
        if !self.sources.is_empty() && (!self.inputs.is_empty() || self.mapper.is_some()) {
            return usage(
                "a job with sources takes inputs and mappers only from them",
                "leave out input and mapper, or [[source]]",
            );
        }
        if self.sources().iter().any(|source| source.inputs.is_empty()) {
            return usage("no input is named", "give --input PATH");
        }
        if self.folder.is_some() && (self.reducer.is_some() || self.combiner.is_some()) {
            return usage("a folder replaces combiner and reducer", "name either a folder or a reducer");
        }
        if self.mode == Mode::None && (self.reducer.is_some() || self.folder.is_some() || self.combiner.is_some()) {
            return usage("mode none has no reduce", "leave out the reducer, combiner and folder, or use mode sorted");
        }
        if self.key_order.is_some() && (self.key_type.is_some() || self.descending) {
            return usage(
                "--key-order excludes --key-type and --descending",
                "leave out --key-order, or the other two",
            );
        }
        if self.key_order.is_some() && self.mode == Mode::None {
            return usage("mode none has no order", "leave out --key-order, or use mode sorted");
        }
        if let Some(name) = self.outputs.keys().find(|name| !is_output_name(name)) {
            return usage(
                &format!("'{name}' cannot be the name of an output"),
                "use letters and digits, but not the name part",
            );
        }
        if let Some(name) = self.tables.keys().find(|name| !tables::is_name(name)) {
            return usage(&format!("'{name}' cannot be the name of a table"), "use letters, digits, '_', '-' and '.'");
        }
        let plain =
            |f: &OutputFormat| matches!(f, OutputFormat::Text { .. } | OutputFormat::Raw | OutputFormat::Framed);
        if let Some((name, _)) = self.outputs.iter().find(|(_, format)| !plain(format)) {
            return usage(&format!("the output {name} cannot have this format"), "use text, raw or framed");
        }
        if !self.outputs.is_empty() && !matches!(self.output, OutputTarget::Directory(_)) {
            return usage("named outputs are files in the output directory", "name one with --output DIR");
        }
        if self.reduces == 0 && self.mode != Mode::None {
            return usage("reduces is 0", "use --reduces 1 or more, or --mode none for a job without a reduce");
        }
        if self.reduces > 1 << 20 {
            return usage("too many reduces", "at most 1048576");
        }
        if self.output == OutputTarget::Stdout && self.reduces > 1 && self.mode != Mode::None {
            return usage("standard output takes one part", "use --reduces 1, or --output DIR");
        }
        if self.resume && !matches!(self.output, OutputTarget::Directory(_)) {
            return usage("--resume needs an output directory, beside which it keeps a journal", "give --output DIR");
        }
        if self.resume && self.is_lazy() {
            return usage(
                &format!("{LAZY_PARTS}: a job that can be resumed keeps its empty parts"),
                "leave out one of the two",
            );
        }
        if self.threads == Some(0) {
            return usage("threads is 0", "use --threads 1 or more");
        }
        if self.split_bytes == 0 {
            return usage("the split size is 0", "use split.size of 1MiB or more");
        }
        if self.has_directories() {
            self.check_directories()?;
        }
        self.sources().iter().try_for_each(SourceSpec::check)?;
        let named = !self.output_columns.key.is_empty() || !self.output_columns.value.is_empty();
        match self.output_format {
            OutputFormat::Csv { header: true, .. } | OutputFormat::Json if !named => {
                return usage(
                    "no column of the output is named",
                    "as in --output-key-columns word --output-value-columns count; csv-no-header needs none",
                );
            }
            OutputFormat::Csv { .. } | OutputFormat::Json | OutputFormat::Class(_) => {}
            _ if named => {
                return usage(
                    &format!("only {} have columns", names_with_columns()),
                    "leave out --output-key-columns and --output-value-columns",
                );
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns true if the output has no part without records.
    pub fn is_lazy(&self) -> bool {
        self.settings.get(LAZY_PARTS).is_some_and(|v| v == "true")
    }

    /// Returns true if the keys are directories, and the output has the values alone.
    pub fn has_directories(&self) -> bool {
        self.settings.contains_key(KEY_DIRECTORIES)
    }

    /// Checks a job whose keys are directories: its records must come to the output in order.
    fn check_directories(&self) -> Result<()> {
        let is_passed_on = self.reducer.is_none() && self.folder.is_none() && self.combiner.is_none();
        let is_sorted = self.mode == Mode::Sorted && self.key_order.is_none() && is_passed_on;
        let has_format =
            matches!(self.output_format, OutputFormat::Csv { .. } | OutputFormat::Json | OutputFormat::Class(_));
        let (what, hint) = match () {
            () if !is_sorted => ("needs sorted records without a reduce", "use --mode sorted and a mapper alone"),
            () if !has_format => ("needs a format with columns", "use --output-format csv, json or a file of columns"),
            () if !matches!(self.output, OutputTarget::Directory(_)) => {
                ("makes directories in an output directory", "name one with --output DIR")
            }
            () if self.resume => ("cannot be resumed", "leave out --resume"),
            () if !self.then.is_empty() => ("ends a chain of jobs", "name it in the last [[then]]"),
            () => return Ok(()),
        };
        Err(Error::new(Code::Usage, format!("{KEY_DIRECTORIES}: a job whose keys are directories {what}")).hint(hint))
    }

    /// Returns the directories of spills; `default` if the job names none.
    pub fn scratch_dirs_or(&self, default: &Path) -> Vec<ScratchDir> {
        if self.scratch_dirs.is_empty() { vec![default.to_path_buf().into()] } else { self.scratch_dirs.clone() }
    }

    /// Returns the sources of records; at least one.
    pub fn sources(&self) -> Vec<SourceSpec> {
        match self.sources.is_empty() {
            true => vec![SourceSpec {
                inputs: self.inputs.clone(),
                input_format: self.input_format.clone(),
                columns: self.columns.clone(),
                mapper: self.mapper.clone(),
            }],
            false => self.sources.clone(),
        }
    }

    /// Returns the same job without inputs.
    pub fn without_inputs(&self) -> JobSpec {
        let mut spec = JobSpec { inputs: Vec::new(), ..self.clone() };
        spec.sources.iter_mut().for_each(|source| source.inputs.clear());
        spec
    }
}

impl SourceSpec {
    fn check(&self) -> Result<()> {
        let usage = |what: &str, hint: &str| Err(Error::new(Code::Usage, what).hint(hint));
        if let InputFormat::Fixed { record_bytes, key_bytes } = self.input_format
            && (record_bytes == 0 || key_bytes > record_bytes)
        {
            return usage("fixed records need record bytes >= key bytes, and at least 1", "as in fixed:100:10");
        }
        let named = !self.columns.key.is_empty() || !self.columns.value.is_empty();
        match self.input_format {
            InputFormat::Json if !named => {
                return usage(
                    "no column of the JSON lines is named",
                    "as in --key-columns user.name --value-columns age,city",
                );
            }
            // A class has columns if it is a source: the plan knows.
            InputFormat::Csv { .. } | InputFormat::Json | InputFormat::Class(_) => {}
            _ if named => {
                return usage(
                    &format!("only {} have columns", names_with_columns()),
                    "leave out --key-columns and --value-columns",
                );
            }
            _ => {}
        }
        if let InputFormat::Text { delimiter: Some(d) } = &self.input_format
            && d.is_empty()
        {
            return usage("the record delimiter is empty", "leave it out for lines");
        }
        Ok(())
    }
}

/// Returns true for the name of a named output. As in Hadoop, the part of a file's name before the first hyphen names
/// the output.
fn is_output_name(name: &str) -> bool {
    !name.is_empty() && name != "part" && name.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Parses a size with an optional binary unit: `1048576`, `64KiB`, `512MiB`, `2GiB`, `1TiB`. KB, MB, GB and TB are
/// powers of 1000.
///
/// Errors: `Usage`.
pub fn parse_size(text: &str) -> Result<u64> {
    let bad = || {
        Error::new(Code::Usage, format!("'{text}' is not a size"))
            .hint("write a number with KiB, MiB, GiB, KB, MB, GB, or bytes alone")
    };
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale: u64 = match unit.trim() {
        "" | "B" => 1,
        "K" | "k" | "KiB" => 1 << 10,
        "M" | "m" | "MiB" => 1 << 20,
        "G" | "g" | "GiB" => 1 << 30,
        "T" | "t" | "TiB" => 1 << 40,
        "KB" | "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => return Err(bad()),
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(scale).ok_or_else(bad);
    }
    let value = number.parse::<f64>().map_err(|_| bad())? * scale as f64;
    if value.is_finite() && value < u64::MAX as f64 { Ok(value as u64) } else { Err(bad()) }
}

/// Parses a scratch directory with an optional limit: `DIR` or `DIR:SIZE`.
pub fn parse_scratch_dir(text: &str) -> Result<ScratchDir> {
    let limit = text.rsplit_once(':').filter(|(_, size)| size.starts_with(|c: char| c.is_ascii_digit()));
    match limit {
        Some((path, size)) if !path.is_empty() => {
            Ok(ScratchDir { path: path.into(), bytes_max: Some(parse_size(size)?) })
        }
        _ if text.is_empty() => {
            Err(Error::new(Code::Usage, "a scratch directory has no name").hint("write DIR or DIR:SIZE"))
        }
        _ => Ok(PathBuf::from(text).into()),
    }
}

/// Returns the text that `parse_scratch_dir` reads as this directory.
pub fn scratch_dir_text(dir: &ScratchDir) -> String {
    let path = dir.path.to_string_lossy();
    dir.bytes_max.map_or_else(|| path.to_string(), |bytes| format!("{path}:{bytes}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_directories() {
        let dir = |path: &str, bytes_max| ScratchDir { path: path.into(), bytes_max };
        for (text, expect) in [
            ("/a", dir("/a", None)),
            ("/a:200GiB", dir("/a", Some(200 << 30))),
            ("/a:b", dir("/a:b", None)),
            ("/a:b:1MB", dir("/a:b", Some(1_000_000))),
            ("/a:", dir("/a:", None)),
        ] {
            assert_eq!(parse_scratch_dir(text).unwrap(), expect);
            assert_eq!(parse_scratch_dir(&scratch_dir_text(&expect)).unwrap(), expect);
        }
        for wrong in ["", "/a:1XB"] {
            assert!(parse_scratch_dir(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes) in
            [("0", 0), ("17", 17), ("1KiB", 1024), ("1.5GiB", 3 << 29), ("2GB", 2_000_000_000), ("64M", 64 << 20)]
        {
            assert_eq!(parse_size(text).unwrap(), bytes, "{text}");
        }
        for text in ["", "GiB", "1XB", "-1", "99999999999999999999", "1e400", "18446744073709551615K"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
