//! Functions of texts. A character is one of Unicode; a byte that is no UTF-8 counts as one.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::memmem;
use yunti_base::Result;
use yunti_engine::columns::expression::{Side, chars};
use yunti_engine::columns::vector::{Bytes, Data, Vector};
use yunti_sql_plan::Function;

use super::super::operand::{Operand, Texts, ints, invalid, shapes_differ};

/// Maps texts to texts.
fn map<'a>(operand: &'a Operand, rows: usize, f: impl Fn(&'a [u8]) -> Cow<'a, [u8]>) -> Result<Data> {
    let texts = Texts::of(operand).ok_or_else(shapes_differ)?;
    let mut mapped = Bytes::with_capacity(rows, 0);
    match texts {
        // A dictionary that is not larger than the rows: its values once.
        Texts::Coded(codes, values) if values.len() <= codes.len() => {
            for value in 0..values.len() {
                mapped.push(&f(values.get(value)));
            }
            return Ok(Data::Codes(codes.to_vec(), Arc::new(mapped)));
        }
        _ => (0..rows).for_each(|row| mapped.push(&f(texts.get(row)))),
    }
    Ok(Data::Bytes(mapped))
}

/// Changes letters to lower or upper case.
pub fn change_case(operand: &Operand, upper: bool, rows: usize) -> Result<Data> {
    map(operand, rows, |text| {
        Cow::Owned(match (text.is_ascii(), std::str::from_utf8(text), upper) {
            (false, Ok(text), false) => text.to_lowercase().into_bytes(),
            (false, Ok(text), true) => text.to_uppercase().into_bytes(),
            (_, _, false) => text.to_ascii_lowercase(),
            (_, _, true) => text.to_ascii_uppercase(),
        })
    })
}

/// Removes spaces, and no other characters, at the beginning, the end or both.
pub fn trim(operand: &Operand, start: bool, end: bool, rows: usize) -> Result<Data> {
    map(operand, rows, |mut text| {
        while let (true, [b' ', rest @ ..]) = (start, text) {
            text = rest;
        }
        while let (true, [rest @ .., b' ']) = (end, text) {
            text = rest;
        }
        Cow::Borrowed(text)
    })
}

/// Returns numbers of characters.
pub fn lengths(operand: &Operand, rows: usize) -> Result<Vec<i64>> {
    let texts = Texts::of(operand).ok_or_else(shapes_differ)?;
    Ok(texts.map(rows, |text| if text.is_ascii() { text.len() as i64 } else { chars(text).count() as i64 }))
}

/// Returns characters from a first one, which counts from 1. Positions before 1 count towards the length.
///
/// Errors: `Invalid` for a negative length.
pub fn substring(arguments: &[Operand], nulls: Option<&[bool]>, rows: usize) -> Result<Data> {
    let [operand, start, rest @ ..] = arguments else { return Err(shapes_differ()) };
    let start = ints(start).ok_or_else(shapes_differ)?;
    let len = rest.first().map(|len| ints(len).ok_or_else(shapes_differ)).transpose()?;
    let at = |side: Side<'_, i64>, row: usize| match side {
        Side::Many(values) => values[row],
        Side::One(value) => value,
    };
    let is_null = |row: usize| nulls.is_some_and(|nulls| nulls[row]);
    if let Some(len) = len
        && let Some(row) = (0..rows).find(|&row| !is_null(row) && at(len, row) < 0)
    {
        return Err(invalid(format!("substring cannot have a negative length: {}", at(len, row))));
    }
    if let (Side::One(start), None | Some(Side::One(_))) = (start, len) {
        let len = len.map(|len| at(len, 0));
        return map(operand, rows, |text| Cow::Borrowed(slice(text, start, len)));
    }
    let texts = Texts::of(operand).ok_or_else(shapes_differ)?;
    let mut values = Bytes::with_capacity(rows, 0);
    (0..rows).for_each(|row| values.push(slice(texts.get(row), at(start, row), len.map(|len| at(len, row)))));
    Ok(Data::Bytes(values))
}

/// Returns characters of a text, the first from 1.
fn slice(text: &[u8], start: i64, len: Option<i64>) -> &[u8] {
    let first = start.saturating_sub(1);
    let end = len.map_or(i64::MAX, |len| first.saturating_add(len)).max(0) as usize;
    let first = first.max(0) as usize;
    // The places of characters are those of bytes if what is before the end has no others.
    let near = &text[..end.min(text.len())];
    if near.is_ascii() {
        return &near[first.min(near.len())..];
    }
    let (mut at, mut from) = (0, text.len());
    for (number, c) in chars(text).enumerate() {
        if number == first {
            from = at;
        }
        if number == end {
            return &text[from.min(at)..at];
        }
        at += c.len();
    }
    &text[from..]
}

/// Finds texts in texts.
pub fn find(function: Function, operand: &Operand, wanted: &Operand, rows: usize) -> Result<Vec<bool>> {
    let texts = Texts::of(operand).ok_or_else(shapes_differ)?;
    let wanted = Texts::of(wanted).ok_or_else(shapes_differ)?;
    if let Texts::One(wanted) = wanted {
        return Ok(match function {
            Function::StartsWith => texts.map(rows, |text| text.starts_with(wanted)),
            Function::EndsWith => texts.map(rows, |text| text.ends_with(wanted)),
            _ => {
                let finder = memmem::Finder::new(wanted);
                texts.map(rows, |text| finder.find(text).is_some())
            }
        });
    }
    let holds = |text: &[u8], wanted: &[u8]| match function {
        Function::StartsWith => text.starts_with(wanted),
        Function::EndsWith => text.ends_with(wanted),
        _ => memmem::find(text, wanted).is_some(),
    };
    Ok((0..rows).map(|row| holds(texts.get(row), wanted.get(row))).collect())
}

/// Joins texts; nulls count as empty.
pub fn join(arguments: &[Operand], rows: usize) -> Result<Vector> {
    let mut parts = Vec::with_capacity(arguments.len());
    for operand in arguments.iter().filter(|operand| !operand.is_null()) {
        parts.push((Texts::of(operand).ok_or_else(shapes_differ)?, operand.nulls()));
    }
    let total: usize = parts.iter().map(|(texts, _)| (0..rows).map(|row| texts.get(row).len()).sum::<usize>()).sum();
    if total > u32::MAX as usize {
        return Err(invalid(format!("texts of {rows} rows would be joined to {total} bytes, more than 4 GiB")));
    }
    let mut joined = Bytes::with_capacity(rows, total);
    let mut one = Vec::new();
    for row in 0..rows {
        one.clear();
        for (texts, nulls) in &parts {
            if !nulls.is_some_and(|nulls| nulls[row]) {
                one.extend_from_slice(texts.get(row));
            }
        }
        joined.push(&one);
    }
    Ok(Vector::of(Data::Bytes(joined)))
}
