//! Replays the committed corpora of the fuzz targets: each file whole, cut, and with wrong bytes.

#[path = "../../../fuzz/checks/observe/crash.rs"]
mod checks;

use std::fs;
use std::path::Path;

fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 5, "{files:?}");
    for path in files {
        let bytes = fs::read(&path).unwrap();
        check(&bytes);
        for at in (0..bytes.len()).step_by(7) {
            check(&bytes[..at]);
            check(&bytes[at..]);
            let mut other = bytes.clone();
            other[at] ^= 0x80;
            check(&other);
            other[at] = b'"';
            check(&other);
        }
    }
}

#[test]
fn kernel_log() {
    replay("kernel_log", checks::kernel_log);
}

#[test]
fn hs_err() {
    replay("hs_err", checks::hs_err);
}
