//! Workers that send random messages: the job ends with one line about the class, or with an output, and never with a
//! crash, a hang or an error of the engine.

use std::os::unix::fs::PermissionsExt;

use crate::endings::{USER_CODE, error_line};
use crate::support::Dir;

const WORKER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/class_libraries/wild_worker.py");

#[test]
fn random_messages_do_no_harm() {
    let dir = Dir::new();
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: python3 is not installed");
        return;
    }
    dir.write("in.txt", "some words in a line\n".repeat(300).as_bytes());
    let mut failed = 0;
    for seed in 0..60 {
        let worker = format!("python3 {WORKER} {seed}");
        let words = "run --mapper Wild.Map --folder Yunti.SumFolder -i in.txt -o out --overwrite --attempts 2 --quiet \
                     --timeout 20";
        let output = dir.command(words).args(["--worker", &worker]).output().unwrap();
        let code = output.status.code();
        assert!([Some(0), Some(USER_CODE)].contains(&code), "seed {seed}: {output:?}");
        if code != Some(0) {
            failed += 1;
            let lines = error_line(&output);
            assert!(lines.lines().last().is_some_and(|line| line.starts_with("yunti: ")), "seed {seed}: {lines}");
            assert!(!lines.contains("panicked") && !lines.contains("a bug"), "seed {seed}: {lines}");
        }
    }
    assert!(failed > 30, "only {failed} of 60 failed: the worker is too tame");
}

#[test]
fn a_worker_that_does_not_start_is_named_with_the_reason() {
    let dir = Dir::with_books();
    dir.write("bad.sh", b"#!/no/such/interpreter\n");
    dir.write("plain.sh", b"#!/bin/sh\nexit 3\n");
    std::fs::set_permissions(dir.path("bad.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    for (command, what) in [
        ("./nosuch", "--worker ./nosuch: there is no such program: ./nosuch: check the path"),
        ("no-such-program-here x", "--worker no-such-program-here x: there is no program no-such-program-here in PATH"),
        ("./plain.sh", "--worker ./plain.sh: this file cannot be executed: ./plain.sh: chmod +x"),
        ("./bad.sh", "--worker ./bad.sh: cannot start a worker process: No such file or directory"),
        ("sh plain.sh", "--worker sh plain.sh: a worker process ended its process with exit code 3: run this command"),
    ] {
        let before = dir.names();
        let mut words = dir.command("run --mapper m -i books -o out --scratch .");
        let run = words.args(["--worker", command]).output().unwrap();
        let error = String::from_utf8(run.stderr).unwrap();
        assert_eq!((run.status.code(), error.lines().count()), (Some(6), 1), "{command}: {error}");
        assert!(error.starts_with(&format!("yunti: {what}")), "{command}: {error}");
        assert_eq!(dir.names(), before, "{command}");
    }
}
