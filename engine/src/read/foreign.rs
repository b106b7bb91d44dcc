//! Detection of files in unsupported formats of other systems, by name, before a job takes their bytes for text.
//!
//! ```text
//!   Parquet        'PAR1' ('PARE': encrypted) at the beginning and at the end
//!   ORC            'ORC' at the beginning, and before the last byte
//!   Avro           'Obj' 01
//!   SequenceFile   'SEQ' and a version below 16
//! ```
//!
//! Text may begin with any of these letters. So the end of the file is checked too, if all bytes of the beginning can
//! occur in text. Pipes are not checked, because bytes read from a pipe are gone.

use super::split::InputFile;
use crate::env::stores::scheme_of;
use crate::env::{Files, NamedFile};
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
        let mut head = [0; 4];
        file.read_up_to(&mut head, 0)?;
        refuse_one(&file, head, input.len)?;
    }
    Ok(())
}

/// Checks one file that begins with `begin`. Errors as from `refuse`.
pub fn refuse_begun(files: &dyn Files, input: &InputFile, begin: &[u8]) -> Result<()> {
    match begin.first_chunk() {
        Some(head) if may_be(head) && input.codec.is_none() && !input.is_stream => {
            refuse_one(&NamedFile::open(files, &input.path, Code::Input)?, *head, input.len)
        }
        _ => Ok(()),
    }
}

/// Returns true for a Parquet file, by its first and last bytes. Errors: `Input` for a failed read.
pub fn is_parquet(files: &dyn Files, input: &InputFile) -> Result<bool> {
    if input.is_stream || input.codec.is_some() || input.len < 12 {
        return Ok(false);
    }
    let file = NamedFile::open(files, &input.path, Code::Input)?;
    let (mut head, mut tail) = ([0; 4], [0; 4]);
    file.read_up_to(&mut head, 0)?;
    file.read_up_to(&mut tail, input.len - 4)?;
    Ok(matches!(&head, b"PAR1" | b"PARE") && head == tail)
}

fn may_be(head: &[u8; 4]) -> bool {
    matches!(head, b"PAR1" | b"PARE" | [b'O', b'R', b'C', _] | b"Obj\x01" | [b'S', b'E', b'Q', 0..16])
}

fn refuse_one(file: &NamedFile, head: [u8; 4], len: u64) -> Result<()> {
    if !may_be(&head) || len < 4 {
        return Ok(());
    }
    let mut tail = [0; 4];
    file.read_up_to(&mut tail, len - 4)?;
    let (name, tool) = match (&head, &tail) {
        (b"PAR1" | b"PARE", end) if *end == head => {
            // A job whose first file is one does not come here.
            let error = Error::new(Code::Input, "this is a Parquet file, not text").at_path(file.path());
            return Err(error.hint("read it with --input-format parquet, apart from other files"));
        }
        ([b'O', b'R', b'C', _], [b'O', b'R', b'C', _]) => ("ORC", "orc-tools data"),
        (b"Obj\x01", _) => ("Avro", "avro-tools tojson"),
        ([b'S', b'E', b'Q', 0..16], _) => ("Hadoop sequence", "hadoop fs -text"),
        _ => return Ok(()),
    };
    Err(Error::new(Code::Input, format!("{name} files are not supported"))
        .at_path(file.path())
        .hint(format!("convert to text first, for example with {tool}")))
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
            let input = InputFile { path, len: bytes.len() as u64, codec: None, is_stream: false, marks: Vec::new() };
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
        check(b"ORC\x0a\x0b..\x82\xf4\x03\x03ORC\x17", Some("ORC files are not supported"));
        check(b"ORC\nORCHARD\n", None);
        check(b"Obj\x01\x04\x14avro.codec", Some("Avro files are not supported"));
        check(b"Obj 1\n", None);
        check(b"SEQ\x06\x19org.apache.hadoop.io.Text", Some("Hadoop sequence files are not supported"));
        check(b"SEQUENCE\n", None);
        for short in [&b""[..], b"S", b"ORC", b"PAR"] {
            check(short, None);
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
