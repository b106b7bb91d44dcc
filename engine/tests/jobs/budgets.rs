//! The same bytes for any memory budget and any number of threads, and no files left behind.

use std::sync::Arc;

use yunti_base::Code;
use yunti_engine::env::metered::{FileTotals, Place};
use yunti_engine::env::{Env, MeteredFiles};
use yunti_engine::job::report::Report;
use yunti_engine::job::{Control, JobSpec, OutputTarget, SpillCodec, run};
use yunti_engine::library::builtin_classes;

use crate::support::{Temp, noise, parts_of, read_parts, run_in};

fn application(name: &str) -> JobSpec {
    (yunti_engine::job::application(name).unwrap().spec)()
}

#[test]
fn any_budget_gives_the_same_bytes() {
    let temp = Temp::new("budget");
    let mut text = noise(4, 12 << 20);
    for i in 0..text.len() {
        if text[i] < 20 {
            text[i] = b" \n"[i % 2];
        }
    }
    let input = temp.write("in", &text);
    std::fs::create_dir(temp.path("scratch")).unwrap();
    for name in ["sort", "wordcount"] {
        let spec = JobSpec {
            inputs: vec![input.clone()],
            split_bytes: 1 << 20,
            scratch_dirs: vec![temp.path("scratch").into()],
            ..application(name)
        };
        let free = parts_of(&JobSpec { memory_bytes: Some(1 << 30), ..spec.clone() }, &temp.path("out")).unwrap();
        for reduces in [1, 3] {
            let spec = JobSpec { reduces, ..spec.clone() };
            for (mib, threads, codec) in [(3, 1, SpillCodec::Lz4), (8, 2, SpillCodec::None), (12, 3, SpillCodec::Auto)]
            {
                let tight = JobSpec {
                    memory_bytes: Some(mib << 20),
                    threads: Some(threads),
                    spill_codec: codec,
                    ..spec.clone()
                };
                let got = parts_of(&tight, &temp.path("out")).unwrap();
                if reduces == 1 || name == "sort" {
                    assert!(got.concat() == free.concat(), "{name}, {mib} MiB, {threads} threads, {reduces} reduces");
                } else {
                    assert_eq!(got.concat().len(), free.concat().len());
                }
            }
        }
    }
    assert_eq!(std::fs::read_dir(temp.path("scratch")).unwrap().count(), 0);
    assert_eq!(temp.names(), ["in", "out", "scratch"]);
}

/// The memory of a running job shrinks and grows all the time; the output is the same, and the job keeps to it.
#[test]
fn memory_that_shrinks_while_the_job_runs() {
    let temp = Temp::new("elastic");
    let text: Vec<u8> =
        noise(5, 6 << 20).into_iter().map(|b| if b < 40 { b" \n"[usize::from(b % 2)] } else { b }).collect();
    let input = temp.write("in", &text);
    std::fs::create_dir(temp.path("scratch")).unwrap();
    for (name, combiner) in [("sort", false), ("wordcount", false), ("wordcount", true)] {
        let mut spec = JobSpec {
            inputs: vec![input.clone()],
            split_bytes: 1 << 20,
            memory_bytes: Some(64 << 20),
            threads: Some(2),
            scratch_dirs: vec![temp.path("scratch").into()],
            ..application(name)
        };
        if combiner {
            (spec.folder, spec.combiner, spec.reducer) =
                (None, Some("Yunti.SumReducer".into()), Some("Yunti.SumReducer".into()));
        }
        let expected = parts_of(&spec, &temp.path("out")).unwrap();
        let spec = JobSpec { output: OutputTarget::Directory(temp.path("out")), overwrite: true, ..spec };
        let control = Control::new();
        let over = std::sync::atomic::AtomicBool::new(false);
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                for turn in 0.. {
                    if over.load(std::sync::atomic::Ordering::Relaxed) {
                        break;
                    }
                    control.ask_for_memory([2 << 20, u64::MAX, 5 << 20, 1][turn % 4]);
                    std::thread::sleep(std::time::Duration::from_millis(7));
                }
            });
            let outcome = run(&spec, &Env::real(), &[builtin_classes()], &control);
            over.store(true, std::sync::atomic::Ordering::Relaxed);
            outcome.unwrap()
        });
        assert_eq!(read_parts(&temp.path("out")), expected, "{name}");
        assert!(outcome.report.memory.limits.len() > 1, "{name}: {:?}", outcome.report.memory);
    }
}

/// Memory comes back soon after the request, and the job spills instead.
#[test]
fn a_request_for_memory_is_followed() {
    let temp = Temp::new("asked");
    let input = temp.write("in", &noise(6, 24 << 20));
    let spec = JobSpec {
        inputs: vec![input],
        split_bytes: 1 << 20,
        memory_bytes: Some(256 << 20),
        threads: Some(1),
        output: OutputTarget::Directory(temp.path("out")),
        ..application("sort")
    };
    let control = Control::new();
    control.ask_for_memory(8 << 20);
    let outcome = run(&spec, &Env::real(), &[builtin_classes()], &control).unwrap();
    let map_peak = outcome.report.memory.samples.iter().map(|sample| sample.most_bytes).take(100).max();
    assert!(outcome.report.spill.runs > 1, "{:?}", outcome.report.spill);
    assert!(map_peak.is_some_and(|bytes| bytes < 24 << 20), "{:?}", outcome.report.memory.samples);
}

/// Runs a job and returns its report and the calls on its scratch files.
fn scratch_calls(spec: &JobSpec) -> (Report, FileTotals) {
    let real = Env::real();
    let files = Arc::new(MeteredFiles::new(real.files.clone(), real.clock.clone()));
    let outcome = run_in(&Env { files: files.clone(), ..real }, spec).unwrap();
    let scratch = files.totals().into_iter().find(|(place, _)| matches!(place, Place::Scratch(_)));
    (outcome.report, scratch.map_or(FileTotals::default(), |(_, totals)| totals))
}

#[test]
fn small_budgets_make_no_small_reads_and_writes_of_scratch() {
    let temp = Temp::new("calls");
    let mut text = noise(5, 12 << 20);
    for i in 0..text.len() {
        text[i] = if i % 64 == 63 { b'\n' } else { b'a' + text[i] % 26 };
    }
    let input = temp.write("in", &text);
    for (mib, threads) in [(4, 1), (6, 2), (8, 1), (8, 3), (12, 2)] {
        for reduces in [1, 7] {
            for codec in [SpillCodec::None, SpillCodec::Lz4] {
                let spec = JobSpec {
                    inputs: vec![input.clone()],
                    output: OutputTarget::Directory(temp.path("out")),
                    overwrite: true,
                    split_bytes: 1 << 20,
                    scratch_dirs: vec![temp.path("").into()],
                    memory_bytes: Some(mib << 20),
                    threads: Some(threads),
                    spill_codec: codec,
                    reduces,
                    ..application("sort")
                };
                let (report, calls) = scratch_calls(&spec);
                let case = format!("{mib} MiB, {threads} threads, {reduces} reduces, {codec:?}: {calls:?}");
                assert!(report.memory.peak_bytes <= mib << 20, "{case}");
                assert!(report.spill.runs > 0, "{case}");
                // A merge of runs has four slices a worker, at most.
                let merges = report.spill.rows.iter().filter(|row| row.kind == "merge").count() as u64;
                let slices = report.spill.runs + merges * 4 * threads as u64;
                // The last write of a slice may be small.
                assert!(calls.small_writes <= slices, "{case}, {slices} slices");
                assert!(calls.writes > 2 * slices, "{case}, {slices} slices");
                if codec == SpillCodec::None && reduces == 1 {
                    // The last block of a slice may be small, and two ranges may read it.
                    assert!(calls.small_reads <= 2 * slices, "{case}, {slices} slices");
                    assert!(calls.reads > 4 * slices, "{case}, {slices} slices");
                }
            }
        }
    }
}

#[test]
fn budget_that_is_too_small_names_one_that_is_enough() {
    let temp = Temp::new("small");
    let input = temp.write("in", b"a\n");
    let spec = JobSpec { inputs: vec![input], memory_bytes: Some(100_000), ..application("sort") };
    let error = parts_of(&spec, &temp.path("out")).unwrap_err();
    assert_eq!(error.code(), Code::Memory);
    assert!(error.hint_text().unwrap().starts_with("give at least --memory "), "{error}");
    assert_eq!(temp.names(), ["in"]);
}

#[test]
fn records_of_any_size_spill_within_any_budget() {
    let temp = Temp::new("sizes");
    std::fs::create_dir(temp.path("scratch")).unwrap();
    // Around a batch (64 KiB) and a block (128 KiB), up to an eighth of the smallest budget; the last case mixes all
    // sizes.
    let sizes: [&[usize]; 7] =
        [&[1 << 10], &[16 << 10], &[64 << 10], &[70_000], &[200_000], &[1 << 20], &[200_000, 10, 70_000, 1 << 20, 100]];
    for (i, sizes) in sizes.iter().enumerate() {
        let mut text = Vec::new();
        let mut n = 0usize;
        while text.len() < 28 << 20 {
            // Keys in random order, with duplicates.
            text.extend(format!("{:08}", n * 7919 % 5000).bytes());
            text.extend(std::iter::repeat_n(b'a' + (n % 26) as u8, sizes[n % sizes.len()]));
            text.push(b'\n');
            n += 1;
        }
        let input = temp.write("in", &text);
        let mut expect: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
        expect.sort();
        let expect = expect.concat();
        let codec = [SpillCodec::Lz4, SpillCodec::None, SpillCodec::Auto][i % 3];
        for (mib, threads, reduces) in [(8, 1, 1), (16, 2, 1), (16, 3, 4)] {
            let spec = JobSpec {
                inputs: vec![input.clone()],
                split_bytes: 2 << 20,
                scratch_dirs: vec![temp.path("scratch").into()],
                memory_bytes: Some(mib << 20),
                threads: Some(threads),
                spill_codec: codec,
                reduces,
                ..application("sort")
            };
            let parts = parts_of(&spec, &temp.path("out")).unwrap();
            assert!(parts.concat() == expect, "{sizes:?}, {mib} MiB, {threads} threads, {reduces} reduces");
        }
    }
}

#[test]
fn records_too_large_for_two_workers_run_on_one() {
    let temp = Temp::new("large");
    let mut text = Vec::new();
    for i in 0..6u8 {
        text.extend(vec![b'f' - i; 3 << 20]);
        text.push(b'\n');
    }
    let input = temp.write("in", &text);
    let spec = JobSpec {
        inputs: vec![input],
        split_bytes: 3 << 20,
        memory_bytes: Some(16 << 20),
        scratch_dirs: vec![temp.path("").into()],
        ..application("sort")
    };
    let mut expect: Vec<&[u8]> = text.split_inclusive(|&b| b == b'\n').collect();
    expect.sort();
    for threads in [1, 2, 4] {
        let spec = JobSpec { threads: Some(threads), ..spec.clone() };
        assert!(parts_of(&spec, &temp.path("out")).unwrap().concat() == expect.concat(), "{threads} threads");
    }
}
