//! Images with random damage, or made to do harm, give an error or a result in bounded time, and never a panic.

use std::cell::Cell;
use std::fs::{self, File};
use std::process::Command;
use std::time::{Duration, Instant};

use yunti_ext4::{ErrorKind, FileSystem, Files, Source, Usage};

/// A small image with files of many kinds. It has no checksums, which would detect most damage at once.
fn image(features: &str) -> Vec<u8> {
    image_of(features, 1024, 4)
}

fn image_of(features: &str, block_bytes: u32, mib: u64) -> Vec<u8> {
    let name = format!("yunti-ext4-damaged-{}-{features}-{block_bytes}-{mib}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let (root, path) = (folder.join("root"), folder.join("image"));
    fs::create_dir_all(root.join("a/b")).unwrap();
    for n in 0..40 {
        fs::write(root.join(format!("a/file-{n}")), vec![n; usize::from(n) * 300]).unwrap();
    }
    let holes = File::create(root.join("holes")).unwrap();
    for n in 0..120 {
        std::os::unix::fs::FileExt::write_all_at(&holes, b"data", n * 5_000).unwrap();
    }
    File::create(&path).unwrap().set_len(mib << 20).unwrap();
    let program = if fs::exists("/usr/sbin/mke2fs").unwrap() { "/usr/sbin/mke2fs" } else { "mke2fs" };
    let words = [
        "-q",
        "-F",
        "-t",
        "ext4",
        "-b",
        &block_bytes.to_string(),
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

/// Runs every query of the crate.
fn read(bytes: &[u8], is_changing: bool) -> Result<bool, ErrorKind> {
    let fs = FileSystem::open(bytes).map_err(|e| e.kind)?;
    let walk = fs.walk(is_changing, 3, Files::add).map_err(|e| e.kind)?;
    let runs = walk.runs();
    let usage = Usage::of(&fs, &walk, &runs);
    let all = (1..=fs.superblock.inodes.min(1000)).collect();
    fs.paths(&runs, &all);
    Ok(usage.ownership.is_whole() && walk.damages().next().is_none())
}

/// Xorshift generator: the same numbers in each run.
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
fn random_damage_never_panics() {
    let mut random = Random(20_261_123);
    for features in [
        "^metadata_csum,^64bit",
        "^metadata_csum,bigalloc",
        "^metadata_csum,^extent,^64bit",
        "^metadata_csum,inline_data,meta_bg,^resize_inode",
    ] {
        let good = image(features);
        assert_eq!(read(&good, false), Ok(true), "{features}");
        // Positions of structures: all bytes that are not zero.
        let places: Vec<usize> = (0..good.len()).filter(|at| good[*at] != 0).collect();
        let mut seen = [0; 3];
        for _ in 0..400 {
            let mut bytes = good.clone();
            for _ in 0..1 + random.below(8) {
                let at = match random.below(4) {
                    // The superblock, the descriptors and the blocks behind them.
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
fn refuses_truncated_images() {
    let good = image("^metadata_csum");
    for length in [0, 1, 1023, 1024, 2047, 2048, 100_000, good.len() - 1] {
        assert!(matches!(read(&good[..length], false), Err(ErrorKind::Foreign | ErrorKind::Damaged)), "{length}");
    }
    assert_eq!(read(&[0; 8192], false), Err(ErrorKind::Foreign));
}

#[test]
fn detects_wrong_checksums() {
    let good = image("metadata_csum");
    let change = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        read(&bytes, false)
    };
    // The superblock, and the first descriptor.
    assert_eq!(change(1024 + 0x78), Err(ErrorKind::Damaged));
    assert_eq!(change(2048 + 0x30), Err(ErrorKind::Damaged));
    let table = u32::from_le_bytes(good[2048 + 8..2048 + 12].try_into().unwrap()) as usize * 1024;
    // Damage of the root directory's inode leaves out this inode only.
    assert_eq!(change(table + 256 + 8), Ok(false));
}

#[test]
fn refuses_numbers_that_overflow() {
    let mut bytes = image("^metadata_csum,64bit");
    bytes[1024 + 0x20..1024 + 0x24].copy_from_slice(&8u32.to_le_bytes());
    bytes[1024 + 0x150..1024 + 0x154].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(read(&bytes, false), Err(ErrorKind::Damaged));
}

#[test]
fn refuses_zeroed_descriptors() {
    let mut bytes = image_of("^metadata_csum", 4096, 16);
    assert_eq!(read(&bytes, false), Ok(true));
    bytes[4096..8192].fill(0);
    assert_eq!(read(&bytes, false), Err(ErrorKind::Damaged));
    assert_eq!(read(&bytes, true), Err(ErrorKind::Damaged));
}

/// Each of the directory's 28,224 extents names the same 32,767 blocks: a billion blocks in a file system of 65,536.
#[test]
fn bounds_a_directory_longer_than_the_file_system() {
    const LEAVES: u32 = 336;
    const FROM: u32 = 50_000;
    let mut bytes = image_of("^metadata_csum", 1024, 64);
    let table = u32::from_le_bytes(bytes[2048 + 8..2048 + 12].try_into().unwrap()) as usize * 1024;
    // The root's inode, whose entries are part of every path.
    let map = table + 256 + 0x28;
    let first = u32::from_le_bytes(bytes[map + 12 + 8..map + 12 + 12].try_into().unwrap());
    let header = |entries: u16, room: u16, depth: u16| {
        let mut header = [0; 12];
        for (at, word) in [0xF30A, entries, room, depth].into_iter().enumerate() {
            header[at * 2..at * 2 + 2].copy_from_slice(&word.to_le_bytes());
        }
        header
    };
    let mut put = |at: usize, words: &[u8]| bytes[at..at + words.len()].copy_from_slice(words);
    put(map, &header(4, 4, 2));
    for n in 0..4 {
        let (index, block) = (map + 12 + n as usize * 12, FROM + n);
        put(index + 4, &u64::from(block).to_le_bytes());
        put(block as usize * 1024, &header(84, 84, 1));
        for leaf in 0..LEAVES / 4 {
            let (at, leaf_block) = (block as usize * 1024 + 12 + leaf as usize * 12, FROM + 4 + n * 84 + leaf);
            put(at + 4, &leaf_block.to_le_bytes());
            put(leaf_block as usize * 1024, &header(84, 84, 0));
            for extent in 0..84 {
                let at = leaf_block as usize * 1024 + 12 + extent * 12;
                put(at + 4, &0x7FFFu16.to_le_bytes());
                put(at + 8, &first.min(65_535 - 0x7FFF).to_le_bytes());
            }
        }
    }
    let fs = FileSystem::open(&bytes[..]).unwrap();
    let walk = fs.walk(false, 1, Files::add).unwrap();
    assert_eq!(walk.damages().map(|e| e.what.as_str()).collect::<Vec<_>>(), [""; 0]);
    let begun = Instant::now();
    assert_eq!(read(&bytes, false), Ok(false));
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

/// Source that records the largest read.
struct ReadSizes(File, Cell<usize>);

impl Source for ReadSizes {
    fn size(&self) -> std::io::Result<u64> {
        self.0.size()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.1.set(self.1.get().max(buffer.len()));
        self.0.read_at(buffer, offset)
    }
}

/// A sparse image of any size costs its author nothing.
#[test]
fn reads_a_large_inode_table_in_pieces() {
    let path = std::env::temp_dir().join(format!("yunti-ext4-large-{}", std::process::id()));
    File::create(&path).unwrap().set_len(1 << 30).unwrap();
    let program = if fs::exists("/usr/sbin/mke2fs").unwrap() { "/usr/sbin/mke2fs" } else { "mke2fs" };
    let words =
        ["-q", "-F", "-t", "ext4", "-b", "4096", "-I", "4096", "-N", "131072", "-O", "^has_journal,^metadata_csum"];
    let made = Command::new(program).args(words).arg(&path).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let source = ReadSizes(File::open(&path).unwrap(), Cell::new(0));
    fs::remove_file(&path).unwrap();
    let fs = FileSystem::open(&source).unwrap();
    assert_eq!(fs.superblock.inode_table_blocks() >> 8, 64, "of 64 MiB");
    assert!(fs.walk(false, 1, Files::add).is_ok());
    assert!(source.1.get() <= 1 << 20, "{}", source.1.get());
}

/// Seeds of the fuzzer, and inputs that it found.
#[test]
fn reads_the_fuzz_corpus() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/ext4");
    let mut whole = 0;
    for entry in fs::read_dir(folder).unwrap() {
        whole += usize::from(read(&fs::read(entry.unwrap().path()).unwrap(), false) == Ok(true));
    }
    assert!(whole >= 5, "the five that mke2fs has made");
}
