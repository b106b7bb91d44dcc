//! Class libraries that end or crash the process: a line with class and input, exit code 6, and no files left.

use std::path::Path;
use std::process::Output;
use std::sync::OnceLock;

use crate::support::{Dir, build};

pub const USER_CODE: i32 = 6;

/// Returns a directory with the library and an input of several files, or `None` and a note without a compiler.
pub fn with_library() -> Option<Dir> {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("in")).unwrap();
    for name in ["in/one.txt", "in/two.txt"] {
        dir.write(name, b"a b\nc d\na x\n");
    }
    static LIBRARY: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    let built = || build(&dir, "ending.cpp", "ending.so", &["-pthread"]).then(|| dir.read("ending.so"));
    let library = LIBRARY.get_or_init(built).as_ref()?;
    dir.write("ending.so", library);
    Some(dir)
}

pub const ALL: &str =
    "--mapper Ending.Map --reducer Ending.Sum --combiner Ending.Combine --partitioner Ending.Part --reduces 2";
pub const JOB: &str = "run --lib ./ending.so -i in --scratch .";

pub fn error_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_way_to_end_the_process_is_one_line() {
    let Some(dir) = with_library() else { return };
    let class = "yunti: Ending.Map ";
    let thread = "yunti: a thread of the class library ./ending.so ";
    for (how, who, what) in [
        ("exit", class, "called exit(0) before the job was done: in/"),
        ("exit3", class, "called exit(3) before the job was done: in/"),
        ("quick_exit", class, "called quick_exit() before the job was done: in/"),
        ("segv", class, "crashed with SIGSEGV (invalid memory access, address 0x10): in/"),
        ("bus", class, "crashed with SIGBUS (bus error, address 0x"),
        ("abort", class, "crashed with SIGABRT (abort): in/"),
        ("overflow", class, "overflowed its stack (SIGSEGV): in/"),
        ("fpe", class, "crashed with SIGFPE (arithmetic error): in/"),
        ("trap", class, "crashed with SIGTRAP (trap): in/"),
        ("sys", class, "crashed with SIGSYS (bad system call): in/"),
        ("thread_exit", thread, "called exit(0) before the job was done: end the job by"),
        ("thread_quick_exit", thread, "called quick_exit() before the job was done: end the job by"),
        ("thread_segv", thread, "crashed with SIGSEGV (invalid memory access, address 0x10): classes run"),
        ("thread_abort", thread, "crashed with SIGABRT (abort): classes run"),
        ("all_exit", thread, "called exit(0)"),
    ] {
        for threads in [1, 3] {
            let words = format!("{JOB} {ALL} -o made/out --threads {threads} -D ending.where=map -D ending.how={how}");
            dir.fails(&words, USER_CODE, who);
            dir.fails(&words, USER_CODE, what);
        }
    }
}

/// The C++ library prints the exception on lines of its own.
#[test]
fn an_exception_that_no_thread_catches() {
    let Some(dir) = with_library() else { return };
    let before = dir.names();
    let output = dir.run(&format!("{JOB} {ALL} -o out -D ending.where=map -D ending.how=thread_throw"));
    assert_eq!(output.status.code(), Some(USER_CODE), "{output:?}");
    let last = error_line(&output);
    let last = last.lines().last().unwrap();
    assert!(last.starts_with("yunti: a thread of the class library ./ending.so crashed with SIGABRT"), "{last}");
    assert_eq!(dir.names(), before);
}

#[test]
fn in_every_call_of_every_kind_of_class() {
    let Some(dir) = with_library() else { return };
    let fold = "--mapper Ending.Map --folder Ending.Fold";
    let order = "--mapper Ending.Map --reducer Ending.Sum --key-order Ending.Order";
    let formats = "--input-format class:Ending.Read --output-format class:Ending.Write --mode none";
    for (classes, place, who, input) in [
        (ALL, "construct", "Ending.Map", ""),
        (ALL, "destroy", "Ending.Map", "in/"),
        (ALL, "flush", "Ending.Map", "in/"),
        (ALL, "combine", "Ending.Combine", "in/"),
        (ALL, "partition", "Ending.Part", "in/"),
        (ALL, "reduce", "Ending.Sum", ""),
        (fold, "fold", "Ending.Fold", "in/"),
        (order, "arrange", "Ending.Order", "in/"),
        (formats, "read", "Ending.Read", "in/"),
        (formats, "write", "Ending.Write", ""),
    ] {
        for (how, what) in
            [("exit", "called exit(0)"), ("segv", "crashed with SIGSEGV"), ("abort", "crashed with SIGABRT")]
        {
            for threads in [1, 3] {
                let words =
                    format!("{JOB} {classes} -o out --threads {threads} -D ending.where={place} -D ending.how={how}");
                dir.fails(&words, USER_CODE, &format!("yunti: {who} {what}"));
                if threads == 1 && !input.is_empty() {
                    dir.fails(&words, USER_CODE, &format!(": {input}"));
                }
            }
        }
    }
}

/// The position is the first byte of the batch; batches of a test have 512 bytes.
#[test]
fn the_line_names_the_file_and_the_batch() {
    let Some(dir) = with_library() else { return };
    let mut text = "a line of twenty byt\n".repeat(1000);
    text.push_str("here\n");
    dir.write("long.txt", text.as_bytes());
    let words = "run --lib ./ending.so --input-format class:Ending.Read -i long.txt --mode none -o out -D ending.how=segv -D ending.where=read";
    let output = dir.run(words);
    let line = error_line(&output);
    let byte = line.split("long.txt, byte ").nth(1).and_then(|rest| rest.split(':').next()).map(str::parse::<u64>);
    assert!(matches!(byte, Some(Ok(byte)) if byte < 1024), "{line}");
}

#[test]
fn an_initialiser_of_the_library() {
    let Some(dir) = with_library() else { return };
    let before = dir.names();
    for (how, what) in [("exit", "called exit(0)"), ("segv", "crashed with SIGSEGV"), ("abort", "crashed with SIGABRT")]
    {
        let output = dir.command(&format!("{JOB} {ALL} -o out")).env("ENDING_LOAD", how).output().unwrap();
        assert_eq!(output.status.code(), Some(USER_CODE), "{output:?}");
        let line = error_line(&output);
        assert!(line.starts_with(&format!("yunti: an initialiser of the class library ./ending.so {what}")), "{line}");
        assert_eq!(line.lines().count(), 1, "{line}");
        assert_eq!(dir.names(), before);
    }
}

/// Destructors of the library run when the output has its name, and everything is printed.
#[test]
fn a_destructor_after_the_job_does_not_undo_it() {
    let Some(dir) = with_library() else { return };
    for how in ["exit", "exit3", "quick_exit", "segv", "abort", "thread_exit", "thread_abort"] {
        let output =
            dir.command(&format!("{JOB} {ALL} -o out --overwrite --json")).env("ENDING_UNLOAD", how).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{how}: {output:?}");
        assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["job"].is_object());
        assert_eq!([dir.read("out/part-r-00000"), dir.read("out/part-r-00001")].concat(), b"a\t4\nc\t2\n");
        let line = error_line(&output);
        let crash = ["segv", "abort", "thread_abort"].contains(&how);
        assert_eq!(line.lines().count(), usize::from(crash), "{how}: {line}");
        assert!(!crash || line.contains("after the job was done; the result is not affected"), "{how}: {line}");
        // A failed job stays failed.
        let words = format!("{JOB} {ALL} -o out");
        let output = dir.command(&words).env("ENDING_UNLOAD", how).output().unwrap();
        assert_eq!(output.status.code(), Some(8), "{how}: {output:?}");
        assert!(!dir.names().iter().any(|name| name.contains("temporary")), "{:?}", dir.names());
    }
}

#[test]
fn as_json() {
    let Some(dir) = with_library() else { return };
    let before = dir.names();
    for how in ["exit", "segv", "thread_exit"] {
        let output = dir.run(&format!("{JOB} {ALL} -o out --json -D ending.where=map -D ending.how={how}"));
        assert_eq!(output.status.code(), Some(USER_CODE), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let error = &document["error"];
        assert_eq!((error["code"].as_str(), error["exit_code"].as_i64()), (Some("user_code"), Some(6)), "{document}");
        assert!(error["hint"].is_string(), "{document}");
        let is_class = how != "thread_exit";
        assert_eq!(error["message"].as_str().unwrap().starts_with("Ending.Map "), is_class, "{document}");
        assert_eq!(error["path"].as_str().is_some_and(|path| path.starts_with("in/")), is_class, "{document}");
        assert_eq!(error["offset"].as_u64(), is_class.then_some(0), "{document}");
        assert_eq!(dir.names(), before);
    }
}

#[test]
fn to_standard_output_and_from_standard_input() {
    let Some(dir) = with_library() else { return };
    for (how, what) in [("exit", "called exit(0)"), ("segv", "crashed with SIGSEGV"), ("abort", "crashed with SIGABRT")]
    {
        let words = format!("{JOB} {ALL} --reduces 1 -o - -D ending.where=map -D ending.how={how}");
        let words = words.replace(" --reduces 2", "");
        dir.fails(&words, USER_CODE, what);
        assert!(dir.run(&words).stdout.is_empty());
        let input = std::fs::File::open(dir.path("in/one.txt")).unwrap();
        let output = dir.command(&words.replace("-i in", "-i -")).stdin(input).output().unwrap();
        assert_eq!(output.status.code(), Some(USER_CODE), "{output:?}");
        assert!(error_line(&output).contains("standard input, byte 0"), "{output:?}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn in_a_chain() {
    let Some(dir) = with_library() else { return };
    for place in ["map", "reduce"] {
        for how in ["exit", "segv", "thread_abort"] {
            let job = "format = \"yunti-job/1\"\nlib = \"./ending.so\"\ninput = \"in\"\noutput = \"made/out\"\n\
                       mapper = \"Ending.Map\"\nfolder = \"Yunti.SumFolder\"\n\
                       [[then]]\nmapper = \"Ending.Map\"\nreducer = \"Ending.Sum\"\n\
                       [then.settings]\n\"ending.where\" = \"PLACE\"\n\"ending.how\" = \"HOW\"\n";
            dir.write("job.toml", job.replace("PLACE", place).replace("HOW", how).as_bytes());
            dir.fails(
                "run -f job.toml --scratch .",
                USER_CODE,
                if how == "thread_abort" { "./ending.so" } else { "Ending." },
            );
        }
    }
}

/// The older output, which the job would have replaced, is unchanged.
#[test]
fn an_older_output_stays() {
    let Some(dir) = with_library() else { return };
    dir.ok(&format!("{JOB} {ALL} -o out -q"));
    for how in ["exit", "segv", "thread_exit"] {
        let words = format!("{JOB} {ALL} -o out --overwrite -D ending.where=reduce -D ending.how={how}");
        dir.fails(&words, USER_CODE, "");
        assert_eq!([dir.read("out/part-r-00000"), dir.read("out/part-r-00001")].concat(), b"a\t4\nc\t2\n");
    }
}

/// A class may start processes; their end does not end the job.
#[test]
fn children_of_a_class_end_as_children() {
    let Some(dir) = with_library() else { return };
    for place in ["map", "reduce", "destroy"] {
        dir.ok(&format!("{JOB} {ALL} -o out --overwrite -q -D ending.where={place} -D ending.how=fork"));
        assert_eq!([dir.read("out/part-r-00000"), dir.read("out/part-r-00001")].concat(), b"a\t4\nc\t2\n");
    }
}

/// If a library ends the process at any moment, the job fails and leaves nothing, or is done with its whole output.
#[test]
fn whole_or_not_at_all_at_any_moment() {
    let Some(dir) = with_library() else { return };
    let before = dir.names();
    let (mut failed, mut done) = (0, 0);
    // Delays grow from one microsecond until some jobs finish before the library ends the process.
    for i in 0..220 {
        if done == 8 {
            break;
        }
        let how = if i % 2 == 0 { "exit" } else { "segv" };
        let after_us = 1.07f64.powi(i) as u64;
        let words = format!("{JOB} {ALL} -o made/out --json -D ending.how={how} -D ending.after-us={after_us}");
        let output = dir.run(&words);
        let document: serde_json::Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"));
        match output.status.code() {
            Some(USER_CODE) => {
                failed += 1;
                assert_eq!(document["error"]["exit_code"], USER_CODE);
                assert!(output.stderr.is_empty(), "{output:?}");
            }
            Some(0) => {
                done += 1;
                assert!(document["job"].is_object(), "{output:?}");
                let parts = [dir.read("made/out/part-r-00000"), dir.read("made/out/part-r-00001")].concat();
                assert_eq!(parts, b"a\t4\nc\t2\n");
                std::fs::remove_dir_all(dir.path("made")).unwrap();
            }
            _ => panic!("{output:?}"),
        }
        assert_eq!(dir.names(), before, "{how} after {after_us} us");
    }
    assert!(failed > 8 && done == 8, "{failed} {done}");
}

/// A crash in the program itself is blamed on no class: exit code 1, and the output is removed too.
#[test]
fn reports_a_crash_of_the_program_itself() {
    let Some(dir) = with_library() else { return };
    if !build(&dir, "failing_libc.c", "failing_libc.so", &["-ldl"]) {
        return;
    }
    // The first file is opened before libraries are loaded, so the crash comes with the second.
    dir.write("in/crash.txt", &[b'x'; 77]);
    dir.write("in/a.txt", b"a");
    let before = dir.names();
    for (job, hint) in [
        ("run wordcount -i in -o out --scratch .", "this is a bug in Yunti; please report it"),
        ("run --lib ./ending.so --mapper Ending.Map -i in -o out --scratch .", "or a class library corrupted memory"),
    ] {
        let mut command = dir.command(job);
        let output = command.env("LD_PRELOAD", dir.path("failing_libc.so")).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let line = error_line(&output);
        assert!(line.starts_with("yunti: Yunti crashed with SIGSEGV") && line.lines().count() == 1, "{line}");
        assert!(line.contains(hint), "{line}");
        assert_eq!(dir.names(), before);
    }
}

/// `_exit` and SIGKILL reach no handler, as documented. The next job for the same output removes the files left.
#[test]
fn what_cannot_be_caught() {
    let Some(dir) = with_library() else { return };
    let output = dir.run(&format!("{JOB} {ALL} -o out -D ending.where=map -D ending.how=_exit"));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty() && !dir.path("out").exists());
    assert!(dir.names().iter().any(|name| name.starts_with(".out._temporary")), "{:?}", dir.names());
    dir.ok(&format!("{JOB} {ALL} -o out -q"));
    assert!(!dir.names().iter().any(|name| name.starts_with(".out._temporary")), "{:?}", dir.names());
    // A thread that the library made has no signal stack.
    use std::os::unix::process::ExitStatusExt;
    let output = dir.run(&format!("{JOB} {ALL} -o other -D ending.where=map -D ending.how=thread_overflow"));
    assert_eq!(output.status.signal(), Some(11), "{output:?}");
}

/// With YUNTI_CORE the signal is raised again after the line: the shell gets the signal, and the kernel may write a
/// core dump.
#[test]
fn raises_the_signal_again_for_a_core_dump() {
    use std::os::unix::process::ExitStatusExt;
    let Some(dir) = with_library() else { return };
    let before = dir.names();
    for (how, signal) in [("segv", 11), ("abort", 6)] {
        let words = format!("{JOB} {ALL} -o out -D ending.where=map -D ending.how={how}");
        // The limit leaves no room for the dump itself.
        let mut command = dir.command(&words);
        command.env("YUNTI_CORE", "1");
        let output = limited(&command, &dir).output().unwrap();
        assert_eq!(output.status.signal(), Some(signal), "{output:?}");
        assert!(error_line(&output).starts_with("yunti: Ending.Map crashed with"), "{output:?}");
        assert_eq!(dir.names(), before);
    }
}

fn limited(command: &std::process::Command, dir: &Dir) -> std::process::Command {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -c 0; exec \"$0\" \"$@\""]).arg(command.get_program()).args(command.get_args());
    shell.env("YUNTI_CORE", "1").env_remove("RUST_BACKTRACE").current_dir(dir.path("."));
    shell
}

/// A signal from another process is blamed neither on the class nor on Yunti.
#[test]
fn a_fatal_signal_from_another_process() {
    let Some(dir) = with_library() else { return };
    let before = dir.names();
    let mut child = dir
        .command("run --lib ./ending.so --mapper Ending.Map --input - --output out --scratch .")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let begin = std::time::Instant::now();
    while dir.names() == before {
        assert!(begin.elapsed().as_secs() < 20, "it does not begin");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let sent = std::process::Command::new("kill").args(["-ABRT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let input = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(error_line(&output).contains("ended the job with SIGABRT"), "{output:?}");
    assert_eq!(dir.names(), before);
}

/// In a JVM the host owns the process: neither the engine nor the library of Hadoop's tasks sets a handler. The engine
/// handles SIGBUS for input files that it maps, and it maps none unless the command permits it.
#[test]
fn handlers_are_the_command_s_alone() {
    fn walk(dir: &Path, words: &[&str], found: &mut Vec<String>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, words, found);
            } else if path.to_string_lossy().ends_with("_test.rs") {
                // Not in the program.
            } else if path.extension().is_some_and(|end| end == "rs" || end == "toml") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.extend(words.iter().filter(|w| text.contains(*w)).map(|w| format!("{}: {w}", path.display())));
            }
        }
    }
    let handlers = ["sigaction", "sigaltstack", "on_exit", "atexit", "at_quick_exit", "set_hook", "signal-hook"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut found, mut permits) = (Vec::new(), Vec::new());
    for part in ["engine/src", "hadoop/native"] {
        walk(&root.join(part), &handlers, &mut found);
        walk(&root.join(part), &["maps_files: true"], &mut permits);
    }
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with("env/mapped/bus_error.rs: sigaction"), "{found:?}");
    assert!(permits.is_empty(), "{permits:?}");
    let manifest = std::fs::read_to_string(root.join("hadoop/native/Cargo.toml")).unwrap();
    assert!(manifest.contains("yunti-engine") && !manifest.contains("path = \"../../cli\""), "{manifest}");
}
