//! Healthy jobs: their reports name none of the known causes.

use yunti_engine::codec::encode::{Compression, Target};
use yunti_engine::env::random::Random;
use yunti_engine::format::columns::Columns;
use yunti_engine::job::{InputFormat, JobSpec, Mode, OutputFormat};

use crate::ground::{CAUSES, Ground, application, describe, map_only, measure_others, text};

const MIB: usize = 1 << 20;

/// Runs a job that is long enough for advice, and checks that no rule names a cause.
fn check(ground: &Ground, spec: JobSpec) {
    let spec = JobSpec { split_bytes: spec.split_bytes.min(MIB as u64), ..spec };
    let (others, (report, _)) = measure_others(|| ground.run_long(spec));
    let is_named = |rule: &str| report.advice.iter().any(|a| a.rule == rule);
    for rule in CAUSES {
        // There may be a busy neighbour in fact.
        let is_true = rule == "busy-neighbour" && others > 0.1;
        assert!(
            !is_named(rule) || is_true,
            "{rule} is named; other programs used {others:.2} of the processors\n{}",
            describe(&report)
        );
    }
    println!(
        "{} ({:.0} ms): {:?}",
        report.job.name,
        report.job.wall_ms,
        report.advice.iter().map(|a| &a.rule).collect::<Vec<_>>()
    );
}

#[test]
fn word_count() {
    let ground = Ground::new("wordcount");
    let input = ground.write("in", &text(12 * MIB));
    check(&ground, JobSpec { inputs: vec![input], reduces: 2, ..application("wordcount") });
}

#[test]
fn sort() {
    let ground = Ground::new("sort");
    let input = ground.write("in", &text(12 * MIB));
    check(&ground, JobSpec { inputs: vec![input], reduces: 2, ..application("sort") });
}

#[test]
fn terasort() {
    let ground = Ground::new("terasort");
    let mut random = Random::new(5);
    let bytes: Vec<u8> = (0..20 * MIB / 8).flat_map(|_| random.next_u64().to_le_bytes()).collect();
    let input = ground.write("in", &bytes[..bytes.len() / 100 * 100]);
    check(&ground, JobSpec { inputs: vec![input], reduces: 4, ..application("terasort") });
}

#[test]
fn grouped_fold() {
    let ground = Ground::new("fold");
    let input = ground.write("in", &text(12 * MIB));
    check(&ground, JobSpec { inputs: vec![input], mode: Mode::Grouped, ..application("wordcount") });
}

#[test]
fn maps_alone_with_a_class() {
    let ground = Ground::new("map");
    let input = ground.write("in", &text(16 * MIB));
    check(&ground, JobSpec { inputs: vec![input], ..map_only("Test.Pass") });
}

#[test]
fn csv_to_json() {
    let ground = Ground::new("csv");
    let mut csv = String::from("id,name,n\n");
    for i in 0..50_000 {
        csv += &format!("{i},\"name, {i}\",{}\n", i % 100);
    }
    // CSV cannot be split, so one file would itself be a cause.
    for i in 0..8 {
        ground.write(&format!("in/{i}.csv"), csv.as_bytes());
    }
    let columns = Columns { key: vec!["id".into()], value: vec!["name".into(), "n".into()] };
    let spec = JobSpec {
        inputs: vec![ground.text_path("in")],
        input_format: InputFormat::Csv { separator: b',', header: true },
        columns: columns.clone(),
        output_format: OutputFormat::Json,
        output_columns: columns,
        ..application("identity")
    };
    check(&ground, spec);
}

#[test]
fn several_compressed_files() {
    let ground = Ground::new("gzip");
    let mut packed = Vec::new();
    let mut encoder = Compression { target: Target::Gzip, level: Some(1) }.encoder().unwrap();
    encoder.write(&text(3 * MIB), &mut packed).unwrap();
    encoder.finish(&mut packed).unwrap();
    for i in 0..8 {
        ground.write(&format!("in/{i}.gz"), &packed);
    }
    check(&ground, JobSpec { inputs: vec![ground.text_path("in")], ..application("wordcount") });
}

#[test]
fn reducer_with_even_groups() {
    let ground = Ground::new("groups");
    let line = |i: u32| format!("key{:04}\tvalue {i}\n", i.wrapping_mul(2_654_435_761) % 5000);
    let input = ground.write("in", (0..400_000).map(line).collect::<String>().as_bytes());
    let spec = JobSpec {
        name: "even groups".into(),
        inputs: vec![input],
        input_format: InputFormat::KeyValue { separator: b'\t' },
        mapper: Some("Test.Pass".into()),
        reducer: Some("Test.Count".into()),
        reduces: 2,
        ..JobSpec::default()
    };
    check(&ground, spec);
}
