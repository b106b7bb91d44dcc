//! A change to a job: the common part of flags and job files, with one spelling for the values of both.
//!
//! ```text
//!   application's spec  <- job.toml as a change  <- flags as a change  =  the job
//! ```
//! Within one change, settings are applied first: a key or flag of Yunti overrides Hadoop's setting of the same
//! meaning.

use std::path::PathBuf;

use super::{
    Compress, InputFormat, JobSpec, Mode, OutputFormat, OutputTarget, Partitioning, SourceSpec, SpillCodec, parse_size,
};
use crate::bytes::escape::{escape, unescape};
use crate::codec::encode::{Compression, Target};
use crate::format::file_formats;
use crate::library::tables::TablePlace;
use crate::operator::Type;
use crate::run::ScratchDir;
use yunti_base::{Code, Error, Result};

/// A change to a job. Each field that is set replaces the job's; settings, outputs and tables are added one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpecChange {
    pub name: Option<String>,
    pub inputs: Option<Vec<String>>,
    pub input_format: Option<InputFormat>,
    pub key_columns: Option<Vec<String>>,
    pub value_columns: Option<Vec<String>>,
    pub output: Option<OutputTarget>,
    pub output_format: Option<OutputFormat>,
    pub output_key_columns: Option<Vec<String>>,
    pub output_value_columns: Option<Vec<String>>,
    pub compress: Option<Compress>,
    pub libraries: Option<Vec<PathBuf>>,
    pub mapper: Option<String>,
    pub combiner: Option<String>,
    pub reducer: Option<String>,
    pub folder: Option<String>,
    pub partitioning: Option<Partitioning>,
    pub mode: Option<Mode>,
    pub reduces: Option<u32>,
    pub key_type: Option<Type>,
    pub descending: Option<bool>,
    pub key_order: Option<String>,
    pub deterministic: Option<bool>,
    pub split_bytes: Option<u64>,
    pub memory_bytes: Option<u64>,
    pub threads: Option<usize>,
    pub scratch_dirs: Option<Vec<ScratchDir>>,
    pub side_files: Option<Vec<PathBuf>>,
    pub spill_codec: Option<SpillCodec>,
    pub overwrite: Option<bool>,
    pub wait: Option<bool>,
    pub durable: Option<bool>,
    pub resume: Option<bool>,
    pub settings: Vec<(String, String)>,
    /// Named outputs, added one by one like settings.
    pub outputs: Vec<(String, OutputFormat)>,
    /// Tables, added one by one too.
    pub tables: Vec<(String, TablePlace)>,
    pub table_token_file: Option<PathBuf>,
    pub table_tls_ca: Option<PathBuf>,
    pub sources: Option<Vec<SourceSpec>>,
    pub then: Option<Vec<JobSpec>>,
}

impl SpecChange {
    /// Applies the change to `spec`. Errors: `Usage` if a setting that the engine reads has a bad value.
    pub fn apply(self, spec: &mut JobSpec) -> Result<()> {
        fn set<T>(slot: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *slot = value;
            }
        }
        if self.sources.is_some() {
            // Sources replace the mapper of an application.
            spec.mapper = None;
        }
        // A class removes the classes that it excludes, so that one flag is enough to change an application.
        if self.folder.is_some() && self.reducer.is_none() {
            spec.reducer = None;
            spec.combiner = None;
        }
        if self.reducer.is_some() && self.folder.is_none() {
            spec.folder = None;
        }
        // The format is set before the settings, which may refine it, and once more after them if it names a separator.
        let spelled_out =
            self.input_format.clone().filter(|f| *f != KV_DEFAULT && *f != InputFormat::Text { delimiter: None });
        set(&mut spec.input_format, self.input_format);
        let output_spelled_out = self.output_format.clone().filter(|f| *f != default_output_format());
        set(&mut spec.output_format, self.output_format);
        for (key, value) in &self.settings {
            apply_setting(spec, key, value)?;
        }
        if self.settings.iter().any(|(key, _)| key == COMPRESS || key == COMPRESS_CODEC) {
            spec.compress = hadoop_compress(spec)?;
        }
        set(&mut spec.input_format, spelled_out);
        set(&mut spec.output_format, output_spelled_out);
        set(&mut spec.name, self.name);
        set(&mut spec.inputs, self.inputs);
        set(&mut spec.columns.key, self.key_columns);
        set(&mut spec.columns.value, self.value_columns);
        set(&mut spec.output_columns.key, self.output_key_columns);
        set(&mut spec.output_columns.value, self.output_value_columns);
        set(&mut spec.output, self.output);
        set(&mut spec.compress, self.compress);
        set(&mut spec.libraries, self.libraries);
        set(&mut spec.mapper, self.mapper.map(Some));
        set(&mut spec.combiner, self.combiner.map(Some));
        set(&mut spec.reducer, self.reducer.map(Some));
        set(&mut spec.folder, self.folder.map(Some));
        set(&mut spec.partitioning, self.partitioning);
        set(&mut spec.mode, self.mode);
        set(&mut spec.reduces, self.reduces);
        set(&mut spec.key_type, self.key_type.map(Some));
        set(&mut spec.descending, self.descending);
        set(&mut spec.key_order, self.key_order.map(Some));
        set(&mut spec.deterministic, self.deterministic);
        set(&mut spec.split_bytes, self.split_bytes);
        set(&mut spec.memory_bytes, self.memory_bytes.map(Some));
        set(&mut spec.threads, self.threads.map(Some));
        set(&mut spec.scratch_dirs, self.scratch_dirs);
        set(&mut spec.side_files, self.side_files);
        set(&mut spec.spill_codec, self.spill_codec);
        set(&mut spec.overwrite, self.overwrite);
        set(&mut spec.wait, self.wait);
        set(&mut spec.durable, self.durable);
        set(&mut spec.resume, self.resume);
        spec.outputs.extend(self.outputs);
        spec.tables.extend(self.tables);
        set(&mut spec.table_token_file, self.table_token_file.map(Some));
        set(&mut spec.table_tls_ca, self.table_tls_ca.map(Some));
        set(&mut spec.sources, self.sources);
        set(&mut spec.then, self.then);
        Ok(())
    }
}

const KV_DEFAULT: InputFormat = InputFormat::KeyValue { separator: b'\t' };

fn default_output_format() -> OutputFormat {
    OutputFormat::Text { separator: b"\t".to_vec() }
}

/// Applies one `-D key=value`. Hadoop's names for values that the engine reads change the job; all others are for the
/// classes. A separator for a format that the job does not use has no effect, as in Hadoop.
fn apply_setting(spec: &mut JobSpec, key: &str, value: &str) -> Result<()> {
    let named = |e: Error| {
        Error::new(e.code(), format!("{key}: {}", e.what()))
            .hint(e.hint_text().unwrap_or("see docs/guide/command-line.md"))
    };
    match (key, &mut spec.input_format) {
        ("mapreduce.job.name", _) => spec.name = value.to_string(),
        ("mapreduce.job.reduces", _) => spec.reduces = parse_number(value).map_err(named)?,
        ("split.size" | "mapreduce.input.fileinputformat.split.maxsize", _) => {
            spec.split_bytes = parse_size(value).map_err(named)?;
        }
        ("textinputformat.record.delimiter", InputFormat::Text { delimiter }) => {
            *delimiter = Some(value.as_bytes().to_vec());
        }
        // Only the first byte counts, as in Hadoop.
        ("mapreduce.input.keyvaluelinerecordreader.key.value.separator", InputFormat::KeyValue { separator }) => {
            *separator = *value.as_bytes().first().unwrap_or(&b'\t');
        }
        ("mapreduce.output.textoutputformat.separator", _) => {
            if let OutputFormat::Text { separator } = &mut spec.output_format {
                *separator = value.as_bytes().to_vec();
            }
        }
        ("", _) => return Err(Error::new(Code::Usage, "a setting without a name").hint("write -D key=value")),
        _ => {
            spec.settings.insert(key.to_string(), value.to_string());
        }
    }
    Ok(())
}

/// Hadoop's setting: compress the output.
const COMPRESS: &str = "mapreduce.output.fileoutputformat.compress";
/// Hadoop's setting: class of the output's codec.
const COMPRESS_CODEC: &str = "mapreduce.output.fileoutputformat.compress.codec";

/// Returns the compression from Hadoop's two settings. The job keeps both, since one may come from a file and one from
/// a flag.
fn hadoop_compress(spec: &JobSpec) -> Result<Compress> {
    let of = |key: &str| spec.settings.get(key).map(|value| value.trim());
    if of(COMPRESS) != Some("true") {
        return Ok(None);
    }
    let class = of(COMPRESS_CODEC).unwrap_or("org.apache.hadoop.io.compress.DefaultCodec");
    let target = match class.strip_prefix("org.apache.hadoop.io.compress.").unwrap_or(class) {
        "DefaultCodec" | "DeflateCodec" => Target::Deflate,
        "GzipCodec" => Target::Gzip,
        "BZip2Codec" => Target::Bzip2,
        "ZStandardCodec" => Target::Zstd,
        "Lz4Codec" => Target::HadoopLz4,
        "SnappyCodec" => Target::HadoopSnappy,
        _ => {
            let known = "DefaultCodec, DeflateCodec, GzipCodec, BZip2Codec, ZStandardCodec, Lz4Codec and SnappyCodec";
            return Err(Error::new(Code::Usage, format!("{COMPRESS_CODEC}: no output codec {class}"))
                .hint(format!("use {known}")));
        }
    };
    Ok(Some(Compression { target, level: None }))
}

fn parse_number<N: std::str::FromStr>(text: &str) -> Result<N> {
    text.parse().map_err(|_| Error::new(Code::Usage, format!("'{text}' is not a whole number from 0 to 4294967295")))
}

fn unknown(what: &str, text: &str, known: &str) -> Error {
    Error::new(Code::Usage, format!("unknown {what} '{text}'")).hint(format!("use {known}"))
}

/// Returns the spellings of input formats other than classes, for help and messages.
pub fn input_formats() -> String {
    format!(
        "text[:DELIMITER], kv[:SEPARATOR], csv[:SEPARATOR], csv-no-header[:SEPARATOR], json, {}, \
         fixed:RECORD_BYTES:KEY_BYTES, framed",
        file_formats::names()
    )
}

/// Returns the spellings of output formats other than classes, for help and messages.
pub fn output_formats() -> String {
    format!(
        "text[:SEPARATOR], csv[:SEPARATOR], csv-no-header[:SEPARATOR], json, {}, raw, framed",
        file_formats::names()
    )
}

/// Parses an input format: one of `input_formats`, or `class:LIBRARY.CLASS`. Errors: `Usage`.
pub fn parse_input_format(text: &str) -> Result<InputFormat> {
    let bad = || unknown("input format", text, &format!("{} or class:LIBRARY.CLASS", input_formats()));
    if let Some(format) = file_formats::named(text) {
        return Ok(InputFormat::Class(format.source.into()));
    }
    match text.split_once(':') {
        None if text == "text" => Ok(InputFormat::Text { delimiter: None }),
        None if text == "kv" => Ok(KV_DEFAULT),
        None if text == "framed" => Ok(InputFormat::Framed),
        Some(("text", delimiter)) => Ok(InputFormat::Text { delimiter: Some(unescape(delimiter)?) }),
        None if text == "json" => Ok(InputFormat::Json),
        None if text == "csv" => Ok(InputFormat::Csv { separator: b',', header: true }),
        None if text == "csv-no-header" => Ok(InputFormat::Csv { separator: b',', header: false }),
        Some(("kv", separator)) => Ok(InputFormat::KeyValue { separator: one_byte(text, separator)? }),
        Some((name @ ("csv" | "csv-no-header"), separator)) => {
            Ok(InputFormat::Csv { separator: csv_separator(text, separator)?, header: name == "csv" })
        }
        Some(("class", name)) if name.contains('.') => Ok(InputFormat::Class(name.into())),
        Some(("fixed", sizes)) => {
            let (record, key) = sizes.split_once(':').ok_or_else(bad)?;
            Ok(InputFormat::Fixed { record_bytes: parse_number(record)?, key_bytes: parse_number(key)? })
        }
        _ => Err(bad()),
    }
}

fn csv_separator(text: &str, separator: &str) -> Result<u8> {
    match one_byte(text, separator)? {
        b'"' | b'\n' | b'\r' => Err(Error::new(Code::Usage, format!("'{text}': CSV reserves this byte"))),
        separator => Ok(separator),
    }
}

fn one_byte(text: &str, separator: &str) -> Result<u8> {
    match unescape(separator)?[..] {
        [separator] => Ok(separator),
        _ => {
            let error = Error::new(Code::Usage, format!("the separator of '{text}' is not one byte"));
            Err(error.hint("as in kv:, or kv:\\x01"))
        }
    }
}

/// Parses an output format: one of `output_formats`, or `class:LIBRARY.CLASS`. Errors: `Usage`.
pub fn parse_output_format(text: &str) -> Result<OutputFormat> {
    if let Some(format) = file_formats::named(text) {
        return Ok(OutputFormat::Class(format.writer.into()));
    }
    match text.split_once(':') {
        None if text == "text" => Ok(default_output_format()),
        None if text == "raw" => Ok(OutputFormat::Raw),
        None if text == "framed" => Ok(OutputFormat::Framed),
        Some(("text", separator)) => Ok(OutputFormat::Text { separator: unescape(separator)? }),
        Some(("class", name)) if name.contains('.') => Ok(OutputFormat::Class(name.into())),
        None if text == "json" => Ok(OutputFormat::Json),
        None if text == "csv" => Ok(OutputFormat::Csv { separator: b',', header: true }),
        None if text == "csv-no-header" => Ok(OutputFormat::Csv { separator: b',', header: false }),
        Some((name @ ("csv" | "csv-no-header"), separator)) => {
            Ok(OutputFormat::Csv { separator: csv_separator(text, separator)?, header: name == "csv" })
        }
        _ => Err(unknown("output format", text, &format!("{} or class:LIBRARY.CLASS", output_formats()))),
    }
}

/// Parses an output: a directory, or `-` for standard output. Errors: `Usage` for an empty name.
pub fn parse_output(text: &str) -> Result<OutputTarget> {
    match text {
        "" => Err(Error::new(Code::Usage, "the output has no name").hint("name a directory, or - for standard output")),
        "-" => Ok(OutputTarget::Stdout),
        _ => Ok(OutputTarget::Directory(text.into())),
    }
}

/// Parses a mode: `sorted`, `grouped` or `none`. Errors: `Usage`.
pub fn parse_mode(text: &str) -> Result<Mode> {
    match text {
        "sorted" => Ok(Mode::Sorted),
        "grouped" => Ok(Mode::Grouped),
        "none" => Ok(Mode::None),
        _ => Err(unknown("mode", text, "sorted, grouped or none")),
    }
}

/// Parses a partitioning: `hash`, `total-order` or the name of a class. Errors: `Usage`.
pub fn parse_partitioning(text: &str) -> Result<Partitioning> {
    match text {
        "hash" => Ok(Partitioning::Hash),
        "total-order" => Ok(Partitioning::TotalOrder),
        _ if text.contains('.') => Ok(Partitioning::Class(text.to_string())),
        _ => Err(unknown("partitioner", text, "hash, total-order or a class, as in Mine.ByYear")),
    }
}

/// Parses a compression: `none`, the name of a codec, or `NAME:LEVEL` if it has levels. Errors: `Usage`.
pub fn parse_compress(text: &str) -> Result<Compress> {
    let (name, level) = match text.split_once(':') {
        Some((name, level)) => (name, Some(level)),
        None => (text, None),
    };
    if text == "none" {
        return Ok(None);
    }
    let Some(target) = Target::ALL.into_iter().find(|target| target.name() == name) else {
        let known: Vec<&str> = Target::ALL.iter().map(|target| target.name()).collect();
        return Err(unknown("codec", name, &format!("none, {}", known.join(", "))));
    };
    let level = match (level, target.levels()) {
        (None, _) => None,
        (Some(_), None) => {
            return Err(Error::new(Code::Usage, format!("{name} has no levels")).hint(format!("write {name}")));
        }
        (Some(level), Some((least, largest, _))) => {
            let number = level.parse().ok().filter(|n| (least..=largest).contains(n));
            Some(number.ok_or_else(|| {
                Error::new(Code::Usage, format!("'{level}' is not a level of {name}"))
                    .hint(format!("its levels are {least} to {largest}"))
            })?)
        }
    };
    Ok(Some(Compression { target, level }))
}

/// Parses a codec of spilled runs: `auto`, `none` or `lz4`. Errors: `Usage`.
pub fn parse_spill_codec(text: &str) -> Result<SpillCodec> {
    match text {
        "auto" => Ok(SpillCodec::Auto),
        "none" => Ok(SpillCodec::None),
        "lz4" => Ok(SpillCodec::Lz4),
        _ => Err(unknown("spill codec", text, "auto, none or lz4")),
    }
}

/// Returns the spelling of a value, which the parser reads back.
pub(super) fn input_format_text(format: &InputFormat) -> String {
    match format {
        InputFormat::Text { delimiter: None } => "text".into(),
        InputFormat::Text { delimiter: Some(d) } => format!("text:{}", escape(d)),
        InputFormat::KeyValue { separator: b'\t' } => "kv".into(),
        InputFormat::KeyValue { separator } => format!("kv:{}", escape(&[*separator])),
        InputFormat::Fixed { record_bytes, key_bytes } => format!("fixed:{record_bytes}:{key_bytes}"),
        InputFormat::Framed => "framed".into(),
        InputFormat::Json => "json".into(),
        InputFormat::Class(name) => match file_formats::of_source(name) {
            Some(format) => format.name.into(),
            None => format!("class:{name}"),
        },
        InputFormat::Csv { separator, header } => csv_text(*separator, *header),
    }
}

fn csv_text(separator: u8, header: bool) -> String {
    let name = if header { "csv" } else { "csv-no-header" };
    if separator == b',' { name.into() } else { format!("{name}:{}", escape(&[separator])) }
}

/// Returns the spelling of an output format.
pub(super) fn output_format_text(format: &OutputFormat) -> String {
    match format {
        OutputFormat::Text { separator } if separator == b"\t" => "text".into(),
        OutputFormat::Text { separator } => format!("text:{}", escape(separator)),
        OutputFormat::Raw => "raw".into(),
        OutputFormat::Framed => "framed".into(),
        OutputFormat::Class(name) => match file_formats::of_writer(name) {
            Some(format) => format.name.into(),
            None => format!("class:{name}"),
        },
        OutputFormat::Json => "json".into(),
        OutputFormat::Csv { separator, header } => csv_text(*separator, *header),
    }
}

/// Returns the spelling of a compression.
pub(super) fn compress_text(compress: Compress) -> String {
    match compress {
        None => "none".into(),
        Some(Compression { target, level: None }) => target.name().into(),
        Some(Compression { target, level: Some(level) }) => format!("{}:{level}", target.name()),
    }
}

/// Returns the spelling of a mode.
pub(super) fn mode_text(mode: Mode) -> &'static str {
    match mode {
        Mode::Sorted => "sorted",
        Mode::Grouped => "grouped",
        Mode::None => "none",
    }
}

/// Returns the spelling of a partitioning.
pub(super) fn partitioning_text(partitioning: &Partitioning) -> &str {
    match partitioning {
        Partitioning::Hash => "hash",
        Partitioning::TotalOrder => "total-order",
        Partitioning::Class(name) => name,
    }
}

/// Returns the spelling of a codec of spilled runs.
pub(super) fn spill_codec_text(codec: SpillCodec) -> &'static str {
    match codec {
        SpillCodec::Auto => "auto",
        SpillCodec::None => "none",
        SpillCodec::Lz4 => "lz4",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_one_spelling() {
        for text in [
            "text",
            "text:\\r\\n",
            "kv",
            "kv:,",
            "kv:\\x01",
            "fixed:100:10",
            "framed",
            "csv",
            "csv:;",
            "csv:\\t",
            "csv-no-header:|",
            "json",
            "class:Mine.Reader",
        ] {
            assert_eq!(input_format_text(&parse_input_format(text).unwrap()), text);
        }
        for text in
            ["text", "text: = ", "raw", "framed", "class:Mine.Writer", "csv", "csv:;", "csv-no-header:\\t", "json"]
        {
            assert_eq!(output_format_text(&parse_output_format(text).unwrap()), text);
        }
        for text in [
            "",
            "cvs",
            "csv:",
            "csv:ab",
            "csv:\"",
            "json:a",
            "kv:ab",
            "kv:",
            "fixed",
            "fixed:1",
            "fixed:a:b",
            "fixed:-1:2",
            "text:\\q",
            "raw:1",
            "class:",
            "class:Mine",
        ] {
            assert_eq!(parse_input_format(text).unwrap_err().code(), Code::Usage, "{text}");
        }
    }

    #[test]
    fn codecs_have_one_spelling() {
        for text in ["none", "gzip", "gzip:1", "zstd:19", "bzip2:9", "xz:0", "lz4", "snappy", "hadoop-lz4", "deflate:6"]
        {
            assert_eq!(compress_text(parse_compress(text).unwrap()), text);
        }
        for (text, expect) in [
            ("zip", "unknown codec 'zip': use none, gzip, zstd"),
            ("", "unknown codec ''"),
            ("none:1", "unknown codec 'none'"),
            ("lz4:1", "lz4 has no levels: write lz4"),
            ("gzip:0", "'0' is not a level of gzip: its levels are 1 to 9"),
            ("zstd:23", "'23' is not a level of zstd"),
            ("zstd:", "'' is not a level of zstd"),
        ] {
            let error = parse_compress(text).unwrap_err();
            assert!(error.code() == Code::Usage && error.to_string().starts_with(expect), "{text}: {error}");
        }
    }

    fn check(change: SpecChange, expect: impl Fn(&JobSpec) -> bool) {
        let mut spec = JobSpec::default();
        change.apply(&mut spec).unwrap();
        assert!(expect(&spec), "{spec:?}");
    }

    fn settings(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    }

    #[test]
    fn hadoop_settings_change_the_job_and_others_are_kept_for_classes() {
        let set = |pairs: &[(&str, &str)]| SpecChange { settings: settings(pairs), ..Default::default() };
        check(set(&[("mapreduce.job.reduces", "7"), ("mapreduce.job.name", "n")]), |s| s.reduces == 7 && s.name == "n");
        check(set(&[("split.size", "1MiB")]), |s| s.split_bytes == 1 << 20);
        check(set(&[("textinputformat.record.delimiter", ";;")]), |s| {
            s.input_format == InputFormat::Text { delimiter: Some(b";;".to_vec()) }
        });
        check(set(&[("my.own", "1"), ("my.own", "2")]), |s| s.settings["my.own"] == "2" && s.settings.len() == 1);
        // The job does not read key-value lines, so nothing changes.
        check(set(&[("mapreduce.input.keyvaluelinerecordreader.key.value.separator", ",")]), |s| {
            s.input_format == InputFormat::Text { delimiter: None }
        });
        let error = set(&[("mapreduce.job.reduces", "many")]).apply(&mut JobSpec::default()).unwrap_err();
        assert!(error.to_string().starts_with("mapreduce.job.reduces: 'many' is not a whole number"), "{error}");
    }

    #[test]
    fn hadoop_settings_select_the_compression_together() {
        let of = |name: &str| Some(Compression { target: parse_compress(name).unwrap().unwrap().target, level: None });
        let change = |pairs: &[(&str, &str)]| SpecChange { settings: settings(pairs), ..Default::default() };
        let gzip = (COMPRESS_CODEC, "org.apache.hadoop.io.compress.GzipCodec");
        check(change(&[(COMPRESS, "true")]), |s| s.compress == of("deflate"));
        check(change(&[gzip, (COMPRESS, "true")]), |s| s.compress == of("gzip"));
        check(change(&[gzip]), |s| s.compress.is_none());
        check(change(&[gzip, (COMPRESS, "false")]), |s| s.compress.is_none());
        let lz4 = change(&[(COMPRESS_CODEC, "org.apache.hadoop.io.compress.Lz4Codec"), (COMPRESS, "true")]);
        check(lz4, |s| s.compress == of("hadoop-lz4"));
        // The file names the codec, the flag turns compression on; Yunti's own flag overrides both.
        let mut spec = JobSpec::default();
        change(&[gzip]).apply(&mut spec).unwrap();
        change(&[(COMPRESS, "true")]).apply(&mut spec).unwrap();
        assert_eq!(spec.compress, of("gzip"));
        SpecChange { compress: Some(None), ..Default::default() }.apply(&mut spec).unwrap();
        assert_eq!(spec.compress, None);
        let unknown = change(&[(COMPRESS, "true"), (COMPRESS_CODEC, "com.hadoop.compression.lzo.LzopCodec")]);
        let error = unknown.apply(&mut JobSpec::default()).unwrap_err();
        assert!(error.to_string().contains("no output codec com.hadoop.compression.lzo.LzopCodec"), "{error}");
    }

    #[test]
    fn yunti_flags_override_hadoop_settings() {
        let comma = ("mapreduce.input.keyvaluelinerecordreader.key.value.separator", ",");
        let kv = |text: &str| SpecChange {
            input_format: Some(parse_input_format(text).unwrap()),
            reduces: Some(2),
            settings: settings(&[comma, ("mapreduce.job.reduces", "9")]),
            ..Default::default()
        };
        check(kv("kv"), |s| s.input_format == InputFormat::KeyValue { separator: b',' } && s.reduces == 2);
        check(kv("kv:;"), |s| s.input_format == InputFormat::KeyValue { separator: b';' });
    }

    #[test]
    fn folder_replaces_the_reducer() {
        let mut spec = JobSpec { reducer: Some("A.R".into()), combiner: Some("A.R".into()), ..Default::default() };
        SpecChange { folder: Some("A.F".into()), ..Default::default() }.apply(&mut spec).unwrap();
        assert_eq!((spec.reducer, spec.combiner, spec.folder), (None, None, Some("A.F".into())));
    }
}
