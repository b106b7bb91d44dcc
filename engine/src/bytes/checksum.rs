//! CRC32C (Castagnoli, RFC 3720 appendix B.4): the checksum on every block that goes to a scratch
//! file, so that a torn or rotten block is an error and never a wrong answer.
//!
//! The crate `crc32c` uses the CPU's own instruction, chosen at run time, at 10 to 28 GB/s a core;
//! a disk brings a tenth of that. `crc-fast` is twice as fast and was rejected: it pulls in six more
//! crates, builds a shared and a static library of itself in every build, and the gain is below
//! one part in a hundred of writing the block.

/// The CRC32C of `data`.
pub fn crc32c(data: &[u8]) -> u32 {
    ::crc32c::crc32c(data)
}

/// The CRC32C of data that comes in pieces: `update` any number of times, then `finish`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Crc32c(u32);

impl Crc32c {
    pub fn new() -> Self {
        Crc32c(0)
    }

    pub fn update(&mut self, data: &[u8]) {
        self.0 = ::crc32c::crc32c_append(self.0, data);
    }

    /// The checksum of all bytes so far. More may follow.
    pub fn finish(&self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
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

    /// One bit at a time, straight from the polynomial.
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
    fn every_length_and_alignment_and_cut_gives_the_same() {
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
