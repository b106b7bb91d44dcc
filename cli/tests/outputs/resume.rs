//! Jobs with `--resume` that get SIGKILL at any moment: the same command goes on, with the same bytes.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use crate::support::Dir;

/// Kills a job `after` milliseconds, then runs it to its end. Returns the lines of the second attempt.
fn killed_and_resumed(dir: &Dir, words: &str, after_ms: u64) -> String {
    let mut child = dir.command(words).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(after_ms));
    // SIGKILL.
    child.kill().unwrap();
    child.wait().unwrap();
    if dir.path("out").exists() {
        // It was faster; but the kill may have come before it removed its journal.
        dir.ok(&format!("{words} --overwrite"));
        return String::new();
    }
    let output = dir.run(words);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "killed after {after_ms} ms: {stderr}");
    stderr
}

/// Kills a job at many moments. Returns the number of attempts that kept something.
fn at_many_moments(dir: &Dir, job: &str, whole: &str) -> usize {
    let begin = std::time::Instant::now();
    let output = dir.run(&format!("{job} -o whole {whole}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let all_ms = begin.elapsed().as_millis() as u64;
    let expected = parts(dir, "whole");
    let words = format!("{job} -o out --resume --scratch scratch");
    let mut kept = 0;
    for i in 1..=12 {
        let lines = killed_and_resumed(dir, &words, 5 + all_ms * i / 8);
        kept += usize::from(lines.contains("splits") && lines.contains("kept"));
        assert!(parts(dir, "out") == expected, "other bytes after {} ms: {lines}", 5 + all_ms * i / 8);
        fs::remove_dir_all(dir.path("out")).unwrap();
        let left: Vec<_> = fs::read_dir(dir.path("scratch")).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(left.is_empty() && !dir.path(".out._temporary").exists(), "{left:?}");
    }
    kept
}

fn parts(dir: &Dir, out: &str) -> Vec<(String, Vec<u8>)> {
    let mut parts: Vec<(String, Vec<u8>)> = fs::read_dir(dir.path(out))
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap()))
        .collect();
    parts.sort();
    parts
}

fn with_data(kind: &str) -> Dir {
    let dir = Dir::new();
    fs::create_dir(dir.path("scratch")).unwrap();
    let output = dir.run(&format!("generate {kind} -o in -q"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    dir
}

#[test]
fn a_killed_sort_goes_on() {
    let dir = with_data("tera --records 200000");
    let job = "run terasort -i in --reduces 3 --split-size 1MiB -D resume.checkpoint.ms=0 -q";
    let kept = at_many_moments(&dir, &format!("{job} --memory 16MiB"), "");
    assert!(kept > 0, "no attempt kept anything");
}

#[test]
fn a_killed_count_goes_on() {
    let dir = with_data("text --bytes 16MB");
    let job = "run wordcount -i in --reduces 2 --mode sorted --split-size 1MiB -D resume.checkpoint.ms=0 -q";
    let kept = at_many_moments(&dir, job, "");
    assert!(kept > 0, "no attempt kept anything");
}

#[test]
fn a_killed_job_of_programs_goes_on() {
    let dir = with_data("text --bytes 4MB");
    let job = "run -i in --mode none --mapper cat --split-size 256KiB -q";
    let kept = at_many_moments(&dir, job, "");
    assert!(kept > 0, "no attempt kept anything");
    // Another program is another job.
    dir.write("p", b"#!/bin/sh\ncat\n");
    fs::set_permissions(dir.path("p"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let job = "streaming -input in -output out -mapper ./p -numReduceTasks 0 --split-size 256KiB --resume --quiet";
    let mut child = dir.command(job).stderr(Stdio::null()).spawn().unwrap();
    let parts = || fs::read_dir(dir.path(".out._temporary/new")).map_or(0, |names| names.count());
    while parts() < 3 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    dir.write("p", b"#!/bin/sh\ntr a-z A-Z\n");
    if !dir.path("out").exists() {
        let output = dir.run(job);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && !stderr.contains("are kept"), "{stderr}");
        assert!(dir.read("out/part-00000").iter().all(|b| !b.is_ascii_lowercase()));
    }
}

#[test]
fn resume_needs_a_directory_and_one_machine() {
    let dir = Dir::new();
    dir.write("in", b"a\n");
    for (words, what) in [
        ("run sort -i in --resume", "--resume needs an output directory, beside which it keeps a journal"),
        ("run sort -i in -o - --resume", "--resume needs an output directory"),
        ("run sort -i in -o out --resume -D resume.checkpoint.ms=x", "'x' is not a number of milliseconds"),
        ("run sort -i in -o out --resume -D resume.cost.percent=0", "'0' is not a whole number from 1 to 100"),
    ] {
        dir.fails(words, 2, what);
        assert!(!dir.path(".out._temporary").exists());
    }
}
