//! Programs as mappers and reducers that fail, hang or are left behind: each failure is one clear line, and no process
//! and no file stays. What succeeds is compared with Hadoop by tests/conformance/streaming.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Dir;

/// Makes a directory with the input `in` of 40 kB, and a program `./p` of these lines of shell.
fn with_program(lines: &str) -> Dir {
    let dir = Dir::new();
    dir.write("in", "a line of some words\n".repeat(2000).as_bytes());
    program(&dir, "p", &format!("#!/bin/sh\n{lines}\n"));
    dir
}

fn program(dir: &Dir, name: &str, text: &str) {
    dir.write(name, text.as_bytes());
    fs::set_permissions(dir.path(name), fs::Permissions::from_mode(0o755)).unwrap();
}

const MAP: &str = "streaming -input in -output out -numReduceTasks 0 --quiet -mapper ./p";
const REDUCE: &str = "streaming -input in -output out --quiet -mapper cat -reducer ./p";

/// Returns the processes that run `what`, without zombies.
fn processes(what: &str) -> Vec<String> {
    let list = Command::new("ps").args(["-eo", "stat=,pid=,args="]).output().unwrap();
    let text = String::from_utf8_lossy(&list.stdout).into_owned();
    text.lines().filter(|line| line.contains(what) && !line.starts_with('Z')).map(String::from).collect()
}

/// Waits until `done` returns true, for 10 seconds at most.
fn wait_until(what: &str, done: impl Fn() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < Duration::from_secs(10), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_program_that_fails_is_one_line() {
    for (lines, what) in [
        ("exit 7", "./p ended with exit code 7 in"),
        ("echo a broken pipe >&2; exit 7", "its last message is 'a broken pipe'"),
        ("kill -SEGV $$", "./p was killed by signal 11 in"),
        ("cat; exit 3", "./p ended with exit code 3 in"),
    ] {
        let dir = with_program(lines);
        // With its last message before.
        let message = lines.starts_with("echo");
        for job in [MAP, REDUCE] {
            let words = format!("{job} --attempts 1");
            if message {
                let output = dir.run(&words);
                let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
                assert_eq!((output.status.code(), stderr.lines().count()), (Some(6), 2), "{stderr}");
                assert!(stderr.lines().nth(1).unwrap().contains(what), "{stderr}");
            } else {
                dir.fails(&words, 6, what);
            }
        }
    }
}

/// A line that a killed program left without its end is no record: the next attempt writes it whole.
#[test]
fn a_line_that_is_cut_short_is_not_taken() {
    let kill = "[ -e once ] || { touch once; head -n 3; printf 'a line of so'; kill -9 $$; }\nexec cat";
    for job in [MAP, REDUCE] {
        let dir = with_program(kill);
        assert_eq!(dir.run(job).status.code(), Some(0), "{job}");
        assert!(dir.path("once").exists());
        assert_eq!(dir.read("out/part-00000"), "a line of some words\t\n".repeat(2000).as_bytes(), "{job}");
    }
    // Without a failure it is a record.
    let dir = with_program("cat; printf 'the last'");
    dir.ok(MAP);
    assert!(dir.read("out/part-00000").ends_with(b"some words\t\nthe last\t\n"));
    // Other bytes than before are an error.
    let dir = with_program("[ -e once ] || { touch once; head -n 3; exit 1; }\nsed 's/some/any/'");
    let run = dir.run(MAP);
    assert!(String::from_utf8_lossy(&run.stderr).contains("emitted other records than the first"), "{run:?}");
}

#[test]
fn each_failed_attempt_is_a_line() {
    let dir = with_program("exit 7");
    for (job, task) in [(MAP, "map"), (REDUCE, "reduce")] {
        let output = dir.run(job);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let lines: Vec<&str> = stderr.lines().collect();
        assert_eq!((output.status.code(), lines.len()), (Some(6), 4), "{stderr}");
        for (attempt, line) in (1..4).zip(&lines) {
            assert!(line.starts_with(&format!("{task} task 0, attempt {attempt} of 4: ./p ended")), "{line}");
        }
    }
}

#[test]
fn a_program_that_fails_once_is_tried_again() {
    let dir = with_program("cat; [ -e failed ] || { touch failed; exit 1; }");
    for job in [MAP, REDUCE] {
        dir.ok(&format!("{job} --overwrite"));
        let lines = String::from_utf8(dir.read("out/part-00000")).unwrap();
        assert_eq!(lines, "a line of some words\t\n".repeat(2000), "{job}");
        fs::remove_file(dir.path("failed")).unwrap();
    }
}

#[test]
fn a_program_that_cannot_start_is_one_line() {
    let dir = with_program("cat");
    program(&dir, "p", "#!/no/such/interpreter\n");
    dir.fails(&format!("{MAP} --attempts 1"), 6, "cannot start the program");
    dir.fails(&format!("{MAP} --attempts 1"), 6, "check the interpreter in its first line");
    fs::set_permissions(dir.path("p"), fs::Permissions::from_mode(0o644)).unwrap();
    dir.fails(MAP, 6, "this file cannot be executed: ./p: chmod +x ./p");
    dir.fails(&MAP.replace("./p", "./none"), 6, "there is no such program: ./none");
    dir.fails(&MAP.replace("./p", "no-such-program"), 6, "there is no program no-such-program in PATH");
    dir.write("p.py", b"");
    dir.fails(&MAP.replace("./p", "p.py"), 6, "a program of the current directory is ./p.py");
}

#[test]
fn a_program_without_progress_is_killed() {
    // One reads nothing of an input larger than its pipe, the others never end.
    for lines in ["exec sleep 4321", "cat >/dev/null; exec sleep 4321", "cat; sleep 4321 & wait"] {
        let dir = with_program(lines);
        dir.write("in", "a line of some words\n".repeat(200_000).as_bytes());
        dir.fails(
            &format!("{MAP} --timeout 0.3 --attempts 1"),
            6,
            "./p neither read nor wrote for 0.3 s in map task 0",
        );
    }
    wait_until("no program is left", || processes("sleep 4321").is_empty());
}

#[test]
fn children_that_hold_the_output_are_an_error() {
    let dir = with_program("sleep 4322 & cat");
    let begin = Instant::now();
    dir.fails(&format!("{MAP} --attempts 1"), 6, "left processes that hold its output");
    assert!(begin.elapsed() > Duration::from_secs(4));
    // A child that ends in time is none.
    let dir = with_program("(sleep 1; echo late) & cat");
    dir.ok(MAP);
    assert!(dir.read("out/part-00000").ends_with(b"late\t\n"));
    wait_until("no child is left", || processes("sleep 4322").is_empty());
}

#[test]
fn odd_ends_of_output_are_records() {
    for (lines, expect) in [
        ("cat >/dev/null; printf 'half a'", "half a\t\n"),
        ("exec 0<&-; echo early", "early\t\n"),
        ("head -n 1; cat >/dev/null", "a line of some words\t\n"),
    ] {
        let dir = with_program(lines);
        dir.ok(MAP);
        assert_eq!(String::from_utf8(dir.read("out/part-00000")).unwrap(), expect, "{lines}");
    }
}

#[test]
fn much_standard_error_is_passed_on() {
    let dir = with_program("yes 'a message of a program' | head -c 10000000 >&2; cat");
    let output = dir.run(MAP);
    assert!(output.status.success());
    assert!(output.stderr.len() > 10_000_000 && dir.read("out/part-00000").len() > 40_000);
}

#[test]
fn python_is_buffered_unless_the_job_sets_it_otherwise() {
    let dir = with_program("cat >/dev/null; echo \"[$PYTHONUNBUFFERED]\"");
    for (more, expect) in [("", "[]\t\n"), ("-cmdenv PYTHONUNBUFFERED=1", "[1]\t\n")] {
        let mut command = dir.command(&format!("{MAP} --overwrite {more}"));
        assert!(command.env("PYTHONUNBUFFERED", "1").status().unwrap().success());
        assert_eq!(String::from_utf8(dir.read("out/part-00000")).unwrap(), expect);
        assert!(dir.ok("report out").contains("removed from the environment of 1 program"), "{more}");
    }
}

fn start(dir: &Dir, words: &str) -> Child {
    // A test runner in the background ignores SIGINT, and a command inherits that.
    let command = dir.command(words);
    let mut env = Command::new("env");
    env.args(["--default-signal=INT,TERM", "--"]).arg(command.get_program()).args(command.get_args());
    env.env("TMPDIR", dir.path("tmp"))
        .current_dir(command.get_current_dir().unwrap())
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    env.spawn().unwrap()
}

#[test]
fn a_signal_ends_all_programs() {
    // Programs that no signal ends but SIGKILL, with a child each.
    let program = |n: u32| format!("trap '' INT TERM HUP; sleep {n} & exec sleep {n}");
    for (signal, n) in [("-INT", 54321), ("-TERM", 54322), ("-KILL", 54323)] {
        let dir = with_program(&program(n));
        let before = dir.names();
        fs::create_dir(dir.path("tmp")).unwrap();
        let mut child = start(&dir, &format!("{MAP} -file in"));
        wait_until("the program runs", || processes(&format!("sleep {n}")).len() == 2);
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let status = child.wait().unwrap();
        wait_until("no program is left", || processes(&format!("sleep {n}")).is_empty());
        if signal != "-KILL" {
            assert_eq!(status.code(), Some(130));
        }
        wait_until("the links are removed", || fs::read_dir(dir.path("tmp")).unwrap().count() == 0);
        fs::remove_dir(dir.path("tmp")).unwrap();
        if signal != "-KILL" {
            assert_eq!(dir.names(), before);
        }
    }
}

#[test]
fn options_are_refused_in_one_line() {
    let dir = with_program("cat");
    for (more, what) in [
        ("-archives none.zip", "-archives: cannot find the file"),
        ("-background", "-background: this command waits for its job"),
        ("-inputformat SequenceFileInputFormat", "the Java class SequenceFileInputFormat cannot run here"),
        ("-io xml", "stream.map.input: there is no form 'xml': use text, rawbytes or typedbytes"),
        ("-numReduceTasks x", "invalid value 'x'"),
        ("-wrong", "unexpected argument '-wrong' found"),
        ("-file none", "-files: cannot find the file"),
    ] {
        dir.fails(&format!("streaming -input in -output out -mapper ./p {more}"), 2, what);
    }
    dir.fails("streaming -mapper ./p -output out", 2, "-input is missing");
}

#[test]
fn a_sandbox_holds_programs_too() {
    let dir = with_program(
        "(echo x > escaped) 2> /dev/null && echo escaped\n\
         echo x > \"$TMPDIR/own\" && echo own\n\
         cat > /dev/null",
    );
    let before = dir.names();
    let output = dir.run("run --mapper ./p --sandbox --mode none -i in -o out --quiet --scratch .");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let lacks = String::from_utf8_lossy(&output.stderr).contains("sandbox: ");
    let expected: &[u8] = if lacks { b"escaped\t\nown\t\n" } else { b"own\t\n" };
    assert_eq!(dir.read("out/part-m-00000"), expected, "{output:?}");
    fs::remove_dir_all(dir.path("out")).unwrap();
    assert!(lacks || dir.names() == before, "{:?}", dir.names());
}
