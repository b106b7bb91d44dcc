//! Identification of a file by its first bytes; its name decides only if they cannot.

use std::path::Path;

use yunti_engine::format::file_formats::{self, FileFormat};

use super::map_output::{has_length_of_index, index_of, is_sound};

/// Kinds of files that `inspect` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// JSON that names its format.
    Document,
    JobFile,
    /// `file.out.index`, or a `file.out` beside one.
    MapOutputIndex,
    /// A file of columns, which the class library for formats describes.
    Columns(&'static FileFormat),
    /// Description of the file, and a hint how to read it.
    Foreign(&'static str, &'static str),
    Records,
}

/// Files that jobs on one machine do not read, by their first bytes.
const FOREIGN: [(&[u8], &str, &str); 2] = [
    (b"\x7fELF", "a program or a library", "a class library is loaded with yunti run --lib"),
    (b"PK\x03\x04", "a zip or jar file", "unpack it first"),
];

/// Compressed formats by their first bytes.
const COMPRESSED: [(&[u8], &str, &str); 6] = [
    (b"\x1f\x8b\x08", "gzip", ".gz"),
    (b"\x28\xb5\x2f\xfd", "zstd", ".zst"),
    (b"BZh", "bzip2", ".bz2"),
    (b"\xfd7zXZ\x00", "xz", ".xz"),
    (b"\x04\x22\x4d\x18", "lz4", ".lz4"),
    (b"\xff\x06\x00\x00sNaPpY", "snappy", ".sz"),
];

pub fn kind(path: &Path, head: &[u8], tail: &[u8], len: u64) -> Kind {
    let text = head.trim_ascii_start();
    if text.first() == Some(&b'{') && names_a_format(text) {
        return Kind::Document;
    }
    let toml = path.extension().is_some_and(|e| e == "toml");
    if names_a_job(head) || (toml && !head.contains(&0)) {
        return Kind::JobFile;
    }
    if is_index(head, len) || (is_named_index(path) && len > 0) || beside_an_index(path) {
        return Kind::MapOutputIndex;
    }
    // A file with the name of a format is one, even if its end is cut.
    let whole = file_formats::with_ends(head, tail).filter(|format| !format.needs_extension);
    if let Some(format) = file_formats::beginning(head).find(|format| whole == Some(*format) || is_of(format, path)) {
        return Kind::Columns(format);
    }
    let foreign = FOREIGN.into_iter().find(|(magic, ..)| head.starts_with(magic));
    foreign.map_or(Kind::Records, |(_, what, hint)| Kind::Foreign(what, hint))
}

/// Returns true if the name of a file has an extension of the format; or none, if its bytes alone do not decide.
fn is_of(format: &FileFormat, path: &Path) -> bool {
    format.has_extension(path) || (path.extension().is_none() && format.needs_extension)
}

/// Returns the compressed format of the bytes, and the file name extension of that format.
pub fn compressed(head: &[u8]) -> Option<(&'static str, &'static str)> {
    COMPRESSED.into_iter().find(|(magic, ..)| head.starts_with(magic)).map(|(_, name, extension)| (name, extension))
}

/// Returns true for a document of Yunti, which names its format anywhere in the first object.
fn names_a_format(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    text.contains("\"format\"") && text.contains("\"yunti-")
}

fn names_a_job(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    text.lines().any(|line| {
        let value = line.trim_start().strip_prefix("format").and_then(|rest| rest.trim_start().strip_prefix('='));
        value.is_some_and(|value| value.trim_start().trim_start_matches(['"', '\'']).starts_with("yunti-job/"))
    })
}

/// Returns true for an index that is complete in `head` and has a correct checksum. The name identifies larger ones.
fn is_index(head: &[u8], len: u64) -> bool {
    has_length_of_index(len) && head.len() as u64 == len && is_sound(head)
}

fn is_named_index(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".out.index")
}

fn beside_an_index(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "out") && index_of(path).is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_before_the_name() {
        let check = |path: &str, head: &[u8], expect: Kind| {
            assert_eq!(kind(Path::new(path), head, head, head.len() as u64), expect, "{path}");
        };
        check("x", b"  {\n \"format\": \"yunti-report/1\" }", Kind::Document);
        check("x.json", b"{\"format\": \"mine\"}", Kind::Records);
        check("x", b"# mine\nformat = \"yunti-job/1\"\n", Kind::JobFile);
        check("x", b"the format = yunti-jobs are good\n", Kind::Records);
        check("x.toml", b"name = 1\n", Kind::JobFile);
        check("file.out.index", b"too short", Kind::MapOutputIndex);
        check("x", &[0; 32], Kind::Records);
        check("x", b"a line\n", Kind::Records);
        let parquet = Kind::Columns(file_formats::named("parquet").unwrap());
        check("x", b"PAR1....", parquet);
        check("x.pq", b"PAR1....", parquet);
        check("x.txt", b"PAR1 is a word", Kind::Records);
        check("part-r-00000", b"SEQ\x06..", Kind::Columns(file_formats::named("sequence").unwrap()));
        check("x", b"ORC\n", Kind::Records);
        check("x.txt", b"ORC \x03ORC\x17", Kind::Columns(file_formats::named("orc").unwrap()));
        assert_eq!(compressed(b"\x1f\x8b\x08\x00"), Some(("gzip", ".gz")));
        assert_eq!(compressed(b"text"), None);
    }
}
