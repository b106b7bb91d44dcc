//! Lookups: key -> hash -> slot -> row.

use yunti_base::Result;

use super::rows::{Row, Rows};
use super::table::{KeyShape, Table, contradiction, number};
use crate::format::header::{GROUP, Header};
use crate::format::row::{damaged, read_number};
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
    #[inline(always)]
    pub fn get(&self, key: &[u8]) -> Result<Option<Row<'_>>> {
        match (self.key, eight(key)) {
            (KeyShape::EightInFixed(offset), Some(key)) if self.checked.is_done() => Ok(self.get_eight(key, offset)),
            _ => self.get_any(key),
        }
    }

    /// Looks up a key of 8 bytes in rows of one length, once all checksums were found right. The fewer instructions a
    /// lookup has, the more of the caller's next ones begin while this one waits for memory.
    #[inline(always)]
    fn get_eight(&self, key: &[u8; 8], offset: usize) -> Option<Row<'_>> {
        let (Header { sections: of, seed, row_bytes, .. }, bytes) = (&self.header, &*self.bytes);
        let hash = keys::hash(key, *seed);
        let pilot = *bytes.get(of.pilots.begin as usize + self.bucket(hash))?;
        let slot =
            u64::from(self.sizes.part(hash)) * u64::from(self.sizes.slots) + u64::from(self.sizes.slot(hash, pilot));
        let width = *row_bytes as usize;
        let row = bytes.get(of.rows.begin as usize + slot as usize * width..)?.get(..width)?;
        let own = row.get(offset..)?.first_chunk::<8>()?;
        (own == key).then(|| Row::of(self, row))
    }

    fn get_any(&self, key: &[u8]) -> Result<Option<Row<'_>>> {
        match self.slot(keys::hash(key, self.header.seed))? {
            Some(slot) => self.first_row(self.slot_bytes(slot)?, key),
            None => Ok(None),
        }
    }

    /// Looks up all rows of a key.
    pub fn get_all(&self, key: &[u8]) -> Result<Rows<'_>> {
        let Some(slot) = self.slot(keys::hash(key, self.header.seed))? else { return Ok(self.rows_in(&[])) };
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
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = keys::hash(key.as_ref(), self.header.seed);
                self.bytes.prefetch(of.pilots.begin as usize + self.bucket(*hash));
            }
            for (slot, hash) in slots.iter_mut().zip(&hashes).take(keys.len()) {
                *slot = self.slot(*hash)?.unwrap_or(0);
                if self.header.row_bytes > 0 {
                    let width = self.header.row_bytes as usize;
                    let at = of.rows.begin as usize + *slot as usize * width;
                    self.bytes.prefetch(at);
                    self.bytes.prefetch(at + width - 1);
                } else {
                    self.bytes.prefetch(of.bases.begin as usize + (*slot / GROUP) as usize * 8);
                }
            }
            if self.header.parts == 0 {
                keys.iter().enumerate().for_each(|(at, _)| found(chunk * BATCH + at, None));
                continue;
            }
            if self.header.row_bytes == 0 {
                for slot in slots.iter().take(keys.len()) {
                    let base = self.u64_in(of.bases, (*slot / GROUP) as usize * 8)?;
                    let at = base.saturating_add(slot % GROUP * u64::from(self.header.end_bytes));
                    self.bytes.prefetch((of.rows.begin.saturating_add(at)) as usize);
                }
                for (range, slot) in ranges.iter_mut().zip(&slots).take(keys.len()) {
                    *range = self.range_of_slot(*slot)?;
                    let row = of.rows.begin as usize + range.0;
                    self.bytes.prefetch(row);
                    // Most rows have two cache lines at most.
                    self.bytes.prefetch(row + range.1.saturating_sub(1));
                }
            }
            for (at, key) in keys.iter().enumerate() {
                let bytes = match self.header.row_bytes {
                    0 => self.in_section(of.rows, ranges[at].0, ranges[at].1)?,
                    _ => self.slot_bytes(slots[at])?,
                };
                let row = self.first_row(bytes, key.as_ref())?;
                found(chunk * BATCH + at, row.map(|row| (row, bytes)));
            }
        }
        Ok(())
    }

    /// Returns the number of a hash's bucket, of all parts.
    #[inline(always)]
    fn bucket(&self, hash: u64) -> usize {
        self.sizes.part(hash) as usize * self.sizes.buckets as usize + self.sizes.bucket(hash) as usize
    }

    /// Returns the slot of a hash; `None` in an empty table.
    #[inline(always)]
    pub(super) fn slot(&self, hash: u64) -> Result<Option<u64>> {
        if self.sizes.parts == 0 {
            return Ok(None);
        }
        // A bucket is always one of the section.
        let pilot = self.checked(self.header.sections.pilots.begin as usize + self.bucket(hash), 1)?[0];
        let part = u64::from(self.sizes.part(hash));
        Ok(Some(part * u64::from(self.sizes.slots) + u64::from(self.sizes.slot(hash, pilot))))
    }

    /// Returns the bytes of a slot; none if rows have different lengths, and it has no row.
    #[inline(always)]
    pub(crate) fn slot_bytes(&self, slot: u64) -> Result<&[u8]> {
        let rows = self.header.sections.rows;
        if self.header.row_bytes > 0 {
            let width = self.header.row_bytes as usize;
            return self.checked(rows.begin as usize + slot as usize * width, width);
        }
        let (begin, length) = self.range_of_slot(slot)?;
        self.in_section(rows, begin, length)
    }

    /// Returns begin and length of a slot's bytes in the section of rows, if these have different lengths.
    #[inline]
    fn range_of_slot(&self, slot: u64) -> Result<(usize, usize)> {
        let of = &self.header.sections;
        let base = self.u64_in(of.bases, (slot / GROUP) as usize * 8)? as usize;
        let width = self.header.end_bytes as usize;
        let ends = self.in_section(of.rows, base, GROUP as usize * width)?;
        let at = (slot % GROUP) as usize * width;
        let end = number(&ends[at..at + width]) as usize;
        let begin = if at == 0 { 0 } else { number(&ends[at - width..at]) as usize };
        let length = end.checked_sub(begin).ok_or_else(contradiction)?;
        Ok((base + ends.len() + begin, length))
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
            KeyShape::Eight(offset) | KeyShape::EightInFixed(offset) => match (row.bytes().get(offset..), eight(key)) {
                (Some(own), Some(key)) => own.first_chunk::<8>().is_some_and(|own| own == key),
                _ => false,
            },
            KeyShape::OnlyText(at) => {
                let mut rest = row.bytes().get(at..).ok_or_else(damaged)?;
                read_number(&mut rest) == Some(key.len()) && rest == key
            }
            KeyShape::Text(column) => self.layout.value(row.bytes(), column)? == Some(key),
            KeyShape::Columns => keys::matches(&self.schema, row.key_values(), key),
        };
        Ok(has_key.then_some(row))
    }
}
