//! The bytes of one run block: sorted records of one partition (docs/formats/run-block.md).
//!
//! ```text
//!  stored:   | body, plain or lz4                                 | trailer, 40 bytes |
//!  body:     | key value | key value | ...        | frames        |
//!  frame:    key_len - min : key bits | value_len - min : value bits | split - min : split bits      (without gaps)
//!
//!  trailer, little-endian:
//!   0 crc32c     4 version 1 | codec | key bits | value bits     8 split bits | 0 0 0    12 partition    16 records
//!  20 raw_len   24 stored_len                                   28 key_len min          32 value_len min 36 split min
//! ```
//!
//! `crc32c` covers the trailer behind it and then the CRC32C of the stored body (4 bytes). One number covers both, and
//! a large record needs no copy for the checksum.
//!
//! Lengths are apart from the data, in as many bits as they differ in. Records of one size have no overhead, a short
//! word has one byte, and the data compresses better. The trailer is behind the body because its numbers are known
//! last. A block is found through the run's index, never by scanning.
//!
//! Rejected: varints before each record (2-3 bytes for each record of any size).
//!
//! Limitation: one long value among many tiny records widens the frames of its whole block.

use crate::bytes::checksum::crc32c;
use crate::bytes::{KeyOrder, Record};
use crate::codec::lz4_block;
use yunti_base::{Code, Error, Result};

/// Bytes of a trailer.
pub const TRAILER_BYTES: usize = 40;
/// Records of a block, at most.
pub const RECORDS_MAX: usize = 1 << 16;
/// Bytes of one record's key and value together, at most.
pub const RECORD_BYTES_MAX: usize = (1 << 31) - 1;
/// Bytes that a record adds to an unfinished block beside its own; they count towards the block's size.
pub const FRAME_BYTES: usize = size_of::<[u32; 3]>();

const VERSION: u8 = 1;
/// Bytes that are readable behind the frames in memory, so that a frame is one load.
const SLACK_BYTES: usize = 16;
/// Bits of a frame that fits in eight bytes at any bit offset, at most.
const NARROW_BITS_MAX: u32 = u64::BITS - 7;
/// Compression ratio of lz4, at most.
const LZ4_RATIO_MAX: u64 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Codec {
    Plain = 0,
    Lz4 = 1,
}

#[derive(Clone, Copy, Debug)]
struct Trailer {
    codec: Codec,
    frames: Frames,
    partition: u32,
    records: u32,
    raw_len: u32,
    stored_len: u32,
}

/// Packing of frames: key length, value length, split.
#[derive(Clone, Copy, Debug, Default)]
struct Frames {
    bits: [u8; 3],
    min: [u32; 3],
}

impl Trailer {
    fn encode(&self, body: &[u8]) -> [u8; TRAILER_BYTES] {
        let mut out = [0; TRAILER_BYTES];
        let f = &self.frames;
        out[4..9].copy_from_slice(&[VERSION, self.codec as u8, f.bits[0], f.bits[1], f.bits[2]]);
        let words = [self.partition, self.records, self.raw_len, self.stored_len, f.min[0], f.min[1], f.min[2]];
        for (to, word) in out[12..].chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        let crc = checksum(&out, body);
        out[..4].copy_from_slice(&crc.to_le_bytes());
        out
    }

    /// Returns None if the checksum or any field differs from the format.
    fn decode(stored: &[u8]) -> Option<(Trailer, &[u8])> {
        let (body, trailer) = stored.split_last_chunk::<TRAILER_BYTES>()?;
        let word = |at: usize| u32::from_le_bytes([trailer[at], trailer[at + 1], trailer[at + 2], trailer[at + 3]]);
        if word(0) != checksum(trailer, body) || trailer[4] != VERSION || trailer[9..12] != [0; 3] {
            return None;
        }
        let codec = [Codec::Plain, Codec::Lz4].into_iter().find(|&c| c as u8 == trailer[5])?;
        let frames = Frames { bits: [trailer[6], trailer[7], trailer[8]], min: [word(28), word(32), word(36)] };
        let this =
            Trailer { codec, frames, partition: word(12), records: word(16), raw_len: word(20), stored_len: word(24) };
        let sound = frames.bits.iter().all(|&b| b <= 32)
            && this.records as usize <= RECORDS_MAX
            && this.stored_len as usize == body.len()
            && match codec {
                Codec::Plain => this.raw_len == this.stored_len,
                Codec::Lz4 => u64::from(this.raw_len) <= LZ4_RATIO_MAX * u64::from(this.stored_len),
            }
            && frames.packed_bytes(this.records) <= u64::from(this.raw_len);
        sound.then_some((this, body))
    }
}

fn checksum(trailer: &[u8; TRAILER_BYTES], body: &[u8]) -> u32 {
    let mut both = [0; TRAILER_BYTES];
    both[..TRAILER_BYTES - 4].copy_from_slice(&trailer[4..]);
    both[TRAILER_BYTES - 4..].copy_from_slice(&crc32c(body).to_le_bytes());
    crc32c(&both)
}

impl Frames {
    fn new(min: [u32; 3], max: [u32; 3]) -> Frames {
        let bits = [0, 1, 2].map(|i| (u32::BITS - (max[i] - min[i]).leading_zeros()) as u8);
        Frames { bits, min }
    }

    fn record_bits(&self) -> u32 {
        self.bits.iter().map(|&b| u32::from(b)).sum()
    }

    fn packed_bytes(&self, records: u32) -> u64 {
        (u64::from(self.record_bits()) * u64::from(records)).div_ceil(8)
    }

    fn pack(&self, frames: &[[u32; 3]], out: &mut Vec<u8>) {
        let (mut pending, mut pending_bits) = (0u128, 0);
        for frame in frames {
            for ((&n, min), bits) in frame.iter().zip(self.min).zip(self.bits) {
                pending |= u128::from(n - min) << pending_bits;
                pending_bits += u32::from(bits);
            }
            while pending_bits >= 8 {
                let bytes = (pending_bits / 8).min(8);
                out.extend_from_slice(&(pending as u64).to_le_bytes()[..bytes as usize]);
                pending >>= bytes * 8;
                pending_bits -= bytes * 8;
            }
        }
        if pending_bits > 0 {
            out.push(pending as u8);
        }
    }
}

/// An unfinished block. Its buffers are reused for the next one.
#[derive(Default)]
pub struct BlockBuilder {
    data: Vec<u8>,
    frames: Vec<[u32; 3]>,
    min: [u32; 3],
    max: [u32; 3],
    /// Compressor, made for the first compressed block.
    lz4: Option<lz4_block::Compressor>,
}

impl BlockBuilder {
    /// Returns true if the block has no records.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Returns the number of records.
    pub fn records(&self) -> usize {
        self.frames.len()
    }

    /// Returns the bytes of keys and values.
    pub fn data_bytes(&self) -> usize {
        self.data.len()
    }

    /// Returns the size of the block so far in bytes, frames included.
    pub fn weight_bytes(&self) -> usize {
        self.data.len() + self.frames.len() * FRAME_BYTES
    }

    /// Returns the bytes that a record adds to `weight_bytes`.
    pub fn weight_of(record: &Record) -> usize {
        record.bytes.len() + FRAME_BYTES
    }

    #[inline]
    /// Adds the next record.
    pub fn push(&mut self, record: &Record) {
        self.push_frame(frame_of(record));
        self.data.extend_from_slice(record.bytes);
    }

    /// Adds a record of split 0. `write` appends its bytes and returns the length of the key; its error leaves the
    /// block unchanged.
    #[inline]
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<usize>) -> Result<()> {
        let from = self.data.len();
        let key_len = match write(&mut self.data) {
            Ok(key_len) => key_len,
            Err(error) => {
                self.data.truncate(from);
                return Err(error);
            }
        };
        let record = Record { bytes: &self.data[from..], key_len: key_len as u32, split: 0 };
        self.push_frame(frame_of(&record));
        Ok(())
    }

    fn push_frame(&mut self, frame: [u32; 3]) {
        if self.frames.is_empty() {
            (self.min, self.max) = (frame, frame);
        } else {
            for (i, &n) in frame.iter().enumerate() {
                self.min[i] = self.min[i].min(n);
                self.max[i] = self.max[i].max(n);
            }
        }
        self.frames.push(frame);
    }

    /// Returns the key of the first record; there must be one.
    pub fn first_key(&self) -> &[u8] {
        &self.data[..self.frames[0][0] as usize]
    }

    /// Returns the key of the last record; there must be one.
    pub fn last_key(&self) -> &[u8] {
        let [key, value, _] = self.frames[self.frames.len() - 1];
        &self.data[self.data.len() - (key + value) as usize..][..key as usize]
    }

    /// Ends the block. Returns the bytes to store, and the length of the body before compression. `packed` is working
    /// space.
    pub fn seal<'a>(&'a mut self, partition: u32, compress: bool, packed: &'a mut Vec<u8>) -> (&'a [u8], u32) {
        let frames = self.pack();
        let records = self.records() as u32;
        let raw_len = self.data.len() as u32;
        let mut trailer = Trailer { codec: Codec::Plain, frames, partition, records, raw_len, stored_len: raw_len };
        if compress {
            let room = room(packed, lz4_block::compressed_bytes_max(self.data.len()) + TRAILER_BYTES);
            let len = self.lz4.get_or_insert_default().compress(&self.data, room);
            if len < self.data.len() {
                (trailer.codec, trailer.stored_len) = (Codec::Lz4, len as u32);
                let bytes = trailer.encode(&room[..len]);
                room[len..len + TRAILER_BYTES].copy_from_slice(&bytes);
                return (&room[..len + TRAILER_BYTES], raw_len);
            }
        }
        let bytes = trailer.encode(&self.data);
        self.data.extend_from_slice(&bytes);
        (&self.data, raw_len)
    }

    /// Ends the block into memory: `block` is as if it had been stored and opened. The builder is empty afterwards.
    pub fn swap_into(&mut self, block: &mut Block) {
        let frames = self.pack();
        let raw_len = self.data.len();
        self.data.resize(raw_len + SLACK_BYTES, 0);
        std::mem::swap(&mut self.data, &mut block.bytes);
        block.show(frames, self.records() as u32, raw_len as u32);
        self.clear();
    }

    /// Empties the builder for the next block.
    pub fn clear(&mut self) {
        self.data.clear();
        self.frames.clear();
    }

    fn pack(&mut self) -> Frames {
        if self.is_empty() {
            (self.min, self.max) = ([0; 3], [0; 3]);
        }
        let frames = Frames::new(self.min, self.max);
        frames.pack(&self.frames, &mut self.data);
        frames
    }
}

/// Returns the trailer of a block that holds one record with its bytes stored as they are; a large record needs no
/// copy.
pub fn trailer_of_one(partition: u32, record: &Record) -> [u8; TRAILER_BYTES] {
    let len = record.bytes.len() as u32;
    let frames = Frames { bits: [0; 3], min: frame_of(record) };
    Trailer { codec: Codec::Plain, frames, partition, records: 1, raw_len: len, stored_len: len }.encode(record.bytes)
}

#[inline]
fn frame_of(record: &Record) -> [u32; 3] {
    assert!(record.bytes.len() <= RECORD_BYTES_MAX);
    [record.key_len, record.bytes.len() as u32 - record.key_len, record.split]
}

/// A block in memory, opened and checked. Its buffer is reused for the next one.
#[derive(Default)]
pub struct Block {
    /// The body, and at least SLACK_BYTES behind it.
    bytes: Vec<u8>,
    data_len: u32,
    frames: Frames,
    record_bits: u32,
    split_at: u8,
    mask: [u32; 3],
    /// Visible records: the position of the first, and the number after the last.
    start: Position,
    end: u32,
    /// End offset of the visible records' data.
    end_offset: u32,
}

/// A place between two records of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    index: u32,
    offset: u32,
}

/// Position of a record in a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Offset of the key in `Block::data`.
    pub offset: u32,
    /// Length of the key in bytes.
    pub key_len: u32,
    /// Length of key and value in bytes.
    pub len: u32,
    /// Split of the record.
    pub split: u32,
}

impl Block {
    /// Returns a buffer for a stored block of `len` bytes; call `open` next. Contents are unspecified.
    pub fn buffer(&mut self, len: usize) -> &mut [u8] {
        room(&mut self.bytes, len)
    }

    /// Opens the stored block in the first `len` bytes of the buffer. Returns the block's partition and the length of
    /// its body.
    ///
    /// `spare` is working space; the two buffers may be swapped. Fails with `Code::Corrupt` if the block is damaged.
    pub fn open(&mut self, len: usize, spare: &mut Vec<u8>) -> Result<(u32, u32)> {
        self.show(Frames::default(), 0, 0);
        let (trailer, body) = Trailer::decode(&self.bytes[..len]).ok_or_else(damaged)?;
        let raw_len = trailer.raw_len as usize;
        if trailer.codec == Codec::Lz4 {
            let raw = &mut room(spare, raw_len + SLACK_BYTES)[..raw_len];
            if !matches!(lz4_block::decompress(body, raw), Ok(n) if n == raw_len) {
                return Err(damaged());
            }
            std::mem::swap(&mut self.bytes, spare);
        }
        self.show(trailer.frames, trailer.records, trailer.raw_len);
        Ok((trailer.partition, trailer.raw_len))
    }

    fn show(&mut self, frames: Frames, records: u32, raw_len: u32) {
        self.frames = frames;
        self.record_bits = frames.record_bits();
        self.split_at = frames.bits[0] + frames.bits[1];
        self.mask = frames.bits.map(|b| ((1u64 << b) - 1) as u32);
        self.data_len = raw_len - frames.packed_bytes(records) as u32;
        self.start = Position::default();
        (self.end, self.end_offset) = (records, self.data_len);
    }

    /// Restricts the block to records with prefixes in `lo..=hi`. Returns true if these are all.
    ///
    /// Fails with `Code::Corrupt` if the block is damaged.
    pub fn restrict(&mut self, order: KeyOrder, lo: u64, hi: u64) -> Result<bool> {
        let records = self.end;
        let mut at = self.start;
        let mut start = None;
        loop {
            let before = at;
            let mut prefix = None;
            self.decode(&mut at, 1, order, |p, _| prefix = Some(p));
            let Some(prefix) = prefix else {
                self.check_end(before)?;
                self.start = start.unwrap_or(before);
                break;
            };
            if prefix >= lo && start.is_none() {
                start = Some(before);
            }
            if prefix > hi {
                self.start = start.unwrap_or(before);
                (self.end, self.end_offset) = (before.index, before.offset);
                break;
            }
        }
        Ok(self.start.index == 0 && self.end == records)
    }

    /// Returns the position of the first visible record.
    pub fn start(&self) -> Position {
        self.start
    }

    /// Returns the number of visible records.
    pub fn records(&self) -> usize {
        (self.end - self.start.index) as usize
    }

    /// Passes at most `n` records from a position on to `each`, with the prefixes of their keys, and moves the
    /// position.
    ///
    /// Stops at the end and at damaged bytes: see `check_end`.
    #[inline(always)]
    pub fn decode(&self, at: &mut Position, n: usize, order: KeyOrder, each: impl FnMut(u64, Entry)) {
        match self.record_bits {
            0 => self.decode_frames(at, n, order, |_| self.frames.min, each),
            1..=NARROW_BITS_MAX => self.decode_frames(at, n, order, |i| self.narrow_frame(i), each),
            _ => self.decode_frames(at, n, order, |i| self.wide_frame(i), each),
        }
    }

    #[inline(always)]
    fn decode_frames(
        &self,
        at: &mut Position,
        n: usize,
        order: KeyOrder,
        frame: impl Fn(u32) -> [u32; 3],
        mut each: impl FnMut(u64, Entry),
    ) {
        let Position { index: start, mut offset } = *at;
        let end = self.end.min(start.saturating_add(u32::try_from(n).unwrap_or(u32::MAX)));
        let mut index = start;
        while index < end {
            let [key_len, value_len, split] = frame(index);
            let behind = u64::from(offset) + u64::from(key_len) + u64::from(value_len);
            if behind > u64::from(self.data_len) {
                break;
            }
            let entry = Entry { offset, key_len, len: behind as u32 - offset, split };
            each(self.prefix(&entry, order), entry);
            offset = behind as u32;
            index += 1;
        }
        *at = Position { index, offset };
    }

    /// Fails with `Code::Corrupt` if `decode` stopped at a position other than the end.
    pub fn check_end(&self, at: Position) -> Result<()> {
        if at.index == self.end && at.offset == self.end_offset { Ok(()) } else { Err(damaged()) }
    }

    /// Returns the bytes that the entries' offsets count from.
    pub fn data(&self) -> &[u8] {
        &self.bytes[..self.data_len as usize]
    }

    #[inline(always)]
    /// Returns the record of an entry.
    pub fn record(&self, entry: &Entry) -> Record<'_> {
        let bytes = &self.bytes[entry.offset as usize..][..entry.len as usize];
        Record { bytes, key_len: entry.key_len, split: entry.split }
    }

    #[inline(always)]
    /// Returns the key of an entry.
    pub fn key(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.offset as usize..][..entry.key_len as usize]
    }

    /// Returns `KeyOrder::prefix` of an entry's key, without a branch on its length.
    #[inline(always)]
    pub fn prefix(&self, entry: &Entry, order: KeyOrder) -> u64 {
        let eight = self.bytes[entry.offset as usize..].first_chunk::<8>().map_or(0, |b| u64::from_be_bytes(*b));
        let beyond = if entry.key_len < 8 { u64::MAX >> (8 * entry.key_len) } else { 0 };
        let ascending = eight & !beyond;
        if order.reversed() { !ascending } else { ascending }
    }

    #[inline(always)]
    fn frame_at(&self, index: u32) -> (&[u8], u32) {
        let bit = u64::from(index) * u64::from(self.record_bits);
        (&self.bytes[self.data_len as usize + (bit / 8) as usize..], (bit % 8) as u32)
    }

    /// Returns the frame of a record that fits in one word.
    #[inline(always)]
    fn narrow_frame(&self, index: u32) -> [u32; 3] {
        let (bytes, bit) = self.frame_at(index);
        let word = bytes.first_chunk::<8>().map_or(0, |b| u64::from_le_bytes(*b)) >> bit;
        self.unpack(word as u32, (word >> self.frames.bits[0]) as u32, (word >> self.split_at) as u32)
    }

    fn wide_frame(&self, index: u32) -> [u32; 3] {
        let (bytes, bit) = self.frame_at(index);
        let word = bytes.first_chunk::<16>().map_or(0, |b| u128::from_le_bytes(*b)) >> bit;
        self.unpack(word as u32, (word >> self.frames.bits[0]) as u32, (word >> self.split_at) as u32)
    }

    #[inline(always)]
    fn unpack(&self, key: u32, value: u32, split: u32) -> [u32; 3] {
        let Frames { min, .. } = self.frames;
        [
            min[0].wrapping_add(key & self.mask[0]),
            min[1].wrapping_add(value & self.mask[1]),
            min[2].wrapping_add(split & self.mask[2]),
        ]
    }

    /// Frees the buffer if it exceeds `bytes_max`, as after a large block.
    pub fn shrink(&mut self, bytes_max: usize) {
        if self.bytes.len() > bytes_max {
            *self = Block::default();
        }
    }
}

/// Returns the first `len` bytes of a buffer that only grows; zeroing it for each block would cost as much as the
/// merge.
fn room(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        buffer.reserve_exact(len - buffer.len());
        buffer.resize(len, 0);
    }
    &mut buffer[..len]
}

pub(super) fn damaged() -> Error {
    Error::new(Code::Corrupt, "a spilled block is damaged").hint("check the disk and run the job again")
}

/// Opens any bytes as a block and reads all of it, for the fuzzer. A second try corrects the checksum.
pub fn fuzz(bytes: &[u8]) {
    let mut stored = bytes.to_vec();
    let mut spare = Vec::new();
    for _ in 0..2 {
        let mut block = Block::default();
        block.buffer(stored.len()).copy_from_slice(&stored);
        if block.open(stored.len(), &mut spare).is_ok() {
            let mut at = block.start();
            let mut bytes = 0;
            block.decode(&mut at, usize::MAX, KeyOrder::BYTES, |_, entry| {
                bytes += block.record(&entry).key().len() + block.record(&entry).value().len();
            });
            assert!(block.check_end(at).is_err() || bytes == block.data_len as usize);
            let _ = block.restrict(KeyOrder::BYTES, 1 << 60, 1 << 63);
        }
        if let Some((body, trailer)) = stored.split_last_chunk_mut::<TRAILER_BYTES>() {
            let crc = checksum(trailer, body);
            trailer[..4].copy_from_slice(&crc.to_le_bytes());
        }
    }
}
