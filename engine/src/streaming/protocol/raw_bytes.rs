//! Records as raw bytes: length (u32, big-endian) and bytes of the key, then of the value.

use super::{Datum, Taken};
use yunti_base::{Code, Error, Result};

/// Appends a key or value. Classes other than bytes come as they are in Hadoop's files: a text after its length.
pub fn append(datum: Datum<'_>, to: &mut Vec<u8>) {
    match datum {
        Datum::Bytes(bytes) | Datum::Typed(bytes) => {
            to.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
            to.extend_from_slice(bytes);
        }
        Datum::Offset(offset) => {
            to.extend_from_slice(&8u32.to_be_bytes());
            to.extend_from_slice(&offset.to_be_bytes());
        }
        Datum::Text(text) => {
            let (length, n) = vint(text.len());
            to.extend_from_slice(&((n + text.len()) as u32).to_be_bytes());
            to.extend_from_slice(&length[..n]);
            to.extend_from_slice(text);
        }
    }
}

/// Returns a length as Hadoop's `WritableUtils.writeVInt`, and its number of bytes.
fn vint(n: usize) -> ([u8; 5], usize) {
    let mut out = [0; 5];
    if n <= 127 {
        out[0] = n as u8;
        return (out, 1);
    }
    let bytes = (n as u32).to_be_bytes();
    let zeros = bytes.iter().take_while(|&&b| b == 0).count();
    let len = bytes.len() - zeros;
    // The first byte is -113 for one more byte, -114 for two and so on.
    out[0] = (-112 - len as i32) as u8;
    out[1..=len].copy_from_slice(&bytes[zeros..]);
    (out, len + 1)
}

/// Returns the key or value at the start of `bytes`; None: it is not whole. Errors: `UserCode` for a negative length.
pub fn next(bytes: &[u8]) -> Result<Option<Taken<'_>>> {
    let Some(length) = bytes.first_chunk::<4>() else { return Ok(None) };
    let length = i32::from_be_bytes(*length);
    let Ok(length) = usize::try_from(length) else {
        let what = format!("a program wrote a record of raw bytes with the length {length}");
        return Err(Error::new(Code::UserCode, what).hint("a length is 4 bytes, big-endian, before the bytes"));
    };
    let bytes = bytes.get(4..4 + length);
    Ok(bytes.map(|bytes| Taken { bytes, taken: 4 + length }))
}

/// Appends bytes as BytesWritable prints them: `61 0a`.
pub fn print(bytes: &[u8], to: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (i, byte) in bytes.iter().enumerate() {
        if i > 0 {
            to.push(b' ');
        }
        to.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appends_and_finds_data() {
        let mut out = Vec::new();
        for datum in [Datum::Bytes(b"ab"), Datum::Text(b"x"), Datum::Offset(258)] {
            append(datum, &mut out);
        }
        let expect = [b"\0\0\0\x02ab" as &[u8], b"\0\0\0\x02\x01x", b"\0\0\0\x08\0\0\0\0\0\0\x01\x02"].concat();
        assert_eq!(out, expect);
        let found = next(&out).unwrap().unwrap();
        assert_eq!((found.bytes, found.taken), (&b"ab"[..], 6));
        assert!(next(&out[..5]).unwrap().is_none() && next(&out[..3]).unwrap().is_none());
        assert!(next(b"\xff\xff\xff\xff").is_err());
    }

    #[test]
    fn lengths_are_hadoops() {
        for (n, expect) in
            [(0, &[0][..]), (127, &[127]), (128, &[0x8f, 128]), (300, &[0x8e, 1, 44]), (70000, &[0x8d, 1, 17, 112])]
        {
            let (bytes, len) = vint(n);
            assert_eq!(&bytes[..len], expect, "{n}");
        }
    }

    #[test]
    fn prints_hexadecimal() {
        let mut out = Vec::new();
        print(b"a\n\xff", &mut out);
        assert_eq!(out, b"61 0a ff");
    }
}
