//! Detection of files in formats of other systems, by their bytes, before a job takes these for text.
//!
//! ```text
//!   the formats of format/file_formats.rs
//! ```
//!
//! Text may begin with any of these letters. So the end of the file is checked too, if all bytes of the beginning can
//! occur in text. Pipes are not checked, because bytes read from a pipe are gone.

use std::path::Path;

use super::split::InputFile;
use crate::env::stores::scheme_of;
use crate::env::{Files, NamedFile};
use crate::format::file_formats::{END_BYTES, FileFormat, may_begin, with_ends};
use yunti_base::{Code, Error, Result};

/// Files checked before a job begins, to limit the time for many small files. A reader of lines checks the beginning of
/// other files (`refuse_begun`).
pub(super) const FILES_CHECKED_MAX: usize = 100;

/// The same for files of a store, each of which costs a request.
const FAR_FILES_CHECKED_MAX: usize = 4;

/// Checks the formats of files. Errors: `Input` for the first file in an unsupported format; `Input` for a failed read.
pub fn refuse(files: &dyn Files, inputs: &[InputFile]) -> Result<()> {
    let is_far = inputs.first().is_some_and(|input| scheme_of(&input.path).is_some());
    let most = if is_far { FAR_FILES_CHECKED_MAX } else { FILES_CHECKED_MAX };
    for input in inputs.iter().filter(|f| f.codec.is_none() && !f.is_stream && f.len >= 4).take(most) {
        let file = NamedFile::open(files, &input.path, Code::Input)?;
        let mut head = [0; END_BYTES];
        let n = file.read_up_to(&mut head, 0)?;
        refuse_one(&file, &head[..n], input.len)?;
    }
    Ok(())
}

/// Checks one file that begins with `begin`. Errors as from `refuse`.
pub fn refuse_begun(files: &dyn Files, input: &InputFile, begin: &[u8]) -> Result<()> {
    let head = &begin[..begin.len().min(END_BYTES)];
    if head.len() < 4 || !may_begin(head) || input.codec.is_some() || input.is_stream {
        return Ok(());
    }
    refuse_one(&NamedFile::open(files, &input.path, Code::Input)?, head, input.len)
}

/// Returns the format of a file that a class of the library `formats/` reads, by its first and last bytes.
///
/// Errors: `Input` for a failed read.
pub fn file_format(files: &dyn Files, input: &InputFile) -> Result<Option<&'static FileFormat>> {
    if input.is_stream || input.codec.is_some() || input.len < 4 {
        return Ok(None);
    }
    let file = NamedFile::open(files, &input.path, Code::Input)?;
    let mut head = [0; END_BYTES];
    let n = file.read_up_to(&mut head, 0)?;
    let head = &head[..n];
    if !may_begin(head) {
        return Ok(None);
    }
    Ok(with_ends(head, tail(&file, input.len, &mut [0; END_BYTES])?))
}

fn tail<'a>(file: &NamedFile, len: u64, space: &'a mut [u8; END_BYTES]) -> Result<&'a [u8]> {
    let n = file.read_up_to(space, len.saturating_sub(END_BYTES as u64))?;
    Ok(&space[..n])
}

fn refuse_one(file: &NamedFile, head: &[u8], len: u64) -> Result<()> {
    if !may_begin(head) || len < 4 {
        return Ok(());
    }
    let mut space = [0; END_BYTES];
    let tail = tail(file, len, &mut space)?;
    if let Some(format) = with_ends(head, tail) {
        let FileFormat { name, title, .. } = format;
        if !format.is_certain() && !format.has_extension(Path::new(file.path())) {
            return Ok(());
        }
        // A job whose first file is one does not come here.
        let article = if title.starts_with(['A', 'O']) { "an" } else { "a" };
        let error = Error::new(Code::Input, format!("this is {article} {title} file, not text")).at_path(file.path());
        return Err(error.hint(format!("read it with --input-format {name}, apart from other files")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::real::RealFiles;

    #[test]
    fn refuses_foreign_formats_and_accepts_similar_text() {
        let dir = std::env::temp_dir().join(format!("yunti-foreign-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let check = |bytes: &[u8], expect: Option<&str>| {
            let path = dir.join("file");
            std::fs::write(&path, bytes).unwrap();
            let input = InputFile { path, len: bytes.len() as u64, ..InputFile::default() };
            let error = refuse(&RealFiles, std::slice::from_ref(&input)).err();
            assert_eq!(refuse_begun(&RealFiles, &input, bytes).err(), error, "{bytes:?}");
            assert_eq!(
                error.as_ref().map(|e| (e.code(), e.what())),
                expect.map(|what| (Code::Input, what)),
                "{bytes:?}"
            );
        };
        check(b"PAR1\x15\x04..\x08\0\0\0PAR1", Some("this is a Parquet file, not text"));
        check(b"PARE\x15\x04..\x08\0\0\0PARE", Some("this is a Parquet file, not text"));
        check(b"PAR1 is a word\n", None);
        check(b"ORC\x0a\x0b..\x82\xf4\x03\x03ORC\x17", Some("this is an ORC file, not text"));
        check(b"ORC\nORCHARD\n", None);
        check(b"Obj\x01\x04\x14avro.codec", Some("this is an Avro file, not text"));
        check(b"ARROW1\0\0..", Some("this is an Arrow file, not text"));
        check(b"ARROW1 is a word\n", None);
        // Four bytes are no proof.
        check(b"\xff\xff\xff\xff\x08\0\0\0", None);
        check(b"Obj 1\n", None);
        check(b"SEQ\x06\x19org.apache.hadoop.io.Text", Some("this is a Hadoop sequence file, not text"));
        check(b"SEQUENCE\n", None);
        for short in [&b""[..], b"S", b"ORC", b"PAR"] {
            check(short, None);
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
