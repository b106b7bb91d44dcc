//! Rows and their values.

use yunti_base::Result;

use super::table::Table;
use crate::format::row::{damaged, read_number};
use crate::index::keys;

/// A row of a table. A value is read from its bytes when the caller wants it.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    table: &'a Table,
    bytes: &'a [u8],
}

impl<'a> Row<'a> {
    pub(super) fn of(table: &'a Table, bytes: &'a [u8]) -> Row<'a> {
        Row { table, bytes }
    }

    /// Returns the bytes of a value, the text of one in a dictionary; `None` if it is missing.
    #[inline]
    pub fn value(&self, column: usize) -> Result<Option<&'a [u8]>> {
        match self.table.layout.value(self.bytes, column)? {
            Some(value) => Ok(self.table.text(column, value)?.or(Some(value))),
            None => Ok(None),
        }
    }

    /// Returns the bytes of a value as they are in the row: the number of a text in a dictionary.
    #[inline]
    pub fn raw_value(&self, column: usize) -> Result<Option<&'a [u8]>> {
        self.table.layout.value(self.bytes, column)
    }

    /// Returns the bytes of a value of fixed width that is never missing: see [`Table::fixed_column`].
    #[inline(always)]
    pub fn fixed<const N: usize>(&self, column: FixedColumn<N>) -> Result<&'a [u8; N]> {
        self.bytes.get(column.0..).and_then(<[u8]>::first_chunk).ok_or_else(damaged)
    }

    /// Yields the values of the key's columns.
    pub fn key_values(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let Row { table, bytes } = *self;
        table.schema.keys.iter().map(move |column| table.layout.present(bytes, *column))
    }

    /// Appends the bytes of the key, as lookups take them.
    pub fn key(&self, out: &mut Vec<u8>) {
        keys::encode(&self.table.schema, self.key_values(), out);
    }

    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub fn table(&self) -> &'a Table {
        self.table
    }
}

/// Place of a column in rows, for reads without another look at the schema.
#[derive(Clone, Copy, Debug)]
pub struct FixedColumn<const N: usize>(usize);

/// Rows of one slot: one, or a list.
#[derive(Clone)]
pub struct Rows<'a> {
    table: &'a Table,
    rest: &'a [u8],
}

impl<'a> Iterator for Rows<'a> {
    type Item = Result<Row<'a>>;

    fn next(&mut self) -> Option<Result<Row<'a>>> {
        if self.rest.is_empty() {
            return None;
        }
        let bytes = if self.table.header.has_lists {
            let row = read_number(&mut self.rest).and_then(|length| self.rest.split_off(..length));
            if row.is_none() {
                self.rest = &[];
            }
            row
        } else {
            Some(std::mem::take(&mut self.rest))
        };
        Some(bytes.map(|bytes| Row::of(self.table, bytes)).ok_or_else(damaged))
    }
}

impl<'a> Rows<'a> {
    /// Returns the bytes of the rows that are left: [`Rows::resume`] goes on with them.
    pub fn left_bytes(&self) -> usize {
        self.rest.len()
    }

    /// Returns the rows in the last `bytes` bytes, which a walk over the same rows had left.
    pub fn resume(mut self, bytes: usize) -> Rows<'a> {
        self.rest = &self.rest[self.rest.len().saturating_sub(bytes)..];
        self
    }
}

impl Table {
    /// Returns the place of a column whose values have `N` bytes and are never missing; `None` for another column.
    pub fn fixed_column<const N: usize>(&self, column: usize) -> Option<FixedColumn<N>> {
        let of = self.schema.columns.get(column)?;
        let is_fixed = of.kind.width() == Some(N) && !of.is_nullable;
        self.layout.offset(column).filter(|_| is_fixed).map(FixedColumn)
    }

    /// Yields the rows in the bytes of a slot.
    #[inline]
    pub(crate) fn rows_in<'a>(&'a self, bytes: &'a [u8]) -> Rows<'a> {
        Rows { table: self, rest: bytes }
    }

    /// Returns the bytes of a slot; `None` if it has no row.
    pub(super) fn used_slot(&self, slot: u64) -> Result<Option<&[u8]>> {
        if self.header.row_bytes > 0 {
            let bits = self.in_section(self.header.sections.used, slot as usize / 8, 1)?;
            if bits[0] >> (slot % 8) & 1 == 0 {
                return Ok(None);
            }
        }
        Ok(Some(self.slot_bytes(slot)?).filter(|bytes| !bytes.is_empty()))
    }

    /// Returns the rows of a slot; none if it has no row.
    pub fn rows_of_slot(&self, slot: u64) -> Result<Rows<'_>> {
        Ok(self.rows_in(self.used_slot(slot)?.unwrap_or_default()))
    }

    /// Yields all rows, in the order of the file.
    pub fn rows(&self) -> impl Iterator<Item = Result<Row<'_>>> {
        self.rows_of_slots(0..self.header.all_slots())
    }

    /// Yields the rows of some slots, for walks by several threads.
    pub fn rows_of_slots(&self, slots: std::ops::Range<u64>) -> impl Iterator<Item = Result<Row<'_>>> {
        slots.flat_map(|slot| each_or_error(self.rows_of_slot(slot)))
    }
}

/// Yields the rows of a slot, or the error that there is instead of them.
pub(super) fn each_or_error(rows: Result<Rows<'_>>) -> impl Iterator<Item = Result<Row<'_>>> {
    let (rows, error) = match rows {
        Ok(rows) => (Some(rows), None),
        Err(e) => (None, Some(Err(e))),
    };
    rows.into_iter().flatten().chain(error)
}
