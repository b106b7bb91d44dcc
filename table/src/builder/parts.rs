//! Sorted rows to parts of the index: pilots, and the rows in the order of slots.

use yunti_base::{Code, Error};

use super::gather::Gather;
use super::order::Place;
use super::sorted::{Entry, Sorted};
use crate::format::group::GROUP;
use crate::format::row::write_number;
use crate::format::schema::Kind;
use crate::index::order;
use crate::index::pilots::{self, Found};
use crate::index::place::Sizes;

/// How rows are written.
pub struct Shape<'a> {
    pub gather: &'a Gather,
    pub sizes: Sizes,
    pub has_lists: bool,
    pub is_sorted: bool,
    /// Bytes of each row; 0 if they differ.
    pub row_bytes: usize,
    /// Bytes of an offset within a group.
    pub offset_bytes: usize,
    /// Columns with a dictionary, and the new numbers of their texts.
    pub ranks: Vec<(usize, &'a [u32])>,
    /// Row of slots without one, if all rows have the same length.
    pub filler: Vec<u8>,
}

/// One part of the index.
pub struct Part {
    pub pilots: Vec<u8>,
    /// Bits of slots that have a row, if all rows have the same length.
    pub used: Vec<u8>,
    /// Groups of rows of different lengths, whose begins count from the begin of this part's rows.
    pub groups: Vec<u8>,
    pub rows: Vec<u8>,
    /// Keys in any order, if the table is sorted.
    pub places: Vec<Place>,
}

impl Part {
    /// Moves the begins of groups by the bytes of rows before this part.
    pub fn move_rows(&mut self, by: u64, group_bytes: u64) {
        for group in self.groups.chunks_mut(group_bytes as usize) {
            if let Some(base) = group.first_chunk_mut() {
                *base = (u64::from_le_bytes(*base) + by).to_le_bytes();
            }
        }
    }
}

/// Why there is no part.
pub enum Refused {
    /// Another seed may have one.
    Seed,
    /// A group of rows is longer than its offsets can say.
    Offsets,
    Error(Error),
}

/// Rows of one key.
#[derive(Clone, Copy)]
struct Group<'s> {
    sorted: &'s Sorted,
    entries: &'s [Entry],
}

/// Slot without a key.
const NONE: u32 = u32::MAX;

impl Shape<'_> {
    /// Returns the columns with a dictionary, and the new numbers of their texts.
    pub fn ranks_of<'r>(gather: &Gather, ranks: &'r [Vec<u32>]) -> Vec<(usize, &'r [u32])> {
        let columns = gather.schema.columns.iter().enumerate().filter(|(_, column)| column.kind == Kind::Dict);
        columns.zip(ranks).map(|((column, _), ranks)| (column, ranks.as_slice())).collect()
    }

    /// Returns a row as the file has it: dictionaries are sorted there.
    pub fn row(&self, row: &[u8], out: &mut Vec<u8>) {
        let begin = out.len();
        out.extend_from_slice(row);
        for (column, ranks) in &self.ranks {
            let layout = &self.gather.layout;
            let (Some(at), Ok(Some(number))) = (layout.offset(*column), layout.value(row, *column)) else { continue };
            let number = u32::from_le_bytes(number.try_into().unwrap_or_default());
            out[begin + at..begin + at + 4].copy_from_slice(&ranks[number as usize].to_le_bytes());
        }
    }

    /// Builds a part from the partitions that have its rows, in their order.
    pub fn part(&self, number: u32, partitions: &[&Sorted]) -> std::result::Result<Part, Refused> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        let mut hashes: Vec<u64> = Vec::new();
        for sorted in partitions {
            let begin = sorted.entries.partition_point(|entry| self.sizes.part(entry.hash) < number);
            let end = sorted.entries.partition_point(|entry| self.sizes.part(entry.hash) <= number);
            for entries in sorted.entries[begin..end].chunk_by(|a, b| a.hash == b.hash) {
                groups.push(Group { sorted, entries });
                hashes.push(entries[0].hash);
            }
        }
        let Found::Pilots(pilots) = pilots::find(&hashes, &self.sizes) else { return Err(Refused::Seed) };
        let mut slots = vec![NONE; self.sizes.slots as usize];
        for (group, hash) in hashes.iter().enumerate() {
            let pilot = pilots[self.sizes.bucket_in_part(*hash) as usize];
            slots[self.sizes.slot_of_step(*hash, Sizes::step(pilot)) as usize] = group as u32;
        }
        drop(hashes);
        let mut part = Part { pilots, used: Vec::new(), groups: Vec::new(), rows: Vec::new(), places: Vec::new() };
        if self.row_bytes > 0 {
            self.fixed_rows(&slots, &groups, &mut part);
        } else {
            self.grouped_rows(&slots, &groups, &mut part)?;
        }
        if self.is_sorted {
            let first = u64::from(number) * u64::from(self.sizes.slots);
            part.places = self.places(first, &slots, &groups);
        }
        Ok(part)
    }

    fn fixed_rows(&self, slots: &[u32], groups: &[Group<'_>], part: &mut Part) {
        part.rows.reserve_exact(slots.len() * self.row_bytes);
        for slots in slots.chunks(64) {
            let mut used = 0_u64;
            for (at, group) in slots.iter().enumerate() {
                if *group == NONE {
                    part.rows.extend_from_slice(&self.filler);
                    continue;
                }
                used |= 1 << at;
                let Group { sorted, entries } = groups[*group as usize];
                self.row(sorted.record(&entries[0]).row, &mut part.rows);
            }
            part.used.extend_from_slice(&used.to_le_bytes());
        }
    }

    fn grouped_rows(&self, slots: &[u32], groups: &[Group<'_>], part: &mut Part) -> std::result::Result<(), Refused> {
        let mut row = Vec::new();
        for slots in slots.chunks(GROUP as usize) {
            let base = part.rows.len();
            part.groups.extend_from_slice(&(base as u64).to_le_bytes());
            self.put_offset(0, part)?;
            for at in 0..GROUP as usize {
                if let Some(group) = slots.get(at).filter(|group| **group != NONE) {
                    let Group { sorted, entries } = groups[*group as usize];
                    for entry in entries {
                        if self.has_lists {
                            row.clear();
                            self.row(sorted.record(entry).row, &mut row);
                            write_number(row.len(), &mut part.rows);
                            part.rows.extend_from_slice(&row);
                        } else {
                            self.row(sorted.record(entry).row, &mut part.rows);
                        }
                    }
                }
                self.put_offset(part.rows.len() - base, part)?;
            }
        }
        Ok(())
    }

    fn put_offset(&self, offset: usize, part: &mut Part) -> std::result::Result<(), Refused> {
        match (u16::try_from(offset), u32::try_from(offset)) {
            (Ok(offset), _) if self.offset_bytes == 2 => part.groups.extend_from_slice(&offset.to_le_bytes()),
            (_, Ok(offset)) if self.offset_bytes == 4 => part.groups.extend_from_slice(&offset.to_le_bytes()),
            (_, Ok(_)) => return Err(Refused::Offsets),
            _ => {
                let what = "the rows of 16 keys have more than 4 GiB";
                return Err(Refused::Error(Error::new(Code::Input, what)));
            }
        }
        Ok(())
    }

    fn places(&self, first: u64, slots: &[u32], groups: &[Group<'_>]) -> Vec<Place> {
        let used = slots.iter().enumerate().filter(|(_, group)| **group != NONE);
        used.map(|(slot, group)| {
            let Group { sorted, entries } = groups[*group as usize];
            let row = sorted.record(&entries[0]).row;
            Place {
                begin: order::long_begin(&self.gather.schema, self.gather.key_values(row)),
                slot: first + slot as u64,
            }
        })
        .collect()
    }
}

/// Runs `work` for each number below `count` by some threads, and returns the results in the order of the numbers.
pub fn in_parallel<T: Send>(threads: usize, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let next = AtomicUsize::new(0);
    let one = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return done;
            }
            done.push((number, work(number)));
        }
    };
    let mut all: Vec<(usize, T)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(count)).map(|_| scope.spawn(one)).collect();
        let mut all = one();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_unstable_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, result)| result).collect()
}
