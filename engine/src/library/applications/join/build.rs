//! The second pass over the small side of a hash join: rows into their partitions, then each partition in the order of
//! its hashes.
//!
//! ```text
//!   chunk 0 --+--> partition 0 | rows of chunk 0 | rows of chunk 1 |      each stretch has one writer
//!   chunk 1 --+--> partition 1 | rows of chunk 0 | rows of chunk 1 |
//!
//!   partition      staged rows -> sort by hash, then place -> groups      in place, by one worker
//! ```
//!
//! The file is read twice and never held: the table is the only copy. A group is never longer than its rows were, so
//! that a partition keeps its place.

use std::ops::Range;
use std::sync::Arc;

use super::TABLE_PURPOSE;
use super::measure::{ENTRY_BYTES, Measured};
use super::side_lines::LineBuffer;
use super::table::{
    JoinTable, LAST, MANY, bucket_of, directory_bytes, entry_of, head_of, staged, staged_bytes, tag_of, varint_bytes,
};
use crate::bytes::varint;
use crate::env::Crew;
use crate::env::sync::{Mutex, lock};
use crate::memory::{Budget, Buffer};
use yunti_base::Result;

/// A row of a partition: its hash, and its place among the staged rows.
type Entry = (u64, u64);

/// Part of the table that one worker fills.
struct Part<'t> {
    rows: &'t mut [u8],
    directory: &'t mut [u8],
}

/// Builds the table.
///
/// Errors: `Memory` without room for the table; `Input` for a file that changed.
pub fn build(measured: &Measured, budget: &Arc<Budget>, crew: &Crew<'_>) -> Result<JoinTable> {
    let log2 = measured.buckets_log2();
    let row_bytes: u64 = measured.bytes.iter().sum();
    let buffer = |bytes: u64| Buffer::new(bytes as usize, Some(budget.grant(bytes, TABLE_PURPOSE)?));
    let mut rows = buffer(row_bytes)?;
    let mut directory = buffer(directory_bytes(log2))?;
    stage(measured, &mut rows, budget, crew)?;
    order(measured, &mut rows, &mut directory, budget, crew)?;
    Ok(JoinTable { rows, directory, buckets_log2: log2, hasher: measured.hasher })
}

/// Reads the file and puts each row into the stretch of its chunk and partition.
fn stage(measured: &Measured, rows: &mut [u8], budget: &Arc<Budget>, crew: &Crew<'_>) -> Result<()> {
    let (partitions, bits) = (measured.rows.len(), measured.partition_bits());
    let mut stretches: Vec<Vec<&mut [u8]>> = measured.chunks.iter().map(|_| Vec::with_capacity(partitions)).collect();
    let mut left = rows;
    for partition in 0..partitions {
        for (chunk, own) in stretches.iter_mut().enumerate() {
            let bytes = measured.bytes[chunk * partitions + partition] as usize;
            let (stretch, after) = left.split_at_mut(bytes);
            own.push(stretch);
            left = after;
        }
    }
    let stretches: Vec<Mutex<Vec<&mut [u8]>>> = stretches.into_iter().map(Mutex::new).collect();
    let buffers: Vec<Mutex<Option<LineBuffer>>> = (0..crew.workers.max(1)).map(|_| Mutex::default()).collect();
    crew.each(measured.chunks.len(), |worker, number| {
        let mut buffer = lock(&buffers[worker]);
        if buffer.is_none() {
            *buffer = Some(LineBuffer::new(budget)?);
        }
        let Some(buffer) = &mut *buffer else { return Ok(()) };
        let mut stretches = std::mem::take(&mut *lock(&stretches[number]));
        let mut lengths = Vec::new();
        measured.lines.each(&measured.chunks[number], buffer, crew.cancel, |line| {
            let Some(cut) = measured.side.cut(line) else { return Ok(()) };
            let rest_len = cut.rest_len();
            let stretch = &mut stretches[bucket_of(measured.hasher.of(cut.key), bits)];
            if stretch.len() < staged_bytes(cut.key.len(), rest_len) {
                return Err(measured.lines.changed());
            }
            lengths.clear();
            varint::put(&mut lengths, head_of(cut.key.len()));
            varint::put(&mut lengths, rest_len as u64);
            for piece in [&lengths, cut.key, cut.before, cut.glue, cut.after] {
                let (to, after) = std::mem::take(stretch).split_at_mut(piece.len());
                to.copy_from_slice(piece);
                *stretch = after;
            }
            Ok(())
        })?;
        if stretches.iter().any(|stretch| !stretch.is_empty()) {
            return Err(measured.lines.changed());
        }
        Ok(())
    })
}

/// Puts the rows of each partition in order, and fills the directory.
fn order(
    measured: &Measured,
    mut rows: &mut [u8],
    mut directory: &mut [u8],
    budget: &Arc<Budget>,
    crew: &Crew<'_>,
) -> Result<()> {
    let partitions = measured.rows.len();
    let entries_each = directory.len() / partitions;
    let mut parts = Vec::with_capacity(partitions);
    let mut start = 0;
    for partition in 0..partitions {
        let bytes = measured.partition_bytes(partition) as usize;
        let (own, after) = std::mem::take(&mut rows).split_at_mut(bytes);
        let (buckets, others) = std::mem::take(&mut directory).split_at_mut(entries_each);
        (rows, directory) = (after, others);
        parts.push(Mutex::new((start, Part { rows: own, directory: buckets })));
        start += bytes as u64;
    }
    let first_bucket = |partition: usize| partition * (entries_each / size_of::<u64>());
    crew.each(partitions, |_, number| {
        let bytes = measured.partition_bytes(number) + measured.rows[number] * ENTRY_BYTES;
        let _memory = budget.grant(bytes, TABLE_PURPOSE)?;
        let mut part = lock(&parts[number]);
        let (start, part) = &mut *part;
        order_partition(part, *start, first_bucket(number), measured, measured.rows[number] as usize);
        Ok(())
    })
}

/// Puts the rows of one partition in order. `start`: its place in the table. `first`: its first bucket.
fn order_partition(part: &mut Part<'_>, start: u64, first: usize, measured: &Measured, row_count: usize) {
    let log2 = measured.buckets_log2();
    let mut entries: Vec<Entry> = Vec::with_capacity(row_count);
    let mut at = 0;
    while at < part.rows.len() {
        let place = at as u64;
        let (key, _) = staged(part.rows, &mut at);
        entries.push((measured.hasher.of(key), place));
    }
    entries.sort_unstable();
    let mut ordered = Vec::with_capacity(part.rows.len());
    let mut groups = Vec::new();
    for bucket in chunks_by(&entries, |entry| bucket_of(entry.0, log2)) {
        let place = start + ordered.len() as u64;
        let number = bucket_of(entries[bucket.start].0, log2) - first;
        let tags = entries[bucket.clone()].iter().fold(0, |tags, entry| tags | tag_of(entry.0));
        let at = number * size_of::<u64>();
        part.directory[at..at + size_of::<u64>()].copy_from_slice(&entry_of(place, tags));
        groups_of(part.rows, &mut entries, bucket, &mut groups);
        let mut head_at = 0;
        for group in &groups {
            head_at = put_group(part.rows, &entries[group.clone()], &mut ordered);
        }
        ordered[head_at] |= LAST as u8;
    }
    part.rows[..ordered.len()].copy_from_slice(&ordered);
}

/// Returns the ranges of neighbours with equal `of`.
fn chunks_by<T: PartialEq>(entries: &[Entry], of: impl Fn(&Entry) -> T) -> Vec<Range<usize>> {
    let mut start = 0;
    let chunks = entries.chunk_by(|a, b| of(a) == of(b)).map(|chunk| {
        let range = start..start + chunk.len();
        start = range.end;
        range
    });
    chunks.collect()
}

/// Finds the groups of a bucket: entries with the same key. Those of equal hashes are put together by their keys first.
/// The group with the most rows is last.
fn groups_of(rows: &[u8], entries: &mut [Entry], bucket: Range<usize>, groups: &mut Vec<Range<usize>>) {
    groups.clear();
    if bucket.len() == 1 {
        groups.push(bucket);
        return;
    }
    let key = |entry: &Entry| staged(rows, &mut (entry.1 as usize)).0;
    let mut start = bucket.start;
    while start < bucket.end {
        let hash = entries[start].0;
        let same = entries[start..bucket.end].partition_point(|entry| entry.0 <= hash);
        let equal = &mut entries[start..start + same];
        let first = equal[0];
        if equal.iter().any(|entry| key(entry) != key(&first)) {
            equal.sort_by(|a, b| key(a).cmp(key(b)).then(a.1.cmp(&b.1)));
        }
        for chunk in equal.chunk_by(|a, b| key(a) == key(b)) {
            groups.push(start..start + chunk.len());
            start += chunk.len();
        }
    }
    groups.sort_by_key(|group| group.len());
}

/// Appends a group; returns the place of its last head. Few rows of short keys stay groups of their own, if they would
/// grow by becoming one.
fn put_group(rows: &[u8], entries: &[Entry], to: &mut Vec<u8>) -> usize {
    let row = |entry: &Entry| {
        let mut at = entry.1 as usize;
        let (key, rest) = staged(rows, &mut at);
        (key, rest, &rows[entry.1 as usize..at])
    };
    let (key, _, first) = row(&entries[0]);
    let mut head_at = to.len();
    if entries.len() == 1 {
        to.extend_from_slice(first);
        return head_at;
    }
    let (mut apart, mut together) = (0, 0);
    for entry in entries {
        let (_, rest, whole) = row(entry);
        apart += whole.len();
        together += varint_bytes(rest.len() as u64) + rest.len();
    }
    if varint_bytes(head_of(key.len())) + varint_bytes(together as u64) + key.len() + together > apart {
        for entry in entries {
            head_at = to.len();
            to.extend_from_slice(row(entry).2);
        }
        return head_at;
    }
    varint::put(to, head_of(key.len()) | MANY);
    varint::put(to, together as u64);
    to.extend_from_slice(key);
    for entry in entries {
        let rest = row(entry).1;
        varint::put(to, rest.len() as u64);
        to.extend_from_slice(rest);
    }
    head_at
}
