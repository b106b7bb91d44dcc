//! A hash join whose small side is a table of `yunti table build`: tasks of all processes look up their lines in one
//! mapped file, and nothing is built.
//!
//! The records are those of a hash join with the lines that the table was built from, if these have their values in
//! the one text that a table prints: 7, not 007. The key of the table is the column to compare. The other columns
//! follow the left line in the order of the table.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_table::format::Kind;
use yunti_table::index::keys::widened;
use yunti_table::read::{Row, Table};

use super::hashed::LeftRecord;
use super::{Cut, JoinKind, SMALL, Side};
use crate::library::applications::columns::ShortLines;
use crate::library::settings;
use crate::operator::{Batch, Mapper, Out, TaskContext};
use crate::write::value_text::{put_signed, put_unsigned};

/// Name of the table among the values that the tasks of a job share.
const SHARED: &str = "join.table.mapped";
/// Lookups of a batch: those of the table's reader.
const BATCH: usize = 64;
/// Bytes of the text of an integer.
const DIGITS_MAX: usize = 20;

/// An open table, and the columns that records have of it.
struct MappedSide {
    table: Table,
    key: Kind,
    columns: Vec<(usize, Kind)>,
}

impl MappedSide {
    fn open(path: &Path, context: &TaskContext, kind: JoinKind) -> Result<MappedSide> {
        let table = Table::open(path)?;
        let usage = |what: String, hint: &str| {
            Err(Error::new(Code::Usage, what).at_path(path.to_string_lossy()).hint(hint.to_string()))
        };
        let schema = table.schema();
        let &[key] = schema.keys.as_slice() else {
            return usage("the key of the table has several columns".into(), "a hash join compares one column");
        };
        if settings::ordinal(context, "join.right.column", key + 1)? != key + 1 {
            let what = format!("join.right.column is not the key of the table, which is column {}", key + 1);
            return usage(what, "leave it out");
        }
        let others = schema.columns.iter().enumerate().filter(|(number, _)| *number != key && kind.pairs);
        let columns: Vec<(usize, Kind)> = others.map(|(number, column)| (number, column.kind)).collect();
        if let Some((number, kind)) = columns.iter().find(|(_, kind)| matches!(kind, Kind::Record | Kind::List)) {
            let what = format!("the column {} is a {}, which has no text", schema.columns[*number].name, kind.name());
            return usage(what, "build a table without it");
        }
        Ok(MappedSide { key: schema.columns[key].kind, columns, table })
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

    /// Appends the columns of a row that are no key, as text.
    fn append(&self, row: &Row<'_>, separator: u8, to: &mut Vec<u8>) -> Result<()> {
        for (at, (column, kind)) in self.columns.iter().enumerate() {
            if at > 0 {
                to.push(separator);
            }
            if let Some(value) = row.value(*column)? {
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

/// Mapper that pairs the lines of the input, the left side, with rows of a mapped table.
pub struct MappedJoin {
    small: Arc<MappedSide>,
    kind: JoinKind,
    left: Side,
    record: LeftRecord,
    right: Vec<u8>,
    short: ShortLines,
}

impl MappedJoin {
    /// Opens the table that `join.small` names; None if it names none. Errors: `Usage` for bad settings, `Input` and
    /// `Corrupt` for the table.
    pub fn new(context: &Arc<TaskContext>) -> Result<Option<MappedJoin>> {
        let Some(path) = context.setting(SMALL).and_then(|name| settings::table(context, name)) else {
            return Ok(None);
        };
        let kind = JoinKind::new(context)?;
        let small = context.job.shared(SHARED, || MappedSide::open(path, context, kind))?;
        Ok(Some(MappedJoin {
            small,
            kind,
            left: Side::new(context, "join.left.column")?,
            record: LeftRecord::default(),
            right: Vec::new(),
            short: ShortLines::new(context),
        }))
    }

    /// Emits the records of a line. `row`: the first row of its key.
    fn emit(&mut self, line: &Cut<'_>, key: &Key<'_>, row: Option<Row<'_>>, out: &mut Out) -> Result<()> {
        let Some(row) = row else {
            return if self.kind.left { self.record.begin(line).alone(out) } else { Ok(()) };
        };
        self.record.begin(line);
        if self.kind.pairs {
            let table = &self.small.table;
            let rows = if table.header().has_lists { Some(table.get_all(key.as_ref())?) } else { None };
            let one = rows.is_none().then_some(Ok(row));
            for row in rows.into_iter().flatten().chain(one) {
                self.right.clear();
                self.small.append(&row?, self.left.separator, &mut self.right)?;
                self.record.pair(&self.right, self.left.separator, out)?;
            }
        }
        if self.kind.matched { self.record.alone(out) } else { Ok(()) }
    }
}

impl Mapper for MappedJoin {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let small = self.small.clone();
        let mut lines: Vec<Cut<'_>> = Vec::with_capacity(BATCH);
        let mut keys: Vec<Key<'_>> = Vec::with_capacity(BATCH);
        for start in (0..batch.len()).step_by(BATCH) {
            lines.clear();
            keys.clear();
            for line in start..batch.len().min(start + BATCH) {
                match self.left.cut(batch.record(line).1) {
                    Some(line) => {
                        keys.push(small.key(line.key));
                        lines.push(line);
                    }
                    None => self.short.add(),
                }
            }
            let mut emitted = Ok(());
            small.table.get_batch(&keys, |at, row| {
                if emitted.is_ok() {
                    emitted = self.emit(&lines[at], &keys[at], row, out);
                }
            })?;
            emitted?;
        }
        Ok(())
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
