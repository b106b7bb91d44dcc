//! Keys and values as text: numbers in decimal, byte strings unchanged.

use std::io::Write;

use crate::operator::Type;

/// Appends one key or value to `out`: byte strings unchanged, little-endian numbers in decimal.
///
/// A number of the wrong length is appended as its raw bytes.
#[inline]
pub fn put(kind: Type, bytes: &[u8], out: &mut Vec<u8>) {
    let four = || bytes.try_into().map(u32::from_le_bytes);
    let eight = || bytes.try_into().map(u64::from_le_bytes);
    let printed = match kind {
        Type::Bytes | Type::None => {
            out.extend_from_slice(bytes);
            return;
        }
        Type::I32 => four().map(|n| put_signed(i64::from(n as i32), out)),
        Type::U32 => four().map(|n| put_unsigned(u64::from(n), out)),
        Type::I64 => eight().map(|n| put_signed(n as i64, out)),
        Type::U64 => eight().map(|n| put_unsigned(n, out)),
        Type::F32 => four().map(|n| drop(write!(out, "{:?}", f32::from_bits(n)))),
        Type::F64 => eight().map(|n| drop(write!(out, "{:?}", f64::from_bits(n)))),
    };
    if printed.is_err() {
        out.extend_from_slice(bytes);
    }
}

/// Appends an integer in decimal.
pub fn put_signed(n: i64, out: &mut Vec<u8>) {
    if n < 0 {
        out.push(b'-');
    }
    put_unsigned(n.unsigned_abs(), out);
}

/// Appends an integer without a sign in decimal.
pub fn put_unsigned(mut n: u64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_numbers_in_decimal() {
        let check = |kind, bytes: &[u8], expect: &str| {
            let mut out = Vec::new();
            put(kind, bytes, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expect);
        };
        check(Type::I64, &i64::MIN.to_le_bytes(), "-9223372036854775808");
        check(Type::U64, &u64::MAX.to_le_bytes(), "18446744073709551615");
        check(Type::I32, &(-7i32).to_le_bytes(), "-7");
        check(Type::I64, &0i64.to_le_bytes(), "0");
        check(Type::F64, &1.5f64.to_le_bytes(), "1.5");
        check(Type::Bytes, b"x", "x");
    }
}
