//! Classes in worker processes: whatever ends a worker costs an attempt, and the job goes on with the same output.

use std::os::unix::process::CommandExt;
use std::time::Instant;

use crate::endings::{ALL, JOB, USER_CODE, error_line, with_library};
use crate::support::Dir;

const OUTPUT: &[u8] = b"a\t4\nc\t2\n";
/// Places in a task, with the classes of a job that calls them.
const ORDER: &str = "--mapper Ending.Map --reducer Ending.Sum --key-order Ending.Order";
const FOLD: &str = "--mapper Ending.Map --folder Ending.Fold --reduces 2";
const FORMATS: &str = "--input-format class:Ending.Read --output-format class:Ending.Write --mode none";

fn output(dir: &Dir) -> Vec<u8> {
    let mut parts: Vec<String> = std::fs::read_dir(dir.path("out")).unwrap().map(|e| name(&e.unwrap())).collect();
    parts.retain(|name| name.starts_with("part-"));
    parts.sort();
    parts.iter().flat_map(|name| dir.read(&format!("out/{name}"))).collect()
}

fn name(entry: &std::fs::DirEntry) -> String {
    entry.file_name().into_string().unwrap()
}

/// Runs a job whose class ends its process once, and then a job without that.
fn survives(dir: &Dir, classes: &str, place: &str, how: &str, more: &str) {
    let words =
        format!("{JOB} {classes} --isolate -o out --overwrite -D ending.where={place} -D ending.how={how} {more}");
    let _ = std::fs::remove_file(dir.path("once"));
    let run = dir.run(&format!("{words} -D ending.once=once"));
    assert_eq!(run.status.code(), Some(0), "{place} {how}: {run:?}");
    assert!(dir.path("once").exists(), "{place} {how}: nothing ended");
    assert!(error_line(&run).contains("attempt 1 of 4: Ending."), "{place} {how}: {run:?}");
    assert_eq!(output(dir), OUTPUT, "{place} {how}");
}

#[test]
fn gives_the_output_of_classes_in_the_process() {
    let Some(dir) = with_library() else { return };
    for classes in [ALL, ORDER, FORMATS, "--mapper Ending.Map --folder Yunti.SumFolder", FOLD] {
        let mut outputs = Vec::new();
        for isolate in ["", "--isolate"] {
            for threads in [1, 3] {
                let run = dir.run(&format!("{JOB} {classes} {isolate} -o out --overwrite --threads {threads}"));
                assert_eq!(run.status.code(), Some(0), "{classes} {isolate}: {run:?}");
                outputs.push(output(&dir));
            }
        }
        assert!(!outputs[0].is_empty());
        assert!(outputs.iter().all(|output| *output == outputs[0]), "{classes}: {outputs:?}");
    }
}

#[test]
fn every_end_of_a_worker_costs_one_attempt() {
    let Some(dir) = with_library() else { return };
    for how in [
        "exit",
        "exit3",
        "quick_exit",
        "_exit",
        "segv",
        "bus",
        "abort",
        "overflow",
        "fpe",
        "ill",
        "trap",
        "sys",
        "kill",
        "thread_exit",
        "thread_segv",
        "thread_abort",
        "thread_throw",
        "all_exit",
    ] {
        survives(&dir, ALL, "map", how, "");
    }
    for place in ["construct", "flush", "destroy", "combine", "partition", "reduce"] {
        for how in ["exit", "segv"] {
            survives(&dir, ALL, place, how, "");
        }
    }
    survives(&dir, ORDER, "arrange", "segv", "");
    survives(&dir, FOLD, "fold", "exit", "");
}

#[test]
fn a_worker_without_progress_is_killed() {
    let Some(dir) = with_library() else { return };
    for how in ["loop", "stop"] {
        let begin = Instant::now();
        survives(&dir, ALL, "map", how, "--timeout 0.5");
        assert!(begin.elapsed().as_secs() < 20);
    }
}

#[test]
fn the_last_attempt_ends_the_job() {
    let Some(dir) = with_library() else { return };
    let before = dir.names();
    for (classes, place, who, how, what) in [
        (ALL, "map", "Ending.Map", "segv", "ended its process by signal 11 (SIGSEGV"),
        (ALL, "map", "Ending.Map", "exit", "ended its process with exit code 0"),
        (ALL, "construct", "Ending.Map", "abort", "ended its process by signal 6 (SIGABRT"),
        (ALL, "combine", "Ending.Combine", "segv", "ended its process by signal 11"),
        (ALL, "partition", "Ending.Part", "segv", "ended its process by signal 11"),
        (ALL, "reduce", "Ending.Sum", "segv", "ended its process by signal 11"),
        (ORDER, "arrange", "Ending.Order", "segv", "ended its process by signal 11"),
        (FORMATS, "read", "Ending.Read", "segv", "ended its process by signal 11"),
        (FORMATS, "write", "Ending.Write", "segv", "ended its process by signal 11"),
    ] {
        for attempts in [1, 3] {
            let run = dir.run(&format!(
                "{JOB} {classes} --isolate -o out --attempts {attempts} -D ending.where={place} -D ending.how={how}"
            ));
            assert_eq!(run.status.code(), Some(USER_CODE), "{place}: {run:?}");
            let lines = error_line(&run);
            let last = lines.lines().last().unwrap_or_default();
            assert!(last.starts_with(&format!("yunti: {who} {what}")), "{place}: {lines}");
            assert!(place != "map" || last.contains(": in/"), "{lines}");
            assert_eq!(dir.names(), before, "{place}");
        }
    }
}

#[test]
fn a_library_that_cannot_be_loaded() {
    let Some(dir) = with_library() else { return };
    for (how, what) in [("exit", "with exit code 0"), ("segv", "by signal 11")] {
        let run = dir.command(&format!("{JOB} {ALL} --isolate -o out")).env("ENDING_LOAD", how).output().unwrap();
        assert_eq!(run.status.code(), Some(USER_CODE), "{run:?}");
        assert!(error_line(&run).starts_with(&format!("yunti: a worker process ended its process {what}")), "{run:?}");
    }
    dir.fails("run --lib ./no.so --mapper A.B --isolate -i in -o out", USER_CODE, "there is no class library");
}

/// A class that writes over its batch changes a copy.
#[test]
fn writes_over_the_batch_change_no_other_task() {
    let Some(dir) = with_library() else { return };
    let run = dir.run(&format!("{JOB} {ALL} --isolate -o out -D ending.how=scribble"));
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    let text = String::from_utf8(output(&dir)).unwrap();
    // One line of the batch is changed, and no other.
    assert_eq!(text, "a\t4\nc\t1\nzzz\t1\n");
}

#[test]
fn no_worker_stays() {
    let Some(dir) = with_library() else { return };
    let words = format!("{JOB} {ALL} --isolate -o out -D ending.where=map -D ending.how=loop");
    let mut child = dir.command(&words).spawn().unwrap();
    let children = || workers_of(child.id());
    let begin = Instant::now();
    let mut workers = children();
    while workers.is_empty() && begin.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(20));
        workers = children();
    }
    assert!(!workers.is_empty());
    // SIGKILL: the job cannot end its workers, so they must notice.
    child.kill().unwrap();
    child.wait().unwrap();
    while workers.iter().any(|pid| runs(*pid)) {
        assert!(begin.elapsed().as_secs() < 40, "{workers:?} still run");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

fn workers_of(parent: u32) -> Vec<u32> {
    let pids = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|e| name(&e).parse::<u32>().ok());
    pids.filter(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let after = stat.rsplit_once(") ").map(|(_, rest)| rest.to_owned()).unwrap_or_default();
        after.split(' ').nth(1) == Some(&parent.to_string())
    })
    .collect()
}

fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn a_sandbox_refuses_what_reaches_beyond_the_process() {
    let Some(dir) = with_library() else { return };
    let words = |more: &str| format!("{JOB} {ALL} {more} -o out --overwrite -D ending.where=map -D ending.how=escape");
    let free = dir.run(&words("--isolate --attempts 1"));
    assert!(error_line(&free).contains("escaped by file rename network signal"), "{free:?}");
    std::fs::rename(dir.path("out-of-in"), dir.path("in")).unwrap();
    std::fs::remove_file(dir.path("escaped.txt")).unwrap();
    let before = dir.names();
    let run = dir.run(&words("--sandbox"));
    let lines = error_line(&run);
    if lines.contains("sandbox: ") {
        // The kernel says what it cannot do. Then the class says the same.
        eprintln!("partly skipped: {lines}");
        return;
    }
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    assert_eq!(output(&dir), OUTPUT);
    std::fs::remove_dir_all(dir.path("out")).unwrap();
    assert_eq!(dir.names(), before);
}

#[test]
fn the_memory_of_a_worker_is_limited() {
    let Some(dir) = with_library() else { return };
    let words = format!("{JOB} {ALL} --isolate --attempts 1 --worker-memory 256MiB -o out");
    let run = dir.run(&format!("{words} -D ending.where=map -D ending.how=leak"));
    assert_eq!(run.status.code(), Some(USER_CODE), "{run:?}");
    assert!(error_line(&run).contains("an allocation of the class failed"), "{run:?}");
    let run = dir.run(&words);
    assert_eq!((run.status.code(), output(&dir)), (Some(0), OUTPUT.to_vec()), "{run:?}");
}

/// Ctrl-C in a terminal reaches the whole process group of the job.
#[test]
fn ctrl_c_cancels_the_job_and_ends_its_workers() {
    let Some(dir) = with_library() else { return };
    let words = format!("{JOB} {ALL} --isolate -o out -D ending.where=map -D ending.how=loop");
    let mut command = dir.command(&words);
    command.process_group(0).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    let (id, begin) = (child.id(), Instant::now());
    while workers_of(id).is_empty() {
        assert!(begin.elapsed().as_secs() < 20);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let workers = workers_of(id);
    let kill = std::process::Command::new("kill").args(["-INT", "--", &format!("-{id}")]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert_eq!(error_line(&output), "yunti: the job was cancelled\n");
    assert!(!workers.iter().any(|pid| runs(*pid)), "{workers:?}");
}
