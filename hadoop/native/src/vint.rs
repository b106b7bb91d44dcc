//! Hadoop's integers of variable length (`WritableUtils.writeVLong`).
//!
//! Numbers from -112 to 127 take one byte. For others the first byte gives the sign and the number of bytes that
//! follow, highest first. It is -113 to -120 for 1 to 8 bytes of a positive number, -121 to -128 for a negative
//! number's complement.

/// Returns the number of bytes that `put` appends.
#[inline]
pub fn size(n: i64) -> usize {
    if (-112..=127).contains(&n) {
        return 1;
    }
    let magnitude = if n < 0 { !n } else { n };
    1 + (64 - magnitude.leading_zeros() as usize).div_ceil(8)
}

#[inline]
/// Appends a number.
pub fn put(n: i64, out: &mut Vec<u8>) {
    if (-112..=127).contains(&n) {
        out.push(n as u8);
        return;
    }
    let magnitude = if n < 0 { !n } else { n };
    let bytes = size(n) - 1;
    let first = if n < 0 { -120i8 } else { -112 };
    out.push((first - bytes as i8) as u8);
    out.extend_from_slice(&magnitude.to_be_bytes()[8 - bytes..]);
}

/// Returns the number at the start of `bytes` and its length in bytes; None if `bytes` end within it.
#[inline]
pub fn get(bytes: &[u8]) -> Option<(i64, usize)> {
    let first = *bytes.first()? as i8;
    if first >= -112 {
        return Some((i64::from(first), 1));
    }
    let negative = first < -120;
    let n = if negative { -120 - i32::from(first) } else { -112 - i32::from(first) } as usize;
    let magnitude = bytes.get(1..1 + n)?.iter().fold(0i64, |sum, &b| sum << 8 | i64::from(b));
    Some((if negative { !magnitude } else { magnitude }, 1 + n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_numbers_as_hadoop_does() {
        // What WritableUtils.writeVLong of Hadoop 3.5.0 gives.
        let known: [(i64, &[u8]); 10] = [
            (0, &[0]),
            (127, &[127]),
            (-112, &[0x90]),
            (128, &[0x8f, 0x80]),
            (-113, &[0x87, 0x70]),
            (255, &[0x8f, 0xff]),
            (256, &[0x8e, 1, 0]),
            (-1, &[0xff]),
            (i64::MAX, &[0x88, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
            (i64::MIN, &[0x80, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        ];
        for (n, expect) in known {
            let mut out = Vec::new();
            put(n, &mut out);
            assert_eq!(out, expect, "{n}");
        }
    }

    #[test]
    fn get_restores_put() {
        for shift in 0..64 {
            for n in [1i64 << shift, (1i64 << shift).wrapping_sub(1), !(1i64 << shift), (1i64 << shift).wrapping_neg()]
            {
                let mut out = Vec::new();
                put(n, &mut out);
                assert_eq!((get(&out), out.len()), (Some((n, out.len())), size(n)), "{n}");
                assert!((0..out.len()).all(|cut| get(&out[..cut]).is_none()));
            }
        }
    }
}
