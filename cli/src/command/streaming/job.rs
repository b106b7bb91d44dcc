//! The job of the streaming flags, as flags of `yunti run`.

use std::path::Path;

use yunti_base::{Code, Error, Result};
use yunti_engine::env::stores::scheme_of;
use yunti_engine::job::spec::change::parse_output;
use yunti_engine::job::spec::{InputFormat, Mode, Partitioning};

use super::StreamingFlags;
use super::java_classes::{self, Operator};
use crate::command::run::flags::{Cluster, RunFlags};

/// Names of settings before Hadoop 2, which old scripts use, and their names since.
const OLD_NAMES: [(&str, &str); 18] = [
    ("mapred.reduce.tasks", REDUCES),
    ("mapred.job.name", "mapreduce.job.name"),
    ("mapred.map.max.attempts", "mapreduce.map.maxattempts"),
    ("mapred.reduce.max.attempts", "mapreduce.reduce.maxattempts"),
    ("mapred.task.timeout", "mapreduce.task.timeout"),
    ("mapred.max.split.size", "mapreduce.input.fileinputformat.split.maxsize"),
    ("mapred.output.compress", "mapreduce.output.fileoutputformat.compress"),
    ("mapred.output.compression.codec", "mapreduce.output.fileoutputformat.compress.codec"),
    ("mapred.textoutputformat.separator", "mapreduce.output.textoutputformat.separator"),
    ("key.value.separator.in.input.line", "mapreduce.input.keyvaluelinerecordreader.key.value.separator"),
    ("map.output.key.field.separator", "mapreduce.map.output.key.field.separator"),
    ("mapred.text.key.partitioner.options", "mapreduce.partition.keypartitioner.options"),
    ("mapred.text.key.comparator.options", "mapreduce.partition.keycomparator.options"),
    ("mapred.output.key.comparator.class", COMPARATOR),
    ("mapred.partitioner.class", PARTITIONER),
    ("mapreduce.partitioner.class", PARTITIONER),
    ("mapred.line.input.format.linespermap", LINES_A_MAP),
    ("mapred.input.dir", "mapreduce.input.fileinputformat.inputdir"),
];

const REDUCES: &str = "mapreduce.job.reduces";
const LINES_A_MAP: &str = "mapreduce.input.lineinputformat.linespermap";
const IGNORE_KEY: &str = "stream.map.input.ignoreKey";
const COMPARATOR: &str = "mapreduce.job.output.key.comparator.class";
const PARTITIONER: &str = "mapreduce.job.partitioner.class";

/// Returns the flags of `yunti run` that run the same job.
///
/// Errors: `Usage` for options that cannot be honoured.
pub fn run_flags(flags: StreamingFlags) -> Result<RunFlags> {
    let on_yarn = flags.on == Cluster::Yarn;
    refuse(&flags, on_yarn)?;
    let path = |uri: String| if on_yarn { Ok(uri) } else { local_path(uri) };
    let missing = |option: &str, hint: &str| Error::new(Code::Usage, format!("{option} is missing")).hint(hint);
    let output = flags.output.as_deref().ok_or_else(|| missing("-output", "name a directory that does not exist"))?;
    if flags.input.is_empty() {
        return Err(missing("-input", "name a file or a directory"));
    }
    let mut settings = Settings(flags.settings);
    settings.rename();
    for (name, value) in &flags.cmdenv {
        settings.set(&format!("stream.environment.{name}"), value);
    }
    if let Some(form) = &flags.io {
        for of in ["map.input", "map.output", "reduce.input", "reduce.output"] {
            settings.set(&format!("stream.{of}"), form);
        }
    }
    if let Some(reduces) = flags.reduces {
        settings.set(REDUCES, &reduces.to_string());
    }
    // Streaming is a program of the older API.
    settings.set("output.plain.parts", "true");
    let input_format = java_classes::input_format(flags.inputformat.as_deref().unwrap_or("TextInputFormat"))?;
    if flags.inputformat.as_deref().is_some_and(java_classes::has_lines_a_split) {
        let lines = settings.get(LINES_A_MAP).unwrap_or("1").to_string();
        settings.set("split.lines", &lines);
        // Hadoop leaves keys out for TextInputFormat alone.
        if settings.get(IGNORE_KEY).is_none() {
            settings.set(IGNORE_KEY, "false");
        }
    }
    if flags.lazy_output {
        settings.set("output.lazy", "true");
    }
    if let Some(class) = &flags.outputformat {
        java_classes::check_output_format(class)?;
    }
    let partitioner = flags.partitioner.as_deref().or(settings.get(PARTITIONER));
    let partitioner = partitioner.map(java_classes::partitioning).transpose()?;
    let key_order = settings.get(COMPARATOR).map(java_classes::key_order).transpose()?;
    let partitioner = match partitioner {
        None | Some(Partitioning::Hash) if key_order.is_some() => {
            Some(Partitioning::Class("Yunti.KeyHashPartitioner".into()))
        }
        partitioner => partitioner,
    };
    let operator = |option: &str, name: &Option<String>| {
        name.as_deref().map(|name| java_classes::operator(option, name)).transpose()
    };
    let is_none = |name: &Option<String>| name.as_deref() == Some("NONE");
    let no_reduce = is_none(&flags.reducer) || settings.get(REDUCES).is_some_and(|n| n.trim() == "0");
    let mapper = if is_none(&flags.mapper) { None } else { operator("-mapper", &flags.mapper)? };
    let (reducer, combiner) = match no_reduce {
        true => {
            settings.remove(REDUCES);
            (None, None)
        }
        false => (operator("-reducer", &flags.reducer)?, operator("-combiner", &flags.combiner)?),
    };
    let reducer = reducer.filter(|reducer| *reducer != Operator::Identity);
    // Hadoop sets both, too.
    let combiner = if reducer == Some(Operator::Aggregate) { Some(Operator::Aggregate) } else { combiner };
    let mapper = match mapper {
        Some(Operator::Program(command)) => Some(command),
        _ if matches!(input_format, InputFormat::KeyValue { .. }) => None,
        _ if reducer.is_some() => {
            let what = "without a mapper, the keys of TextInputFormat are offsets, which the reducer cannot take";
            return Err(Error::new(Code::Usage, what).hint("use -mapper cat, or -inputformat KeyValueTextInputFormat"));
        }
        _ => Some("Yunti.OffsetMapper".into()),
    };
    let name = |operator: Option<Operator>, class: &str| match operator {
        Some(Operator::Program(command)) => Some(command),
        Some(Operator::Aggregate) => Some(class.to_string()),
        Some(Operator::Identity) | None => None,
    };
    let reducer = match reducer {
        // The reduce prints what is not text.
        None if !no_reduce && settings.get("stream.map.output").is_some_and(|form| form != "text") => {
            Some("Yunti.PrintReducer".into())
        }
        reducer => name(reducer, "Yunti.AggregateReducer"),
    };
    Ok(RunFlags {
        input: flags.input.iter().flat_map(|paths| paths_of(paths)).map(path).collect::<Result<_>>()?,
        output: Some(parse_output(&path(output.into())?)?),
        on: flags.on,
        ship: flags
            .file
            .iter()
            .chain(&flags.files)
            .chain(&flags.cache_file)
            .filter(|f| is_remote(f))
            .cloned()
            .collect(),
        archive: match on_yarn {
            true => flags.archives.iter().chain(&flags.cache_archive).map(|archive| named(archive)).collect(),
            false => Vec::new(),
        },
        overwrite: flags.overwrite,
        resume: flags.resume,
        input_format: Some(input_format),
        mapper,
        reducer,
        combiner: name(combiner, "Yunti.AggregateCombiner"),
        mode: no_reduce.then_some(Mode::None),
        partitioner,
        key_order: key_order.filter(|_| !no_reduce),
        settings: settings.0,
        tasks: flags.tasks,
        resources: flags.resources,
        reports: flags.reports,
        ..RunFlags::default()
    })
}

/// Settings in the order of the command line; the last of a name counts.
struct Settings(Vec<(String, String)>);

impl Settings {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
    fn set(&mut self, key: &str, value: &str) {
        self.0.push((key.into(), value.into()));
    }
    fn remove(&mut self, key: &str) {
        self.0.retain(|(name, _)| name != key);
    }
    /// Adds the new names of old settings.
    fn rename(&mut self) {
        self.0 = std::mem::take(&mut self.0)
            .into_iter()
            .flat_map(|(name, value)| {
                let new =
                    OLD_NAMES.iter().find(|(old, _)| *old == name).map(|(_, new)| (new.to_string(), value.clone()));
                [Some((name, value)), new].into_iter().flatten()
            })
            .collect();
    }
}

/// Splits a list of paths at commas, but not within the braces of a glob.
fn paths_of(list: &str) -> Vec<String> {
    let mut depth = 0;
    let parts = list.split(|c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth <= 0
    });
    parts.filter(|part| !part.is_empty()).map(String::from).collect()
}

/// Returns true for a file of one of Hadoop's file systems.
pub fn is_remote(file: &str) -> bool {
    file.contains("://") && !file.starts_with("file://")
}

/// Returns an archive with the name of its directory, which is its own in Hadoop if the job names none.
fn named(archive: &str) -> String {
    match archive.contains('#') {
        true => archive.into(),
        false => format!("{archive}#{}", archive.rsplit('/').next().unwrap_or(archive)),
    }
}

/// Returns the path of a local URI, or the name of a store as it is. Errors: `Usage` for another file system.
fn local_path(uri: String) -> Result<String> {
    if scheme_of(Path::new(&uri)).is_some() {
        return Ok(uri);
    }
    let path = uri.strip_prefix("file://").or_else(|| uri.strip_prefix("file:")).unwrap_or(&uri);
    match path.split_once("://") {
        Some((scheme, _)) if scheme.bytes().all(|b| b.is_ascii_alphanumeric()) => {
            let what = format!("{uri}: no such scheme");
            Err(Error::new(Code::Usage, what)
                .hint("use s3://, gs://, az://, http://, https://, hdfs:// or a path; --on yarn takes Hadoop's names"))
        }
        _ => Ok(path.into()),
    }
}

/// Refuses the options of Hadoop that have no meaning here.
fn refuse(given: &StreamingFlags, on_yarn: bool) -> Result<()> {
    let flags = &given.refused;
    let local =
        |name: &Option<String>| name.as_deref().is_some_and(|name| name != "local" && !name.starts_with("file:"));
    let reasons = [
        (flags.inputreader.is_some(), "-inputreader: readers in Java cannot run here", "use -inputformat"),
        (
            flags.mapdebug.is_some() || flags.reducedebug.is_some(),
            "-mapdebug and -reducedebug have no meaning here",
            "leave them out: the error of a failed task has the last message of its program",
        ),
        (flags.background, "-background: this command waits for its job", "leave it out, and end the command with &"),
        (
            on_yarn && given.cache_file.iter().any(|file| !is_remote(file)),
            "-cacheFile takes the URI of a file in Hadoop's file systems",
            "use -files for files of this machine",
        ),
        (on_yarn && given.lazy_output, "-lazyOutput: each partition has a part file on a cluster", "leave it out"),
        (flags.libjars.is_some(), "-libjars: Java classes cannot run here", "use programs"),
        (
            flags.conf.is_some() || flags.additionalconfspec.is_some(),
            "files of settings in XML are not read here",
            "give the settings with -D key=value",
        ),
        (
            local(&flags.fs) || local(&flags.dfs) || local(&flags.jt),
            "-fs, -dfs and -jt have no meaning here",
            "add --on yarn for the cluster of the hadoop in PATH",
        ),
    ];
    match reasons.into_iter().find(|(given, _, _)| *given) {
        Some((_, what, hint)) => Err(Error::new(Code::Usage, what).hint(hint)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(words: &[&str]) -> Result<RunFlags> {
        let words = ["yunti", "streaming"].iter().chain(words).map(Into::into).collect();
        let words = super::super::with_double_dashes(words)?;
        let command = <StreamingFlags as clap::Args>::augment_args(clap::Command::new("streaming"));
        let matches = command.try_get_matches_from(&words[1..]).unwrap_or_else(|e| panic!("{e}"));
        run_flags(<StreamingFlags as clap::FromArgMatches>::from_arg_matches(&matches).unwrap())
    }

    fn with(more: &[&str]) -> Result<RunFlags> {
        flags(&[&["-input", "a,b{1,2}", "-output", "file:/o"], more].concat())
    }

    #[test]
    fn options_become_flags_of_run() {
        let f = with(&["-mapper", "cat", "-reducer", "uniq -c", "-cmdenv", "A=b c"]).unwrap();
        assert_eq!(f.input, ["a", "b{1,2}"]);
        assert_eq!((f.mapper.as_deref(), f.reducer.as_deref(), f.mode), (Some("cat"), Some("uniq -c"), None));
        assert_eq!(f.settings[0], ("stream.environment.A".into(), "b c".into()));
        for none in [&["-reducer", "NONE"][..], &["-numReduceTasks", "0"], &["-D", "mapred.reduce.tasks=0"]] {
            let f = with(&[&["-mapper", "cat", "-combiner", "x"], none].concat()).unwrap();
            assert_eq!((f.mode, f.reducer, f.combiner), (Some(Mode::None), None, None), "{none:?}");
        }
        let f = with(&["-mapper", "cat", "-reducer", "aggregate"]).unwrap();
        assert_eq!(
            (f.reducer.as_deref(), f.combiner.as_deref()),
            (Some("Yunti.AggregateReducer"), Some("Yunti.AggregateCombiner"))
        );
        let identity = "org.apache.hadoop.mapred.lib.IdentityMapper";
        assert_eq!(with(&["-mapper", identity]).unwrap().mapper.as_deref(), Some("Yunti.OffsetMapper"));
        assert_eq!(with(&["-mapper", identity, "-inputformat", "KeyValueTextInputFormat"]).unwrap().mapper, None);
        let f = with(&["-mapper", "m", "-io", "rawbytes"]).unwrap();
        assert_eq!((f.settings.len(), f.reducer.as_deref()), (5, Some("Yunti.PrintReducer")));
    }

    #[test]
    fn what_cannot_be_honoured_is_refused() {
        for (words, what) in [
            (&["-reducer", "wc"][..], "without a mapper"),
            (&["-mapper", "m", "-background"], "-background"),
            (&["-mapper", "m", "-mapdebug", "x"], "-mapdebug"),
            (&["-mapper", "m", "-inputreader", "X"], "-inputreader"),
            (&["-mapper", "m", "-fs", "hdfs://n"], "-fs, -dfs and -jt"),
            (&["-mapper", "m", "--on", "yarn", "-cacheFile", "a"], "-cacheFile takes the URI"),
            (&["-mapper", "m", "-input", "viewfs://n/a"], "viewfs://n/a: no such scheme"),
            (&["-mapper", "org.example.Map"], "-mapper: the Java class org.example.Map"),
        ] {
            let error = with(words).unwrap_err();
            assert!(error.code() == Code::Usage && error.to_string().contains(what), "{error}");
        }
        let on_yarn = ["--on", "yarn", "-files", "a,hdfs://n/b#c", "-cacheArchive", "hdfs://n/d.zip", "-mapper", "m"];
        let f = flags(&[&["-input", "hdfs://n/in", "-output", "out"], &on_yarn[..]].concat()).unwrap();
        assert_eq!((&f.input[0][..], f.on), ("hdfs://n/in", Cluster::Yarn));
        assert_eq!((&f.ship[..], &f.archive[..]), (&["hdfs://n/b#c".into()][..], &["hdfs://n/d.zip#d.zip".into()][..]));
        assert!(with(&["-mapper", "m", "-fs", "file:///", "-jt", "local", "-verbose"]).is_ok());
        assert!(flags(&["-input", "a"]).unwrap_err().to_string().starts_with("-output is missing"));
    }
}
