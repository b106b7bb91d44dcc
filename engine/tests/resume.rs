//! A job with a journal goes on from what an earlier attempt left, and only from what is still right: changed inputs,
//! jobs and files, lost and damaged scratch files, another boot, several workers, named outputs.

#[path = "jobs/classes.rs"]
#[allow(dead_code)]
mod classes;
#[path = "jobs/support.rs"]
#[allow(dead_code)]
mod support;

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use yunti_base::{Code, Result};
use yunti_engine::codec::encode::{Compression, Target};
use yunti_engine::env::faulty::{Fault, FaultyFiles, Operation, Place, Step};
use yunti_engine::env::real::RealFiles;
use yunti_engine::env::{Env, Messages};
use yunti_engine::job::journal::frame::{Frame, decode_all};
use yunti_engine::job::{Control, InputFormat, JobSpec, Mode, Outcome, OutputTarget, Partitioning, run};
use yunti_engine::library::builtin_classes;

use classes::test_classes;
use support::{Temp, read_parts, run_in};

#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl Messages for Lines {
    fn show(&self, line: &str) {
        self.0.lock().unwrap().push(line.into());
    }
}

fn text(seed: usize, lines: usize) -> Vec<u8> {
    (0..lines).flat_map(|i| format!("key{} value {}\n", (i + seed) * 7919 % 10007, i % 13).into_bytes()).collect()
}

/// A sort that spills, of two files in splits of 4 KiB.
fn job(temp: &Temp) -> JobSpec {
    fs::create_dir_all(temp.path("scratch")).unwrap();
    JobSpec {
        inputs: vec![temp.write("in/a", &text(1, 4000)), temp.write("in/b", &text(2, 4000))],
        output: OutputTarget::Directory(temp.path("out")),
        scratch_dirs: vec![temp.path("scratch").into()],
        mapper: Some("Test.Pass.bytes".into()),
        input_format: InputFormat::KeyValue { separator: b' ' },
        split_bytes: 4 << 10,
        reduces: 3,
        threads: Some(2),
        memory_bytes: Some(2 << 20),
        resume: true,
        settings: [("resume.checkpoint.ms".to_string(), "0".to_string())].into(),
        ..JobSpec::default()
    }
}

fn answer(spec: &JobSpec, temp: &Temp) -> Vec<Vec<u8>> {
    let out = temp.path("answer");
    let spec = JobSpec { resume: false, memory_bytes: Some(64 << 20), ..spec.clone() };
    support::parts_of(&spec, &out).unwrap()
}

/// Kills the job at its `nth` operation of a kind.
fn kill(spec: &JobSpec, nth: u64, of: impl Fn(&Step) -> bool + Send + Sync + 'static) {
    let from = Mutex::new((0, false));
    let counted = move |step: &Step| {
        let mut from = from.lock().unwrap();
        from.0 += u64::from(of(step));
        from.1 |= from.0 >= nth;
        from.1
    };
    let files = FaultyFiles::only(Arc::new(RealFiles), 1, true, Fault::Killed, counted);
    run_in(&Env { files: Arc::new(files), ..Env::real() }, spec).unwrap_err();
}

/// Kills the job in its map phase: at the `nth` write to scratch.
fn kill_at_spill(spec: &JobSpec, nth: u64) {
    kill(spec, nth, |step| step.operation == Operation::Write && step.place == Place::Scratch);
}

/// Runs the job, with the lines that it shows.
fn resume(spec: &JobSpec) -> (Result<Outcome>, Vec<String>) {
    let lines = Arc::new(Lines::default());
    let result = run_in(&Env { messages: lines.clone(), ..Env::real() }, spec);
    let lines = lines.0.lock().unwrap().clone();
    (result, lines)
}

/// Runs the job to its end and checks its output, and that nothing else is left. Returns the shown lines.
fn expect(temp: &Temp, spec: &JobSpec, answer: &[Vec<u8>]) -> (Outcome, Vec<String>) {
    let (result, lines) = resume(spec);
    let outcome = result.unwrap_or_else(|e| panic!("{e}: {lines:?}"));
    assert!(read_parts(&temp.path("out")) == answer, "other bytes: {lines:?}");
    let names = temp.names();
    assert!(names.iter().all(|name| !name.starts_with('.')), "left: {names:?}");
    assert_eq!(fs::read_dir(temp.path("scratch")).unwrap().count(), 0, "scratch files are left");
    fs::remove_dir_all(temp.path("out")).unwrap();
    (outcome, lines)
}

fn kept(outcome: &Outcome) -> (u64, u64) {
    outcome.report.resumed.as_ref().map_or((0, 0), |resumed| (resumed.splits, resumed.mapped_again))
}

#[test]
fn counters_and_bytes_are_those_of_one_attempt() {
    let temp = Temp::new("resume-counters");
    let spec = job(&temp);
    let answer = answer(&spec, &temp);
    let (whole, lines) = expect(&temp, &spec, &answer);
    assert!(lines.is_empty(), "{lines:?}");
    let splits = whole.report.job.splits;
    for nth in [2, 5, 9] {
        kill_at_spill(&spec, nth);
        let (outcome, lines) = expect(&temp, &spec, &answer);
        let (kept, again) = kept(&outcome);
        assert!(kept > 0 && again == 0, "{lines:?}");
        assert_eq!(lines, [format!("resume: {kept} of {splits} splits are kept")]);
        // Spills depend on the moment of the kill.
        let counters = |outcome: &Outcome| {
            let mut counters = outcome.report.counters.clone();
            counters.values_mut().for_each(|group| {
                group.remove("SPILLED_RECORDS");
            });
            counters
        };
        assert_eq!(counters(&outcome), counters(&whole));
    }
}

#[test]
fn a_reduce_goes_on_behind_what_is_written() {
    let temp = Temp::new("resume-reduce");
    let spec = job(&temp);
    let answer = answer(&spec, &temp);
    let is_part =
        |step: &Step| step.operation == Operation::Write && step.path.to_string_lossy().contains("/new/part-");
    for nth in [2, 3] {
        kill(&spec, nth, is_part);
        let (outcome, lines) = expect(&temp, &spec, &answer);
        let resumed = outcome.report.resumed.unwrap();
        assert_eq!(resumed.splits, outcome.report.job.splits);
        assert_eq!(resumed.partitions, nth - 1, "{lines:?}");
    }
}

#[test]
fn changed_inputs_are_mapped_again() {
    let temp = Temp::new("resume-input");
    let spec = job(&temp);
    answer(&spec, &temp);
    kill(&spec, 1, |step| step.path.to_string_lossy().contains("/new/part-") && step.operation == Operation::Write);
    // The same length, another time.
    std::thread::sleep(std::time::Duration::from_millis(5));
    temp.write("in/b", &text(2, 4000).to_ascii_uppercase());
    let (outcome, lines) = expect(&temp, &spec, &answer(&spec, &temp));
    let (kept, again) = kept(&outcome);
    assert!(kept > 0 && again > 0 && kept + again == outcome.report.job.splits, "{lines:?}");
    assert!(lines[0].contains("are done again, because their input changed"), "{lines:?}");
    // A file more changes the numbers of all splits behind it.
    kill_at_spill(&spec, 5);
    let more = JobSpec { inputs: [vec![temp.write("in/0", &text(5, 4000))], spec.inputs.clone()].concat(), ..spec };
    let (_, lines) = expect(&temp, &more, &answer(&more, &temp));
    assert!(lines[0].starts_with("resume: no split is kept; "), "{lines:?}");
}

#[test]
fn sampled_bounds_go_with_the_whole_input() {
    let temp = Temp::new("resume-bounds");
    let spec = JobSpec { partitioning: Partitioning::TotalOrder, mapper: None, ..job(&temp) };
    let first = answer(&spec, &temp);
    kill_at_spill(&spec, 5);
    let (outcome, _) = expect(&temp, &spec, &first);
    assert!(kept(&outcome).0 > 0);
    kill_at_spill(&spec, 5);
    std::thread::sleep(std::time::Duration::from_millis(5));
    temp.write("in/b", &text(2, 4000).to_ascii_uppercase());
    let (outcome, lines) = expect(&temp, &spec, &answer(&spec, &temp));
    assert!(kept(&outcome).0 == 0 && kept(&outcome).1 > 0, "{lines:?}");
}

#[test]
fn another_job_starts_from_the_beginning() {
    let temp = Temp::new("resume-job");
    let spec = job(&temp);
    answer(&spec, &temp);
    let check = |other: &JobSpec, expected: &str| {
        kill_at_spill(&spec, 5);
        let (outcome, lines) = expect(&temp, other, &answer(other, &temp));
        assert_eq!(kept(&outcome), (0, 0));
        assert_eq!(lines, [format!("resume: the job starts from the beginning: {expected}")]);
    };
    check(&JobSpec { reduces: 2, ..spec.clone() }, "the job changed: reduces = 3 is now reduces = 2");
    let combined = JobSpec { descending: true, ..spec.clone() };
    check(&combined, "the job changed: descending = false is now descending = true");
    // Memory and threads are no part of the job.
    kill_at_spill(&spec, 5);
    let larger = JobSpec { memory_bytes: Some(8 << 20), threads: Some(1), ..spec.clone() };
    assert!(kept(&expect(&temp, &larger, &answer(&larger, &temp)).0).0 > 0);
    // A side file is, by its contents.
    let side = JobSpec { side_files: vec![temp.write("stop", b"one").into()], ..spec.clone() };
    kill_at_spill(&side, 5);
    temp.write("stop", b"two");
    let (_, lines) = expect(&temp, &side, &answer(&side, &temp));
    assert_eq!(lines, ["resume: the job starts from the beginning: stop changed"]);
}

#[test]
fn without_resume_nothing_is_taken_over() {
    let temp = Temp::new("resume-not");
    let spec = job(&temp);
    let answer = answer(&spec, &temp);
    kill_at_spill(&spec, 5);
    assert!(fs::read_dir(temp.path("scratch")).unwrap().count() > 0);
    let (outcome, lines) = expect(&temp, &JobSpec { resume: false, ..spec }, &answer);
    assert!(kept(&outcome) == (0, 0) && lines.is_empty());
}

fn scratch_file(temp: &Temp) -> PathBuf {
    fs::read_dir(temp.path("scratch")).unwrap().next().unwrap().unwrap().path()
}

#[test]
fn lost_and_damaged_scratch_files_cost_their_splits() {
    let temp = Temp::new("resume-scratch");
    let spec = job(&temp);
    let answer = answer(&spec, &temp);
    kill_at_spill(&spec, 5);
    fs::remove_file(scratch_file(&temp)).unwrap();
    let (outcome, lines) = expect(&temp, &spec, &answer);
    assert!(kept(&outcome).0 == 0 && kept(&outcome).1 > 0, "{lines:?}");
    kill_at_spill(&spec, 5);
    let file = fs::OpenOptions::new().write(true).open(scratch_file(&temp)).unwrap();
    file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    let (outcome, lines) = expect(&temp, &spec, &answer);
    assert!(kept(&outcome).1 > 0, "{lines:?}");
    // A damaged block is found by its reader. The job maps its splits again by itself.
    kill_at_spill(&spec, 5);
    let path = scratch_file(&temp);
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 0xff;
    fs::write(&path, bytes).unwrap();
    let (outcome, lines) = expect(&temp, &spec, &answer);
    assert!(kept(&outcome).1 > 0, "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("the splits of these records are mapped again")), "{lines:?}");
}

/// Rewrites the journal as one of another boot.
fn reboot(temp: &Temp) {
    let path = temp.path(".out._temporary/journal");
    let (frames, _) = decode_all(&fs::read(&path).unwrap());
    let other = |frame: Frame| match frame {
        Frame::Attempt { unix_ms, first_file, scratch_files, .. } => {
            Frame::Attempt { boot: "another".into(), unix_ms, first_file, scratch_files }
        }
        frame => frame,
    };
    let bytes: Vec<u8> = frames.into_iter().map(other).flat_map(|frame| frame.encode().unwrap()).collect();
    fs::write(path, bytes).unwrap();
    // The lock file of a killed job on another boot of this machine.
    let lock = temp.path(".out._temporary/_lock");
    let text = fs::read_to_string(&lock).unwrap();
    let boot = text.split("\"boot\":\"").nth(1).unwrap().split('"').next().unwrap();
    fs::write(&lock, text.replace(boot, "another")).unwrap();
}

#[test]
fn after_a_power_loss_only_sound_blocks_count() {
    let temp = Temp::new("resume-boot");
    let spec = job(&temp);
    let answer = answer(&spec, &temp);
    kill_at_spill(&spec, 5);
    reboot(&temp);
    let (outcome, lines) = expect(&temp, &spec, &answer);
    assert!(kept(&outcome).0 > 0 && kept(&outcome).1 == 0, "{lines:?}");
    // Pages that never reached the disk.
    kill_at_spill(&spec, 5);
    reboot(&temp);
    let path = scratch_file(&temp);
    let mut bytes = fs::read(&path).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].fill(0);
    fs::write(&path, bytes).unwrap();
    let (outcome, lines) = expect(&temp, &spec, &answer);
    assert!(kept(&outcome).1 > 0, "{lines:?}");
    // Part files may be torn too, and are written again.
    let is_part =
        |step: &Step| step.operation == Operation::Write && step.path.to_string_lossy().contains("/new/part-");
    kill(&spec, 3, is_part);
    reboot(&temp);
    let (outcome, _) = expect(&temp, &spec, &answer);
    let resumed = outcome.report.resumed.unwrap();
    assert!(resumed.partitions == 0 && resumed.splits == outcome.report.job.splits);
    // A durable job synced them.
    let durable = JobSpec { durable: true, ..spec };
    kill(&durable, 3, is_part);
    reboot(&temp);
    let (outcome, _) = expect(&temp, &durable, &answer);
    assert!(outcome.report.resumed.unwrap().partitions > 0);
}

#[test]
fn named_outputs_of_finished_splits_are_kept() {
    let temp = Temp::new("resume-named");
    let spec = JobSpec {
        mapper: Some("Test.Aside".into()),
        mode: Mode::None,
        outputs: [("aside".to_string(), JobSpec::default().output_format)].into(),
        ..job(&temp)
    };
    let all = |directory: PathBuf| {
        let mut all: Vec<(String, Vec<u8>)> = fs::read_dir(directory)
            .unwrap()
            .map(|e| e.unwrap().path())
            .filter(|path| path.is_file())
            .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap()))
            .collect();
        all.sort();
        all
    };
    answer(&spec, &temp);
    let expected = all(temp.path("answer"));
    assert!(expected.iter().any(|(name, _)| name.starts_with("aside-m-")));
    for nth in [5, 20, 41] {
        kill(&spec, nth, |step| step.operation == Operation::Write && step.path.to_string_lossy().contains("/new/"));
        let (result, lines) = resume(&spec);
        let outcome = result.unwrap();
        assert!(kept(&outcome).0 > 0, "{lines:?}");
        assert!(all(temp.path("out")) == expected, "killed at write {nth}: {lines:?}");
        fs::remove_dir_all(temp.path("out")).unwrap();
    }
}

#[test]
fn errors_keep_what_is_done_and_say_so() {
    let temp = Temp::new("resume-error");
    let spec = job(&temp);
    let answer = answer(&spec, &temp);
    let full = Fault::Errno(libc::ENOSPC);
    let files = FaultyFiles::only(Arc::new(RealFiles), 3, true, full, |step| {
        step.operation == Operation::Write && step.path.to_string_lossy().contains("/new/part-")
    });
    let lines = Arc::new(Lines::default());
    let env = Env { files: Arc::new(files), messages: lines.clone(), ..Env::real() };
    let error = run_in(&env, &spec).unwrap_err();
    assert!(error.to_string().contains("No space left"), "{error}");
    let lines = lines.0.lock().unwrap().clone();
    assert_eq!(lines, ["resume: what is done is kept: give the same command again to go on"]);
    let (outcome, _) = expect(&temp, &spec, &answer);
    assert_eq!(kept(&outcome).0, outcome.report.job.splits);
    // An error before any work leaves nothing.
    let error = resume(&JobSpec { mapper: Some("No.Such".into()), ..spec.clone() }).0.unwrap_err();
    assert!(error.to_string().contains("No.Such"), "{error}");
    assert!(temp.names().iter().all(|name| !name.starts_with('.')), "{:?}", temp.names());
    let stream = JobSpec { inputs: vec!["-".into()], ..spec };
    let error = resume(&stream).0.unwrap_err();
    assert!(error.to_string().contains("--resume needs input that can be read again"), "{error}");
    assert!(temp.names().iter().all(|name| !name.starts_with('.')), "{:?}", temp.names());
}

/// The parts that an earlier attempt mapped are proven when all is reduced: the user may lose patience then.
#[test]
fn a_cancelled_proof_of_parts_keeps_what_is_done() {
    let temp = Temp::new("resume-proof");
    let mut encoder = Compression { target: Target::Gzip, level: None }.encoder().unwrap();
    let mut file = Vec::new();
    for member in text(3, 12_000).chunks(9000) {
        encoder.write(member, &mut file).unwrap();
        encoder.finish(&mut file).unwrap();
    }
    let spec = JobSpec { inputs: vec![temp.write("in.gz", &file)], ..job(&temp) };
    let answer = answer(&spec, &temp);
    kill_at_spill(&spec, 6);
    let (control, lines) = (Control::new(), Arc::new(Lines::default()));
    let canceller = control.clone();
    let files = FaultyFiles::only(Arc::new(RealFiles), 0, false, Fault::Killed, move |step| {
        let is_proof = canceller.progress().stage == "reduce" && step.path.ends_with("in.gz");
        if is_proof {
            canceller.cancel();
        }
        is_proof
    });
    let files = Arc::new(files);
    let env = Env { files: files.clone(), messages: lines.clone(), ..Env::real() };
    let error = run(&spec, &env, &[builtin_classes(), test_classes()], &control).unwrap_err();
    assert_eq!(error.code(), Code::Cancelled);
    assert!(files.operations() > 0, "nothing was proven");
    let lines = lines.0.lock().unwrap().clone();
    assert_eq!(lines.last().unwrap(), "resume: what is done is kept: give the same command again to go on");
    let (outcome, _) = expect(&temp, &spec, &answer);
    assert_eq!(kept(&outcome).0, outcome.report.job.splits);
}
