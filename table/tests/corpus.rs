//! Replays the committed corpus of the fuzz target: each file whole, cut, and with wrong bytes.

#[path = "../../fuzz/checks/table.rs"]
mod check;

use std::fs;
use std::path::Path;

/// Bytes behind the header that are changed one by one; those of the header are few and matter all.
const STEP: usize = 7;

#[test]
fn shared_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/shared_table");
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 5, "{files:?}");
    for path in files {
        let bytes = fs::read(&path).unwrap();
        check::shared_table(&bytes);
        let places = (0..256).chain((4096..bytes.len()).step_by(STEP));
        for at in places.filter(|at| *at < bytes.len()) {
            check::shared_table(&bytes[..at]);
            for wrong in [bytes[at] ^ 0x80, bytes[at].wrapping_add(1), 0xff, 0] {
                let mut other = bytes.clone();
                other[at] = wrong;
                check::shared_table(&other);
            }
        }
    }
}
