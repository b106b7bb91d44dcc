//! Splits: the pieces of the input that tasks read. They depend only on the input and the split size.

use std::path::PathBuf;
use std::sync::Arc;

use super::parts::part::Parts;
use crate::codec::CodecKind;
use crate::format::LineEnd;
use crate::format::csv::CsvShape;
use crate::format::json::JsonShape;
use crate::operator::{Scan, Unit};

/// Format of a file: how its bytes are cut into records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordFormat {
    Lines {
        end: LineEnd,
    },
    KeyValue {
        end: LineEnd,
        separator: u8,
    },
    Fixed {
        record_bytes: u32,
        key_bytes: u32,
    },
    Framed,
    Csv(CsvShape),
    /// JSON lines; `end` is LF.
    Json {
        end: LineEnd,
        shape: JsonShape,
    },
    /// Records that a class finds. `cut_at`: None if files must not be cut, else the bytes before a cut that the class
    /// needs.
    Class {
        cut_at: Option<u32>,
    },
    /// Records that a class reads anywhere in a file. Pieces are its units: `start` is the number of one.
    Source(Scan),
}

impl RecordFormat {
    /// Returns true if a file of compressed blocks may be cut: searching forward alone must find the first whole record
    /// after a cut.
    pub fn splittable_by_blocks(&self) -> bool {
        self.line_end().is_some_and(|end| end.splittable() && end.look_back() == 0)
    }

    /// Returns the number of bytes before a cut that a reader needs.
    pub fn look_back(&self) -> u64 {
        match self {
            RecordFormat::Class { cut_at } => u64::from(cut_at.unwrap_or(0)),
            format => format.line_end().map_or(0, |end| end.look_back() as u64),
        }
    }

    /// Returns the line end, if records are lines.
    pub fn line_end(&self) -> Option<&LineEnd> {
        match self {
            RecordFormat::Lines { end } | RecordFormat::KeyValue { end, .. } | RecordFormat::Json { end, .. } => {
                Some(end)
            }
            RecordFormat::Fixed { .. }
            | RecordFormat::Framed
            | RecordFormat::Csv(_)
            | RecordFormat::Class { .. }
            | RecordFormat::Source(_) => None,
        }
    }

    /// Returns true if records end at line ends, or have no ends of their own.
    pub fn has_lines(&self) -> bool {
        !matches!(self.line_end(), Some(LineEnd::Delimiter(_)))
    }

    /// Returns true if a byte-order mark at the start of a file is not part of the first record, as in Hadoop.
    pub fn may_begin_with_mark(&self) -> bool {
        matches!(self, RecordFormat::Lines { end: LineEnd::Any } | RecordFormat::KeyValue { end: LineEnd::Any, .. })
    }

    /// Returns true if an uncompressed file may be cut anywhere.
    pub fn splittable(&self) -> bool {
        match self {
            RecordFormat::Lines { end } | RecordFormat::KeyValue { end, .. } | RecordFormat::Json { end, .. } => {
                end.splittable()
            }
            RecordFormat::Fixed { .. } => true,
            // No position in the middle shows where a record begins.
            RecordFormat::Framed | RecordFormat::Csv(_) => false,
            // Its units are found by the class.
            RecordFormat::Source(_) => false,
            RecordFormat::Class { cut_at } => cut_at.is_some(),
        }
    }
}

/// A file of the input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputFile {
    /// Path; "-" is standard input.
    pub path: PathBuf,
    pub len: u64,
    pub codec: Option<CodecKind>,
    /// True for a pipe or a device, which is read once, from start to end.
    pub is_stream: bool,
    /// Positions at which the file may be cut although its format has none.
    pub marks: Vec<u64>,
    /// Parts that decode alone, if the plan cuts the compressed file into them.
    pub parts: Option<Arc<Parts>>,
}

impl InputFile {
    /// Returns true if the piece is some blocks or members of a compressed file, not the whole file.
    pub fn cut_by_blocks(&self, piece: &Piece) -> bool {
        (self.codec == Some(CodecKind::Bzip2) || self.parts.is_some()) && piece.end != u64::MAX
    }
}

/// A stretch [start, end) of one file, in whole records (format::text explains cuts).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Index into the job's files.
    pub file: u32,
    pub start: u64,
    /// End; `u64::MAX` means the end of the file, at any length.
    pub end: u64,
}

/// Input of one task: pieces of one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    pub number: u32,
    /// Index of the job's source.
    pub source: usize,
    pub pieces: Vec<Piece>,
    /// Stored bytes, for progress and balance.
    pub bytes: u64,
}

/// Length of the last split of a file at most, in split sizes (Hadoop's SPLIT_SLOP).
const SLOP: f64 = 1.1;

/// How small files become splits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Small files share splits; empty ones are left out.
    Shared,
    /// No split has two files, and an empty file has one, as in Hadoop.
    FileEach,
}

/// Cuts files of lines at their marks, which are starts of lines: one split each; an empty file has none.
pub fn split_at_lines(files: &[InputFile]) -> Vec<Split> {
    let mut splits: Vec<Split> = Vec::new();
    for (i, file) in files.iter().enumerate().filter(|(_, file)| file.len > 0) {
        let marks = file.marks.iter().copied();
        for (start, next) in std::iter::once(0).chain(marks.clone()).zip(marks.chain([file.len])) {
            // The boundary of a cut is behind the first line end at or after it; a start at a mark is exact.
            let end = if next == file.len { next } else { next - 1 };
            let pieces = vec![Piece { file: i as u32, start, end }];
            splits.push(Split { number: splits.len() as u32, source: 0, pieces, bytes: next - start });
        }
    }
    splits
}

/// Gathers the units of files into splits of about `split_bytes`; a split has whole units.
pub fn split_at_units(units: &[(u32, Unit)], split_bytes: u64) -> Vec<Split> {
    let mut splits: Vec<Split> = Vec::new();
    for (file, unit) in units {
        let piece = Piece { file: *file, start: unit.number, end: u64::MAX };
        match splits.last_mut() {
            Some(open) if open.bytes + unit.bytes <= split_bytes => {
                open.pieces.push(piece);
                open.bytes += unit.bytes;
            }
            _ => {
                let number = splits.len() as u32;
                splits.push(Split { number, source: 0, pieces: vec![piece], bytes: unit.bytes });
            }
        }
    }
    splits
}

/// Cuts files into splits of about `split_bytes`.
pub fn split_files(files: &[InputFile], format: &RecordFormat, split_bytes: u64, sharing: Sharing) -> Vec<Split> {
    let mut splits: Vec<Split> = Vec::new();
    let mut open: Vec<Piece> = Vec::new();
    let mut open_bytes = 0;
    let mut close = |open: &mut Vec<Piece>, bytes: &mut u64| {
        if !open.is_empty() {
            splits.push(Split { number: splits.len() as u32, source: 0, pieces: std::mem::take(open), bytes: *bytes });
            *bytes = 0;
        }
    };
    let target = match format {
        RecordFormat::Fixed { record_bytes, .. } => {
            (split_bytes / u64::from(*record_bytes)).max(1) * u64::from(*record_bytes)
        }
        _ => split_bytes,
    };
    for (i, file) in files.iter().enumerate() {
        let file_number = i as u32;
        let whole = match file.codec {
            None => !format.splittable() && file.marks.is_empty(),
            Some(CodecKind::Bzip2) => !format.splittable_by_blocks(),
            Some(_) => file.parts.is_none() || !format.splittable_by_blocks(),
        };
        if file.is_stream {
            close(&mut open, &mut open_bytes);
            open.push(Piece { file: file_number, start: 0, end: u64::MAX });
            close(&mut open, &mut open_bytes);
            continue;
        }
        // A compressed file without a byte is damaged: its reader reports that.
        if file.len == 0 && file.codec.is_none() && sharing == Sharing::Shared {
            continue;
        }
        if let (false, Some(parts)) = (whole, &file.parts) {
            close(&mut open, &mut open_bytes);
            for part in parts.all() {
                open.push(Piece { file: file_number, start: part.start, end: part.end });
                open_bytes = part.end - part.start;
                close(&mut open, &mut open_bytes);
            }
            continue;
        }
        if whole || file.len as f64 <= target as f64 * SLOP {
            if open_bytes > 0 && open_bytes + file.len > target {
                close(&mut open, &mut open_bytes);
            }
            // The stored length of a compressed file does not limit its contents.
            let end = if file.codec.is_some() { u64::MAX } else { file.len };
            open.push(Piece { file: file_number, start: 0, end });
            open_bytes += file.len;
            if open_bytes >= target || sharing == Sharing::FileEach {
                close(&mut open, &mut open_bytes);
            }
            continue;
        }
        close(&mut open, &mut open_bytes);
        let mut start = 0;
        while start < file.len {
            let rest = file.len - start;
            let bytes = match file.marks.get(file.marks.partition_point(|&mark| mark < start + target)) {
                _ if rest as f64 <= target as f64 * SLOP => rest,
                Some(mark) => mark - start,
                None if file.marks.is_empty() => target,
                None => rest,
            };
            open.push(Piece { file: file_number, start, end: start + bytes });
            open_bytes = bytes;
            close(&mut open, &mut open_bytes);
            start += bytes;
        }
    }
    close(&mut open, &mut open_bytes);
    splits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_divide_files() {
        let file =
            |len, marks: &[u64]| InputFile { path: "f".into(), len, marks: marks.to_vec(), ..InputFile::default() };
        let splits = split_at_lines(&[file(10, &[1, 4]), file(0, &[]), file(5, &[])]);
        let pieces: Vec<_> = splits.iter().map(|s| (s.number, s.pieces[0].file, s.pieces[0].start, s.bytes)).collect();
        assert_eq!(pieces, [(0, 0, 0, 1), (1, 0, 1, 3), (2, 0, 4, 6), (3, 2, 0, 5)]);
    }

    #[test]
    fn large_files_are_cut_and_small_ones_share() {
        let file = |len, codec| InputFile { path: "f".into(), len, codec, ..InputFile::default() };
        let files = [file(105, None), file(250, None), file(0, None), file(30, None), file(30, None), file(50, None)];
        let lines = RecordFormat::Lines { end: LineEnd::Any };
        let cut: Vec<Vec<(u32, u64, u64)>> = split_files(&files, &lines, 100, Sharing::Shared)
            .iter()
            .map(|s| s.pieces.iter().map(|p| (p.file, p.start, p.end)).collect())
            .collect();
        assert_eq!(
            cut,
            [
                vec![(0, 0, 105)],
                vec![(1, 0, 100)],
                vec![(1, 100, 200)],
                vec![(1, 200, 250)],
                vec![(3, 0, 30), (4, 0, 30)],
                vec![(5, 0, 50)]
            ]
        );
        let each = split_files(&files[2..5], &lines, 100, Sharing::FileEach);
        assert_eq!(
            each.iter().map(|s| (s.number, s.pieces[0].file, s.bytes)).collect::<Vec<_>>(),
            [(0, 0, 0), (1, 1, 30), (2, 2, 30)]
        );
        let fixed = RecordFormat::Fixed { record_bytes: 30, key_bytes: 3 };
        // bzip2 is cut if lines are found by searching forward; other compressed files are not cut.
        let bzip2 =
            [file(250, Some(CodecKind::Bzip2)), file(100, Some(CodecKind::Bzip2)), file(250, Some(CodecKind::Gzip))];
        let pieces = |format: &RecordFormat| -> Vec<(u64, u64)> {
            split_files(&bzip2, format, 100, Sharing::Shared)
                .iter()
                .flat_map(|s| &s.pieces)
                .map(|p| (p.start, p.end))
                .collect()
        };
        let max = u64::MAX;
        assert_eq!(pieces(&lines), [(0, 100), (100, 200), (200, 250), (0, max), (0, max)]);
        assert_eq!(pieces(&fixed), [(0, max), (0, max), (0, max)]);
        let two = RecordFormat::Lines { end: LineEnd::Delimiter(b"||".to_vec()) };
        assert_eq!(pieces(&two), [(0, max), (0, max), (0, max)]);
        assert!(split_files(&files[1..2], &fixed, 100, Sharing::Shared).iter().all(|s| s.pieces[0].start % 30 == 0));
    }
}
