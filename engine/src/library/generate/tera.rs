//! Records of Hadoop's TeraGen: row *i* has the same 100 bytes as in Hadoop 3.4.2, from any start.
//!
//! ```text
//!   0         10   12                      44            48                     96           100
//!  +----------+----+-----------------------+-------------+----------------------+------------+
//!  | key      |00  | row number,           | 88 99 AA BB | 12 hex digits,       | CC DD EE FF|
//!  | 10 bytes |11  | 32 upper-case digits  |             | each 4 times         |            |
//!  +----------+----+-----------------------+-------------+----------------------+------------+
//! ```
//!
//! Key and filler come from a 128-bit number for each row: the key is its upper 10 bytes, the filler its lowest 12 hex
//! digits. Reference: `GenSort.generateRecord` and `Random16` in org.apache.hadoop.examples.terasort.
//! tests/conformance/teragen compares with the real program.

/// Bytes of a TeraSort record.
pub const TERA_RECORD_BYTES: usize = 100;

/// Consecutive rows of TeraGen from a first row.
#[derive(Clone, Debug)]
pub struct TeraRows {
    row: u128,
    random: Random16,
}

impl TeraRows {
    /// Starts at row `first_row`, in about a hundred steps for any row.
    pub fn at(first_row: u64) -> Self {
        TeraRows { row: u128::from(first_row), random: Random16::after(first_row) }
    }

    /// Fills `out` with the next `out.len() / 100` records.
    ///
    /// # Panics
    /// When `out` is not a whole number of records.
    pub fn fill(&mut self, out: &mut [u8]) {
        let (records, rest) = out.as_chunks_mut::<TERA_RECORD_BYTES>();
        assert!(rest.is_empty(), "a buffer for records of 100 bytes has {} bytes", records.len() * 100 + rest.len());
        for record in records {
            let random = self.random.step();
            record[..10].copy_from_slice(&random.to_be_bytes()[..10]);
            record[10..12].copy_from_slice(&[0x00, 0x11]);
            record[12..44].copy_from_slice(&hex_32(self.row));
            record[44..48].copy_from_slice(&[0x88, 0x99, 0xAA, 0xBB]);
            let upper = hex_8((random >> 16) as u32);
            let lower = hex_8(random as u32);
            repeat_4(&upper[..4], &mut record[48..64]);
            repeat_4(&lower, &mut record[64..96]);
            record[96..].copy_from_slice(&[0xCC, 0xDD, 0xEE, 0xFF]);
            self.row += 1;
        }
    }
}

/// 128-bit linear congruential generator of gensort: x' = A x + C modulo 2^128.
#[derive(Clone, Debug)]
pub(super) struct Random16(u128);

impl Random16 {
    const A: u128 = 0x2360ed051fc65da44385df649fccf645;
    const C: u128 = 0x4a696d47726179524950202020202001;

    /// Returns the state after `steps` steps from zero. The step is composed with itself for each bit.
    pub(super) fn after(steps: u64) -> Self {
        let (mut a, mut c) = (Self::A, Self::C);
        let mut x = 0u128;
        for bit in 0..u64::BITS {
            if steps >> bit & 1 == 1 {
                x = x.wrapping_mul(a).wrapping_add(c);
            }
            c = c.wrapping_mul(a.wrapping_add(1));
            a = a.wrapping_mul(a);
        }
        Random16(x)
    }

    #[inline]
    pub(super) fn step(&mut self) -> u128 {
        self.0 = self.0.wrapping_mul(Self::A).wrapping_add(Self::C);
        self.0
    }
}

/// Returns 32 upper-case hex digits.
#[inline]
pub(super) fn hex_32(x: u128) -> [u8; 32] {
    let mut digits = [0; 32];
    let (eights, _) = digits.as_chunks_mut::<8>();
    for (i, eight) in eights.iter_mut().enumerate() {
        *eight = hex_8((x >> (96 - 32 * i)) as u32);
    }
    digits
}

/// Returns eight upper-case hex digits, computed together in one 64-bit word.
#[inline]
pub(super) fn hex_8(x: u32) -> [u8; 8] {
    let mut n = u64::from(x);
    n = (n | n << 16) & 0x0000_ffff_0000_ffff;
    n = (n | n << 8) & 0x00ff_00ff_00ff_00ff;
    n = (n | n << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    // One in each byte whose digit is a letter, because adding 6 carries into bit 4 from 10 on.
    let letters = ((n + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101;
    (n + 0x3030_3030_3030_3030 + letters * 7).to_be_bytes()
}

/// Writes each byte four times.
#[inline]
pub(super) fn repeat_4(digits: &[u8], out: &mut [u8]) {
    let (fours, _) = out.as_chunks_mut::<4>();
    for (four, &digit) in fours.iter_mut().zip(digits) {
        *four = [digit; 4];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::generate::testing::fnv64;

    fn rows(first: u64, n: usize) -> Vec<u8> {
        let mut out = vec![0; n * TERA_RECORD_BYTES];
        TeraRows::at(first).fill(&mut out);
        out
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    /// Values printed by tests/conformance/teragen/Expected.java from Hadoop's own classes; check.sh prints them again.
    #[test]
    fn rows_match_hadoop() {
        for (row, expect) in [
            (
                0,
                "4a696d47726179524950001130303030303030303030303030303030303030303030303030303030303030308899aabb323232323030303032323232303030303232323230303030323232323030303032323232303030303030303031313131ccddeeff",
            ),
            (
                1,
                "95e0e48262b3edfe0447001130303030303030303030303030303030303030303030303030303030303030318899aabb393939393434343438383838353535354343434337373737353535353535353542424242363636363434343436363636ccddeeff",
            ),
            (
                2,
                "45979353dbed5329365c001130303030303030303030303030303030303030303030303030303030303030328899aabb464646463737373739393939353535354646464631313131323232323939393938383838343434344444444446464646ccddeeff",
            ),
            (
                999_999,
                "92b1d9c3af90ef511dfc001130303030303030303030303030303030303030303030303030303046343233468899aabb454545453939393945454545313131314343434338383838363636364141414133333333444444444343434330303030ccddeeff",
            ),
            (
                10_000_000_000,
                "57b8fc52d1595865fa47001130303030303030303030303030303030303030303030303235343042453430308899aabb383838383737373743434343383838383434343446464646343434343131313141414141434343433030303031313131ccddeeff",
            ),
            (
                9_223_372_036_854_775_807,
                "7858ca25feb8d4bf8000001130303030303030303030303030303030374646464646464646464646464646468899aabb303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030ccddeeff",
            ),
        ] {
            assert_eq!(hex(&rows(row, 1)), expect, "row {row}");
        }
    }

    #[test]
    fn long_runs_match_hadoop() {
        for (first, n, expect) in [(0, 100_000, 0x5414c916f65d9851), (9_999_999_500, 1_000, 0x8865b026def2593d)] {
            assert_eq!(fnv64(&rows(first, n)), expect, "{n} rows from {first}");
        }
    }

    #[test]
    fn any_start_continues_the_same_rows() {
        let whole = rows(0, 3000);
        for (first, n) in [(0, 0), (0, 1), (1, 1), (255, 2), (1023, 1025), (2999, 1)] {
            assert_eq!(rows(first, n), whole[first as usize * 100..][..n * 100], "{n} rows from {first}");
        }
        let mut stream = TeraRows::at(0);
        let mut pieces = vec![0; whole.len()];
        let mut at = 0;
        for n in [1, 2, 7, 990, 2000] {
            stream.fill(&mut pieces[at..][..n * 100]);
            at += n * 100;
        }
        assert!(pieces == whole);
    }

    #[test]
    fn row_after_the_last_u64_does_not_wrap() {
        let two = rows(u64::MAX, 2);
        assert_eq!(&two[12..44], b"0000000000000000FFFFFFFFFFFFFFFF");
        assert_eq!(&two[112..144], b"00000000000000010000000000000000");
    }

    #[test]
    #[should_panic(expected = "150 bytes")]
    fn half_a_record_panics() {
        TeraRows::at(0).fill(&mut [0; 150]);
    }

    #[test]
    fn hex_digits() {
        for x in [0, 1, 9, 10, 15, 16, 0x0123_4567, 0x89ab_cdef, u32::MAX] {
            assert_eq!(hex_8(x), *format!("{x:08X}").as_bytes());
        }
    }
}
