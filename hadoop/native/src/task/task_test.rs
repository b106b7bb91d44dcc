//! Whole jobs of native tasks: maps, their outputs as IFile, and reduces, without a cluster.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use yunti_base::Code;
use yunti_engine::bytes::KeyOrder;
use yunti_engine::codec::encode::{Compression, Target};
use yunti_engine::env::{Env, NamedFile};
use yunti_engine::job::task::{self, Counters, TaskSplit};
use yunti_engine::job::{Control, JobSpec, Mode};
use yunti_engine::library::builtin_classes;

use super::{TaskJob, map_task, reduce_task};
use crate::compress::{Codec, CodecKind};
use crate::key::KeyForm;
use crate::shuffle::{ReduceInput, ReduceSettings};

const REDUCES: u32 = 3;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("yunti-tasks-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

type Sums = BTreeMap<String, u64>;

fn add(sums: &mut Sums, counters: Counters) {
    for (_, name, n) in counters {
        *sums.entry(name).or_default() += n;
    }
}

/// Returns the path of a file that does not exist; an earlier job may have left one.
fn fresh(dir: &Path, name: &str) -> PathBuf {
    let path = dir.join(name);
    let _ = std::fs::remove_file(&path);
    path
}

/// Runs a job over a file, one map for each range between `cuts`. Returns the lines of all reduces, and the counters.
fn run(dir: &Path, spec: &JobSpec, file: &Path, cuts: &[u64], memory_bytes: u64) -> (Vec<String>, Sums) {
    let spec = JobSpec {
        memory_bytes: Some(memory_bytes),
        threads: Some(1),
        reduces: REDUCES,
        scratch_dirs: vec![dir.to_path_buf().into()],
        ..spec.clone()
    };
    let job = TaskJob { spec, classes: vec![builtin_classes()] };
    let env = Env::real();
    let codec = Codec { kind: CodecKind::None, level: -1, buffer_bytes: 0 };
    let apart = task::takes_maps_apart(&job.spec, &env, &job.classes).unwrap();
    let order = task::merge_order(&job.spec, &env, &job.classes).unwrap();
    let inputs: Vec<ReduceInput> = (0..REDUCES)
        .map(|_| {
            let settings = ReduceSettings {
                form: KeyForm::Same,
                order: KeyOrder { descending: order.reversed(), ..KeyOrder::BYTES },
                codec,
                apart,
                memory_bytes,
                scratch: vec![dir.to_path_buf()],
            };
            ReduceInput::new(settings, Env::real(), None, None)
        })
        .collect();
    let mut counters = Sums::new();
    for (number, range) in cuts.windows(2).enumerate() {
        let split = TaskSplit {
            path: file.to_path_buf(),
            start: range[0],
            end: range[1],
            number: number as u32,
            source: 0,
            attempt: 0,
        };
        let output = fresh(dir, &format!("map-{number}"));
        let (segments, own) = map_task::run(&job, &env, &Control::new(), &split, None, codec, &output).unwrap();
        add(&mut counters, own);
        let bytes = std::fs::read(output).unwrap();
        for (segment, input) in segments.iter().zip(&inputs) {
            let n = input.begin(format!("map {number}"), segment.file_bytes, number % 3 == 2).unwrap();
            input.append(n, &bytes[segment.start as usize..][..segment.file_bytes as usize]).unwrap();
            input.seal(n).unwrap();
            input.commit(n).unwrap();
            if number % 5 == 4 {
                input.merge_memory().unwrap();
            }
        }
    }
    let mut lines = Vec::new();
    for (partition, input) in inputs.iter().enumerate() {
        let path = fresh(dir, &format!("part-{partition}"));
        let file = NamedFile::create(&*env.files, &path, Code::Output).unwrap();
        input.open().unwrap();
        add(&mut counters, reduce_task::run(&job, &env, &Control::new(), input, partition as u32, file).unwrap());
        lines.extend(std::fs::read_to_string(&path).unwrap().lines().map(String::from));
    }
    (lines, counters)
}

fn counting(classes: [Option<&str>; 3]) -> JobSpec {
    let [combiner, reducer, folder] = classes.map(|class| class.map(String::from));
    JobSpec { mapper: Some("Yunti.WordCountMapper".into()), combiner, reducer, folder, ..JobSpec::default() }
}

fn words(n: u64, different: u64) -> String {
    let mut number = 1u64;
    (0..n)
        .map(|i| {
            number = number.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let word = (number >> 33) % different;
            let end = if i % 7 == 6 { '\n' } else { ' ' };
            if word == 5 { format!("{}{end}", "long".repeat(40)) } else { format!("w{word}{end}") }
        })
        .collect()
}

fn counted(text: &str) -> Vec<String> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    text.split_ascii_whitespace().for_each(|word| *counts.entry(word).or_default() += 1);
    counts.into_iter().map(|(word, n)| format!("{word}\t{n}")).collect()
}

fn even_cuts(len: u64, maps: u64) -> Vec<u64> {
    (0..=maps).map(|i| len * i / maps).collect()
}

const SUM: Option<&str> = Some("Yunti.SumReducer");
const FOLD: Option<&str> = Some("Yunti.SumFolder");

/// Bytes of the words as Text and their ones as LongWritable.
fn writable_bytes(text: &str) -> u64 {
    let length = |len: usize| if len < 128 { 1 } else { 2 };
    text.split_ascii_whitespace().map(|word| (length(word.len()) + word.len() + 8) as u64).sum()
}

#[test]
fn every_mode_counts_alike() {
    let dir = Folder::new("modes");
    for (n, different, memory) in [(3_000, 40, 16 << 20), (150_000, 60_000, 4 << 20)] {
        let text = words(n, different);
        let expect = counted(&text);
        let file = dir.0.join("text");
        std::fs::write(&file, &text).unwrap();
        let cuts = even_cuts(text.len() as u64, 8);
        for mode in [Mode::Sorted, Mode::Grouped] {
            for classes in [[None, SUM, None], [SUM, SUM, None], [None, None, FOLD]] {
                let spec = JobSpec { mode, ..counting(classes) };
                let (mut lines, counters) = run(&dir.0, &spec, &file, &cuts, memory);
                let what = format!("{mode:?} {classes:?} {n}");
                lines.sort();
                assert!(lines == expect, "{what}: {} of {}", lines.len(), expect.len());
                assert_eq!(counters["MAP_OUTPUT_RECORDS"], n, "{what}");
                assert_eq!(counters["REDUCE_INPUT_GROUPS"], expect.len() as u64, "{what}");
                assert_eq!(counters["MAP_OUTPUT_BYTES"], writable_bytes(&text), "{what}");
                assert_eq!(counters["REDUCE_OUTPUT_RECORDS"], expect.len() as u64, "{what}");
            }
        }
    }
}

#[test]
fn a_table_of_a_reduce_spills() {
    let dir = Folder::new("spills");
    let text = words(400_000, 300_000);
    let expect = counted(&text);
    let file = dir.0.join("text");
    std::fs::write(&file, &text).unwrap();
    let spec = JobSpec { mode: Mode::Grouped, ..counting([None, None, FOLD]) };
    let (mut lines, counters) = run(&dir.0, &spec, &file, &even_cuts(text.len() as u64, 4), 4 << 20);
    lines.sort();
    assert!(lines == expect, "{} of {}", lines.len(), expect.len());
    assert_eq!(counters["REDUCE_INPUT_GROUPS"], expect.len() as u64);
    assert!(counters["SPILLED_RECORDS"] > expect.len() as u64, "{counters:?}");
}

#[test]
fn records_that_pass_a_reduce_have_groups() {
    let dir = Folder::new("identity");
    let text = words(5_000, 300);
    let file = dir.0.join("text");
    std::fs::write(&file, &text).unwrap();
    for mode in [Mode::Sorted, Mode::Grouped] {
        let spec = JobSpec { mode, ..counting([None, None, None]) };
        let (lines, counters) = run(&dir.0, &spec, &file, &even_cuts(text.len() as u64, 3), 16 << 20);
        assert_eq!(lines.len(), 5_000);
        assert_eq!(counters["REDUCE_INPUT_GROUPS"], counted(&text).len() as u64, "{mode:?}");
    }
}

#[test]
fn splits_of_bzip2_divide_its_lines() {
    let dir = Folder::new("bzip2");
    let compressed = |text: &str| {
        let (mut out, mut encoder) =
            (Vec::new(), Compression { target: Target::Bzip2, level: Some(1) }.encoder().unwrap());
        encoder.write(text.as_bytes(), &mut out).unwrap();
        encoder.finish(&mut out).unwrap();
        out
    };
    let text = words(120_000, 500);
    let halves = text.split_at(text.len() / 3);
    let bytes = [compressed(halves.0), compressed(""), compressed(halves.1)].concat();
    let file = dir.0.join("text.bz2");
    std::fs::write(&file, &bytes).unwrap();
    let spec = counting([None, None, FOLD]);
    for maps in [1, 2, 5, 40] {
        let (mut lines, counters) = run(&dir.0, &spec, &file, &even_cuts(bytes.len() as u64, maps), 32 << 20);
        lines.sort();
        assert!(lines == counted(&text), "{maps} maps");
        assert_eq!(counters["MAP_INPUT_RECORDS"], text.lines().count() as u64, "{maps} maps");
    }
}

#[test]
fn spills_beside_the_map_give_the_same_bytes() {
    let dir = Folder::new("aside");
    let text = words(300_000, 50_000);
    let file = dir.0.join("text");
    std::fs::write(&file, &text).unwrap();
    let cuts = [0, text.len() as u64];
    let mut of_one = Vec::new();
    for classes in [[None, SUM, None], [SUM, SUM, None], [None, None, FOLD]] {
        for cores in ["1", "2", "4"] {
            let mut spec = counting(classes);
            spec.settings.insert("mapreduce.map.cpu.vcores".into(), cores.into());
            let (mut lines, counters) = run(&dir.0, &spec, &file, &cuts, 4 << 20);
            assert!(counters["SPILLED_RECORDS"] > 0, "{classes:?}");
            lines.sort();
            assert!(lines == counted(&text), "{classes:?} {cores}");
            if classes == [None, SUM, None] {
                let output = std::fs::read(dir.0.join("map-0")).unwrap();
                if cores == "1" {
                    of_one = output;
                } else {
                    assert!(output == of_one, "{cores} cores");
                }
            }
        }
    }
}
