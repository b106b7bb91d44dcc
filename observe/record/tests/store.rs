//! Stores in folders: what is put is listed and read, limits hold, leftovers and damage hurt nothing.

mod folder;

use std::fs;
use std::time::Duration;

use folder::TestFolder;
use yunti_base::Code;
use yunti_record::{Frame, FrameKind, Measure, Query, Slice, Store};

const DAY_MS: u64 = 86_400_000;
/// 2026-11-28 03:10:00.
const BEGIN_MS: u64 = 1_795_835_400_000;

fn slice(service: &str, release: &str, begin_ms: u64) -> Slice {
    let mut slice = Slice::default();
    slice.facts.service.name = service.into();
    slice.facts.service.release = release.into();
    slice.facts.service.host = "h1".into();
    (slice.facts.begin_ms, slice.facts.duration_ms) = (begin_ms, 30_000);
    for n in 0..50 {
        let frames = [Frame::new("main", FrameKind::Native), Frame::new(&format!("f{n}"), FrameKind::Compiled)];
        slice.stacks.add(&frames, Measure::Cpu, 10_000_000 + begin_ms % 7919);
    }
    slice
}

#[test]
fn slices_are_listed_by_time_and_read() {
    let folder = TestFolder::new("list");
    let mut store = Store::create(&folder.path().join("a/b")).unwrap();
    let slices: Vec<Slice> = [("shop", "v2", 60_000), ("shop", "v1", 0), ("cart/x", "v1", DAY_MS)]
        .map(|(service, release, after)| slice(service, release, BEGIN_MS + after))
        .into();
    for slice in &slices {
        let entry = store.put(slice).unwrap();
        assert_eq!(entry.bytes, fs::metadata(store.path(&entry)).unwrap().len());
        assert_eq!(store.read(&entry).unwrap(), *slice);
        assert_eq!(store.facts(&entry).unwrap(), slice.facts);
    }
    let begins = |query: Query| -> Vec<u64> {
        store.list(&query).unwrap().iter().map(|entry| entry.begin_ms - BEGIN_MS).collect()
    };
    assert_eq!(begins(Query::default()), [0, 60_000, DAY_MS]);
    assert_eq!(begins(Query { service: Some("shop".into()), ..Query::default() }), [0, 60_000]);
    assert_eq!(begins(Query { from_ms: Some(BEGIN_MS + 1), ..Query::default() }), [60_000, DAY_MS]);
    assert_eq!(begins(Query { to_ms: Some(BEGIN_MS + 60_000), ..Query::default() }), [0]);
    assert_eq!(begins(Query { release: Some("v1".into()), ..Query::default() }), [0, DAY_MS]);
    assert_eq!(begins(Query { host: Some("h2".into()), ..Query::default() }), [0; 0]);
    assert_eq!(begins(Query { measure: Some(Measure::Alloc), ..Query::default() }), [0; 0]);
    let status = store.status().unwrap();
    assert_eq!((status.services, status.slices), (vec!["cart/x".into(), "shop".into()], 3));
    assert_eq!((status.first_ms, status.last_ms), (Some(BEGIN_MS), Some(BEGIN_MS + DAY_MS)));
    assert_eq!(status.days.values().sum::<u64>(), status.bytes);
}

#[test]
fn processes_of_one_second_have_files_of_their_own() {
    let folder = TestFolder::new("processes");
    let mut store = Store::create(folder.path()).unwrap();
    let mut slice = slice("shop", "v1", BEGIN_MS);
    for pid in [1, 2, 2] {
        slice.facts.service.pid = pid;
        store.put(&slice).unwrap();
    }
    assert_eq!(store.list(&Query::default()).unwrap().len(), 2);
}

#[test]
fn a_full_day_takes_no_more() {
    let folder = TestFolder::new("day");
    let mut store = Store::create(folder.path()).unwrap();
    let bytes = store.put(&slice("shop", "v1", BEGIN_MS)).unwrap().bytes;
    let mut store = store.with_day_bytes_max(bytes * 5 / 2);
    store.put(&slice("shop", "v1", BEGIN_MS + 60_000)).unwrap();
    let error = store.put(&slice("cart", "v1", BEGIN_MS + 120_000)).unwrap_err();
    assert_eq!(error.code(), Code::Output);
    assert!(error.to_string().contains("no room") && error.to_string().contains("2026-11-28"), "{error}");
    store.put(&slice("shop", "v1", BEGIN_MS + DAY_MS)).expect("the next day has room");
    // Another recorder counts what is there.
    let mut other = Store::create(folder.path()).unwrap().with_day_bytes_max(bytes * 5 / 2);
    assert!(other.put(&slice("shop", "v1", BEGIN_MS + 180_000)).is_err());
}

#[test]
fn old_slices_and_leftovers_expire() {
    let folder = TestFolder::new("expire");
    let mut store = Store::create(folder.path()).unwrap();
    let entries: Vec<_> = (0..5).map(|day| store.put(&slice("shop", "v1", BEGIN_MS + day * DAY_MS)).unwrap()).collect();
    let day = store.path(&entries[4]).parent().unwrap().to_path_buf();
    let (old, fresh) = (day.join(".a.slice.1.tmp"), day.join(".b.slice.2.tmp"));
    for path in [&old, &fresh] {
        fs::write(path, "half").unwrap();
    }
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(7200);
    fs::File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
    let now_ms = BEGIN_MS + 4 * DAY_MS;
    let (removed, bytes) = store.expire(now_ms, Duration::from_secs(3 * 86_400), u64::MAX).unwrap();
    assert_eq!((removed, bytes), (1, entries[0].bytes));
    assert!(!store.path(&entries[0]).parent().unwrap().exists(), "the day's folder goes with its last slice");
    assert!(!old.exists() && fresh.exists());
    let (removed, _) = store.expire(now_ms, Duration::MAX, 2 * entries[0].bytes + 10).unwrap();
    assert_eq!(removed, 2);
    assert_eq!(store.list(&Query::default()).unwrap(), entries[3..]);
    // Nothing to do is no error.
    assert_eq!(store.expire(now_ms, Duration::MAX, u64::MAX).unwrap(), (0, 0));
}

#[test]
fn other_files_and_damage_hurt_no_reader() {
    let folder = TestFolder::new("damage");
    let mut store = Store::create(folder.path()).unwrap();
    let good = store.put(&slice("shop", "v1", BEGIN_MS)).unwrap();
    let bad = store.put(&slice("shop", "v1", BEGIN_MS + 60_000)).unwrap();
    let day = store.path(&good).parent().unwrap().to_path_buf();
    fs::write(day.join("notes.txt"), "x").unwrap();
    fs::write(day.join(".031100-30s-cpu-00000000.slice.7.tmp"), "x").unwrap();
    fs::write(folder.path().join("README"), "x").unwrap();
    fs::create_dir(day.join("031200-30s-cpu-00000000.slice")).unwrap();
    fs::create_dir_all(folder.path().join("shop/not-a-day")).unwrap();
    let whole = fs::read(store.path(&bad)).unwrap();
    fs::write(store.path(&bad), &whole[..whole.len() / 3]).unwrap();
    let entries = store.list(&Query::default()).unwrap();
    assert_eq!(entries.len(), 2);
    store.read(&entries[0]).unwrap();
    let error = store.read(&entries[1]).unwrap_err();
    assert_eq!(error.code(), Code::Corrupt);
    assert!(error.path().is_some_and(|path| path.ends_with(".slice")), "{error}");
    fs::write(store.path(&bad), "").unwrap();
    assert_eq!(store.read(&entries[1]).unwrap_err().code(), Code::Corrupt);
    assert_eq!(store.list(&Query { release: Some("v1".into()), ..Query::default() }).unwrap().len(), 1);
}

#[test]
fn missing_folders_are_named() {
    let folder = TestFolder::new("missing");
    let error = Store::open(&folder.path().join("none")).unwrap_err();
    assert_eq!(error.code(), Code::Input);
    assert!(error.to_string().contains("none"), "{error}");
    fs::write(folder.path().join("file"), "x").unwrap();
    assert_eq!(Store::create(&folder.path().join("file/x")).unwrap_err().code(), Code::Output);
}
