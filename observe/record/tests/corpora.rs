//! Replays the committed corpora of the fuzz targets: each file whole, cut, and with wrong bytes.

#[path = "../../../fuzz/checks/observe/profile.rs"]
mod checks;

use std::fs;
use std::path::Path;

fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 4, "{files:?}");
    for path in files {
        let bytes = fs::read(&path).unwrap();
        check(&bytes);
        for at in (0..bytes.len()).step_by(3) {
            check(&bytes[..at]);
            let mut other = bytes.clone();
            for change in [0x80, 0x01, 0x7f] {
                other[at] = bytes[at] ^ change;
                check(&other);
            }
        }
    }
}

#[test]
fn pprof() {
    replay("pprof", checks::pprof);
}

#[test]
fn otlp_profiles() {
    replay("otlp_profiles", checks::otlp);
}
