//! Text in pieces of whole records, and the threads that take them.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use yunti_base::{Code, Error, Result};

use super::super::{Feeder, Gather};

/// Bytes of a piece, about.
const PIECE: usize = 2 << 20;
/// Most bytes of a record.
const RECORD_MAX: usize = 1 << 30;

/// Whole records.
#[derive(Debug, Default)]
pub struct Chunk {
    pub text: Vec<u8>,
    /// Number of the first line.
    pub line: u64,
}

/// Pieces of a text.
pub struct Chunks<R> {
    input: R,
    /// Delimiter of CSV; without one, a record is a line.
    delimiter: Option<u8>,
    /// Text that was read, but is no whole record yet.
    rest: Vec<u8>,
    line: u64,
    is_at_end: bool,
}

impl<R: Read> Chunks<R> {
    pub fn new(input: R, delimiter: Option<u8>) -> Chunks<R> {
        Chunks { input, delimiter, rest: Vec::new(), line: 1, is_at_end: false }
    }

    pub fn next(&mut self) -> io::Result<Option<Chunk>> {
        let mut wanted = PIECE;
        let end = loop {
            if !self.is_at_end {
                let more = (wanted - self.rest.len().min(wanted)) as u64;
                self.is_at_end = (&mut self.input).take(more).read_to_end(&mut self.rest)? < more as usize;
            }
            if self.is_at_end {
                break self.rest.len();
            }
            match self.whole_records() {
                0 if self.rest.len() > RECORD_MAX => return Err(io::Error::other("a record has more than 1 GiB")),
                0 => wanted = 2 * self.rest.len(),
                end => break end,
            }
        };
        if end == 0 {
            return Ok(None);
        }
        let rest = self.rest.split_off(end);
        let text = std::mem::replace(&mut self.rest, rest);
        let line = self.line;
        self.line += memchr::memchr_iter(b'\n', &text).count() as u64;
        Ok(Some(Chunk { text, line }))
    }

    /// Returns the bytes of the whole records that were read.
    fn whole_records(&self) -> usize {
        let last_line = || memchr::memrchr(b'\n', &self.rest).map_or(0, |at| at + 1);
        match self.delimiter {
            // Without a quote, no line end is within a field.
            Some(delimiter) if memchr::memchr(b'"', &self.rest).is_some() => {
                let mut fields = Fields::new(delimiter);
                let (mut at, mut end) = (0, 0);
                while let Some(read) = fields.next(&self.rest[at..], false) {
                    at += read;
                    end = at;
                }
                end
            }
            _ => last_line(),
        }
    }
}

/// Fields of one record of CSV at a time.
pub struct Fields {
    reader: Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
    count: usize,
}

impl Fields {
    pub fn new(delimiter: u8) -> Fields {
        Fields {
            reader: ReaderBuilder::new().delimiter(delimiter).build(),
            text: vec![0; 4096],
            ends: vec![0; 64],
            count: 0,
        }
    }

    /// Reads the record that a text begins with, and returns its bytes in the text; `None` if there is no whole one.
    pub fn next(&mut self, text: &[u8], is_last: bool) -> Option<usize> {
        let (mut at, mut written, mut fields) = (0, 0, 0);
        loop {
            // Nothing at the end of the input says that the last record is whole.
            if at == text.len() && !is_last {
                return None;
            }
            let (result, read, bytes, ended) =
                self.reader.read_record(&text[at..], &mut self.text[written..], &mut self.ends[fields..]);
            at += read;
            written += bytes;
            fields += ended;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.text.resize(2 * self.text.len(), 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::Record => {
                    self.count = fields;
                    return Some(at);
                }
                ReadRecordResult::End => return None,
            }
        }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn field(&self, number: usize) -> &[u8] {
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[begin..self.ends[number]]
    }
}

/// Hands pieces to threads that add their rows. Of several errors, the one of the first line is returned.
pub fn in_parallel<R: Read>(
    first: Chunk,
    mut others: Chunks<R>,
    threads: usize,
    add: impl Fn(&Chunk, &mut Feeder<'_>) -> Result<()> + Sync,
    gather: &Gather,
) -> Result<()> {
    let threads = threads.max(1);
    let (sender, receiver) = sync_channel::<Chunk>(threads);
    let receiver = Mutex::new(receiver);
    let failure: Mutex<Option<(u64, Error)>> = Mutex::new(None);
    let fail = |line: u64, error: Error| {
        let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.as_ref().is_none_or(|(other, _)| line < *other) {
            *failure = Some((line, error));
        }
    };
    let has_failed = || failure.lock().unwrap_or_else(PoisonError::into_inner).is_some();
    let next = |receiver: &Mutex<Receiver<Chunk>>| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut feeder = gather.feeder();
                while let Ok(chunk) = next(&receiver) {
                    if let Err(e) = add(&chunk, &mut feeder) {
                        fail(chunk.line, e);
                    }
                }
                if let Err(e) = feeder.finish() {
                    fail(u64::MAX, e);
                }
            });
        }
        let mut chunk = Some(first);
        // A thread that failed goes on to take pieces, so that this send never waits for ever.
        while let Some(now) = chunk.filter(|_| !has_failed()) {
            if sender.send(now).is_err() {
                break;
            }
            chunk = others.next().unwrap_or_else(|e| {
                fail(u64::MAX, Error::io(Code::Input, "cannot read", &e));
                None
            });
        }
        drop(sender);
    });
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_records() {
        let record = |n: usize| match n % 3 {
            0 => format!("{n},\"a\nb \"\" c\",{}\r\n", "x".repeat(n % 700)),
            1 => format!("{n},5\" pipe,y\n"),
            _ => format!("{n},,\n"),
        };
        let text: String = (0..40_000).map(record).collect();
        let mut chunks = Chunks::new(text.as_bytes(), Some(b','));
        let (mut count, mut all, mut pieces) = (0, Vec::new(), 0);
        while let Some(chunk) = chunks.next().unwrap() {
            let (mut fields, mut at) = (Fields::new(b','), 0);
            while let Some(read) = fields.next(&chunk.text[at..], true) {
                assert_eq!(fields.field(0), count.to_string().as_bytes());
                assert_eq!(fields.len(), 3);
                (count, at) = (count + 1, at + read);
            }
            all.extend_from_slice(&chunk.text);
            pieces += 1;
        }
        assert_eq!((count, all == text.as_bytes()), (40_000, true));
        assert!(pieces > 2);
    }

    #[test]
    fn a_record_may_be_longer_than_a_piece() {
        let long = "z".repeat(3 * PIECE);
        let text = format!("a\n{long}\n\"{long}\n\"\nb");
        let mut chunks = Chunks::new(text.as_bytes(), Some(b','));
        let mut sizes = Vec::new();
        while let Some(chunk) = chunks.next().unwrap() {
            sizes.push((chunk.text.len(), chunk.line));
        }
        assert_eq!(sizes.iter().map(|(bytes, _)| bytes).sum::<usize>(), text.len());
        assert_eq!((sizes[0], sizes[1].1), ((2, 1), 2));
    }
}
