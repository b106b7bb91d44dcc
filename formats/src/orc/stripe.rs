//! A stripe: its footer, and the streams of the columns that a job wants.
//!
//! ```text
//!   index streams | data streams, in the order of the footer | footer
//! ```
//!
//! The beginnings of the wanted streams are read when a stripe is opened, near ones at once. The rest of a stream is
//! read a window at a time, so that a stripe of any size needs little memory.

use bytes::Bytes;
use yunti_api::Result;

use super::failure::damaged;
use super::proto::Fields;
use super::store::{Codec, RATIO_MAX, Stored, Stream, Unpacker};
use super::tail::{StripePlace, Tail, section};
use crate::file::input::Input;

/// Bytes of the windows of all streams, about.
const WINDOWS_BYTES: u64 = 8 << 20;
/// Bytes of a window, at least and at most.
const WINDOW_BYTES: (u64, u64) = (64 << 10, 1 << 20);
/// Bytes between two wanted streams that are read and dropped rather than skipped.
const GAP_BYTES: u64 = 64 << 10;
/// Bytes of one read of several streams, at most.
const READ_BYTES_MAX: u64 = 4 << 20;
/// Memory of a parsed stream or encoding of a footer.
const PARSED_BYTES: u64 = 64;

/// Kinds of streams that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    Present = 0,
    Data = 1,
    Length = 2,
    DictionaryData = 3,
    Secondary = 5,
}

/// Encoding of a column in a stripe.
#[derive(Clone, Copy, Debug, Default)]
pub struct Encoding {
    pub is_version_2: bool,
    /// Values of the dictionary, if the column has one.
    pub dictionary: Option<u32>,
}

impl Encoding {
    /// Returns the name in the specification.
    pub fn name(self) -> &'static str {
        match (self.dictionary.is_some(), self.is_version_2) {
            (false, false) => "DIRECT",
            (false, true) => "DIRECT_V2",
            (true, false) => "DICTIONARY",
            (true, true) => "DICTIONARY_V2",
        }
    }
}

/// A stream of the stripe.
#[derive(Clone, Debug)]
struct Place {
    kind: u64,
    column: u32,
    at: u64,
    bytes: u64,
    /// Its first bytes, if they were read.
    fetched: Bytes,
}

/// A stripe.
pub struct Stripe {
    file: Input,
    unpacker: Unpacker,
    places: Vec<Place>,
    encodings: Vec<Encoding>,
    zone: String,
    window: u64,
    /// Memory of the footer and of open streams.
    pub memory: u64,
}

impl Stripe {
    /// Reads the footer of a stripe. `tail.memory` is what the file holds besides.
    pub fn load(file: &Input, tail: &Tail, place: &StripePlace) -> Result<Stripe> {
        let at = place.offset + place.index_bytes + place.data_bytes;
        let footer = section(file, at, at + place.footer_bytes, Bytes::new(), &tail.unpacker, tail.memory)?;
        let parts = Fields::of(&footer).filter(|field| matches!(field, Ok((1 | 2, _)))).count();
        let memory = PARSED_BYTES * parts as u64;
        file.hold(tail.memory + memory + footer.len() as u64)?;
        let (mut places, mut encodings, mut zone) = (Vec::new(), Vec::new(), String::new());
        let mut next = place.offset;
        for field in Fields::of(&footer) {
            let (number, value) = field?;
            match number {
                1 => {
                    let mut stream = Place { kind: 0, column: 0, at: next, bytes: 0, fetched: Bytes::new() };
                    for field in Fields::of(value.bytes()) {
                        let (number, value) = field?;
                        match number {
                            1 => stream.kind = value.number(),
                            2 => stream.column = u32::try_from(value.number()).unwrap_or(u32::MAX),
                            3 => stream.bytes = value.number(),
                            _ => {}
                        }
                    }
                    let end = next.checked_add(stream.bytes).filter(|&end| end <= at);
                    next = end.ok_or_else(|| damaged("a stream lies outside of its stripe"))?;
                    places.push(stream);
                }
                2 => encodings.push(encoding(value.bytes())?),
                3 => zone = value.text(),
                _ => {}
            }
        }
        Ok(Stripe { file: file.clone(), unpacker: tail.unpacker.clone(), places, encodings, zone, window: 0, memory })
    }

    /// Returns the stored bytes of columns, whose numbers are sorted.
    pub fn stored_bytes(&self, columns: &[u32]) -> u64 {
        self.wanted(columns).map(|number| self.places[number].bytes).sum()
    }

    /// Reads the first bytes of the streams of columns, and takes the memory that reading all of them needs.
    pub fn fetch(&mut self, columns: &[u32], held: u64) -> Result<()> {
        let mut wanted: Vec<usize> = self.wanted(columns).collect();
        wanted.sort_by_key(|&number| self.places[number].at);
        self.window = (WINDOWS_BYTES / wanted.len().max(1) as u64).clamp(WINDOW_BYTES.0, WINDOW_BYTES.1);
        let block = self.unpacker.block_max as u64;
        for &number in &wanted {
            let stored = self.places[number].bytes;
            let plain = match self.unpacker.codec {
                Codec::None => stored.min(self.window),
                Codec::Zstd => {
                    if stored == 0 {
                        0
                    } else {
                        block
                    }
                }
                _ => block.min(stored.saturating_mul(RATIO_MAX as u64)),
            };
            self.memory += stored.min(2 * self.window + block) + plain;
        }
        // Gaps that are read with their neighbours.
        self.file.hold(held + self.memory + GAP_BYTES * wanted.len() as u64)?;
        self.memory += GAP_BYTES * wanted.len() as u64;
        let mut begin = 0;
        while begin < wanted.len() {
            let first = &self.places[wanted[begin]];
            let (start, mut end) = (first.at, first.at + first.bytes.min(self.window));
            let mut n = 1;
            // A stream whose end is not read has nothing near behind it.
            let mut is_whole = first.bytes <= self.window;
            while let Some(next) = wanted.get(begin + n).map(|&number| &self.places[number]) {
                let next_end = next.at + next.bytes.min(self.window);
                if !is_whole || next.at > end + GAP_BYTES || next_end - start > READ_BYTES_MAX {
                    break;
                }
                end = end.max(next_end);
                is_whole = next.bytes <= self.window;
                n += 1;
            }
            let mut bytes = vec![0; (end - start) as usize];
            self.file.read_at(&mut bytes, start)?;
            let bytes = Bytes::from(bytes);
            for &number in &wanted[begin..begin + n] {
                let place = &mut self.places[number];
                let at = (place.at - start) as usize;
                place.fetched = bytes.slice(at..at + place.bytes.min(self.window) as usize);
            }
            begin += n;
        }
        Ok(())
    }

    /// Returns the numbers of the streams that columns are read from.
    fn wanted<'a>(&'a self, columns: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
        let is_read = |place: &Place| matches!(place.kind, 0..=3 | 5) && columns.binary_search(&place.column).is_ok();
        self.places.iter().enumerate().filter(move |(_, place)| is_read(place)).map(|(number, _)| number)
    }

    /// Returns true if a column has a stream.
    pub fn has(&self, column: u32, kind: StreamKind) -> bool {
        self.places.iter().any(|place| place.column == column && place.kind == kind as u64)
    }

    /// Returns a stream of a column; one without a byte if the column has none.
    pub fn stream(&mut self, column: u32, kind: StreamKind) -> Stream {
        let place = self.places.iter_mut().find(|place| place.column == column && place.kind == kind as u64);
        let stored = place.map(|place| {
            let fetched = std::mem::take(&mut place.fetched);
            Stored::new(&self.file, place.at, place.at + place.bytes, fetched, self.window as usize)
        });
        Stream::new(stored, &self.unpacker)
    }

    /// Returns the encoding of a column.
    pub fn encoding(&self, column: u32) -> Result<Encoding> {
        let missing = || damaged(format!("column {column} has no encoding"));
        self.encodings.get(column as usize).copied().ok_or_else(missing)
    }

    /// Returns the time zone of the writer; empty if the stripe has none.
    pub fn zone(&self) -> &str {
        &self.zone
    }
}

fn encoding(message: &[u8]) -> Result<Encoding> {
    let (mut kind, mut values) = (0, 0);
    for field in Fields::of(message) {
        let (number, value) = field?;
        match number {
            1 => kind = value.number(),
            2 => values = value.number(),
            _ => {}
        }
    }
    let values = u32::try_from(values).map_err(|_| damaged("a dictionary is too large"))?;
    match kind {
        0 | 2 => Ok(Encoding { is_version_2: kind == 2, dictionary: None }),
        1 | 3 => Ok(Encoding { is_version_2: kind == 3, dictionary: Some(values) }),
        n => Err(super::failure::unsupported(format!("a column has the encoding {n}, which is not known"))),
    }
}
