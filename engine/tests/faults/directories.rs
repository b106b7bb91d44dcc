//! Every operation on files is made to fail, the Nth for every N: the right answer or one clean error, and nothing left.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use yunti_engine::base::{Code, Result};
use yunti_engine::env::faulty::{Fault, FaultyFiles};
use yunti_engine::env::files::{File, Meta};
use yunti_engine::env::real::RealFiles;
use yunti_engine::env::{Env, Files};
use yunti_engine::job::{InputFormat, JobSpec, Mode, OutputTarget, Partitioning, SpillCodec, applications};

use crate::support::{Temp, read_parts, run_in};

const EIO: Fault = Fault::Errno(libc::EIO);
const FULL: Fault = Fault::Errno(libc::ENOSPC);

/// Takes some kinds of files from `faulty`, all else from the real ones.
struct Partly {
    faulty: Arc<FaultyFiles>,
    /// Scratch files in this directory (any, where it is empty), else the files that are read.
    scratch: Option<PathBuf>,
}

impl Files for Partly {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        if self.scratch.is_none() { self.faulty.open(path) } else { RealFiles.open(path) }
    }
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        RealFiles.create(path)
    }
    fn scratch(&self, dir: &Path) -> io::Result<Arc<dyn File>> {
        match &self.scratch {
            Some(only) if dir.ends_with(only) => self.faulty.scratch(dir),
            _ => RealFiles.scratch(dir),
        }
    }
    fn stdin(&self) -> Arc<dyn File> {
        RealFiles.stdin()
    }
    fn stdout(&self) -> Arc<dyn File> {
        RealFiles.stdout()
    }
    fn meta(&self, path: &Path) -> io::Result<Meta> {
        RealFiles.meta(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        RealFiles.list(dir)
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        RealFiles.create_dir(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealFiles.rename(from, to)
    }
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        RealFiles.exchange(a, b)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        RealFiles.remove_file(path)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        RealFiles.remove_dir(path)
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        RealFiles.remove_dir_all(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        RealFiles.sync_dir(path)
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        RealFiles.free_bytes(path)
    }
}

/// A job on a small input, its right answer, and a directory in which nothing else is.
struct Case {
    temp: Temp,
    spec: JobSpec,
    answer: Vec<Vec<u8>>,
    names: Vec<String>,
    scratch: Vec<PathBuf>,
}

impl Case {
    fn new(name: &str, input: (&str, &[u8]), scratch: &[&str], spec: JobSpec, spills: bool) -> Case {
        let temp = Temp::new(name);
        let input = temp.write(input.0, input.1);
        let scratch: Vec<PathBuf> = scratch.iter().map(|s| temp.path(s)).collect();
        scratch.iter().for_each(|s| std::fs::create_dir(s).unwrap());
        let spec = JobSpec {
            inputs: vec![input],
            threads: Some(1),
            memory_bytes: Some(2 << 20),
            // What is compressed depends on the clock otherwise, and with it which operation is the Nth.
            spill_codec: SpillCodec::None,
            scratch_dirs: scratch.clone(),
            output: OutputTarget::Directory(temp.path("out")),
            ..spec
        };
        let names = temp.names();
        let mut case = Case { temp, spec, answer: Vec::new(), names, scratch };
        let free = JobSpec { memory_bytes: Some(1 << 30), ..case.spec.clone() };
        run_in(&Env::real(), &free).unwrap();
        case.answer = case.take_output();
        let outcome = run_in(&Env::real(), &case.spec).unwrap();
        assert_eq!(outcome.report.spill.runs > 1, spills, "{name}: {} runs", outcome.report.spill.runs);
        assert!(case.take_output() == case.answer, "{name}");
        case
    }

    fn take_output(&self) -> Vec<Vec<u8>> {
        let parts = read_parts(&self.temp.path("out"));
        std::fs::remove_dir_all(self.temp.path("out")).unwrap();
        parts
    }

    /// Runs the job over these files: either the right answer, or an error of one line; and nothing is left.
    fn run(&self, files: Arc<dyn Files>, what: &str) -> Result<()> {
        let result = run_in(&Env { files, ..Env::real() }, &self.spec).map(|_| ());
        match &result {
            Ok(()) => assert!(self.take_output() == self.answer, "{what}: another answer"),
            Err(e) => {
                let told = e.to_string();
                assert!(!told.contains('\n') && e.code() != Code::Internal, "{what}: {told}");
                assert!(e.path().is_some(), "{what}: no file is named: {told}");
            }
        }
        assert_eq!(self.temp.names(), self.names, "{what}: {result:?}");
        for dir in &self.scratch {
            assert_eq!(std::fs::read_dir(dir).unwrap().count(), 0, "{what}");
        }
        result
    }

    /// Makes each operation fail in turn, until there is none left to fail; returns how many there are.
    fn each(
        &self,
        fault: Fault,
        sticky: bool,
        wrap: &dyn Fn(Arc<FaultyFiles>) -> Arc<dyn Files>,
        codes: &[Code],
    ) -> u64 {
        for nth in 1.. {
            let faulty = Arc::new(FaultyFiles::new(Arc::new(RealFiles), nth, sticky, fault));
            let what = format!("operation {nth}, {fault:?}, sticky: {sticky}");
            if let Err(e) = self.run(wrap(faulty.clone()), &what) {
                assert!(codes.contains(&e.code()), "{what}: {:?}: {e}", e.code());
            }
            if faulty.operations() < nth {
                return nth - 1;
            }
        }
        0
    }

    fn all_faults(&self) {
        let all: &dyn Fn(Arc<FaultyFiles>) -> Arc<dyn Files> = &|files| files;
        let operations = self.each(EIO, false, all, &[Code::Input, Code::Output]);
        assert!(operations > 15, "{operations} operations");
        self.each(FULL, true, all, &[Code::Input, Code::Output]);
        self.each(Fault::Short, false, all, &[]);
        self.each(Fault::Short, true, all, &[]);
        // A block of scratch that is torn or turned is found by its checksum. (Of the user's own text nobody could tell.)
        let scratch: &dyn Fn(Arc<FaultyFiles>) -> Arc<dyn Files> =
            &|faulty| Arc::new(Partly { faulty, scratch: Some(PathBuf::new()) });
        self.each(Fault::Torn, false, scratch, &[Code::Corrupt]);
    }
}

fn lines(n: usize) -> Vec<u8> {
    (0..n).flat_map(|i| format!("line {i}\n").into_bytes()).collect()
}

fn large() -> JobSpec {
    JobSpec { mapper: Some("Test.Large".into()), ..JobSpec::default() }
}

#[test]
fn a_sort_that_spills() {
    Case::new("fault-sort", ("in", &lines(24)), &["s"], large(), true).all_faults();
}

#[test]
fn a_sort_that_spills_to_two_directories() {
    let spec = JobSpec { reduces: 2, partitioning: Partitioning::TotalOrder, ..large() };
    Case::new("fault-two", ("in", &lines(24)), &["s", "t"], spec, true).all_faults();
}

#[test]
fn a_fold_that_evicts() {
    let spec =
        JobSpec { mapper: Some("Test.Words".into()), folder: Some("Yunti.SumFolder".into()), ..JobSpec::default() };
    Case::new("fault-fold", ("in", &lines(40)), &["s", "t"], spec, true).all_faults();
}

#[test]
fn maps_alone_and_compressed_input() {
    let spec = JobSpec { mode: Mode::None, split_bytes: 2000, ..JobSpec::default() };
    Case::new("fault-map", ("in/a", &lines(600)), &["s"], spec, false).all_faults();

    let wordcount = (applications().iter().find(|a| a.name == "wordcount").unwrap().spec)();
    // `seq 1 400 | gzip -9n`, made once with gzip 1.12.
    let gz = Case::new("fault-gz", ("in.gz", include_bytes!("seq400.gz")), &["s"], wordcount.clone(), false);
    let inputs: &dyn Fn(Arc<FaultyFiles>) -> Arc<dyn Files> = &|faulty| Arc::new(Partly { faulty, scratch: None });
    gz.all_faults();
    gz.each(Fault::Torn, false, inputs, &[Code::Corrupt]);

    // Torn text cannot be told from other text, but it must do no harm.
    let fixed = InputFormat::Fixed { record_bytes: 10, key_bytes: 4 };
    for spec in [wordcount, JobSpec { input_format: fixed, ..JobSpec::default() }] {
        let case = Case::new("fault-text", ("in", &lines(1000)[..8000]), &["s"], spec, false);
        for nth in 1..60 {
            let files = FaultyFiles::new(Arc::new(RealFiles), nth, false, Fault::Torn);
            let _ = run_in(&Env { files: Arc::new(files), ..Env::real() }, &case.spec);
            let _ = std::fs::remove_dir_all(case.temp.path("out"));
            assert_eq!(case.temp.names(), case.names);
        }
    }
}

/// One directory that fails is none too few where another one is well.
#[test]
fn a_failing_directory_is_left_out() {
    let case = Case::new("fault-dir", ("in", &lines(40)), &["bad", "good"], large(), true);
    for fault in [EIO, FULL] {
        for nth in 1..12 {
            let faulty = Arc::new(FaultyFiles::new(Arc::new(RealFiles), nth, true, fault));
            let files = Partly { faulty, scratch: Some("bad".into()) };
            // What was written there before it failed cannot be read back.
            let result = case.run(Arc::new(files), &format!("from operation {nth} on, {fault:?}"));
            match result {
                Ok(()) => {}
                Err(e) => assert!(nth > 1 && e.to_string().contains("cannot read"), "{nth}: {e}"),
            }
        }
    }
    let faulty = Arc::new(FaultyFiles::new(Arc::new(RealFiles), 1, true, EIO));
    let files = Arc::new(Partly { faulty, scratch: Some("bad".into()) });
    let outcome = run_in(&Env { files, ..Env::real() }, &case.spec).unwrap();
    assert_eq!(outcome.report.spill.failed_directories, [case.temp.path("bad").to_string_lossy()]);
    assert!(case.take_output() == case.answer);
}
