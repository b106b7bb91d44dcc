//! Replays the committed corpus of the fuzz target: each dump whole, cut, and with wrong bytes.

#[path = "../../../fuzz/checks/observe/heap.rs"]
mod checks;

use std::fs;
use std::path::Path;

#[test]
fn heap_dump() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/heap_dump");
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 4, "{files:?}");
    for path in files {
        let bytes = fs::read(&path).unwrap();
        checks::heap_dump(&bytes);
        for at in (0..bytes.len()).step_by(41) {
            checks::heap_dump(&bytes[..at]);
            for wrong in [bytes[at] ^ 0x80, 0xff, 0] {
                let mut other = bytes.clone();
                other[at] = wrong;
                checks::heap_dump(&other);
            }
        }
    }
}
