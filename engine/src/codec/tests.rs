//! Tests of all decoders: slices, members, truncation, flipped bytes, and the real tools.

use super::*;
use std::io::Write;
use std::ops::RangeInclusive;
use std::process::{Command, Stdio};

/// Decodes all of `file`, `slices` bytes of input and output a call. Fails if the decoder makes no progress.
pub(crate) fn decode_all(kind: CodecKind, limit: u64, file: &[u8], slices: (usize, usize)) -> Result<Vec<u8>> {
    let mut decoder = decoder(kind, limit)?;
    let mut output = vec![0xAA; slices.1];
    let (mut data, mut at) = (Vec::new(), 0);
    loop {
        let end = (at + slices.0).min(file.len());
        let last = end == file.len();
        let step = decoder.decode(&file[at..end], &mut output, last)?;
        data.extend(&output[..step.written]);
        at += step.read;
        if last && at == end && step.state == State::End {
            // The error stays.
            let again = decoder.decode(&[], &mut output, true)?;
            assert_eq!(again, Step { read: 0, written: 0, state: State::End });
            return Ok(data);
        }
        let wants_input = at == end && step.written < output.len();
        assert!(step.read > 0 || step.written > 0 || (wants_input && !last), "no progress at {at} of {}", file.len());
    }
}

/// Decodes `file` to `expect` in slices of any size.
pub(crate) fn check(kind: CodecKind, file: &[u8], expect: &[u8]) {
    for slices in [(1, 1), (1, 4096), (4096, 1), (3, 7), (file.len().max(1), expect.len() + 1), (1 << 20, 1 << 16)] {
        if file.len() + expect.len() > 100_000 && slices.0.min(slices.1) < 10 {
            continue;
        }
        let data =
            decode_all(kind, memory_bytes(kind), file, slices).unwrap_or_else(|e| panic!("{kind:?} {slices:?}: {e}"));
        assert!(data == expect, "{kind:?} {slices:?}: {} bytes, expected {}", data.len(), expect.len());
    }
}

/// Expects this error at one of these offsets, in slices of any size.
pub(crate) fn check_error(kind: CodecKind, file: &[u8], code: Code, what: &str, offsets: RangeInclusive<u64>) {
    for slices in [(1, 1), (1, 4096), (4096, 1), (3, 7), (1 << 20, 1 << 16)] {
        match decode_all(kind, memory_bytes(kind), file, slices) {
            Ok(data) => panic!("{slices:?}: {} bytes instead of: {what}", data.len()),
            Err(e) => {
                assert_eq!((e.code(), e.what()), (code, what), "{slices:?}");
                assert!(offsets.contains(&e.offset().unwrap()), "{slices:?} {offsets:?}: {e}");
                assert!(e.hint_text().is_some());
            }
        }
    }
}

/// Two copies of a member, with one byte of the second changed.
pub(crate) fn changed(member: &[u8], at: usize, value: u8) -> Vec<u8> {
    let mut file = member.repeat(2);
    file[member.len() + at] = value;
    file
}

/// Words of very different frequency, as in text; the same for the same length.
pub(crate) fn text(bytes: usize) -> Vec<u8> {
    let random = noise(bytes);
    let mut out = Vec::with_capacity(bytes + 16);
    for pair in random.chunks(2) {
        if out.len() >= bytes {
            break;
        }
        let rank = (pair[0] as usize * pair[pair.len() - 1] as usize) >> 5;
        out.extend(format!("word{rank}{}", if rank.is_multiple_of(9) { '\n' } else { ' ' }).as_bytes());
    }
    out.truncate(bytes);
    out
}

/// Incompressible bytes; the same for the same length.
pub(crate) fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

/// One member with a checksum, as the tool writes it.
pub(crate) fn encode(kind: CodecKind, data: &[u8]) -> Vec<u8> {
    use crate::codec::encode::Target;
    let target = match kind {
        CodecKind::Gzip => Target::Gzip,
        CodecKind::Zstd => Target::Zstd,
        CodecKind::Bzip2 => Target::Bzip2,
        CodecKind::Xz => Target::Xz,
        CodecKind::Lz4 => Target::Lz4,
        CodecKind::Snappy => Target::Snappy,
        CodecKind::Deflate => Target::Deflate,
    };
    super::encode::tests::encode_all(target, Some(1).filter(|_| target == Target::Xz), &[data])
}

#[test]
fn the_name_of_the_file_says_the_format() {
    use CodecKind::*;
    let table = [
        ("a.gz", Some(Gzip)),
        ("dir.x/b.txt.gz", Some(Gzip)),
        ("a.zst", Some(Zstd)),
        ("a.bz2", Some(Bzip2)),
        ("a.xz", Some(Xz)),
        ("a.GZ", None),
        (".gz", None),
        ("gz", None),
        ("agz", None),
        ("a.gz.txt", None),
        ("a.gz/b", None),
        ("a.lz4", Some(Lz4)),
        ("a.snappy", Some(Snappy)),
        ("a.sz", Some(Snappy)),
        ("part-m-00000.deflate", Some(Deflate)),
        ("a.lzma", None),
        ("a.tgz", None),
        ("", None),
    ];
    for (path, expect) in table {
        assert_eq!(CodecKind::from_path(Path::new(path)), expect, "{path}");
    }
    for kind in CodecKind::ALL {
        for extension in kind.extensions() {
            assert_eq!(CodecKind::from_path(Path::new(&format!("x{extension}"))), Some(kind));
        }
    }
}

#[test]
fn members_of_every_size_one_after_the_other() {
    for kind in CodecKind::ALL {
        let parts =
            [vec![], text(1), noise(1000), vec![], text(30_000), vec![0; 70_000], text(400_000), noise(300_000)];
        for part in &parts {
            check(kind, &encode(kind, part), part);
        }
        let all: Vec<u8> = parts.iter().flat_map(|part| encode(kind, part)).collect();
        check(kind, &all, &parts.concat());
        let small: Vec<u8> = (0..40).flat_map(|n| encode(kind, &text(n))).collect();
        check(kind, &small, &(0..40).flat_map(text).collect::<Vec<u8>>());
    }
}

#[test]
fn a_file_of_zero_bytes_is_cut() {
    for kind in CodecKind::ALL {
        check_error(kind, b"", Code::Corrupt, &format!("the {} data is cut short", kind.name()), 0..=0);
    }
}

#[test]
fn an_empty_output_does_nothing() {
    for kind in CodecKind::ALL {
        let file = encode(kind, b"data");
        let mut decoder = decoder(kind, memory_bytes(kind)).unwrap();
        for _ in 0..100 {
            let step = decoder.decode(&file, &mut [], true).unwrap();
            assert_eq!((step.read, step.written), (0, 0));
        }
        let mut output = [0; 10];
        let step = decoder.decode(&file, &mut output, true).unwrap();
        assert_eq!((step.read, step.written, step.state), (file.len(), 4, State::End));
    }
}

#[test]
fn cut_at_every_byte_it_is_an_error_there() {
    for kind in CodecKind::ALL {
        for data in [vec![], text(600), noise(200)] {
            let one = encode(kind, &data);
            let two = [&one[..], &one].concat();
            for end in 1..two.len() {
                for slices in [(1, 1), (two.len(), 4096)] {
                    let result = decode_all(kind, memory_bytes(kind), &two[..end], slices);
                    if end == one.len() {
                        assert_eq!(result.unwrap(), data);
                        continue;
                    }
                    // Chunks of snappy have no end behind them.
                    if kind == CodecKind::Snappy && result.as_ref().is_ok_and(|part| data.repeat(2).starts_with(part)) {
                        continue;
                    }
                    let error = result.expect_err("cut data was taken for whole");
                    let place = (error.code(), error.offset(), error.what());
                    let expect = format!("the {} data is cut short", kind.name());
                    assert_eq!(place, (Code::Corrupt, Some(end as u64), &expect[..]), "{kind:?} cut at {end}");
                }
            }
        }
    }
}

#[test]
fn each_byte_flipped_it_is_an_error_or_the_same_data() {
    for kind in CodecKind::ALL {
        for data in [text(600), noise(200), vec![b'x'; 5000]] {
            let file = encode(kind, &data);
            for at in 0..file.len() {
                for change in [0x01, 0x10, 0x20, 0x80] {
                    let mut damaged = file.clone();
                    damaged[at] ^= change;
                    let results = [(1, 1), (file.len(), data.len() + 1)]
                        .map(|slices| decode_all(kind, memory_bytes(kind), &damaged, slices));
                    match &results {
                        // Some bits have no effect: gzip's time, unused bits, a match at another distance.
                        // A chunk of snappy may turn into one that is skipped.
                        [Ok(a), Ok(b)] if kind == CodecKind::Snappy && change == 0x80 && a.is_empty() => {
                            assert!(b.is_empty());
                        }
                        [Ok(a), Ok(b)] => {
                            assert!(*a == data && *b == data, "{kind:?} byte {at} ^ {change:#x}: wrong data");
                        }
                        [Err(a), Err(b)] => {
                            assert!(matches!(a.code(), Code::Corrupt | Code::Memory | Code::Input), "{a}");
                            assert_eq!(a.code(), b.code());
                            assert!(a.offset().is_some_and(|offset| offset <= file.len() as u64), "{a}");
                        }
                        _ => panic!("{kind:?} byte {at} ^ {change:#x}: the slices matter"),
                    }
                }
            }
        }
    }
}

#[test]
fn an_error_stays() {
    for kind in CodecKind::ALL {
        let mut decoder = decoder(kind, memory_bytes(kind)).unwrap();
        let mut output = [0; 100];
        let first = decoder.decode(b"neither of them", &mut output, false).unwrap_err();
        let good = encode(kind, b"data");
        assert_eq!(decoder.decode(&good, &mut output, true).unwrap_err(), first);
    }
}

/// Runs `command` with `data` on its standard input; `None` if the tool is not installed.
pub(crate) fn tool(command: &[&str], data: &[u8]) -> Option<Vec<u8>> {
    let spawned = Command::new(command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = spawned else {
        eprintln!("{} is not installed: not compared with it", command[0]);
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let data = data.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&data)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output.status.success().then_some(output.stdout)
}

#[test]
fn we_read_what_the_tools_write_and_they_read_our_fixtures() {
    let table: &[(CodecKind, &[&str])] = &[
        (CodecKind::Gzip, &["gzip", "-c", "-1"]),
        (CodecKind::Gzip, &["gzip", "-c", "-9"]),
        (CodecKind::Zstd, &["zstd", "-c", "-q", "-1"]),
        (CodecKind::Zstd, &["zstd", "-c", "-q", "-19"]),
        (CodecKind::Zstd, &["zstd", "-c", "-q", "-T2", "-3", "--no-check"]),
        (CodecKind::Zstd, &["zstd", "-c", "-q", "--fast=5", "--long=23"]),
        (CodecKind::Bzip2, &["bzip2", "-c", "-1"]),
        (CodecKind::Bzip2, &["bzip2", "-c", "-9"]),
        (CodecKind::Xz, &["xz", "-c", "-0", "--check=none"]),
        (CodecKind::Xz, &["xz", "-c", "-0", "--check=sha256", "--block-size=100000"]),
        (CodecKind::Xz, &["xz", "-c", "--x86", "--delta=dist=4", "--lzma2=preset=1"]),
        (CodecKind::Xz, &["xz", "-c", "-9"]),
        (CodecKind::Lz4, &["lz4", "-c", "-q", "-1"]),
        (CodecKind::Lz4, &["lz4", "-c", "-q", "-9", "-B4", "-BD", "-BX", "--content-size"]),
        (CodecKind::Lz4, &["lz4", "-c", "-q", "-B5", "-BD", "--no-frame-crc"]),
    ];
    for &(kind, command) in table {
        for data in [vec![], text(10), text(400_000), noise(200_000), vec![0; 3 << 20]] {
            if let Some(file) = tool(command, &data) {
                check(kind, &file, &data);
                check(kind, &[&file[..], &file].concat(), &data.repeat(2));
            }
        }
    }
    for kind in CodecKind::ALL {
        let data = [text(50_000), noise(5000)].concat();
        let file = [encode(kind, &data), encode(kind, b"more")].concat();
        if let Some(name) = kind.tool()
            && let Some(back) = tool(&[name, "-dc"], &file)
        {
            assert!(back == [&data[..], b"more"].concat(), "{kind:?}");
        }
    }
}
