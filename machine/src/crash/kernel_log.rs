//! The kernel's log, record by record: /dev/kmsg, as Documentation/ABI/testing/dev-kmsg defines it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{Mode, OFlags, SeekFrom, open, seek};
use yunti_base::{Code, Error, Result};
use yunti_crash::record::{Record, parse};

/// Device of the kernel's log.
pub const DEVICE: &str = "/dev/kmsg";
/// Bytes of a record, with its head and dictionary.
const RECORD_BYTES_MAX: usize = 16 << 10;
/// Reads at a time, so that an endless log leaves time for other work.
const READS_MAX: usize = 2000;

/// Open log.
pub struct KernelLog {
    file: File,
    /// Incomplete line of a file that replaces the device: its records are lines.
    piece: Option<Vec<u8>>,
    /// Overwrites of unread records.
    pub overwritten: u64,
    started: SystemTime,
}

impl KernelLog {
    /// Opens the log at `path`: the device, or a pipe or file with a record a line. `since_start`: begins with the
    /// oldest record since boot.
    pub fn open(path: &Path, since_start: bool) -> Result<KernelLog> {
        let failed = |e: std::io::Error| {
            Error::io(Code::Input, "the kernel's log cannot be read", &e).at_path(path.to_string_lossy())
        };
        let file = open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty());
        let file = File::from(file.map_err(|e| failed(e.into()))?);
        let is_device = path == Path::new(DEVICE);
        if is_device && !since_start {
            seek(&file, SeekFrom::End(0)).map_err(|e| failed(e.into()))?;
        }
        let up = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let up = Duration::new(up.tv_sec as u64, up.tv_nsec as u32);
        let started = SystemTime::now().checked_sub(up).unwrap_or(SystemTime::UNIX_EPOCH);
        Ok(KernelLog { file, piece: (!is_device).then(Vec::new), overwritten: 0, started })
    }

    /// Returns the time of a record.
    pub fn time_of(&self, record: &Record) -> SystemTime {
        self.started + Duration::from_micros(record.time_us)
    }

    /// Calls `each` for the records since the last call, up to `READS_MAX` reads.
    pub fn collect(&mut self, mut each: impl FnMut(Record)) {
        let mut bytes = vec![0; RECORD_BYTES_MAX];
        for _ in 0..READS_MAX {
            match self.file.read(&mut bytes) {
                Ok(0) => return,
                Ok(n) => match &mut self.piece {
                    // One record a read.
                    None => parse(&bytes[..n]).into_iter().for_each(&mut each),
                    Some(piece) => {
                        piece.extend_from_slice(&bytes[..n]);
                        while let Some(end) = piece.iter().position(|b| *b == b'\n') {
                            parse(&piece[..end]).into_iter().for_each(&mut each);
                            piece.drain(..=end);
                        }
                        piece.truncate(RECORD_BYTES_MAX);
                    }
                },
                // Overwritten; the next read returns the oldest record.
                Err(e) if e.kind() == ErrorKind::BrokenPipe => self.overwritten += 1,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }
}
