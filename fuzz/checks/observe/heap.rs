//! Arbitrary bytes as a heap dump: an error of one line, or an answer about what is there. The tests of `observe/heap/`
//! replay this corpus, so this module is not in `mod.rs`, which belongs to the engine.

use std::fs;

use yunti_base::Code;
use yunti_heap::answer::{suspects::large, threads::threads};
use yunti_heap::{Heap, Settings};

/// Checks a dump.
pub fn heap_dump(bytes: &[u8]) {
    // A dump is read in several passes, so it must be a file.
    let folder = std::env::temp_dir();
    let path = folder.join(format!("yunti-heap-dump-{}-{:?}.hprof", std::process::id(), std::thread::current().id()));
    fs::write(&path, bytes).unwrap();
    let read = Heap::read(&path, Settings { threads: 1, scratch: &folder });
    let checked = read.and_then(|heap| {
        large(&heap, 10)?;
        threads(&heap, 10, 3)?;
        Ok(())
    });
    fs::remove_file(&path).unwrap();
    if let Err(error) = checked {
        assert!(matches!(error.code(), Code::Input | Code::Corrupt), "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}
