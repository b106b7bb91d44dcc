//! Replay of the corpus of a fuzz target: each file, each cut of it, and each byte changed.

use std::path::Path;

use yunti_api::Result;

/// Files that are cut and changed have about as many variants of each kind.
const VARIANTS: usize = 500;

/// Passes each file of a corpus and its variants to `check`. Returns the files.
///
/// Panics if no file is sound, and where `check` does.
pub fn replay(target: &str, check: fn(&[u8]) -> Result<()>) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let (mut files, mut sound) = (Vec::new(), 0);
    for entry in std::fs::read_dir(&folder).expect("the corpus") {
        let mut bytes = std::fs::read(entry.expect("an entry").path()).expect("a file");
        sound += usize::from(check(&bytes).is_ok());
        let step = 1 + bytes.len() / VARIANTS;
        for at in (0..bytes.len()).step_by(step) {
            let _ = check(&bytes[..at]);
            let byte = bytes[at];
            for other in [byte ^ 1, byte ^ 0x80, 0, 0xff, 0x7f] {
                bytes[at] = other;
                let _ = check(&bytes);
            }
            bytes[at] = byte;
        }
        files.push(bytes);
    }
    println!("{target}: {} files, {sound} of them sound", files.len());
    assert!(sound > 0, "{target}: {} files", files.len());
    files
}
