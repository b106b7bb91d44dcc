//! Bytes of a text, from some place on: of a file as it is, or decompressed from its start.

use std::path::Path;
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::codec::{self, CodecKind};
use yunti_engine::env::{Files, NamedFile};
use yunti_engine::memory::budget::Grant;
use yunti_engine::memory::{Budget, Buffer};
use yunti_engine::read::decoded_file::{DECODE_INPUT_BYTES, DecodedFile};

/// Bytes of a text, in order.
pub enum Bytes {
    Plain { file: NamedFile, at: u64 },
    Decoded { file: Box<DecodedFile>, _memory: Grant },
}

impl Bytes {
    /// Opens a text. `at`: where it begins, in a file that is not compressed. The memory of a decoder is taken from the
    /// budget.
    ///
    /// Errors: `Input` with the path; `Memory`.
    pub fn open(
        files: &dyn Files,
        path: &Path,
        codec: Option<CodecKind>,
        at: u64,
        budget: &Arc<Budget>,
    ) -> Result<Bytes> {
        let file = NamedFile::open(files, path, Code::Input)?;
        let Some(kind) = codec else { return Ok(Bytes::Plain { file, at }) };
        let in_message = |e: Error| e.at_path(path.to_string_lossy());
        let bytes = codec::memory_bytes(kind).min(budget.limit_bytes() / 2);
        let memory = budget.grant(bytes + DECODE_INPUT_BYTES as u64, "decompressing a file").map_err(in_message)?;
        let decoder = codec::decoder(kind, bytes).map_err(in_message)?;
        let file = DecodedFile::new(file, 0, decoder, Buffer::new(DECODE_INPUT_BYTES, None)?);
        Ok(Bytes::Decoded { file: Box::new(file), _memory: memory })
    }

    /// Fills `to`. Returns 0 at the end alone. Errors: `Input` and `Corrupt` with the path.
    pub fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        match self {
            Bytes::Plain { file, at } => {
                let read = file.read_up_to(to, *at)?;
                *at += read as u64;
                Ok(read)
            }
            Bytes::Decoded { file, .. } => file.read(to),
        }
    }
}
