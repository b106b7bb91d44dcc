//! Reads any bytes as a SequenceFile, to its end.

use yunti_api::Result;

use super::header::Header;
use super::records::Records;
use crate::file::input::{Input, ROWS_MAX};

/// Bytes of a stretch: small ones begin within records and blocks.
const STRETCH_BYTES: usize = 100;

/// Checksums of the records of a file, read whole and by stretches. A sound file has the same in both, unless a record
/// has the bytes of a marker.
type Sums = (Vec<u32>, Vec<u32>);

/// Reads the records whole and by stretches.
pub fn check(bytes: &[u8]) -> Result<()> {
    read(bytes).map(drop)
}

fn read(bytes: &[u8]) -> Result<Sums> {
    let file = &Input::of_bytes(bytes);
    let header = Header::load(file)?;
    let whole = sums(file, &header, 0, u64::MAX)?;
    let mut parts = Vec::new();
    for start in (0..file.len()).step_by(STRETCH_BYTES) {
        parts.extend(sums(file, &header, start, start + STRETCH_BYTES as u64)?);
        if parts.len() > ROWS_MAX {
            break;
        }
    }
    Ok((whole, parts))
}

/// Returns the checksums of a stretch, of the first rows at least.
fn sums(file: &Input, header: &Header, start: u64, end: u64) -> Result<Vec<u32>> {
    let mut records = Records::open(file, header, start..end)?;
    let (mut found, mut space) = (Vec::new(), Vec::new());
    while let Some((key, value)) = records.next()? {
        for (class, bytes) in [(header.key, key), (header.value, value)] {
            let _ = class.text(bytes, &mut space);
        }
        found.push(crc32fast::hash(key).rotate_left(1) ^ crc32fast::hash(value));
        if found.len() > ROWS_MAX {
            break;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::replay::replay;

    #[test]
    fn hostile_files() {
        for file in replay("sequence", check) {
            if let Ok((whole, parts)) = read(&file) {
                assert_eq!(whole, parts);
            }
        }
    }
}
