//! The short ways of lookups, once all the bytes that they read are known to be right. One of the listed files with
//! `unsafe`: while a lookup waits for memory, the processor begins as many of the next ones as its window has room for,
//! so that each instruction counts. Checks of what the header has shown already take a third of the time
//! (docs/decisions/tables.md).

use std::sync::atomic::{AtomicU8, Ordering};

use super::key_shape::KeyShape;
use super::mapping::Mapping;
use crate::format::group::{self, GROUP};
use crate::format::header::{Header, Place};
use crate::index::keys;
use crate::index::place::Sizes;

const NONE: u8 = 0;
const EIGHT: u8 = 1;
const TEXT: u8 = 2;

/// The bytes of a table, and where its index and its rows are in them.
pub struct Direct {
    bytes: Mapping,
    sizes: Sizes,
    /// Where the hashes of keys begin: the seed decides.
    hash_start: u64,
    /// Begins of sections in `bytes`.
    pilots: *const u8,
    groups: *const u8,
    rows: *const u8,
    group_bytes: usize,
    all_rows_bytes: usize,
    /// Bytes of each row, and of those of a part; 0 if rows have different lengths.
    row_bytes: usize,
    part_bytes: usize,
    /// The first row's key of 8 bytes.
    first_key: *const u8,
    has_short_offsets: bool,
    /// The way that keys of this table have, and the one that is open now.
    way: u8,
    open: AtomicU8,
}

/// The way that is open.
pub enum Way<'a> {
    /// For keys of 8 bytes, in rows of one length.
    Eight(Eight<'a>),
    /// For keys that end rows of different lengths.
    Text(Text<'a>),
    None,
}

pub struct Eight<'a>(&'a Direct);

pub struct Text<'a>(&'a Direct);

// SAFETY: the pointers are to `bytes`, which are read-only, do not move, and live as long as this.
unsafe impl Send for Direct {}
unsafe impl Sync for Direct {}

impl Direct {
    /// Takes the bytes of a file with this header; `None` if they do not have all that the header says.
    pub fn of(bytes: Mapping, header: &Header) -> Option<Direct> {
        let of = &header.sections;
        let sizes = Sizes::with(header.parts, header.buckets, header.slots)?;
        let slots = header.all_slots();
        let is_inside =
            |place: Place| place.begin.checked_add(place.bytes).is_some_and(|end| end <= bytes.len() as u64);
        let has_slots = if header.row_bytes > 0 {
            slots.checked_mul(u64::from(header.row_bytes))? <= of.rows.bytes
        } else {
            let groups = slots.div_ceil(GROUP).checked_mul(header.group_bytes())?;
            groups <= of.groups.bytes && matches!(header.offset_bytes, 2 | 4)
        };
        let has_sections = [of.pilots, of.groups, of.rows].into_iter().all(is_inside);
        if !has_sections || !has_slots || sizes.all_buckets > of.pilots.bytes {
            return None;
        }
        let section = |place: Place| bytes[place.begin as usize..].as_ptr();
        Some(Direct {
            sizes,
            hash_start: keys::start(header.seed),
            pilots: section(of.pilots),
            groups: section(of.groups),
            rows: section(of.rows),
            group_bytes: header.group_bytes() as usize,
            all_rows_bytes: of.rows.bytes as usize,
            row_bytes: header.row_bytes as usize,
            part_bytes: header.slots as usize * header.row_bytes as usize,
            first_key: section(of.rows),
            has_short_offsets: header.offset_bytes == 2,
            way: NONE,
            open: AtomicU8::new(NONE),
            bytes,
        })
    }

    /// Chooses the way of tables with these keys.
    pub fn choose(&mut self, key: KeyShape, has_lists: bool) {
        let is_in_row = |at: usize| at.checked_add(8).is_some_and(|end| end <= self.row_bytes);
        self.way = match key {
            _ if self.sizes.all_buckets == 0 => NONE,
            KeyShape::Eight(at) if is_in_row(at) => {
                // SAFETY: there are rows in the file (`of`), and this is within the first one.
                self.first_key = unsafe { self.rows.add(at) };
                EIGHT
            }
            KeyShape::OnlyText(_) if self.row_bytes == 0 && !has_lists => TEXT,
            _ => NONE,
        };
    }

    /// Opens the way: all bytes that lookups read are right.
    pub fn open(&self) {
        // Relaxed: the bytes do not change, so that it does not matter who sees this when.
        self.open.store(self.way, Ordering::Relaxed);
    }

    #[inline(always)]
    pub fn way(&self) -> Way<'_> {
        match self.open.load(Ordering::Relaxed) {
            EIGHT => Way::Eight(Eight(self)),
            TEXT => Way::Text(Text(self)),
            _ => Way::None,
        }
    }

    #[inline(always)]
    pub fn bytes(&self) -> &Mapping {
        &self.bytes
    }

    #[inline(always)]
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// Returns the hash of a key.
    #[inline(always)]
    pub fn hash(&self, key: &[u8]) -> u64 {
        keys::hash(key, self.hash_start)
    }

    /// Returns the pilot of a hash's bucket, and the bucket.
    ///
    /// # Safety
    ///
    /// The table must not be empty.
    #[inline(always)]
    unsafe fn pilot(&self, hash: u64) -> (u64, u8) {
        let bucket = self.sizes.bucket(hash);
        // SAFETY: there are `all_buckets` pilots in the file (`of`), and the bucket is one of them.
        (bucket, unsafe { *self.pilots.add(bucket as usize) })
    }
}

/// Reads some bytes.
///
/// # Safety
///
/// They must be there.
#[inline(always)]
unsafe fn read<const N: usize>(at: *const u8) -> [u8; N] {
    // SAFETY: the caller's promise; an array of bytes has no alignment.
    unsafe { at.cast::<[u8; N]>().read() }
}

impl<'a> Eight<'a> {
    /// Returns the row of a key.
    #[inline(always)]
    pub fn row(self, key: &[u8; 8]) -> Option<&'a [u8]> {
        let own = self.0;
        let hash = keys::hash_of_eight(key, own.hash_start);
        // SAFETY: no empty table has this way (`choose`).
        let (bucket, pilot) = unsafe { own.pilot(hash) };
        let part = own.sizes.part_of_bucket(bucket) as usize * own.part_bytes;
        let at = part + own.sizes.slot_of_step(hash, Sizes::step(pilot)) as usize * own.row_bytes;
        // SAFETY: the part is one of the table's, and the slot one of the part's. The rows of all slots are in the file
        // (`of`), and each has 8 bytes for the key, where the first one has it (`choose`).
        if unsafe { read(own.first_key.add(at)) } != *key {
            return None;
        }
        // SAFETY: as above.
        Some(unsafe { std::slice::from_raw_parts(own.rows.add(at), own.row_bytes) })
    }
}

impl<'a> Text<'a> {
    /// Returns the row of a hash's slot, nothing if it has none; `None` if the file's numbers contradict each other.
    #[inline(always)]
    pub fn slot(self, hash: u64) -> Option<&'a [u8]> {
        let own = self.0;
        // SAFETY: no empty table has this way (`choose`).
        let (bucket, pilot) = unsafe { own.pilot(hash) };
        let slot = own.sizes.slot(hash, bucket, pilot);
        let at = (slot / GROUP) as usize * own.group_bytes;
        // SAFETY: the slot is one of the table's, and the file has a group for each 16 of them (`of`), of these bytes.
        let range = unsafe {
            let group = own.groups.add(at);
            if own.has_short_offsets {
                group::in_short(&*group.cast(), slot)
            } else {
                group::in_long(&*group.cast(), slot)
            }
        };
        let range = range?;
        // SAFETY: the file has these bytes (`of`).
        let rows = unsafe { std::slice::from_raw_parts(own.rows, own.all_rows_bytes) };
        rows.get(range.start as usize..range.end as usize)
    }
}
