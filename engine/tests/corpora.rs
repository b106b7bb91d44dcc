//! What the fuzzer found worth keeping, replayed: each committed input through the check that its target makes.

use std::fs;
use std::path::Path;

#[path = "../../fuzz/checks/mod.rs"]
mod checks;

fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let mut inputs = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        check(&fs::read(entry.unwrap().path()).unwrap());
        inputs += 1;
    }
    assert!(inputs > 0, "{} is empty", folder.display());
}

#[test]
fn decoders() {
    replay("decoders", checks::decoders::check);
}

#[test]
fn run_blocks() {
    replay("run_block", checks::run_block::check);
}

#[test]
fn job_files() {
    replay("job_file", checks::job_file::check);
}
