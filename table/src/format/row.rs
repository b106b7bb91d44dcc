//! Bytes of one row:
//!
//! ```text
//!   bits of missing values | values of fixed width | lengths of the others, LEB128 | their bytes
//! ```
//!
//! A bit for each column that may have missing values, from the lowest bit of the first byte. Columns are in the order
//! of the schema. A missing value of fixed width is zeros, another one has the length 0.

use std::cmp::Ordering;

use yunti_base::{Code, Error, Result};

use super::schema::{Column, Kind, null_bytes};

/// Where the values of rows are.
#[derive(Clone, Debug)]
pub struct Layout {
    places: Vec<ColumnPlace>,
    /// Bytes before the lengths.
    fixed_bytes: usize,
    variable: usize,
}

/// Where a column's values are.
#[derive(Clone, Copy, Debug)]
struct ColumnPlace {
    width: Option<usize>,
    null_bit: Option<usize>,
    /// Offset of a value of fixed width, or the number among the others.
    at: usize,
}

/// The error for bytes that are no row of their schema.
pub fn damaged() -> Error {
    Error::new(Code::Corrupt, "the table is damaged: a row does not fit its schema")
}

impl Layout {
    pub fn of(columns: &[Column]) -> Layout {
        let each = columns.iter().map(|column| (column.kind, column.is_nullable));
        Layout::each(each, null_bytes(columns))
    }

    /// Returns the layout of a row that has an element of a list in each column.
    fn of_list(element: &Column, count: usize) -> Layout {
        let bits = if element.is_nullable { count } else { 0 };
        Layout::each(std::iter::repeat_n((element.kind, element.is_nullable), count), bits.div_ceil(8))
    }

    fn each(columns: impl Iterator<Item = (Kind, bool)>, null_bytes: usize) -> Layout {
        let (mut bits, mut fixed, mut variable) = (0, null_bytes, 0);
        let next = |of: &mut usize, step: usize| {
            *of += step;
            *of - step
        };
        let place = |(kind, is_nullable): (Kind, bool)| ColumnPlace {
            width: kind.width(),
            null_bit: is_nullable.then(|| next(&mut bits, 1)),
            at: match kind.width() {
                Some(width) => next(&mut fixed, width),
                None => next(&mut variable, 1),
            },
        };
        let places = columns.map(place).collect();
        Layout { places, fixed_bytes: fixed, variable }
    }

    /// Returns where a column of fixed width is in a row.
    pub fn offset(&self, column: usize) -> Option<usize> {
        self.places.get(column).filter(|place| place.width.is_some()).map(|place| place.at)
    }

    /// Returns where the length of a column is, if it is the only one without a fixed width and never missing: its
    /// bytes are behind the length, and end the row.
    pub fn only_text(&self, column: usize) -> Option<usize> {
        let place = self.places.get(column)?;
        (place.width.is_none() && place.null_bit.is_none() && self.variable == 1).then_some(self.fixed_bytes)
    }

    /// Appends a row. A value is its bytes; `None` if it is missing.
    pub fn write(&self, values: &[Option<&[u8]>], out: &mut Vec<u8>) {
        let begin = out.len();
        out.resize(begin + self.fixed_bytes, 0);
        for (place, value) in self.places.iter().zip(values) {
            match (value, place.null_bit) {
                (None, Some(bit)) => out[begin + bit / 8] |= 1 << (bit % 8),
                (Some(value), _) if place.width.is_some() => {
                    out[begin + place.at..begin + place.at + value.len()].copy_from_slice(value);
                }
                _ => {}
            }
        }
        if self.variable == 0 {
            return;
        }
        let variable = || self.places.iter().zip(values).filter(|(place, _)| place.width.is_none());
        variable().for_each(|(_, value)| write_number(value.map_or(0, <[u8]>::len), out));
        variable().for_each(|(_, value)| out.extend_from_slice(value.unwrap_or_default()));
    }

    /// Returns the bytes of a value in a row; `None` if it is missing.
    #[inline]
    pub fn value<'a>(&self, row: &'a [u8], column: usize) -> Result<Option<&'a [u8]>> {
        self.find(row, column).ok_or_else(damaged)
    }

    /// Returns the bytes of a value of a column that has no missing ones; nothing if the row is damaged.
    #[inline]
    pub fn present<'a>(&self, row: &'a [u8], column: usize) -> &'a [u8] {
        self.find(row, column).flatten().unwrap_or_default()
    }

    #[inline]
    #[expect(clippy::option_option, reason = "the outer one is damage, the inner one a missing value")]
    fn find<'a>(&self, row: &'a [u8], column: usize) -> Option<Option<&'a [u8]>> {
        let place = self.places.get(column)?;
        if let Some(bit) = place.null_bit
            && row.get(bit / 8)? >> (bit % 8) & 1 == 1
        {
            return Some(None);
        }
        match place.width {
            Some(width) => row.get(place.at..place.at + width).map(Some),
            None => self.variable_value(row, place.at).map(Some),
        }
    }

    #[inline]
    fn variable_value<'a>(&self, row: &'a [u8], number: usize) -> Option<&'a [u8]> {
        let mut lengths = row.get(self.fixed_bytes..)?;
        let (mut before, mut own) = (0_usize, 0);
        for other in 0..self.variable {
            let length = read_number(&mut lengths)?;
            match other.cmp(&number) {
                Ordering::Less => before += length,
                Ordering::Equal => own = length,
                Ordering::Greater => {}
            }
        }
        lengths.get(before..before + own)
    }
}

/// Appends a number as unsigned LEB128.
pub fn write_number(mut number: usize, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Returns the bytes of a number as unsigned LEB128.
pub fn number_bytes(number: u64) -> u64 {
    u64::from((64 - (number | 1).leading_zeros()).div_ceil(7))
}

/// Reads a number of at most 5 bytes and moves behind it.
#[inline]
pub fn read_number(bytes: &mut &[u8]) -> Option<usize> {
    match bytes.split_first() {
        Some((byte, rest)) if *byte < 0x80 => {
            *bytes = rest;
            Some(usize::from(*byte))
        }
        _ => read_long_number(bytes),
    }
}

fn read_long_number(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Appends the bytes of a list.
pub fn write_list(element: &Column, values: &[Option<&[u8]>], out: &mut Vec<u8>) {
    write_number(values.len(), out);
    Layout::of_list(element, values.len()).write(values, out);
}

/// Returns the elements of a list.
pub fn list<'a>(element: &Column, mut bytes: &'a [u8]) -> Result<Vec<Option<&'a [u8]>>> {
    let count = read_number(&mut bytes).ok_or_else(damaged)?;
    // Each element has a bit at the least, unless it is an empty record: a hostile count ends here.
    let least = element.kind.width().unwrap_or(1).saturating_mul(count);
    if least > bytes.len() {
        return Err(damaged());
    }
    let mut elements = Vec::with_capacity(count);
    let nulls = if element.is_nullable { count.div_ceil(8) } else { 0 };
    let is_missing = |at: usize| element.is_nullable && bytes[at / 8] >> (at % 8) & 1 == 1;
    let mut rest = bytes.get(nulls..).ok_or_else(damaged)?;
    match element.kind.width() {
        Some(width) => {
            for at in 0..count {
                let value = rest.split_off(..width).ok_or_else(damaged)?;
                elements.push((!is_missing(at)).then_some(value));
            }
        }
        None => {
            let lengths: Option<Vec<usize>> = (0..count).map(|_| read_number(&mut rest)).collect();
            for (at, length) in lengths.ok_or_else(damaged)?.into_iter().enumerate() {
                let value = rest.split_off(..length).ok_or_else(damaged)?;
                elements.push((!is_missing(at)).then_some(value));
            }
        }
    }
    Ok(elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Values<'a> = Vec<Option<&'a [u8]>>;

    #[test]
    fn what_is_written_is_read() {
        let columns = [
            Column::new("id", Kind::I64, false),
            Column::new("name", Kind::Utf8, false),
            Column::new("score", Kind::F32, true),
            Column::new("note", Kind::Bytes, true),
            Column::new("is_new", Kind::Bool, true),
        ];
        let layout = Layout::of(&columns);
        let long = vec![b'x'; 300];
        let rows: [[Option<&[u8]>; 5]; 4] = [
            [Some(&[1; 8]), Some(b"a"), Some(&[2; 4]), Some(b"bc"), Some(&[1])],
            [Some(&[1; 8]), Some(b""), None, None, None],
            [Some(&[1; 8]), Some(&long), None, Some(b"y"), Some(&[0])],
            [Some(&[0; 8]), Some(&long), Some(&[0; 4]), Some(&long), None],
        ];
        for row in rows {
            let mut bytes = Vec::new();
            layout.write(&row, &mut bytes);
            let read: Values<'_> = (0..5).map(|column| layout.value(&bytes, column).unwrap()).collect();
            assert_eq!(read, row);
            // A cut row has no value that reaches beyond its end.
            for length in 0..bytes.len() {
                (0..5).for_each(|column| _ = layout.value(&bytes[..length], column));
            }
            assert!(layout.value(&bytes[..8], 1).is_err());
        }
    }

    #[test]
    fn numbers() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u32::MAX as usize] {
            let mut bytes = Vec::new();
            write_number(number, &mut bytes);
            assert_eq!(bytes.len() as u64, number_bytes(number as u64));
            assert_eq!(read_number(&mut bytes.as_slice()), Some(number));
        }
    }

    #[test]
    fn lists() {
        for (element, values) in [
            (Column::new("", Kind::Utf8, false), vec![Some(b"a".as_slice()), Some(b""), Some(b"bcd")]),
            (Column::new("", Kind::Utf8, true), vec![None, Some(b"x".as_slice()), Some(b"")]),
            (Column::new("", Kind::I16, true), vec![Some([1, 2].as_slice()), None]),
            (Column::new("", Kind::I16, false), vec![]),
            (Column::new("", Kind::Bool, true), vec![None; 9]),
        ] {
            let mut bytes = Vec::new();
            write_list(&element, &values, &mut bytes);
            assert_eq!(list(&element, &bytes).unwrap(), values);
            for length in 0..bytes.len() {
                assert!(list(&element, &bytes[..length]).is_err(), "{element:?} {length}");
            }
        }
        assert!(list(&Column::new("", Kind::I64, false), &[0xff, 0xff, 0xff, 0xff, 0x0f]).is_err());
        assert!(list(&Column::new("", Kind::Utf8, true), &[0xff, 0xff, 0xff, 0xff, 0x0f]).is_err());
    }
}
