//! Replay of the committed fuzzer inputs: each goes through the check of its target.

use std::fs;
use std::path::Path;

use yunti_engine::codec::CodecKind;

#[path = "../../fuzz/checks/mod.rs"]
mod checks;

fn replay(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let mut inputs = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        check(&fs::read(entry.unwrap().path()).unwrap());
        inputs += 1;
    }
    assert!(inputs > 0, "{} is empty", folder.display());
    println!("{target}: {inputs} inputs");
}

#[test]
fn decoders() {
    for kind in CodecKind::ALL {
        replay(kind.name(), |bytes| checks::decoders::check(kind, bytes));
    }
    replay("lz4_block", checks::lz4_block::check);
    replay("bzip2_split", checks::bzip2_split::check);
    replay("parts", checks::parts::check);
}

#[test]
fn records() {
    replay("csv", checks::csv::check);
    replay("json", checks::json::check);
    replay("framed", checks::framed::check);
    replay("typed_bytes", checks::typed_bytes::check);
}

#[test]
fn class_libraries() {
    replay("class_library", checks::class_library::check);
}

#[test]
fn job_journals() {
    replay("job_journal", checks::job_journal::check);
}

#[test]
fn run_blocks() {
    replay("run_block", checks::run_block::check);
}

#[test]
fn job_files() {
    replay("job_file", checks::job_file::check);
}
