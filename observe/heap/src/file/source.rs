//! Source of a dump's bytes: positioned reads of a file.
//!
//! A file is never mapped: one that is cut while it is read is an error, not a SIGBUS. A compressed dump is unpacked
//! into a scratch file without a name, because three passes read it at any place. Rejected: seeking within the members
//! that `jcmd GC.heap_dump -gz` writes, which serves only dumps of this one writer.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use yunti_base::{Code, Error, Result};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const COPY_BYTES: usize = 1 << 18;

/// File with the bytes of a dump, uncompressed.
pub struct Source {
    file: File,
    bytes: u64,
    path: String,
    /// Remark about a part that is missing.
    pub note: Option<String>,
}

impl Source {
    /// Opens a dump; unpacks a compressed one into an unnamed file in `scratch`.
    pub fn open(path: &Path, scratch: &Path) -> Result<Source> {
        let name = path.to_string_lossy().into_owned();
        let failed = |e: io::Error| Error::io(Code::Input, "cannot read the heap dump", &e).at_path(&*name);
        let file = File::open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.is_dir() {
            return Err(Error::new(Code::Input, "is a directory, not a heap dump").at_path(name));
        }
        let mut magic = [0; 2];
        let mut note = None;
        let file = match read_fully(&file, 0, &mut magic) {
            Ok(2) if magic == GZIP => {
                let (file, cut) = unpack(file, &name, scratch)?;
                note = cut;
                file
            }
            Ok(_) => file,
            Err(e) => return Err(failed(e)),
        };
        let bytes = file.metadata().map_err(failed)?.len();
        Ok(Source { file, bytes, path: name, note })
    }

    /// Returns the number of bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the path that the user named.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Reads at `at` until the buffer is full or the file ends, and returns the number of bytes.
    pub fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<usize> {
        read_fully(&self.file, at, buffer)
            .map_err(|e| Error::io(Code::Input, "cannot read the heap dump", &e).at_path(&*self.path).at_offset(at))
    }

    /// Returns an error about damaged bytes at `at`.
    pub fn corrupt(&self, what: impl Into<String>, at: u64) -> Error {
        Error::new(Code::Corrupt, what).at_path(&*self.path).at_offset(at)
    }
}

fn read_fully(file: &File, mut at: u64, mut buffer: &mut [u8]) -> io::Result<usize> {
    let whole = buffer.len();
    while !buffer.is_empty() {
        match file.read_at(buffer, at) {
            Ok(0) => break,
            Ok(n) => {
                at += n as u64;
                buffer = &mut buffer[n..];
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(whole - buffer.len())
}

/// Unpacks all members, as far as they go, into a file without a name.
fn unpack(file: File, name: &str, scratch: &Path) -> Result<(File, Option<String>)> {
    let place = scratch.to_string_lossy();
    let failed = |e: io::Error| {
        Error::io(Code::Output, "cannot unpack the heap dump into a scratch file", &e)
            .at_path(&*place)
            .hint("set TMPDIR to a directory with free space")
    };
    let path = scratch.join(format!("yunti-heap-{}-{:p}", std::process::id(), &name));
    let unpacked = OpenOptions::new().read(true).write(true).create_new(true).open(&path).map_err(failed)?;
    // The descriptor keeps the file; a killed process leaves none.
    fs::remove_file(&path).map_err(failed)?;
    let mut decoder = MultiGzDecoder::new(io::BufReader::with_capacity(COPY_BYTES, file));
    let mut writer = BufWriter::with_capacity(COPY_BYTES, unpacked);
    let mut buffer = vec![0; COPY_BYTES];
    let mut note = None;
    loop {
        match decoder.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => writer.write_all(&buffer[..n]).map_err(failed)?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => {
                note = Some(format!("The compressed dump is cut or damaged ({e}); what comes before is analysed."));
                break;
            }
        }
    }
    let unpacked = writer.into_inner().map_err(|e| failed(e.into_error()))?;
    Ok((unpacked, note))
}
