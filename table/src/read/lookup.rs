//! Lookups: key -> hash -> slot -> row.

use yunti_base::Result;

use super::direct::Way;
use super::key_shape::KeyShape;
use super::rows::{Row, Rows};
use super::table::{Table, contradiction};
use crate::format::group::{self, GROUP};
use crate::format::row::read_number;
use crate::index::keys;

/// Keys that are looked up together: each step asks for the cache lines of the next one, for all of them.
const BATCH: usize = 64;

/// Returns a key of 8 bytes.
#[inline(always)]
fn eight(key: &[u8]) -> Option<&[u8; 8]> {
    key.try_into().ok()
}

impl Table {
    /// Looks up the first row of a key by its bytes: [`keys::encode`].
    ///
    /// The fewer instructions a lookup has, the more of the caller's next ones begin while this one waits for memory:
    /// most tables have a path of their own, once all checksums were found right.
    #[inline(always)]
    pub fn get(&self, key: &[u8]) -> Result<Option<Row<'_>>> {
        match self.direct.way() {
            Way::Eight(rows) => {
                let Some(key) = eight(key) else { return Ok(None) };
                Ok(rows.row(key).map(|row| Row::of(self, row)))
            }
            Way::Text(slots) => match slots.slot(self.direct.hash(key)) {
                Some(row) if self.has_text(row, key) => Ok(Some(Row::of(self, row))),
                Some(_) => Ok(None),
                None => Err(contradiction()),
            },
            Way::None => self.get_any(key),
        }
    }

    /// Returns true if a row that ends with its key has this one.
    #[inline(always)]
    fn has_text(&self, row: &[u8], key: &[u8]) -> bool {
        let KeyShape::OnlyText(at) = self.key else { return false };
        match row.get(at..) {
            // The length of a short text has one byte.
            Some([length, text @ ..]) if *length < 0x80 => is_same(text, key),
            Some(mut rest) => read_number(&mut rest) == Some(key.len()) && rest == key,
            None => false,
        }
    }

    fn get_any(&self, key: &[u8]) -> Result<Option<Row<'_>>> {
        match self.slot(self.direct.hash(key))? {
            Some(slot) => self.first_row(self.slot_bytes(slot)?, key),
            None => Ok(None),
        }
    }

    /// Looks up all rows of a key.
    pub fn get_all(&self, key: &[u8]) -> Result<Rows<'_>> {
        let Some(slot) = self.slot(self.direct.hash(key))? else { return Ok(self.rows_in(&[])) };
        let bytes = self.slot_bytes(slot)?;
        Ok(self.rows_in(if self.first_row(bytes, key)?.is_some() { bytes } else { &[] }))
    }

    /// Looks up many keys, and calls `found` with the number of each and its first row. The reads from memory of
    /// several keys overlap, which takes less than half of the time of single lookups.
    pub fn get_batch<K: AsRef<[u8]>>(&self, keys: &[K], mut found: impl FnMut(usize, Option<Row<'_>>)) -> Result<()> {
        self.each_found(keys, |at, found_in| found(at, found_in.map(|(row, _)| row)))
    }

    /// Looks up many keys, as [`Table::get_batch`] does, and calls `found` with the number of each and all its rows.
    pub fn get_all_batch<'a, K: AsRef<[u8]>>(
        &'a self,
        keys: &[K],
        mut found: impl FnMut(usize, Rows<'a>),
    ) -> Result<()> {
        self.each_found(keys, |at, found_in| found(at, self.rows_in(found_in.map_or(&[], |(_, bytes)| bytes))))
    }

    /// Calls `found` with the number of each key, its first row, and the bytes of all its rows.
    #[inline(always)]
    fn each_found<'a, K: AsRef<[u8]>>(
        &'a self,
        keys: &[K],
        mut found: impl FnMut(usize, Option<(Row<'a>, &'a [u8])>),
    ) -> Result<()> {
        let of = &self.header.sections;
        let mut hashes = [0_u64; BATCH];
        let mut slots = [0_u64; BATCH];
        let mut ranges = [(0_usize, 0_usize); BATCH];
        for (chunk, keys) in keys.chunks(BATCH).enumerate() {
            if self.header.parts == 0 {
                keys.iter().enumerate().for_each(|(at, _)| found(chunk * BATCH + at, None));
                continue;
            }
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = self.direct.hash(key.as_ref());
                self.bytes().prefetch(of.pilots.begin as usize + self.direct.sizes().bucket(*hash) as usize);
            }
            for (slot, hash) in slots.iter_mut().zip(&hashes).take(keys.len()) {
                *slot = self.slot(*hash)?.unwrap_or(0);
                let (at, length) = if self.header.row_bytes > 0 {
                    let width = self.header.row_bytes as usize;
                    (of.rows.begin as usize + *slot as usize * width, width)
                } else {
                    (self.group_at(*slot), self.header.group_bytes() as usize)
                };
                self.bytes().prefetch(at);
                self.bytes().prefetch(at + length - 1);
            }
            if self.header.row_bytes == 0 {
                for (range, slot) in ranges.iter_mut().zip(&slots).take(keys.len()) {
                    *range = self.range_of_slot(*slot)?;
                    let row = of.rows.begin as usize + range.0;
                    self.bytes().prefetch(row);
                    // Most rows have two cache lines at most.
                    self.bytes().prefetch(row + range.1.saturating_sub(1));
                }
            }
            for (at, key) in keys.iter().enumerate() {
                let bytes = match self.header.row_bytes {
                    0 => self.of_rows(ranges[at].0, ranges[at].1)?,
                    _ => self.slot_bytes(slots[at])?,
                };
                let row = self.first_row(bytes, key.as_ref())?;
                found(chunk * BATCH + at, row.map(|row| (row, bytes)));
            }
        }
        Ok(())
    }

    /// Returns the slot of a hash; `None` in an empty table.
    #[inline(always)]
    pub(super) fn slot(&self, hash: u64) -> Result<Option<u64>> {
        if self.direct.sizes().all_buckets == 0 {
            return Ok(None);
        }
        // A bucket is always one of the section.
        let bucket = self.direct.sizes().bucket(hash);
        let pilot = self.of_lookups(self.header.sections.pilots.begin as usize + bucket as usize, 1)?[0];
        Ok(Some(self.direct.sizes().slot(hash, bucket, pilot)))
    }

    /// Returns the bytes of a slot; none if rows have different lengths, and it has no row.
    #[inline(always)]
    pub(crate) fn slot_bytes(&self, slot: u64) -> Result<&[u8]> {
        if self.header.row_bytes > 0 {
            let width = self.header.row_bytes as usize;
            return self.of_lookups(self.header.sections.rows.begin as usize + slot as usize * width, width);
        }
        let (begin, length) = self.range_of_slot(slot)?;
        self.of_rows(begin, length)
    }

    /// Returns bytes of the section of rows.
    #[inline(always)]
    fn of_rows(&self, begin: usize, length: usize) -> Result<&[u8]> {
        let rows = self.header.sections.rows;
        match begin.checked_add(length) {
            Some(end) if end as u64 <= rows.bytes => self.of_lookups(rows.begin as usize + begin, length),
            _ => Err(contradiction()),
        }
    }

    /// Returns where the group of a slot is, if rows have different lengths.
    #[inline(always)]
    fn group_at(&self, slot: u64) -> usize {
        self.header.sections.groups.begin as usize + ((slot / GROUP) * self.header.group_bytes()) as usize
    }

    /// Returns begin and length of a slot's bytes in the section of rows, if these have different lengths.
    #[inline(always)]
    fn range_of_slot(&self, slot: u64) -> Result<(usize, usize)> {
        let group = self.of_lookups(self.group_at(slot), self.header.group_bytes() as usize)?;
        let range = match group.try_into() {
            Ok(short) => group::in_short(short, slot),
            Err(_) => group.first_chunk().and_then(|long| group::in_long(long, slot)),
        };
        let range = range.ok_or_else(contradiction)?;
        Ok((range.start as usize, (range.end - range.start) as usize))
    }

    /// Returns the first row of a slot if it has this key.
    #[inline(always)]
    fn first_row<'a>(&'a self, bytes: &'a [u8], key: &[u8]) -> Result<Option<Row<'a>>> {
        let row = if self.header.has_lists {
            let Some(row) = self.rows_in(bytes).next().transpose()? else { return Ok(None) };
            row
        } else if bytes.is_empty() {
            return Ok(None);
        } else {
            Row::of(self, bytes)
        };
        let has_key = match self.key {
            // As numbers: a comparison of slices is a call.
            KeyShape::Eight(offset) => match (row.bytes().get(offset..), eight(key)) {
                (Some(own), Some(key)) => own.first_chunk::<8>().is_some_and(|own| own == key),
                _ => false,
            },
            KeyShape::OnlyText(_) => self.has_text(row.bytes(), key),
            KeyShape::Text(column) => self.layout.value(row.bytes(), column)? == Some(key),
            KeyShape::Columns => keys::matches(&self.schema, row.key_values(), key),
        };
        Ok(has_key.then_some(row))
    }
}

/// Returns true if two texts are the same. Words of texts that are not long are compared here: a comparison of slices
/// is a call.
#[inline(always)]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let words = |of: &[u8]| Some((u64::from_le_bytes(*of.first_chunk()?), u64::from_le_bytes(*of.last_chunk()?)));
    match (words(one), words(other)) {
        (Some(own), Some(others)) if one.len() <= 16 => own == others,
        _ => one == other,
    }
}
