//! The reducer of a join: the lines of each key, paired. A key may have any number of lines on both sides.
//!
//! The pairs of a key are in the order of the left lines, and for each of them of the right lines, whatever the memory:
//! left lines are read once, right lines once for each of them. Lines without room in memory are on scratch. To read
//! right lines again costs at most as many bytes as the pairs that are then written, since each contains one.
//!
//! Rejected: pairs by blocks of left lines, which read the right lines once a block. Their order would depend on the
//! memory, and a job that is resumed, or tried again with one worker, would write other bytes.

use std::sync::Arc;

use super::held_lines::{BlockBuffer, HeldLines, tails_bytes};
use super::row_form::RowForm;
use super::{JoinKind, LEFT, append_pair};
use crate::library::applications::columns::separator;
use crate::operator::{Groups, Out, Reducer, TaskContext};
use yunti_base::{Code, Error, Result};

/// Form of keys and lines.
enum Form {
    /// Text, as it is, with a separator between the sides.
    Lines(u8),
    /// Typed columns.
    Rows(RowForm),
}

impl Form {
    /// Appends the text of a key.
    fn put_key(&self, key: &[u8], record: &mut Vec<u8>) -> Result<()> {
        match self {
            Form::Lines(_) => record.extend_from_slice(key),
            Form::Rows(form) => form.put_key(key, record)?,
        }
        Ok(())
    }

    /// Appends the line of one side, without a partner.
    fn put_alone(&self, line: &[u8], is_left: bool, record: &mut Vec<u8>) {
        match self {
            Form::Lines(_) => record.extend_from_slice(line),
            Form::Rows(form) => form.put_alone(line, is_left, record),
        }
    }

    /// Appends a right line behind a left one.
    fn put_right(&self, left_len: usize, right: &[u8], record: &mut Vec<u8>) {
        match self {
            Form::Lines(separator) => append_pair(record, left_len, right, *separator),
            Form::Rows(form) => form.put_right(right, record),
        }
    }
}

/// Reducer that pairs the lines of each key.
pub struct JoinReducer {
    context: Arc<TaskContext>,
    kind: JoinKind,
    form: Form,
    lefts: HeldLines,
    rights: HeldLines,
    /// True if there was a right line, held or not.
    has_right: bool,
    /// Buffers for spilled lines of both sides.
    buffers: (BlockBuffer, BlockBuffer),
    /// Key, columns of the left line, columns of the right line.
    record: Vec<u8>,
}

impl JoinReducer {
    /// Reads the settings `join.kind` and `separator`. Errors: `Usage`.
    pub fn lines(context: &Arc<TaskContext>) -> Result<Self> {
        JoinReducer::new(context, Form::Lines(separator(context)?))
    }

    /// Reads the settings of a join of tables. Errors: `Usage`.
    pub fn rows(context: &Arc<TaskContext>) -> Result<Self> {
        JoinReducer::new(context, Form::Rows(RowForm::new(context)?))
    }

    fn new(context: &Arc<TaskContext>, form: Form) -> Result<Self> {
        Ok(JoinReducer {
            kind: JoinKind::new(context)?,
            form,
            lefts: HeldLines::default(),
            rights: HeldLines::default(),
            has_right: false,
            buffers: Default::default(),
            record: Vec::new(),
            context: context.clone(),
        })
    }

    /// Holds a line, which has the tag of its side.
    fn hold(&mut self, value: &[u8]) -> Result<()> {
        let Some((tag, line)) = value.split_first() else {
            return Err(Error::new(Code::UserCode, "a value belongs to neither side")
                .hint("name Yunti.JoinMapper as the mapper"));
        };
        self.has_right |= *tag != LEFT;
        if *tag != LEFT && !self.kind.pairs {
            return Ok(());
        }
        let workspace = &self.context.job.workspace;
        let most = tails_bytes(workspace);
        if self.lefts.tail_bytes() + self.rights.tail_bytes() + line.len() > most {
            // Left lines are read only once, so they go first, unless there are few of them.
            let side = if self.lefts.tail_bytes() >= most / 4 { &mut self.lefts } else { &mut self.rights };
            side.spill(workspace)?;
        }
        let side = if *tag == LEFT { &mut self.lefts } else { &mut self.rights };
        side.push(line, workspace)
    }

    fn pairs(&mut self, key: &[u8], out: &mut Out) -> Result<()> {
        let JoinReducer { context, kind, form, lefts, rights, buffers, record, has_right } = self;
        let workspace = &context.job.workspace;
        let cancel = &context.job.host.cancel;
        record.clear();
        form.put_key(key, record)?;
        let key_len = record.len();
        let has_pairs = *has_right && !lefts.is_empty();
        if has_pairs && kind.pairs {
            lefts.each(workspace, &mut buffers.0, |left| {
                cancel.check()?;
                record.truncate(key_len);
                record.extend_from_slice(left);
                let left_end = record.len();
                rights.each(workspace, &mut buffers.1, |right| {
                    record.truncate(left_end);
                    form.put_right(left.len(), right, record);
                    Ok(out.emit_adjacent(record, key_len)?)
                })
            })?;
        } else {
            let alone = match (has_pairs, *has_right) {
                (true, _) => kind.matched.then_some((&*lefts, true)),
                (false, false) => kind.left.then_some((&*lefts, true)),
                (false, true) => kind.right.then_some((&*rights, false)),
            };
            if let Some((lines, is_left)) = alone {
                lines.each(workspace, &mut buffers.0, |line| {
                    record.truncate(key_len);
                    form.put_alone(line, is_left, record);
                    Ok(out.emit_adjacent(record, key_len)?)
                })?;
            }
        }
        lefts.clear(workspace);
        rights.clear(workspace);
        *has_right = false;
        Ok(())
    }
}

impl Reducer for JoinReducer {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        for i in 0..groups.len() {
            for v in groups.range(i) {
                self.hold(groups.value(v))?;
            }
            if groups.completes(i) {
                self.pairs(groups.key(i), out)?;
            }
        }
        Ok(())
    }
}
