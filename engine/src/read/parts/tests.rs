//! Parts of files of every format, cut anywhere, give the bytes of one decoder in order, or a doubt.

use std::sync::Arc;

use super::part::{Part, Parts};
use super::reader::{PartReader, memory_bytes, prove};
use super::{REACH_BYTES_MAX, find, is_doubtful};
use crate::codec::encode::{Compression, Target};
use crate::codec::tests::{decode_all, noise, text};
use crate::codec::{self, CodecKind};
use crate::env::NamedFile;
use crate::env::random::Random;
use crate::memory::Budget;
use crate::read::byte_source::CutReader;
use crate::read::parts::temp_file_test::TempFile;
use yunti_base::{Cancel, Result};

fn kind_of(target: Target) -> CodecKind {
    CodecKind::from_path(format!("x{}", target.extension()).as_ref()).unwrap()
}

/// Returns a file of one member for each piece of data.
fn members(target: Target, data: &[Vec<u8>]) -> Vec<u8> {
    let level = target.levels().map(|(least, _, _)| least);
    let mut encoder = Compression { target, level }.encoder().unwrap();
    let mut out = Vec::new();
    for piece in data {
        encoder.write(piece, &mut out).unwrap();
        encoder.finish(&mut out).unwrap();
    }
    out
}

fn in_order(kind: CodecKind, file: &[u8]) -> Result<Vec<u8>> {
    decode_all(kind, codec::memory_bytes(kind), file, (file.len().max(1), 1 << 16))
}

/// Returns the bytes of a part, and the number of bytes behind it that were read too.
fn read_part(
    file: NamedFile,
    kind: CodecKind,
    parts: &Arc<Parts>,
    number: usize,
    to: usize,
) -> Result<(Vec<u8>, Vec<u8>)> {
    let budget = Budget::new(memory_bytes(parts));
    let mut reader = PartReader::new(file, kind, parts.clone(), number, &budget)?;
    let (mut data, mut piece) = (Vec::new(), vec![0; to]);
    loop {
        let n = reader.read(&mut piece)?;
        data.extend_from_slice(&piece[..n]);
        if n < to && reader.ended() {
            let behind = data.split_off(reader.boundary().unwrap() as usize);
            return Ok((data, behind));
        }
        assert!(n == to || reader.boundary().is_some(), "a short read in the middle of a part");
    }
}

/// Reads all parts; None if any of them leaves a doubt.
fn read_all(file: &TempFile, kind: CodecKind, parts: &Arc<Parts>) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    for number in 0..parts.all().len() {
        // The first parts alone: what is behind them is read by the others.
        let budget = Budget::new(memory_bytes(parts));
        let mut reader = PartReader::new(file.open(), kind, parts.clone(), number, &budget).unwrap();
        let mut piece = vec![0; 1000];
        while reader.boundary().is_none() {
            let Ok(n) = reader.read(&mut piece) else {
                assert!(is_doubtful(&file.open(), kind, parts, &Cancel::default()));
                return None;
            };
            data.extend_from_slice(&piece[..n]);
        }
    }
    assert!(parts.unproven().is_empty() && !is_doubtful(&file.open(), kind, parts, &Cancel::default()));
    Some(data)
}

/// Checks that parts cover the file and give its bytes. Returns the number of parts.
fn check(kind: CodecKind, bytes: &[u8], target_bytes: u64, expect: &[u8]) -> usize {
    let file = TempFile::new(bytes);
    let Some(parts) = find(&file.open(), kind, target_bytes, REACH_BYTES_MAX).unwrap().map(Arc::new) else { return 1 };
    let all = parts.all();
    assert!(all[0].start == 0 && all[all.len() - 1].end == bytes.len() as u64);
    assert!(all.windows(2).all(|two| two[0].end == two[1].start && two[0].data_end <= two[0].end));
    let got = read_all(&file, kind, &parts).expect("a doubt about a sound file");
    assert!(got == expect, "{kind:?}, parts of {target_bytes}: {} of {}", got.len(), expect.len());
    for to in [1, 333, 1 << 20] {
        if to == 1 && expect.len() > 100_000 {
            continue;
        }
        let number = all.len() / 2;
        let (own, behind) = read_part(file.open(), kind, &parts, number, to).unwrap();
        assert!(expect.ends_with(&[&own[..], &behind].concat()), "{kind:?}, parts of {target_bytes}: {to}");
    }
    all.len()
}

fn pieces(seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed);
    let mut piece = || match random.below(6) {
        0 => Vec::new(),
        1 => noise(random.below(20_000) as usize),
        2 => vec![b'a'; random.below(100_000) as usize],
        3 => text(1),
        _ => text(random.below(30_000) as usize),
    };
    (0..30).map(|_| piece()).collect()
}

#[test]
fn parts_of_every_format_give_all_bytes_once() {
    for target in Target::ALL.into_iter().filter(|target| *target != Target::Bzip2) {
        let mut most = 0;
        for seed in 0..4 {
            let data = pieces(seed);
            let file = members(target, &data);
            for target_bytes in [1, 100, 1000, 5000, 20_000, file.len() as u64 / 2, file.len() as u64] {
                most = most.max(check(kind_of(target), &file, target_bytes, &data.concat()));
            }
        }
        assert!(most > 10, "{target:?} has {most} parts");
    }
}

#[test]
fn one_member_has_one_part() {
    for target in [Target::Gzip, Target::Zstd, Target::Deflate, Target::Xz] {
        let data = text(50_000);
        assert_eq!(check(kind_of(target), &members(target, std::slice::from_ref(&data)), 1000, &data), 1, "{target:?}");
    }
}

#[test]
fn bytes_that_are_no_such_file_are_not_cut() {
    let bytes = [text(3000), vec![0; 3000], noise(3000)];
    for bytes in bytes.iter().chain(&[Vec::new(), vec![0x1F], b"\x28\xB5\x2F".to_vec()]) {
        for kind in CodecKind::ALL {
            let file = TempFile::new(bytes);
            if let Some(parts) = find(&file.open(), kind, 100, REACH_BYTES_MAX).unwrap() {
                // Zeros are empty blocks of Hadoop.
                assert!(bytes.iter().all(|&b| b == 0), "{kind:?}: {} parts", parts.all().len());
            }
        }
    }
}

// ---- xz: blocks of a stream, streams, padding ----

fn xz_blocks(data: &[u8], block_bytes: usize) -> Vec<u8> {
    use liblzma::stream::{Action, Check, Status, Stream};
    let mut stream = Stream::new_easy_encoder(1, Check::Crc32).unwrap();
    let mut out = Vec::with_capacity(data.len() + (1 << 20));
    for block in data.chunks(block_bytes) {
        let from = stream.total_in();
        let mut left = block;
        while stream.process_vec(left, &mut out, Action::FullFlush).unwrap() != Status::StreamEnd {
            left = &block[(stream.total_in() - from) as usize..];
        }
    }
    while stream.process_vec(&[], &mut out, Action::Finish).unwrap() != Status::StreamEnd {}
    out
}

#[test]
fn xz_is_cut_within_streams_and_between_them() {
    let data = text(200_000);
    let blocks = xz_blocks(&data, 7001);
    assert!(check(CodecKind::Xz, &blocks, 1, &data) > 20);
    for padding in [0, 4, 64, 400] {
        let file =
            [&blocks[..], &vec![0; padding], &members(Target::Xz, &[text(10), vec![]]), &blocks, &vec![0; padding]];
        let expect = [&data[..], &text(10), &data].concat();
        for target_bytes in [1, 500, 3000, 10_000, blocks.len() as u64 + 10] {
            assert!(check(CodecKind::Xz, &file.concat(), target_bytes, &expect) > 1);
        }
    }
    // Padding that is no multiple of four is damage, which the reader in order reports.
    let file = TempFile::new(&[&blocks[..], &[0; 3]].concat());
    assert!(find(&file.open(), CodecKind::Xz, 100, REACH_BYTES_MAX).unwrap().is_none());
}

#[test]
fn an_index_that_lies_is_found_or_not_used() {
    let data = text(60_000);
    let blocks = xz_blocks(&data, 5000);
    for at in 0..blocks.len() {
        if at > 300 && at + 300 < blocks.len() && at % 97 != 0 {
            continue;
        }
        let mut damaged = blocks.clone();
        damaged[at] ^= 0x11;
        same_verdict(CodecKind::Xz, &damaged, 700);
    }
}

// ---- lz4: blocks of a frame ----

/// Returns a frame of independent blocks, stored as they are, without a checksum of the content.
fn lz4_frame(data: &[u8], flags: u8) -> Vec<u8> {
    let descriptor = [0b0110_0000 | flags, 4 << 4];
    let xxh32 = |bytes: &[u8]| twox_hash::XxHash32::oneshot(0, bytes);
    let mut out = 0x184D_2204u32.to_le_bytes().to_vec();
    out.extend(descriptor);
    out.push((xxh32(&descriptor) >> 8) as u8);
    for block in data.chunks(3000) {
        out.extend((block.len() as u32 | 1 << 31).to_le_bytes());
        out.extend(block);
        if flags & 1 << 4 != 0 {
            out.extend(xxh32(block).to_le_bytes());
        }
    }
    out.extend([0; 4]);
    if flags & 1 << 2 != 0 {
        out.extend(xxh32(data).to_le_bytes());
    }
    out
}

#[test]
fn lz4_blocks_are_parts_unless_a_checksum_covers_them() {
    let data = text(50_000);
    for flags in [0, 1 << 4] {
        let file =
            [lz4_frame(&data, flags), b"\x53\x2A\x4D\x18\x02\0\0\0ab".to_vec(), lz4_frame(&data, flags)].concat();
        for target_bytes in [1, 5000, 17_000] {
            assert!(check(CodecKind::Lz4, &file, target_bytes, &data.repeat(2)) > 3);
        }
    }
    assert_eq!(check(CodecKind::Lz4, &lz4_frame(&data, 1 << 2), 1000, &data), 1);
}

// ---- hostile files ----

/// Returns a member of gzip whose data is stored as it is.
fn gzip_stored(data: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3];
    for block in data.chunks(65_535) {
        out.push(0);
        out.extend((block.len() as u16).to_le_bytes());
        out.extend((!(block.len() as u16)).to_le_bytes());
        out.extend(block);
    }
    out.extend([1, 0, 0, 0xFF, 0xFF]);
    out.extend(crc32fast::hash(data).to_le_bytes());
    out.extend((data.len() as u32).to_le_bytes());
    out
}

/// Returns a frame of zstd whose data is stored as it is.
fn zstd_stored(data: &[u8]) -> Vec<u8> {
    let mut out = vec![0x28, 0xB5, 0x2F, 0xFD, 0, 0x58];
    for block in data.chunks(100_000) {
        out.extend(&((block.len() as u32) << 3).to_le_bytes()[..3]);
        out.extend(block);
    }
    out.extend([1, 0, 0]);
    out
}

/// Checks that parts give the bytes of a reader in order, or a doubt; a doubt if that reader fails.
fn same_verdict(kind: CodecKind, bytes: &[u8], target_bytes: u64) -> bool {
    let file = TempFile::new(bytes);
    let Some(parts) = find(&file.open(), kind, target_bytes, REACH_BYTES_MAX).unwrap().map(Arc::new) else {
        return false;
    };
    let Some(got) = read_all(&file, kind, &parts) else { return true };
    match in_order(kind, bytes) {
        Ok(expect) => assert!(got == expect, "{kind:?}, parts of {target_bytes}: wrong bytes"),
        Err(error) => panic!("{kind:?}, parts of {target_bytes}: no doubt, but {error}"),
    }
    false
}

#[test]
fn members_within_stored_blocks_are_data() {
    type Case<'a> = (Target, &'a dyn Fn(&[u8]) -> Vec<u8>);
    let cases: [Case<'_>; 2] = [(Target::Gzip, &gzip_stored), (Target::Zstd, &zstd_stored)];
    for (target, stored) in cases {
        let kind = kind_of(target);
        let real = members(target, &[text(2000), text(300), text(5000)]);
        let (mut doubts, mut cuts) = (0, 0);
        for seed in 0..6 {
            let mut random = Random::new(seed);
            let inner = [noise(random.below(3000) as usize), real.repeat(1 + random.below(30) as usize)].concat();
            let file = [&real[..], &stored(&inner), &real, &stored(&stored(&inner)), &real].concat();
            assert!(in_order(kind, &file).is_ok());
            for target_bytes in (0..20).map(|_| 1 + random.below(file.len() as u64)) {
                cuts += 1;
                doubts += usize::from(same_verdict(kind, &file, target_bytes));
            }
        }
        assert!(doubts > 10 && doubts < cuts, "{target:?}: {doubts} of {cuts} cuts are in doubt");
    }
}

#[test]
fn a_second_reading_of_the_same_bytes_is_not_taken_for_the_first() {
    // The stored data ends within a member that ends in the next member's stored data: both readings are sound to the
    // end of the file but one.
    let hidden = gzip_stored(&text(3000));
    let (head, tail) = hidden.split_at(1500);
    let file = [gzip_stored(&[&text(900), head].concat()), gzip_stored(&[tail, &text(700)].concat())].concat();
    for target_bytes in (1..file.len() as u64).step_by(31) {
        same_verdict(CodecKind::Gzip, &file, target_bytes);
    }
}

#[test]
fn zeros_before_a_member_are_refused_as_in_order() {
    let one = members(Target::Gzip, &[text(900)]);
    let file = [&one[..], &one, &[0; 50], &one, &one].concat();
    assert!(in_order(CodecKind::Gzip, &file).is_err());
    let mut doubts = 0;
    for target_bytes in 1..file.len() as u64 {
        doubts += usize::from(same_verdict(CodecKind::Gzip, &file, target_bytes));
    }
    assert!(doubts > 100);
    // Zeros at the end are skipped.
    let file = [&one[..], &one, &[0; 500]].concat();
    assert!(check(CodecKind::Gzip, &file, 100, &text(900).repeat(2)) > 1);
}

#[test]
fn each_damaged_byte_gives_the_verdict_of_the_reader_in_order() {
    for target in Target::ALL.into_iter().filter(|target| *target != Target::Bzip2) {
        let kind = kind_of(target);
        let file = members(target, &[text(400), text(300), noise(100), text(500), vec![], text(200)]);
        for at in 0..file.len() {
            for change in [0x01, 0x10, 0x80] {
                let mut damaged = file.clone();
                damaged[at] ^= change;
                same_verdict(kind, &damaged, 1 + at as u64 % 400);
            }
        }
        for end in 1..file.len() {
            same_verdict(kind, &file[..end], 100);
        }
        for rest in [&b"x"[..], b"garbage after the last member", &[0; 20], &file[..7]] {
            same_verdict(kind, &[&file[..], rest].concat(), 100);
        }
    }
}

#[test]
fn bgzf_is_cut_at_its_blocks() {
    let data = text(100_000);
    let mut file = Vec::new();
    for block in data.chunks(3000).chain([&[][..]]) {
        let mut member = members(Target::Gzip, &[block.to_vec()]);
        let bytes = (member.len() + 8 - 1) as u16;
        member[3] = 4;
        let extra = [6, 0, b'B', b'C', 2, 0, bytes as u8, (bytes >> 8) as u8];
        member.splice(10..10, extra);
        file.extend(member);
    }
    assert!(check(CodecKind::Gzip, &file, 1, &data) > 30);
    // A length that lies is not followed.
    let at = file.len() / 2;
    let begin = (at..).find(|&i| file[i..].starts_with(&[0x1F, 0x8B, 8, 4])).unwrap();
    file[begin + 16] ^= 1;
    for target_bytes in [1, 1000, 5000] {
        same_verdict(CodecKind::Gzip, &file, target_bytes);
    }
}

#[test]
fn a_part_depends_on_the_proofs_of_those_before_it() {
    let data = pieces(3);
    let file = TempFile::new(&members(Target::Zstd, &data));
    let parts = Arc::new(find(&file.open(), CodecKind::Zstd, 3000, REACH_BYTES_MAX).unwrap().unwrap());
    let last = parts.all().len() - 1;
    assert!(last > 3 && parts.unproven().is_empty());
    parts.note_opened(3);
    assert_eq!(parts.unproven(), [0, 1, 2]);
    prove(file.open(), CodecKind::Zstd, parts.clone(), 1, &Cancel::default()).unwrap();
    assert_eq!(parts.unproven(), [0, 2]);
    assert!(!is_doubtful(&file.open(), CodecKind::Zstd, &parts, &Cancel::default()));
    // The same cuts, one of them wrong.
    let mut wrong: Vec<Part> = parts.all().to_vec();
    (wrong[1].data_end, wrong[1].end) = (wrong[1].end + 1, wrong[1].end + 1);
    wrong[2].start += 1;
    let wrong = Arc::new(Parts::new(wrong, parts.memory_bytes()));
    wrong.note_opened(1);
    assert!(!is_doubtful(&file.open(), CodecKind::Zstd, &wrong, &Cancel::default()));
    wrong.note_opened(2);
    assert!(is_doubtful(&file.open(), CodecKind::Zstd, &wrong, &Cancel::default()));
}
