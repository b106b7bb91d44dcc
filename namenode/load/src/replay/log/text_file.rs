//! Text files, plain or gzip, by their first bytes.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use yunti_base::{Code, Error, Result};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const BUFFER_BYTES: usize = 256 << 10;
/// Bytes of a line, at most; the rest is skipped.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Opens a file, and decodes gzip.
///
/// # Errors
/// The file cannot be read.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    let failed = |e| Error::io(Code::Input, "cannot read the file", &e).at_path(path.to_string_lossy());
    let mut file = BufReader::with_capacity(BUFFER_BYTES, File::open(path).map_err(failed)?);
    let is_gzip = file.fill_buf().map_err(failed)?.starts_with(&GZIP);
    Ok(if is_gzip {
        Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(file)))
    } else {
        Box::new(file)
    })
}

/// Returns the error for bytes that cannot be read or decoded.
pub fn broken(path: &Path, error: &std::io::Error) -> Error {
    Error::io(Code::Corrupt, "the file cannot be read to its end", error).at_path(path.to_string_lossy())
}

/// Reads a line without its end; returns false at the end of the file.
///
/// @param line replaced; of a longer line the first mebibyte
pub fn line(mut file: &mut dyn BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    if (&mut file).take(LINE_BYTES_MAX).read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.last() != Some(&b'\n') && line.len() as u64 == LINE_BYTES_MAX {
        file.skip_until(b'\n')?;
    }
    while line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
        line.pop();
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_lines() {
        let long = vec![b'x'; 3 << 20];
        let text = [b"a\r\n\nb\n", &long[..], b"\nlast"].concat();
        let (mut file, mut one, mut lines) = (&text[..], Vec::new(), Vec::new());
        while line(&mut file, &mut one).unwrap() {
            lines.push(one.clone());
        }
        let expected: Vec<&[u8]> = vec![b"a", b"", b"b", &long[..1 << 20], b"last"];
        assert!(lines.iter().map(Vec::as_slice).eq(expected));
    }
}
