//! The memory guarantee: a process stays within its budget + 64 MiB, in a control group that would kill it above that,
//! and writes the same output.

mod support;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use support::Dir;

const BUDGET: &str = "64MiB";
const LIMIT_BYTES: u64 = 128 << 20;

/// Control group with a memory limit and no swap, which is removed on drop.
struct Group(PathBuf);

impl Group {
    /// Makes a control group; returns `None` and prints a note if this user or this system cannot make one.
    fn limited(name: &str) -> Option<Group> {
        let root = Path::new("/sys/fs/cgroup");
        let v2 = root.join("cgroup.controllers").exists();
        let path = if v2 { root.to_path_buf() } else { root.join("memory") }
            .join(format!("yunti-test-{}-{name}", std::process::id()));
        let limit = LIMIT_BYTES.to_string();
        let made = fs::create_dir(&path).and_then(|()| {
            if v2 {
                fs::write(path.join("memory.max"), &limit)?;
                // The file does not exist without swap.
                let _ = fs::write(path.join("memory.swap.max"), "0");
                return Ok(());
            }
            fs::write(path.join("memory.limit_in_bytes"), &limit)?;
            let _ = fs::write(path.join("memory.memsw.limit_in_bytes"), &limit);
            Ok(())
        });
        match made {
            Ok(()) => Some(Group(path)),
            Err(e) => {
                eprintln!(
                    "SKIPPED: memory under a limit: no control group can be made: {}: {e} (run as root)",
                    path.display()
                );
                let _ = fs::remove_dir(&path);
                None
            }
        }
    }

    /// Returns the bytes of anonymous and shared memory now, without the page cache of files.
    fn bytes(&self) -> u64 {
        let text = fs::read_to_string(self.0.join("memory.stat")).unwrap_or_default();
        let of = |line: &str| match line.split_once(' ') {
            Some(("anon" | "shmem" | "rss", n)) => n.parse().unwrap_or(0),
            _ => 0,
        };
        text.lines().map(of).sum()
    }

    /// Runs the command in the group; returns its exit code, its standard error, and the peak memory in bytes.
    fn run(&self, dir: &Dir, words: &str) -> (Option<i32>, String, u64) {
        let inner = dir.command(words);
        let mut child = Command::new("sh")
            .args(["-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\""])
            .arg(&self.0)
            .arg(inner.get_program())
            .args(inner.get_args())
            .current_dir(dir.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut most = 0;
        while child.try_wait().unwrap().is_none() {
            most = self.bytes().max(most);
            std::thread::sleep(Duration::from_millis(3));
        }
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned(), most)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// Writes `n` lines; `line` appends line `i`.
fn make(dir: &Dir, name: &str, n: u64, line: impl Fn(u64, &mut Vec<u8>)) {
    let mut file = std::io::BufWriter::new(fs::File::create(dir.path(name)).unwrap());
    let mut bytes = Vec::new();
    for i in 0..n {
        bytes.clear();
        line(i, &mut bytes);
        bytes.push(b'\n');
        file.write_all(&bytes).unwrap();
    }
    file.flush().unwrap();
}

fn mixed(i: u64) -> u64 {
    let n = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    n ^ (n >> 29)
}

/// Joins: tables that fit and that do not, equal keys, and one key with many lines on both sides.
#[test]
fn a_join_stays_within_its_memory() {
    let dir = Dir::new();
    let Some(group) = Group::limited("joins") else { return };
    let row = |i: u64, side: &str| format!("k{i:08}\t{side} {:016x}", mixed(i));
    make(&dir, "probe", 600_000, |i, line| line.extend_from_slice(row(mixed(i) % 900_000, "left").as_bytes()));
    make(&dir, "fits", 500_000, |i, line| line.extend_from_slice(row(i, "right").as_bytes()));
    make(&dir, "large", 1_600_000, |i, line| line.extend_from_slice(row(i, "right").as_bytes()));
    make(&dir, "equal", 1_000_000, |i, line| line.extend_from_slice(format!("hot\tright {i:012}").as_bytes()));
    make(&dir, "hot", 200_000, |i, line| line.extend_from_slice(format!("hot\tleft {}", mixed(i)).as_bytes()));
    make(&dir, "few", 3, |i, line| line.extend_from_slice(format!("hot\tleft {i}").as_bytes()));
    make(&dir, "many", 700_000, |i, line| {
        line.extend_from_slice(format!("{}\tleft {i}", if i % 300_000 == 7 { "hot" } else { "cold" }).as_bytes());
    });
    let hash = |input: &str, side: &str| {
        format!("hash-join {input} --side-file {side} -D join.small={side} -D join.kind=left")
    };
    let sorted = |left: &str, right: &str| format!("join {left} {right} -D join.left={left} -D join.kind=full");
    for (name, job, parts) in [
        ("a table", hash("probe", "fits"), "part-m-"),
        ("a table that does not fit", hash("probe", "large"), "part-r-"),
        ("equal keys", hash("few", "equal"), "part-"),
        ("a hot key on the right", sorted("few", "equal"), "part-r-"),
        ("a hot key on the left", sorted("equal", "few"), "part-r-"),
        ("a hot key on both sides", sorted("many", "hot"), "part-r-"),
    ] {
        let run = format!("run {job} --threads 2 --overwrite -q");
        let (code, stderr, most) = group.run(&dir, &format!("{run} --memory {BUDGET} --scratch . --output tight"));
        eprintln!("{name}: {:.1} MiB", most as f64 / 1048576.0);
        assert_eq!(code, Some(0), "{name}: {stderr}");
        assert!(most <= LIMIT_BYTES, "{name}: {most} bytes of memory");
        dir.ok(&format!("{run} --memory 2GiB --output free"));
        let lines = |out: &str| {
            let names: Vec<String> =
                dir.names().into_iter().filter(|n| n.starts_with(&format!("{out}/part-"))).collect();
            let text: Vec<u8> = names.iter().flat_map(|name| dir.read(name)).collect();
            let mut lines: Vec<Vec<u8>> = text.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
            lines.sort();
            (names, lines)
        };
        let ((tight, found), (_, expected)) = (lines("tight"), lines("free"));
        assert!(tight.iter().all(|part| part.starts_with(&format!("tight/{parts}"))), "{name}: {tight:?}");
        assert!(found == expected, "{name}: {} lines, expected {}", found.len(), expected.len());
    }
}

#[test]
fn a_job_stays_within_its_memory() {
    let dir = Dir::new();
    let Some(group) = Group::limited("jobs") else { return };
    dir.ok("generate tera --bytes 100MB -o tera -q");
    dir.ok("generate zipf --bytes 80MB -o zipf -q");
    make(&dir, "distinct", 3_000_000, |i, line| line.extend_from_slice(format!("{:016x}", mixed(i)).as_bytes()));
    make(&dir, "few", 1_500_000, |i, line| line.extend_from_slice(format!("{}\t{:064x}", mixed(i) % 3, i).as_bytes()));
    make(&dir, "giant", 24, |i, line| line.resize(5_000_000, b'a' + (mixed(i) % 3) as u8));
    make(&dir, "word", 200, |_, line| line.extend_from_slice(&b"word ".repeat(100_000)));
    for (job, input) in [
        ("terasort", "tera"),
        ("terasort --reduces 4", "tera"),
        ("wordcount", "zipf"),
        ("sort", "zipf"),
        ("wordcount", "distinct"),
        ("sort", "distinct"),
        ("sort", "few"),
        ("sort", "giant"),
        ("wordcount", "word"),
        ("sort", "word"),
    ] {
        let run = format!("run {job} --input {input} --threads 2 --overwrite -q");
        let (code, stderr, most) = group.run(&dir, &format!("{run} --memory {BUDGET} --scratch . --output tight"));
        eprintln!("{job} {input}: {:.1} MiB", most as f64 / 1048576.0);
        assert_eq!(code, Some(0), "{job} {input}: {stderr}");
        assert!(most <= LIMIT_BYTES, "{job} {input}: {most} bytes of memory");
        dir.ok(&format!("{run} --memory 2GiB --output free"));
        for part in dir.names().iter().filter(|n| n.starts_with("free/part-")) {
            assert!(dir.read(part) == dir.read(&part.replace("free", "tight")), "{job} {input}: {part}");
        }
    }
}
