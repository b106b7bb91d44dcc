//! Recorders that are killed while they write, and disks that are full.

mod folder;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use folder::TestFolder;
use yunti_base::Code;
use yunti_record::{Frame, FrameKind, Measure, Query, Slice, Store};

/// Environment of the process that writes until it is killed: its store.
const WRITER: &str = "YUNTI_RECORD_TEST_STORE";

fn slice(second: u64) -> Slice {
    let mut slice = Slice::default();
    slice.facts.service.name = "shop".into();
    (slice.facts.begin_ms, slice.facts.duration_ms) = (1_795_835_400_000 + second * 1000, 1000);
    for n in 0..3000 {
        let frames =
            [Frame::new(&format!("f{}", n % 97), FrameKind::Native), Frame::new(&format!("g{n}"), FrameKind::Native)];
        slice.stacks.add(&frames, Measure::Cpu, second * 7919 + n);
    }
    slice
}

/// Process of the test below; it does nothing in an ordinary run.
#[test]
fn writer() {
    let Some(store) = std::env::var_os(WRITER) else { return };
    let mut store = Store::create(Path::new(&store)).unwrap();
    let first = store.list(&Query::default()).unwrap().len() as u64;
    for second in first.. {
        store.put(&slice(second)).unwrap();
        // The parent counts these lines: the slice is in the store.
        eprintln!("put {second}");
    }
}

#[test]
fn a_killed_recorder_loses_at_most_a_slice() {
    let folder = TestFolder::new("kill");
    for round in 0..12 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "writer", "--nocapture", "--test-threads=1"])
            .env(WRITER, folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut last = None;
        for line in lines.by_ref().map_while(Result::ok).filter(|line| line.starts_with("put ")).take(2) {
            last = Some(line);
        }
        // Another moment of the write each round.
        std::thread::sleep(Duration::from_micros(700 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        last = lines.map_while(Result::ok).filter(|line| line.starts_with("put ")).last().or(last);
        let last: u64 = last.and_then(|line| line[4..].parse().ok()).expect("the writer has put a slice");
        let store = Store::open(folder.path()).unwrap();
        let entries = store.list(&Query::default()).unwrap();
        // Put and not yet printed: one more.
        assert!((last + 1..=last + 2).contains(&(entries.len() as u64)), "{last} {}", entries.len());
        for (second, entry) in entries.iter().enumerate() {
            assert!(store.read(entry).unwrap() == slice(second as u64), "slice {second}");
        }
    }
}

/// A file system of 1 MiB, which takes root to mount.
struct Tiny<'a>(&'a Path);

impl Tiny<'_> {
    fn mount(at: &Path) -> Option<Tiny<'_>> {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "none"])
            .arg(at)
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        mounted.then_some(Tiny(at))
    }
}

impl Drop for Tiny<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_stops_recording_and_nothing_else() {
    let folder = TestFolder::new("full");
    let Some(tiny) = Tiny::mount(folder.path()) else {
        println!("skipped: a tiny file system takes root to mount");
        return;
    };
    let mut store = Store::create(tiny.0).unwrap();
    let mut puts = 0;
    let error = loop {
        match store.put(&slice(puts)) {
            Ok(_) => puts += 1,
            Err(error) => break error,
        }
        assert!(puts < 10_000, "the disk never fills");
    };
    assert_eq!(error.code(), Code::Output);
    assert!(error.to_string().contains("free some space"), "{error}");
    let entries = store.list(&Query::default()).unwrap();
    assert_eq!(entries.len() as u64, puts);
    entries.iter().for_each(|entry| assert!(store.read(entry).is_ok()));
    let names = |folder: &Path| -> Vec<String> {
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect()
    };
    let day = store.path(&entries[0]).parent().unwrap().to_path_buf();
    assert!(names(&day).iter().all(|name| name.ends_with(".slice")), "no partial file: {:?}", names(&day));
    // Retention makes room, and recording goes on.
    store.expire(u64::MAX, Duration::MAX, entries.iter().map(|entry| entry.bytes).sum::<u64>() / 2).unwrap();
    store.put(&slice(puts)).expect("there is room again");
}
