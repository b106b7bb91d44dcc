//! Numbers of variable length as Avro, ORC and Parquet have them: seven bits a byte, the lowest first; signs in the
//! last bit.
//!
//! ```text
//!   300     ac 02          zigzag form: 0, -1, 1, -2 ..  as  0, 1, 2, 3 ..
//! ```

/// Reads a number byte by byte; None for one of more than 64 bits. Fails as `next` does.
#[inline]
pub fn read<E>(mut next: impl FnMut() -> Result<u8, E>) -> Result<Option<u64>, E> {
    let mut n = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = next()?;
        n |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok((shift < 63 || byte <= 1).then_some(n));
        }
    }
    Ok(None)
}

/// Takes a number from an offset on, and moves the offset behind it; None if the bytes end before, or for one of more
/// than 64 bits.
#[inline]
pub fn take(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let next = || {
        let byte = *bytes.get(*at).ok_or(())?;
        *at += 1;
        Ok::<u8, ()>(byte)
    };
    read(next).ok().flatten()
}

/// Reads a number of at most 128 bits, as `read` does.
pub fn read_wide<E>(mut next: impl FnMut() -> Result<u8, E>) -> Result<Option<u128>, E> {
    let mut n = 0u128;
    for shift in (0..128).step_by(7) {
        let byte = next()?;
        n |= u128::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok((shift < 126 || byte <= 3).then_some(n));
        }
    }
    Ok(None)
}

/// Appends a number.
#[inline]
pub fn put(mut n: u64, to: &mut Vec<u8>) {
    while n >= 0x80 {
        to.push(n as u8 | 0x80);
        n >>= 7;
    }
    to.push(n as u8);
}

/// Appends a number of at most 128 bits.
pub fn put_wide(mut n: u128, to: &mut Vec<u8>) {
    while n > u128::from(u64::MAX) {
        to.push(n as u8 | 0x80);
        n >>= 7;
    }
    put(n as u64, to);
}

/// Returns a number in zigzag form.
#[inline]
pub fn zigzag(n: i64) -> u64 {
    (n << 1 ^ n >> 63) as u64
}

/// Returns the number that zigzag form stands for.
#[inline]
pub fn unzigzag(n: u64) -> i64 {
    (n >> 1) as i64 ^ -((n & 1) as i64)
}

/// Returns a number in zigzag form.
pub fn zigzag_wide(n: i128) -> u128 {
    (n << 1 ^ n >> 127) as u128
}

/// Returns the number that zigzag form stands for.
pub fn unzigzag_wide(n: u128) -> i128 {
    (n >> 1) as i128 ^ -((n & 1) as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn narrow(bytes: &[u8]) -> Result<Option<u64>, ()> {
        let mut bytes = bytes.iter();
        read(|| bytes.next().copied().ok_or(()))
    }

    fn wide(bytes: &[u8]) -> Result<Option<u128>, ()> {
        let mut bytes = bytes.iter();
        read_wide(|| bytes.next().copied().ok_or(()))
    }

    #[test]
    fn numbers_come_back_and_cut_ones_fail() {
        for bit in 0..128 {
            for n in [1u128 << bit, (1 << bit) - 1, u128::MAX >> bit] {
                let mut bytes = Vec::new();
                put_wide(n, &mut bytes);
                assert_eq!(wide(&bytes), Ok(Some(n)));
                assert_eq!(wide(&bytes[..bytes.len() - 1]), Err(()));
                assert_eq!(unzigzag_wide(zigzag_wide(n as i128)), n as i128);
                let fits = u64::try_from(n).ok();
                assert!(narrow(&bytes).is_ok_and(|n| n == fits));
                if let Some(n) = fits {
                    let mut same = Vec::new();
                    put(n, &mut same);
                    assert_eq!(same, bytes);
                    assert_eq!(unzigzag(zigzag(n as i64)), n as i64);
                }
            }
        }
        for (n, expect) in [(0, 0), (1, -1), (2, 1), (3, -2), (u64::MAX, i64::MIN), (u64::MAX - 1, i64::MAX)] {
            assert_eq!((unzigzag(n), zigzag(expect)), (expect, n));
        }
        assert_eq!(narrow(&[0xff; 11]), Ok(None));
        assert_eq!(wide(&[0xff; 20]), Ok(None));
        assert_eq!(narrow(&[0xac, 2]), Ok(Some(300)));
    }
}
