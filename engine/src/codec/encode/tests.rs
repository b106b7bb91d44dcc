//! Tests of all encoders: decoders restore one member and several, however they were written.

use super::super::tests::{check, noise, text, tool};
use super::*;
use crate::codec::CodecKind;
use std::path::Path;

/// Returns the pieces as one member, written one after the other.
pub(crate) fn encode_all(target: Target, level: Option<i32>, pieces: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = Compression { target, level }.encoder().unwrap();
    for piece in pieces {
        encoder.write(piece, &mut out).unwrap();
    }
    encoder.finish(&mut out).unwrap();
    out
}

fn kind_of(target: Target) -> CodecKind {
    CodecKind::from_path(Path::new(&format!("x{}", target.extension()))).expect("what is written can be read")
}

#[test]
fn restores_data_written_in_pieces() {
    for target in Target::ALL {
        let mut encoder = Compression { target, level: None }.encoder().unwrap();
        let (mut file, mut all) = (Vec::new(), Vec::new());
        for lengths in [&[][..], &[1], &[0, 70_000, 3], &[300_000, 1, 0, 200_000], &[0]] {
            let (mut member, mut data) = (Vec::new(), Vec::new());
            for (i, &n) in lengths.iter().enumerate() {
                let piece = if i % 2 == 0 { text(n) } else { noise(n) };
                encoder.write(&piece, &mut member).unwrap();
                data.extend(piece);
            }
            encoder.finish(&mut member).unwrap();
            assert!(!member.is_empty());
            check(kind_of(target), &member, &data);
            file.extend(member);
            all.extend(data);
        }
        check(kind_of(target), &file, &all);
        check(kind_of(target), &Compression { target, level: None }.of_nothing().unwrap(), b"");
    }
}

#[test]
fn higher_levels_compress_better() {
    let data = text(300_000);
    for target in Target::ALL {
        let Some((least, largest, _)) = target.levels() else { continue };
        let sizes = [least, largest.min(19)].map(|level| {
            let file = encode_all(target, Some(level), &[&data]);
            check(kind_of(target), &file, &data);
            file.len()
        });
        assert!(sizes[1] < sizes[0], "{target:?}: {sizes:?}");
    }
}

#[test]
fn the_tools_read_our_files() {
    let data = [text(400_000), noise(100_000)].concat();
    for target in [Target::Gzip, Target::Zstd, Target::Bzip2, Target::Xz, Target::Lz4] {
        for data in [&b""[..], &data] {
            let file = [encode_all(target, None, &[data]), encode_all(target, None, &[b"more"])].concat();
            if let Some(back) = tool(&[target.name(), "-dc"], &file) {
                assert!(back == [data, b"more"].concat(), "{target:?}");
            }
        }
    }
    let inflate = "import sys, zlib; sys.stdout.buffer.write(zlib.decompress(sys.stdin.buffer.read()))";
    if let Some(back) = tool(&["python3", "-c", inflate], &encode_all(Target::Deflate, None, &[&data])) {
        assert!(back == data);
    }
}

#[test]
fn blocks_fit_the_buffers_of_hadoop() {
    let mut out = Vec::new();
    let mut snappy = hadoop_encoder(Target::HadoopSnappy, -1, 16 << 10).unwrap();
    snappy.write(&[5; 100_000], &mut out).unwrap();
    let first = u32::from_be_bytes(out[..4].try_into().unwrap()) as usize;
    assert!(first + first / 6 + 32 <= 16 << 10, "{first}");
}
