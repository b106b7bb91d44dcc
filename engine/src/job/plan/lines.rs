//! Splits of N lines each, as Hadoop's NLineInputFormat makes them: the plan reads all files to find the lines.

use crate::env::{Files, NamedFile};
use crate::format::LineEnd;
use crate::job::spec::JobSpec;
use crate::read::split::{InputFile, RecordFormat};
use yunti_base::{Code, Error, Result};

/// Setting: lines of a split.
const SPLIT_LINES: &str = "split.lines";
/// Bytes read at once.
const READ_BYTES: usize = if cfg!(debug_assertions) { 7 } else { 1 << 20 };

/// Returns the lines of a split, if the job sets them. Errors: `Usage` for another value than a whole number from 1.
pub fn lines_of_split(spec: &JobSpec) -> Result<Option<u64>> {
    let Some(text) = spec.settings.get(SPLIT_LINES) else { return Ok(None) };
    let lines = text.trim().parse::<u64>().ok().filter(|&n| n > 0);
    let wrong = || Error::new(Code::Usage, format!("{SPLIT_LINES}: '{text}' is not a whole number from 1"));
    lines.map(Some).ok_or_else(wrong)
}

/// Marks each file after every `lines` lines.
///
/// Errors: `Usage` for records that are no lines, and for files that cannot be cut; `Input` for a failed read.
pub fn mark(files: &dyn Files, all: &mut [InputFile], format: &RecordFormat, lines: u64) -> Result<()> {
    if format.line_end() != Some(&LineEnd::Any) {
        let error = Error::new(Code::Usage, format!("{SPLIT_LINES}: the records of this format are no lines"));
        return Err(error.hint("use the format text or kv, without a delimiter of its own"));
    }
    for file in all {
        let place = file.path.to_string_lossy().into_owned();
        if file.is_stream || file.codec.is_some() {
            let error = Error::new(Code::Usage, format!("{SPLIT_LINES}: this input cannot be cut at lines"));
            return Err(error.at_path(place).hint("name plain files, not compressed ones and no pipes"));
        }
        let opened = NamedFile::open(files, &file.path, Code::Input)?;
        file.marks = marks(&opened, file.len, lines)?;
    }
    Ok(())
}

fn marks(file: &NamedFile, len: u64, lines: u64) -> Result<Vec<u64>> {
    let (mut marks, mut counter) = (Vec::new(), LineCounter::default());
    let (mut buffer, mut at) = (vec![0; READ_BYTES.min(len.max(1) as usize)], 0);
    while at < len {
        let room = buffer.len().min((len - at) as usize);
        let n = file.read_up_to(&mut buffer[..room], at)?;
        if n == 0 {
            // The reader reports a file that was cut.
            break;
        }
        counter.starts(&buffer[..n], |start, number| {
            if number % lines == 0 && at + start < len {
                marks.push(at + start);
            }
        });
        at += n as u64;
    }
    Ok(marks)
}

/// Finds the starts of lines, over several buffers. A line ends with LF, CR LF or CR.
#[derive(Default)]
struct LineCounter {
    /// Number of the line that goes on.
    number: u64,
    /// True if the last byte was a CR, whose line may end with an LF.
    after_return: bool,
}

impl LineCounter {
    /// Calls `found` with the offset and the number of each line after the first that starts in these bytes. The start
    /// behind the last byte counts if it is known.
    fn starts(&mut self, bytes: &[u8], mut found: impl FnMut(u64, u64)) {
        let mut from = 0;
        if std::mem::take(&mut self.after_return) && !bytes.is_empty() {
            from = usize::from(bytes[0] == b'\n');
            self.number += 1;
            found(from as u64, self.number);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', &bytes[from..]).map(|n| from + n) {
            from = end + 1;
            if bytes[end] == b'\r' {
                match bytes.get(from) {
                    None => {
                        self.after_return = true;
                        return;
                    }
                    Some(b'\n') => from += 1,
                    Some(_) => {}
                }
            }
            self.number += 1;
            found(from as u64, self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the starts of lines but the first, for buffers of any length.
    fn check(text: &str, expect: &[u64]) {
        for size in 1..=text.len().max(1) {
            let (mut counter, mut found, mut at) = (LineCounter::default(), Vec::new(), 0);
            for part in text.as_bytes().chunks(size) {
                counter.starts(part, |start, number| {
                    found.push(at + start);
                    assert_eq!(number, found.len() as u64);
                });
                at += part.len() as u64;
            }
            found.retain(|&start| start < text.len() as u64);
            assert_eq!(found, expect, "{text:?} by {size}");
        }
    }

    #[test]
    fn lines_start_behind_each_kind_of_end() {
        check("", &[]);
        check("a", &[]);
        check("a\n", &[]);
        check("a\nb\n\nc", &[2, 4, 5]);
        check("a\r\nb\rc\n\rd\r", &[3, 5, 7, 8]);
        check("\r\n\r\n", &[2]);
    }
}
