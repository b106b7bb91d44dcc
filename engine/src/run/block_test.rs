//! Blocks: records are restored at any length; changed bytes are detected; any bytes are safe to open.

use super::block::{Block, BlockBuilder, TRAILER_BYTES, fuzz, trailer_of_one};
use crate::bytes::{KeyKind, KeyOrder, Record};
use crate::env::random::Random;
use yunti_base::Code;

type Owned = (Vec<u8>, u32, u32);

fn record(owned: &Owned) -> Record<'_> {
    Record { bytes: &owned.0, key_len: owned.1, split: owned.2 }
}

fn open(stored: &[u8]) -> yunti_base::Result<Block> {
    let mut block = Block::default();
    block.buffer(stored.len()).copy_from_slice(stored);
    block.open(stored.len(), &mut Vec::new())?;
    Ok(block)
}

fn read(block: &Block) -> Vec<Owned> {
    let mut at = block.start();
    let mut out = Vec::new();
    for step in 1.. {
        let before = out.len();
        block.decode(&mut at, step, KeyOrder::BYTES, |prefix, entry| {
            let record = block.record(&entry);
            assert_eq!(prefix, KeyOrder::BYTES.prefix(record.key(), 0));
            assert_eq!(record.key(), block.key(&entry));
            out.push((record.bytes.to_vec(), record.key_len, record.split));
        });
        if out.len() == before {
            break;
        }
    }
    block.check_end(at).unwrap();
    assert_eq!(out.len(), block.records());
    out
}

fn stored(records: &[Owned], compress: bool) -> Vec<u8> {
    let mut builder = BlockBuilder::default();
    records.iter().for_each(|r| builder.push(&record(r)));
    builder.seal(7, compress, &mut Vec::new()).0.to_vec()
}

fn check(records: &[Owned]) {
    for compress in [false, true] {
        let stored = stored(records, compress);
        assert_eq!(read(&open(&stored).unwrap()), records);
        fuzz(&stored);
    }
    let mut builder = BlockBuilder::default();
    records.iter().for_each(|r| builder.push(&record(r)));
    let mut block = Block::default();
    builder.swap_into(&mut block);
    assert_eq!(read(&block), records);
    assert!(builder.is_empty());
}

fn sample(random: &mut Random, n: u64, len_max: u64, split_max: u64) -> Vec<Owned> {
    (0..n)
        .map(|_| {
            let len = random.below(len_max + 1);
            let bytes: Vec<u8> = (0..len).map(|_| (random.below(3) * 127) as u8).collect();
            (bytes, random.below(len + 1) as u32, random.below(split_max) as u32)
        })
        .collect()
}

#[test]
fn restores_records_of_any_length() {
    let mut random = Random::new(3);
    check(&[]);
    check(&[(vec![], 0, 0)]);
    check(&vec![(vec![], 0, u32::MAX); 1000]);
    check(&vec![(b"key and value".to_vec(), 3, 9); 1000]);
    for n in [1, 2, 7, 100, 1000] {
        for len_max in [0, 1, 5, 20, 300] {
            for split_max in [1, 2, 100, 1 << 32] {
                check(&sample(&mut random, n, len_max, split_max));
            }
        }
    }
    // Frames that do not fit into one word.
    check(&[(vec![1; 1 << 20], 1 << 20, 0), (vec![2; 1 << 20], 0, u32::MAX), (vec![], 0, 1)]);
}

#[test]
fn a_single_record_has_the_bytes_of_a_block_of_one() {
    for one in [(vec![5u8; 3000], 2000, 3), (vec![], 0, 0)] {
        let mut alone = one.0.clone();
        alone.extend_from_slice(&trailer_of_one(7, &record(&one)));
        assert_eq!(alone, stored(std::slice::from_ref(&one), false));
    }
}

#[test]
fn records_take_little_more_than_their_bytes() {
    let overhead = |records: &[Owned]| {
        let bytes: usize = records.iter().map(|r| r.0.len()).sum();
        stored(records, false).len() as f64 / bytes as f64
    };
    assert!(overhead(&vec![(vec![1; 100], 10, 0); 2000]) < 1.001);
    let mut random = Random::new(4);
    let mut varied = |len: u64, spread: u64, splits: u64| -> Vec<Owned> {
        (0..2000)
            .map(|_| {
                (
                    vec![1; (len + random.below(spread)) as usize],
                    1 + random.below(8) as u32,
                    random.below(splits) as u32,
                )
            })
            .collect()
    };
    assert!(overhead(&varied(90, 20, 16)) < 1.03);
    assert!(overhead(&varied(12, 8, 4)) < 1.1);
}

#[test]
fn detects_any_changed_or_missing_byte() {
    let mut random = Random::new(5);
    for compress in [false, true] {
        let good = stored(&sample(&mut random, 50, 30, 9), compress);
        for at in 0..good.len() {
            for change in [1, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[at] ^= change;
                let error = open(&bad).err().expect("a changed byte goes unnoticed");
                assert_eq!(error.code(), Code::Corrupt);
                assert!(error.to_string().contains("run the job again"), "{error}");
                fuzz(&bad);
            }
            assert!(open(&good[..at]).is_err() && open(&good[at + 1..]).is_err());
            let mut torn = good.clone();
            torn[at..].fill(0);
            assert!(torn == good || open(&torn).is_err());
        }
    }
    assert!(open(&[]).is_err() && open(&[0; TRAILER_BYTES]).is_err());
}

#[test]
fn opens_random_bytes_safely() {
    let mut random = Random::new(6);
    for i in 0..20_000u64 {
        let mut bytes = stored(&sample(&mut random, i % 5, 9, 3), i % 2 == 0);
        for _ in 0..random.below(6) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] = random.next_u64() as u8;
        }
        fuzz(&bytes);
        fuzz(&(0..random.below(120)).map(|_| random.next_u64() as u8).collect::<Vec<_>>());
    }
}

#[test]
fn restricts_blocks_to_a_range() {
    let mut random = Random::new(8);
    for descending in [false, true] {
        let order = KeyOrder { kind: KeyKind::Bytes, descending };
        let mut records = sample(&mut random, 300, 12, 3);
        records.sort_by(|a, b| order.compare(record(a).key(), record(b).key()));
        let prefix = |r: &Owned| order.prefix(record(r).key(), 0);
        let stored = stored(&records, true);
        for _ in 0..200 {
            let mut edge = || match random.below(5) {
                0 => [0, u64::MAX][random.below(2) as usize],
                _ => prefix(&records[random.below(300) as usize]).wrapping_add(random.below(3).wrapping_sub(1)),
            };
            let (lo, hi) = (edge(), edge());
            let mut block = open(&stored).unwrap();
            let all = block.restrict(order, lo, hi).unwrap();
            let expect: Vec<Owned> = records.iter().filter(|r| (lo..=hi).contains(&prefix(r))).cloned().collect();
            let mut at = block.start();
            let mut shown = Vec::new();
            block.decode(&mut at, usize::MAX, order, |_, entry| {
                let r = block.record(&entry);
                shown.push((r.bytes.to_vec(), r.key_len, r.split));
            });
            block.check_end(at).unwrap();
            assert_eq!(shown, expect);
            assert_eq!(all, expect.len() == records.len());
        }
    }
}
