//! Chains of jobs give the same output as single jobs with files between them.

use std::sync::Arc;

use yunti_base::Code;
use yunti_engine::env::Env;
use yunti_engine::env::faulty::{Fault, FaultyFiles};
use yunti_engine::env::real::RealFiles;
use yunti_engine::job::spec::file::{parse_job_file, spec_to_toml};
use yunti_engine::job::spec::{Mode, Partitioning, SourceSpec};
use yunti_engine::job::{InputFormat, JobSpec, OutputFormat, OutputTarget};

use crate::support::{Temp, noise, parts_of, read_parts, run_in};

/// Chain that counts how often each count occurs.
fn counts_of_counts(input: &str) -> JobSpec {
    JobSpec {
        name: "words".into(),
        inputs: vec![input.into()],
        mapper: Some("Yunti.WordCountMapper".into()),
        folder: Some("Yunti.SumFolder".into()),
        reduces: 3,
        then: vec![JobSpec {
            name: "lengths".into(),
            mapper: Some("Yunti.WordLengthMapper".into()),
            folder: Some("Yunti.SumFolder".into()),
            ..JobSpec::default()
        }],
        ..JobSpec::default()
    }
}

#[test]
fn chain_equals_its_jobs_run_separately() {
    let temp = Temp::new("chains");
    let text: Vec<u8> = noise(11, 60_000).iter().map(|b| if b % 6 == 0 { b' ' } else { b'a' + b % 13 }).collect();
    let input = temp.write("in", &text);
    let classes = |mapper: Option<&str>, reducer: Option<&str>, folder: Option<&str>| JobSpec {
        mapper: mapper.map(Into::into),
        reducer: reducer.map(Into::into),
        folder: folder.map(Into::into),
        ..JobSpec::default()
    };
    let count = JobSpec { reduces: 3, ..classes(Some("Yunti.WordCountMapper"), None, Some("Yunti.SumFolder")) };
    let chains: [Vec<JobSpec>; 4] = [
        // Numbers stay numbers between jobs.
        vec![count.clone(), JobSpec { key_type: None, ..classes(None, Some("Yunti.MaxReducer"), None) }],
        vec![
            count.clone(),
            JobSpec { mode: Mode::None, ..classes(None, None, None) },
            JobSpec { descending: true, ..classes(None, None, Some("Yunti.SumFolder")) },
        ],
        vec![
            JobSpec { mode: Mode::None, ..classes(Some("Yunti.IdentityMapper"), None, None) },
            JobSpec {
                partitioning: Partitioning::TotalOrder,
                reduces: 2,
                ..classes(None, Some("Yunti.DistinctReducer"), None)
            },
            JobSpec { mode: Mode::Grouped, ..classes(None, Some("Yunti.DistinctReducer"), None) },
        ],
        vec![
            JobSpec { mode: Mode::Grouped, ..count.clone() },
            classes(None, None, None),
            classes(None, Some("Yunti.SumReducer"), None),
        ],
    ];
    for (c, jobs) in chains.iter().enumerate() {
        for (memory, threads, split) in [(256 << 20, 2, 16 << 20), (8 << 20, 1, 4 << 10), (24 << 20, 3, 10 << 10)] {
            let what = format!("chain {c}, {memory} {threads} {split}");
            let whole = JobSpec {
                inputs: vec![input.clone()],
                memory_bytes: Some(memory),
                threads: Some(threads),
                split_bytes: split,
                then: jobs[1..].iter().map(|job| JobSpec { split_bytes: split, ..job.clone() }).collect(),
                ..jobs[0].clone()
            };
            let got = parts_of(&whole, &temp.path("out")).expect(&what);
            // The same jobs separately, through files of framed records.
            let (mut inputs, mut format, mut types) =
                (vec![input.clone()], InputFormat::Text { delimiter: None }, None);
            for (i, job) in jobs.iter().enumerate() {
                let out = temp.path(&format!("step-{i}"));
                let last = i + 1 == jobs.len();
                let spec = JobSpec {
                    inputs: inputs.clone(),
                    input_format: format.clone(),
                    input_types: types,
                    output: OutputTarget::Directory(out.clone()),
                    output_format: if last { JobSpec::default().output_format } else { OutputFormat::Framed },
                    overwrite: true,
                    ..job.clone()
                };
                run_in(&Env::real(), &spec).expect(&what);
                types = match c {
                    2 => Some((yunti_engine::operator::Type::Bytes, yunti_engine::operator::Type::None)),
                    _ => Some((yunti_engine::operator::Type::Bytes, yunti_engine::operator::Type::I64)),
                };
                (inputs, format) = (vec![out.to_string_lossy().into_owned()], InputFormat::Framed);
            }
            let expect = read_parts(inputs[0].as_ref());
            let lines = |parts: Vec<Vec<u8>>| {
                let mut all: Vec<Vec<u8>> =
                    parts.concat().split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
                all.sort();
                all
            };
            match jobs.last().map(|j| j.mode) {
                Some(Mode::Grouped) => assert!(lines(got) == lines(expect), "{what}"),
                _ => assert!(got == expect, "{what}"),
            }
        }
    }
    // Only the outputs remain.
    assert_eq!(temp.names(), ["in", "out", "step-0", "step-1", "step-2"]);
}

#[test]
fn chain_reports_each_job_and_splits_held_outputs() {
    let temp = Temp::new("chains-report");
    let input = temp.write("in", "one two three two\n".repeat(200_000).as_bytes());
    let spec = JobSpec {
        mapper: Some("Yunti.IdentityMapper".into()),
        mode: Mode::None,
        folder: None,
        split_bytes: 4 << 20,
        memory_bytes: Some(64 << 20),
        then: vec![JobSpec { name: "second".into(), split_bytes: 50 << 10, mode: Mode::None, ..JobSpec::default() }],
        output: OutputTarget::Directory(temp.path("out")),
        ..counts_of_counts(&input)
    };
    let report = run_in(&Env::real(), &spec).unwrap().report;
    let [first] = &report.before[..] else { panic!("one job is before the last") };
    assert_eq!((first.job.name.as_str(), report.job.name.as_str()), ("words", "second"));
    assert_eq!((first.job.input_records, first.job.output_records), (200_000, 200_000));
    assert_eq!((report.job.input_records, report.job.output_records), (200_000, 200_000));
    assert!(
        report.job.splits > first.job.splits,
        "a part of several splits: {} {}",
        report.job.splits,
        first.job.splits
    );
    assert_eq!(report.held_spilled_bytes, 0);
    // With little memory, held outputs spill to the disk and the output is the same.
    let expect = read_parts(&temp.path("out")).concat();
    let small = JobSpec { memory_bytes: Some(4 << 20), threads: Some(1), overwrite: true, ..spec };
    let splits = report.job.splits;
    let report = run_in(&Env::real(), &small).unwrap().report;
    assert!(report.held_spilled_bytes > 0);
    assert_eq!(report.job.splits, splits, "splits do not depend on the memory");
    assert!(read_parts(&temp.path("out")).concat() == expect);
}

#[test]
fn errors_of_later_jobs_are_reported_before_the_first_begins() {
    let temp = Temp::new("chains-wrong");
    let input = temp.write("in", b"a b\n");
    let spec = counts_of_counts(&input);
    let fails = |spec: &JobSpec| {
        let spec = JobSpec { output: OutputTarget::Directory(temp.path("out")), ..spec.clone() };
        let error = run_in(&Env::real(), &spec).unwrap_err();
        assert_eq!(temp.names(), ["in"]);
        error
    };
    let with = |job: JobSpec| JobSpec { then: vec![job], ..spec.clone() };
    let error = fails(&with(JobSpec { name: "x".into(), mapper: Some("Yunti.None".into()), ..JobSpec::default() }));
    assert!(error.to_string().starts_with("job 2 of 2 (x): there is no class Yunti.None"), "{error}");
    let error = fails(&with(JobSpec { folder: Some("Yunti.SumDoubleFolder".into()), ..JobSpec::default() }));
    assert!(error.to_string().contains("takes values of type f64: the mapper emits i64"), "{error}");
    let error = fails(&with(JobSpec { key_order: Some("Yunti.FieldOrder".into()), ..JobSpec::default() }));
    assert!(error.to_string().contains("job 2 of 2"), "{error}");
    let taken = temp.path("in");
    let exists = JobSpec { output: OutputTarget::Directory(taken), ..spec.clone() };
    assert_eq!(run_in(&Env::real(), &exists).unwrap_err().code(), Code::Exists);
}

#[test]
fn job_files_describe_chains() {
    let text = "format = \"yunti-job/1\"\napplication = \"wordcount\"\ninput = \"x\"\n\n[settings]\na = 1\n\n[[then]]\n\
                name = \"b\"\nmapper = \"A.M\"\n[then.settings]\nb = \"2\"\n\n\
                [[then]]\napplication = \"top\"\nreduces = 1\n";
    let file = parse_job_file(text, "job.toml".as_ref()).unwrap();
    let mut spec = JobSpec::default();
    file.change.apply(&mut spec).unwrap();
    assert_eq!(spec.then.len(), 2);
    assert_eq!((spec.then[0].name.as_str(), spec.then[0].settings["b"].as_str()), ("b", "2"));
    assert!(spec.then[1].mapper.is_some());
    assert!(spec_to_toml(&spec).unwrap().contains("[[then]]"));
    for (bad, expect) in [
        ("then = 1", "line 2: then: tables are expected"),
        ("[[then]]\ninput = \"a\"", "line 3: 'input' is not a key of [[then]]"),
        ("[[then]]\nmode = \"x\"", "line 3: mode: unknown mode"),
        ("[[then]]\napplication = \"x\"", "line 3: application: unknown name"),
    ] {
        let error = parse_job_file(&format!("format = \"yunti-job/1\"\n{bad}\n"), "job.toml".as_ref()).unwrap_err();
        assert!(error.to_string().starts_with(expect), "{error}");
    }
}

#[test]
fn only_the_last_job_has_named_outputs() {
    let temp = Temp::new("chains-outputs");
    let input = temp.write("in", b"ab\t1\na\t2\nb\t3\n");
    let work = JobSpec { reducer: Some("Test.AsideReducer".into()), ..JobSpec::default() };
    let mut spec = JobSpec {
        inputs: vec![input],
        input_format: InputFormat::KeyValue { separator: b'\t' },
        // Framed like held records, so that a reader could confuse them.
        outputs: [("aside".into(), OutputFormat::Framed)].into(),
        output: OutputTarget::Directory(temp.path("out")),
        then: vec![JobSpec { mode: Mode::None, ..JobSpec::default() }, work.clone()],
        ..JobSpec::default()
    };
    run_in(&Env::real(), &spec).unwrap();
    assert_eq!(read_parts(&temp.path("out")).concat(), b"ab\t1\nb\t3\n");
    assert_eq!(std::fs::read(temp.path("out/aside-r-00000")).unwrap(), b"\0\0\0\x01\0\0\0\x01a2");
    (spec.reducer, spec.overwrite) = (work.reducer, true);
    let error = run_in(&Env::real(), &spec).unwrap_err();
    assert_eq!(error.code(), Code::UserCode);
    let said = "job 1 of 3 (job): the job has no output aside: ";
    assert!(
        error.to_string().starts_with(said) && error.to_string().contains("in a chain, only the last job has"),
        "{error}"
    );
}

#[test]
fn chain_of_several_sources_survives_interrupted_operations() {
    let temp = Temp::new("chains-sources");
    let source = |name: &str| SourceSpec {
        inputs: vec![temp.write(name, b"a\tb\n")],
        input_format: InputFormat::KeyValue { separator: b'\t' },
        columns: Default::default(),
        mapper: None,
    };
    let spec = JobSpec {
        sources: vec![source("one"), source("two")],
        then: vec![JobSpec::default()],
        overwrite: true,
        output: OutputTarget::Directory(temp.path("out")),
        ..JobSpec::default()
    };
    // Any one operation is interrupted.
    for nth in 1..200 {
        let files = FaultyFiles::new(Arc::new(RealFiles), nth, false, Fault::Errno(libc::EINTR));
        let env = Env { files: Arc::new(files), ..Env::real() };
        run_in(&env, &spec).unwrap_or_else(|e| panic!("operation {nth}: {e}"));
    }
}
