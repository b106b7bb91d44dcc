//! Copy of a dump without its contents: values of primitive arrays, and so of strings, are zeros.
//!
//! Every byte keeps its place, so the copy has the same objects, references and sizes. Names of classes, fields and
//! methods stay, and so do single numbers in fields. What cannot be parsed behind a damage is zeros, too.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use yunti_base::{Code, Error, Result};

use crate::file::map::DumpMap;
use crate::file::records::{Blocks, Visitor, value_bytes, walk};
use crate::file::source::Source;

const WINDOW_BYTES: usize = if cfg!(debug_assertions) { 50 } else { 1 << 20 };
const ZEROS: [u8; 4096] = [0; 4096];

/// Writes the copy of `path` to `out`, and returns the number of bytes that became zeros.
pub fn redact(path: &Path, out: &Path, scratch: &Path) -> Result<u64> {
    let source = Source::open(path, scratch)?;
    let map = DumpMap::read(&source)?;
    let name = out.to_string_lossy();
    if fs::canonicalize(out).is_ok_and(|out| fs::canonicalize(path).is_ok_and(|path| path == out)) {
        return Err(Error::new(Code::Usage, "the copy would replace the dump").at_path(name).hint("name another file"));
    }
    let failed = |e: &io::Error| Error::io(Code::Output, "cannot write the copy", e).at_path(&*name);
    // The copy has its name when every byte of it is there.
    let partial = out.with_file_name(format!("{}.partial", out.file_name().unwrap_or_default().to_string_lossy()));
    let file = File::create(&partial).map_err(|e| failed(&e))?;
    let copier = Copier {
        source: &source,
        window: vec![0; WINDOW_BYTES],
        begin: 0,
        filled: 0,
        at: 0,
        zeroed: 0,
        id_bytes: map.id_bytes,
        writer: BufWriter::with_capacity(1 << 18, file),
        failure: None,
    };
    let copied = copy(copier, &map).and_then(|(zeroed, writer)| {
        let file = writer.into_inner().map_err(|e| Failure::Write(e.into_error()))?;
        file.sync_all().and_then(|()| fs::rename(&partial, out)).map_err(Failure::Write)?;
        Ok(zeroed)
    });
    copied.map_err(|failure| {
        _ = fs::remove_file(&partial);
        match failure {
            Failure::Read(error) => error,
            Failure::Write(e) => failed(&e),
        }
    })
}

enum Failure {
    Read(Error),
    Write(io::Error),
}

struct Copier<'a> {
    source: &'a Source,
    window: Vec<u8>,
    begin: u64,
    filled: usize,
    /// Offset up to which the copy is written.
    at: u64,
    zeroed: u64,
    id_bytes: usize,
    writer: BufWriter<File>,
    failure: Option<Failure>,
}

fn copy<'a>(mut copier: Copier<'a>, map: &DumpMap) -> std::result::Result<(u64, BufWriter<File>), Failure> {
    let source: &'a Source = copier.source;
    let mut blocks = Blocks::new(source);
    for segment in &map.segments {
        let damage = walk(&mut blocks, map.id_bytes, segment.begin, segment.end, &mut copier).map_err(Failure::Read)?;
        if let Some(damage) = damage {
            copier.copy_to(damage.at);
            copier.zero_to(segment.end);
        }
        if let Some(failure) = copier.failure.take() {
            return Err(failure);
        }
    }
    copier.copy_to(source.bytes());
    match copier.failure {
        Some(failure) => Err(failure),
        None => Ok((copier.zeroed, copier.writer)),
    }
}

impl Copier<'_> {
    fn copy_to(&mut self, end: u64) {
        while self.at < end && self.failure.is_none() {
            if self.at < self.begin || self.at >= self.begin + self.filled as u64 {
                self.begin = self.at;
                match self.source.read_at(self.at, &mut self.window) {
                    Ok(0) => return self.zero_to(end),
                    Ok(filled) => self.filled = filled,
                    Err(error) => return self.failure = Some(Failure::Read(error)),
                }
            }
            let from = (self.at - self.begin) as usize;
            let to = self.filled.min((end - self.begin) as usize);
            if let Err(error) = self.writer.write_all(&self.window[from..to]) {
                return self.failure = Some(Failure::Write(error));
            }
            self.at += (to - from) as u64;
        }
    }

    fn zero_to(&mut self, end: u64) {
        self.zeroed += end.saturating_sub(self.at);
        while self.at < end && self.failure.is_none() {
            let some = (end - self.at).min(ZEROS.len() as u64);
            if let Err(error) = self.writer.write_all(&ZEROS[..some as usize]) {
                return self.failure = Some(Failure::Write(error));
            }
            self.at += some;
        }
    }
}

impl Visitor for Copier<'_> {
    fn primitive_array(&mut self, _at: u64, _id: u64, kind: u8, length: u32, values_at: u64) {
        self.copy_to(values_at);
        let bytes = value_bytes(kind, self.id_bytes).unwrap_or(0) as u64;
        self.zero_to(values_at + u64::from(length) * bytes);
    }
}
