//! A hash join whose small side is a table of `yunti table build`, mapped or asked from servers.
//!
//! The records are those of a hash join with the lines that the table was built from, if these have their values in
//! the one text that a table prints: 7, not 007. The key of the table is the column to compare. The other columns
//! follow the left line in the order of the table.
//!
//! ```text
//!   mapped.rs   tasks of all processes look up their lines in one mapped file, and nothing is built
//!   probe.rs    before a job: how fast servers are
//!   remote.rs   tasks send batches of keys to servers, and go on cutting lines until the rows are there
//! ```

mod mapped;
mod probe;
mod remote;

pub use mapped::MappedJoin;
pub use probe::Probe;
pub use remote::RemoteJoin;

use std::io::Write;
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_table::format::{Column, Kind};
use yunti_table::index::keys::widened;

use super::SMALL;
use crate::library::settings;
use crate::library::tables::{self, TablePlace};
use crate::operator::{Mapper, TaskContext};
use crate::write::value_text::{put_signed, put_unsigned};

/// Bytes of the text of an integer.
const DIGITS_MAX: usize = 20;

/// Returns the mapper of a hash join whose setting `join.small` names a table; None if it names none.
pub fn mapper(context: &Arc<TaskContext>) -> Result<Option<Box<dyn Mapper>>> {
    let Some(name) = context.setting(SMALL) else { return Ok(None) };
    Ok(match tables::place(&context.job.settings, name)? {
        None => None,
        Some(TablePlace::File(path)) => Some(Box::new(MappedJoin::new(context, &path)?)),
        Some(TablePlace::Servers(addresses)) => Some(Box::new(RemoteJoin::new(context, name, &addresses)?)),
    })
}

/// Columns of a table that a join uses.
pub(super) struct SharedColumns {
    key: Kind,
    /// Numbers in the rows of the table, and types, of the columns behind the left line.
    others: Vec<(usize, Kind)>,
}

impl SharedColumns {
    /// Checks the columns of a table, whose key has these numbers. Errors: `Usage`, without the place of the table.
    fn of(context: &TaskContext, columns: &[Column], keys: &[usize], pairs: bool) -> Result<SharedColumns> {
        let usage = |what: String, hint: &str| Err(Error::new(Code::Usage, what).hint(hint.to_string()));
        let &[key] = keys else {
            return usage("the key of the table has several columns".into(), "a hash join compares one column");
        };
        if settings::ordinal(context, "join.right.column", key + 1)? != key + 1 {
            let what = format!("join.right.column is not the key of the table, which is column {}", key + 1);
            return usage(what, "leave it out");
        }
        let others = columns.iter().enumerate().filter(|(number, _)| *number != key && pairs);
        let others: Vec<(usize, Kind)> = others.map(|(number, column)| (number, column.kind)).collect();
        if let Some((number, kind)) = others.iter().find(|(_, kind)| matches!(kind, Kind::Record | Kind::List)) {
            let what = format!("the column {} is a {}, which has no text", columns[*number].name, kind.name());
            return usage(what, "build a table without it");
        }
        Ok(SharedColumns { key: columns[key].kind, others })
    }

    /// Returns the key that has this text in a table; a key that no table has for any other text.
    fn key<'a>(&self, text: &'a [u8]) -> Key<'a> {
        match self.key {
            Kind::Utf8 | Kind::Bytes => Key::Text(text),
            Kind::Bool => match text {
                b"false" => Key::Integer([0; 8]),
                b"true" => Key::Integer(1_u64.to_le_bytes()),
                _ => Key::None,
            },
            kind => integer(text, kind.is_signed()).map_or(Key::None, |value| Key::Integer(value.to_le_bytes())),
        }
    }

    /// Appends the columns of a row that are no key, as text. `value` returns the bytes of a column.
    fn append<'a>(
        &self,
        value: impl Fn(usize) -> Result<Option<&'a [u8]>>,
        separator: u8,
        to: &mut Vec<u8>,
    ) -> Result<()> {
        for (at, (column, kind)) in self.others.iter().enumerate() {
            if at > 0 {
                to.push(separator);
            }
            if let Some(value) = value(*column)? {
                append_text(*kind, value, to);
            }
        }
        Ok(())
    }
}

/// Key of a lookup.
enum Key<'a> {
    Integer([u8; 8]),
    Text(&'a [u8]),
    /// Shorter than any integer.
    None,
}

impl AsRef<[u8]> for Key<'_> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match self {
            Key::Integer(bytes) => bytes,
            Key::Text(text) => text,
            Key::None => &[],
        }
    }
}

/// Returns the bits of an integer in the one text that it prints; None for other texts, which no integer equals.
#[inline]
fn integer(text: &[u8], is_signed: bool) -> Option<u64> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] if is_signed => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > DIGITS_MAX || (digits[0] == b'0' && (digits.len() > 1 || is_negative)) {
        return None;
    }
    let mut value = 0_u64;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    let limit = if is_signed { i64::MAX as u64 + u64::from(is_negative) } else { u64::MAX };
    (value <= limit).then(|| if is_negative { value.wrapping_neg() } else { value })
}

/// Appends a value as the text that `yunti table get` prints.
fn append_text(kind: Kind, value: &[u8], to: &mut Vec<u8>) {
    match kind {
        Kind::Utf8 | Kind::Bytes | Kind::Dict | Kind::Record | Kind::List => to.extend_from_slice(value),
        Kind::Bool => to.extend_from_slice(if value == [0] { b"false" } else { b"true" }),
        Kind::F32 => {
            let number = f32::from_le_bytes(value.try_into().unwrap_or_default());
            write!(to, "{number}").expect("a vector takes all bytes");
        }
        Kind::F64 => {
            let number = f64::from_le_bytes(value.try_into().unwrap_or_default());
            write!(to, "{number}").expect("a vector takes all bytes");
        }
        _ => {
            let wide = widened(kind, value);
            match kind.is_signed() {
                true => put_signed(i64::from_le_bytes(wide), to),
                false => put_unsigned(u64::from_le_bytes(wide), to),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_one_text() {
        for number in [0, 1, -1, 7, 10, 4711, i64::MAX, i64::MIN, i64::MIN + 1] {
            let mut text = Vec::new();
            append_text(Kind::I64, &i64::to_le_bytes(number), &mut text);
            assert_eq!(text, number.to_string().as_bytes());
            assert_eq!(integer(&text, true), Some(number as u64));
        }
        assert_eq!(integer(b"18446744073709551615", false), Some(u64::MAX));
        for (text, is_signed) in [
            ("", true),
            ("-", true),
            ("+1", true),
            ("-0", true),
            ("007", true),
            ("00", true),
            (" 1", true),
            ("1.0", true),
            ("9223372036854775808", true),
            ("-9223372036854775809", true),
            ("-1", false),
            ("18446744073709551616", false),
            ("99999999999999999999999", false),
        ] {
            assert_eq!(integer(text.as_bytes(), is_signed), None, "{text}");
        }
    }

    #[test]
    fn values_print_as_the_reader_prints_them() {
        for (kind, bytes, expect) in [
            (Kind::I8, &[0x80][..], "-128"),
            (Kind::I64, &i64::MIN.to_le_bytes(), "-9223372036854775808"),
            (Kind::U64, &[0xff; 8], "18446744073709551615"),
            (Kind::U16, &[0xff, 0xff], "65535"),
            (Kind::F32, &0.1_f32.to_le_bytes(), "0.1"),
            (Kind::F64, &1.5_f64.to_le_bytes(), "1.5"),
            (Kind::Bool, &[1], "true"),
            (Kind::Dict, b"text", "text"),
        ] {
            let mut text = Vec::new();
            append_text(kind, bytes, &mut text);
            assert_eq!(text, expect.as_bytes());
        }
    }
}
