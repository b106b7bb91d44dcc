//! Stores of other machines, with a shell in place of ssh.

mod folder;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use folder::TestFolder;
use yunti_base::Code;
use yunti_record::{Frame, FrameKind, Measure, Place, Query, Slice, Store, fetch};

/// 2026-11-28 03:10:00.
const BEGIN_MS: u64 = 1_795_835_400_000;

fn script(folder: &TestFolder, text: &str) -> PathBuf {
    let path = folder.path().join("ssh");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn remote_store(folder: &Path) -> Store {
    let mut store = Store::create(folder).unwrap();
    for (n, service) in ["shop", "shop", "cart's"].iter().enumerate() {
        let mut slice = Slice::default();
        slice.facts.service.name = service.to_string();
        slice.facts.begin_ms = BEGIN_MS + 60_000 * n as u64;
        slice.stacks.add(&[Frame::new("main", FrameKind::Native)], Measure::Cpu, 1 + n as u64);
        store.put(&slice).unwrap();
    }
    store
}

#[test]
fn missing_slices_are_copied() {
    let folder = TestFolder::new("remote");
    // Its name needs quotes.
    let there = folder.path().join("it's a store");
    let remote = remote_store(&there);
    let log = folder.path().join("log");
    let ssh = script(&folder, &format!("echo \"$2 $3\" >> {}; exec sh -c \"$3\"", log.display()));
    let place = Place { host: "web1".into(), folder: there.to_string_lossy().into_owned() };
    let cache = folder.path().join("cache");
    let shop = Query { service: Some("shop".into()), ..Query::default() };
    let store = fetch(&ssh, &place, &shop, &cache).unwrap();
    assert_eq!(store.list(&Query::default()).unwrap(), remote.list(&shop).unwrap());
    let store = fetch(&ssh, &place, &Query::default(), &cache).unwrap();
    let entries = store.list(&Query::default()).unwrap();
    assert_eq!(entries, remote.list(&Query::default()).unwrap());
    assert!(entries.iter().all(|entry| store.read(entry).unwrap() == remote.read(entry).unwrap()));
    fetch(&ssh, &place, &Query::default(), &cache).unwrap();
    let log = fs::read_to_string(log).unwrap();
    assert_eq!((log.matches("web1 ").count(), log.matches("cat").count()), (5, 2), "{log}");
}

#[test]
fn failures_are_one_line() {
    let folder = TestFolder::new("remote-failures");
    let there = folder.path().join("store");
    remote_store(&there);
    let cache = folder.path().join("cache");
    let place = Place { host: "web1".into(), folder: there.to_string_lossy().into_owned() };
    let error = |ssh: &Path, place: &Place| fetch(ssh, place, &Query::default(), &cache).unwrap_err();
    let refused = error(&script(&folder, "echo 'Permission denied (publickey).' >&2; exit 255"), &place);
    assert_eq!(refused.code(), Code::Input);
    assert!(refused.to_string().contains("Permission denied (publickey)."), "{refused}");
    let cut =
        error(&script(&folder, "case \"$3\" in *cat*) head -c 300 /dev/zero;; *) exec sh -c \"$3\";; esac"), &place);
    assert!(cut.to_string().contains("changed while it was copied"), "{cut}");
    let nowhere = Place { host: "web1".into(), folder: "/no/such/folder".into() };
    assert_eq!(error(&script(&folder, "exec sh -c \"$3\""), &nowhere).code(), Code::Input);
    assert_eq!(error(Path::new("/no/such/ssh"), &place).code(), Code::Input);
    assert!(Store::open(&cache).unwrap().list(&Query::default()).unwrap().is_empty());
}
