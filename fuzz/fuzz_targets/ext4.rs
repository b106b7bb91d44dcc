//! Arbitrary bytes as an ext4 file system: opened, walked, measured and searched for paths.
#![no_main]

use yunti_ext4::{FileSystem, Files, Usage};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(fs) = FileSystem::open(bytes) else { return };
    let Ok(walked) = fs.walk(false, 1, Files::add) else { return };
    let runs = walked.runs();
    let usage = Usage::of(&fs, &walked, &runs);
    // Free blocks are a part of all blocks.
    assert!(usage.free.blocks <= fs.superblock.blocks);
    let inodes = (1..=fs.superblock.inodes.min(200)).collect();
    fs.paths(&runs, &inodes);
});
