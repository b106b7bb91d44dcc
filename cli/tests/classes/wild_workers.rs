//! Workers that send random messages: the job ends with one line about the class, or with an output, and never with a
//! crash, a hang or an error of the engine.

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
