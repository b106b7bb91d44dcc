//! Images that are damaged at random, or made to harm: an error or an answer, in bounded time, and never a crash.

use std::fs::{self, File};
use std::process::Command;

use yunti_ext4::{FileSystem, Files, Trouble, Usage};

/// Small, with a little of everything in it. Without checksums, which would stop most damage at its door.
fn image(features: &str) -> Vec<u8> {
    let folder = std::env::temp_dir().join(format!("yunti-ext4-damaged-{}-{features}", std::process::id()));
    let (root, path) = (folder.join("root"), folder.join("image"));
    fs::create_dir_all(root.join("a/b")).unwrap();
    for n in 0..40 {
        fs::write(root.join(format!("a/file-{n}")), vec![n; usize::from(n) * 300]).unwrap();
    }
    let holes = File::create(root.join("holes")).unwrap();
    for n in 0..120 {
        std::os::unix::fs::FileExt::write_all_at(&holes, b"data", n * 5_000).unwrap();
    }
    File::create(&path).unwrap().set_len(4 << 20).unwrap();
    let program = if fs::exists("/usr/sbin/mke2fs").unwrap() { "/usr/sbin/mke2fs" } else { "mke2fs" };
    let words = [
        "-q",
        "-F",
        "-t",
        "ext4",
        "-b",
        "1024",
        "-N",
        "128",
        "-O",
        features,
        "-d",
        root.to_str().unwrap(),
        path.to_str().unwrap(),
    ];
    let made = Command::new(program).args(words).output().expect("mke2fs of e2fsprogs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let bytes = fs::read(&path).unwrap();
    fs::remove_dir_all(folder).unwrap();
    bytes
}

/// Everything that can be asked of it.
fn read(bytes: &[u8], is_changing: bool) -> Result<bool, Trouble> {
    let fs = FileSystem::open(bytes).map_err(|e| e.trouble)?;
    let walked = fs.walk(is_changing, 3, Files::add).map_err(|e| e.trouble)?;
    let runs = walked.runs();
    let usage = Usage::of(&fs, &walked, &runs);
    let all = (1..=fs.superblock.inodes.min(1000)).collect();
    fs.paths(&runs, &all);
    Ok(usage.ownership.is_whole() && walked.damages().next().is_none())
}

/// Xorshift: the same numbers each time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

#[test]
fn nothing_makes_it_panic() {
    let mut random = Random(20_261_123);
    for features in [
        "^metadata_csum,^64bit",
        "^metadata_csum,bigalloc",
        "^metadata_csum,^extent,^64bit",
        "^metadata_csum,inline_data,meta_bg,^resize_inode",
    ] {
        let good = image(features);
        assert_eq!(read(&good, false), Ok(true), "{features}");
        // Where structures are: all that is not zero.
        let places: Vec<usize> = (0..good.len()).filter(|at| good[*at] != 0).collect();
        let mut seen = [0; 3];
        for _ in 0..400 {
            let mut bytes = good.clone();
            for _ in 0..1 + random.below(8) {
                let at = match random.below(4) {
                    // The superblock, the descriptors and what comes next.
                    0 => 1024 + random.below(0x280),
                    1 => 2048 + random.below(120_000),
                    _ => places[random.below(places.len())],
                };
                bytes[at] = [0, 0xff, 1, 0x80, random.below(256) as u8][random.below(5)];
            }
            let found = read(&bytes, random.below(2) == 0);
            seen[match found {
                Ok(true) => 0,
                Ok(false) => 1,
                Err(_) => 2,
            }] += 1;
        }
        assert!(seen.iter().all(|n| *n > 0), "{features}: whole, with damage, not read: {seen:?}");
    }
}

#[test]
fn a_part_of_an_image() {
    let good = image("^metadata_csum");
    for length in [0, 1, 1023, 1024, 2047, 2048, 100_000, good.len() - 1] {
        assert!(matches!(read(&good[..length], false), Err(Trouble::Foreign | Trouble::Damaged)), "{length}");
    }
    assert_eq!(read(&[0; 8192], false), Err(Trouble::Foreign));
}

#[test]
fn a_checksum_that_is_wrong_is_seen() {
    let good = image("metadata_csum");
    let change = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        read(&bytes, false)
    };
    // The superblock, and the first descriptor.
    assert_eq!(change(1024 + 0x78), Err(Trouble::Damaged));
    assert_eq!(change(2048 + 0x30), Err(Trouble::Damaged));
    let table = u32::from_le_bytes(good[2048 + 8..2048 + 12].try_into().unwrap()) as usize * 1024;
    // Of the root directory, only that inode is left out.
    assert_eq!(change(table + 256 + 8), Ok(false));
}

/// What the fuzzer begins with, and what it has found.
#[test]
fn the_corpus() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/ext4");
    let mut whole = 0;
    for entry in fs::read_dir(folder).unwrap() {
        whole += usize::from(read(&fs::read(entry.unwrap().path()).unwrap(), false) == Ok(true));
    }
    assert!(whole >= 5, "the five that mke2fs has made");
}
