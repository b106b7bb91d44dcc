//! Arbitrary bytes as a heap dump or a heap snapshot: an error of one line, or an answer about what is there. The tests
//! of `observe/heap/` replay these corpora, so this module is not in `mod.rs`, which belongs to the engine.

use std::fs;
use std::path::Path;

use yunti_base::{Code, Result};
use yunti_heap::answer::loaders::{loaders, same_classes};
use yunti_heap::answer::threads::kinds::kinds_of_threads;
use yunti_heap::answer::{suspects::large, threads::threads, tree::tree, waste::wastes};
use yunti_heap::v8::Snapshot;
use yunti_heap::{Heap, Settings};

/// Checks a dump of a JVM.
pub fn heap_dump(bytes: &[u8]) {
    check(bytes, |path| {
        let heap = Heap::read(path, Settings { threads: 1, scratch: &std::env::temp_dir() })?;
        large(&heap, 10)?;
        kinds_of_threads(&threads(&heap, 10, 3)?);
        same_classes(&heap, &loaders(&heap)?);
        tree(&heap)?;
        wastes(&heap)?;
        Ok(())
    });
}

/// Checks a snapshot of V8.
pub fn heap_snapshot(bytes: &[u8]) {
    check(bytes, |path| {
        let snapshot = Snapshot::read(path)?;
        let of_classes: u64 = snapshot.classes().iter().map(|class| class.bytes).fold(0, u64::saturating_add);
        assert_eq!(of_classes, snapshot.total());
        snapshot.holders();
        Ok(())
    });
}

/// Checks bytes as a file, for it is read in several passes.
fn check(bytes: &[u8], read: impl FnOnce(&Path) -> Result<()>) {
    let name = format!("yunti-heap-{}-{:?}", std::process::id(), std::thread::current().id());
    let path = std::env::temp_dir().join(name);
    fs::write(&path, bytes).unwrap();
    let checked = read(&path);
    fs::remove_file(&path).unwrap();
    if let Err(error) = checked {
        assert!(matches!(error.code(), Code::Input | Code::Corrupt), "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}
