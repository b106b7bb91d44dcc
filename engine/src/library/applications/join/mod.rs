//! Lines of two inputs with the same text in a column, paired as join(1) does: by sorting both, or with the small one
//! in memory.
//!
//! ```text
//!   join        lines -> sorted.rs (column as the key, side as a tag) -> sort -> pairs.rs -> pairs
//!   hash-join   small side -> measure.rs, build.rs -> table.rs;  lines -> hashed.rs (lookups) -> pairs
//!               a table that does not fit: the job runs as `join` (job/phase/join_table.rs)
//!               a table of `yunti table build`: shared_table/ (lookups in a mapped file, or at servers) -> pairs
//! ```
//!
//! Tables are joined by typed columns, which `rows.rs` turns into keys:
//!
//! ```text
//!   join        rows -> rows.rs (form of the columns as the key, side as a tag) -> sort -> pairs.rs -> pairs
//!   hash-join   small table -> a job that writes a line a row: key, columns (job/chain) -> table, as above
//! ```
//!
//! An output record has the common text as its key. Its value is the other columns of the left line, then of the right
//! line. A line without a partner, if requested, has only its own columns.

mod build;
mod hashed;
mod held_lines;
mod measure;
mod pairs;
mod row_form;
mod row_lookup;
mod rows;
mod shared_table;
mod side_lines;
mod sorted;
mod table;

#[cfg(test)]
mod table_test;

pub use build::build;
pub use hashed::{HashJoin, TABLE, small_path, small_side};
pub use measure::{Measured, measure};
pub use pairs::JoinReducer;
pub use row_form::RowForm;
pub use row_lookup::LookupRows;
pub use rows::{KeyedLines, SideRows};
pub use shared_table::{Probe, mapper as shared_table_mapper};
pub use side_lines::SideLines;
pub use sorted::{Join, OneSide};
pub use table::JoinTable;

use std::ops::Range;

use super::columns::{Column, separator};
use crate::operator::TaskContext;
use yunti_base::{Code, Error, Result};

/// Setting: the kind of a join, by default inner.
pub const KIND: &str = "join.kind";

/// Reducers of sorted joins: of lines, of rows, and of rows that have key columns alone.
pub const REDUCERS: [&str; 3] = ["Yunti.JoinReducer", "Yunti.JoinRowsReducer", "Yunti.JoinKeysReducer"];
/// Mappers of hash joins, in the same order.
pub const LOOKUPS: [&str; 3] = ["Yunti.HashJoinMapper", "Yunti.LookupRowsMapper", "Yunti.LookupKeysMapper"];
/// Mapper that writes a line for each row of the small table of a hash join.
pub const SMALL_ROWS: &str = "Yunti.SmallRowsMapper";

/// Setting: the name of the side file of a hash join, or of the table (`--table`).
pub const SMALL: &str = "join.small";

/// Setting: the name of a table of servers (`--table`) that has the rows of the side file too.
pub const SERVERS: &str = "join.servers";

/// Setting: how a hash join finds partners: `memory`, `lookup` or `sort`; by default the cheapest way.
pub const BY: &str = "join.by";

/// Purpose of the memory of a table, for messages.
pub const TABLE_PURPOSE: &str = "the table of a hash join";

/// Tag of a left line.
const LEFT: u8 = b'L';
/// Tag of a right line.
const RIGHT: u8 = b'R';

/// Lines that a join emits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinKind {
    /// Pairs of lines.
    pub pairs: bool,
    /// Left lines that have a partner, once and without it.
    pub matched: bool,
    /// Left lines without a partner.
    pub left: bool,
    /// Right lines without a partner.
    pub right: bool,
}

impl JoinKind {
    /// Returns the kind of a name. Errors: `Usage`.
    pub fn named(name: &str) -> Result<JoinKind> {
        let kind = |pairs, matched, left, right| Ok(JoinKind { pairs, matched, left, right });
        match name {
            "inner" => kind(true, false, false, false),
            "left" => kind(true, false, true, false),
            "right" => kind(true, false, false, true),
            "full" => kind(true, false, true, true),
            "semi" => kind(false, true, false, false),
            "anti" => kind(false, false, true, false),
            other => Err(Error::new(Code::Usage, format!("the setting {KIND} is '{other}'"))
                .hint("use inner, left, right, full, semi or anti")),
        }
    }

    fn new(context: &TaskContext) -> Result<JoinKind> {
        JoinKind::named(context.setting(KIND).unwrap_or("inner"))
    }
}

/// Column of a side, and its separator.
#[derive(Clone, Copy)]
pub struct Side {
    column: Column,
    separator: u8,
}

/// A line cut at its column.
#[derive(Clone, Copy)]
struct Cut<'a> {
    /// Text of the column.
    key: &'a [u8],
    /// Columns before it, without the separator that follows them.
    before: &'a [u8],
    /// Separator between the columns before and after, if there are both; otherwise empty.
    glue: &'a [u8],
    after: &'a [u8],
}

impl Cut<'_> {
    /// Returns the bytes of the other columns.
    fn rest_len(&self) -> usize {
        self.before.len() + self.glue.len() + self.after.len()
    }

    /// Appends the other columns.
    fn append_rest(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self.before);
        to.extend_from_slice(self.glue);
        to.extend_from_slice(self.after);
    }
}

impl Side {
    fn new(context: &TaskContext, setting: &str) -> Result<Self> {
        Ok(Side { column: Column::named(context, setting)?, separator: separator(context)? })
    }

    /// Cuts a line; None if the line has fewer columns.
    #[inline]
    fn cut<'a>(&self, line: &'a [u8]) -> Option<Cut<'a>> {
        let Range { start, end } = self.column.range(line)?;
        let has_both = start > 0 && end < line.len();
        Some(Cut {
            key: &line[start..end],
            before: &line[..start.saturating_sub(1)],
            glue: if has_both { &line[end..end + 1] } else { &[] },
            after: line.get(end + 1..).unwrap_or_default(),
        })
    }
}

/// Returns a line without the CR at its end.
fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Appends the right line to a record that ends with the left one, which has `left_len` bytes. A side without other
/// columns leaves no separator.
#[inline]
fn append_pair(record: &mut Vec<u8>, left_len: usize, right: &[u8], separator: u8) {
    if left_len > 0 && !right.is_empty() {
        record.push(separator);
    }
    record.extend_from_slice(right);
}
