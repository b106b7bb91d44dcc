//! A table that is open: header, schema and dictionaries are checked, every other block when it is first used.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use yunti_base::{Code, Error, Result};

use super::checked::Checked;
use super::direct::Direct;
use super::key_shape::KeyShape;
use super::mapping::{Mapping, Options};
use crate::format::header::{self, Header, Place};
use crate::format::row::Layout;
use crate::format::schema::{Column, Kind, Schema};
use crate::index::keys;

/// A table, open for lookups from any number of threads.
pub struct Table {
    pub(super) header: Header,
    pub(super) direct: Direct,
    pub(super) schema: Schema,
    pub(super) layout: Layout,
    pub(super) key: KeyShape,
    /// Where all bytes end that have sums.
    sums_begin: usize,
    pub(super) checked: Checked,
    /// Dictionaries by column: ends and texts.
    dictionaries: Vec<Option<(Place, Place)>>,
    path: PathBuf,
    file: (u64, u64),
    options: Options,
}

/// Returns what tells a file from the one that replaces it.
fn identity(of: &Metadata) -> (u64, u64) {
    (of.dev(), of.ino())
}

impl Table {
    pub fn open(path: &Path) -> Result<Table> {
        Table::open_with(path, Options::default())
    }

    pub fn open_with(path: &Path, options: Options) -> Result<Table> {
        let failed =
            |e: std::io::Error| Error::io(Code::Input, "cannot open the table", &e).at_path(path.to_string_lossy());
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(Error::new(Code::Input, "this is no table, and no file").at_path(path.to_string_lossy()));
        }
        let length = metadata.len();
        let at_path = |e: Error| e.at_path(path.to_string_lossy());
        let bytes = Mapping::of(&file, usize::try_from(length).unwrap_or(usize::MAX), options).map_err(failed)?;
        let header = Header::decode(&bytes[..bytes.len().min(header::BYTES)], length).map_err(at_path)?;
        let of = &header.sections;
        let lookups = [of.pilots.begin..of.pilots.end(), of.groups.begin..of.rows.end()];
        let checked = Checked::of(of.sums.begin, options.is_trusted, lookups);
        if !options.is_trusted {
            let (begin, length) = (of.schema.begin as usize, of.schema.bytes as usize);
            let all = before_sums(&bytes, &header);
            checked.check(all, section(&bytes, of.sums), begin, length).map_err(at_path)?;
        }
        let schema = Schema::decode(section(&bytes, of.schema)).map_err(at_path)?;
        let mut table = Table {
            layout: Layout::of(&schema.columns),
            key: KeyShape::Columns,
            direct: Direct::of(bytes, &header).ok_or_else(contradiction).map_err(at_path)?,
            dictionaries: Vec::new(),
            sums_begin: header.sections.sums.begin as usize,
            path: path.to_owned(),
            file: identity(&metadata),
            header,
            schema,
            checked,
            options,
        };
        table.key = KeyShape::of(&table.schema, &table.layout);
        table.direct.choose(table.key, header.has_lists);
        if table.checked.is_done() {
            table.direct.open();
        }
        table.dictionaries = table.places_of_dictionaries().map_err(at_path)?.unwrap_or_default();
        if !table.header.fits(&table.schema) || table.dictionaries.len() != table.schema.columns.len() {
            return Err(at_path(header::other_schema()));
        }
        Ok(table)
    }

    /// Returns the table that has taken the place of this one's file, or `None` if that is the same file.
    pub fn reopen(&self) -> Result<Option<Table>> {
        match self.path.metadata() {
            Ok(now) if identity(&now) == self.file => Ok(None),
            _ => Table::open_with(&self.path, self.options).map(Some),
        }
    }

    #[inline(always)]
    pub(super) fn bytes(&self) -> &Mapping {
        self.direct.bytes()
    }

    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a number that equal files share: the hash of the header and of all checksums.
    pub fn fingerprint(&self) -> u64 {
        let header = keys::hash(&self.bytes()[..header::BYTES], keys::start(0));
        keys::hash(section(self.bytes(), self.header.sections.sums), header)
    }

    /// Returns the number of keys.
    pub fn len(&self) -> u64 {
        self.header.keys
    }

    pub fn is_empty(&self) -> bool {
        self.header.keys == 0
    }

    /// Returns bytes of the file, from an offset, whose checksums are right.
    #[inline(always)]
    pub(super) fn checked(&self, begin: usize, length: usize) -> Result<&[u8]> {
        let end = begin.wrapping_add(length);
        if begin <= end && end <= self.sums_begin && self.checked.has(begin, length) {
            return Ok(&self.bytes()[begin..end]);
        }
        self.check(begin, length)
    }

    /// Returns bytes that lookups read: of pilots, groups and rows. One flag says that all of them are right.
    #[inline(always)]
    pub(super) fn of_lookups(&self, begin: usize, length: usize) -> Result<&[u8]> {
        match self.bytes().get(begin..begin.wrapping_add(length)) {
            Some(bytes) if self.checked.is_done() => Ok(bytes),
            _ => self.checked(begin, length),
        }
    }

    #[cold]
    #[inline(never)]
    fn check(&self, begin: usize, length: usize) -> Result<&[u8]> {
        let (bytes, sums) = self.bytes().split_at(self.sums_begin);
        let found = begin.checked_add(length).and_then(|end| bytes.get(begin..end)).ok_or_else(contradiction)?;
        if !self.options.is_trusted {
            if self.options.is_random {
                self.checked.missing(begin, length).for_each(|block| self.bytes().read_ahead(block.start, block.len()));
            }
            self.checked.check(bytes, sums, begin, length)?;
            if self.checked.is_done() {
                self.direct.open();
            }
        }
        Ok(found)
    }

    /// Returns bytes of a section.
    #[inline(always)]
    pub(super) fn in_section(&self, place: Place, at: usize, length: usize) -> Result<&[u8]> {
        let is_inside = at.checked_add(length).is_some_and(|end| end as u64 <= place.bytes);
        if is_inside { self.checked(place.begin as usize + at, length) } else { Err(contradiction()) }
    }

    #[inline]
    pub(super) fn u64_in(&self, place: Place, at: usize) -> Result<u64> {
        Ok(number(self.in_section(place, at, 8)?))
    }

    /// Checks every byte by the checksums, and that each key is found in its row.
    pub fn verify(&self) -> Result<()> {
        let at_path = |e: Error| e.at_path(self.path.to_string_lossy());
        let all = before_sums(self.bytes(), &self.header);
        Checked::of(all.len() as u64, false, [0..0, 0..0])
            .check(all, section(self.bytes(), self.header.sections.sums), 0, all.len())
            .map_err(at_path)?;
        let (mut key, mut keys, mut rows) = (Vec::new(), 0, 0);
        for slot in 0..self.header.all_slots() {
            let Some(bytes) = self.used_slot(slot).map_err(at_path)? else { continue };
            for row in self.rows_in(bytes) {
                key.clear();
                row.map_err(at_path)?.key(&mut key);
                rows += 1;
                if self.slot(self.direct.hash(&key)).map_err(at_path)? != Some(slot) {
                    return Err(at_path(contradiction()));
                }
            }
            keys += 1;
        }
        if (keys, rows) != (self.header.keys, self.header.rows) {
            let what = format!("the table is damaged: {keys} of {} keys are found", self.header.keys);
            return Err(at_path(Error::new(Code::Corrupt, what)));
        }
        self.verify_order().map_err(at_path)
    }

    /// Returns the text of a number in a column's dictionary; `None` if the column has none.
    #[inline]
    pub(super) fn text(&self, column: usize, number: &[u8]) -> Result<Option<&[u8]>> {
        let Some(Some((ends, texts))) = self.dictionaries.get(column) else { return Ok(None) };
        let number: [u8; 4] = number.try_into().map_err(|_| contradiction())?;
        let at = 4 * u32::from_le_bytes(number) as usize;
        let end = self::number(self.in_section(*ends, at, 4)?) as usize;
        let begin = if at == 0 { 0 } else { self::number(self.in_section(*ends, at - 4, 4)?) as usize };
        let length = end.checked_sub(begin).ok_or_else(contradiction)?;
        self.in_section(*texts, begin, length).map(Some)
    }

    /// Returns the texts of a column's dictionary.
    pub fn dictionary(&self, column: usize) -> Result<Vec<&[u8]>> {
        let count = self.dictionaries.get(column).and_then(|one| *one).map_or(0, |(ends, _)| ends.bytes / 4);
        let one = |number: u32| Ok(self.text(column, &number.to_le_bytes())?.unwrap_or_default());
        (0..u32::try_from(count).unwrap_or(0)).map(one).collect()
    }

    /// Returns the places of the dictionaries by column; `None` if they do not fit their section.
    #[expect(clippy::type_complexity, reason = "one use")]
    fn places_of_dictionaries(&self) -> Result<Option<Vec<Option<(Place, Place)>>>> {
        let all = self.header.sections.dictionaries;
        let mut at = 0_u64;
        let mut places = Vec::new();
        for Column { kind, .. } in &self.schema.columns {
            if *kind != Kind::Dict {
                places.push(None);
                continue;
            }
            let (count, bytes) = (self.u64_in(all, at as usize)?, self.u64_in(all, at as usize + 8)?);
            let ends = Place { begin: all.begin + at + 16, bytes: count.saturating_mul(4) };
            let texts = Place { begin: ends.begin.saturating_add(ends.bytes), bytes };
            let end = texts.begin.saturating_add(bytes);
            if end > all.end() {
                return Ok(None);
            }
            at = (end - all.begin).div_ceil(8) * 8;
            places.push(Some((ends, texts)));
        }
        Ok(Some(places))
    }
}

/// The error for numbers of a table that do not fit each other.
#[cold]
pub(super) fn contradiction() -> Error {
    Error::new(Code::Corrupt, "the table is damaged: its sections contradict each other").hint("build it again")
}

#[inline]
fn section(bytes: &[u8], place: Place) -> &[u8] {
    &bytes[place.begin as usize..place.end() as usize]
}

#[inline]
fn before_sums<'a>(bytes: &'a [u8], header: &Header) -> &'a [u8] {
    &bytes[..header.sections.sums.begin as usize]
}

/// Returns a number of up to 8 bytes.
#[inline]
pub(super) fn number(bytes: &[u8]) -> u64 {
    match bytes.len() {
        2 => u64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
        4 => u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        _ => bytes.try_into().map_or(0, u64::from_le_bytes),
    }
}
