//! Compressed outputs have the same contents as plain ones, for each codec, mode, memory budget and number of threads.
//! Compressed inputs read by many workers give the same records as by one.

use std::path::Path;
use std::sync::Arc;

use yunti_engine::codec::encode::{Compression, Target};
use yunti_engine::codec::{CodecKind, State, decoder, memory_bytes};
use yunti_engine::env::Env;
use yunti_engine::env::faulty::{Fault, FaultyFiles, Operation, Step};
use yunti_engine::env::real::RealFiles;
use yunti_engine::job::{Control, InputFormat, JobSpec, Mode, OutputFormat, OutputTarget, Partitioning, run};
use yunti_engine::library::builtin_classes;

use crate::classes::test_classes;
use crate::support::{Temp, noise, parts_of, read_parts, run_in};

/// Decompresses a file with this extension.
pub fn expand(extension: &str, file: &[u8]) -> Vec<u8> {
    let kind = CodecKind::from_path(Path::new(&format!("x{extension}"))).unwrap();
    let mut decoder = decoder(kind, memory_bytes(kind)).unwrap();
    let (mut data, mut at, mut output) = (Vec::new(), 0, vec![0; 64 << 10]);
    loop {
        let step = decoder.decode(&file[at..], &mut output, true).unwrap();
        data.extend(&output[..step.written]);
        at += step.read;
        if at == file.len() && step.state == State::End {
            return data;
        }
    }
}

fn lines(seed: u64, n: usize) -> Vec<u8> {
    noise(seed, n * 4)
        .chunks(4)
        .flat_map(|c| format!("{} word {} {}\n", c[0] % 50, c[1], u16::from_le_bytes([c[2], c[3]])).into_bytes())
        .collect()
}

fn check(temp: &Temp, spec: &JobSpec, target: Target) {
    let plain = parts_of(spec, &temp.path("plain")).unwrap();
    let compressed = JobSpec { compress: Some(Compression { target, level: None }), ..spec.clone() };
    let parts = parts_of(&compressed, &temp.path("packed")).unwrap();
    assert_eq!(parts.len(), plain.len());
    for (number, (part, expect)) in parts.iter().zip(&plain).enumerate() {
        let letter = if spec.mode == Mode::None { 'm' } else { 'r' };
        let name = format!("packed/part-{letter}-{number:05}{}", target.extension());
        assert!(temp.path(&name).exists(), "{name}");
        let (mut data, mut expect) = (expand(target.extension(), part), expect.clone());
        if spec.mode == Mode::Grouped {
            // Grouped records come in any order.
            (data, expect) = (sorted(&data), sorted(&expect));
        }
        assert!(data == expect, "{target:?} {:?} part {number}: {} of {}", spec.mode, data.len(), expect.len());
    }
}

fn sorted(text: &[u8]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = text.split_inclusive(|&b| b == b'\n').collect();
    lines.sort();
    lines.concat()
}

#[test]
fn every_codec_in_every_mode() {
    let temp = Temp::new("compressed");
    let input = temp.write("in", &lines(1, 3000));
    let base = JobSpec {
        inputs: vec![input],
        input_format: InputFormat::Text { delimiter: Some(b"\n".to_vec()) },
        split_bytes: 9000,
        threads: Some(3),
        memory_bytes: Some(64 << 20),
        ..JobSpec::default()
    };
    let count = JobSpec {
        mapper: Some("Yunti.WordCountMapper".into()),
        folder: Some("Yunti.SumFolder".into()),
        ..base.clone()
    };
    for target in Target::ALL {
        // Levels of xz and zstd that need little memory are tested below.
        let memory_bytes = Some(if target == Target::Xz { 1 << 30 } else { 64 << 20 });
        let base = JobSpec { memory_bytes, ..base.clone() };
        let count = JobSpec { memory_bytes, ..count.clone() };
        check(&temp, &base, target);
        check(&temp, &JobSpec { reduces: 3, partitioning: Partitioning::TotalOrder, ..base.clone() }, target);
        check(&temp, &JobSpec { mode: Mode::None, ..base.clone() }, target);
        check(&temp, &JobSpec { reduces: 4, ..count.clone() }, target);
        check(&temp, &JobSpec { mode: Mode::Grouped, reduces: 40, ..count.clone() }, target);
    }
}

#[test]
fn compresses_spilled_and_large_records() {
    let temp = Temp::new("compressed-spilled");
    // A record that is larger than the staging buffer, among small ones.
    let mut text = lines(2, 20_000);
    text.extend(noise(3, 1_300_000).iter().map(|b| b'a' + b % 26));
    text.push(b'\n');
    text.extend(lines(4, 2000));
    let input = temp.write("in", &text);
    for (memory_bytes, threads, mode) in [
        (24 << 20, 2, Mode::Sorted),
        (256 << 20, 2, Mode::Sorted),
        (256 << 20, 2, Mode::Grouped),
        (64 << 20, 1, Mode::None),
    ] {
        let spec = JobSpec {
            inputs: vec![input.clone()],
            input_format: InputFormat::Text { delimiter: Some(b"\n".to_vec()) },
            mode,
            split_bytes: 70_000,
            threads: Some(threads),
            memory_bytes: Some(memory_bytes),
            ..JobSpec::default()
        };
        for target in [Target::Gzip, Target::Lz4, Target::HadoopSnappy] {
            check(&temp, &spec, target);
        }
    }
}

#[test]
fn parts_without_records_decompress_to_nothing() {
    let temp = Temp::new("compressed-empty");
    let spec = JobSpec { inputs: vec![temp.write("in", b"one\n")], reduces: 3, threads: Some(2), ..JobSpec::default() };
    for target in Target::ALL {
        let compression = Compression { target, level: target.levels().map(|(least, _, _)| least) };
        let spec = JobSpec { compress: Some(compression), ..spec.clone() };
        let parts = parts_of(&spec, &temp.path("out")).unwrap();
        let held: Vec<Vec<u8>> = parts.iter().map(|part| expand(target.extension(), part)).collect();
        assert_eq!(held.concat(), b"one\n", "{target:?}");
        // Jobs can read them.
        let again = JobSpec { inputs: vec![temp.path("out").to_string_lossy().into_owned()], compress: None, ..spec };
        assert_eq!(parts_of(&again, &temp.path("again")).unwrap().concat(), b"one\n", "{target:?}");
    }
}

#[test]
fn bytes_do_not_depend_on_threads_if_one_task_writes_a_part() {
    let temp = Temp::new("compressed-same");
    let spec = JobSpec {
        inputs: vec![temp.write("in", &lines(5, 2000))],
        mode: Mode::None,
        output_format: OutputFormat::Raw,
        split_bytes: 5000,
        compress: Some(Compression { target: Target::Zstd, level: Some(1) }),
        ..JobSpec::default()
    };
    let one = parts_of(&JobSpec { threads: Some(1), ..spec.clone() }, &temp.path("one")).unwrap();
    assert!(one.len() > 3 && one == parts_of(&JobSpec { threads: Some(3), ..spec }, &temp.path("three")).unwrap());
}

fn encoded(target: Target, data: &[u8]) -> Vec<u8> {
    let mut encoder = Compression { target, level: None }.encoder().unwrap();
    let mut file = Vec::new();
    encoder.write(data, &mut file).unwrap();
    encoder.finish(&mut file).unwrap();
    file
}

#[test]
fn idle_workers_decode_ahead_for_mapping_workers() {
    let temp = Temp::new("ahead");
    let data = lines(6, 150_000);
    let mut helped = 0;
    for target in [Target::Gzip, Target::Zstd, Target::Lz4, Target::HadoopSnappy] {
        let file = encoded(target, &data);
        let whole = temp.write(&format!("whole{}", target.extension()), &file);
        let cut = temp.write(&format!("cut{}", target.extension()), &file[..file.len() - 3]);
        for mode in [Mode::Sorted, Mode::None] {
            let spec = |input: &String, threads| JobSpec {
                inputs: vec![input.clone()],
                mode,
                output: OutputTarget::Directory(temp.path("out")),
                overwrite: true,
                threads: Some(threads),
                memory_bytes: Some(256 << 20),
                ..JobSpec::default()
            };
            let outcome = run_in(&Env::real(), &spec(&whole, 3)).unwrap();
            helped += outcome.report.workers.iter().flat_map(|w| &w.spans).filter(|s| s.kind == "decode").count();
            let together = read_parts(&temp.path("out")).concat();
            assert!(together == parts_of(&spec(&whole, 1), &temp.path("alone")).unwrap().concat(), "{target:?}");
            if mode == Mode::None {
                assert!(together == data, "{target:?}");
            }
            // Errors are the same with and without helpers.
            let errors = [1, 3].map(|threads| run_in(&Env::real(), &spec(&cut, threads)).err().unwrap());
            assert_eq!(errors[0], errors[1], "{target:?}");
        }
    }
    assert!(helped > 0, "no worker helped");
}

#[test]
fn workers_without_splits_help_with_the_remaining_splits() {
    let temp = Temp::new("ahead-late");
    let mut expect = Vec::new();
    for (name, n) in [("a.gz", 1000), ("b.gz", 1000), ("c.gz", 150_000)] {
        let data = lines(n as u64, n);
        temp.write(&format!("in/{name}"), &encoded(Target::Gzip, &data));
        expect.extend(data);
    }
    let spec = JobSpec {
        inputs: vec![temp.path("in").to_string_lossy().into_owned()],
        input_format: InputFormat::Text { delimiter: Some(b"\n".to_vec()) },
        split_bytes: 1,
        memory_bytes: Some(256 << 20),
        ..JobSpec::default()
    };
    for threads in [1, 2, 4, 8] {
        let sorted_lines = parts_of(&JobSpec { threads: Some(threads), ..spec.clone() }, &temp.path("out")).unwrap();
        assert!(sorted_lines.concat() == sorted(&expect), "{threads} threads");
    }
}

/// Returns a file of many members, whose lines cross them.
fn many_members(target: Target, data: &[u8], member_bytes: usize) -> Vec<u8> {
    data.chunks(member_bytes).flat_map(|piece| encoded(target, piece)).collect()
}

/// Runs a job over one file and returns all its parts, and the number of its splits.
fn run_over(temp: &Temp, spec: &JobSpec) -> yunti_base::Result<(Vec<u8>, u64)> {
    let spec = JobSpec { output: OutputTarget::Directory(temp.path("out")), overwrite: true, ..spec.clone() };
    let outcome = run_in(&Env::real(), &spec)?;
    Ok((read_parts(&temp.path("out")).concat(), outcome.report.job.splits))
}

#[test]
fn members_are_mapped_side_by_side_and_each_record_once() {
    let temp = Temp::new("members");
    let data = lines(7, 20_000);
    let keyed: Vec<u8> = data.iter().map(|&b| if b == b' ' { b'\t' } else { b }).collect();
    let json: Vec<u8> = (0..9000).flat_map(|n| format!("{{\"k\":\"{}\",\"v\":{n}}}\n", n % 70).into_bytes()).collect();
    let columns = yunti_engine::format::columns::Columns { key: vec!["k".into()], value: vec!["v".into()] };
    let forms = [
        (InputFormat::Text { delimiter: None }, &data),
        (InputFormat::Text { delimiter: Some(b"\n".to_vec()) }, &data),
        (InputFormat::KeyValue { separator: b'\t' }, &keyed),
        (InputFormat::Json, &json),
        // Not cut: a delimiter of two bytes may cross the end of a member.
        (InputFormat::Text { delimiter: Some(b"1 ".to_vec()) }, &data),
    ];
    for target in Target::ALL.into_iter().filter(|t| *t != Target::Bzip2) {
        for (number, (input_format, data)) in forms.iter().enumerate() {
            let file = many_members(target, data, 3001);
            let columns = if number == 3 { columns.clone() } else { Default::default() };
            let base = JobSpec {
                inputs: vec![temp.write(&format!("in{number}{}", target.extension()), &file)],
                input_format: input_format.clone(),
                columns,
                memory_bytes: Some(256 << 20),
                ..JobSpec::default()
            };
            for mode in [Mode::None, Mode::Sorted] {
                let whole = JobSpec { mode, threads: Some(1), split_bytes: 1 << 30, ..base.clone() };
                let (expect, splits) = run_over(&temp, &whole).unwrap();
                assert_eq!(splits, 1);
                for (split_bytes, threads) in [(1000, 1), (1000, 2), (7000, 3)] {
                    let cut = JobSpec { split_bytes, threads: Some(threads), ..whole.clone() };
                    let (got, splits) = run_over(&temp, &cut).unwrap();
                    assert_eq!(splits > 1, number < 4, "{target:?} {number}: {splits} splits of {split_bytes}");
                    assert!(got == expect, "{target:?} {number} {mode:?}: splits of {split_bytes}, {threads} threads");
                }
            }
        }
    }
}

/// Mode none writes each split by one worker, the other modes write a part by several.
#[test]
fn what_is_written_is_cut_when_it_is_read_and_passes_the_tool() {
    let temp = Temp::new("written");
    let data = lines(10, 20_000);
    let input = temp.write("in", &data);
    for target in Target::ALL {
        for mode in [Mode::None, Mode::Sorted] {
            let write = JobSpec {
                inputs: vec![input.clone()],
                mode,
                compress: Some(Compression { target, level: None }),
                memory_bytes: Some(if target == Target::Xz { 1 << 30 } else { 64 << 20 }),
                threads: Some(2),
                ..JobSpec::default()
            };
            let parts = parts_of(&write, &temp.path("packed")).unwrap();
            assert_eq!(parts.len(), 1);
            let letter = if mode == Mode::None { 'm' } else { 'r' };
            let part = temp.path(&format!("packed/part-{letter}-00000{}", target.extension()));
            let kind = CodecKind::from_path(&part).unwrap();
            let is_stock = !matches!(target, Target::HadoopLz4 | Target::HadoopSnappy);
            if let Some(tool) = kind.tool().filter(|_| is_stock)
                && let Ok(tested) = std::process::Command::new(tool).arg("-t").arg(&part).output()
            {
                assert!(tested.status.success(), "{target:?}: {}", String::from_utf8_lossy(&tested.stderr));
            }
            let read = JobSpec {
                inputs: vec![part.to_string_lossy().into_owned()],
                mode: Mode::None,
                split_bytes: 3000,
                compress: None,
                memory_bytes: Some(64 << 20),
                ..write
            };
            let (back, splits) = run_over(&temp, &read).unwrap();
            assert!(splits > 3, "{target:?} {mode:?}: {splits} splits of {} bytes", parts[0].len());
            assert!(if mode == Mode::None { back == data } else { back == sorted(&data) }, "{target:?} {mode:?}");
        }
    }
}

/// A budget that is enough for a reader in order is enough for the job.
#[test]
fn little_memory_reads_in_order() {
    let temp = Temp::new("little");
    let data = lines(11, 20_000);
    for target in [Target::Zstd, Target::Lz4] {
        let input = temp.write(&format!("in{}", target.extension()), &many_members(target, &data, 9000));
        let whole = JobSpec { inputs: vec![input], threads: Some(1), split_bytes: 1 << 30, ..JobSpec::default() };
        let mut fits = 0;
        for memory in 6..20 {
            let whole = JobSpec { memory_bytes: Some(memory << 20), ..whole.clone() };
            let cut = JobSpec { threads: Some(2), split_bytes: 5000, ..whole.clone() };
            match run_over(&temp, &whole) {
                Ok((expect, _)) => {
                    fits += 1;
                    assert!(run_over(&temp, &cut).unwrap().0 == expect, "{target:?}, {memory} MiB");
                }
                Err(error) => assert_eq!(error.code(), yunti_base::Code::Memory),
            }
        }
        assert!((2..14).contains(&fits), "{target:?}: {fits}");
    }
}

/// The first attempt leaves a journal of cuts that were wrong; the next one must not go on from it.
#[test]
fn a_doubt_forgets_what_a_journal_kept() {
    let temp = Temp::new("doubt-resume");
    let inner = encoded(Target::Gzip, &lines(8, 300));
    let hidden: Vec<u8> = (0..40).flat_map(|n| [noise(n, 3000), inner.clone(), inner.clone()].concat()).collect();
    let plain = lines(9, 3000);
    let file =
        [many_members(Target::Gzip, &plain, 4000), encoded(Target::Gzip, &hidden), encoded(Target::Gzip, &plain)];
    let whole = JobSpec {
        inputs: vec![temp.write("in.gz", &file.concat())],
        memory_bytes: Some(64 << 20),
        threads: Some(1),
        split_bytes: 1 << 30,
        ..JobSpec::default()
    };
    for mode in [Mode::None, Mode::Sorted] {
        let whole = JobSpec { mode, ..whole.clone() };
        let (expect, _) = run_over(&temp, &whole).unwrap();
        for split_bytes in [3000, 20_000] {
            let cut = JobSpec { split_bytes, threads: Some(2), resume: true, ..whole.clone() };
            assert!(run_over(&temp, &cut).unwrap().0 == expect, "{mode:?}, splits of {split_bytes}");
        }
    }
}

#[test]
fn a_file_whose_parts_are_proven_is_not_opened_again() {
    let temp = Temp::new("opened");
    let name = temp.write("in.gz", &many_members(Target::Gzip, &lines(10, 6000), 4000));
    let spec = JobSpec {
        inputs: vec![name.clone()],
        output: OutputTarget::Directory(temp.path("out")),
        split_bytes: 4000,
        threads: Some(2),
        ..JobSpec::default()
    };
    let control = Control::new();
    let progress = control.clone();
    let opens = move |step: &Step| {
        let is_open = step.operation == Operation::Open && step.path == Path::new(&name);
        is_open && progress.progress().stage == "reduce"
    };
    let files = Arc::new(FaultyFiles::only(Arc::new(RealFiles), 0, false, Fault::Killed, opens));
    let env = Env { files: files.clone(), ..Env::real() };
    let outcome = run(&spec, &env, &[builtin_classes(), test_classes()], &control).unwrap();
    assert!(outcome.report.job.splits > 3);
    assert_eq!(files.operations(), 0, "the input is opened after the map phase");
}

#[test]
fn hostile_and_damaged_files_give_what_one_worker_gives() {
    let temp = Temp::new("hostile");
    // A member whose stored data are members: noise is stored, and so are the compressed files in it.
    let inner = encoded(Target::Gzip, &lines(8, 300));
    let hidden: Vec<u8> = (0..40).flat_map(|n| [noise(n, 3000), inner.clone(), inner.clone()].concat()).collect();
    let plain = lines(9, 3000);
    let gzip = [encoded(Target::Gzip, &plain), encoded(Target::Gzip, &hidden), encoded(Target::Gzip, &plain)].concat();
    let zeros = [many_members(Target::Gzip, &plain, 5000), vec![0; 100], encoded(Target::Gzip, &plain)].concat();
    let mut cases = vec![("hidden.gz".to_string(), gzip), ("zeros.gz".into(), zeros)];
    for target in Target::ALL.into_iter().filter(|t| *t != Target::Bzip2) {
        let file = many_members(target, &plain, 4000);
        let mut damaged = file.clone();
        damaged[file.len() * 2 / 3] ^= 0x55;
        let rest = [&file[..], b"what is this?"].concat();
        let cut = file[..file.len() - 3].to_vec();
        for (name, bytes) in [("damaged", damaged), ("rest", rest), ("cut", cut)] {
            cases.push((format!("{name}{}{}", target.name(), target.extension()), bytes));
        }
    }
    let mut failed = 0;
    for (name, bytes) in cases {
        let base =
            JobSpec { inputs: vec![temp.write(&name, &bytes)], memory_bytes: Some(256 << 20), ..JobSpec::default() };
        for mode in [Mode::None, Mode::Sorted] {
            let whole = JobSpec { mode, threads: Some(1), split_bytes: 1 << 30, ..base.clone() };
            let expect = run_over(&temp, &whole).map(|(data, _)| data);
            for (split_bytes, threads) in [(700, 2), (5000, 1), (20_000, 3)] {
                let cut = JobSpec { split_bytes, threads: Some(threads), ..whole.clone() };
                let got = run_over(&temp, &cut).map(|(data, _)| data);
                match (&got, &expect) {
                    (Ok(got), Ok(expect)) => assert!(got == expect, "{name}, splits of {split_bytes}: other records"),
                    (Err(got), Err(expect)) => assert_eq!(got, expect, "{name}, splits of {split_bytes}"),
                    _ => panic!("{name}, splits of {split_bytes}: {:?}, {:?}", got.is_ok(), expect.is_ok()),
                }
                failed += usize::from(got.is_err());
            }
        }
    }
    assert!(failed > 100, "{failed} files are damaged");
}
