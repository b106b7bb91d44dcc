//! Replays the committed corpus of the fuzz target: each file whole, cut, and with wrong bytes. Hostile sizes besides.

#[path = "../../../fuzz/checks/observe/gc.rs"]
mod checks;

use std::fs;
use std::io::{self, Read};
use std::path::Path;

#[test]
fn gc_log() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/gc_log");
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 8, "{files:?}");
    for path in files {
        let bytes = fs::read(&path).unwrap();
        checks::gc_log(&bytes);
        for at in (0..bytes.len()).step_by(23) {
            checks::gc_log(&bytes[..at]);
            checks::gc_log(&bytes[at..]);
            for wrong in [bytes[at] ^ 0x80, b'[', b']', b'9', b'\n'] {
                let mut other = bytes.clone();
                other[at] = wrong;
                checks::gc_log(&other);
            }
        }
    }
}

/// Part of a text again and again, without an end of line unless it has one.
struct Endless<'a>(&'a [u8], u64);

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.0.len().min(buffer.len()).min(self.1 as usize);
        buffer[..length].copy_from_slice(&self.0[..length]);
        self.1 -= length as u64;
        Ok(length)
    }
}

/// Lines without an end, records that never close, and binary data are read in a buffer of fixed size.
#[test]
fn sizes_have_bounds() {
    let open = b"1.0: [GC (a) [ParNew: 1K->1K(2K), ".repeat(40);
    let names: Vec<u8> = (0..2000)
        .flat_map(|n| format!("[1.0s][info][gc] GC({n}) Pause Young (Cause {n}) 2K->1K(3K) 1.000ms\n").into_bytes())
        .collect();
    let binary: Vec<u8> = (0..4096u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for part in [&open[..], &names, &binary, b"[", b"\0", b"1: 1 1\n", b"[0x", b"[1.0s]"] {
        let log = yunti_gc::parse(&mut Endless(part, 8 << 20)).unwrap();
        assert!(log.causes.0.len() < 300 && log.phases.0.len() < 300 && log.events.len() <= yunti_gc::log::EVENTS_MAX);
    }
}
