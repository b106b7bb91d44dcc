//! Profiles between us and Go's pprof, an independent reader and writer of the format.

mod folder;

use std::fs;
use std::path::Path;
use std::process::Command;

use folder::TestFolder;
use yunti_record::{Frame, FrameKind, Measure, Slice, pprof};

/// Runs `go tool pprof`; `None` where Go is not installed.
fn go_pprof(folder: &Path, arguments: &[&str]) -> Option<String> {
    let has_go = Command::new("go").arg("version").output().is_ok_and(|output| output.status.success());
    if !has_go {
        println!("skipped: go is not installed");
        return None;
    }
    let output = Command::new("go")
        .args(["tool", "pprof", "-symbolize=none"])
        .args(arguments)
        .current_dir(folder)
        .env("PPROF_TMPDIR", folder)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Some(text)
}

fn slice() -> Slice {
    let mut slice = Slice::default();
    slice.facts.service.name = "shop".into();
    slice.facts.service.release = "v812".into();
    (slice.facts.begin_ms, slice.facts.duration_ms) = (1_795_835_400_123, 30_000);
    slice.facts.periods = [(Measure::Cpu, 10_000_000)].into();
    let frame = |name: &str, file: &str, kind| Frame { name: name.into(), file: file.into(), kind };
    let [thread, run, read] = [
        frame("worker-1", "", FrameKind::Group),
        frame("Shop.run", "Shop.java", FrameKind::Compiled),
        frame("vfs_read", "", FrameKind::Kernel),
    ];
    slice.stacks.add([&thread, &run, &read], Measure::Cpu, 30_000_000);
    slice.stacks.add([&thread, &run], Measure::Cpu, 10_000_000);
    slice.stacks.add([&thread, &run], Measure::Alloc, 4096);
    slice
}

#[test]
fn go_reads_slices() {
    let folder = TestFolder::new("go-reads");
    fs::write(folder.path().join("a.slice"), pprof::write(&slice())).unwrap();
    let Some(text) = go_pprof(folder.path(), &["-top", "-sample_index=cpu", "a.slice"]) else { return };
    assert!(text.contains("Type: cpu") && text.contains("Duration: 30s"), "{text}");
    let row = |name: &str| {
        let line = text.lines().find(|line| line.ends_with(name)).unwrap_or_else(|| panic!("{name}: {text}"));
        let cells: Vec<&str> = line.split_whitespace().collect();
        (cells[0].to_string(), cells[3].to_string())
    };
    assert_eq!(row("vfs_read"), ("30ms".into(), "30ms".into()));
    assert_eq!(row("Shop.run"), ("10ms".into(), "40ms".into()));
    let alloc = go_pprof(folder.path(), &["-top", "-sample_index=alloc", "a.slice"]).unwrap();
    assert!(alloc.contains("4kB") || alloc.contains("4096B"), "{alloc}");
    let comments = go_pprof(folder.path(), &["-comments", "a.slice"]).unwrap();
    assert!(comments.starts_with("yunti-slice/1 {") && comments.contains("\"release\":\"v812\""), "{comments}");
}

/// Go reads a slice, merges it with itself and writes it in its own order.
#[test]
fn we_read_what_go_writes() {
    let folder = TestFolder::new("go-writes");
    fs::write(folder.path().join("a.slice"), pprof::write(&slice())).unwrap();
    let arguments = ["-proto", "-output=b.pb.gz", "a.slice", "a.slice"];
    if go_pprof(folder.path(), &arguments).is_none() {
        return;
    }
    let found = pprof::read(&fs::read(folder.path().join("b.pb.gz")).unwrap()).unwrap();
    let mut wanted = slice();
    wanted.stacks.join(&slice().stacks);
    assert_eq!(found.stacks, wanted.stacks);
    assert_eq!(found.facts, wanted.facts);
}
