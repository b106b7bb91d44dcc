//! Output of the programs of one task: parsed records, each emitted once over all attempts.

use super::protocol::RecordReader;
use crate::operator::Out;
use crate::operator::replay::Replay;
use yunti_base::Result;

/// Records that come from the programs of a task.
pub struct ProgramOutput {
    pub reader: RecordReader,
    pub replay: Replay,
}

impl ProgramOutput {
    pub fn new(reader: RecordReader) -> ProgramOutput {
        ProgramOutput { reader, replay: Replay::default() }
    }

    /// Emits the records of `bytes` that no earlier attempt emitted; `ended`: no more bytes follow. Returns the number
    /// of bytes taken. Errors: of the form, of the replay, and of `out`.
    pub fn emit(&mut self, bytes: &[u8], ended: bool, out: &mut Out) -> Result<usize> {
        let ProgramOutput { reader, replay } = self;
        reader.read(bytes, ended, |key, value| {
            if replay.is_fresh(key, value)? {
                out.emit(key, value)?;
            }
            Ok(())
        })
    }
}
