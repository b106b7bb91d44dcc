//! Emitted records that come back from a worker: copied, checked, and passed on once.

use std::ops::Range;

use super::columns;
use super::worker::unexpected;
use crate::bytes::words::Edges;
use crate::env::process::SharedMemory;
use crate::env::process::shared_memory::{bytes_of, eights_of};
use crate::operator::Out;
use crate::operator::cursor::{Form, HEADER_BYTES, LARGE_BYTES, copied};
use crate::operator::replay::Replay;
use yunti_base::Result;

/// Records that come back, checked and passed on.
pub struct Emit<'e, 'o> {
    pub out: &'o mut Out,
    /// Bytes that references may point into.
    pub data: &'e [u8],
    pub replay: Option<&'e mut Replay>,
    /// Place of the sent bytes in the batch. References come back from its beginning on.
    pub sent: Range<usize>,
}

impl Emit<'_, '_> {
    pub fn block(&mut self, memory: &SharedMemory, len: usize, scratch: &mut Vec<u8>) -> Result<()> {
        let form = self.out.form();
        let repeats = self.replay.as_ref().is_some_and(|replay| replay.repeats());
        if matches!(form, Form::One | Form::Ref) && !repeats {
            // The common case: the entries go to the cursor's block at once, and are checked there.
            if !len.is_multiple_of(form.entry_bytes()) {
                return Err(unexpected());
            }
            let Emit { out, data, replay, sent } = self;
            let mut at = 0;
            return out.append_entries(len, |to| {
                memory.copy_block(at, to);
                at += to.len();
                move_entries(to, sent.start as u32, form);
                if !refer_into(to, data.len(), form) {
                    return Err(unexpected());
                }
                match replay {
                    Some(replay) => replay.fresh(to).map(drop),
                    None => Ok(()),
                }
            });
        }
        if scratch.len() < len {
            scratch.resize(len, 0);
        }
        let block = &mut scratch[..len];
        memory.copy_block(0, block);
        match form {
            Form::One | Form::Ref => move_entries(block, self.sent.start as u32, form),
            Form::Copy => clear_padding(block)?,
            Form::Bytes => {}
        }
        let fresh = match &mut self.replay {
            Some(replay) => replay.fresh(block)?,
            None => block,
        };
        match form {
            Form::Copy => copies(fresh, self.out),
            Form::Bytes => Ok(fresh.chunks(LARGE_BYTES).try_for_each(|part| self.out.append_checked(part))?),
            _ if refer_into(fresh, self.data.len(), form) => self.out.append_checked_entries(fresh),
            _ => Err(unexpected()),
        }
    }

    pub fn columns(&mut self, payload: &[u8]) -> Result<()> {
        let Emit { out, data, replay, sent } = self;
        let from = data.get(sent.start..).unwrap_or_default();
        columns::emit(payload, from, sent.start as u32, replay.as_deref_mut(), out)
    }

    /// Passes on each word of the sent bytes with the number 1: the worker leaves the search to the engine.
    pub fn words(&mut self) -> Result<()> {
        let Emit { out, data, replay, sent } = self;
        let text = data.get(sent.clone()).unwrap_or_default();
        if out.form() != Form::One || text.is_empty() {
            return Err(unexpected());
        }
        let mut entries = Vec::new();
        Edges::new().words(text, sent.start as u32, |edges| {
            entries.clear();
            entries.extend(edges.chunks_exact(2).flat_map(|word| [word[0], word[1] - word[0]]));
            let entries = bytes_of(&entries);
            let fresh = match replay {
                Some(replay) => replay.fresh(entries)?,
                None => entries,
            };
            out.append_checked_entries(fresh)
        })
    }

    pub fn large(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if let Some(replay) = &mut self.replay
            && !replay.is_fresh(key, value)?
        {
            return Ok(());
        }
        match self.out.form() {
            Form::Bytes => Ok(self.out.append(key)?),
            Form::Copy => Ok(self.out.emit(key, value)?),
            _ => Err(unexpected()),
        }
    }
}

/// Appends records in form COPY, as many at once as the cursor takes.
fn copies(block: &[u8], out: &mut Out) -> Result<()> {
    let mut from = 0;
    let mut end = 0;
    for (at, klen, vlen) in copied(block) {
        let next = (at + HEADER_BYTES + klen + vlen).next_multiple_of(8);
        if next > block.len() {
            return Err(unexpected());
        }
        if next - at > LARGE_BYTES {
            // A class may fill the room of a block by one record.
            out.append_checked(&block[from..at])?;
            let (key, value) = block[at + HEADER_BYTES..][..klen + vlen].split_at(klen);
            out.emit(key, value)?;
            (from, end) = (next, next);
            continue;
        }
        if next - from > LARGE_BYTES {
            out.append_checked(&block[from..at])?;
            from = at;
        }
        end = next;
    }
    if end != block.len() {
        return Err(unexpected());
    }
    Ok(out.append_checked(&block[from..end])?)
}

/// Sets the bytes between records to 0: they hold what the memory held before, which differs between attempts.
fn clear_padding(block: &mut [u8]) -> Result<()> {
    let mut at = 0;
    while let Some(header) = block.get(at..at + HEADER_BYTES) {
        let len = |i: usize| u32::from_le_bytes([header[i], header[i + 1], header[i + 2], header[i + 3]]) as usize;
        let end = at + HEADER_BYTES + len(0) + len(4);
        let next = end.next_multiple_of(8);
        block.get_mut(end..next).ok_or_else(unexpected)?.fill(0);
        at = next;
    }
    Ok(())
}

/// Adds a number to the offsets of entries. A wrong entry stays wrong, or names other bytes of the batch.
fn move_entries(entries: &mut [u8], by: u32, form: Form) {
    if by > 0 {
        for entry in entries.chunks_exact_mut(form.entry_bytes()) {
            let offset = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]).wrapping_add(by);
            entry[..4].copy_from_slice(&offset.to_le_bytes());
        }
    }
}

/// Returns true if all entries of a block name bytes of the batch.
fn refer_into(block: &[u8], data_bytes: usize, form: Form) -> bool {
    if !block.as_ptr().cast::<u64>().is_aligned() {
        return false;
    }
    // An entry beyond the batch makes the difference negative. One bit collects all of them, without a branch.
    let beyond = |entry: u64| (data_bytes as u64).wrapping_sub((entry & 0xffff_ffff) + (entry >> 32));
    let all = match form {
        Form::One => eights_of(block).iter().fold(0, |all, &entry| all | beyond(entry)),
        _ => eights_of(block).chunks_exact(2).fold(0, |all, entry| all | beyond(entry[0])),
    };
    all >> 63 == 0
}
