//! Jobs whose keys are directories: each has one file with the values of its key in the order of the input, whatever
//! the threads, memory and partitions.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use yunti_base::Code;
use yunti_engine::env::Env;
use yunti_engine::env::faulty::{Fault, FaultyFiles, Operation, Place, Step};
use yunti_engine::env::random::Random;
use yunti_engine::env::real::RealFiles;
use yunti_engine::format::columns::Columns;
use yunti_engine::job::spec::SPLIT_BYTES_DEFAULT;
use yunti_engine::job::{InputFormat, JobSpec, KEY_DIRECTORIES, Mode, OutputFormat, OutputTarget, application};

use crate::support::{Temp, parts_of, run_in};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

/// The job of `yunti convert --partition-by day,city` on a CSV file.
fn by_day_and_city(input: String, out: &Path) -> JobSpec {
    let mut spec = JobSpec {
        inputs: vec![input],
        input_format: InputFormat::Csv { separator: b',', header: true },
        columns: Columns { key: names(&["day", "city"]), value: names(&["id", "text"]) },
        output: OutputTarget::Directory(out.to_path_buf()),
        output_format: OutputFormat::Csv { separator: b',', header: true },
        output_columns: Columns { key: Vec::new(), value: names(&["id", "text"]) },
        mapper: Some("Yunti.KeyDirectoriesMapper".into()),
        mode: Mode::Sorted,
        overwrite: true,
        ..JobSpec::default()
    };
    spec.settings.insert(KEY_DIRECTORIES.into(), "day\ncity".into());
    spec
}

/// Returns the files below a directory by their paths in it, except those of the job itself.
fn tree(root: &Path) -> BTreeMap<String, String> {
    fn walk(dir: &Path, root: &Path, out: &mut BTreeMap<String, String>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            match path.is_dir() {
                true if name != "_yunti" => walk(&path, root, out),
                false if name != "_SUCCESS" => drop(out.insert(name, std::fs::read_to_string(&path).unwrap())),
                _ => {}
            }
        }
    }
    let mut out = BTreeMap::new();
    walk(root, root, &mut out);
    out
}

/// Returns a table of `rows` rows in `days` days, and the files that it becomes.
fn table(seed: u64, rows: usize, days: u64) -> (String, BTreeMap<String, String>) {
    let mut random = Random::new(seed);
    let cities = [("", "__HIVE_DEFAULT_PARTITION__"), ("Rome", "Rome"), ("a/b", "a%2Fb"), ("x=1%", "x%3D1%25")];
    let (mut csv, mut files) = ("day,id,city,text\n".to_string(), BTreeMap::new());
    for id in 0..rows {
        let (day, (city, escaped)) = (random.below(days), cities[random.below(4) as usize]);
        csv += &format!("{day},{id},{city},words of {id}\n");
        let file = files.entry(format!("day={day}/city={escaped}/part-r-00000")).or_insert("id,text\n".to_string());
        *file += &format!("{id},words of {id}\n");
    }
    (csv, files)
}

#[test]
fn each_directory_has_its_rows_in_their_order() {
    let temp = Temp::new("directories");
    for (rows, days) in [(0, 1), (1, 1), (500, 3), (30_000, 400)] {
        let (csv, expect) = table(rows as u64, rows, days);
        let input = temp.write("in.csv", csv.as_bytes());
        for (threads, reduces, split_bytes, memory_bytes) in
            [(1, 1, SPLIT_BYTES_DEFAULT, None), (3, 5, 3000, None), (2, 7, 20_000, Some(24 << 20))]
        {
            let spec = JobSpec {
                threads: Some(threads),
                reduces,
                split_bytes,
                memory_bytes,
                durable: threads == 3,
                ..by_day_and_city(input.clone(), &temp.path("out"))
            };
            let outcome = run_in(&Env::real(), &spec).unwrap();
            let found = tree(&temp.path("out"));
            assert!(found == expect, "{rows} rows, {threads} threads: {} files of {}", found.len(), expect.len());
            assert_eq!(outcome.report.job.output_records, rows as u64);
            let bytes: usize = expect.values().map(String::len).sum();
            assert_eq!(outcome.report.job.output_bytes, bytes as u64);
        }
    }
}

#[test]
fn compressed_files_are_whole() {
    let temp = Temp::new("directories");
    let (csv, expect) = table(7, 5000, 20);
    let input = temp.write("in.csv", csv.as_bytes());
    let compress = yunti_engine::job::spec::change::parse_compress("gzip").unwrap();
    let spec = JobSpec { compress, reduces: 3, ..by_day_and_city(input, &temp.path("out")) };
    run_in(&Env::real(), &spec).unwrap();
    for (name, text) in expect {
        let file = temp.path("out").join(format!("{name}.gz")).to_string_lossy().into_owned();
        let lines = JobSpec { inputs: vec![file], ..(application("identity").unwrap().spec)() };
        let read = parts_of(&lines, &temp.path("plain")).unwrap();
        assert_eq!(read.concat(), text.as_bytes(), "{name}");
    }
}

#[test]
fn a_failure_leaves_nothing() {
    let temp = Temp::new("directories");
    let (csv, _) = table(9, 2000, 30);
    let input = temp.write("in.csv", csv.as_bytes());
    let spec = JobSpec { overwrite: false, reduces: 3, durable: true, ..by_day_and_city(input, &temp.path("out")) };
    let before = temp.names();
    for operation in [Operation::CreateDir, Operation::Create, Operation::Write, Operation::Sync, Operation::SyncDir] {
        for nth in [2, 3, 10, 40] {
            let is_counted = move |step: &Step| step.operation == operation && step.place != Place::Scratch;
            let full = Fault::Errno(28);
            let files = Arc::new(FaultyFiles::only(Arc::new(RealFiles), nth, false, full, is_counted));
            let error = run_in(&Env { files, ..Env::real() }, &spec).map(|_| ()).expect_err("a fault is an error");
            assert_eq!(error.code(), Code::Output, "{operation:?} {nth}: {error}");
            assert_eq!(temp.names(), before, "{operation:?} {nth}: {error}");
        }
    }
}

#[test]
fn jobs_that_do_not_fit_are_refused() {
    let temp = Temp::new("directories");
    let input = temp.write("in.csv", b"day,id,city,text\n1,2,3,4\n");
    let fits = || by_day_and_city(input.clone(), &temp.path("out"));
    for (spec, expect) in [
        (JobSpec { mode: Mode::None, ..fits() }, "needs sorted records without a reduce"),
        (JobSpec { reducer: Some("Yunti.DistinctReducer".into()), ..fits() }, "needs sorted records"),
        (JobSpec { key_order: Some("Yunti.FieldOrder".into()), ..fits() }, "needs sorted records"),
        (JobSpec { output: OutputTarget::Stdout, ..fits() }, "in an output directory"),
        (JobSpec { resume: true, ..fits() }, "cannot be resumed"),
    ] {
        let error = run_in(&Env::real(), &spec).map(|_| ()).unwrap_err();
        assert!(error.code() == Code::Usage && error.to_string().contains(expect), "{error}");
    }
    // Without the mapper, keys may be anything.
    for key in ["..", "/etc", "a/../b", "."] {
        let input = temp.write("keys.csv", format!("key,id\n{key},1\n").as_bytes());
        let columns = Columns { key: names(&["key"]), value: names(&["id"]) };
        let output_columns = Columns { key: Vec::new(), value: names(&["id"]) };
        let spec = JobSpec { inputs: vec![input], mapper: None, columns, output_columns, ..fits() };
        let error = run_in(&Env::real(), &spec).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("is no path of a directory"), "{key}: {error}");
    }
}
