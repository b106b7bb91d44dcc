//! The input of a job that sorts its records unchanged: its files are mapped, and the records stay where they are.
//!
//! ```text
//!   file:    | .. records of the split before | line | line | line ........ | line | ..
//!                               piece.start ^   ^ first line of the split        ^ last, behind piece.end
//! ```
//!
//! Records and their order are the same as those of `SplitReader` and `FixedReader`.

use super::foreign;
use super::reader::{BYTE_ORDER_MARK, ReadSetup};
use super::split::{Piece, RecordFormat, Split};
use crate::env::{MappedFiles, NamedFile};
use crate::format::LineEnd;
use crate::format::text::LineSplitter;
use crate::operator::cursor::RECORD_BYTES_MAX;
use yunti_base::{Code, Error, Result};

/// Bytes whose pages are fetched at once.
const FETCH_BYTES: usize = if cfg!(debug_assertions) { 8 << 10 } else { 2 << 20 };
/// Bytes of a batch: they stay in L2 while their records are indexed.
const BATCH_BYTES: usize = if cfg!(debug_assertions) { 512 } else { 256 << 10 };
/// Mean bytes of a file at least: each file costs a few mappings.
const FILE_BYTES_LEAST: u64 = if cfg!(debug_assertions) { 1 } else { 256 << 10 };

/// Whole records of one file, side by side.
pub struct MappedBatch<'a> {
    /// Offset of the first byte from the base of the mapping.
    pub at: usize,
    /// The records, with their line ends.
    pub bytes: &'a [u8],
    /// Offset of each line in `bytes`; empty for records of fixed length.
    pub offsets: &'a [u32],
    /// Length of each line, without its end.
    pub lengths: &'a [u32],
}

/// Reader of mapped splits; each worker has its own.
pub struct MappedReader<'m> {
    files: &'m MappedFiles,
    format: &'m RecordFormat,
    lines: LineSplitter,
}

/// Maps the input files of `setup`. Returns None if their format or one of them does not allow it; they are then read.
///
/// `bytes_max`: bytes of input that the job may map. Mapped pages are page cache, but a job whose pages are evicted
/// before they are sorted would read them twice, in random order. Fails with `Code::Input` if a file cannot be opened.
pub fn map(setup: &ReadSetup, splits: &[Split], bytes_max: u64) -> Result<Option<MappedFiles>> {
    let inputs = &setup.inputs;
    let end = match &setup.format {
        RecordFormat::Lines { end: LineEnd::Any | LineEnd::Lf } => Some(b'\n'),
        // A file that ends within a record is an error of the reader.
        RecordFormat::Fixed { record_bytes, .. }
            if inputs.iter().all(|file| file.len.is_multiple_of(u64::from(*record_bytes))) =>
        {
            None
        }
        _ => return Ok(None),
    };
    let total: u64 = inputs.iter().map(|file| file.len).sum();
    let plain = inputs.iter().all(|file| file.codec.is_none() && !file.is_stream && file.path.as_os_str() != "-");
    // Offsets order records as emission does, so splits must follow the files.
    let ascending = splits.iter().flat_map(|split| &split.pieces).is_sorted_by_key(|piece| (piece.file, piece.start));
    if !plain
        || !ascending
        || total > bytes_max
        || inputs.len() > foreign::FILES_CHECKED_MAX
        || total < FILE_BYTES_LEAST * inputs.len() as u64
    {
        return Ok(None);
    }
    let open = |path| NamedFile::open(&*setup.files, path, Code::Input);
    let files: Vec<_> = inputs.iter().map(|file| Ok((open(&file.path)?, file.len))).collect::<Result<_>>()?;
    Ok(MappedFiles::map(files, end))
}

/// Returns each split's first offset in the mapping, with its number. Both ascend.
pub fn split_starts(files: &MappedFiles, splits: &[Split]) -> Vec<(usize, u32)> {
    let first =
        |split: &Split| split.pieces.first().map(|piece| files.start(piece.file as usize) + piece.start as usize);
    splits.iter().filter_map(|split| Some((first(split)?, split.number))).collect()
}

impl<'m> MappedReader<'m> {
    /// Returns a reader of mapped files of this format.
    pub fn new(files: &'m MappedFiles, format: &'m RecordFormat) -> MappedReader<'m> {
        MappedReader { files, format, lines: LineSplitter::default() }
    }

    /// Passes the records of a split to `take`, batch by batch.
    ///
    /// Errors: `Input`, with path and offset, for a file that was truncated or a record that is too long; the errors of
    /// `take`.
    pub fn read(&mut self, split: &Split, mut take: impl FnMut(MappedBatch<'_>) -> Result<()>) -> Result<()> {
        for piece in &split.pieces {
            match self.format {
                RecordFormat::Lines { end } => self.lines(piece, end, &mut take)?,
                RecordFormat::Fixed { record_bytes, .. } => self.fixed(piece, *record_bytes as usize, &mut take)?,
                _ => return Err(Error::new(Code::Internal, "a mapped file of another format")),
            }
        }
        Ok(())
    }

    fn fixed(
        &self,
        piece: &Piece,
        record_bytes: usize,
        take: &mut impl FnMut(MappedBatch<'_>) -> Result<()>,
    ) -> Result<()> {
        let number = piece.file as usize;
        let (file, start) = (self.files.file(number), self.files.start(number));
        let step = (BATCH_BYTES / record_bytes).max(1) * record_bytes;
        let mut fetched = Fetched::new(self.files, number, piece.start as usize);
        let (mut at, end) = (piece.start as usize, piece.end as usize);
        while at < end {
            let to = (at + step).min(end);
            fetched.up_to(to)?;
            take(MappedBatch { at: start + at, bytes: &file[at..to], offsets: &[], lengths: &[] })?;
            at = to;
        }
        Ok(())
    }

    fn lines(
        &mut self,
        piece: &Piece,
        line_end: &LineEnd,
        take: &mut impl FnMut(MappedBatch<'_>) -> Result<()>,
    ) -> Result<()> {
        let number = piece.file as usize;
        let (file, start) = (self.files.file(number), self.files.start(number));
        let mut fetched = Fetched::new(self.files, number, piece.start as usize);
        let mut at = match piece.start as usize {
            0 if self.format.may_begin_with_mark() && file.starts_with(BYTE_ORDER_MARK) => BYTE_ORDER_MARK.len(),
            0 => 0,
            cut => self.boundary(&mut fetched, file, line_end, cut)?,
        };
        // Lines that begin before the piece's end, and the one that begins right there, belong to the piece. So does
        // the line behind a byte-order mark.
        let piece_end = if piece.start == 0 { at.max(piece.end as usize) } else { piece.end as usize };
        while at < file.len() && at <= piece_end {
            let mut to = (at + BATCH_BYTES).min(file.len());
            fetched.up_to(to)?;
            let is_last = to >= piece_end || to == file.len();
            if to >= piece_end {
                to = self.boundary(&mut fetched, file, line_end, piece_end)?;
            } else {
                let whole = line_end.whole(&file[at..to], to == file.len());
                to = if whole > 0 { at + whole } else { self.boundary(&mut fetched, file, line_end, to)? };
            }
            if to - at > RECORD_BYTES_MAX {
                return Err(self.too_long(number, at));
            }
            let bytes = &file[at..to];
            self.lines.split(bytes, line_end);
            take(MappedBatch { at: start + at, bytes, offsets: &self.lines.offsets, lengths: &self.lines.lengths })?;
            at = to;
            if is_last {
                break;
            }
        }
        Ok(())
    }

    /// Returns where the first line begins whose line end before it begins at or after `cut`; the file's end if none.
    fn boundary(&self, fetched: &mut Fetched<'_>, file: &[u8], line_end: &LineEnd, cut: usize) -> Result<usize> {
        let mut from = cut;
        let mut step = BATCH_BYTES;
        while from < file.len() {
            let to = (from + step).min(file.len());
            fetched.up_to(to)?;
            if let Some((_, next)) = line_end.find(&file[from..to], to == file.len()) {
                return Ok(from + next);
            }
            // A CR as the last byte may be half of a line end.
            from = if to == file.len() { to } else { to - 1 };
            step *= 2;
        }
        Ok(file.len())
    }

    #[cold]
    fn too_long(&self, number: usize, at: usize) -> Error {
        Error::new(Code::Input, format!("a record is longer than {RECORD_BYTES_MAX} bytes"))
            .at_path(self.files.path(number))
            .at_offset(at as u64)
            .hint("check the input format and the record delimiter")
    }
}

/// The part of a file whose pages were fetched.
struct Fetched<'m> {
    files: &'m MappedFiles,
    file: usize,
    to: usize,
}

impl<'m> Fetched<'m> {
    fn new(files: &'m MappedFiles, file: usize, from: usize) -> Fetched<'m> {
        Fetched { files, file, to: from }
    }

    fn up_to(&mut self, to: usize) -> Result<()> {
        while self.to < to {
            let next = (self.to + FETCH_BYTES).max(to).min(self.files.file(self.file).len());
            self.files.page_in(self.file, self.to, next)?;
            self.to = next.max(to);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Files;
    use crate::env::real::RealFiles;
    use crate::memory::Budget;
    use crate::read::SplitReader;
    use crate::read::split::{InputFile, Sharing, split_files};
    use std::sync::Arc;

    /// Lines as the reader and the mapping find them, by split.
    fn check(name: &str, contents: &[&[u8]], end: LineEnd, split_bytes: u64) {
        let dir = std::env::temp_dir();
        let inputs: Vec<InputFile> = contents
            .iter()
            .enumerate()
            .map(|(i, bytes)| {
                let path = dir.join(format!("yunti-mapped-input-{}-{name}-{i}", std::process::id()));
                std::fs::write(&path, bytes).unwrap();
                InputFile { path, len: bytes.len() as u64, ..InputFile::default() }
            })
            .collect();
        let format = RecordFormat::Lines { end };
        let splits = split_files(&inputs, &format, split_bytes, Sharing::Shared);
        let setup = ReadSetup {
            files: Arc::new(RealFiles),
            budget: Budget::new(1 << 20),
            inputs: Arc::new(inputs),
            format,
            spans: false,
            read_bytes: 64,
            read_ahead: None,
            reader: None,
        };
        let mapped = map(&setup, &splits, u64::MAX).unwrap().expect("files of this machine can be mapped");
        let starts = split_starts(&mapped, &splits);
        assert!(starts.is_sorted());
        let mut mapped_reader = MappedReader::new(&mapped, &setup.format);
        let mut reader = SplitReader::new(setup.clone()).unwrap();
        for split in &splits {
            let mut expect: Vec<Vec<u8>> = Vec::new();
            reader.begin(split);
            while let Some(batch) = reader.next_batch().unwrap() {
                let values = batch.values();
                for (&at, &len) in values.offsets.iter().zip(values.lengths) {
                    expect.push(batch.data()[at as usize..][..len as usize].to_vec());
                }
            }
            let mut got: Vec<Vec<u8>> = Vec::new();
            mapped_reader
                .read(split, |batch| {
                    for (&at, &len) in batch.offsets.iter().zip(batch.lengths) {
                        let line = mapped.bytes(batch.at + at as usize, len as usize);
                        assert_eq!(line, &batch.bytes[at as usize..][..len as usize]);
                        got.push(line.to_vec());
                    }
                    Ok(())
                })
                .unwrap();
            assert_eq!(got, expect, "{name}, split {} of {split_bytes} bytes", split.number);
        }
        setup.inputs.iter().for_each(|file| RealFiles.remove_file(&file.path).unwrap());
    }

    #[test]
    fn finds_the_lines_of_the_reader() {
        let long = [b"a".repeat(2000), b"\nb\n".to_vec(), b"c".repeat(5000)].concat();
        let mut random = crate::env::random::Random::new(7);
        let noise: Vec<u8> = (0..6000).map(|_| b"ab\n\r\r\n\xef\xbb\xbf x"[random.below(11) as usize]).collect();
        let cases: [&[&[u8]]; 7] = [
            &[b"one\ntwo\r\nthree\rfour"],
            &[b"\n\n\r\n\r\r\n", b"", b"x"],
            &[b"\xef\xbb\xbfmark\nline\n", b"\xef\xbb", b"\xef\xbb\xbf"],
            &[&long],
            &[b"no end at all"],
            &[&noise, &noise[1..], b"\r"],
            &[b"\r\n", b"\r\n\n"],
        ];
        for (i, case) in cases.iter().enumerate() {
            for split_bytes in [1, 2, 3, 5, 64, 1000, 100_000] {
                check(&format!("any-{i}"), case, LineEnd::Any, split_bytes);
                check(&format!("lf-{i}"), case, LineEnd::Lf, split_bytes);
            }
        }
    }
}
