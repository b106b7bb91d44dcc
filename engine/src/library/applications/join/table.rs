//! The table of a hash join: rows in the order of the hashes of their keys, and a directory with the place of each
//! bucket. No row is an object, and no lookup follows a chain.
//!
//! ```text
//!   hash of a key   | bucket: the upper bits |   ..   | tag: the lowest 4 bits |
//!
//!   directory       one number of 64 bits a bucket:   place << 16 | a bit for each tag of its keys
//!   0x..0004   -+   (0: no key)
//!   0           |
//!   0x..8001  --|-+
//!               v v
//!   rows        | groups of bucket 0 | groups of bucket 2 | ..
//!
//!   group       one row    | head | rest length | key | rest |           head = key length << 2 | many << 1 | last
//!               many rows  | head | bytes       | key | rest length, rest | rest length, rest | ..
//! ```
//!
//! Lengths are LEB128. `last` ends the groups of a bucket. The group with the most rows is the last one, so that a
//! lookup of another key meets it last; and `bytes` leads past it. Rows of one key keep the order of the file.
//!
//! A lookup reads one number of the directory and, if the tag is there, one group: two cache misses, one for most keys
//! that are absent. Lookups of many keys prefetch both (`hashed.rs`). The design is the unchained table of Birler,
//! Kemper and Neumann (DaMoN 2024).
//!
//! Rejected: open addressing with a slot a row. Equal keys make long probes, and a million equal keys a quadratic
//! build. Rejected: offsets into the text of the file. A lookup would cut each line at its column again, and miss the
//! cache once more.

use crate::bytes::prefetch::prefetch;
use crate::bytes::varint;
use crate::fold::Hasher;
use crate::memory::Buffer;

/// Flag of a head: the last group of its bucket.
pub(super) const LAST: u64 = 1;
/// Flag of a head: rows follow, after their bytes.
pub(super) const MANY: u64 = 2;
const FLAG_BITS: u32 = 2;
/// Bits of a directory entry for tags.
const TAG_BITS: u32 = 16;
const ENTRY: usize = 8;

/// Rows by their keys. It does not change once it is built; threads share it.
pub struct JoinTable {
    pub(super) rows: Buffer,
    pub(super) directory: Buffer,
    pub(super) buckets_log2: u32,
    pub(super) hasher: Hasher,
}

/// Returns the bytes of a directory.
pub(super) fn directory_bytes(buckets_log2: u32) -> u64 {
    (ENTRY as u64) << buckets_log2
}

/// Returns the bucket of a hash: its upper bits. Also the partition of a table that is built, of fewer bits.
#[inline(always)]
pub(super) fn bucket_of(hash: u64, buckets_log2: u32) -> usize {
    // A shift by 64 is not a number of bits.
    (hash >> 1 >> (63 - buckets_log2)) as usize
}

/// Returns the bit of a hash among the tags of its bucket.
#[inline(always)]
pub(super) fn tag_of(hash: u64) -> u64 {
    1 << (hash & 15)
}

/// Returns the directory entry of a bucket.
pub(super) fn entry_of(place: u64, tags: u64) -> [u8; ENTRY] {
    (place << TAG_BITS | tags).to_le_bytes()
}

/// Returns the head of a group without flags.
pub(super) fn head_of(key_len: usize) -> u64 {
    (key_len as u64) << FLAG_BITS
}

/// Returns the bytes of a number.
pub(super) fn varint_bytes(n: u64) -> usize {
    (64 - (n | 1).leading_zeros()).div_ceil(7) as usize
}

/// Returns the bytes of a row as a group of its own, which is how rows are staged.
pub(super) fn staged_bytes(key_len: usize, rest_len: usize) -> usize {
    varint_bytes(head_of(key_len)) + varint_bytes(rest_len as u64) + key_len + rest_len
}

/// Returns a staged row at `*at`, and moves `*at` behind it: the key and the rest.
pub(super) fn staged<'a>(rows: &'a [u8], at: &mut usize) -> (&'a [u8], &'a [u8]) {
    let group = Group::read(rows, *at);
    *at = group.end;
    (group.key, group.rest)
}

/// A group, as its bytes are read.
struct Group<'a> {
    key: &'a [u8],
    /// The rest of the one row, or many rows with their lengths.
    rest: &'a [u8],
    is_many: bool,
    is_last: bool,
    end: usize,
}

impl<'a> Group<'a> {
    #[inline(always)]
    fn read(rows: &'a [u8], mut at: usize) -> Group<'a> {
        let head = number(rows, &mut at);
        let rest_len = number(rows, &mut at) as usize;
        let middle = at + (head >> FLAG_BITS) as usize;
        let end = middle + rest_len;
        Group {
            key: &rows[at..middle],
            rest: &rows[middle..end],
            is_many: head & MANY != 0,
            is_last: head & LAST != 0,
            end,
        }
    }
}

/// Reads a number that the builder wrote.
#[inline(always)]
fn number(rows: &[u8], at: &mut usize) -> u64 {
    varint::get(rows, at).expect("a number of the table is whole")
}

impl JoinTable {
    /// Returns the hash of a key.
    #[inline]
    pub fn hash(&self, key: &[u8]) -> u64 {
        self.hasher.of(key)
    }

    /// Prefetches the bucket of a hash.
    #[inline]
    pub fn prefetch_bucket(&self, hash: u64) {
        prefetch(self.directory.as_ptr().wrapping_add(bucket_of(hash, self.buckets_log2) * ENTRY));
    }

    /// Returns the place of the groups that may have a key of this hash, and prefetches them; None if there are none.
    #[inline]
    pub fn find(&self, hash: u64) -> Option<u64> {
        let at = bucket_of(hash, self.buckets_log2) * ENTRY;
        let entry = self.directory[at..at + ENTRY].try_into().map_or(0, u64::from_le_bytes);
        if entry & tag_of(hash) == 0 {
            return None;
        }
        let place = entry >> TAG_BITS;
        let group = self.rows.as_ptr().wrapping_add(place as usize);
        prefetch(group);
        prefetch(group.wrapping_add(64));
        Some(place)
    }

    /// Calls `row` with the other columns of each row of `key`, in the order of the file. `place`: from `find`. Returns
    /// the number of rows. Errors are those of `row`.
    #[inline]
    pub fn each<E>(&self, place: u64, key: &[u8], mut row: impl FnMut(&[u8]) -> Result<(), E>) -> Result<u64, E> {
        let (mut at, mut found) = (place as usize, 0);
        loop {
            let group = Group::read(&self.rows, at);
            if group.key == key {
                if group.is_many {
                    let mut at = 0;
                    while at < group.rest.len() {
                        let len = number(group.rest, &mut at) as usize;
                        row(&group.rest[at..at + len])?;
                        at += len;
                        found += 1;
                    }
                } else {
                    row(group.rest)?;
                    found += 1;
                }
            }
            if group.is_last {
                return Ok(found);
            }
            at = group.end;
        }
    }

    /// Returns the bytes of the table.
    pub fn bytes(&self) -> u64 {
        (self.rows.len() + self.directory.len()) as u64
    }
}
