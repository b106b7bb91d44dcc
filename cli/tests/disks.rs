//! Full disks, truncated and unreadable files: one line, the right exit code, no files left.

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use support::Dir;

const INPUT: i32 = 3;
const CORRUPT: i32 = 4;
const OUTPUT: i32 = 5;

/// File system that is mounted in a directory, and unmounted on drop.
struct Mount(PathBuf);

impl Mount {
    /// Mounts a file system of `kib` KiB; returns `None` and prints a note if this user may not mount.
    fn small(dir: &Dir, name: &str, kib: u32) -> Option<Mount> {
        let path = dir.path(name);
        fs::create_dir(&path).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={kib}k"), "tmpfs"])
            .arg(&path)
            .output()
            .is_ok_and(|o| o.status.success());
        if !mounted {
            eprintln!("SKIPPED: a full disk: a file system cannot be mounted here (run as root)");
            return None;
        }
        Some(Mount(path))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk() {
    let dir = Dir::new();
    let Some(_small) = Mount::small(&dir, "small", 300) else { return };
    fs::create_dir(dir.path("well")).unwrap();
    dir.ok("generate tera --ascii --records 40000 -o t -q");
    let sort = "run sort --input t";
    let tight = "--memory 3MiB --threads 1 -D split.size=1MiB";
    for (words, what) in [
        (format!("{sort} --output small/out"), "No space left on device"),
        ("run wordcount --input t --output small/a/b/out".into(), "No space left on device"),
        (format!("{sort} --mode none --output small/out"), "No space left on device"),
        ("generate text --bytes 2MB --output small/out".into(), "No space left on device"),
        (format!("{sort} --output out {tight} --scratch small"), "No space left on device: small"),
        (format!("{sort} --output out {tight} --scratch small --scratch small"), "free some space"),
        (format!("{sort} --output - {tight} --scratch small"), "No space left on device"),
    ] {
        dir.fails(&words, OUTPUT, what);
    }
    // Another scratch directory has room.
    dir.ok(&format!("{sort} --output out {tight} --scratch small --scratch well -q"));
    dir.ok(&format!("{sort} --output free -q"));
    assert!(dir.read("out/part-r-00000") == dir.read("free/part-r-00000"));
    let report = dir.ok("report out");
    assert!(report.contains("small"), "the report names the failed directory: {report}");
}

#[test]
fn reports_scratch_that_is_not_a_directory() {
    let dir = Dir::with_books();
    dir.ok("generate tera --ascii --records 40000 -o t -q");
    let tight = "--memory 3MiB --threads 1 -D split.size=1MiB --output out";
    for scratch in ["nowhere", "books/one.txt", "/proc"] {
        dir.fails(&format!("run sort --input t {tight} --scratch {scratch}"), OUTPUT, scratch);
    }
}

#[test]
fn compressed_files_that_are_damaged() {
    let dir = Dir::with_books();
    let text: Vec<u8> = (0..30_000u32)
        .flat_map(|i| format!("{} words and numbers\n", i.wrapping_mul(2654435761)).into_bytes())
        .collect();
    dir.write("text", &text);
    for (tool, suffix) in [("gzip", "gz"), ("zstd", "zst"), ("bzip2", "bz2"), ("xz", "xz")] {
        let made = Command::new(tool).args(["-k", "-q", "text"]).current_dir(dir.path("")).status();
        if !made.is_ok_and(|s| s.success()) {
            eprintln!("SKIPPED: damaged .{suffix} files: there is no {tool}");
            continue;
        }
        let whole = dir.read(&format!("text.{suffix}"));
        dir.ok(&format!("run wordcount --input text.{suffix} -q"));
        let n = whole.len();
        for at in [1, n / 4, n / 2, n - 9, n - 1] {
            dir.write(&format!("cut.{suffix}"), &whole[..at]);
            dir.fails(&format!("run sort --input cut.{suffix} --output out"), CORRUPT, &format!("cut.{suffix}"));
        }
        for at in [n / 4, n / 2, n - 20] {
            let mut turned = whole.clone();
            turned[at] ^= 0x10;
            dir.write(&format!("turned.{suffix}"), &turned);
            dir.fails(
                &format!("run wordcount --input turned.{suffix} --output out"),
                CORRUPT,
                &format!("turned.{suffix}"),
            );
        }
        // Other bytes after the end.
        let tail = [&whole[..], b"and this is something else\n"].concat();
        dir.write(&format!("tail.{suffix}"), &tail);
        let output = dir.run(&format!("run sort --input tail.{suffix} --output out"));
        assert!([Some(0), Some(CORRUPT)].contains(&output.status.code()), "{output:?}");
        let _ = fs::remove_dir_all(dir.path("out"));
        // Two files in one are read as one.
        dir.write(&format!("twice.{suffix}"), &[&whole[..], &whole].concat());
        dir.ok(&format!("run sort --input twice.{suffix} --output out -q"));
        assert_eq!(dir.read("out/part-r-00000").len(), 2 * text.len(), "{suffix}");
        fs::remove_dir_all(dir.path("out")).unwrap();
    }
}

#[test]
fn input_that_cannot_be_reached() {
    let dir = Dir::with_books();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, dir.path(name)).unwrap();
    link("nowhere", "dangling");
    link("loop", "loop");
    fs::create_dir(dir.path("more")).unwrap();
    link("../nowhere", "more/dangling");
    let long = "x".repeat(300);
    for (input, what) in [
        ("books/one.txt/x", "books/one.txt/x"),
        ("dangling", "dangling"),
        ("loop", "loop"),
        ("more", "more/dangling"),
        ("more/*", "more/dangling"),
        (&long, "too long"),
    ] {
        dir.fails(&format!("run wordcount --input {input} --output out"), INPUT, what);
    }
    dir.write("books/closed", b"x");
    let closed = fs::Permissions::from(std::os::unix::fs::PermissionsExt::from_mode(0));
    fs::set_permissions(dir.path("books/closed"), closed).unwrap();
    if fs::File::open(dir.path("books/closed")).is_ok() {
        eprintln!("SKIPPED: a file without permission: this user may read everything");
    } else {
        dir.fails("run wordcount --input books --output out", INPUT, "books/closed");
    }
}

#[test]
fn scratch_directories_keep_their_limits() {
    let dir = Dir::new();
    ["small", "large"].iter().for_each(|name| fs::create_dir(dir.path(name)).unwrap());
    dir.ok("generate tera --records 60000 -o in -q");
    let job = "run terasort -i in -o out --memory 2MiB --overwrite -q --spill-codec none --report report.json";
    dir.ok(&format!("{job} --scratch small:1MiB --scratch large"));
    let report: serde_json::Value = serde_json::from_slice(&dir.read("report.json")).unwrap();
    let used = |name: &str| {
        let rows = report["spill"]["directory_use"].as_array().unwrap();
        rows.iter().find(|row| row["path"] == name).unwrap()["written_bytes"].as_u64().unwrap()
    };
    assert!((100_000..=1 << 20).contains(&used("small")) && used("large") > 3 << 20, "{}", report["spill"]);
    let what = "the scratch directories hold as much as they may: small: allow more with --scratch DIR:SIZE";
    dir.fails(&format!("{job} --scratch small:1MiB"), 5, what);
    dir.fails(&format!("{job} --scratch small:1XB"), 2, "'1XB' is not a size");
}
