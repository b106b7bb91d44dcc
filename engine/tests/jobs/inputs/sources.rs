//! Several sources, each with its format and mapper, give the same output as one source with all records.

use yunti_base::Code;
use yunti_engine::env::Env;
use yunti_engine::format::columns::Columns;
use yunti_engine::job::spec::file::parse_job_file;
use yunti_engine::job::spec::{Mode, Partitioning, SourceSpec};
use yunti_engine::job::{InputFormat, JobSpec, OutputTarget};

use crate::support::{Temp, noise, parts_of, run_in};

fn source(input: String, input_format: InputFormat) -> SourceSpec {
    SourceSpec { inputs: vec![input], input_format, columns: Columns::default(), mapper: None }
}

#[test]
fn each_source_has_its_own_format_and_mapper() {
    let temp = Temp::new("sources");
    let keys: Vec<String> = noise(3, 4000).iter().map(|b| format!("k{}", b % 60)).collect();
    let value = |i: usize, of: &str| format!("{of}{}", i % 7);
    let pairs = |from: usize, of: &str| -> Vec<(String, String)> {
        keys.iter().enumerate().skip(from).step_by(2).map(|(i, k)| (k.clone(), value(i, of))).collect()
    };
    let (left, right) = (pairs(0, "l"), pairs(1, "r,\""));
    let kv: String = left.iter().map(|(k, v)| format!("{k}\t{v}\n")).collect();
    let csv: String = right.iter().map(|(k, v)| format!("x,\"{}\",{k}\n", v.replace('"', "\"\""))).collect();
    let json: String = left.iter().map(|(k, v)| format!("{{\"key\":\"{k}\",\"v\":{{\"w\":\"j{v}\"}}}}\n")).collect();
    let sources = vec![
        source(temp.write("left/a.txt", kv.as_bytes()), InputFormat::KeyValue { separator: b'\t' }),
        SourceSpec {
            columns: Columns { key: vec!["id".into()], value: vec!["name".into()] },
            ..source(
                temp.write("right.csv", format!("z,name,id\n{csv}").as_bytes()),
                InputFormat::Csv { separator: b',', header: true },
            )
        },
        SourceSpec {
            columns: Columns { key: vec!["key".into()], value: vec!["v.w".into()] },
            mapper: Some("Yunti.IdentityMapper".into()),
            ..source(temp.write("more.json", json.as_bytes()), InputFormat::Json)
        },
    ];
    let all: Vec<(String, String)> = (left.iter().cloned())
        .chain(right.iter().cloned())
        .chain(left.iter().map(|(k, v)| (k.clone(), format!("j{v}"))))
        .collect();
    let one: String = all.iter().map(|(k, v)| format!("{k}\t{v}\n")).collect();
    let one = temp.write("one", one.as_bytes());
    for (memory, threads, split) in [(64 << 20, 1, 1 << 20), (64 << 20, 3, 1000), (4 << 20, 2, 3000)] {
        for reducer in [None, Some("Yunti.DistinctValuesReducer".to_string())] {
            for (mode, reduces, partitioning) in [
                (Mode::Sorted, 1, Partitioning::Hash),
                (Mode::Sorted, 3, Partitioning::TotalOrder),
                (Mode::None, 1, Partitioning::Hash),
            ] {
                let spec = JobSpec {
                    reducer: reducer.clone().filter(|_| mode != Mode::None),
                    mode,
                    reduces,
                    partitioning: partitioning.clone(),
                    memory_bytes: Some(memory),
                    threads: Some(threads),
                    split_bytes: split,
                    ..JobSpec::default()
                };
                let several = JobSpec { sources: sources.clone(), ..spec.clone() };
                let single = JobSpec {
                    inputs: vec![one.clone()],
                    input_format: InputFormat::KeyValue { separator: b'\t' },
                    ..spec
                };
                let what = format!("{memory} {threads} {split} {mode:?} {reduces} {reducer:?}");
                let got = parts_of(&several, &temp.path("several")).expect(&what);
                let expect = parts_of(&single, &temp.path("single")).expect(&what);
                // Bounds of a total order come from samples of other splits.
                assert!(got.concat() == expect.concat(), "{what}");
            }
        }
    }
}

#[test]
fn mappers_of_different_forms_share_a_fold_table() {
    let temp = Temp::new("sources-forms");
    let text = temp.write("text", &b"one two three\n".repeat(500));
    let pairs = temp.write("pairs", &b"x\tone two\n".repeat(300));
    let with = |mapper: &str, source: SourceSpec| SourceSpec { mapper: Some(mapper.into()), ..source };
    let spec = |second: &str| JobSpec {
        sources: vec![
            // Spans of text, with references into them.
            with("Yunti.WordCountMapper", source(text.clone(), InputFormat::Text { delimiter: None })),
            with(second, source(pairs.clone(), InputFormat::KeyValue { separator: b'\t' })),
        ],
        folder: Some("Yunti.SumFolder".into()),
        settings: [("grep.pattern".into(), "t[a-z]+".into())].into(),
        split_bytes: 700,
        ..JobSpec::default()
    };
    for (second, three, two) in [("Yunti.WordCountMapper", 500, 800), ("Yunti.MatchMapper", 500, 800)] {
        let out = parts_of(&spec(second), &temp.path("out")).unwrap().concat();
        let out = String::from_utf8(out).unwrap();
        assert!(
            out.contains(&format!("three\t{three}\n")) && out.contains(&format!("two\t{two}\n")),
            "{second}: {out}"
        );
    }
    let report =
        run_in(&Env::real(), &JobSpec { output: OutputTarget::Top(1), ..spec("Yunti.MatchMapper") }).unwrap().report;
    assert_eq!(report.job.classes["mapper"], "Yunti.WordCountMapper, Yunti.MatchMapper");
}

#[test]
fn reports_sources_that_do_not_fit() {
    let temp = Temp::new("sources-wrong");
    let input = temp.write("in", b"a\tb\n");
    let text = source(input.clone(), InputFormat::Text { delimiter: None });
    let pairs = source(input.clone(), InputFormat::KeyValue { separator: b'\t' });
    let fails = |spec: JobSpec| run_in(&Env::real(), &spec).unwrap_err();
    let both = JobSpec { sources: vec![text.clone(), pairs.clone()], ..JobSpec::default() };
    let error = fails(both.clone());
    assert!(error.to_string().starts_with("one source emits bytes and none, another bytes and bytes"), "{error}");
    let error = fails(JobSpec { inputs: vec![input.clone()], ..both.clone() });
    assert!(error.to_string().contains("takes inputs and mappers only from them"), "{error}");
    let error =
        fails(JobSpec { sources: vec![SourceSpec { inputs: Vec::new(), ..text.clone() }, text], ..both.clone() });
    assert!(error.to_string().contains("no input is named"), "{error}");
    let error = fails(JobSpec { sources: vec![SourceSpec { mapper: Some("No.Such".into()), ..pairs }], ..both });
    assert_eq!(error.code(), Code::UserCode);
}

#[test]
fn job_files_describe_sources() {
    let text = "format = \"yunti-job/1\"\napplication = \"wordcount\"\n[[source]]\ninput = \"a\"\nmapper = \"A.M\"\n\
                [[source]]\ninput = [\"b\", \"c\"]\ninput-format = \"csv\"\nkey-columns = \"id\"\n";
    let mut spec = JobSpec { mapper: Some("Yunti.WordCountMapper".into()), ..JobSpec::default() };
    parse_job_file(text, "job.toml".as_ref()).unwrap().change.apply(&mut spec).unwrap();
    assert_eq!((spec.sources.len(), &spec.mapper), (2, &None));
    assert_eq!(spec.sources[1].columns.key, ["id"]);
    let bad = "format = \"yunti-job/1\"\n[[source]]\nreducer = \"x\"\n";
    let error = parse_job_file(bad, "job.toml".as_ref()).unwrap_err().to_string();
    assert!(error.starts_with("line 3: 'reducer' is not a key of [[source]]"), "{error}");
}
