//! Splits of any size give each block of a bzip2 file once. False marks are distinguished from damage.

use super::*;
use crate::codec::encode::{Compression, Target};
use crate::read::parts::temp_file_test::TempFile;
use yunti_base::Code;

fn encode(data: &[u8]) -> Vec<u8> {
    let (mut out, mut encoder) = (Vec::new(), Compression { target: Target::Bzip2, level: Some(1) }.encoder().unwrap());
    encoder.write(data, &mut out).unwrap();
    encoder.finish(&mut out).unwrap();
    out
}

/// Returns words with runs; a block holds more of it than its 100 kB.
fn text(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = crate::env::random::Random::new(seed);
    let mut out = Vec::new();
    while out.len() < bytes {
        match random.below(50) {
            0 => out.extend(vec![b'x'; random.below(400) as usize]),
            n => out.extend(format!("{} {n}\n", random.next_u64() % 10_000).as_bytes()),
        }
    }
    out.truncate(bytes);
    out
}

/// Returns the data of [start, end), and the data of everything after it.
fn read(file: NamedFile, start: u64, end: u64) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut split = Bzip2Split::new(file, start, end, &Budget::new(64 << 20))?;
    let (mut data, mut piece) = (Vec::new(), vec![0; 40_000]);
    loop {
        let n = split.read(&mut piece)?;
        data.extend_from_slice(&piece[..n]);
        if n < piece.len() && split.ended() {
            let behind = data.split_off(split.boundary().unwrap() as usize);
            return Ok((data, behind));
        }
    }
}

fn check(file: &TempFile, expect: &[u8], split_bytes: impl Iterator<Item = u64>) {
    let len = file.open().len().unwrap();
    for bytes in split_bytes {
        let (mut data, mut start) = (Vec::new(), 0);
        while start < len {
            let (own, behind) = read(file.open(), start, (start + bytes).min(len)).unwrap();
            data.extend(own);
            assert!(behind.is_empty() || expect.ends_with(&behind), "splits of {bytes} at {start}");
            assert!(behind.len() + data.len() == expect.len() || behind.is_empty(), "splits of {bytes} at {start}");
            start += bytes;
        }
        assert!(data == expect, "splits of {bytes}: {} of {}", data.len(), expect.len());
    }
}

#[test]
fn every_block_is_in_one_split() {
    let data = text(1, 330_000);
    let file = TempFile::new(&encode(&data));
    let len = file.open().len().unwrap();
    check(&file, &data, [len + 1, len, len - 1, len / 2, 30_000, 10_007, 4099].into_iter());
    // Consecutive streams, some of them empty, and blocks that decode to much more than their length.
    let parts = [vec![], text(2, 150_000), vec![], vec![], vec![b'z'; 9_000_000], text(3, 10), vec![]];
    let file = TempFile::new(&parts.iter().flat_map(|p| encode(p)).collect::<Vec<u8>>());
    let len = file.open().len().unwrap();
    check(&file, &parts.concat(), [len, len / 2 + 1, 3001, 997].into_iter());
    let file = TempFile::new(&[encode(b""), encode(b"")].concat());
    check(&file, b"", 1..=28);
}

// ---- blocks that contain the bits of marks ----

#[derive(Default)]
struct Bits(Vec<bool>);

impl Bits {
    fn put(&mut self, value: u64, bits: u32) {
        self.0.extend((0..bits).rev().map(|i| value >> i & 1 == 1));
    }
    fn into_bytes(mut self) -> Vec<u8> {
        self.0.resize(self.0.len().next_multiple_of(8), false);
        self.0.chunks(8).map(|c| c.iter().fold(0, |byte, &bit| byte << 1 | u8::from(bit))).collect()
    }
}

/// Bytes of a crafted block, in the order of the format.
const LETTERS: &[u8; 14] = b"\nabcdefghijklm";

fn crc_of(data: &[u8]) -> u32 {
    !data.iter().fold(!0u32, |crc, &byte| {
        (0..8)
            .fold(crc ^ u32::from(byte) << 24, |crc, _| if crc >> 31 == 1 { crc << 1 ^ 0x04C1_1DB7 } else { crc << 1 })
    })
}

/// Decodes symbols: 0 and 1 are digits of runs, 2 .. 14 places in the list of recent letters.
fn decode(symbols: &[u8]) -> Vec<u8> {
    let (mut recent, mut last_column, mut run, mut digit) = (LETTERS.to_vec(), Vec::new(), 0usize, 1usize);
    for &symbol in symbols.iter().chain(&[15]) {
        if symbol < 2 {
            run += digit << symbol;
            digit *= 2;
            continue;
        }
        last_column.extend(std::iter::repeat_n(recent[0], run));
        (run, digit) = (0, 1);
        if symbol < 15 {
            let letter = recent.remove(symbol as usize - 1);
            recent.insert(0, letter);
            last_column.push(letter);
        }
    }
    // Inverts the sort of rotations from the last column, starting at row 0.
    let mut rows: Vec<usize> = (0..last_column.len()).collect();
    rows.sort_by_key(|&row| last_column[row]);
    let (mut data, mut row) = (Vec::new(), rows[0]);
    for _ in 0..last_column.len() {
        data.push(last_column[row]);
        row = rows[row];
    }
    // After four equal bytes comes the number of further repeats.
    let (mut out, mut same) = (Vec::new(), 0);
    for (i, &byte) in data.iter().enumerate() {
        if same == 4 {
            out.extend(std::iter::repeat_n(data[i - 1], byte as usize));
            same = 0;
            continue;
        }
        same = if same > 0 && data[i - 1] == byte { same + 1 } else { 1 };
        out.push(byte);
    }
    out
}

/// Returns a stream of blocks whose symbols take four bits each, so that they can contain any bits without a 15; and
/// its data.
fn crafted(blocks: &[Vec<u8>]) -> (Vec<u8>, Vec<u8>) {
    let (mut bits, mut all, mut combined) = (Bits::default(), Vec::new(), 0u32);
    bits.put(u64::from(u32::from_be_bytes(*b"BZh9")), 32);
    for symbols in blocks {
        let data = decode(symbols);
        let crc = crc_of(&data);
        combined = combined.rotate_left(1) ^ crc;
        bits.put(0x3141_5926_5359, 48);
        bits.put(u64::from(crc), 32);
        // Not randomised; the row with which the data begins.
        bits.put(0, 1 + 24);
        let used = |high: u8| (0..16).fold(0u64, |map, low| map << 1 | u64::from(LETTERS.contains(&(high << 4 | low))));
        bits.put((0..16).fold(0, |map, high| map << 1 | u64::from(used(high) != 0)), 16);
        (0..16).filter(|&high| used(high) != 0).for_each(|high| bits.put(used(high), 16));
        let selectors = (symbols.len() + 1).div_ceil(50);
        bits.put(2, 3);
        bits.put(selectors as u64, 15);
        (0..selectors).for_each(|_| bits.put(0, 1));
        for _ in 0..2 {
            // All codes have four bits.
            bits.put(4, 5);
            (0..16).for_each(|_| bits.put(0, 1));
        }
        symbols.iter().chain(&[15]).for_each(|&symbol| bits.put(u64::from(symbol), 4));
        all.extend(data);
    }
    bits.put(0x1772_4538_5090, 48);
    bits.put(u64::from(combined), 32);
    (bits.into_bytes(), all)
}

const BLOCK: [u8; 12] = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 9];
const END: [u8; 12] = [1, 7, 7, 2, 4, 5, 3, 8, 5, 0, 9, 0];

/// Returns blocks with marks inside, among plain streams.
fn deceptive() -> (Vec<u8>, Vec<u8>) {
    let mut random = crate::env::random::Random::new(7);
    let blocks: Vec<Vec<u8>> = (0..6)
        .map(|number| {
            let mut some = |n: usize| -> Vec<u8> { (0..n).map(|_| 2 + random.below(13) as u8).collect() };
            match number {
                0 => [&some(300)[..], &BLOCK, &some(301)].concat(),
                1 => [&some(77)[..], &END, &some(20), &BLOCK, &BLOCK, &some(50)].concat(),
                2 => some(501),
                3 => [&BLOCK[..], &some(400), &END].concat(),
                _ => [&some(40)[..], &END, &END, &some(999), &BLOCK, &some(3)].concat(),
            }
        })
        .collect();
    let (stream, data) = crafted(&blocks);
    let plain = text(8, 4000);
    ([&stream[..], &encode(&plain), &stream, &stream].concat(), [&data[..], &plain, &data, &data].concat())
}

#[test]
fn false_marks_are_data() {
    let (bytes, data) = deceptive();
    let marks =
        (0..bytes.len() as u64 * 8).filter(|&bit| find_mark(&bytes[..], bit).is_some_and(|m| m.0 == bit)).count();
    assert!(marks > 19 + 3 * 8 + 4, "{marks}");
    // Another decoder gives the same data for the crafted file.
    let mut whole = Vec::new();
    std::io::Read::read_to_end(&mut ::bzip2::read::MultiBzDecoder::new(&bytes[..]), &mut whole).unwrap();
    assert!(whole == data);
    let file = TempFile::new(&bytes);
    let len = bytes.len() as u64;
    check(&file, &data, (1..40).map(|i| len.div_ceil(i)).chain([61, 97, 200, 263]));
}

#[test]
fn damage_is_an_error_for_any_splits() {
    let (bytes, data) = deceptive();
    let mut random = crate::env::random::Random::new(9);
    let path = TempFile::new(&bytes);
    for round in 0..60 {
        let mut damaged = bytes.clone();
        let at = random.below(bytes.len() as u64) as usize;
        // Marks are damaged too: the checksum of the stream, or the block before, reveals a block without its mark.
        damaged[at] ^= 1 << random.below(8);
        std::fs::write(&path.0, &damaged).unwrap();
        for size in [bytes.len() as u64 / 3, 301] {
            let (mut got, mut failed, mut start) = (Vec::new(), false, 0);
            while start < bytes.len() as u64 && !failed {
                match read(path.open(), start, (start + size).min(bytes.len() as u64)) {
                    Ok((own, _)) => got.extend(own),
                    Err(error) => {
                        assert_eq!(error.code(), Code::Corrupt, "{error}");
                        assert!(error.offset().is_some() && error.path() == Some(&path.0.to_string_lossy()), "{error}");
                        failed = true;
                    }
                }
                start += size;
            }
            // The level in a stream's header and the padding after a stream do not affect blocks.
            assert!(failed || got == data, "round {round}, byte {at}: damage was not seen");
        }
    }
}

#[test]
fn reports_a_cut_file() {
    let bytes = encode(&text(10, 250_000));
    for cut in [0, 1, 3, 5, 9, 11, 5000, bytes.len() - 1, bytes.len() - 5, bytes.len() - 11] {
        let file = TempFile::new(&bytes[..cut]);
        let mut failed = None;
        for start in (0..cut.max(1) as u64).step_by(2000) {
            failed = failed.or(read(file.open(), start, start + 2000).err());
        }
        let error = failed.expect("cut data was taken for whole");
        assert_eq!((error.what(), error.offset()), ("the bzip2 data is cut short", Some(cut as u64)), "{cut}");
    }
    let file = TempFile::new(&[&bytes[..], b"text"].concat());
    let error = read(file.open(), 3, u64::MAX - 1).unwrap_err();
    assert_eq!(error.what(), "the bzip2 data is followed by bytes that are not bzip2 data");
    assert_eq!(error.offset(), Some(bytes.len() as u64));
    let file = TempFile::new(b"text");
    assert_eq!(read(file.open(), 2, 4).unwrap_err().what(), "this is not bzip2 data");
}
