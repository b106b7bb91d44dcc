//! One part file of generated data: its share of the data, written in pieces of one block.

use std::sync::atomic::{AtomicU64, Ordering};

use yunti_base::Cancel;
use yunti_base::Result;
use yunti_engine::env::NamedFile;
use yunti_engine::library::generate::{BLOCK_BYTES, Blocks, TERA_RECORD_BYTES, TeraAsciiRows, TeraRows};

pub enum Data {
    Tera { records: u64, ascii: bool },
    Blocks { blocks: Box<dyn Blocks>, bytes: u64 },
}

impl Data {
    /// Requested size in bytes; text may be a few bytes smaller.
    pub fn bytes(&self) -> u64 {
        match self {
            Data::Tera { records, .. } => records * TERA_RECORD_BYTES as u64,
            Data::Blocks { bytes, .. } => *bytes,
        }
    }

    pub fn records(&self) -> Option<u64> {
        match self {
            Data::Tera { records, .. } => Some(*records),
            Data::Blocks { .. } => None,
        }
    }
}

/// Returns the range of `part` when `n` items are divided into `parts` ranges of nearly equal size.
fn share(n: u64, part: usize, parts: usize) -> std::ops::Range<u64> {
    let cut = |i: usize| (u128::from(n) * i as u128 / parts as u128) as u64;
    cut(part)..cut(part + 1)
}

/// Writes part `part` of `parts`, and adds the written bytes to `done`.
pub fn write(
    file: &NamedFile,
    data: &Data,
    part: usize,
    parts: usize,
    cancel: &Cancel,
    done: &AtomicU64,
) -> Result<()> {
    let mut at = 0;
    let mut put = |bytes: &[u8]| -> Result<()> {
        cancel.check()?;
        file.write_all(bytes, at)?;
        at += bytes.len() as u64;
        done.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    };
    match data {
        Data::Tera { records, ascii } => {
            let rows = share(*records, part, parts);
            file.allocate((rows.end - rows.start) * TERA_RECORD_BYTES as u64)?;
            let (mut binary, mut lines) = (TeraRows::at(rows.start), TeraAsciiRows::at(rows.start));
            let mut fill = |out: &mut [u8]| if *ascii { lines.fill(out) } else { binary.fill(out) };
            let mut buffer = vec![0; BLOCK_BYTES / TERA_RECORD_BYTES * TERA_RECORD_BYTES];
            let mut left = (rows.end - rows.start) * TERA_RECORD_BYTES as u64;
            while left > 0 {
                let piece = &mut buffer
                    [..left.min(BLOCK_BYTES as u64 / TERA_RECORD_BYTES as u64 * TERA_RECORD_BYTES as u64) as usize];
                fill(piece);
                put(piece)?;
                left -= piece.len() as u64;
            }
        }
        Data::Blocks { blocks, bytes } => {
            let mut block = Vec::new();
            for index in share(bytes.div_ceil(BLOCK_BYTES as u64), part, parts) {
                let bytes_max = (bytes - index * BLOCK_BYTES as u64).min(BLOCK_BYTES as u64) as usize;
                blocks.block(index, bytes_max, &mut block);
                put(&block)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_everything_once() {
        for (n, parts) in [(0, 1), (1, 3), (10, 3), (u64::MAX, 7)] {
            let mut next = 0;
            for part in 0..parts {
                let share = share(n, part, parts);
                assert_eq!(share.start, next);
                next = share.end;
            }
            assert_eq!(next, n);
        }
    }
}
