//! Mappers of a sorted join: they emit lines by their column, each with the tag of its side.

use std::sync::Arc;

use super::super::columns::ShortLines;
use super::{LEFT, RIGHT, Side, without_cr};
use crate::library::settings;
use crate::operator::{Batch, Mapper, Out, TaskContext};
use yunti_base::Result;

/// Emits the lines of a batch. `has_cr`: lines may end with a CR, which is no part of them.
fn emit_lines(
    batch: &Batch<'_>,
    (tag, side, has_cr): (u8, Side, bool),
    value: &mut Vec<u8>,
    short: &mut ShortLines,
    out: &mut Out,
) -> Result<()> {
    for i in 0..batch.len() {
        let line = batch.record(i).1;
        let line = if has_cr { without_cr(line) } else { line };
        match side.cut(line) {
            Some(cut) => {
                value.clear();
                value.push(tag);
                cut.append_rest(value);
                out.emit(cut.key, value)?;
            }
            None => short.add(),
        }
    }
    Ok(())
}

/// Mapper for lines of both sides. Lines of files below `join.left` are the left ones.
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
        let side = match file.is_some_and(|file| self.is_left(file)) {
            true => (LEFT, self.left, false),
            false => (RIGHT, self.right, false),
        };
        emit_lines(batch, side, &mut self.value, &mut self.short, out)
    }
}

/// Mapper for a source that has lines of one side only: how a hash join runs whose table does not fit.
pub struct OneSide {
    /// Tag, column, and true if lines may end with a CR: lines of a side file end at LF or CRLF.
    side: (u8, Side, bool),
    value: Vec<u8>,
    short: ShortLines,
}

impl OneSide {
    /// Reads the settings of the left lines. Errors: `Usage`.
    pub fn left(context: &Arc<TaskContext>) -> Result<Self> {
        OneSide::new(context, (LEFT, Side::new(context, "join.left.column")?, false))
    }

    /// Reads the settings of the right lines. Errors: `Usage`.
    pub fn right(context: &Arc<TaskContext>) -> Result<Self> {
        OneSide::new(context, (RIGHT, Side::new(context, "join.right.column")?, true))
    }

    fn new(context: &Arc<TaskContext>, side: (u8, Side, bool)) -> Result<Self> {
        Ok(OneSide { side, value: Vec::new(), short: ShortLines::new(context) })
    }
}

impl Mapper for OneSide {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        emit_lines(batch, self.side, &mut self.value, &mut self.short, out)
    }
}
