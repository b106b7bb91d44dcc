//! Form of the keys and rows of a join of tables.
//!
//! ```text
//!   key     01 | forms of the key columns (columns/normal.rs)                        no column is null
//!           00 | tag of the side | forms of the key columns                          one is: it has no partner
//!   row     texts of the other columns, tabs between them
//!   pair    texts of the key columns | row of the left side | row of the right side
//! ```
//!
//! Keys of both sides are in the same types, so that equal values have equal bytes. A key with a null has the tag of
//! its side, because null is not equal to null in SQL.

use crate::columns::kind::Kind;
use crate::columns::settings::{JOIN_KEY_TYPES, JOIN_LEFT, JOIN_RIGHT, MARK_NULLS, is_true};
use crate::columns::vector::Vector;
use crate::columns::{normal, text};
use crate::operator::TaskContext;
use yunti_base::{Code, Error, Result};

/// Form of the keys and rows of both sides.
pub struct RowForm {
    pub kinds: Vec<Kind>,
    pub marks_nulls: bool,
    /// True if the texts of rows are escaped.
    pub is_escaped: bool,
    /// Rows of nulls of both sides.
    nulls: (Vec<u8>, Vec<u8>),
    /// True if both sides have other columns.
    has_both: bool,
}

impl RowForm {
    /// Reads the settings of a join of tables. Errors: `Usage`.
    pub fn new(context: &TaskContext) -> Result<RowForm> {
        let count = |key: &str| context.setting(key).unwrap_or_default().lines().count();
        let (left, right) = (count(JOIN_LEFT.rest), count(JOIN_RIGHT.rest));
        let marks_nulls = is_true(context, MARK_NULLS);
        let nulls = |columns: usize| vec![if marks_nulls { "\\N" } else { "" }; columns].join("\t").into_bytes();
        Ok(RowForm {
            kinds: context
                .setting(JOIN_KEY_TYPES)
                .unwrap_or_default()
                .lines()
                .map(Kind::parse)
                .collect::<Result<_>>()?,
            marks_nulls,
            is_escaped: marks_nulls || left + right > 1,
            nulls: (nulls(left), nulls(right)),
            has_both: left > 0 && right > 0,
        })
    }

    /// Sets the key of a row. Returns true if no column is null.
    pub fn set_key(columns: &[&Vector], row: usize, tag: u8, key: &mut Vec<u8>) -> bool {
        let is_whole = !columns.iter().any(|column| column.is_null(row));
        key.clear();
        if is_whole {
            key.push(1);
        } else {
            key.extend_from_slice(&[0, tag]);
        }
        columns.iter().for_each(|column| normal::put(column.cell(row), key));
        is_whole
    }

    /// Appends the text of a key.
    pub fn put_key(&self, key: &[u8], record: &mut Vec<u8>) -> Result<()> {
        let damaged = || Error::new(Code::Internal, "a key of a join is no form of its columns");
        match key {
            [1, forms @ ..] | [0, _, forms @ ..] => text::put_key(&self.kinds, forms, self.marks_nulls, record),
            _ => None,
        }
        .ok_or_else(damaged)
    }

    /// Appends the row of one side, with nulls for the other.
    pub fn put_alone(&self, row: &[u8], is_left: bool, record: &mut Vec<u8>) {
        let (left, right) = if is_left { (row, &self.nulls.1[..]) } else { (&self.nulls.0[..], row) };
        record.extend_from_slice(left);
        self.put_right(right, record);
    }

    /// Appends nulls for the right side behind a left row.
    pub fn put_right_nulls(&self, record: &mut Vec<u8>) {
        self.put_right(&self.nulls.1, record);
    }

    /// Appends a right row behind a left one.
    pub fn put_right(&self, row: &[u8], record: &mut Vec<u8>) {
        if self.has_both {
            record.push(b'\t');
        }
        record.extend_from_slice(row);
    }
}
