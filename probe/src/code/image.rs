//! A program's file as it is mapped into a process.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// File of a program, and where it is mapped.
pub struct Image {
    pub(super) file: File,
    /// Address in the process, offset in the file, and bytes.
    pub(super) segments: Vec<(u64, u64, u64)>,
}

impl Image {
    /// Reads bytes of the file by their address in the process. The process does not notice it.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        let holds = |(begin, _, size): &&(u64, u64, u64)| {
            address.checked_sub(*begin).is_some_and(|at| at.saturating_add(bytes.len() as u64) <= *size)
        };
        let Some((begin, offset, _)) = self.segments.iter().find(holds) else { return false };
        self.file.read_exact_at(bytes, address - begin + offset).is_ok()
    }
}
