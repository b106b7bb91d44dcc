//! Manifest of a jar: the class path that it names, and its main class.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::DeflateDecoder;

const MANIFEST: &[u8] = b"META-INF/MANIFEST.MF";
/// Longest end of a zip file: its record and a comment.
const END_BYTES_MAX: u64 = 22 + 65535;
/// A manifest is small; more is damage.
const MANIFEST_BYTES_MAX: u64 = 16 << 20;

/// Attributes of a manifest that matter for a class path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Entries of `Class-Path`, relative to the directory of the jar.
    pub class_path: Vec<String>,
    pub main_class: String,
}

impl Manifest {
    /// Returns the manifest of a jar; empty if the jar has none.
    pub fn of_jar(path: &Path) -> io::Result<Manifest> {
        Ok(text(&mut File::open(path)?)?.map(|text| Manifest::of_text(&text)).unwrap_or_default())
    }

    fn of_text(text: &str) -> Manifest {
        // A line that begins with a space continues the one above.
        let lines = text.replace("\r\n", "\n").replace("\n ", "");
        let value = |name: &str| {
            let line = lines
                .lines()
                .take_while(|line| !line.is_empty())
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.unwrap_or_default().trim().to_string()
        };
        Manifest {
            class_path: value("Class-Path").split_whitespace().map(String::from).collect(),
            main_class: value("Main-Class"),
        }
    }

    /// Returns true for a jar with jars within, which a class loader of its own reads: no class of them is archived.
    pub fn is_nested(&self) -> bool {
        self.main_class.starts_with("org.springframework.boot.loader.")
    }
}

fn text(file: &mut File) -> io::Result<Option<String>> {
    let length = file.seek(SeekFrom::End(0))?;
    let end = read_at(file, length.saturating_sub(END_BYTES_MAX), END_BYTES_MAX.min(length))?;
    let at = end.windows(4).rposition(|bytes| bytes == b"PK\x05\x06").ok_or_else(|| bad("no zip file"))?;
    let (size, start) = (number(&end, at + 12, 4)?, number(&end, at + 16, 4)?);
    let directory = read_at(file, start, size.min(length))?;
    let mut at = 0;
    while directory.get(at..at + 4) == Some(b"PK\x01\x02") {
        let field = |offset, bytes| number(&directory, at + offset, bytes);
        let (name, extra, comment) = (field(28, 2)? as usize, field(30, 2)? as usize, field(32, 2)? as usize);
        if directory.get(at + 46..at + 46 + name) == Some(MANIFEST) {
            return entry(file, field(42, 4)?, field(20, 4)?, field(10, 2)?).map(Some);
        }
        at += 46 + name + extra + comment;
    }
    Ok(None)
}

/// Reads the entry whose local header is at `at`.
fn entry(file: &mut File, at: u64, packed_bytes: u64, method: u64) -> io::Result<String> {
    let head = read_at(file, at, 30)?;
    let bytes =
        read_at(file, at + 30 + number(&head, 26, 2)? + number(&head, 28, 2)?, packed_bytes.min(MANIFEST_BYTES_MAX))?;
    let mut text = Vec::new();
    match method {
        0 => text = bytes,
        8 => drop(DeflateDecoder::new(&bytes[..]).take(MANIFEST_BYTES_MAX).read_to_end(&mut text)?),
        _ => return Err(bad("a manifest of an unknown compression")),
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn read_at(file: &mut File, at: u64, bytes: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut read = Vec::new();
    file.take(bytes).read_to_end(&mut read)?;
    Ok(read)
}

/// Returns a little-endian number.
fn number(bytes: &[u8], at: usize, length: usize) -> io::Result<u64> {
    let field = bytes.get(at..at + length).ok_or_else(|| bad("a zip file that is cut"))?;
    Ok(field.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_long_lines_and_the_first_section_only() {
        let manifest = Manifest::of_text(
            "Manifest-Version: 1.0\r\nClass-Path: lib/a.jar li\r\n b/b.jar\r\nMain-Class: A\r\n\r\nName: x\r\nMain-Class: B\r\n",
        );
        assert_eq!(
            manifest,
            Manifest { class_path: vec!["lib/a.jar".into(), "lib/b.jar".into()], main_class: "A".into() }
        );
        assert!(!manifest.is_nested());
    }

    #[test]
    fn refuses_what_is_no_zip_file() {
        let path = std::env::temp_dir().join(format!("yunti-no-jar-{}", std::process::id()));
        for bytes in [
            &b""[..],
            b"PK",
            b"PK\x05\x06",
            &[0x50, 0x4b, 5, 6, 0, 0, 0, 0, 1, 0, 1, 0, 255, 255, 0, 0, 9, 0, 0, 0, 0, 0],
        ] {
            std::fs::write(&path, bytes).unwrap();
            assert!(Manifest::of_jar(&path).is_err() || bytes.len() == 22, "{bytes:?}");
        }
        std::fs::remove_file(&path).unwrap();
    }
}
