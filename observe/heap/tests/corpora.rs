//! Replays the committed corpora of the fuzz targets: each file whole, cut, and with wrong bytes.

#[path = "../../../fuzz/checks/observe/heap.rs"]
mod checks;

use std::fs;
use std::path::Path;

#[test]
fn heap_dump() {
    replay("heap_dump", 4, checks::heap_dump);
}

#[test]
fn heap_snapshot() {
    replay("heap_snapshot", 2, checks::heap_snapshot);
}

fn replay(corpus: &str, least: usize, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(corpus);
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= least, "{files:?}");
    for path in files {
        let bytes = fs::read(&path).unwrap();
        check(&bytes);
        for at in (0..bytes.len()).step_by(41) {
            check(&bytes[..at]);
            for wrong in [bytes[at] ^ 0x80, 0xff, 0] {
                let mut other = bytes.clone();
                other[at] = wrong;
                check(&other);
            }
        }
    }
}
