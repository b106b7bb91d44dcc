//! Arbitrary bytes as a compressed file cut into parts: they give the bytes of a decoder in order, or a doubt. If the
//! decoder in order fails, there is a doubt.

use std::path::Path;
use std::sync::Arc;

use yunti_base::{Cancel, Code};
use yunti_engine::codec::{CodecKind, State, decoder, memory_bytes};
use yunti_engine::env::NamedFile;
use yunti_engine::env::files::Files;
use yunti_engine::env::real::RealFiles;
use yunti_engine::memory::Budget;
use yunti_engine::read::byte_source::CutReader;
use yunti_engine::read::parts::reader::{self, PartReader};
use yunti_engine::read::parts::{REACH_BYTES_MAX, find, is_doubtful};

/// Bytes of output after which a decompression bomb is cut.
const OUTPUT_BYTES_MAX: usize = 4 << 20;

/// Returns the data; None for damaged data. The outer None: more than `OUTPUT_BYTES_MAX` bytes.
fn in_order(kind: CodecKind, bytes: &[u8]) -> Option<Option<Vec<u8>>> {
    let mut decoder = decoder(kind, memory_bytes(kind)).expect("a decoder");
    let (mut data, mut at, mut output) = (Vec::new(), 0, vec![0; 10_000]);
    while data.len() <= OUTPUT_BYTES_MAX {
        let Ok(step) = decoder.decode(&bytes[at..], &mut output, true) else { return Some(None) };
        data.extend_from_slice(&output[..step.written]);
        at += step.read;
        if at == bytes.len() && step.state == State::End {
            return Some(Some(data));
        }
    }
    None
}

/// Checks one input. The first byte chooses the format, the next two the size of a part.
pub fn check(bytes: &[u8]) {
    let [kind, low, high, bytes @ ..] = bytes else { return };
    let kind = CodecKind::ALL[usize::from(*kind) % CodecKind::ALL.len()];
    let target_bytes = u64::from(u16::from_le_bytes([*low, *high]));
    let file = RealFiles.scratch(&std::env::temp_dir()).expect("a scratch file");
    assert_eq!(file.write_at(bytes, 0).expect("a write"), bytes.len());
    let file = NamedFile::new(file, Path::new("file"), Code::Input);
    let Some(parts) = find(&file, kind, target_bytes, REACH_BYTES_MAX).expect("reads do not fail") else { return };
    let parts = Arc::new(parts);
    let Some(expect) = in_order(kind, bytes) else { return };
    let (mut data, mut piece) = (Vec::new(), vec![0; 10_000]);
    for number in 0..parts.all().len() {
        let budget = Budget::new(reader::memory_bytes(&parts));
        let mut part = PartReader::new(file.clone(), kind, parts.clone(), number, &budget).expect("memory");
        while part.boundary().is_none() {
            let Ok(n) = part.read(&mut piece) else {
                assert!(is_doubtful(&file, kind, &parts, &Cancel::default()), "a failed part leaves no doubt");
                return;
            };
            data.extend_from_slice(&piece[..n]);
            if data.len() > OUTPUT_BYTES_MAX {
                return;
            }
            assert!(n == piece.len() || part.boundary().is_some(), "no progress");
        }
    }
    assert!(Some(data) == expect, "parts give other data");
    assert!(!is_doubtful(&file, kind, &parts, &Cancel::default()));
}
