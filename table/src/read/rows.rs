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

impl Table {
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

    /// Yields all rows, in the order of the file.
    pub fn rows(&self) -> impl Iterator<Item = Result<Row<'_>>> {
        self.rows_of_slots(0..self.header.all_slots())
    }

    /// Yields the rows of some slots, for walks by several threads.
    pub fn rows_of_slots(&self, slots: std::ops::Range<u64>) -> impl Iterator<Item = Result<Row<'_>>> {
        slots.flat_map(|slot| each_or_error(self.used_slot(slot).map(|bytes| self.rows_in(bytes.unwrap_or_default()))))
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
