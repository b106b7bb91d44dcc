//! The command as a process: signals, closed pipes, installed parts, completions and manual pages.

mod support;

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::Dir;

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// Returns the command with the default actions of signals, as on a terminal. A test runner in the background ignores
/// signals, and a command inherits that.
fn with_signals(command: Command) -> Command {
    let mut env = Command::new("env");
    env.args(["--default-signal=INT,TERM", "--"]).arg(command.get_program()).args(command.get_args());
    env.current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => env.env(name, value),
            None => env.env_remove(name),
        };
    }
    env.stdin(Stdio::null());
    env
}

fn wait(mut child: Child) -> (Option<i32>, String) {
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > Duration::from_secs(20) {
            // A failed test must not leave it running.
            let _ = child.kill();
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    (child.wait().unwrap().code(), stderr)
}

#[test]
fn a_signal_ends_a_job_cleanly() {
    for name in ["-INT", "-TERM"] {
        let dir = Dir::new();
        let mut child = with_signals(dir.command("run sort --input - --output out --scratch ."))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Endless input, so the job is running when it gets the signal.
        let mut input = child.stdin.take().unwrap();
        let feeder = std::thread::spawn(move || {
            while input.write_all(&[b'x', b'\n'].repeat(4096)).is_ok() {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        std::thread::sleep(Duration::from_millis(300));
        signal(&child, name);
        let (code, stderr) = wait(child);
        feeder.join().unwrap();
        assert_eq!(code, Some(130), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(dir.names().is_empty(), "{:?}", dir.names());
    }
}

#[test]
fn a_signal_ends_a_generator_cleanly() {
    let dir = Dir::new();
    // Many seconds of work; the signal comes long before the end.
    let child = with_signals(dir.command("generate text --bytes 20GB -o out")).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    signal(&child, "-INT");
    let (code, stderr) = wait(child);
    assert_eq!(code, Some(130), "{stderr}");
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}

#[test]
fn a_reader_that_closes_the_pipe_is_no_error() {
    let dir = Dir::new();
    dir.ok("generate tera --ascii --records 50000 -o t -q");
    for words in ["run sort --input t --output - --scratch .", "completions bash", "man", "--help"] {
        let mut child = dir.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut begin = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut begin).unwrap();
        let (code, stderr) = wait(child);
        assert_eq!(code, Some(0), "yunti {words}: {stderr}");
        assert!(!stderr.contains("yunti: "), "yunti {words}: {stderr}");
    }
    assert_eq!(dir.names(), ["t", "t/_SUCCESS", "t/part-m-00000"]);
}

#[test]
fn a_part_is_executed_from_libexec() {
    let dir = Dir::new();
    fs::create_dir(dir.path("bin")).unwrap();
    fs::create_dir(dir.path("libexec")).unwrap();
    // Another process writes the files. If this process did, a parallel test could fork while they are open, and a file
    // that is open for writing cannot be executed.
    let make = "cp \"$0\" bin/yunti; printf '#!/bin/sh\\necho \"hello $*\"\\nexit 7\\n' > libexec/yunti-greet; chmod 755 libexec/yunti-greet";
    let made =
        Command::new("sh").args(["-c", make, env!("CARGO_BIN_EXE_yunti")]).current_dir(dir.path(".")).status().unwrap();
    assert!(made.success());
    let output = Command::new(dir.path("bin/yunti")).args(["greet", "--loud", "a b"]).output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(output.stdout, b"hello --loud a b\n");
}

#[test]
fn every_shell_has_completions_and_every_command_a_page() {
    let dir = Dir::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(dir.ok(&format!("completions {shell}")).contains("overwrite"), "{shell}");
    }
    assert!(dir.ok("man").starts_with(".ie"));
    assert!(dir.ok("man run").contains("spill"));
    dir.ok("man --dir pages");
    for page in ["yunti.1", "yunti-run.1", "yunti-validate-tera.1", "yunti-machine-limits.1"] {
        assert!(dir.path("pages").join(page).exists(), "{page}: {:?}", dir.names());
    }
    for command in [
        "",
        "run",
        "generate",
        "validate",
        "validate tera",
        "report",
        "machine",
        "machine limits",
        "machine doctor",
        "limits",
        "completions",
        "man",
    ] {
        let help = dir.ok(&format!("{command} --help"));
        assert!(help.contains("Usage: yunti") && help.lines().all(|l| l.chars().count() <= 100), "{help}");
    }
    assert!(dir.ok("--version").starts_with("yunti 0."));
}

#[test]
fn the_next_job_removes_the_files_of_a_killed_one() {
    let dir = Dir::new();
    let mut child = dir
        .command("run sort --input - --output out --scratch . -q")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.as_mut().unwrap().write_all(b"a line\n").unwrap();
    let begin = Instant::now();
    while dir.names().is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(20), "it does not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    signal(&child, "-KILL");
    child.wait().unwrap();
    let left = dir.names();
    assert!(!left.is_empty() && left.iter().all(|n| n.starts_with(".out._temporary")), "{left:?}");
    dir.write("in", b"b\na\n");
    dir.ok("run sort --input in --output out -q");
    assert!(dir.names().iter().all(|n| !n.contains("_temporary")), "{:?}", dir.names());
    assert_eq!(dir.read("out/part-r-00000"), b"a\nb\n");
}
