//! The kernel's log, record by record: /dev/kmsg, as Documentation/ABI/testing/dev-kmsg has it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{Mode, OFlags, SeekFrom, open, seek};
use yunti_engine::base::{Code, Error, Result};

pub const DEVICE: &str = "/dev/kmsg";
/// A record is at most so long, with its head and its dictionary.
const RECORD_BYTES_MAX: usize = 16 << 10;
/// By the kernel itself: what programs write to the log has another facility, whatever they say.
const BY_KERNEL: u32 = 0;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// 0 emergency to 7 debug.
    pub level: u32,
    /// Since the system's start.
    pub time_us: u64,
    pub text: String,
}

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

    /// What has come since the last time.
    pub fn collect(&mut self, mut each: impl FnMut(Record)) {
        let mut bytes = vec![0; RECORD_BYTES_MAX];
        loop {
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

/// `6,339,5140900,-;text`, and lines of a dictionary behind it, which begin with a blank. None: it is not the kernel's own.
fn parse(bytes: &[u8]) -> Option<Record> {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once(';')?;
    let mut fields = head.split(',');
    let priority: u32 = fields.next()?.parse().ok()?;
    let time_us = fields.nth(1)?.parse().ok()?;
    if priority >> 3 != BY_KERNEL {
        return None;
    }
    let line = body.split('\n').next().unwrap_or_default();
    Some(Record { level: priority & 7, time_us, text: unescaped(line) })
}

/// What does not print is written `\x1b`.
fn unescaped(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("\\x") {
        let code = rest.get(at + 2..at + 4).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let Some(code) = code else { break };
        out.push_str(&rest[..at]);
        out.push(char::from(code));
        rest = &rest[at + 4..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records() {
        let read = |text: &str| parse(text.as_bytes()).map(|r| (r.level, r.time_us, r.text));
        assert_eq!(read("6,339,5140900,-;NET: up\n"), Some((6, 5_140_900, "NET: up".to_owned())));
        assert_eq!(read("3,1,2,-,caller=T1;a;b\n SUBSYSTEM=x\n"), Some((3, 2, "a;b".to_owned())));
        assert_eq!(read("4,1,2,c;tab\\x09here, \\xzz"), Some((4, 2, "tab\there, \\xzz".to_owned())));
        // Of a program: 1 is user, 3 daemon.
        for text in ["12,1,2,-;Out of memory: Killed process 1 (init)", "30,1,2,-;x", "", ";", "6,1;x", "x,1,2,-;y"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
