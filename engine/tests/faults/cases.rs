//! The jobs of the sweep: small jobs in every mode, each with its answer from a run without faults.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::codec::encode::{Compression, Target};
use yunti_engine::env::faulty::{Fault, FaultyFiles, Operation};
use yunti_engine::env::real::RealFiles;
use yunti_engine::env::{Env, Files};
use yunti_engine::format::columns::Columns;
use yunti_engine::job::{InputFormat, JobSpec, Mode, Outcome, OutputFormat, OutputTarget, Partitioning, SpillCodec};

use crate::streams::Streams;
use crate::support::{Temp, run_in};

/// Destination of the output, and its earlier contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    Fresh,
    /// A path in directories that do not exist.
    Deep,
    Overwrite,
    /// An older output, on a file system that cannot exchange two names atomically.
    OverwriteInSteps,
    Stdout,
}

pub struct Case {
    pub name: &'static str,
    pub temp: Temp,
    pub spec: JobSpec,
    pub out: Out,
    /// True if the output's lines may be in any order.
    pub unordered: bool,
    pub answer: Vec<(String, Vec<u8>)>,
    stdin: Vec<u8>,
    open_max: usize,
    /// Every name below the temporary directory, before a job.
    names: Vec<PathBuf>,
}

/// Contents of an older output.
const OLDER: &[u8] = b"an older output\n";

pub fn lines(n: usize) -> Vec<u8> {
    (0..n).flat_map(|i| format!("line {}\n", i * 7919 % 1009).into_bytes()).collect()
}

pub fn application(name: &str) -> JobSpec {
    (yunti_engine::job::application(name).unwrap().spec)()
}

impl Case {
    /// `inputs` are (name, bytes); if `spec` names none of them, all of `in` is the input.
    pub fn new(name: &'static str, inputs: &[(&str, &[u8])], out: Out, spec: JobSpec) -> Case {
        let temp = Temp::new(&format!("sweep-{}", name.replace([' ', ','], "-")));
        inputs.iter().for_each(|(name, bytes)| drop(temp.write(name, bytes)));
        let path = |name: &Path| temp.path(&name.to_string_lossy());
        ["s", "t"].iter().for_each(|s| fs::create_dir(temp.path(s)).unwrap());
        let output = match out {
            Out::Stdout => OutputTarget::Stdout,
            Out::Deep => OutputTarget::Directory(temp.path("a/b/out")),
            _ => OutputTarget::Directory(temp.path("out")),
        };
        let inputs = match &spec.inputs[..] {
            [] => vec![temp.path("in").to_string_lossy().into_owned()],
            names => names
                .iter()
                .map(|n| if n == "-" { n.clone() } else { path(Path::new(n)).to_string_lossy().into_owned() })
                .collect(),
        };
        let spec = JobSpec {
            inputs,
            output,
            threads: Some(1),
            memory_bytes: Some(spec.memory_bytes.unwrap_or(2 << 20)),
            // Compression depends on the clock otherwise, and so would the Nth operation.
            spill_codec: SpillCodec::None,
            scratch_dirs: vec![temp.path("s").into(), temp.path("t").into()],
            side_files: spec.side_files.iter().map(|s| path(s)).collect(),
            overwrite: matches!(out, Out::Overwrite | Out::OverwriteInSteps),
            ..spec
        };
        let stdin = lines(300);
        let unordered = spec.mode == Mode::Grouped && !spec.deterministic;
        let open_max = if name.contains("few open") { 4 } else { 1024 };
        let (answer, names) = (Vec::new(), Vec::new());
        let mut case = Case { name, temp, spec, out, unordered, answer, stdin, open_max, names };
        case.reset();
        case.names = case.all_names();
        let streams = Streams::new(&case.stdin, 1024);
        let free = JobSpec { memory_bytes: Some(256 << 20), ..case.spec.clone() };
        run_in(&env(streams.clone()), &free).unwrap_or_else(|e| panic!("{name}: {e}"));
        case.answer = case.output(&streams);
        assert!(case.answer.iter().any(|(_, bytes)| !bytes.is_empty()), "{name}");
        case.reset();
        case
    }

    /// Returns the case with a changed job, and the answer of the changed job.
    pub fn changed(mut self, change: impl Fn(&mut JobSpec)) -> Case {
        change(&mut self.spec);
        let streams = Streams::new(&self.stdin, 1024);
        let free = JobSpec { memory_bytes: Some(256 << 20), resume: false, ..self.spec.clone() };
        run_in(&env(streams.clone()), &free).unwrap_or_else(|e| panic!("{}: {e}", self.name));
        self.answer = self.output(&streams);
        self.reset();
        self
    }

    /// Creates the earlier contents of the output.
    pub fn reset(&self) {
        for name in ["out", "a"] {
            let _ = fs::remove_dir_all(self.temp.path(name));
        }
        if self.spec.overwrite {
            self.temp.write("out/part-r-00000", OLDER);
        }
    }

    /// Runs the job while its operation `nth` fails.
    pub fn run(&self, nth: u64, fault: Fault) -> (Arc<FaultyFiles>, Arc<Streams>, Result<Outcome>) {
        self.run_over(|files| FaultyFiles::new(files, nth, false, fault))
    }

    /// Runs another job over the same files, without a fault.
    pub fn run_spec(&self, spec: &JobSpec) -> (Arc<Streams>, Result<Outcome>) {
        let streams = Streams::new(&self.stdin, self.open_max);
        let result = run_in(&env(streams.clone()), spec);
        (streams, result)
    }

    /// Runs the job over faulty files.
    pub fn run_over(
        &self,
        faulty: impl Fn(Arc<dyn Files>) -> FaultyFiles,
    ) -> (Arc<FaultyFiles>, Arc<Streams>, Result<Outcome>) {
        let streams = Streams::new(&self.stdin, self.open_max);
        let files: Arc<dyn Files> = match self.out {
            // The kind is also `Unsupported`.
            Out::OverwriteInSteps => {
                let none = Fault::Errno(libc::ENOSYS);
                Arc::new(FaultyFiles::only(streams.clone(), 1, true, none, |s| s.operation == Operation::Exchange))
            }
            _ => streams.clone(),
        };
        let faulty = Arc::new(faulty(files));
        let result = run_in(&env(faulty.clone()), &self.spec);
        (faulty, streams, result)
    }

    /// The names and bytes of the output.
    fn output(&self, streams: &Streams) -> Vec<(String, Vec<u8>)> {
        let OutputTarget::Directory(out) = &self.spec.output else {
            return vec![("-".into(), streams.written())];
        };
        let mut parts: Vec<(String, Vec<u8>)> = fs::read_dir(out)
            .unwrap_or_else(|e| panic!("{}: no output: {e}", self.name))
            .map(|e| e.unwrap().path())
            .filter(|path| path.is_file())
            .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
            .collect();
        parts.sort();
        assert!(parts.iter().any(|(name, _)| name == "_SUCCESS"), "{}", self.name);
        if self.unordered {
            for (_, bytes) in &mut parts {
                let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&b| b == b'\n').collect();
                lines.sort();
                *bytes = lines.concat();
            }
        }
        parts
    }

    /// Expects the right answer and nothing else.
    pub fn expect_answer(&self, streams: &Streams, what: &str) {
        assert!(self.output(streams) == self.answer, "{}, {what}: another answer", self.name);
        self.reset();
        self.expect_names(what);
    }

    /// Expects that an older output is whole, and that nothing else exists.
    pub fn expect_nothing(&self, streams: &Streams, what: &str) {
        let name = self.name;
        if self.out == Out::Stdout {
            let (written, answer) = (streams.written(), &self.answer[0].1);
            assert!(answer.starts_with(&written), "{name}, {what}: the written bytes are not a prefix of the answer");
        }
        if self.spec.overwrite {
            let older = fs::read(self.temp.path("out/part-r-00000"));
            assert!(older.is_ok_and(|bytes| bytes == OLDER), "{name}, {what}: the older output is gone");
        }
        self.expect_names(what);
    }

    fn expect_names(&self, what: &str) {
        let now = self.all_names();
        let more: Vec<&PathBuf> = now.iter().filter(|p| !self.names.contains(p)).collect();
        let gone: Vec<&PathBuf> = self.names.iter().filter(|p| !now.contains(p)).collect();
        assert!(more.is_empty() && gone.is_empty(), "{}, {what}: left: {more:?}, gone: {gone:?}", self.name);
    }

    fn all_names(&self) -> Vec<PathBuf> {
        let mut names = Vec::new();
        let mut open = vec![self.temp.path("")];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path.clone());
                }
                names.push(path);
            }
        }
        names.sort();
        names
    }
}

fn env(files: Arc<dyn Files>) -> Env {
    Env { files, cache_dir: None, maps_files: true, ..Env::real() }
}

/// Returns the lines as a file in this codec.
pub fn compressed(target: Target, text: &[u8]) -> Vec<u8> {
    let temp = Temp::new("codec");
    let spec = JobSpec {
        inputs: vec![temp.write("in", text)],
        output: OutputTarget::Directory(temp.path("out")),
        mode: Mode::None,
        output_format: OutputFormat::Text { separator: b"".to_vec() },
        compress: Some(Compression { target, level: None }),
        ..JobSpec::default()
    };
    run_in(&env(Arc::new(RealFiles)), &spec).unwrap();
    fs::read(temp.path(&format!("out/part-m-00000{}", target.extension()))).unwrap()
}

type Make = Box<dyn Fn() -> Case + Send + Sync>;

/// All cases; each is made by the thread that sweeps it.
pub fn all() -> Vec<Make> {
    let spec = JobSpec::default;
    let large = move || JobSpec { mapper: Some("Test.Large".into()), ..spec() };
    let words = move || JobSpec { mapper: Some("Test.Words".into()), ..spec() };
    let sums = move || JobSpec { folder: Some("Yunti.SumFolder".into()), ..words() };
    let columns = || Columns { key: vec!["a".into()], value: vec!["b".into()] };
    let mut all: Vec<Make> = Vec::new();
    let mut add = |make: Make| all.push(make);
    add(Box::new(move || {
        let none = JobSpec { mode: Mode::None, split_bytes: 2000, ..spec() };
        Case::new("none", &[("in/x", &lines(300)), ("in/y", &lines(100))], Out::Fresh, none)
    }));
    add(Box::new(move || Case::new("sorted in memory", &[("in", &lines(300))], Out::Fresh, spec())));
    add(Box::new(move || {
        let spec = JobSpec { reduces: 7, durable: true, ..spec() };
        Case::new("sorted to 7 parts, few open", &[("in", &lines(100))], Out::Fresh, spec)
    }));
    add(Box::new(move || {
        let durable = JobSpec { durable: true, reduces: 2, ..spec() };
        Case::new("sorted, durable, new directories", &[("in", &lines(100))], Out::Deep, durable)
    }));
    for (name, out) in
        [("sorted, overwritten", Out::Overwrite), ("sorted, overwritten in steps", Out::OverwriteInSteps)]
    {
        add(Box::new(move || Case::new(name, &[("in", &lines(100))], out, JobSpec { durable: true, ..spec() })));
    }
    add(Box::new(move || Case::new("sorted, spilled", &[("in", &lines(24))], Out::Fresh, large())));
    add(Box::new(move || {
        let spec = JobSpec { mapper: Some("Test.Long".into()), memory_bytes: Some(3 << 20), ..spec() };
        Case::new("sorted, merged in passes", &[("in", &lines(40))], Out::Fresh, spec)
    }));
    add(Box::new(move || {
        let spec = JobSpec { reduces: 3, partitioning: Partitioning::TotalOrder, ..large() };
        Case::new("total order of 3 parts, spilled", &[("in", &lines(24))], Out::Fresh, spec)
    }));
    add(Box::new(move || {
        let spec = JobSpec { mode: Mode::Grouped, ..application("wordcount") };
        Case::new("grouped tables", &[("in", &lines(300))], Out::Fresh, spec)
    }));
    add(Box::new(move || {
        let spec = JobSpec { mode: Mode::Grouped, ..sums() };
        Case::new("grouped tables, spilled", &[("in", &lines(40))], Out::Fresh, spec)
    }));
    add(Box::new(move || {
        Case::new("folder, sorted, in memory", &[("in", &lines(300))], Out::Fresh, application("wordcount"))
    }));
    add(Box::new(move || Case::new("folder, sorted, spilled", &[("in", &lines(40))], Out::Fresh, sums())));
    add(Box::new(move || {
        let sum = || Some("Test.Sum".into());
        let spec = JobSpec { combiner: sum(), reducer: sum(), ..words() };
        Case::new("combiner, spilled", &[("in", &lines(40))], Out::Fresh, spec)
    }));
    for target in Target::ALL {
        add(Box::new(move || {
            let file = format!("in{}", target.extension());
            let compress = Some(Compression { target, level: None });
            // Buffers of encoders count too.
            let spec = JobSpec { inputs: vec![file.clone()], compress, memory_bytes: Some(192 << 20), ..spec() };
            Case::new(target.name(), &[(&file, &compressed(target, &lines(400)))], Out::Fresh, spec)
        }));
    }
    add(Box::new(move || {
        let text: Vec<u8> = [b"a,b\n".to_vec(), lines(150)].concat();
        let input_format = InputFormat::Csv { separator: b',', header: true };
        let settings = [("skip.bad.records".to_string(), "true".to_string())].into();
        let csv = JobSpec { input_format, columns: columns(), settings, ..spec() };
        let text = String::from_utf8(text).unwrap().replace("line ", "\"li,ne\",");
        Case::new("csv", &[("in", text.as_bytes())], Out::Fresh, csv)
    }));
    add(Box::new(move || {
        let text: String = (0..150).map(|i| format!("{{\"a\":\"k{}\",\"b\":{i}}}\n", i * 31 % 97)).collect();
        let json = JobSpec { input_format: InputFormat::Json, columns: columns(), ..spec() };
        Case::new("json", &[("in", text.as_bytes())], Out::Fresh, json)
    }));
    add(Box::new(move || {
        let format = InputFormat::Fixed { record_bytes: 10, key_bytes: 4 };
        let fixed = JobSpec { input_format: format, output_format: OutputFormat::Framed, ..spec() };
        Case::new("fixed to framed", &[("in", &lines(300)[..2500])], Out::Fresh, fixed)
    }));
    add(Box::new(move || {
        let inputs = vec!["dir*/x/*.txt".to_string()];
        let side_files = vec!["stop".into(), "more".into()];
        let spec = JobSpec { inputs, side_files, ..application("wordcount") };
        let text = lines(50);
        let files: [(&str, &[u8]); 5] = [
            ("dir1/x/1.txt", &text),
            ("dir2/x/2.txt", &text),
            ("dir2/x/3.csv", &text),
            ("stop", b"a\n"),
            ("more", b"b"),
        ];
        Case::new("side files, a glob", &files, Out::Fresh, spec)
    }));
    add(Box::new(move || {
        let settings = [("join.small".to_string(), "small".to_string()), ("separator".into(), " ".into())].into();
        let spec = JobSpec {
            side_files: vec!["small".into()],
            memory_bytes: Some(8 << 20),
            settings,
            ..application("hash-join")
        };
        Case::new("hash join", &[("in", &lines(60)), ("small", &lines(40))], Out::Fresh, spec)
    }));
    add(Box::new(move || {
        // One key, with more lines on both sides than a debug build holds in memory.
        let settings = [("join.left".to_string(), "in/l".to_string()), ("separator".into(), " ".into())].into();
        let spec = JobSpec { settings, ..application("join") };
        Case::new("join, a hot key on scratch", &[("in/l", &lines(90)), ("in/r", &lines(110))], Out::Fresh, spec)
    }));
    add(Box::new(move || {
        let then = vec![JobSpec { mode: Mode::None, ..spec() }, JobSpec { descending: true, ..spec() }];
        Case::new(
            "a chain, in memory",
            &[("in", &lines(100))],
            Out::Fresh,
            JobSpec { reduces: 2, then, memory_bytes: Some(8 << 20), ..spec() },
        )
    }));
    add(Box::new(move || {
        let then = vec![JobSpec { split_bytes: 200 << 10, ..spec() }];
        let first = JobSpec { mode: Mode::None, memory_bytes: Some(3 << 20), then, ..large() };
        Case::new("a chain, spilled", &[("in", &lines(24))], Out::Overwrite, first)
    }));
    add(Box::new(move || {
        let settings = [("order.fields".to_string(), "1r".to_string())].into();
        let spec = JobSpec { key_order: Some("Yunti.FieldOrder".into()), settings, reduces: 2, ..large() };
        Case::new("order of fields, spilled", &[("in", &lines(24))], Out::Fresh, spec)
    }));
    add(Box::new(move || {
        let output_format = OutputFormat::Csv { separator: b',', header: true };
        let output_columns = Columns { key: vec!["line".into()], value: Vec::new() };
        let spec = JobSpec { output_format, output_columns, reduces: 2, ..spec() };
        Case::new("columns as output", &[("in", &lines(100))], Out::Fresh, spec)
    }));
    add(Box::new(move || {
        let spec = JobSpec { inputs: vec!["-".into()], ..spec() };
        Case::new("from a stream to a stream", &[], Out::Stdout, spec)
    }));
    all
}
