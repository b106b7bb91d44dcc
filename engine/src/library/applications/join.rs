//! Lines of two inputs with the same text in a column, paired as join(1) does: by sorting both, or with the small one
//! in memory.
//!
//! An output record has the common text as its key. Its value is the other columns of the left line, then of the right
//! line. A line without a partner, if requested, has only its own columns.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::columns::{Column, ShortLines, separator};
use crate::library::settings;
use crate::operator::{Batch, Groups, Mapper, Out, Reducer, TaskContext};
use yunti_base::{Code, Error, Result};

/// Tag of a left line.
const LEFT: u8 = b'L';
/// Tag of a right line.
const RIGHT: u8 = b'R';
const SMALL: &str = "join.small";
/// Bytes of the lines of one key that are held in memory, at most.
const GROUP_BYTES: usize = 256 << 20;

/// Sides whose lines without a partner are emitted.
#[derive(Clone, Copy)]
struct Outer {
    left: bool,
    right: bool,
}

impl Outer {
    fn new(context: &TaskContext) -> Result<Self> {
        let (left, right) = match context.setting("join.kind").unwrap_or("inner") {
            "inner" => (false, false),
            "left" => (true, false),
            "right" => (false, true),
            "full" => (true, true),
            other => {
                return Err(Error::new(Code::Usage, format!("the setting join.kind is '{other}'"))
                    .hint("use inner, left, right or full"));
            }
        };
        Ok(Outer { left, right })
    }
}

/// Column of a side, and its separator.
#[derive(Clone, Copy)]
struct Side {
    column: Column,
    separator: u8,
}

impl Side {
    fn new(context: &TaskContext, setting: &str) -> Result<Self> {
        Ok(Side { column: Column::named(context, setting)?, separator: separator(context)? })
    }

    /// Returns the common text, and appends the rest of the line to `rest`; None if the line has fewer columns.
    fn cut<'a>(&self, line: &'a [u8], rest: &mut Vec<u8>) -> Option<&'a [u8]> {
        let Range { start, end } = self.column.range(line)?;
        rest.extend_from_slice(&line[..start.saturating_sub(1)]);
        if start > 0 && end < line.len() {
            rest.push(self.separator);
        }
        rest.extend_from_slice(line.get(end + 1..).unwrap_or_default());
        Some(&line[start..end])
    }
}

/// Mapper that emits lines by their column. Lines of files below `join.left` are the left ones.
pub struct Join {
    context: Arc<TaskContext>,
    prefix: String,
    left: Side,
    right: Side,
    value: Vec<u8>,
    short: ShortLines,
}

impl Join {
    /// Reads the settings `join.left`, `join.left.column`, `join.right.column` and `separator`. Errors: `Usage`.
    pub fn new(context: &Arc<TaskContext>) -> Result<Self> {
        let prefix = settings::required(context, "join.left", "people.tsv")?.trim_end_matches('/').to_string();
        Ok(Join {
            prefix,
            left: Side::new(context, "join.left.column")?,
            right: Side::new(context, "join.right.column")?,
            value: Vec::new(),
            short: ShortLines::new(context),
            context: context.clone(),
        })
    }

    fn is_left(&self, file: &str) -> bool {
        // On a cluster the path begins with the file system.
        file.match_indices(&self.prefix).any(|(at, found)| {
            let (before, after) = (&file[..at], &file[at + found.len()..]);
            (before.is_empty() || before.ends_with('/') || found.starts_with('/'))
                && (after.is_empty() || after.starts_with('/'))
        })
    }
}

impl Mapper for Join {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let file = self.context.job.inputs.get(batch.file_index() as usize);
        let left = file.is_some_and(|file| self.is_left(file));
        let side = if left { self.left } else { self.right };
        for i in 0..batch.len() {
            self.value.clear();
            self.value.push(if left { LEFT } else { RIGHT });
            match side.cut(batch.record(i).1, &mut self.value) {
                Some(key) => out.emit(key, &self.value)?,
                None => self.short.add(),
            }
        }
        Ok(())
    }
}

/// Reducer that pairs the lines of each key.
pub struct JoinReducer {
    outer: Outer,
    separator: u8,
    lefts: Vec<Vec<u8>>,
    rights: Vec<Vec<u8>>,
    bytes: usize,
}

impl JoinReducer {
    /// Reads the settings `join.kind` and `separator`. Errors: `Usage`.
    pub fn new(context: &TaskContext) -> Result<Self> {
        let (outer, separator) = (Outer::new(context)?, separator(context)?);
        Ok(JoinReducer { outer, separator, lefts: Vec::new(), rights: Vec::new(), bytes: 0 })
    }

    fn pairs(&mut self, key: &[u8], out: &mut Out) -> Result<()> {
        if self.rights.is_empty() && self.outer.left {
            self.lefts.iter().try_for_each(|left| out.emit(key, left))?;
        }
        if self.lefts.is_empty() && self.outer.right {
            self.rights.iter().try_for_each(|right| out.emit(key, right))?;
        }
        for left in &self.lefts {
            for right in &self.rights {
                out.emit(key, &pair(left, right, self.separator))?;
            }
        }
        self.lefts.clear();
        self.rights.clear();
        self.bytes = 0;
        Ok(())
    }
}

fn pair(left: &[u8], right: &[u8], separator: u8) -> Vec<u8> {
    match (left, right) {
        ([], one) | (one, []) => one.to_vec(),
        _ => [left, &[separator], right].concat(),
    }
}

impl Reducer for JoinReducer {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        for i in 0..groups.len() {
            for v in groups.range(i) {
                let Some((tag, rest)) = groups.value(v).split_first() else {
                    return Err(Error::new(Code::UserCode, "a value belongs to neither side")
                        .hint("name Yunti.JoinMapper as the mapper"));
                };
                self.bytes += rest.len() + size_of::<Vec<u8>>();
                if self.bytes > GROUP_BYTES {
                    let key = String::from_utf8_lossy(groups.key(i)).into_owned();
                    return Err(Error::new(
                        Code::UserCode,
                        format!("the lines with '{key}' take more than {GROUP_BYTES} bytes"),
                    )
                    .hint("leave them out, or join with the small side in memory (hash-join)"));
                }
                let side = if *tag == LEFT { &mut self.lefts } else { &mut self.rights };
                side.push(rest.to_vec());
            }
            if groups.completes(i) {
                self.pairs(groups.key(i), out)?;
            }
        }
        Ok(())
    }
}

/// Rests of the lines of the small side, by their column.
struct Table {
    rows: HashMap<Box<[u8]>, Vec<Box<[u8]>>>,
}

/// Mapper that pairs the lines of the input, the left side, with lines of a side file.
pub struct HashJoin {
    table: Arc<Table>,
    outer: Outer,
    left: Side,
    rest: Vec<u8>,
    short: ShortLines,
}

impl HashJoin {
    /// Reads the settings and, once a process, the side file. Errors: `Usage`.
    pub fn new(context: &Arc<TaskContext>) -> Result<Self> {
        let outer = Outer::new(context)?;
        if outer.right {
            return Err(Error::new(Code::Usage, "a hash join cannot find lines of the small side without a partner")
                .hint("use the application join"));
        }
        let right = Side::new(context, "join.right.column")?;
        let table = context.job.shared(SMALL, || Table::read(context, right))?;
        Ok(HashJoin {
            table,
            outer,
            left: Side::new(context, "join.left.column")?,
            rest: Vec::new(),
            short: ShortLines::new(context),
        })
    }
}

impl Table {
    fn read(context: &Arc<TaskContext>, side: Side) -> Result<Table> {
        let (_, text) = settings::side_file(context, SMALL, "countries.tsv")?;
        let mut rows = HashMap::<Box<[u8]>, Vec<Box<[u8]>>>::new();
        let mut short = ShortLines::new(context);
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        for line in text.split(|&byte| byte == b'\n') {
            let mut rest = Vec::new();
            match side.cut(line.strip_suffix(b"\r").unwrap_or(line), &mut rest) {
                Some(key) => rows.entry(key.into()).or_default().push(rest.into()),
                None => short.add(),
            }
        }
        Ok(Table { rows })
    }
}

impl Mapper for HashJoin {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        for i in 0..batch.len() {
            self.rest.clear();
            let Some(key) = self.left.cut(batch.record(i).1, &mut self.rest) else {
                self.short.add();
                continue;
            };
            match self.table.rows.get(key) {
                Some(rights) => {
                    for right in rights {
                        out.emit(key, &pair(&self.rest, right, self.left.separator))?;
                    }
                }
                None if self.outer.left => out.emit(key, &self.rest)?,
                None => {}
            }
        }
        Ok(())
    }
}
