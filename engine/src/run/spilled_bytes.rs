//! Scratch space for operators: bytes of any kind with a checksum, which is checked at each read.

use super::scratch::{Extent, ScratchSpace};
use crate::bytes::checksum::crc32c;
use crate::operator::context::{SpillSpace, SpilledBytes};
use yunti_base::{Code, Error, Result};

fn extent(spilled: &SpilledBytes) -> Extent {
    Extent { offset: spilled.offset, len: spilled.len, file: spilled.file }
}

impl SpillSpace for ScratchSpace {
    fn write(&self, bytes: &[u8]) -> Result<SpilledBytes> {
        let Extent { offset, len, file } = ScratchSpace::write(self, &[bytes])?;
        Ok(SpilledBytes { offset, len, file, checksum: crc32c(bytes) })
    }

    /// Reads damaged bytes once more, as blocks of a run are.
    fn read(&self, spilled: &SpilledBytes, to: &mut [u8]) -> Result<()> {
        assert!(to.len() == spilled.len as usize);
        for _ in 0..2 {
            ScratchSpace::read(self, extent(spilled), to)?;
            if crc32c(to) == spilled.checksum {
                return Ok(());
            }
            self.note_bad_read(extent(spilled));
        }
        Err(Error::new(Code::Corrupt, "spilled lines have a wrong checksum")
            .at_path(self.path(extent(spilled)))
            .at_offset(spilled.offset)
            .hint("run the job again; check the disk"))
    }

    fn free(&self, spilled: &SpilledBytes) {
        ScratchSpace::free(self, extent(spilled));
    }
}
