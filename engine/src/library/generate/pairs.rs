//! Lines of key TAB number: input for aggregations by key, such as the maximum of a column.
//!
//! Keys have 4 to 40 letters, digits, `-` and `_`; all lengths are equally likely. Numbers are signed, of 64 bits, in
//! decimal, and uniformly distributed. A key is computed from its number and does not depend on the seed.

use super::Blocks;
use super::random::{Random, mix};
use yunti_base::{Code, Error, Result};

/// Lines of key TAB number, in blocks.
pub struct PairBlocks {
    seed: u64,
    keys: u32,
}

const KEY_BYTES_MIN: usize = 4;
const KEY_BYTES_MAX: usize = 40;
/// Bytes of the longest number, -9223372036854775808.
const NUMBER_BYTES_MAX: usize = 20;
const LINE_BYTES_MAX: usize = KEY_BYTES_MAX + 1 + NUMBER_BYTES_MAX + 1;

impl PairBlocks {
    /// Default number of distinct keys.
    pub const KEYS: u32 = 100_000;
    /// Limit of distinct keys: the first four bytes of a key identify it.
    pub const KEYS_MAX: u32 = 1 << 24;

    /// Makes a generator. Errors: `Usage` if `keys` is not in `1..=KEYS_MAX`.
    pub fn new(seed: u64, keys: u32) -> Result<Self> {
        if !(1..=Self::KEYS_MAX).contains(&keys) {
            return Err(Error::new(Code::Usage, format!("pairs cannot have {keys} keys"))
                .hint(format!("give 1 to {}", Self::KEYS_MAX)));
        }
        Ok(PairBlocks { seed, keys })
    }
}

impl Blocks for PairBlocks {
    fn block(&self, index: u64, bytes_max: usize, out: &mut Vec<u8>) {
        let mut random = Random::of_block(self.seed, index);
        // Keys and numbers are copied whole, so there is room for one more line.
        out.resize(bytes_max + LINE_BYTES_MAX, 0);
        let mut at = 0;
        loop {
            let (key, key_len) = key(random.below(self.keys));
            let (number, number_at) = decimal(random.draw() as i64);
            let tab = at + key_len;
            let end = tab + 1 + NUMBER_BYTES_MAX - number_at;
            if end >= bytes_max {
                break;
            }
            out[at..at + KEY_BYTES_MAX].copy_from_slice(&key);
            out[tab] = b'\t';
            out[tab + 1..end].copy_from_slice(&number[number_at..]);
            out[end] = b'\n';
            at = end + 1;
        }
        out.truncate(at);
    }
}

/// Returns the key of a number in the first bytes of an array, and its length.
fn key(number: u32) -> ([u8; KEY_BYTES_MAX], usize) {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut bytes = [0; KEY_BYTES_MAX];
    let mut hash = mix(u64::from(number) + 1);
    let len = KEY_BYTES_MIN + (hash >> 32) as usize % (KEY_BYTES_MAX - KEY_BYTES_MIN + 1);
    // Two odd multiplications and a shift are a bijection of 24 bits, so all keys differ.
    let distinct = number.wrapping_mul(0x9e3779b1) & 0xff_ffff;
    let mut bits = u64::from((distinct ^ distinct >> 12).wrapping_mul(0x85ebca6b) & 0xff_ffff);
    let (fours, _) = bytes.as_chunks_mut::<4>();
    for four in fours {
        for byte in four {
            *byte = LETTERS[(bits & 63) as usize];
            bits >>= 6;
        }
        hash = hash.wrapping_mul(0xd1b54a32d192ed03) ^ hash >> 29;
        bits = hash >> 40;
    }
    (bytes, len)
}

/// Returns a number in decimal at the end of an array, and where it begins.
fn decimal(number: i64) -> ([u8; NUMBER_BYTES_MAX], usize) {
    let mut digits = [0; NUMBER_BYTES_MAX];
    let mut at = NUMBER_BYTES_MAX;
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    (digits, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::generate::BLOCK_BYTES;
    use crate::library::generate::testing::{check_blocks, fnv64};
    use std::collections::HashSet;

    #[test]
    fn blocks_are_independent_and_end_at_lines() {
        check_blocks(&PairBlocks::new(1, PairBlocks::KEYS).unwrap(), LINE_BYTES_MAX);
    }

    #[test]
    fn bytes_are_pinned() {
        for (seed, keys, expect) in [(0, 100_000, 0x1c3b86bad9c7bfdc), (1, 20, 0x141a8359cbf28f69)] {
            let mut out = Vec::new();
            PairBlocks::new(seed, keys).unwrap().block(3, BLOCK_BYTES, &mut out);
            assert_eq!(fnv64(&out), expect, "seed {seed}, {keys} keys");
        }
    }

    #[test]
    fn lines_are_key_tab_number() {
        let mut out = Vec::new();
        let mut keys = HashSet::new();
        let (mut negative, mut lines) = (0, 0);
        let pairs = PairBlocks::new(5, 50).unwrap();
        pairs.block(0, BLOCK_BYTES, &mut out);
        for line in std::str::from_utf8(&out).unwrap().lines() {
            let (key, number) = line.split_once('\t').unwrap();
            assert!((KEY_BYTES_MIN..=KEY_BYTES_MAX).contains(&key.len()));
            keys.insert(key);
            negative += usize::from(number.parse::<i64>().unwrap() < 0);
            lines += 1;
        }
        assert_eq!(keys.len(), 50);
        assert!(negative * 10 > lines * 4 && negative * 10 < lines * 6, "{negative} of {lines}");
    }

    #[test]
    fn keys_are_distinct_and_of_all_lengths() {
        let mut of_length = [0; KEY_BYTES_MAX + 1];
        let mut starts = HashSet::new();
        for number in 0..100_000 {
            let (bytes, len) = key(number);
            of_length[len] += 1;
            starts.insert(bytes[..4].to_vec());
        }
        assert_eq!(starts.len(), 100_000);
        assert!(of_length[KEY_BYTES_MIN..].iter().all(|n| (2400..3000).contains(n)), "{of_length:?}");
    }

    #[test]
    fn numbers_match_the_standard_library() {
        for number in [0, 1, -1, 9, 10, -10, 99, 100, 12345678901, i64::MAX, i64::MIN, i64::MIN + 1] {
            let (digits, at) = decimal(number);
            assert_eq!(std::str::from_utf8(&digits[at..]).unwrap(), number.to_string());
        }
    }

    #[test]
    fn refuses_impossible_numbers_of_keys() {
        for keys in [0, PairBlocks::KEYS_MAX + 1, u32::MAX] {
            assert_eq!(PairBlocks::new(0, keys).err().unwrap().code(), Code::Usage);
        }
    }
}
