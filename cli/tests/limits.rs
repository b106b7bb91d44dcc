//! Large and small limits: ten thousand files, ten thousand parts, few open files, few threads.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use support::Dir;
use yunti_base::mounts;

/// Runs the command under limits of the shell's `ulimit`.
fn limited(dir: &Dir, limits: &str, words: &str) -> Output {
    let inner = dir.command(words);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit {limits} && exec \"$0\" \"$@\"")]).arg(inner.get_program());
    command.args(inner.get_args()).current_dir(dir.path("")).env("XDG_CACHE_HOME", dir.path("cache")).output().unwrap()
}

fn ok(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}

/// Returns the number of files `part-*` in the output, and their bytes concatenated.
fn parts(dir: &Dir, out: &str) -> (usize, Vec<u8>) {
    let mut paths: Vec<_> = fs::read_dir(dir.path(out)).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.file_name().unwrap().to_string_lossy().starts_with("part-"));
    paths.sort();
    (paths.len(), paths.iter().flat_map(|p| fs::read(p).unwrap()).collect())
}

#[test]
fn ten_thousand_files_with_64_open() {
    let dir = Dir::new();
    fs::create_dir(dir.path("in")).unwrap();
    for i in 0..10_000 {
        dir.write(&format!("in/{i:05}"), format!("word {}\n", i % 100).as_bytes());
    }
    for threads in [1, 4] {
        ok(&limited(
            &dir,
            "-n 64",
            &format!("run wordcount --input in --output out --overwrite --threads {threads} -q"),
        ));
        let counts = String::from_utf8(dir.read("out/part-r-00000")).unwrap();
        assert_eq!(counts.lines().count(), 101);
        assert!(counts.ends_with("word\t10000\n") && counts.lines().filter(|l| l.ends_with("\t100")).count() == 100);
    }
    // One file has an unsupported format. It follows the files that are inspected first.
    dir.write("in/09000", b"PAR1\x15\x04..\x08\0\0\0PAR1");
    dir.fails("run wordcount --input in --output none", 3, "this is a Parquet file, not text: in/09000");
    println!("10000 files, 64 open files");
}

#[test]
fn ten_thousand_parts_with_64_open() {
    let dir = Dir::new();
    dir.ok("generate tera --ascii --records 30000 -o t -q");
    dir.ok("run sort --input t --output one -q");
    let mut all: Vec<String> =
        String::from_utf8(dir.read("one/part-r-00000")).unwrap().lines().map(Into::into).collect();
    all.sort();
    for memory in ["--memory 512MiB", "--memory 16MiB"] {
        let words = "run sort --input t --output out --overwrite --reduces 10000 --threads 2 -q";
        ok(&limited(&dir, "-n 64", &format!("{words} {memory}")));
        let (n, bytes) = parts(&dir, "out");
        let mut lines: Vec<String> = String::from_utf8(bytes).unwrap().lines().map(Into::into).collect();
        lines.sort();
        assert!(n == 10_000 && lines == all, "{n} parts");
    }
    println!("10000 parts, 64 open files");
}

/// A system that refuses more threads makes a job slower, not wrong.
#[test]
fn no_thread_more() {
    let dir = Dir::new();
    dir.ok("generate tera --ascii --records 40000 -o t -q");
    dir.ok("run sort --input t --output free -q");
    fs::set_permissions(dir.path(""), fs::Permissions::from_mode(0o777)).unwrap();
    // Root has no such limit.
    let inner =
        dir.command("run sort --input t --output out --threads 8 --memory 6MiB -D split.size=1MiB --scratch . -q");
    let mut command = Command::new("setpriv");
    command.args(["--reuid=54321", "--clear-groups", "prlimit", "--nproc=1"]);
    command.arg(inner.get_program()).args(inner.get_args()).current_dir(dir.path("")).env("HOME", dir.path(""));
    match command.output() {
        Ok(output) if String::from_utf8_lossy(&output.stderr).starts_with("setpriv") => {
            eprintln!("SKIPPED: few threads: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Err(e) => eprintln!("SKIPPED: few threads: setpriv: {e}"),
        Ok(output) => {
            ok(&output);
            assert!(dir.read("out/part-r-00000") == dir.read("free/part-r-00000"));
        }
    }
}

#[test]
fn a_job_runs_in_a_control_group_of_its_own() {
    let dir = Dir::new();
    dir.write("in", b"one line\n");
    dir.fails("run wordcount in --cgroup ../up", 2, "'../up' is no name of a group");
    dir.fails("run wordcount in --cgroup g,cpu=0", 2, "'0' is no number of processors");
    dir.fails("run wordcount in -o out --on yarn --cgroup g", 2, "--cgroup is for jobs on this machine");
    dir.fails("hadoop run --cgroup a/b app.jar", 2, "'a/b' is no name of a group");
    let name = format!("yunti-test-{}", std::process::id());
    let job = format!("run --mode none -i in -o - -q --cgroup {name} --mapper");
    let mut command = dir.command(&job);
    let output = command.arg("sed -n /^0:/p /proc/self/cgroup").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        // A container may have no groups of its own. Then the job says so, and does not run without its limits.
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains("control group") && text.is_empty(), "{error}{text}");
        eprintln!("a control group cannot be made here: {error}");
        return;
    }
    assert!(text.trim_end().ends_with(&format!("/{name}")), "{text}");
    let mount = mounts::all().into_iter().find(|mount| mount.fs_type == "cgroup2").unwrap();
    fs::remove_dir(mount.at.join(text.trim_end().strip_prefix("0::/").unwrap())).unwrap();
}
