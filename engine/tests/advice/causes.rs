//! Jobs that are each slowed by one known cause; their reports name it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use yunti_engine::codec::encode::{Compression, Target};
use yunti_engine::env::faulty::{Fault, FaultyFiles, Operation, Place, Step};
use yunti_engine::env::{Env, Files, StorageKind};
use yunti_engine::job::report::Report;
use yunti_engine::job::{InputFormat, JobSpec, OutputFormat, OutputTarget};

use crate::ground::{
    Ground, Mount, Neighbours, Quota, application, describe, drop_from_cache, map_only, measure_others, text,
};

const MIB: usize = 1 << 20;

fn key_value() -> InputFormat {
    InputFormat::KeyValue { separator: b'\t' }
}

/// Job over keys and values, with a reducer of the tests.
fn reduced(input: String, reducer: &str) -> JobSpec {
    JobSpec {
        name: reducer.into(),
        inputs: vec![input],
        input_format: key_value(),
        mapper: Some("Test.Pass".into()),
        reducer: Some(reducer.into()),
        reduces: 2,
        split_bytes: MIB as u64,
        ..JobSpec::default()
    }
}

#[test]
fn slow_mapper() {
    let ground = Ground::new("class");
    let input = ground.write("in", &text(2 * MIB));
    let spec = JobSpec { inputs: vec![input], split_bytes: 200_000, ..map_only("Test.Slow") };
    ground.assert_cause_undisturbed(spec, "slow-class", &["the mapper Test.Slow took ", "a worker"]);
}

#[test]
fn hot_key() {
    let ground = Ground::new("key");
    let line = |i: u32| if i % 10 == 0 { format!("key{i}\tv\n") } else { "hot\tv\n".into() };
    let input = ground.write("in", (0..1_500_000).map(line).collect::<String>().as_bytes());
    let parts = ["'hot' of partition ", "has 90 % of ", "--combiner"];
    ground.assert_cause_undisturbed(reduced(input, "Test.Count"), "hot-key", &parts);
}

#[test]
fn many_small_files() {
    let ground = Ground::new("files");
    for i in 0..600 {
        ground.write(&format!("in/{i:05}"), b"a few words\n");
    }
    let spec = JobSpec { inputs: vec![ground.text_path("in")], ..application("wordcount") };
    // Opening is slow, as over a network; otherwise the test would need tens of thousands of files.
    let report = ground.run_on(&spec, |files| slow(files, 1, |step| step.operation == Operation::Open));
    ground.assert_cause(&report, "small-files", &["600 files of 12 B on average", &ground.text_path("in")]);
}

#[test]
fn compressed_file_that_cannot_be_split() {
    let ground = Ground::new("whole");
    let mut packed = Vec::new();
    let mut encoder = Compression { target: Target::Gzip, level: Some(1) }.encoder().unwrap();
    encoder.write(&text(48 * MIB), &mut packed).unwrap();
    encoder.finish(&mut packed).unwrap();
    let input = ground.write("in.gz", &packed);
    let spec =
        JobSpec { inputs: vec![input.clone()], split_bytes: MIB as u64, threads: Some(4), ..application("wordcount") };
    ground.assert_cause_undisturbed(
        spec,
        "whole-files",
        &[&format!("one task read all of {input}: it is one gzip member"), "one for each of the ", "bgzip"],
    );
}

/// Delays each matching operation by `ms` milliseconds.
fn slow(files: Arc<dyn Files>, ms: u64, which: fn(&Step) -> bool) -> Arc<dyn Files> {
    Arc::new(FaultyFiles::only(files, 1, true, Fault::Slow(ms), which))
}

#[test]
fn slow_disk() {
    let ground = Ground::new("disk");
    let input = ground.write("slow/in", &text(MIB / 2));
    let spec =
        JobSpec { inputs: vec![input], split_bytes: 64 << 10, threads: Some(2), reduces: 2, ..application("sort") };
    let report = ground
        .run_on(&spec, |files| slow(files, 2, |step| step.operation == Operation::Read && step.place == Place::Opened));
    ground.assert_cause(&report, "slow-disk", &["reading the input in ", "/slow took ", "KiB/s a worker"]);
    assert_eq!(report.bottleneck.resource, "disk_read", "{}", report.bottleneck.text);

    let report = ground.run_on(&spec, |files| {
        slow(files, 80, |step| step.operation == Operation::Write && step.place == Place::Created)
    });
    ground.assert_cause(&report, "slow-disk", &["writing the output in ", "/out took ", "--compress zstd"]);
    assert_eq!(report.bottleneck.resource, "disk_write", "{}", report.bottleneck.text);
}

#[test]
fn small_memory_budget() {
    let ground = Ground::new("budget");
    let input = ground.write("in", &text(24 * MIB));
    let tight = JobSpec {
        inputs: vec![input],
        split_bytes: MIB as u64,
        memory_bytes: Some(8 << 20),
        // One worker: of two, one may do most of the work on a busy machine, in half of the memory.
        threads: Some(1),
        ..application("sort")
    };
    let (report, tight) = ground.run_long(tight);
    ground.assert_cause(&report, "spills", &["runs were spilled", "would avoid", "--memory "]);
    // The suggested memory avoids all spills.
    let flag = report.advice.iter().find(|a| a.rule == "spills").unwrap().flag.clone().unwrap();
    let mib: u64 = flag.trim_start_matches("--memory ").trim_end_matches("MiB").parse().unwrap();
    let free = ground.run(&JobSpec { memory_bytes: Some(mib << 20), ..tight });
    assert_eq!(free.spill.runs, 0, "{flag}");
}

#[test]
fn too_many_reduces() {
    let ground = Ground::new("reduces");
    let input = ground.write("in", &text(4 * MIB));
    let report =
        ground.run(&JobSpec { inputs: vec![input], reduces: 600, split_bytes: MIB as u64, ..application("sort") });
    ground.assert_cause(&report, "many-reduces", &["600 part files of ", "--reduces "]);
}

#[test]
fn one_thread() {
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    if processors < 2 {
        eprintln!("SKIPPED: one thread of several: this machine has one processor");
        return;
    }
    let ground = Ground::new("thread");
    let input = ground.write("in", &text(40 * MIB));
    let spec = JobSpec { inputs: vec![input], split_bytes: 64 << 10, threads: Some(1), ..application("sort") };
    // A processor that another program holds is no use to a second thread: the advice is about that program then.
    if let Some(report) = ground.run_undisturbed(spec) {
        ground.assert_cause(&report, "few-threads", &["1 of ", &format!("--threads {processors}")]);
    }
}

#[test]
fn cold_page_cache() {
    let ground = Ground::new("cold");
    let input = ground.write("in", &vec![b'x'; 64 * MIB]);
    if !drop_from_cache(&input) {
        return;
    }
    let spec = JobSpec {
        inputs: vec![input],
        input_format: InputFormat::Fixed { record_bytes: 1 << 20, key_bytes: 8 },
        ..map_only("Test.Nothing")
    };
    // Some disks are nearly as fast as memory.
    let slow_reads = |files| slow(files, 8, |step| step.operation == Operation::Read && step.place == Place::Opened);
    let report = ground.run_on(&spec, slow_reads);
    ground.assert_cause(&report, "cold-cache", &["MiB of input came from the disk", "a second run"]);
    let again = ground.run_on(&spec, slow_reads);
    assert!(again.advice.iter().all(|a| a.rule != "cold-cache"), "{:?}", again.advice);
}

#[test]
fn slow_writer() {
    let ground = Ground::new("writer");
    let input = ground.write("in", &text(6 * MIB));
    let spec = JobSpec { inputs: vec![input], split_bytes: MIB as u64, ..application("sort") };
    let bzip2 = Compression { target: Target::Bzip2, level: Some(9) };
    let compressed = JobSpec { compress: Some(bzip2), ..spec.clone() };
    let parts = ["compressing the output as bzip2:9 took ", "--compress zstd"];
    ground.assert_cause_undisturbed(compressed, "slow-writer", &parts);
    let by_class = JobSpec { output_format: OutputFormat::Class("Test.Write".into()), ..spec };
    ground.assert_cause_undisturbed(by_class, "slow-writer", &["the writer Test.Write took "]);
}

#[test]
fn huge_record() {
    let ground = Ground::new("huge");
    let mut bytes = text(2 * MIB);
    let offset = bytes.len();
    bytes.resize(offset + 48 * MIB, b'x');
    bytes.push(b'\n');
    bytes.extend(text(2 * MIB));
    let input = ground.write("in", &bytes);
    let report =
        ground.run(&JobSpec { inputs: vec![input.clone()], split_bytes: MIB as u64, ..application("wordcount") });
    ground.assert_cause(&report, "huge-record", &["more than 32 MiB", &format!("at byte {offset} of {input}")]);
}

#[test]
fn quadratic_reducer() {
    let ground = Ground::new("pairs");
    let line = |i: u32| if i % 2 == 0 { format!("key{:05}\tv\n", i % 9973) } else { "large\tv\n".into() };
    let input = ground.write("in", (0..80_000).map(line).collect::<String>().as_bytes());
    let parts = ["Test.Pairs took ", "'large' of partition ", "has ", "square"];
    ground.assert_cause_undisturbed(reduced(input, "Test.Pairs"), "slow-group", &parts);
}

#[test]
fn processor_quota() {
    let ground = Ground::new("quota");
    let input = ground.write("in", &text(24 * MIB));
    let Some(_quota) = Quota::new(0.2) else { return };
    let (report, _) = ground.run_long(JobSpec { inputs: vec![input], split_bytes: MIB as u64, ..application("sort") });
    ground.assert_cause(&report, "cpu-quota", &["allows 0.20 processors", "--threads 1"]);
}

#[test]
fn busy_neighbour() {
    let ground = Ground::new("neighbour");
    let input = ground.write("in", &text(32 * MIB));
    if !Path::new("/proc/thread-self/schedstat").exists() {
        eprintln!("SKIPPED: a busy neighbour: nobody counts here how long threads wait for a processor");
        return;
    }
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    let _neighbours = Neighbours::start(4 * processors);
    let (report, _) =
        ground.run_long(JobSpec { inputs: vec![input], split_bytes: MIB as u64, ..application("wordcount") });
    ground.assert_cause(&report, "busy-neighbour", &["other programs", "waited"]);
}

/// Returns a directory in memory, or None with a message.
fn directory_in_memory() -> Option<PathBuf> {
    let dir = PathBuf::from("/dev/shm");
    let kind = Env::real().files.storage(&dir).map(|s| s.kind);
    if kind != Some(StorageKind::Memory) || !dir.is_dir() {
        eprintln!("SKIPPED: scratch in memory: /dev/shm is no tmpfs here");
        return None;
    }
    Some(dir)
}

fn spilling_sort(ground: &Ground, scratch: PathBuf) -> JobSpec {
    JobSpec {
        inputs: vec![ground.write("in", &text(24 * MIB))],
        split_bytes: MIB as u64,
        memory_bytes: Some(8 << 20),
        threads: Some(1),
        scratch_dirs: vec![scratch.into()],
        ..application("sort")
    }
}

/// Checks that a report takes no spill for disk work.
fn assert_scratch_is_memory(report: &Report) {
    assert!(report.spill.runs > 0, "{}", describe(report));
    let scratch = report.files.iter().find(|f| f.place == "scratch").unwrap();
    assert_eq!((scratch.storage.as_deref(), scratch.file_system.as_deref()), (Some("memory"), Some("tmpfs")));
    for stage in report.stages.iter().filter(|s| matches!(&*s.name, "spill" | "merge")) {
        assert_eq!(stage.resource, "memory", "{}", stage.name);
    }
    let of_disks = matches!(&*report.bottleneck.resource, "disk_read" | "disk_write");
    let by_scratch = of_disks && matches!(&*report.bottleneck.stage, "spill" | "merge");
    assert!(!by_scratch, "{}", describe(report));
}

#[test]
fn other_processes_and_scratch_in_memory() {
    let ground = Ground::new("taken");
    let Some(scratch) = directory_in_memory() else { return };
    if !Path::new("/proc/thread-self/schedstat").exists() {
        eprintln!("SKIPPED: processors taken by others: nobody counts here how long threads wait for a processor");
        return;
    }
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    let neighbours = Neighbours::start(4 * processors);
    let (report, spec) = ground.run_long(spilling_sort(&ground, scratch));
    assert_scratch_is_memory(&report);
    assert_eq!(report.bottleneck.resource, "other_processes", "{}", describe(&report));
    let text = &report.bottleneck.text;
    assert!(text.starts_with("processors were taken by other processes: "), "{text}");
    assert!(report.advice.iter().any(|a| a.rule == "busy-neighbour"), "{}", describe(&report));
    drop(neighbours);
    // The same job with processors of its own.
    let (others, report) = measure_others(|| ground.run(&spec));
    assert_scratch_is_memory(&report);
    let taken = report.bottleneck.resource == "other_processes";
    assert!(!taken || others > 0.3, "others used {others:.2}: {}", describe(&report));
}

#[test]
fn disk_that_is_nearly_full() {
    let ground = Ground::new("full");
    let input = ground.write("in", &text(8 * MIB));
    let Some(_small) = Mount::small(ground.path("small"), 12) else { return };
    let output = OutputTarget::Directory(ground.path("small/out"));
    let report = ground.run(&JobSpec { inputs: vec![input], output, ..application("sort") });
    ground.assert_cause(&report, "full-disk", &["/small/out has ", "took 8 MiB of it for its output"]);
}

#[test]
fn checksum_errors_that_are_read_again() {
    let ground = Ground::new("torn");
    let input = ground.write("in", &text(6 * MIB));
    let spec = JobSpec {
        inputs: vec![input],
        split_bytes: MIB as u64,
        memory_bytes: Some(8 << 20),
        threads: Some(2),
        ..application("sort")
    };
    let scratch = ground.path("");
    let torn = |files: Arc<dyn Files>, nth: u64| -> Arc<dyn Files> {
        let read = |step: &Step| step.operation == Operation::Read && step.place == Place::Scratch;
        Arc::new(FaultyFiles::only(files, nth, false, Fault::Torn, read))
    };
    let report = ground.run_on(&spec, |files| [1, 9, 17].into_iter().fold(files, torn));
    ground.assert_cause(
        &report,
        "bad-reads",
        &["3 spilled blocks", &format!("from {}", Path::new(&scratch).display())],
    );
    let whole = ground.run(&JobSpec { memory_bytes: None, ..spec });
    assert_eq!(report.job.output_bytes, whole.job.output_bytes);
}
