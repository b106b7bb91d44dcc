//! The kernel's log, record by record: /dev/kmsg, as Documentation/ABI/testing/dev-kmsg has it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{Mode, OFlags, SeekFrom, open, seek};
use yunti_base::{Code, Error, Result};
use yunti_crash::record::{Record, parse};

pub const DEVICE: &str = "/dev/kmsg";
/// A record is at most so long, with its head and its dictionary.
const RECORD_BYTES_MAX: usize = 16 << 10;
/// Read at a time: a log that is written to without end leaves time for all else.
const READS_MAX: usize = 2000;

pub struct KernelLog {
    file: File,
    /// Of a file in its place: records are lines, which may come in pieces.
    piece: Option<Vec<u8>>,
    /// Times that records were overwritten before they were read.
    pub overwritten: u64,
    started: SystemTime,
}

impl KernelLog {
    /// @param since_start also what was told since the system's start, as far as the log still has it
    /// @param path the device; or a pipe or file of its records, a line each
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

    pub fn time_of(&self, record: &Record) -> SystemTime {
        self.started + Duration::from_micros(record.time_us)
    }

    /// What has come since the last time, or the first of it.
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
                // Overwritten: the next read is of the oldest that there is.
                Err(e) if e.kind() == ErrorKind::BrokenPipe => self.overwritten += 1,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }
}
