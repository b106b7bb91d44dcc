//! Gzip of profiles, with a limit for what comes out.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use yunti_base::{Code, Error, Result};

/// Bytes of a decompressed profile at most: 30 times the largest slices seen. More would fill the memory.
pub const PROFILE_BYTES_MAX: u64 = 256 << 20;

/// Returns true for a gzip header.
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Compresses a profile. The same bytes always have the same result: the header has no time.
pub fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes all bytes")
}

/// Decompresses a profile. The checksum is compared.
pub fn expand(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut plain = Vec::new();
    MultiGzDecoder::new(bytes).take(PROFILE_BYTES_MAX + 1).read_to_end(&mut plain).map_err(|e| damaged(&e))?;
    if plain.len() as u64 > PROFILE_BYTES_MAX {
        return Err(Error::new(Code::Corrupt, format!("a profile expands to more than {PROFILE_BYTES_MAX} bytes")));
    }
    Ok(plain)
}

/// Decompresses the beginning of a profile: `bytes_max` bytes, or less if the input ends or is damaged later.
pub fn expand_beginning(input: impl Read, bytes_max: usize) -> Result<Vec<u8>> {
    let mut plain = vec![0; bytes_max];
    let mut length = 0;
    let mut decoder = MultiGzDecoder::new(input);
    while length < bytes_max {
        match decoder.read(&mut plain[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) if length == 0 => return Err(damaged(&e)),
            Err(_) => break,
        }
    }
    plain.truncate(length);
    Ok(plain)
}

fn damaged(error: &std::io::Error) -> Error {
    Error::new(Code::Corrupt, format!("damaged gzip data: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let text = b"profile ".repeat(1000);
        let small = compress(&text);
        assert!(is_gzip(&small) && small.len() < 100);
        assert_eq!(expand(&small).unwrap(), text);
        assert_eq!(expand_beginning(&small[..], 10).unwrap(), &text[..10]);
    }

    #[test]
    fn damage_and_bombs_are_errors() {
        let mut small = compress(b"the quick brown fox jumps over the lazy dog");
        assert!(expand(&small[..small.len() - 1]).is_err());
        let middle = small.len() / 2;
        small[middle] ^= 1;
        assert!(expand(&small).is_err());
        let bomb = compress(&vec![0; (PROFILE_BYTES_MAX + 1) as usize]);
        assert!(bomb.len() < 1 << 20);
        assert!(expand(&bomb).unwrap_err().to_string().contains("expands to more"));
    }
}
