//! job.toml: a job as a file (docs/formats/job-toml.md). A key is the long name of a flag, its value the flag's value.

use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::applications::{application, application_names};
use super::change::{
    SpecChange, compress_text, input_format_text, mode_text, output_format_text, parse_compress, parse_input_format,
    parse_mode, parse_output, parse_output_format, parse_partitioning, parse_spill_codec, partitioning_text,
    spill_codec_text,
};
use super::{JobSpec, OutputTarget, SourceSpec, parse_scratch_dir, parse_size, scratch_dir_text};
use crate::env::NamedFile;
use crate::operator::Type;
use yunti_base::{Code, Error, Result};

/// Value of `format`. The number changes if a key changes its meaning; new keys keep it.
pub const JOB_FORMAT: &str = "yunti-job/1";

/// Bytes from which a file is too large for a job file.
const JOB_FILE_BYTES_MAX: usize = 1 << 20;

/// Contents of a job file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFile {
    /// Ready job that the file starts from (`job::spec::applications`).
    pub application: Option<String>,
    pub change: SpecChange,
}

impl JobFile {
    /// Returns the application before any change; None if the file names none, or an unknown one.
    pub fn ready_job(&self) -> Option<JobSpec> {
        Some((application(self.application.as_deref()?)?.spec)())
    }
}

/// Keys of the job as a whole, not of jobs after the first.
const WHOLE_KEYS: &[&str] = &[
    "format",
    "input",
    "input-format",
    "key-columns",
    "value-columns",
    "output",
    "top",
    "output-format",
    "output-key-columns",
    "output-value-columns",
    "compress",
    "lib",
    "memory",
    "threads",
    "scratch",
    "side-file",
    "spill-codec",
    "overwrite",
    "wait",
    "durable",
    "resume",
    "outputs",
    "tables",
    "table-token-file",
    "table-tls-ca",
    "source",
    "then",
];

/// Keys of one source among several.
const SOURCE_KEYS: &[&str] = &["input", "input-format", "key-columns", "value-columns", "mapper"];

/// Keys of each job of a chain, including jobs that another job feeds.
const THEN_KEYS: &[&str] = &[
    "application",
    "name",
    "mapper",
    "combiner",
    "reducer",
    "folder",
    "partitioner",
    "mode",
    "reduces",
    "key-type",
    "descending",
    "key-order",
    "deterministic",
    "split-size",
    "settings",
];

/// Reads a job file. Errors are as from `parse_job_file`.
pub fn read_job_file(file: &NamedFile, path: &Path) -> Result<JobFile> {
    let error = |what: String| Error::new(Code::Usage, what).at_path(path.to_string_lossy());
    let mut bytes = vec![0; JOB_FILE_BYTES_MAX];
    let n = file.read_up_to(&mut bytes, 0)?;
    if n == bytes.len() {
        return Err(error("the file is too large for a job file".into()));
    }
    let text = std::str::from_utf8(&bytes[..n]).map_err(|e| {
        let line = 1 + bytes[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
        error(format!("line {line}: the job file is not UTF-8"))
    })?;
    parse_job_file(text, path)
}

/// Parses the text of a job file. Errors: `Usage`, with `path` and the line.
pub fn parse_job_file(text: &str, path: &Path) -> Result<JobFile> {
    let place = JobFileText { text, path };
    let table = DeTable::parse(text)
        .map_err(|e| place.error(e.span().map_or(0, |s| s.start), e.message(), "see docs/formats/job-toml.md"))?;
    let table = table.get_ref();
    let Some((_, format)) = table.iter().find(|(key, _)| key.get_ref() == "format") else {
        return Err(place.error(0, "the job file has no format", &format!("begin it with format = \"{JOB_FORMAT}\"")));
    };
    if format.get_ref().as_str() != Some(JOB_FORMAT) {
        let hint = format!("this version reads format = \"{JOB_FORMAT}\"");
        return Err(place.error(format.span().start, "the format of the job file is not known", &hint));
    }
    // Keys are read by line, so that the first mistake is reported.
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let keys = [WHOLE_KEYS, THEN_KEYS].concat();
    let mut file = JobFile::default();
    for (key, value) in entries {
        let name: &str = key.get_ref();
        if !keys.contains(&name) {
            let hint = match nearest(name, &keys) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("the keys are {}", keys.join(", ")),
            };
            return Err(place.error(key.span().start, &format!("unknown key '{name}'"), &hint));
        }
        match name {
            "then" => file.change.then = Some(jobs_behind(value, &place)?),
            "source" => file.change.sources = Some(sources(value, &place)?),
            _ => set(&mut file, name, value).map_err(|e| place.of_value(name, value, &e))?,
        }
    }
    Ok(file)
}

/// Returns the tables of an array of tables, as in `[[then]]`.
fn tables<'v, 'a>(
    name: &str,
    value: &'v Spanned<DeValue<'a>>,
    place: &JobFileText<'_>,
) -> Result<Vec<&'v DeTable<'a>>> {
    let tables = value.get_ref().as_array().and_then(|all| all.iter().map(|v| v.get_ref().as_table()).collect());
    tables.ok_or_else(|| {
        let hint = format!("write [[{name}]] before each");
        place.error(value.span().start, &format!("{name}: tables are expected"), &hint)
    })
}

/// Reads a table that may have some of the keys of a job file.
fn part_of_job(name: &str, keys: &[&str], table: &DeTable<'_>, place: &JobFileText<'_>) -> Result<JobFile> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let mut file = JobFile::default();
    for (key, value) in entries {
        let key_name: &str = key.get_ref();
        if !keys.contains(&key_name) {
            let hint = format!("its keys are {}", keys.join(", "));
            return Err(place.error(key.span().start, &format!("'{key_name}' is not a key of [[{name}]]"), &hint));
        }
        set(&mut file, key_name, value).map_err(|e| place.of_value(key_name, value, &e))?;
        if key_name == "application" && file.ready_job().is_none() {
            let hint = format!("the applications are {}", application_names());
            return Err(place.error(value.span().start, "application: unknown name", &hint));
        }
    }
    Ok(file)
}

/// Reads the tables `[[then]]`: jobs after the first, each fed by the job before it.
fn jobs_behind(value: &Spanned<DeValue<'_>>, place: &JobFileText<'_>) -> Result<Vec<JobSpec>> {
    let job = |table: &&DeTable<'_>| {
        let file = part_of_job("then", THEN_KEYS, table, place)?;
        let mut spec = file.ready_job().unwrap_or_default();
        file.change.apply(&mut spec)?;
        Ok(spec)
    };
    tables("then", value, place)?.iter().map(job).collect()
}

/// Reads the tables `[[source]]`.
fn sources(value: &Spanned<DeValue<'_>>, place: &JobFileText<'_>) -> Result<Vec<SourceSpec>> {
    let source = |table: &&DeTable<'_>| {
        let mut spec = JobSpec::default();
        part_of_job("source", SOURCE_KEYS, table, place)?.change.apply(&mut spec)?;
        let JobSpec { inputs, input_format, columns, mapper, .. } = spec;
        Ok(SourceSpec { inputs, input_format, columns, mapper })
    };
    tables("source", value, place)?.iter().map(source).collect()
}

struct JobFileText<'a> {
    text: &'a str,
    path: &'a Path,
}

impl JobFileText<'_> {
    fn error(&self, at: usize, what: &str, hint: &str) -> Error {
        let line = 1 + self.text.as_bytes().iter().take(at).filter(|&&b| b == b'\n').count();
        Error::new(Code::Usage, format!("line {line}: {what}")).at_path(self.path.to_string_lossy()).hint(hint)
    }

    fn of_value(&self, key: &str, value: &Spanned<DeValue<'_>>, e: &Error) -> Error {
        let hint = e.hint_text().unwrap_or("see docs/formats/job-toml.md");
        self.error(value.span().start, &format!("{key}: {}", e.what()), hint)
    }
}

fn set(file: &mut JobFile, key: &str, value: &Spanned<DeValue<'_>>) -> Result<()> {
    let change = &mut file.change;
    let value = value.get_ref();
    match key {
        "format" => {}
        "application" => file.application = Some(string(value)?),
        "name" => change.name = Some(string(value)?),
        "input" => change.inputs = Some(strings(value)?),
        "input-format" => change.input_format = Some(parse_input_format(&string(value)?)?),
        "key-columns" => change.key_columns = Some(strings(value)?),
        "value-columns" => change.value_columns = Some(strings(value)?),
        "output" => change.output = Some(parse_output(&string(value)?)?),
        "top" => change.output = Some(OutputTarget::Top(integer(value)? as usize)),
        "output-format" => change.output_format = Some(parse_output_format(&string(value)?)?),
        "output-key-columns" => change.output_key_columns = Some(strings(value)?),
        "output-value-columns" => change.output_value_columns = Some(strings(value)?),
        "compress" => change.compress = Some(parse_compress(&string(value)?)?),
        "lib" => change.libraries = Some(paths(value)?),
        "mapper" => change.mapper = Some(string(value)?),
        "combiner" => change.combiner = Some(string(value)?),
        "reducer" => change.reducer = Some(string(value)?),
        "folder" => change.folder = Some(string(value)?),
        "partitioner" => change.partitioning = Some(parse_partitioning(&string(value)?)?),
        "mode" => change.mode = Some(parse_mode(&string(value)?)?),
        "reduces" => {
            change.reduces = Some(u32::try_from(integer(value)?).map_err(|_| expected("a number below 2^32", value))?)
        }
        "key-type" => change.key_type = Some(Type::parse(&string(value)?)?),
        "descending" => change.descending = Some(boolean(value)?),
        "key-order" => change.key_order = Some(string(value)?),
        "deterministic" => change.deterministic = Some(boolean(value)?),
        "split-size" => change.split_bytes = Some(size(value)?),
        "memory" => change.memory_bytes = Some(size(value)?),
        "threads" => change.threads = Some(integer(value)? as usize),
        "scratch" => {
            let all: Result<_> = strings(value)?.iter().map(|dir| parse_scratch_dir(dir)).collect();
            change.scratch_dirs = Some(all?);
        }
        "side-file" => change.side_files = Some(paths(value)?),
        "spill-codec" => change.spill_codec = Some(parse_spill_codec(&string(value)?)?),
        "overwrite" => change.overwrite = Some(boolean(value)?),
        "wait" => change.wait = Some(boolean(value)?),
        "durable" => change.durable = Some(boolean(value)?),
        "resume" => change.resume = Some(boolean(value)?),
        "settings" => {
            let table = value.as_table().ok_or_else(|| expected("a table", value))?;
            for (key, value) in table {
                change.settings.push((key.get_ref().to_string(), setting(key.get_ref(), value.get_ref())?));
            }
        }
        "outputs" => {
            let table = value.as_table().ok_or_else(|| expected("a table", value))?;
            for (key, value) in table {
                change.outputs.push((key.get_ref().to_string(), parse_output_format(&string(value.get_ref())?)?));
            }
        }
        "tables" => {
            let table = value.as_table().ok_or_else(|| expected("a table", value))?;
            for (key, value) in table {
                change.tables.push((key.get_ref().to_string(), string(value.get_ref())?.parse()?));
            }
        }
        "table-token-file" => change.table_token_file = Some(string(value)?.into()),
        "table-tls-ca" => change.table_tls_ca = Some(string(value)?.into()),
        _ => unreachable!("checked against the keys"),
    }
    Ok(())
}

fn expected(what: &str, value: &DeValue<'_>) -> Error {
    let is = match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "another number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    };
    Error::new(Code::Usage, format!("{what} is expected, not {is}"))
}

fn string(value: &DeValue<'_>) -> Result<String> {
    value.as_str().map(str::to_string).ok_or_else(|| expected("a string", value))
}

/// Reads an array of strings, or one string.
fn strings(value: &DeValue<'_>) -> Result<Vec<String>> {
    match value.as_array() {
        Some(array) => array.iter().map(|v| string(v.get_ref())).collect(),
        None => Ok(vec![string(value).map_err(|_| expected("a string or an array of strings", value))?]),
    }
}

fn paths(value: &DeValue<'_>) -> Result<Vec<PathBuf>> {
    Ok(strings(value)?.into_iter().map(PathBuf::from).collect())
}

fn boolean(value: &DeValue<'_>) -> Result<bool> {
    value.as_bool().ok_or_else(|| expected("true or false", value))
}

fn integer(value: &DeValue<'_>) -> Result<u64> {
    let number = value.as_integer().and_then(|i| u64::from_str_radix(i.as_str(), i.radix()).ok());
    number.ok_or_else(|| expected("a whole number from 0", value))
}

/// Reads a number of bytes, or a string with a unit.
fn size(value: &DeValue<'_>) -> Result<u64> {
    match value.as_str() {
        Some(text) => parse_size(text),
        None => integer(value).map_err(|_| expected("a size, as in \"64MiB\",", value)),
    }
}

fn setting(key: &str, value: &DeValue<'_>) -> Result<String> {
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) => Ok(number.as_str().to_string()),
        DeValue::Float(number) => Ok(number.as_str().to_string()),
        DeValue::Boolean(truth) => Ok(truth.to_string()),
        _ => {
            let error = expected("a string, number, true or false", value);
            let hint = "quote a name that has dots, as in \"my.key\" = 1";
            Err(Error::new(Code::Usage, format!("{key}: {}", error.what())).hint(hint))
        }
    }
}

/// Returns the known name that differs in at most two letters, for a hint.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let mut best = (3, None);
    for candidate in known {
        let (a, b) = (name.as_bytes(), candidate.as_bytes());
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, x) in a.iter().enumerate() {
            let mut corner = row[0];
            row[0] = i + 1;
            for (j, y) in b.iter().enumerate() {
                let changed = corner + usize::from(x != y);
                corner = row[j + 1];
                row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
            }
        }
        if row[b.len()] < best.0 {
            best = (row[b.len()], Some(*candidate));
        }
    }
    best.1
}

/// Returns the job as a job file, which `parse_job_file` reads back as the same job. Errors: `Usage` for a path that is
/// not UTF-8, which TOML cannot hold.
pub fn spec_to_toml(spec: &JobSpec) -> Result<String> {
    let mut out = Lines(String::new());
    out.string("format", JOB_FORMAT);
    out.string("name", &spec.name);
    out.strings("input", &spec.inputs);
    out.string("input-format", &input_format_text(&spec.input_format));
    out.strings("key-columns", &spec.columns.key);
    out.strings("value-columns", &spec.columns.value);
    match &spec.output {
        OutputTarget::Directory(path) => out.string("output", utf8(path)?),
        OutputTarget::Stdout => out.string("output", "-"),
        OutputTarget::Top(n) => out.plain("top", n),
    }
    out.string("output-format", &output_format_text(&spec.output_format));
    out.strings("output-key-columns", &spec.output_columns.key);
    out.strings("output-value-columns", &spec.output_columns.value);
    out.string("compress", &compress_text(spec.compress));
    out.strings("lib", &spec.libraries.iter().map(|p| utf8(p)).collect::<Result<Vec<_>>>()?);
    out.work(spec);
    if let Some(bytes) = spec.memory_bytes {
        out.plain("memory", bytes);
    }
    if let Some(threads) = spec.threads {
        out.plain("threads", threads);
    }
    out.strings("side-file", &spec.side_files.iter().map(|p| utf8(p)).collect::<Result<Vec<_>>>()?);
    let scratch = spec.scratch_dirs.iter().map(|dir| utf8(&dir.path).map(|_| scratch_dir_text(dir)));
    out.strings("scratch", &scratch.collect::<Result<Vec<_>>>()?);
    out.string("spill-codec", spill_codec_text(spec.spill_codec));
    out.plain("overwrite", spec.overwrite);
    out.plain("wait", spec.wait);
    out.plain("durable", spec.durable);
    out.plain("resume", spec.resume);
    for (key, path) in [("table-token-file", &spec.table_token_file), ("table-tls-ca", &spec.table_tls_ca)] {
        if let Some(path) = path {
            out.string(key, utf8(path)?);
        }
    }
    out.settings("settings", spec);
    if !spec.outputs.is_empty() {
        out.0 += "\n[outputs]\n";
        for (name, format) in &spec.outputs {
            out.string(&quoted(name), &output_format_text(format));
        }
    }
    if !spec.tables.is_empty() {
        out.0 += "\n[tables]\n";
        for (name, place) in &spec.tables {
            if let Some(path) = place.file() {
                utf8(path)?;
            }
            out.string(&quoted(name), &place.to_string());
        }
    }
    for source in &spec.sources {
        out.0 += "\n[[source]]\n";
        out.strings("input", &source.inputs);
        out.string("input-format", &input_format_text(&source.input_format));
        out.strings("key-columns", &source.columns.key);
        out.strings("value-columns", &source.columns.value);
        if let Some(mapper) = &source.mapper {
            out.string("mapper", mapper);
        }
    }
    for job in &spec.then {
        out.0 += "\n[[then]]\n";
        out.string("name", &job.name);
        out.work(job);
        out.settings("then.settings", job);
    }
    Ok(out.0)
}

fn utf8(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        Error::new(Code::Usage, "a job file cannot hold a path that is not UTF-8").at_path(path.to_string_lossy())
    })
}

struct Lines(String);

impl Lines {
    /// Writes the keys of a job's work, without its input and output.
    fn work(&mut self, spec: &JobSpec) {
        for (key, class) in [
            ("mapper", &spec.mapper),
            ("combiner", &spec.combiner),
            ("reducer", &spec.reducer),
            ("folder", &spec.folder),
        ] {
            if let Some(class) = class {
                self.string(key, class);
            }
        }
        self.string("partitioner", partitioning_text(&spec.partitioning));
        self.string("mode", mode_text(spec.mode));
        self.plain("reduces", spec.reduces);
        if let Some(key_type) = spec.key_type {
            self.string("key-type", key_type.name());
        }
        self.plain("descending", spec.descending);
        if let Some(class) = &spec.key_order {
            self.string("key-order", class);
        }
        self.plain("deterministic", spec.deterministic);
        self.plain("split-size", spec.split_bytes);
    }

    fn settings(&mut self, name: &str, spec: &JobSpec) {
        if !spec.settings.is_empty() {
            self.0 += &format!("\n[{name}]\n");
            for (key, value) in &spec.settings {
                self.string(&quoted(key), value);
            }
        }
    }

    fn plain(&mut self, key: &str, value: impl std::fmt::Display) {
        self.0 += &format!("{key} = {value}\n");
    }
    fn string(&mut self, key: &str, value: &str) {
        self.plain(key, quoted(value));
    }
    fn strings(&mut self, key: &str, values: &[impl AsRef<str>]) {
        if !values.is_empty() {
            let all: Vec<String> = values.iter().map(|v| quoted(v.as_ref())).collect();
            self.plain(key, format!("[{}]", all.join(", ")));
        }
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            c if c.is_control() => out += &format!("\\u{:04X}", u32::from(c)),
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::super::{InputFormat, Mode, OutputFormat, Partitioning, SpillCodec};
    use super::*;
    use crate::codec::encode::{Compression, Target};
    use crate::format::columns::Columns;
    use crate::library::tables::TablePlace;

    fn check(text: &str, expect: &str) {
        let error = parse_job_file(text, Path::new("job.toml")).unwrap_err();
        assert_eq!(error.code(), Code::Usage);
        assert!(error.to_string().starts_with(expect), "{error}");
    }

    #[test]
    fn errors_name_the_line() {
        check("", "line 1: the job file has no format: job.toml: begin it with");
        check("format = \"yunti-job/9\"", "line 1: the format of the job file is not known: job.toml");
        for (body, expect) in [
            ("maper = \"A.B\"", "line 2: unknown key 'maper': job.toml: did you mean 'mapper'?"),
            ("\n\nxyzzyx = 1", "line 4: unknown key 'xyzzyx': job.toml: the keys are format, "),
            ("reduces = \"two\"", "line 2: reduces: a whole number from 0 is expected, not a string"),
            ("reduces = -1", "line 2: reduces: a whole number from 0 is expected"),
            ("reduces = 4294967296", "line 2: reduces: a number below 2^32 is expected"),
            ("memory = \"2XB\"", "line 2: memory: '2XB' is not a size"),
            ("mode = \"random\"", "line 2: mode: unknown mode 'random': job.toml: use sorted, grouped or none"),
            ("input = [1]", "line 2: input: a string is expected"),
            ("descending = \"yes\"", "line 2: descending: true or false is expected, not a string"),
            ("input-format = \"fixed:9\"", "line 2: input-format: unknown input format"),
            ("compress = \"zip\"", "line 2: compress: unknown codec 'zip'"),
            ("key-type = \"i128\"", "line 2: key-type: unknown type 'i128'"),
            ("name = \"a\"\nname = \"b\"", "line 3: "),
            ("name = ", "line 2: "),
            ("[settings]\na.b = 1", "line 2: settings: a: a string, number, true or false is expected, not a table"),
            ("[job]\n", "line 2: unknown key 'job'"),
        ] {
            check(&format!("format = \"yunti-job/1\"\n{body}"), expect);
        }
    }

    #[test]
    fn every_job_survives_its_file() {
        let full = JobSpec {
            name: "a \"name\"\n\u{1}".into(),
            inputs: vec!["a/*.txt".into(), "-".into()],
            input_format: InputFormat::KeyValue { separator: 0xff },
            columns: Columns { key: vec!["a,b".into(), "c".into()], value: vec!["d \"e\"".into()] },
            output: OutputTarget::Directory("out\\dir".into()),
            output_format: OutputFormat::Text { separator: b"\xfe=".to_vec() },
            output_columns: Columns { key: vec!["k".into()], value: vec!["v,".into(), "w".into()] },
            compress: Some(Compression { target: Target::Zstd, level: Some(7) }),
            libraries: vec!["./x.so".into()],
            mapper: Some("A.M".into()),
            combiner: Some("A.C".into()),
            reducer: Some("A.R".into()),
            folder: None,
            partitioning: Partitioning::Class("A.P".into()),
            mode: Mode::Grouped,
            reduces: 7,
            key_type: Some(Type::I64),
            descending: true,
            key_order: Some("A.O".into()),
            deterministic: true,
            split_bytes: 12345,
            memory_bytes: Some(1 << 30),
            threads: Some(3),
            scratch_dirs: vec![parse_scratch_dir("/a").unwrap(), parse_scratch_dir("/b:3GiB").unwrap()],
            side_files: vec!["stop words.txt".into()],
            tables: [
                ("users".into(), TablePlace::File("/a b/users.ytab".into())),
                ("shops".into(), "server:db1:7070,unix:/run/shops".parse().unwrap()),
            ]
            .into(),
            table_token_file: Some("/etc/token".into()),
            table_tls_ca: Some("/etc/ca.pem".into()),
            spill_codec: SpillCodec::Lz4,
            overwrite: true,
            wait: true,
            durable: true,
            resume: true,
            settings: [("x.y z".into(), "1=2".into()), ("q\"".into(), String::new())].into(),
            outputs: [("bad".into(), OutputFormat::Raw)].into(),
            sources: vec![
                SourceSpec {
                    inputs: vec!["x".into(), "y".into()],
                    input_format: InputFormat::Csv { separator: b';', header: true },
                    columns: Columns { key: vec!["a".into()], value: vec!["b".into()] },
                    mapper: Some("C.M".into()),
                },
                SourceSpec {
                    inputs: vec!["z".into()],
                    input_format: InputFormat::Framed,
                    columns: Columns::default(),
                    mapper: None,
                },
            ],
            then: vec![
                JobSpec { mapper: Some("B.M".into()), mode: Mode::None, ..JobSpec::default() },
                JobSpec {
                    name: "last".into(),
                    folder: Some("B.F".into()),
                    reduces: 9,
                    key_order: Some("B.O".into()),
                    settings: [("x".into(), "3".into())].into(),
                    ..JobSpec::default()
                },
            ],
            input_types: None,
        };
        let stdout = JobSpec { output: OutputTarget::Stdout, folder: Some("A.F".into()), ..JobSpec::default() };
        for spec in [JobSpec::default(), full, stdout] {
            let text = spec_to_toml(&spec).unwrap();
            let file = parse_job_file(&text, Path::new("job.toml")).unwrap();
            let mut back = JobSpec::default();
            file.change.apply(&mut back).unwrap();
            assert_eq!(back, spec, "{text}");
        }
    }

    #[test]
    fn settings_may_be_numbers() {
        let text = "format = \"yunti-job/1\"\napplication = \"sort\"\n[settings]\n\"a.b\" = 0x10\nc = true\nd = 1.5\n";
        let file = parse_job_file(text, Path::new("j")).unwrap();
        assert_eq!(file.application.as_deref(), Some("sort"));
        let values: Vec<&str> = file.change.settings.iter().map(|(_, v)| v.as_str()).collect();
        assert_eq!(values, ["10", "true", "1.5"]);
    }
}
