//! Several processes with one output, also in separate PID namespaces, like containers that share a directory.

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Dir;

/// Returns the same command in a new PID namespace, where it is process 1 and sees no process outside.
fn contained(command: &Command) -> Command {
    let mut unshare = Command::new("unshare");
    unshare.args(["--pid", "--fork", "--kill-child", "--mount-proc"]);
    unshare.arg(command.get_program()).args(command.get_args()).current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => unshare.env(name, value),
            None => unshare.env_remove(name),
        };
    }
    unshare.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    unshare
}

/// Returns false, and prints a note, if this machine does not allow PID namespaces.
fn has_namespaces() -> bool {
    let probe = Command::new("unshare").args(["--pid", "--fork", "--mount-proc", "true"]).output();
    let works = probe.as_ref().is_ok_and(|output| output.status.success());
    if !works {
        eprintln!("SKIPPED: no PID namespaces: {probe:?}");
    }
    works
}

/// Starts a job that writes `out` and runs until its input ends.
fn begin(dir: &Dir, in_namespace: bool) -> (Child, ChildStdin) {
    let command = dir.command("run sort --input - --output out --scratch . -q");
    let mut command = if in_namespace { contained(&command) } else { command };
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"first\n").unwrap();
    until("it does not begin", || dir.path(".out._temporary/new").exists());
    (child, input)
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for a job; returns its exit code and standard error.
fn end(mut child: Child) -> (Option<i32>, String) {
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    (child.wait().unwrap().code(), text)
}

fn expect_out(dir: &Dir, records: &str) {
    assert_eq!(String::from_utf8(dir.read("out/part-r-00000")).unwrap(), records);
    let names = dir.names();
    assert!(!names.iter().any(|n| n.contains("_temporary") || n.contains("_lock")), "{names:?}");
}

/// Two containers that share a directory: the second job must neither remove nor replace what the first one writes.
#[test]
fn jobs_of_two_containers_do_not_disturb_each_other() {
    let second = "run sort --input in --output out -q";
    for (first_contained, second_contained) in [(false, false), (false, true), (true, false), (true, true)] {
        if (first_contained || second_contained) && !has_namespaces() {
            continue;
        }
        let dir = Dir::new();
        dir.write("in", b"second\n");
        let (first, input) = begin(&dir, first_contained);
        let run = |words: &str| {
            let command = dir.command(words);
            if second_contained { contained(&command).output().unwrap() } else { dir.run(words) }
        };
        for words in [second, &format!("{second} --overwrite"), "generate text --bytes 10 -o out -q"] {
            let refused = run(words);
            let text = String::from_utf8(refused.stderr).unwrap();
            assert_eq!(refused.status.code(), Some(8), "{words}: {text}");
            assert!(text.starts_with("yunti: another job (process ") && text.lines().count() == 1, "{text}");
            assert!(text.contains("is writing this output: out: wait for it with --wait, or name another"), "{text}");
        }
        drop(input);
        let (code, text) = end(first);
        assert_eq!(code, Some(0), "the first job, {first_contained} {second_contained}: {text}");
        expect_out(&dir, "first\n");
        let refused = run(second);
        assert!(String::from_utf8(refused.stderr).unwrap().contains("the output exists already"));
        assert!(run(&format!("{second} --overwrite")).status.success());
        expect_out(&dir, "second\n");
    }
}

#[test]
fn a_job_waits_for_another_one() {
    for (more, records, code) in [("--overwrite", "second\n", 0), ("", "first\n", 8)] {
        let dir = Dir::new();
        dir.write("in", b"second\n");
        let (first, input) = begin(&dir, false);
        let words = format!("run sort --input in --output out -q --wait {more}");
        let mut second = dir.command(&words).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(500));
        assert!(second.try_wait().unwrap().is_none(), "it does not wait");
        drop(input);
        assert_eq!(end(first).0, Some(0));
        let (ended, text) = end(second);
        assert_eq!(ended, Some(code), "{text}");
        assert!(code == 0 || text.contains("the output exists already"), "{text}");
        expect_out(&dir, records);
    }
}

#[test]
fn a_signal_ends_a_job_that_waits() {
    let dir = Dir::new();
    dir.write("in", b"second\n");
    let (first, input) = begin(&dir, false);
    let second = dir.command("run sort --input in --output out --wait").stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert!(Command::new("kill").args(["-TERM", &second.id().to_string()]).status().unwrap().success());
    let (code, text) = end(second);
    assert!(code == Some(130) && text.lines().count() == 1, "{code:?}: {text}");
    drop(input);
    assert_eq!(end(first).0, Some(0));
    expect_out(&dir, "first\n");
}

/// A killed job leaves its directory. Process ids do not show that, since another container may have the same ids.
#[test]
fn the_next_job_removes_the_directory_of_a_killed_one() {
    for contained_first in [false, true] {
        if contained_first && !has_namespaces() {
            continue;
        }
        let dir = Dir::new();
        dir.write("in", b"second\n");
        let (mut first, _input) = begin(&dir, contained_first);
        // Kills `unshare`; with --kill-child that ends the job too.
        first.kill().unwrap();
        first.wait().unwrap();
        assert!(dir.path(".out._temporary/_lock").exists());
        // The kernel frees the lock when the process is gone.
        until("its lock stays", || dir.run("run sort --input in --output out -q").status.success());
        expect_out(&dir, "second\n");
    }
}

#[test]
fn of_twenty_processes_one_wins() {
    let names = has_namespaces();
    for round in 0..3 {
        let dir = Dir::new();
        let lines: String = (0..2000).map(|i| format!("{i:05}\n")).collect();
        dir.write("in", lines.as_bytes());
        if round == 2 {
            let (mut killed, _input) = begin(&dir, false);
            killed.kill().unwrap();
            killed.wait().unwrap();
        }
        let all: Vec<Child> = (0..20)
            .map(|i| {
                let command = dir.command("run sort --input in --output out --threads 1 -q");
                // Half of them are process 1 of a container.
                let mut command = if names && i % 2 == 0 { contained(&command) } else { command };
                command.stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        let ends: Vec<_> = all.into_iter().map(end).collect();
        let won = ends.iter().filter(|(code, _)| *code == Some(0)).count();
        assert!(won == 1 && ends.iter().all(|(code, _)| matches!(code, Some(0 | 8))), "{ends:?}");
        expect_out(&dir, &lines);
    }
}

/// A job with --overwrite that is killed at any moment leaves the older or the new output, and the next job cleans up.
#[test]
fn a_job_that_is_killed_at_any_moment_leaves_a_whole_output() {
    let dir = Dir::new();
    let lines = |from: u32| (from..from + 3000).map(|i| format!("{i:07}\n")).collect::<String>();
    let words = "run sort --input in --output out --overwrite --threads 1 -q";
    dir.write("in", lines(0).as_bytes());
    dir.ok(words);
    let mut before = lines(0);
    for i in 1..40u32 {
        let now = lines(i * 10_000);
        dir.write("in", now.as_bytes());
        let mut child = dir.command(words).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(u64::from(i)));
        child.kill().unwrap();
        child.wait().unwrap();
        let got = String::from_utf8(dir.read("out/part-r-00000")).unwrap();
        assert!(got == before || got == now, "after {i} ms: neither output is whole");
        assert!(dir.path("out/_SUCCESS").exists());
        before = got;
    }
    dir.ok(words);
    expect_out(&dir, &lines(390_000));
    assert!(fs::read_dir(dir.path(".")).unwrap().count() <= 3, "{:?}", dir.names());
}
