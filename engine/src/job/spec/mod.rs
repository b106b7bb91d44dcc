//! A job as a value: the same for one node and for a cluster; written as flags, as a file (job.toml), or built in code.

pub mod applications;
pub mod change;
pub mod file;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::codec::encode::Compression;
use crate::format::columns::Columns;
use crate::operator::Type;
use crate::operator::context::Settings;
use yunti_base::{Code, Error, Result};

/// How the bytes of the input become records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// A line is a value; its key is its byte offset. Lines end at LF, CRLF or CR, as in Hadoop, or at `delimiter` alone.
    Text { delimiter: Option<Vec<u8>> },
    /// A line up to the first separator is the key, the rest behind it the value.
    KeyValue { separator: u8 },
    /// Records of `record_bytes`, of which the first `key_bytes` are the key.
    Fixed { record_bytes: u32, key_bytes: u32 },
    /// Any key and value, with their lengths before them (format::framed).
    Framed,
    /// Cells between separators, named by the first record of a file, or by their numbers (format::csv).
    Csv { separator: u8, header: bool },
    /// An object a line (format::json).
    Json,
    /// A reader of a class library, by its name.
    Class(String),
}

/// How emitted records become bytes of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// key, separator, value, LF; without a value the key and LF. Numbers are printed in decimal.
    Text { separator: Vec<u8> },
    /// key and value as they are, nothing between them.
    Raw,
    /// key and value as they are, their lengths before them (format::framed).
    Framed,
    /// A writer of a class library, by its name.
    Class(String),
    /// Cells with a separator between them, and a line of names if wanted (write::columned).
    Csv { separator: u8, header: bool },
    /// An object a line (write::columned).
    Json,
}

/// Files of one format, and the mapper of their records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSpec {
    pub inputs: Vec<String>,
    pub input_format: InputFormat,
    pub columns: Columns,
    pub mapper: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputTarget {
    /// A directory that does not exist yet, with part-r-00000 .. and _SUCCESS.
    Directory(PathBuf),
    Stdout,
    /// No output: the outcome holds the `n` records with the largest numbers as values (without numbers: the first `n`).
    Top(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Keys of a partition in order, as in MapReduce.
    Sorted,
    /// Equal keys meet, in no order.
    Grouped,
    /// Records go through as they come; no reduce.
    None,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Partitioning {
    /// As Hadoop's HashPartitioner with Text keys.
    Hash,
    /// By ranges of keys, from a seeded sample: the parts, one after the other, are in order.
    TotalOrder,
    Class(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpillCodec {
    /// None where the disk is faster than the codec.
    Auto,
    None,
    Lz4,
}

/// How an output is compressed, if it is.
pub type Compress = Option<Compression>;

/// Everything that says what a job does. `memory_bytes` and `threads` change how fast it is and never the bytes of sorted output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSpec {
    pub name: String,
    /// Files, directories, globs, or "-" for standard input.
    pub inputs: Vec<String>,
    pub input_format: InputFormat,
    /// In place of `inputs`, `input_format`, `columns` and `mapper`: several of each.
    pub sources: Vec<SourceSpec>,
    /// Of CSV and JSON: what keys and values are made of.
    pub columns: Columns,
    pub output: OutputTarget,
    pub output_format: OutputFormat,
    /// Of an output as CSV or JSON: the columns that keys and values are.
    pub output_columns: Columns,
    /// Of directories and of standard output.
    pub compress: Compress,
    pub libraries: Vec<PathBuf>,
    /// Files whose contents every task is given.
    pub side_files: Vec<PathBuf>,
    /// Class names; no mapper: records go through as they are.
    pub mapper: Option<String>,
    pub combiner: Option<String>,
    pub reducer: Option<String>,
    pub folder: Option<String>,
    pub partitioning: Partitioning,
    pub mode: Mode,
    pub reduces: u32,
    /// The type by which keys are ordered, where it is not the mapper's own.
    pub key_type: Option<Type>,
    pub descending: bool,
    /// The class that says the order of keys, in place of their type.
    pub key_order: Option<String>,
    /// Grouped output in a fixed order, whatever the threads and the memory.
    pub deterministic: bool,
    /// Target size of a split. Splits depend on the input and on this alone.
    pub split_bytes: u64,
    /// `None`: from the control group and the free memory.
    pub memory_bytes: Option<u64>,
    /// `None`: as many as there are processors.
    pub threads: Option<usize>,
    /// Local directories for spills; empty: the system's temporary directory.
    pub scratch_dirs: Vec<PathBuf>,
    pub spill_codec: SpillCodec,
    /// Replace an existing output.
    pub overwrite: bool,
    /// If another job is writing the output, wait for it.
    pub wait: bool,
    /// Sync the output to the disk before it gets its name.
    pub durable: bool,
    pub settings: Settings,
    /// Outputs beside the parts, by name, and their formats.
    pub outputs: BTreeMap<String, OutputFormat>,
    /// The jobs behind this one, each fed by the output of the one before: of these, only what they do, their names and settings.
    pub then: Vec<JobSpec>,
    /// What framed records are, where a job before says so.
    pub input_types: Option<(Type, Type)>,
}

/// Small enough that the last splits of a job keep all workers busy.
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
            settings: Settings::new(),
            outputs: BTreeMap::new(),
            then: Vec::new(),
            input_types: None,
        }
    }
}

impl JobSpec {
    /// What does not fit together, before anything is opened.
    pub fn check(&self) -> Result<()> {
        let usage = |what: &str, hint: &str| Err(Error::new(Code::Usage, what).hint(hint));
        if !self.sources.is_empty() && (!self.inputs.is_empty() || self.mapper.is_some()) {
            return usage(
                "a job of several sources has inputs and mappers in these alone",
                "leave out input and mapper, or [[source]]",
            );
        }
        if self.sources().iter().any(|source| source.inputs.is_empty()) {
            return usage("no input is named", "give --input PATH");
        }
        if self.folder.is_some() && (self.reducer.is_some() || self.combiner.is_some()) {
            return usage("a folder does the work of combiner and reducer", "name either a folder or a reducer");
        }
        if self.mode == Mode::None && (self.reducer.is_some() || self.folder.is_some() || self.combiner.is_some()) {
            return usage("mode none has no reduce", "leave out the reducer, combiner and folder, or use mode sorted");
        }
        if self.key_order.is_some() && (self.key_type.is_some() || self.descending) {
            return usage(
                "a key order says all of the order",
                "leave out --key-type and --descending, or the class of the order",
            );
        }
        if self.key_order.is_some() && self.mode == Mode::None {
            return usage("mode none has no order", "leave out --key-order, or use mode sorted");
        }
        if let Some(name) = self.outputs.keys().find(|name| !is_output_name(name)) {
            return usage(
                &format!("'{name}' cannot be the name of an output"),
                "use letters and digits, and not the name part",
            );
        }
        let plain =
            |f: &OutputFormat| matches!(f, OutputFormat::Text { .. } | OutputFormat::Raw | OutputFormat::Framed);
        if let Some((name, _)) = self.outputs.iter().find(|(_, format)| !plain(format)) {
            return usage(&format!("the format of the output {name} is not one of its own"), "use text, raw or framed");
        }
        if !self.outputs.is_empty() && !matches!(self.output, OutputTarget::Directory(_)) {
            return usage("named outputs are files in the output directory", "name one with --output DIR");
        }
        if self.reduces == 0 && self.mode != Mode::None {
            return usage(
                "no reduces are asked for",
                "use --reduces 1 or more, or --mode none for a job of maps alone",
            );
        }
        if self.reduces > 1 << 20 {
            return usage("too many reduces", "at most 1048576");
        }
        if self.output == OutputTarget::Stdout && self.reduces > 1 && self.mode != Mode::None {
            return usage("standard output takes one part", "use --reduces 1, or --output DIR");
        }
        if self.threads == Some(0) {
            return usage("no threads to work with", "use --threads 1 or more");
        }
        if self.split_bytes == 0 {
            return usage("the split size is 0", "use split.size of 1MiB or more");
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
            OutputFormat::Csv { .. } | OutputFormat::Json => {}
            _ if named => {
                return usage(
                    "only csv and json have columns",
                    "leave out --output-key-columns and --output-value-columns",
                );
            }
            _ => {}
        }
        Ok(())
    }

    /// Where the records come from; never empty.
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

    /// The same work, with nothing to read yet.
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
            InputFormat::Csv { .. } | InputFormat::Json => {}
            _ if named => {
                return usage("only csv and json have columns", "leave out --key-columns and --value-columns");
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

/// As in Hadoop: what stands before the first hyphen of a file's name says which output it is of.
fn is_output_name(name: &str) -> bool {
    !name.is_empty() && name != "part" && name.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// A size with an optional binary unit: `1048576`, `64KiB`, `512MiB`, `2GiB`, `1TiB`; KB, MB, GB and TB count in thousands.
pub fn parse_size(text: &str) -> Result<u64> {
    let bad = || {
        Error::new(Code::Usage, format!("'{text}' is no size"))
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

#[cfg(test)]
mod tests {
    use super::*;

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
