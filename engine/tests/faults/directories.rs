//! Full or broken disks, one scratch directory of several or all of them, and flipped bits in what is read.

use std::path::Path;
use std::sync::Arc;

use yunti_base::Code;
use yunti_engine::codec::encode::Target;
use yunti_engine::env::Files;
use yunti_engine::env::faulty::{Fault, FaultyFiles, Operation, Place, Step};
use yunti_engine::job::{InputFormat, JobSpec, Mode};

use crate::cases::{Case, Out, application, compressed, lines};

const EIO: Fault = Fault::Errno(libc::EIO);
const FULL: Fault = Fault::Errno(libc::ENOSPC);

fn large() -> JobSpec {
    JobSpec { mapper: Some("Test.Large".into()), ..JobSpec::default() }
}

fn tables() -> JobSpec {
    JobSpec {
        mapper: Some("Test.Words".into()),
        folder: Some("Yunti.SumFolder".into()),
        mode: Mode::Grouped,
        ..JobSpec::default()
    }
}

fn spilling() -> [Case; 2] {
    [
        Case::new("directories, sorted", &[("in", &lines(24))], Out::Overwrite, large()),
        Case::new("directories, tables", &[("in", &lines(40))], Out::Fresh, tables()),
    ]
}

fn within(directory: &'static str) -> impl Fn(&Step) -> bool + Send + Sync + 'static {
    move |step| step.place == Place::Scratch && step.path.ends_with(directory)
}

/// Selects writes to the directory, or its opening for them.
fn into(directory: &'static str) -> impl Fn(&Step) -> bool + Send + Sync + 'static {
    let within = within(directory);
    move |step| within(step) && step.operation != Operation::Read
}

/// Runs the case over these files; expects the answer, or an error of these codes with nothing left behind.
fn check(case: &Case, codes: &[Code], what: &str, faulty: impl Fn(Arc<dyn Files>) -> FaultyFiles) -> u64 {
    let (faulty, streams, result) = case.run_over(faulty);
    match result {
        Ok(_) => case.expect_answer(&streams, what),
        Err(e) => {
            assert!(codes.contains(&e.code()) && e.path().is_some(), "{}, {what}: {:?}: {e}", case.name, e.code());
            case.expect_nothing(&streams, what);
            case.reset();
        }
    }
    faulty.operations()
}

#[test]
fn survives_full_disks_from_any_operation_on() {
    let mut cases = 0;
    for case in spilling() {
        let step = 1 + check(&case, &[], "nothing fails", |f| FaultyFiles::new(f, 0, false, FULL)) as usize / 60;
        for nth in (1..).step_by(step) {
            let what = format!("full from operation {nth} on");
            cases += 1;
            if check(&case, &[Code::Input, Code::Output], &what, |f| FaultyFiles::new(f, nth, true, FULL)) < nth {
                break;
            }
        }
    }
    println!("a disk that stays full: {cases} cases");
}

/// A disk that accepts only removals from some operation on, under a durable job.
#[test]
fn survives_broken_disks_under_a_durable_job() {
    let mut cases = 0;
    for out in [Out::Fresh, Out::Deep] {
        let spec = JobSpec { durable: true, reduces: 3, ..JobSpec::default() };
        let case = Case::new("durable", &[("in", &lines(40))], out, spec);
        for nth in 1.. {
            let what = format!("broken from operation {nth} on");
            cases += 1;
            if check(&case, &[Code::Input, Code::Output], &what, |f| FaultyFiles::new(f, nth, true, EIO)) < nth {
                break;
            }
        }
    }
    println!("a disk that breaks under a durable job: {cases} cases");
}

/// Each directory in turn is full or broken from any of its operations on; the others have room.
#[test]
fn survives_each_scratch_directory_failing() {
    let mut cases = 0;
    for case in spilling() {
        for (directory, fault) in [("s", FULL), ("t", FULL), ("s", EIO), ("t", EIO)] {
            let writes = check(&case, &[], "count", |f| FaultyFiles::only(f, 0, true, fault, into(directory)));
            for nth in (1..=writes).step_by(1 + writes as usize / 20) {
                let what = format!("{directory} fails from write {nth} on, {fault:?}");
                check(&case, &[], &what, |f| FaultyFiles::only(f, nth, true, fault, into(directory)));
                cases += 1;
            }
            // Data that cannot be read back is lost, and the job reports it.
            let all = check(&case, &[], "count", |f| FaultyFiles::only(f, 0, true, fault, within(directory)));
            for nth in (1..=all).step_by(1 + all as usize / 20) {
                let what = format!("{directory} fails from operation {nth} on, {fault:?}");
                check(&case, &[Code::Output], &what, |f| FaultyFiles::only(f, nth, true, fault, within(directory)));
                cases += 1;
            }
        }
        // No directory has room.
        let (_, streams, result) = case.run_over(|f| {
            FaultyFiles::only(f, 4, true, FULL, |s| s.place == Place::Scratch && s.operation != Operation::Read)
        });
        let message = result.map(|_| ()).unwrap_err().to_string();
        assert!(message.contains("No space left on device") && message.contains("free some space"), "{message}");
        case.expect_nothing(&streams, "all scratch directories are full");
        case.reset();
    }
    println!("one scratch directory of two that fails: {cases} cases");
}

#[test]
fn reports_a_retired_directory() {
    let settings = [("scratch.errors.max".to_string(), "3".to_string())].into();
    let case = Case::new("reported", &[("in", &lines(40))], Out::Fresh, JobSpec { settings, ..large() });
    let (faulty, streams, result) = case.run_over(|f| FaultyFiles::only(f, 1, true, EIO, into("s")));
    let failed = result.unwrap().report.spill.failed_directories;
    assert_eq!(failed.iter().map(Path::new).collect::<Vec<_>>(), [case.temp.path("s")]);
    assert_eq!(faulty.operations(), 3, "it is still tried");
    case.expect_answer(&streams, "reported");
    for (key, value) in [("max", "0"), ("max", "many"), ("window.ms", "-1"), ("window.ms", "")] {
        let key = format!("scratch.errors.{key}");
        let settings = [(key.clone(), value.to_string())].into();
        let spec = JobSpec { settings, ..case.spec.clone() };
        let error = crate::support::run_in(&yunti_engine::env::Env::real(), &spec).err().unwrap();
        assert!(error.code() == Code::Usage && error.to_string().starts_with(&key), "{error}");
    }
}

/// A flipped bit in a compressed file is detected. A flipped bit in text is undetectable, but does no harm.
#[test]
fn flipped_bits_in_the_input() {
    let reads = |step: &Step| step.place == Place::Opened && step.operation == Operation::Read;
    let mut cases = 0;
    for target in Target::ALL {
        let file = format!("in{}", target.extension());
        let spec = JobSpec { inputs: vec![file.clone()], memory_bytes: Some(192 << 20), ..JobSpec::default() };
        let case = Case::new("turned", &[(&file, &compressed(target, &lines(400)))], Out::Fresh, spec);
        // lz4 and snappy in Hadoop's blocks have no checksum of their contents; zlib's deflate has one at the end.
        let checked = !target.name().starts_with("hadoop");
        let n = check(&case, &[], "count", |f| FaultyFiles::only(f, 0, false, EIO, reads));
        for nth in 1..=n {
            let (_, streams, result) = case.run_over(|f| FaultyFiles::only(f, nth, false, Fault::Torn, reads));
            let what = format!("{}, read {nth}", target.name());
            match result {
                Err(e) => {
                    assert!(e.code() == Code::Corrupt && e.path().is_some(), "{what}: {e}");
                    case.expect_nothing(&streams, &what);
                }
                Ok(_) if checked => case.expect_answer(&streams, &what),
                Ok(_) => case.reset(),
            }
            cases += 1;
        }
    }
    let fixed = InputFormat::Fixed { record_bytes: 10, key_bytes: 4 };
    for spec in [application("wordcount"), JobSpec { input_format: fixed, ..JobSpec::default() }] {
        let case = Case::new("turned text", &[("in", &lines(1000)[..8000])], Out::Fresh, spec);
        for nth in 1..=20 {
            let (_, streams, result) = case.run_over(|f| FaultyFiles::only(f, nth, false, Fault::Torn, reads));
            if let Err(e) = result {
                assert!(e.code() != Code::Internal, "{e}");
                case.expect_nothing(&streams, "turned text");
            }
            case.reset();
            cases += 1;
        }
    }
    println!("a turned bit in the input: {cases} cases");
}
