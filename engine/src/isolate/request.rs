//! Batches, groups and chunks as requests: a head of numbers, then data and columns as parts of their own.

use super::wire::{Put, Take};
use crate::env::process::shared_memory::{bytes_of, bytes_of_eights, eights_of, numbers_of, places};
use crate::operator::batch::Slices;
use crate::operator::groups::{GroupColumns, Values};
use crate::operator::{Batch, Chunk, Groups};
use yunti_base::Result;

/// Calls `send` with the parts of a request: `head`, preceded by the lengths of all parts, then `parts`.
fn with_lens<T>(head: Put, parts: &[&[u8]], send: impl FnOnce(&[&[u8]]) -> T) -> T {
    let lens = Put::default().list(parts.iter(), |put, part| put.u64(part.len() as u64));
    let head = [lens.0, head.0].concat();
    let mut all = vec![&head[..]];
    all.extend_from_slice(parts);
    send(&all)
}

/// Parts of a request, in the worker.
pub struct Parts<'r> {
    /// Numbers of the request.
    pub head: Take<'r>,
    parts: Vec<&'r [u8]>,
}

impl<'r> Parts<'r> {
    /// Finds the parts of a request whose head has `len` bytes. `at` returns bytes of the request.
    pub fn find(len: usize, at: impl Fn(usize, usize) -> &'r [u8]) -> Result<Parts<'r>> {
        let mut head = Take(at(0, len));
        let lens = head.list(Take::u64)?;
        let all = std::iter::once(len).chain(lens.iter().map(|&len| len as usize));
        let (starts, _) = places(all);
        let parts = starts[1..].iter().zip(&lens).map(|(&start, &len)| at(start, len as usize)).collect();
        Ok(Parts { head, parts })
    }

    fn numbers(&self, part: usize) -> &'r [u32] {
        numbers_of(self.parts[part])
    }

    fn slices(&self, part: usize) -> Slices<'r> {
        Slices { offsets: self.numbers(part), lengths: self.numbers(part + 1) }
    }

    pub fn bytes(&self, part: usize) -> &'r [u8] {
        self.parts[part]
    }
}

/// Sends a batch. `form`: form of the records that come back.
pub fn send_batch<T>(batch: &Batch<'_>, form: u32, send: impl FnOnce(&[&[u8]]) -> T) -> T {
    let keys = batch.keys();
    let head = Put::default().u32(form).u32(u32::from(batch.is_span())).u32(u32::from(keys.is_some()));
    let head = head.u32(batch.file_index()).u64(batch.first_position());
    let (keys, values) = (keys.unwrap_or(Slices { offsets: &[], lengths: &[] }), batch.values());
    let columns = [keys.offsets, keys.lengths, values.offsets, values.lengths].map(bytes_of);
    with_lens(head, &[batch.data(), columns[0], columns[1], columns[2], columns[3]], send)
}

/// Reads a batch: the form of its records, and the batch.
pub fn take_batch<'r>(parts: &mut Parts<'r>) -> Result<(u32, Batch<'r>)> {
    let (form, is_span, has_keys) = (parts.head.u32()?, parts.head.u32()? != 0, parts.head.u32()? != 0);
    let (file, position) = (parts.head.u32()?, parts.head.u64()?);
    let data = parts.bytes(0);
    let batch = if is_span {
        Batch::span(data)
    } else {
        Batch::records(data, has_keys.then(|| parts.slices(1)), parts.slices(3))
    };
    Ok((form, batch.at(file, position)))
}

/// Sends groups.
pub fn send_groups<T>(columns: &GroupColumns<'_>, send: impl FnOnce(&[&[u8]]) -> T) -> T {
    let head = Put::default().u32(columns.flags).u32(u32::from(columns.value_keys.is_some()));
    let (eights, values) = match columns.values {
        Values::Eight(numbers) => (bytes_of_eights(numbers), Slices { offsets: &[], lengths: &[] }),
        Values::Slices { offsets, lengths } => (&[][..], Slices { offsets, lengths }),
    };
    let head = head.u32(u32::from(matches!(columns.values, Values::Eight(_))));
    let value_keys = columns.value_keys.unwrap_or(Slices { offsets: &[], lengths: &[] });
    let parts = [
        columns.data,
        bytes_of(columns.keys.offsets),
        bytes_of(columns.keys.lengths),
        bytes_of(columns.first),
        bytes_of(values.offsets),
        bytes_of(values.lengths),
        bytes_of(value_keys.offsets),
        bytes_of(value_keys.lengths),
        eights,
    ];
    with_lens(head, &parts, send)
}

/// Reads groups.
pub fn take_groups<'r>(parts: &mut Parts<'r>) -> Result<Groups<'r>> {
    let (flags, has_value_keys, is_eight) = (parts.head.u32()?, parts.head.u32()? != 0, parts.head.u32()? != 0);
    let values = if is_eight {
        Values::Eight(eights_of(parts.bytes(8)))
    } else {
        let Slices { offsets, lengths } = parts.slices(4);
        Values::Slices { offsets, lengths }
    };
    let keys = parts.slices(1);
    let groups = Groups::new(parts.bytes(0), keys.offsets, keys.lengths, parts.numbers(3), values, flags);
    Ok(if has_value_keys { groups.with_value_keys(parts.slices(6)) } else { groups })
}

/// Sends a chunk of a file.
pub fn send_chunk<T>(chunk: &Chunk<'_>, send: impl FnOnce(&[&[u8]]) -> T) -> T {
    let head = Put::default().u32(u32::from(chunk.first)).u32(u32::from(chunk.last)).u64(chunk.limit);
    with_lens(head.u64(chunk.position).u32(chunk.file_index).u32(chunk.before), &[chunk.bytes], send)
}

/// Reads a chunk.
pub fn take_chunk<'r>(parts: &mut Parts<'r>) -> Result<Chunk<'r>> {
    let bytes = parts.bytes(0);
    let head = &mut parts.head;
    let (first, last, limit) = (head.u32()? != 0, head.u32()? != 0, head.u64()?);
    Ok(Chunk { bytes, first, last, limit, position: head.u64()?, file_index: head.u32()?, before: head.u32()? })
}
