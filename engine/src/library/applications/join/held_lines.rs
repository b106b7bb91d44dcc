//! Lines of one side that have the same key: in memory, and beyond their room on scratch. They are read in order, any
//! number of times.
//!
//! ```text
//!   lines      length, line | length, line | ..           lengths are LEB128
//!   spilled    block 0 | block 1 | ..                     then the tail in memory
//! ```

use crate::bytes::varint;
use crate::memory::Grant;
use crate::operator::context::{SpilledBytes, Workspace};
use yunti_base::Result;

/// Bytes of one line that fit beside the budget: the engine holds such a record elsewhere too.
const UNCOUNTED_MAX: usize = 4 << 20;

/// Lines of one side.
#[derive(Default)]
pub struct HeldLines {
    spilled: Vec<SpilledBytes>,
    tail: Vec<u8>,
    /// Places in the tail at which a block may begin, so that none is longer than `block_bytes` of the room.
    cuts: Vec<usize>,
}

/// Buffer for one spilled block.
#[derive(Default)]
pub struct BlockBuffer {
    bytes: Vec<u8>,
    /// Memory beyond the reserved bytes, for a line that is longer than a block.
    memory: Option<Grant>,
}

/// Bytes of a spilled block, at most, for this room; a longer line is a block of its own.
fn block_bytes(workspace: &Workspace) -> usize {
    (workspace.reserved_bytes / 8).clamp(1, 1 << 30) as usize
}

/// Bytes of both tails together, at most. The rest of the room is for two blocks that are read.
pub fn tails_bytes(workspace: &Workspace) -> usize {
    (workspace.reserved_bytes / 2).max(1) as usize
}

impl HeldLines {
    /// Returns true if there are no lines.
    pub fn is_empty(&self) -> bool {
        self.tail.is_empty() && self.spilled.is_empty()
    }

    /// Returns the bytes in memory.
    pub fn tail_bytes(&self) -> usize {
        self.tail.len()
    }

    /// Appends a line. The caller has made room for it. Fails with the error of a scratch write.
    pub fn push(&mut self, line: &[u8], workspace: &Workspace) -> Result<()> {
        let most = block_bytes(workspace);
        if line.len() + varint::VARINT_BYTES_MAX > most {
            self.spill(workspace)?;
            varint::put(&mut self.tail, line.len() as u64);
            self.tail.extend_from_slice(line);
            self.spill(workspace)?;
            self.tail.shrink_to(most);
            return Ok(());
        }
        let at = self.tail.len();
        varint::put(&mut self.tail, line.len() as u64);
        self.tail.extend_from_slice(line);
        if self.tail.len() - self.cuts.last().copied().unwrap_or(0) > most {
            self.cuts.push(at);
        }
        Ok(())
    }

    /// Writes the tail to scratch. Fails with the error of the write.
    pub fn spill(&mut self, workspace: &Workspace) -> Result<()> {
        let mut start = 0;
        self.cuts.push(self.tail.len());
        for end in self.cuts.drain(..) {
            if start < end {
                self.spilled.push(workspace.scratch.write(&self.tail[start..end])?);
            }
            start = end;
        }
        self.tail.clear();
        Ok(())
    }

    /// Calls `each` with every line in order. Errors: those of scratch reads and of `each`; `Memory` for a line that is
    /// too long to be read again.
    pub fn each(
        &self,
        workspace: &Workspace,
        buffer: &mut BlockBuffer,
        mut each: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        for block in &self.spilled {
            buffer.fill(block, workspace)?;
            each_line(&buffer.bytes, &mut each)?;
        }
        each_line(&self.tail, &mut each)
    }

    /// Removes all lines.
    pub fn clear(&mut self, workspace: &Workspace) {
        self.spilled.drain(..).for_each(|block| workspace.scratch.free(&block));
        self.tail.clear();
        self.cuts.clear();
    }
}

impl BlockBuffer {
    fn fill(&mut self, block: &SpilledBytes, workspace: &Workspace) -> Result<()> {
        let len = block.len as usize;
        let more = len.saturating_sub(block_bytes(workspace)) as u64;
        if more > self.memory.as_ref().map_or(0, Grant::bytes) {
            self.memory = None;
            self.memory = match workspace.budget.try_grant(more) {
                None if len > UNCOUNTED_MAX => return Err(workspace.budget.too_small(more, "a line of a join")),
                granted => granted,
            };
        } else if more == 0 && self.memory.take().is_some() {
            self.bytes = Vec::new();
        }
        self.bytes.resize(len, 0);
        workspace.scratch.read(block, &mut self.bytes)
    }
}

fn each_line(lines: &[u8], each: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut at = 0;
    while at < lines.len() {
        let len = varint::get(lines, &mut at).expect("a length that was written is whole") as usize;
        each(&lines[at..at + len])?;
        at += len;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::env::sync::Mutex;
    use crate::memory::Budget;
    use crate::operator::context::SpillSpace;

    /// Scratch in memory.
    #[derive(Default)]
    struct Blocks(Mutex<Vec<Option<Vec<u8>>>>);

    impl SpillSpace for Blocks {
        fn write(&self, bytes: &[u8]) -> Result<SpilledBytes> {
            let mut all = self.0.lock().unwrap();
            all.push(Some(bytes.to_vec()));
            Ok(SpilledBytes { offset: all.len() as u64 - 1, len: bytes.len() as u32, file: 0, checksum: 0 })
        }
        fn read(&self, spilled: &SpilledBytes, to: &mut [u8]) -> Result<()> {
            to.copy_from_slice(self.0.lock().unwrap()[spilled.offset as usize].as_ref().unwrap());
            Ok(())
        }
        fn free(&self, spilled: &SpilledBytes) {
            assert!(self.0.lock().unwrap()[spilled.offset as usize].take().is_some(), "freed twice");
        }
    }

    #[test]
    fn lines_come_back_in_order_from_blocks_of_the_room() {
        let blocks = Arc::new(Blocks::default());
        let workspace = Workspace { budget: Budget::new(1 << 20), reserved_bytes: 400, scratch: blocks.clone() };
        let mut held = HeldLines::default();
        for round in 0..2 {
            let lines: Vec<Vec<u8>> =
                (0..300).map(|i| vec![i as u8; if i % 50 == 7 { 5000 } else { i * 7 % 33 }]).collect();
            for line in &lines {
                if held.tail_bytes() + line.len() > tails_bytes(&workspace) {
                    held.spill(&workspace).unwrap();
                }
                held.push(line, &workspace).unwrap();
                assert!(held.tail_bytes() <= tails_bytes(&workspace) + 10, "round {round}");
            }
            let (mut found, mut buffer) = (Vec::new(), BlockBuffer::default());
            for _ in 0..2 {
                found.clear();
                let each = |line: &[u8]| {
                    found.push(line.to_vec());
                    Ok(())
                };
                held.each(&workspace, &mut buffer, each).unwrap();
                assert_eq!(found, lines);
            }
            let long = |block: &&Option<Vec<u8>>| block.as_ref().is_some_and(|b| b.len() > 50);
            assert_eq!(blocks.0.lock().unwrap().iter().filter(long).count(), 6, "only long lines exceed a block");
            held.clear(&workspace);
            assert!(held.is_empty() && blocks.0.lock().unwrap().iter().all(Option::is_none));
        }
        assert_eq!(workspace.budget.used_bytes(), 0);
    }
}
