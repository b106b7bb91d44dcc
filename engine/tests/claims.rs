//! One job at a time writes an output: jobs that begin at once, leftovers of killed jobs, file systems without locks.

#[path = "jobs/classes.rs"]
#[allow(dead_code)]
mod classes;
#[path = "jobs/support.rs"]
#[allow(dead_code)]
mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

use yunti_base::Code;
use yunti_engine::env::faulty::{Fault, FaultyFiles, Operation};
use yunti_engine::env::real::RealFiles;
use yunti_engine::env::{Env, Files};
use yunti_engine::job::commit::{Claim, ClaimOptions, PendingOutput};
use yunti_engine::job::{Control, JobSpec, OutputTarget};

use support::{Temp, run_in};

fn job(temp: &Temp) -> JobSpec {
    let input = temp.write("in", b"b\na\nc\n");
    JobSpec { inputs: vec![input], output: OutputTarget::Directory(temp.path("out")), ..JobSpec::default() }
}

fn take(env: &Env, output: &Path) -> yunti_base::Result<Claim> {
    Claim::take(env, &Control::new(), output, &ClaimOptions::default())
}

/// Files on a file system that has no locks, or locks that other machines do not see.
fn without_locks() -> Env {
    let unsupported = Fault::Errno(libc::EOPNOTSUPP);
    let files = FaultyFiles::only(Arc::new(RealFiles), 1, true, unsupported, |s| s.operation == Operation::Lock);
    Env { files: Arc::new(files), ..Env::real() }
}

/// Makes a file or directory look old.
fn age(path: &Path, seconds: u64) {
    let time = SystemTime::now() - Duration::from_secs(seconds);
    std::fs::File::open(path).unwrap().set_modified(time).unwrap();
}

/// Leftovers of a killed job: files, and a lock file that no process has open.
fn leave(temp: &Temp, directory: &str, holder: &str) {
    temp.write(&format!("{directory}/_lock"), holder.as_bytes());
    temp.write(&format!("{directory}/new/part-r-00000"), b"half");
}

fn expect_out(temp: &Temp) {
    let names = temp.names();
    assert!(names.iter().all(|n| !n.starts_with('.')), "left: {names:?}");
    assert_eq!(std::fs::read(temp.path("out/part-r-00000")).unwrap(), b"a\nb\nc\n");
    let mut inside: Vec<_> =
        std::fs::read_dir(temp.path("out")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    inside.sort();
    assert_eq!(inside, ["_SUCCESS", "_yunti", "part-r-00000"]);
}

#[test]
fn a_lock_belongs_to_one_open_file() {
    let temp = Temp::new("lock");
    let path = temp.write("file", b"x");
    let open = || RealFiles.open_to_write(Path::new(&path)).unwrap();
    let (first, second) = (open(), open());
    first.lock().unwrap();
    // The same open file may lock again. Another one of this process may not, and closing that one frees nothing.
    first.lock().unwrap();
    assert_eq!(second.lock().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    drop(second);
    let third = open();
    assert_eq!(third.lock().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    // A child process does not inherit the lock.
    let mut child = std::process::Command::new("sleep").arg("5").spawn().unwrap();
    drop(first);
    // Another test may be between the fork and the exec of a child, which has a copy of all descriptors until its exec.
    let freed = std::time::Instant::now();
    while let Err(error) = third.lock() {
        assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
        assert!(freed.elapsed() < std::time::Duration::from_secs(3), "the child keeps the lock");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(RealFiles.open(Path::new(&path)).unwrap().lock().is_err(), "a file that is open for reading only");
}

#[test]
fn refuses_a_second_job_while_the_first_one_writes() {
    for env in [Env::real(), without_locks()] {
        let temp = Temp::new("refused");
        let spec = job(&temp);
        let claim = take(&env, &temp.path("out")).unwrap();
        let error = run_in(&env, &spec).unwrap_err();
        assert_eq!(error.code(), Code::Exists);
        let text = error.to_string();
        assert!(text.starts_with(&format!("another job (process {} on ", std::process::id())), "{text}");
        assert!(text.contains("is writing this output") && text.contains("--wait"), "{text}");
        // Overwriting does not change this.
        let over = JobSpec { overwrite: true, ..spec.clone() };
        assert_eq!(run_in(&env, &over).unwrap_err().code(), Code::Exists);
        assert_eq!(temp.names(), [".out._temporary", "in"]);
        drop(claim);
        run_in(&env, &spec).unwrap();
        expect_out(&temp);
    }
}

/// Many jobs in one process, which all have the same process id.
#[test]
fn one_of_many_jobs_at_once_wins() {
    for (round, env) in [Env::real(), without_locks(), Env::real(), without_locks()].into_iter().enumerate() {
        let temp = Temp::new("at-once");
        let spec = job(&temp);
        if round >= 2 {
            // All of them find the leftovers of killed jobs.
            let holder = r#"{"token":"0","pid":1,"host":"h","boot":"b","beats":true}"#;
            leave(&temp, ".out._temporary", holder);
            temp.write(".out._temporary-0123456789abcdef/_lock", holder.as_bytes());
            age(&temp.path(".out._temporary/_lock"), 3600);
            age(&temp.path(".out._temporary-0123456789abcdef/_lock"), 3600);
        }
        let won = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| match run_in(&env, &spec) {
                    Ok(_) => drop(won.fetch_add(1, Ordering::Relaxed)),
                    Err(e) => assert_eq!(e.code(), Code::Exists, "{e}"),
                });
            }
        });
        assert_eq!(won.into_inner(), 1, "round {round}");
        expect_out(&temp);
    }
}

#[test]
fn waiting_jobs_run_one_after_the_other() {
    let temp = Temp::new("wait");
    let spec = JobSpec { wait: true, overwrite: true, threads: Some(1), ..job(&temp) };
    let claim = take(&Env::real(), &temp.path("out")).unwrap();
    let freed = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                run_in(&Env::real(), &spec).unwrap();
                assert_eq!(freed.load(Ordering::SeqCst), 1);
            });
        }
        std::thread::sleep(Duration::from_millis(300));
        freed.store(1, Ordering::SeqCst);
        drop(claim);
    });
    expect_out(&temp);
    // The output exists: there is nothing to wait for.
    let once = JobSpec { overwrite: false, ..spec.clone() };
    assert!(run_in(&Env::real(), &once).unwrap_err().to_string().contains("the output exists already"));
}

#[test]
fn a_waiting_job_names_the_other_job_and_can_be_cancelled() {
    let temp = Temp::new("cancelled");
    let output = temp.path("out");
    let claim = take(&Env::real(), &output).unwrap();
    let control = Control::new();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            Claim::take(&Env::real(), &control, &output, &ClaimOptions { wait: true, ..ClaimOptions::default() })
                .map(drop)
        });
        let begin = Instant::now();
        while control.progress().status.is_none() {
            assert!(begin.elapsed() < Duration::from_secs(20), "it does not wait");
            std::thread::sleep(Duration::from_millis(5));
        }
        let status = control.progress().status.unwrap();
        assert!(status.contains(&format!("waiting for process {}", std::process::id())), "{status}");
        control.cancel();
        assert_eq!(waits.join().unwrap().unwrap_err().code(), Code::Cancelled);
    });
    drop(claim);
    assert!(temp.names().is_empty(), "{:?}", temp.names());
}

#[test]
fn removes_the_leftovers_of_killed_jobs() {
    let temp = Temp::new("left");
    let spec = job(&temp);
    leave(&temp, ".out._temporary", r#"{"token":"0","pid":1,"host":"h","boot":"b","beats":false}"#);
    // Killed before the claim, and before the lock file.
    temp.write(".out._temporary-0123456789abcdef/_lock", b"");
    std::fs::create_dir(temp.path(".out._temporary-0123456789abcdee")).unwrap();
    // Leftovers of a version without locks: one is old, the other may belong to a running job.
    for (name, seconds) in [("1", 2 * 86_400), ("7654321", 3600)] {
        let part = temp.write(&format!(".out._temporary-{name}/part-r-00000"), b"half");
        age(Path::new(&part), seconds);
        age(&temp.path(&format!(".out._temporary-{name}")), seconds);
    }
    run_in(&Env::real(), &spec).unwrap();
    assert_eq!(temp.names(), [".out._temporary-7654321", "in", "out"]);
    std::fs::remove_dir_all(temp.path(".out._temporary-7654321")).unwrap();
    expect_out(&temp);
}

/// Each operation of a job that cleans up after a killed one fails once. The job succeeds or fails with one error, and
/// the next job runs normally.
#[test]
fn survives_a_failed_cleanup_after_a_killed_job() {
    let temp = Temp::new("clearing");
    let spec = job(&temp);
    let mut nth = 1;
    loop {
        let _ = std::fs::remove_dir_all(temp.path("out"));
        leave(&temp, ".out._temporary", "{}");
        temp.write(".out._temporary/older/part-r-00000", b"older");
        temp.write(".out._temporary-0123456789abcdef/_lock", b"");
        temp.write("out/part-r-00000", b"older");
        let files = Arc::new(FaultyFiles::new(Arc::new(RealFiles), nth, false, Fault::Errno(libc::EIO)));
        let spec = JobSpec { overwrite: true, ..spec.clone() };
        let overwrite = ClaimOptions::of(&spec);
        let claim =
            Claim::take(&Env { files: files.clone(), ..Env::real() }, &Control::new(), &temp.path("out"), &overwrite);
        let operations = files.operations();
        if let Err(e) = claim.map(drop) {
            assert!(e.code() == Code::Output && e.path().is_some(), "operation {nth}: {e}");
        }
        assert_eq!(std::fs::read(temp.path("out/part-r-00000")).unwrap(), b"older", "operation {nth}");
        run_in(&Env::real(), &spec).unwrap_or_else(|e| panic!("after operation {nth}: {e}"));
        expect_out(&temp);
        if operations < nth {
            break;
        }
        nth += 1;
    }
    assert!(nth > 20, "{nth} operations");
}

/// A job that was killed between two renames has moved the older output away: the next one puts it back.
#[test]
fn restores_an_older_output_that_was_moved_away() {
    let temp = Temp::new("older");
    let spec = job(&temp);
    leave(&temp, ".out._temporary", "{}");
    temp.write(".out._temporary/older/part-r-00000", b"older");
    let error = run_in(&Env::real(), &spec).unwrap_err();
    assert!(error.code() == Code::Exists && error.to_string().contains("exists already"), "{error}");
    assert_eq!(std::fs::read(temp.path("out/part-r-00000")).unwrap(), b"older");
    assert_eq!(temp.names(), ["in", "out"]);
}

#[test]
fn age_decides_without_locks() {
    let temp = Temp::new("age");
    let (env, spec) = (without_locks(), job(&temp));
    let beats = r#"{"token":"0","pid":77,"host":"far","boot":"b","beats":true}"#;
    // The last beat is recent: the job may be alive.
    leave(&temp, ".out._temporary", beats);
    let text = run_in(&env, &spec).unwrap_err().to_string();
    assert!(text.contains("process 77 on far"), "{text}");
    // Some beats are missing: the job may be alive or dead, and the error names the remedy.
    age(&temp.path(".out._temporary/_lock"), 1);
    let text = run_in(&env, &spec).unwrap_err().to_string();
    assert!(text.contains("locks of this file system do not show which") && text.contains("remove "), "{text}");
    // No beat for long: the job is dead.
    age(&temp.path(".out._temporary/_lock"), 3600);
    run_in(&env, &spec).unwrap();
    expect_out(&temp);
    // A holder that does not beat because it has a real lock, which is invisible here: it counts for a day.
    for (seconds, expect) in [(3600, false), (2 * 86_400, true)] {
        std::fs::remove_dir_all(temp.path("out")).unwrap_or_default();
        let _ = std::fs::remove_dir_all(temp.path(".out._temporary"));
        leave(&temp, ".out._temporary", &beats.replace("true", "false"));
        for name in ["new/part-r-00000", "new", "_lock", ""] {
            age(&temp.path(&format!(".out._temporary/{name}")), seconds);
        }
        assert_eq!(run_in(&env, &spec).is_ok(), expect, "{seconds}");
    }
    expect_out(&temp);
}

/// On a file system without locks, beats keep a running job's claim. A waiting job outlives a killed one.
#[test]
fn beats_keep_a_claim() {
    let temp = Temp::new("beats");
    let (env, output) = (without_locks(), temp.path("out"));
    let claim = take(&env, &output).unwrap();
    // Longer than a job without beats counts as alive.
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(3500) {
        assert!(take(&env, &output).is_err());
        std::thread::sleep(Duration::from_millis(100));
    }
    // A claim ends when another job takes its directory.
    let claim = Arc::new(claim);
    let mut pending = PendingOutput::begin(env.files.clone(), claim.clone(), false, &|_| false).unwrap();
    claim.check().unwrap();
    std::fs::remove_file(temp.path(".out._temporary/_lock")).unwrap();
    temp.write(".out._temporary/_lock", br#"{"token":"1","pid":1,"host":"h","boot":"b","beats":true}"#);
    let error = pending.commit(false).unwrap_err();
    assert!(error.to_string().contains("another job took over this output"), "{error}");
    drop(claim);
    assert!(temp.path(".out._temporary/_lock").exists(), "the claim of another job was removed");
}

/// Chains claim their output before their first job.
#[test]
fn refuses_a_chain_before_its_first_job() {
    let temp = Temp::new("chain");
    let spec = JobSpec { then: vec![JobSpec::default()], memory_bytes: Some(64 << 20), ..job(&temp) };
    let claim = take(&Env::real(), &temp.path("out")).unwrap();
    let error = run_in(&Env::real(), &spec).unwrap_err();
    assert!(error.code() == Code::Exists && error.to_string().starts_with("another job"), "{error}");
    drop(claim);
    run_in(&Env::real(), &spec).unwrap();
    expect_out(&temp);
}
