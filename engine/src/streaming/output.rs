//! Output of the programs of one task: parsed records, each emitted once over all attempts.
//!
//! Buffers of text lines are counted and checked as a whole, since a line is always a record. Other forms can fail in
//! the middle of a buffer, so that each record counts for itself.

use super::protocol::RecordReader;
use crate::operator::Out;
use crate::operator::replay::Replay;
use yunti_base::{Error, Result};

/// Records that come from the programs of a task.
pub struct ProgramOutput {
    pub reader: RecordReader,
    pub replay: Replay,
    /// Error in the middle of a buffer of lines: no attempt can go on behind it.
    failed: Option<Error>,
}

impl ProgramOutput {
    pub fn new(reader: RecordReader) -> ProgramOutput {
        ProgramOutput { reader, replay: Replay::default(), failed: None }
    }

    /// Emits the records of `bytes` that no earlier attempt emitted; `ended`: no more bytes follow. Returns the number
    /// of bytes taken. Errors: of the form, of the replay, and of `out`.
    pub fn emit(&mut self, bytes: &[u8], ended: bool, out: &mut Out) -> Result<usize> {
        let ProgramOutput { reader, replay, failed } = self;
        if !reader.has_lines() {
            return reader.read(bytes, ended, |key, value| {
                if replay.is_fresh(key, value)? {
                    out.emit(key, value)?;
                }
                Ok(())
            });
        }
        if let Some(error) = failed {
            return Err(error.clone());
        }
        // An attempt ends behind a whole line, and so do the bytes that it passed on.
        let known = replay.skip(bytes)?;
        let rest = &bytes[known..];
        let taken = reader.read(rest, ended, |key, value| Ok(out.emit(key, value)?));
        let taken = taken.inspect_err(|error| *failed = Some(error.clone()))?;
        replay.pass(&rest[..taken]);
        Ok(known + taken)
    }
}
