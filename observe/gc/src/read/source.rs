//! Files of a log: plain or gzip by content, rotated ones in the order of their times, `-` for standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use yunti_base::{Code, Error, Result};

use super::parser::Parser;
use super::unified::decorations;
use crate::model::log::Log;
use crate::scan::Scan;
use crate::scan::stamp::{Stamp, date};

/// Bytes of a read. A longer line is cut.
const BUFFER_BYTES: usize = 1 << 18;
/// Bytes at the start of a file in which its first time is searched.
const HEAD_BYTES: u64 = 64 << 10;
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reads the files of one log. Files of one rotation are put in the order of their first times.
///
/// Fails with [`Code::Input`] if a file cannot be read. A damaged gzip file ends where its damage begins.
pub fn read(paths: &[PathBuf]) -> Result<Log> {
    let mut parser = Parser::default();
    for path in in_order(paths)? {
        let mut file = open(&path)?;
        lines(&mut file, |line| parser.line(line)).map_err(|e| failure(&path, &e))?;
    }
    Ok(parser.finish())
}

/// Parses a log that is not in a file. Fails if reading fails.
pub fn parse(input: &mut dyn Read) -> io::Result<Log> {
    let mut parser = Parser::default();
    lines(input, |line| parser.line(line))?;
    Ok(parser.finish())
}

fn failure(path: &Path, error: &io::Error) -> Error {
    Error::io(Code::Input, "cannot read the log", error).at_path(path.display().to_string())
}

/// Opens a file; decompresses it if it begins as gzip does.
fn open(path: &Path) -> Result<Box<dyn Read>> {
    let mut file: Box<dyn Read> = match path.as_os_str().as_encoded_bytes() {
        b"-" => Box::new(io::stdin().lock()),
        _ => Box::new(File::open(path).map_err(|e| failure(path, &e))?),
    };
    let mut head = Vec::new();
    file.by_ref().take(2).read_to_end(&mut head).map_err(|e| failure(path, &e))?;
    let is_gzip = head == GZIP;
    let whole = io::Cursor::new(head).chain(file);
    Ok(if is_gzip { Box::new(Gzip(MultiGzDecoder::new(whole))) } else { Box::new(whole) })
}

/// Gzip file that ends where its damage begins, as a log of a killed process does.
struct Gzip<R: Read>(MultiGzDecoder<R>);

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        match self.0.read(buffer) {
            Err(e) if matches!(e.kind(), InvalidData | InvalidInput | UnexpectedEof) => Ok(0),
            other => other,
        }
    }
}

/// Calls `take` for each line.
fn lines(file: &mut dyn Read, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut filled = 0;
    // The rest of a line that was cut.
    let mut skips = false;
    loop {
        let read = match file.read(&mut buffer[filled..]) {
            Ok(read) => read,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        if read == 0 {
            if filled > 0 && !skips {
                take(&buffer[..filled]);
            }
            return Ok(());
        }
        let end = filled + read;
        let mut start = 0;
        for at in memchr::memchr_iter(b'\n', &buffer[filled..end]) {
            let at = filled + at;
            if !std::mem::take(&mut skips) {
                take(&buffer[start..at]);
            }
            start = at + 1;
        }
        if start == 0 && end == buffer.len() {
            if !skips {
                take(&buffer[..end]);
            }
            (skips, filled) = (true, 0);
        } else {
            buffer.copy_within(start..end, 0);
            filled = end - start;
        }
    }
}

/// Returns the files in the order of their first times.
///
/// Uptimes begin anew with each JVM, so without dates only files of one rotation are compared: `gc.log`, `gc.log.0`.
fn in_order(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = paths.to_vec();
    if files.len() < 2 || files.iter().any(|path| path.as_os_str() == "-") {
        return Ok(files);
    }
    let mut times = Vec::new();
    for path in &files {
        times.push(first_stamp(path)?);
    }
    let stem = stem(&files[0]);
    let is_rotation = files.iter().all(|path| self::stem(path) == stem);
    let dates: Option<Vec<f64>> = times.iter().map(|stamp| stamp.unix_s).collect();
    let uptimes = || times.iter().map(|stamp| stamp.uptime_s).collect::<Option<Vec<f64>>>();
    let keys = dates.or_else(|| if is_rotation { uptimes() } else { None });
    if let Some(keys) = keys {
        let mut order: Vec<usize> = (0..files.len()).collect();
        order.sort_by(|a, b| keys[*a].total_cmp(&keys[*b]));
        files = order.into_iter().map(|at| paths[at].clone()).collect();
    }
    Ok(files)
}

/// Returns the name of a file without what a rotation appends: `.0`, `.1.current`, `.gz`.
fn stem(path: &Path) -> String {
    let mut name = path.to_string_lossy().into_owned();
    while let Some((before, end)) = name.rsplit_once('.') {
        let is_appended = end == "gz" || end == "current" || !end.is_empty() && end.bytes().all(|c| c.is_ascii_digit());
        if !is_appended {
            break;
        }
        name = before.to_owned();
    }
    name
}

fn first_stamp(path: &Path) -> Result<Stamp> {
    let mut found = Stamp::default();
    let mut file = open(path)?.take(HEAD_BYTES);
    let look = |line: &[u8]| {
        if found.is_empty() {
            found = match line.first() {
                Some(b'[') => decorations(line).map_or_else(Stamp::default, |decorated| decorated.stamp),
                Some(c) if c.is_ascii_digit() => legacy_stamp(line),
                _ => Stamp::default(),
            };
        }
    };
    lines(&mut file, look).map_err(|e| failure(path, &e))?;
    Ok(found)
}

fn legacy_stamp(line: &[u8]) -> Stamp {
    let mut scan = Scan(line);
    let unix_s = date(&mut scan).filter(|_| scan.eat(b": "));
    let uptime_s = scan.number().filter(|_| scan.eat(b": "));
    Stamp { unix_s, uptime_s }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn lines_are_cut_at_ends_and_at_the_buffer() {
        let long = "x".repeat(BUFFER_BYTES + 10);
        let text = format!("a\n\n{long}\nb\nc");
        let mut found = Vec::new();
        lines(&mut text.as_bytes(), |line| found.push(line.len())).unwrap();
        // The buffer held the first two lines too, so the long one was moved before it was cut.
        assert_eq!(found, [1, 0, BUFFER_BYTES, 1, 1]);
    }

    #[test]
    fn rotated_files_are_put_in_order() {
        let folder = std::env::temp_dir().join(format!("yunti-gc-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"[5.0s][info][gc] GC(1) Pause Remark 2.000ms\n").unwrap();
        let gzip = gzip.finish().unwrap();
        let paths = [
            write("gc.log", b"[9.0s][info][gc] GC(2) Pause Remark 3.000ms\n"),
            write("gc.log.0", b"foreign\n[1.0s][info][gc] GC(0) Pause Remark 1.000ms\n"),
            write("gc.log.1.gz", &gzip),
        ];
        let log = read(&paths).unwrap();
        let pauses: Vec<f64> = log.events.iter().map(|event| event.pause_ms).collect();
        assert_eq!((pauses, log.foreign, log.runs()), (vec![1.0, 2.0, 3.0], 1, 1));
        let cut = write("cut.gz", &gzip[..gzip.len() - 12]);
        assert!(read(&[cut]).is_ok());
        assert_eq!(read(&[folder.join("none")]).unwrap_err().code(), Code::Input);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
