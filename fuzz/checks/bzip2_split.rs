//! Arbitrary bytes as a bzip2 file cut in two: both halves together give the data of the whole, or one gives an error.

use std::path::Path;

use yunti_base::{Code, Result};
use yunti_engine::env::NamedFile;
use yunti_engine::env::files::Files;
use yunti_engine::env::real::RealFiles;
use yunti_engine::memory::Budget;
use yunti_engine::read::byte_source::CutReader;
use yunti_engine::read::bzip2::split::Bzip2Split;

/// Bytes of output after which a decompression bomb is cut.
const OUTPUT_BYTES_MAX: usize = 4 << 20;

/// Returns the data of the blocks that begin in [start, end), or None above `OUTPUT_BYTES_MAX` bytes.
fn read(bytes: &[u8], start: u64, end: u64) -> Result<Option<Vec<u8>>> {
    let file = RealFiles.scratch(&std::env::temp_dir()).expect("a scratch file");
    assert_eq!(file.write_at(bytes, 0).expect("a write"), bytes.len());
    let file = NamedFile::new(file, Path::new("file"), Code::Input);
    let mut split = Bzip2Split::new(file, start, end, &Budget::new(64 << 20))?;
    let (mut data, mut piece) = (Vec::new(), vec![0; 10_000]);
    while split.boundary().is_none() {
        let n = split.read(&mut piece)?;
        data.extend_from_slice(&piece[..n]);
        if data.len() > OUTPUT_BYTES_MAX {
            return Ok(None);
        }
        assert!(n == piece.len() || split.boundary().is_some(), "no progress");
    }
    data.truncate(split.boundary().unwrap_or(0) as usize);
    Ok(Some(data))
}

/// Checks one input. The first byte sets the place of the cut, in 256ths of the file.
pub fn check(bytes: &[u8]) {
    let [cut, file @ ..] = bytes else { return };
    let cut = (file.len() as u64 * u64::from(*cut)).div_ceil(256);
    let whole = read(file, 0, file.len() as u64);
    let halves = (read(file, 0, cut), read(file, cut, file.len() as u64));
    match (whole, halves) {
        (Ok(Some(whole)), (Ok(Some(a)), Ok(Some(b)))) => {
            assert!(cut == 0 || [a, b].concat() == whole, "the cut changed the data");
        }
        (whole, (a, b)) => {
            for e in [whole, a, b].into_iter().filter_map(Result::err) {
                assert!(matches!(e.code(), Code::Corrupt | Code::Input | Code::Memory) && e.path().is_some(), "{e}");
            }
        }
    }
}
