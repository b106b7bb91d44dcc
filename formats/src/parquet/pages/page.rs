//! A data page that is being read: its nulls, and its values or codes.

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::Page;

use super::delta;
use super::form::Form;
use super::hybrid::Hybrid;
use super::plain::Texts;

/// A data page.
pub struct OpenPage {
    pub rows_left: usize,
    /// True for each row that is null; None if there is none.
    nulls: Option<Vec<bool>>,
    /// Rows that were read.
    row: usize,
    /// Values that were read.
    pub value: usize,
    pub values: Values,
    /// The page.
    bytes: Bytes,
}

/// Values of a page, without nulls.
pub enum Values {
    Codes(Hybrid),
    /// In the encoding PLAIN, with places for those of any length.
    Stored(Bytes, Option<Texts>),
}

impl OpenPage {
    /// Opens a data page; fails with what is wrong with it.
    pub fn of(page: Page, form: Form, has_levels: bool) -> Result<OpenPage, String> {
        let (rows, bytes) = (page.num_values() as usize, page.buffer().clone());
        let (nulls, encoding, stored) = match page {
            Page::DataPage { buf, encoding, def_level_encoding, .. } => {
                let (nulls, levels) = match (has_levels, def_level_encoding) {
                    (false, _) => (None, 0),
                    (true, Encoding::RLE) => {
                        let len = length(&buf)?;
                        let levels = slice(&buf, 4, len)?;
                        (nulls(levels, rows)?, 4 + len)
                    }
                    (true, _) => {
                        let len = rows.div_ceil(8);
                        let levels = slice(&buf, 0, len)?;
                        (Some((0..rows).map(|row| levels[row / 8] << (row % 8) & 0x80 == 0).collect()), len)
                    }
                };
                (nulls, encoding, buf.slice(levels..))
            }
            Page::DataPageV2 { buf, encoding, def_levels_byte_len, rep_levels_byte_len, num_nulls, .. } => {
                let (before, len) = (rep_levels_byte_len as usize, def_levels_byte_len as usize);
                let levels = slice(&buf, before, len)?;
                let nulls = if has_levels && num_nulls > 0 { nulls(levels, rows)? } else { None };
                (nulls, encoding, buf.slice(before + len..))
            }
            Page::DictionaryPage { .. } => return Err("a dictionary stands behind data".into()),
        };
        let nulls: Option<Vec<bool>> = nulls.filter(|nulls| nulls.contains(&true));
        let count = rows - nulls.as_ref().map_or(0, |nulls| nulls.iter().filter(|null| **null).count());
        let values = match encoding {
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
                let width = stored.first().copied().unwrap_or(0);
                let codes = Hybrid::new(stored.slice(stored.len().min(1)..), width.into());
                Values::Codes(codes.ok_or("codes have more than 32 bits")?)
            }
            _ => {
                let plain = match (encoding, form) {
                    (Encoding::PLAIN, Form::Bool) => bits(&stored, count).ok_or_else(too_short)?,
                    (Encoding::RLE, Form::Bool) => {
                        let len = length(&stored)?;
                        runs(slice(&stored, 4, len)?, count).ok_or_else(too_short)?
                    }
                    (Encoding::PLAIN, _) => stored,
                    (other, form) => delta::to_plain(other, form, &stored, count)?,
                };
                let texts = match form.stored_bytes() {
                    Some(bytes) if plain.len() / bytes < count => return Err(too_short()),
                    Some(_) => None,
                    None => Some(Texts::find(&plain, count).ok_or_else(too_short)?),
                };
                Values::Stored(plain, texts)
            }
        };
        Ok(OpenPage { rows_left: rows, nulls, row: 0, value: 0, values, bytes })
    }

    /// Returns the bytes of the page.
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// Returns the nulls of the next rows; None if there is none in the page.
    pub fn nulls(&self, rows: usize) -> Option<&[bool]> {
        self.nulls.as_ref().map(|nulls| &nulls[self.row..self.row + rows])
    }

    /// Returns the number of values of the next rows.
    pub fn values_in(&self, rows: usize) -> usize {
        self.nulls(rows).map_or(rows, |nulls| nulls.iter().filter(|null| !**null).count())
    }

    /// Counts rows as read. `values`: how many of them are no nulls.
    pub fn advance(&mut self, rows: usize, values: usize) {
        self.row += rows;
        self.rows_left -= rows;
        self.value += values;
    }

    /// Passes over rows. Fails if there are fewer codes.
    pub fn skip(&mut self, rows: usize) -> Result<(), String> {
        let values = self.values_in(rows);
        if let Values::Codes(codes) = &mut self.values {
            codes.skip(values).ok_or_else(too_short)?;
        }
        self.advance(rows, values);
        Ok(())
    }
}

pub fn too_short() -> String {
    "a page has fewer values than it says".into()
}

fn slice(bytes: &Bytes, from: usize, len: usize) -> Result<Bytes, String> {
    match from.checked_add(len) {
        Some(to) if to <= bytes.len() => Ok(bytes.slice(from..to)),
        _ => Err(too_short()),
    }
}

/// Returns the length in the first four bytes.
fn length(bytes: &[u8]) -> Result<usize, String> {
    bytes.first_chunk().map(|len| u32::from_le_bytes(*len) as usize).ok_or_else(too_short)
}

/// Returns the nulls in levels of one bit; None if there is surely none.
fn nulls(levels: Bytes, rows: usize) -> Result<Option<Vec<bool>>, String> {
    let mut levels = Hybrid::new(levels, 1).ok_or_else(too_short)?;
    if levels.is_all_ones(rows) {
        return Ok(None);
    }
    each(&mut levels, rows, |level| level == 0).map(Some).ok_or_else(too_short)
}

/// Returns `of` for each of the next values; None if there are fewer.
fn each<T>(runs: &mut Hybrid, n: usize, of: impl Fn(u32) -> T) -> Option<Vec<T>> {
    let mut all = Vec::new();
    let mut some = [0; 1024];
    while all.len() < n {
        let m = some.len().min(n - all.len());
        runs.read(&mut some[..m])?;
        all.extend(some[..m].iter().map(|value| of(*value)));
    }
    Some(all)
}

/// Returns a byte for each bit, the lowest bit first.
fn bits(stored: &[u8], n: usize) -> Option<Bytes> {
    (stored.len() >= n.div_ceil(8)).then(|| (0..n).map(|at| stored[at / 8] >> (at % 8) & 1).collect())
}

/// Returns a byte for each value of one bit.
fn runs(stored: Bytes, n: usize) -> Option<Bytes> {
    each(&mut Hybrid::new(stored, 1)?, n, |value| u8::from(value != 0)).map(Bytes::from)
}
