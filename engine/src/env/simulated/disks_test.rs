//! Tests of what the simulated disks keep after a loss of power.

use std::path::Path;

use super::disks::Disks;
use crate::env::random::Random;

fn after(steps: impl Fn(&mut Disks), seed: u64) -> (bool, Option<Vec<u8>>) {
    let mut disks = Disks::new(&["/"]);
    disks.begin_journal();
    steps(&mut disks);
    disks.lose_power(&mut Random::new(seed));
    let bytes = disks.open(Path::new("/d/f")).ok().map(|inode| {
        let mut bytes = vec![0; disks.len_of(inode) as usize];
        disks.read_at(inode, &mut bytes, 0).unwrap();
        bytes
    });
    (disks.meta(Path::new("/d")).is_ok(), bytes)
}

#[test]
fn what_was_synced_survives_and_the_rest_may() {
    let write = |disks: &mut Disks| {
        disks.create_dir(Path::new("/d"), 0).unwrap();
        let inode = disks.create(Path::new("/d/f"), 0).unwrap();
        disks.write_at(inode, b"bytes", 0, 0).unwrap();
        inode
    };
    // A sync of the file keeps its creation, and the creation of its directory before.
    for seed in 0..50 {
        let synced = |disks: &mut Disks| {
            let inode = write(disks);
            disks.sync(inode).unwrap();
        };
        assert_eq!(after(synced, seed), (true, Some(b"bytes".to_vec())));
    }
    // Names alone: the file is there, its bytes perhaps not.
    let named = |disks: &mut Disks| {
        write(disks);
        disks.sync_dir(Path::new("/d")).unwrap();
    };
    let seen: std::collections::BTreeSet<_> = (0..50).map(|seed| after(named, seed)).collect();
    assert!(seen.contains(&(true, Some(b"bytes".to_vec()))) && seen.contains(&(true, Some(b"".to_vec()))));
    assert!(!seen.contains(&(true, None)) && !seen.contains(&(false, None)));
    // Nothing synced: the first part of the changes survives.
    let seen: std::collections::BTreeSet<_> = (0..50)
        .map(|seed| {
            after(
                |disks| {
                    write(disks);
                },
                seed,
            )
        })
        .collect();
    assert!(seen.contains(&(false, None)) && seen.contains(&(true, None)) && seen.len() >= 4);
    // A rename that was not synced may be undone.
    let renamed = |disks: &mut Disks| {
        disks.create_dir(Path::new("/d"), 0).unwrap();
        let inode = disks.create(Path::new("/d/g"), 0).unwrap();
        disks.sync(inode).unwrap();
        disks.rename(Path::new("/d/g"), Path::new("/d/f"), 0).unwrap();
        disks.sync(inode).unwrap();
    };
    let seen: std::collections::BTreeSet<_> = (0..50).map(|seed| after(renamed, seed)).collect();
    assert!(seen.contains(&(true, None)) && seen.contains(&(true, Some(b"".to_vec()))));
}

/// A hole that was not synced is gone after a loss of power, so that a file without a name uses more than before.
#[test]
fn a_hole_that_is_gone_uses_bytes_again() {
    for seed in 0..20 {
        let mut disks = Disks::new(&["/"]);
        disks.set_free(0, 1 << 20);
        disks.begin_journal();
        let inode = disks.scratch(Path::new("/"), 0).unwrap();
        disks.write_at(inode, &[1; 3 * 4096], 0, 0).unwrap();
        disks.sync(inode).unwrap();
        disks.punch(inode, 0, 3 * 4096);
        disks.lose_power(&mut Random::new(seed));
        assert_eq!(disks.free_bytes(0), 1 << 20, "seed {seed}");
    }
}
