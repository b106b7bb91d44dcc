//! Memory of a process, read from outside while the process runs: a value may be out of date, and a pointer may lead
//! nowhere.

use std::fs::File;
use std::os::unix::fs::FileExt;

use yunti_probe::target::Process;

/// Bytes of a text above which it is none.
const TEXT_BYTES_MAX: u64 = 512;

/// Memory of a process.
pub struct Memory {
    file: File,
}

impl Memory {
    pub fn of(process: &Process) -> std::io::Result<Memory> {
        Ok(Memory { file: File::open(format!("/proc/{}/mem", process.pid))? })
    }

    /// Fills the buffer. `None`: the process has nothing there, or has ended.
    pub fn read(&self, address: u64, buffer: &mut [u8]) -> Option<()> {
        // The kernel takes offsets as signed numbers.
        if address < 4096 || address > i64::MAX as u64 {
            return None;
        }
        self.file.read_exact_at(buffer, address).ok()
    }

    pub fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Some(u64::from_le_bytes(bytes))
    }

    /// Returns a text of C that ends with a zero.
    pub fn text(&self, address: u64) -> Option<String> {
        let mut text = Vec::new();
        // A read may not cross into a page that is absent.
        for at in (address..address + TEXT_BYTES_MAX).step_by(16) {
            let mut piece = [0; 16];
            self.read(at, &mut piece)?;
            let end = piece.iter().position(|byte| *byte == 0);
            text.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
            if end.is_some() {
                return String::from_utf8(text).ok();
            }
        }
        None
    }
}

/// Returns a number of bytes that were read.
pub fn number(bytes: &[u8], at: u64) -> u64 {
    let at = at as usize;
    bytes.get(at..at + 8).map_or(0, |word| u64::from_le_bytes(word.try_into().unwrap_or_default()))
}

/// Returns a number of four bytes.
pub fn half(bytes: &[u8], at: u64) -> u32 {
    let at = at as usize;
    bytes.get(at..at + 4).map_or(0, |word| u32::from_le_bytes(word.try_into().unwrap_or_default()))
}
