//! TeraSort records as lines of text, for programs that sort lines: 99 printable bytes, then LF.
//!
//! ```text
//!   0          10       12                      44       46                          99  100
//!  +-----------+--------+-----------------------+--------+---------------------------+----+
//!  | key, 10   | 2      | row number,           | 2      | 13 hex digits, each 4     | LF |
//!  | of 32-126 | spaces | 32 upper-case digits  | spaces | times, the last one 5     |    |
//!  +-----------+--------+-----------------------+--------+---------------------------+----+
//! ```
//!
//! The bytes match Hadoop's `GenSort -a` (`generateAsciiRecord`) except byte 98. GenSort ends its lines with CR LF, and
//! half of the programs would take the CR as part of the line.

use super::tera::{Random16, TERA_RECORD_BYTES, hex_8, hex_32, repeat_4};

/// Consecutive records of 100 bytes as lines, from a first row.
#[derive(Clone, Debug)]
pub struct TeraAsciiRows {
    row: u128,
    random: Random16,
}

impl TeraAsciiRows {
    /// Starts at row `first_row`, in about a hundred steps for any row.
    pub fn at(first_row: u64) -> Self {
        TeraAsciiRows { row: u128::from(first_row), random: Random16::after(first_row) }
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
            let (high, low) = ((random >> 64) as u64, random as u64);
            record[..8].copy_from_slice(&base_95::<8>(high));
            record[8..10].copy_from_slice(&base_95::<2>(low));
            record[10..12].copy_from_slice(b"  ");
            record[12..44].copy_from_slice(&hex_32(self.row));
            record[44..46].copy_from_slice(b"  ");
            let upper = hex_8((random >> 20) as u32);
            let lower = hex_8(random as u32);
            repeat_4(&upper[..5], &mut record[46..66]);
            repeat_4(&lower, &mut record[66..98]);
            record[98] = lower[7];
            record[99] = b'\n';
            self.row += 1;
        }
    }
}

/// Returns the lowest `N` digits of `x` in base 95, lowest first, as the characters from space to tilde.
#[inline]
fn base_95<const N: usize>(mut x: u64) -> [u8; N] {
    let mut digits = [0; N];
    for digit in &mut digits {
        *digit = b' ' + (x % 95) as u8;
        x /= 95;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::generate::testing::fnv64;

    fn rows(first: u64, n: usize) -> Vec<u8> {
        let mut out = vec![0; n * TERA_RECORD_BYTES];
        TeraAsciiRows::at(first).fill(&mut out);
        out
    }

    /// Values printed by tests/conformance/teragen/Expected.java from Hadoop's own classes, without CR LF.
    #[test]
    fn rows_match_hadoop_except_the_line_end() {
        for (row, expect) in [
            (0, "AsfAGHM5om  00000000000000000000000000000000  0000222200002222000022220000222200002222000000001111"),
            (1, "~sHd0jDv6X  00000000000000000000000000000001  77779999444488885555CCCC777755555555BBBB666644446666"),
            (2, "uI^EYm8s=|  00000000000000000000000000000002  CCCCFFFF777799995555FFFF11112222999988884444DDDDFFFF"),
            (
                999_999,
                "`Yq(Q!7?ic  000000000000000000000000000F423F  CCCCEEEE9999EEEE1111CCCC88886666AAAA3333DDDDCCCC0000",
            ),
            (
                10_000_000_000,
                "'e4rr*-l_}  000000000000000000000002540BE400  777788887777CCCC88884444FFFF44441111AAAACCCC00001111",
            ),
            (
                9_223_372_036_854_775_807,
                "<z*|-'<.2w  00000000000000007FFFFFFFFFFFFFFF  0000000000000000000000000000000000000000000000000000",
            ),
        ] {
            let got = rows(row, 1);
            assert_eq!(std::str::from_utf8(&got[..98]), Ok(expect), "row {row}");
            assert_eq!(got[98..], [got[97], b'\n'], "row {row}");
        }
    }

    #[test]
    fn long_runs_match_hadoop_except_the_line_end() {
        let mut records = rows(0, 100_000);
        for record in records.chunks_mut(100) {
            assert!(record[..99].iter().all(|b| (b' '..=b'~').contains(b)));
            assert_eq!(record[98], record[97]);
            record[98..].copy_from_slice(b"\r\n");
        }
        assert_eq!(fnv64(&records), 0x848fad6d435de36d);
    }

    #[test]
    fn any_start_continues_the_same_rows() {
        let whole = rows(0, 300);
        for (first, n) in [(0, 1), (1, 1), (255, 2), (299, 1)] {
            assert_eq!(rows(first, n), whole[first as usize * 100..][..n * 100], "{n} rows from {first}");
        }
    }

    #[test]
    #[should_panic(expected = "99 bytes")]
    fn half_a_record_panics() {
        TeraAsciiRows::at(0).fill(&mut [0; 99]);
    }
}
