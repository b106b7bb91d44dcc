//! CRC32C (Castagnoli, RFC 3720 appendix B.4), the checksum of each block in a scratch file. A torn or corrupt block
//! becomes an error.
//!
//! The crate `crc32c` uses the CPU's own instruction, chosen at run time: 10 to 28 GB/s a core. A disk delivers a tenth
//! of this. `crc-fast` is twice as fast, but was rejected: it adds six crates and builds two extra libraries in each
//! build. The gain is below 1 % of the time to write a block.

/// Returns the CRC32C of `data`.
pub fn crc32c(data: &[u8]) -> u32 {
    ::crc32c::crc32c(data)
}

/// CRC32C of data in pieces: call `update` any number of times, then `finish`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Crc32c(u32);

impl Crc32c {
    /// Returns the checksum of no bytes.
    pub fn new() -> Self {
        Crc32c(0)
    }

    /// Adds the next piece of the data.
    pub fn update(&mut self, data: &[u8]) {
        self.0 = ::crc32c::crc32c_append(self.0, data);
    }

    /// Returns the checksum of all bytes added so far. More pieces may follow.
    pub fn finish(&self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_the_published_checksums() {
        // RFC 3720 appendix B.4, and the check value of the CRC catalogue.
        let ascending: Vec<u8> = (0..32).collect();
        let descending: Vec<u8> = (0..32).rev().collect();
        let table: [(&[u8], u32); 6] = [
            (b"", 0),
            (b"123456789", 0xE306_9283),
            (&[0; 32], 0x8A91_36AA),
            (&[0xFF; 32], 0x62A8_AB43),
            (&ascending, 0x46DD_794E),
            (&descending, 0x113F_DB5C),
        ];
        for (data, expect) in table {
            assert_eq!(crc32c(data), expect, "{data:?}");
        }
    }

    /// Computes the CRC bit by bit from the polynomial.
    fn slow(data: &[u8]) -> u32 {
        let mut crc = !0u32;
        for &byte in data {
            crc ^= byte as u32;
            for _ in 0..8 {
                crc = if crc & 1 == 1 { (crc >> 1) ^ 0x82F6_3B78 } else { crc >> 1 };
            }
        }
        !crc
    }

    #[test]
    fn pieces_of_any_length_and_alignment_give_the_same_checksum() {
        let data: Vec<u8> = (0..30_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for start in 0..9 {
            for length in (0..70).chain([255, 767, 768, 769, 24_575, 24_576, 24_577, 29_900]) {
                let part = &data[start..start + length];
                assert_eq!(crc32c(part), slow(part), "start {start} length {length}");
            }
        }
        for cut in [0, 1, 7, 8, 4096, 29_999, 30_000] {
            let mut crc = Crc32c::new();
            crc.update(&data[..cut]);
            crc.update(&data[cut..]);
            assert_eq!(crc.finish(), crc32c(&data), "cut {cut}");
        }
    }
}
