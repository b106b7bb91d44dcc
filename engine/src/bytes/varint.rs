//! Unsigned LEB128 numbers.

/// Bytes of a 64-bit number, at most.
pub const VARINT_BYTES_MAX: usize = 10;

/// Appends a number.
#[inline]
pub fn put(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Reads the number at `*at` and moves `*at` behind it. Returns None if the bytes end too early or the number exceeds
/// 64 bits.
#[inline]
pub fn get(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    *at += 1;
    if first < 0x80 {
        return Some(u64::from(first));
    }
    let mut n = u64::from(first & 0x7f);
    for shift in (7..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        if shift == 63 && byte > 1 {
            return None;
        }
        n |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(n);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_are_restored() {
        for n in (0..64).flat_map(|s| [(1u64 << s) - 1, 1 << s, u64::MAX >> s]) {
            let mut bytes = Vec::new();
            put(&mut bytes, n);
            assert!(bytes.len() <= VARINT_BYTES_MAX);
            let mut at = 0;
            assert_eq!(get(&bytes, &mut at), Some(n));
            assert_eq!(at, bytes.len());
            assert_eq!(get(&bytes[..bytes.len() - 1], &mut 0), None);
        }
        assert_eq!(get(&[0xff; 11], &mut 0), None);
    }
}
