//! CRC-32C of each block of a table: damage is found without reading all of it.

use yunti_base::{Code, Error};

/// Bytes of a block.
pub const BLOCK: u64 = 64 << 10;

/// Returns the number of blocks of `bytes`.
pub fn blocks(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK)
}

/// Returns true if the sum of a block is right. `sums` has 4 bytes for each.
pub fn is_right(block: &[u8], number: usize, sums: &[u8]) -> bool {
    sums.get(4 * number..4 * number + 4) == Some(&crc32c::crc32c(block).to_le_bytes())
}

/// Returns the error for a block that begins at an offset.
pub fn wrong(begin: u64) -> Error {
    let what = "the table is damaged: a checksum is wrong";
    Error::new(Code::Corrupt, what).at_offset(begin).hint("build it again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_blocks_are_found() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|i| (i * 7) as u8).collect();
        let sums: Vec<u8> = bytes.chunks(BLOCK as usize).flat_map(|b| crc32c::crc32c(b).to_le_bytes()).collect();
        assert_eq!(sums.len() as u64, blocks(200_000) * 4);
        for (number, block) in bytes.chunks(BLOCK as usize).enumerate() {
            assert!(is_right(block, number, &sums) && !is_right(&block[1..], number, &sums));
        }
        assert!(!is_right(b"", 9, &sums));
    }
}
