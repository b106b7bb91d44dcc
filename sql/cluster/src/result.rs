//! Rows of the last job: its parts in order, each of them framed records of blocks.

use std::path::Path;

use arrow_schema::DataType;
use yunti_base::{Code, Error, Result};
use yunti_engine::columns::block::BlockReader;
use yunti_engine::columns::kind::Kind;
use yunti_engine::env::{Files, NamedFile};
use yunti_engine::format::framed;
use yunti_sql_plan::{Batch, kind_of};

/// Bytes that are read at once.
const READ_BYTES: usize = 1 << 20;

/// Calls `out` with the rows of a directory. Errors: `Input`, `Corrupt` with the file; those of `out`.
pub fn read(
    directory: &Path,
    types: &[DataType],
    files: &dyn Files,
    out: &mut dyn FnMut(Batch) -> Result<()>,
) -> Result<()> {
    let lacks = || Error::new(Code::Internal, "a column of the result has no shape");
    let kinds = types.iter().map(|of| kind_of(of).ok_or_else(lacks)).collect::<Result<Vec<_>>>()?;
    let cannot = |e| Error::io(Code::Input, "cannot read the result", &e).at_path(directory.to_string_lossy());
    let mut parts = files.list(directory).map_err(cannot)?;
    parts.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("part-")));
    parts.sort();
    for part in parts {
        read_part(&NamedFile::open(files, &part, Code::Input)?, &kinds, out)?;
    }
    Ok(())
}

fn read_part(file: &NamedFile, kinds: &[Kind], out: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
    let damaged = || Error::new(Code::Corrupt, "the rows of a job are damaged").at_path(file.path());
    let (mut bytes, mut at) = (Vec::new(), 0u64);
    loop {
        let start = bytes.len();
        bytes.resize(start + READ_BYTES, 0);
        let n = file.read_up_to(&mut bytes[start..], at)?;
        bytes.truncate(start + n);
        at += n as u64;
        let whole = framed::whole(&bytes)?;
        let starts: Vec<usize> = framed::starts(&bytes[..whole]).chain([whole]).collect();
        for pair in starts.windows(2) {
            let record = &bytes[pair[0]..pair[1]];
            let key = record.first_chunk::<4>().map(|key| u32::from_be_bytes(*key) as usize).ok_or_else(damaged)?;
            let block = record.get(framed::HEADER_BYTES + key..).ok_or_else(damaged)?;
            let (columns, rows) = BlockReader::default().read(block, kinds).map_err(|_| damaged())?;
            out(Batch::of(columns, rows))?;
        }
        bytes.drain(..whole);
        if n == 0 {
            return if bytes.is_empty() { Ok(()) } else { Err(damaged()) };
        }
    }
}
