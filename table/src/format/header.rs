//! The first 4096 bytes of a table.

use yunti_base::{Code, Error, Result};

use super::group::{self, GROUP};

use super::schema::Schema;

/// Bytes of the header. The sections begin behind it.
pub const BYTES: usize = 4096;
/// `YTAB`, and bytes that a transfer as text or a seventh bit would change.
pub const MAGIC: [u8; 8] = *b"YTAB\x89\r\n\x1a";
pub const VERSION: u32 = 2;

/// Returns the error for a schema that `Header::fits` refuses.
pub fn other_schema() -> Error {
    Error::new(Code::Corrupt, "the table is damaged: its schema does not fit its sections")
}

/// Place of a section in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub begin: u64,
    pub bytes: u64,
}

impl Place {
    pub fn end(self) -> u64 {
        self.begin + self.bytes
    }
}

/// Sections in the order of the header's list, which is their order in the file too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    pub schema: Place,
    /// One byte a bucket: index/.
    pub pilots: Place,
    /// One bit a slot: 1 if it has a row.
    pub used: Place,
    /// Where the rows of each group are, if they have different lengths.
    pub groups: Place,
    pub rows: Place,
    pub dictionaries: Place,
    /// Slots in the order of their keys, and the begin of each 64th key.
    pub order: Place,
    pub fences: Place,
    /// CRC-32C of each block of all bytes before.
    pub sums: Place,
}

const SECTIONS: usize = 9;
const SECTIONS_AT: usize = 64;
const SHARD_AT: usize = SECTIONS_AT + 16 * SECTIONS;
/// Keys of the order with a common fence.
pub const FENCE: u64 = 64;
const HAS_LISTS: u32 = 1;
const IS_SORTED: u32 = 2;

impl Sections {
    fn list(&self) -> [Place; SECTIONS] {
        let Sections { schema, pilots, used, groups, rows, dictionaries, order, fences, sums } = *self;
        [schema, pilots, used, groups, rows, dictionaries, order, fences, sums]
    }

    fn of(list: [Place; SECTIONS]) -> Sections {
        let [schema, pilots, used, groups, rows, dictionaries, order, fences, sums] = list;
        Sections { schema, pilots, used, groups, rows, dictionaries, order, fences, sums }
    }
}

/// The header's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// A key may have several rows.
    pub has_lists: bool,
    /// The order of keys is there.
    pub is_sorted: bool,
    pub keys: u64,
    pub rows: u64,
    /// Seed of the hash of keys.
    pub seed: u64,
    /// The index has this many parts, each with the same number of buckets and slots.
    pub parts: u32,
    pub buckets: u32,
    pub slots: u32,
    /// Bytes of each row; 0 if they differ, or if a key may have several.
    pub row_bytes: u32,
    /// Bytes of an offset within a group: 2 or 4; 0 if all rows have the same length.
    pub offset_bytes: u32,
    pub sections: Sections,
    /// Number of this file, from 1, and of the files that the keys are divided into; zeros for a whole table.
    pub shard: (u32, u32),
}

impl Header {
    /// Returns the slots of all parts.
    pub fn all_slots(&self) -> u64 {
        u64::from(self.parts) * u64::from(self.slots)
    }

    /// Returns the bytes of the number of a slot in the order of keys.
    pub fn order_bytes(&self) -> u64 {
        if self.all_slots() > u64::from(u32::MAX) { 8 } else { 4 }
    }

    /// Returns the bytes of a group: where its rows begin, and the offsets of each slot and behind the last.
    pub fn group_bytes(&self) -> u64 {
        group::bytes(self.offset_bytes as usize) as u64
    }

    /// Returns true if these are numbers of an index, or of an empty table's.
    fn has_index(&self) -> bool {
        let is_some = self.buckets.is_power_of_two() && self.slots > 0;
        if self.parts > 0 { is_some } else { (self.buckets, self.slots) == (0, 0) }
    }

    /// Returns true if rows of a schema have the length that the header says.
    pub fn fits(&self, schema: &Schema) -> bool {
        schema.row_bytes().filter(|_| !self.has_lists).unwrap_or(0) == self.row_bytes as usize
    }

    pub fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        let mut at = 8;
        let mut put = |value: &[u8]| {
            bytes[at..at + value.len()].copy_from_slice(value);
            at += value.len();
        };
        put(&VERSION.to_le_bytes());
        let flags = [(self.has_lists, HAS_LISTS), (self.is_sorted, IS_SORTED)];
        put(&flags.iter().map(|(is_set, flag)| u32::from(*is_set) * flag).sum::<u32>().to_le_bytes());
        [self.keys, self.rows, self.seed].iter().for_each(|number| put(&number.to_le_bytes()));
        for number in [self.parts, self.buckets, self.slots, self.row_bytes, self.offset_bytes, 0] {
            put(&number.to_le_bytes());
        }
        for place in self.sections.list() {
            put(&place.begin.to_le_bytes());
            put(&place.bytes.to_le_bytes());
        }
        put(&self.shard.0.to_le_bytes());
        put(&self.shard.1.to_le_bytes());
        let sum = crc32c::crc32c(&bytes[..BYTES - 4]);
        bytes[BYTES - 4..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads the header of a file of `length` bytes. What it says fits into the file.
    pub fn decode(bytes: &[u8], length: u64) -> Result<Header> {
        let damaged = |what: &str| Err(Error::new(Code::Corrupt, format!("the table is damaged: {what}")));
        if bytes.len() < 8 || bytes[..8] != MAGIC {
            return Err(Error::new(Code::Input, "this is no table of yunti table build"));
        }
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        if bytes.len() < BYTES {
            return damaged("it is cut");
        }
        if u32_at(8) != VERSION {
            let version = u32_at(8);
            return Err(Error::new(
                Code::Input,
                format!("the table has version {version}; this program reads {VERSION}"),
            )
            .hint("build it again, or install the program that built it"));
        }
        if crc32c::crc32c(&bytes[..BYTES - 4]) != u32_at(BYTES - 4) {
            return damaged("the checksum of its header is wrong");
        }
        if u32_at(12) & !(HAS_LISTS | IS_SORTED) != 0 {
            return Err(Error::new(Code::Input, "the table has parts that this program does not know")
                .hint("install the program that built it"));
        }
        let mut list = [Place::default(); SECTIONS];
        for (number, place) in list.iter_mut().enumerate() {
            let at = SECTIONS_AT + 16 * number;
            *place = Place { begin: u64_at(at), bytes: u64_at(at + 8) };
        }
        let header = Header {
            has_lists: u32_at(12) & HAS_LISTS != 0,
            is_sorted: u32_at(12) & IS_SORTED != 0,
            keys: u64_at(16),
            rows: u64_at(24),
            seed: u64_at(32),
            parts: u32_at(40),
            buckets: u32_at(44),
            slots: u32_at(48),
            row_bytes: u32_at(52),
            offset_bytes: u32_at(56),
            sections: Sections::of(list),
            shard: (u32_at(SHARD_AT), u32_at(SHARD_AT + 4)),
        };
        let mut behind = BYTES as u64;
        for place in list {
            if place.begin < behind || place.begin.checked_add(place.bytes).is_none_or(|end| end > length) {
                return damaged(if place.begin < behind { "its sections overlap" } else { "it is cut" });
            }
            behind = place.end();
        }
        if behind != length {
            return damaged("it is longer than its sections");
        }
        let (slots, of) = (header.all_slots(), &header.sections);
        let is_fixed = header.row_bytes > 0;
        let keys_of = |is_there: bool, bytes: u64| if is_there { header.keys.checked_mul(bytes) } else { Some(0) };
        let fits = [
            header.keys <= slots,
            header.rows == header.keys || header.has_lists && header.rows > header.keys,
            (header.keys == 0) == (slots == 0),
            header.has_index(),
            if is_fixed { header.offset_bytes == 0 && !header.has_lists } else { matches!(header.offset_bytes, 2 | 4) },
            of.pilots.bytes == u64::from(header.parts) * u64::from(header.buckets),
            of.used.bytes == if is_fixed { slots.div_ceil(64) * 8 } else { 0 },
            of.groups.bytes == if is_fixed { 0 } else { slots.div_ceil(GROUP) * header.group_bytes() },
            !is_fixed || slots.checked_mul(u64::from(header.row_bytes)) == Some(of.rows.bytes),
            Some(of.order.bytes) == keys_of(header.is_sorted, header.order_bytes()),
            of.fences.bytes == if header.is_sorted { header.keys.div_ceil(FENCE) * 8 } else { 0 },
            of.sums.bytes == super::sums::blocks(of.sums.begin) * 4,
            list.iter().all(|place| place.begin % 8 == 0),
            header.shard == (0, 0) || (1..=header.shard.1).contains(&header.shard.0),
        ];
        if fits.contains(&false) {
            return damaged("its header contradicts itself");
        }
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        let place = |begin: u64, bytes: u64| Place { begin, bytes };
        Header {
            keys: 3,
            rows: 3,
            seed: 5,
            parts: 1,
            buckets: 2,
            slots: 4,
            row_bytes: 16,
            shard: (2, 4),
            sections: Sections {
                schema: place(4096, 10),
                pilots: place(4112, 2),
                used: place(4120, 8),
                groups: place(4128, 0),
                rows: place(4128, 64),
                dictionaries: place(4192, 0),
                order: place(4192, 0),
                fences: place(4192, 0),
                sums: place(4192, 4),
            },
            ..Header::default()
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Header::decode(&header().encode(), 4196).unwrap(), header());
    }

    #[test]
    fn damage_is_an_error() {
        let bytes = header().encode();
        for (length, what) in [(4195, "it is cut"), (100, "it is cut")] {
            assert!(Header::decode(&bytes, length).unwrap_err().what().contains(what));
        }
        assert!(Header::decode(&bytes[..100], 100).unwrap_err().what().contains("it is cut"));
        assert!(Header::decode(b"PAR1", 4).unwrap_err().what().contains("no table"));
        let mut wrong = bytes;
        wrong[200] ^= 1;
        assert!(Header::decode(&wrong, 4196).unwrap_err().what().contains("checksum"));
        let contradicts = Header { slots: 5, ..header() };
        assert!(Header::decode(&contradicts.encode(), 4196).unwrap_err().what().contains("contradicts"));
        let mut three = Header { buckets: 3, ..header() };
        three.sections.pilots.bytes = 3;
        assert!(Header::decode(&three.encode(), 4196).unwrap_err().what().contains("contradicts"));
        let mut unknown = bytes;
        unknown[12] |= 4;
        let sum = crc32c::crc32c(&unknown[..BYTES - 4]).to_le_bytes();
        unknown[BYTES - 4..].copy_from_slice(&sum);
        assert!(Header::decode(&unknown, 4196).unwrap_err().what().contains("does not know"));
        let mut overlaps = header();
        overlaps.sections.rows.begin = 4104;
        assert!(Header::decode(&overlaps.encode(), 4196).unwrap_err().what().contains("overlap"));
    }
}
