//! Formats of whole files that classes of the library `formats/` read and write: the one table of them.
//!
//! ```text
//!   a row      name of --input-format and --output-format, classes, extensions, first and last bytes
//!   used by    job/spec (names), job/plan/complete (inputs without a format), read/foreign (files taken for text),
//!              and the command: run, convert, inspect
//! ```
//!
//! A further format is a row here, and a module in `formats/src/` with its source and its writer.

use std::path::Path;

/// Bytes at each end of a file by which it is recognised.
pub const END_BYTES: usize = 8;

/// A format of files with columns.
#[derive(Debug)]
pub struct FileFormat {
    /// Name of the format in options and job files.
    pub name: &'static str,
    /// Name in messages.
    pub title: &'static str,
    /// Class that reads such files.
    pub source: &'static str,
    /// Class that writes them.
    pub writer: &'static str,
    /// Prefix of the writer's settings, such as `parquet` for `parquet.compression`.
    pub settings: &'static str,
    /// Codecs of `--codec`, the default first.
    pub codecs: &'static [&'static str],
    /// Extensions of names, in lower case.
    pub extensions: &'static [&'static str],
    /// Returns true for the first bytes of such a file: `END_BYTES`, or all bytes of a shorter file.
    pub begins: fn(&[u8]) -> bool,
    /// Returns true for the first and the last bytes of such a file, if it begins so.
    pub ends: fn(&[u8], &[u8]) -> bool,
    /// True if text can begin and end so: such a file is read as columns only if its name has an extension.
    pub needs_extension: bool,
}

/// All formats, in the order of messages.
pub const FILE_FORMATS: &[FileFormat] = &[
    FileFormat {
        name: "parquet",
        title: "Parquet",
        source: "Formats.ParquetSource",
        writer: "Formats.ParquetWriter",
        settings: "parquet",
        codecs: &["zstd", "none", "snappy", "gzip", "lz4", "brotli"],
        extensions: &["parquet", "parq", "pq"],
        // PARE: encrypted.
        begins: |head| head.starts_with(b"PAR1") || head.starts_with(b"PARE"),
        ends: |head, tail| tail.ends_with(&head[..4]),
        needs_extension: true,
    },
    FileFormat {
        name: "orc",
        title: "ORC",
        source: "Formats.OrcSource",
        writer: "Formats.OrcWriter",
        settings: "orc",
        codecs: &["zstd", "none", "zlib", "snappy", "lz4"],
        extensions: &["orc"],
        begins: |head| head.starts_with(b"ORC"),
        // The last byte is the length of the postscript, which no text ends with. Hive's files have no extension.
        ends: |_, tail| matches!(tail, [.., b'O', b'R', b'C', 1..=8 | 11..=12 | 14..=31]),
        needs_extension: false,
    },
    FileFormat {
        name: "avro",
        title: "Avro",
        source: "Formats.AvroSource",
        writer: "Formats.AvroWriter",
        settings: "avro",
        codecs: &["zstd", "none", "deflate", "snappy", "bzip2", "xz"],
        extensions: &["avro"],
        begins: |head| head.starts_with(b"Obj\x01"),
        ends: |_, _| true,
        needs_extension: false,
    },
    FileFormat {
        name: "arrow",
        title: "Arrow",
        source: "Formats.ArrowSource",
        writer: "Formats.ArrowWriter",
        settings: "arrow",
        codecs: &["lz4", "none", "zstd"],
        extensions: &["arrow", "feather"],
        begins: |head| head.starts_with(b"ARROW1\0\0"),
        ends: |_, _| true,
        needs_extension: false,
    },
    FileFormat {
        name: "arrow-stream",
        title: "Arrow stream",
        source: "Formats.ArrowSource",
        writer: "Formats.ArrowStreamWriter",
        settings: "arrow",
        codecs: &["lz4", "none", "zstd"],
        extensions: &["arrows"],
        // A mark, and the length of the schema's message: a multiple of 8 below 16 MiB.
        begins: |head| matches!(head, [0xff, 0xff, 0xff, 0xff, low, _, _, 0] if low % 8 == 0),
        ends: |_, _| true,
        needs_extension: true,
    },
    FileFormat {
        name: "sequence",
        title: "Hadoop sequence",
        source: "Formats.SequenceSource",
        writer: "Formats.SequenceWriter",
        settings: "sequence",
        codecs: &["deflate", "none", "gzip", "bzip2", "snappy", "lz4", "zstd"],
        extensions: &["seq"],
        begins: |head| matches!(head, [b'S', b'E', b'Q', 0..16, ..]),
        ends: |_, _| true,
        needs_extension: false,
    },
];

impl FileFormat {
    /// Returns false if other files can begin so, and the end of a file shows nothing.
    pub fn is_certain(&self) -> bool {
        !(self.needs_extension && (self.ends)(&[0; END_BYTES], &[]))
    }

    /// Returns true if the name of a file has an extension of the format.
    pub fn has_extension(&self, path: &Path) -> bool {
        path.extension()
            .is_some_and(|extension| self.extensions.iter().any(|known| extension.eq_ignore_ascii_case(known)))
    }
}

impl PartialEq for FileFormat {
    fn eq(&self, other: &FileFormat) -> bool {
        self.name == other.name
    }
}

impl Eq for FileFormat {}

/// Returns the format of a name.
pub fn named(name: &str) -> Option<&'static FileFormat> {
    FILE_FORMATS.iter().find(|format| format.name == name)
}

/// Returns the format whose source is a class.
pub fn of_source(class: &str) -> Option<&'static FileFormat> {
    FILE_FORMATS.iter().find(|format| format.source == class)
}

/// Returns the format whose writer is a class.
pub fn of_writer(class: &str) -> Option<&'static FileFormat> {
    FILE_FORMATS.iter().find(|format| format.writer == class)
}

/// Returns the formats of which a file with these first bytes may be.
pub fn beginning(head: &[u8]) -> impl Iterator<Item = &'static FileFormat> {
    let head = &head[..head.len().min(END_BYTES)];
    FILE_FORMATS.iter().filter(move |format| (format.begins)(head))
}

/// Returns true if a file with these first bytes may be of a format.
pub fn may_begin(head: &[u8]) -> bool {
    beginning(head).next().is_some()
}

/// Returns the format of a file by its first and last bytes, whatever its name is.
pub fn with_ends(head: &[u8], tail: &[u8]) -> Option<&'static FileFormat> {
    let tail = &tail[tail.len().saturating_sub(END_BYTES)..];
    beginning(head).find(|format| (format.ends)(&head[..head.len().min(END_BYTES)], tail))
}

/// Returns the names of all formats, with commas between them.
pub fn names() -> String {
    FILE_FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}

/// Returns the names of the formats that have columns, for messages: `csv, json, parquet and ..`.
pub fn names_with_columns() -> String {
    let all: Vec<&str> = ["csv", "json"].into_iter().chain(FILE_FORMATS.iter().map(|format| format.name)).collect();
    let (last, rest) = all.split_last().expect("it has csv and json");
    format!("{} and {last}", rest.join(", "))
}

/// Returns the codecs of each format, for help: `parquet: zstd (default), none, ..`.
pub fn codecs() -> String {
    let of = |format: &FileFormat| {
        let (first, rest) = format.codecs.split_first().map_or(("none", &[][..]), |(first, rest)| (*first, rest));
        let rest: String = rest.iter().map(|codec| format!(", {codec}")).collect();
        format!("{}: {first} (default){rest}", format.name)
    };
    FILE_FORMATS.iter().map(of).collect::<Vec<_>>().join("; ")
}
