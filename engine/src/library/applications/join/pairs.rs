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
use super::{LEFT, Outer, append_pair};
use crate::library::applications::columns::separator;
use crate::operator::{Groups, Out, Reducer, TaskContext};
use yunti_base::{Code, Error, Result};

/// Reducer that pairs the lines of each key.
pub struct JoinReducer {
    context: Arc<TaskContext>,
    outer: Outer,
    separator: u8,
    lefts: HeldLines,
    rights: HeldLines,
    /// Buffers for spilled lines of both sides.
    buffers: (BlockBuffer, BlockBuffer),
    /// Key, columns of the left line, columns of the right line.
    record: Vec<u8>,
}

impl JoinReducer {
    /// Reads the settings `join.kind` and `separator`. Errors: `Usage`.
    pub fn new(context: &Arc<TaskContext>) -> Result<Self> {
        Ok(JoinReducer {
            outer: Outer::new(context)?,
            separator: separator(context)?,
            lefts: HeldLines::default(),
            rights: HeldLines::default(),
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
        let JoinReducer { context, outer, separator, lefts, rights, buffers, record, .. } = self;
        let workspace = &context.job.workspace;
        let cancel = &context.job.host.cancel;
        record.clear();
        record.extend_from_slice(key);
        if lefts.is_empty() || rights.is_empty() {
            let alone = match (lefts.is_empty(), outer) {
                (false, Outer { left: true, .. }) => Some(&*lefts),
                (true, Outer { right: true, .. }) => Some(&*rights),
                _ => None,
            };
            if let Some(lines) = alone {
                lines.each(workspace, &mut buffers.0, |line| Ok(out.emit(key, line)?))?;
            }
        } else {
            lefts.each(workspace, &mut buffers.0, |left| {
                cancel.check()?;
                record.truncate(key.len());
                record.extend_from_slice(left);
                let left_end = record.len();
                rights.each(workspace, &mut buffers.1, |right| {
                    record.truncate(left_end);
                    append_pair(record, left.len(), right, *separator);
                    Ok(out.emit_adjacent(record, key.len())?)
                })
            })?;
        }
        lefts.clear(workspace);
        rights.clear(workspace);
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
