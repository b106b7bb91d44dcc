//! Damaged, cut, compressed and forged dumps: an answer about what is there, or an error of one line; never a panic.

mod dump;

use std::io::Write;
use std::panic::catch_unwind;
use std::path::Path;

use dump::{Random, TestHeap};
use flate2::{Compression, write::GzEncoder};
use yunti_base::{Code, Result};
use yunti_heap::answer::{suspects::large, threads::threads};
use yunti_heap::{Heap, Settings};

fn read(path: &Path) -> Result<Heap> {
    Heap::read(path, Settings { threads: 2, scratch: &std::env::temp_dir() })
}

/// Reads a dump and gives all answers about it.
fn answer(path: &Path) -> Result<u64> {
    let heap = read(path)?;
    large(&heap, 10)?;
    threads(&heap, 10, 3)?;
    Ok(heap.total().objects)
}

fn small(seed: u64) -> (TestHeap, Vec<u8>) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
    let heap = TestHeap::random(&mut random, 30);
    let bytes = heap.write(&mut random);
    (heap, bytes)
}

#[test]
fn mutated_dumps_never_panic() {
    let mut answered = 0;
    for seed in 1..=2000 {
        let (_, mut bytes) = small(seed % 50 + 1);
        let mut random = Random(seed);
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len() as u64) as usize;
            match random.below(5) {
                0 => bytes[at] = random.below(256) as u8,
                1 => bytes[at] ^= 1 << random.below(8),
                2 => bytes.truncate(at.max(1)),
                3 => {
                    let to = (at + random.below(9) as usize).min(bytes.len());
                    bytes[at..to].fill(if random.chance(50) { 0xff } else { 0 });
                }
                _ => {
                    let from = random.below(bytes.len() as u64) as usize;
                    let length = (random.below(60) as usize).min(bytes.len() - from.max(at));
                    bytes.copy_within(from..from + length, at);
                }
            }
        }
        let path = dump::file("mutated", &bytes);
        match catch_unwind(|| answer(&path)) {
            Ok(Ok(objects)) => answered += u64::from(objects > 0),
            Ok(Err(error)) => assert!(matches!(error.code(), Code::Input | Code::Corrupt), "seed {seed}: {error}"),
            Err(_) => panic!("seed {seed}: {}", path.display()),
        }
        std::fs::remove_file(&path).unwrap();
    }
    assert!(answered > 1000, "only {answered} of 2000 dumps have an answer");
}

#[test]
fn a_cut_dump_is_read_as_far_as_it_goes() {
    let (heap, bytes) = small(3);
    let mut most = 0;
    for length in (0..bytes.len()).step_by(7) {
        let path = dump::file("cut", &bytes[..length]);
        match read(&path) {
            Ok(cut) => {
                let objects = cut.total().objects + cut.garbage.objects;
                assert!(objects >= most, "{length}");
                most = objects;
            }
            Err(error) => assert!(matches!(error.code(), Code::Input | Code::Corrupt), "{error}"),
        }
        std::fs::remove_file(&path).unwrap();
    }
    assert!(most >= heap.objects.len() as u64);
    let path = dump::file("cut", &bytes[..bytes.len() - 20]);
    let notes = read(&path).unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("is cut at byte")), "{notes:?}");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn compressed_dumps_have_the_same_objects() {
    let (_, bytes) = small(5);
    let plain = dump::file("plain", &bytes);
    let want = read(&plain).unwrap();
    let mut members = Vec::new();
    for part in bytes.chunks(777) {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(part).unwrap();
        members.extend(encoder.finish().unwrap());
    }
    let path = dump::file("members", &members);
    let found = read(&path).unwrap();
    assert_eq!((found.total(), &found.totals, found.notes.len()), (want.total(), &want.totals, 0));
    std::fs::write(&path, &members[..members.len() - 30]).unwrap();
    let notes = read(&path).unwrap().notes;
    assert!(notes[0].contains("The compressed dump is cut"), "{notes:?}");
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_file(&plain).unwrap();
}

#[test]
fn errors_say_what_where_and_what_to_do() {
    let path = std::env::temp_dir().join("yunti-heap-no-such-file");
    let error = |path: &Path| read(path).err().unwrap().to_string();
    assert!(error(&path).starts_with("cannot read the heap dump: No such file"), "{}", error(&path));
    for (bytes, want) in [
        (&b""[..], "is no heap dump of a JVM"),
        (b"hello, this is a text file of some length", "is no heap dump of a JVM"),
        (b"JAVA PROFILE 1.0.2\0\0\0\0\x05........", "ids of neither 4 nor 8 bytes"),
        (b"JAVA PROFILE 1.0.2\0\0\0\0\x08........", "the dump has no heap segment"),
    ] {
        let path = dump::file("wrong", bytes);
        let error = error(&path);
        assert!(error.contains(want) && error.contains("GC.heap_dump"), "{error}");
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_redacted_copy_has_the_same_heap_without_contents() {
    for seed in [2, 7, 11] {
        let (_, bytes) = small(seed);
        let path = dump::file("secret", &bytes);
        let out = path.with_extension("redacted");
        let zeroed = yunti_heap::answer::redact::redact(&path, &out, &std::env::temp_dir()).unwrap();
        let copy = std::fs::read(&out).unwrap();
        let changed = bytes.iter().zip(&copy).filter(|(a, b)| a != b).collect::<Vec<_>>();
        assert_eq!((copy.len(), changed.len() as u64), (bytes.len(), zeroed));
        assert!(changed.iter().all(|(old, new)| (**old, **new) == (7, 0)), "only values of arrays, which are 7");
        let [old, new] = [&path, &out].map(|path| read(path).unwrap());
        assert_eq!(old.totals, new.totals);
        let same = yunti_heap::answer::redact::redact(&path, &path, &std::env::temp_dir()).unwrap_err();
        assert_eq!(same.code(), Code::Usage);
        std::fs::remove_file(&path).unwrap();
        std::fs::remove_file(&out).unwrap();
    }
}
