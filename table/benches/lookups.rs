//! Builds a table and looks keys up in random order, beside a hash map in the heap.
//!
//! ```text
//!   cargo bench -p yunti-table -- [KEYS] [integers|texts] [LOOKUPS] [FILE]
//! ```
//!
//! Rows have the key and a number of 8 bytes; a tenth of the keys that are looked up are not in the table. Each line is
//! an object of JSON, as those of `table/benches/peers/peers.cpp`, which has the same rows and keys. A FILE stays.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use hashbrown::HashMap;
use yunti_table::builder::{Duplicates, Gather, Settings, write};
use yunti_table::format::{Column, Kind, Schema};
use yunti_table::read::{FixedColumn, Row, Table};

const ROUNDS: usize = 3;

/// SplitMix64: number of a key -> key.
fn mixed(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

fn key(number: u64, is_text: bool) -> Vec<u8> {
    if is_text {
        format!("user{:012}", mixed(number) % 1_000_000_000_000).into_bytes()
    } else {
        mixed(number).to_le_bytes().to_vec()
    }
}

/// Calls `pass` some times, and returns nanoseconds of each lookup and the sum that all passes found.
fn timed(lookups: u64, mut pass: impl FnMut() -> u64) -> (Vec<f64>, u64) {
    let mut sums = Vec::new();
    let one = |_| {
        let begin = Instant::now();
        sums.push(pass());
        (begin.elapsed().as_nanos() as f64 / lookups as f64 * 10.0).round() / 10.0
    };
    let times = (0..ROUNDS).map(one).collect();
    assert!(sums.windows(2).all(|two| two[0] == two[1]), "the sums differ: {sums:?}");
    (times, sums[0])
}

fn value_of(row: Option<Row<'_>>, column: FixedColumn<8>) -> u64 {
    row.map_or(0, |row| u64::from_le_bytes(*row.fixed(column).unwrap()))
}

/// Builds the table, prints its figures, and returns the sum of what is found.
fn table(keys: u64, is_text: bool, asked: &[Vec<u8>], path: &Path) -> u64 {
    let kind = if is_text { Kind::Utf8 } else { Kind::U64 };
    let columns = vec![Column::new("id", kind, false), Column::new("value", Kind::U64, false)];
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let settings =
        Settings { budget_bytes: 12 << 30, threads, duplicates: Duplicates::KeepLast, ..Settings::default() };
    let begin = Instant::now();
    let gather = Gather::new(Schema::new(columns, vec![0]).unwrap(), path, &settings);
    std::thread::scope(|scope| {
        for thread in 0..threads as u64 {
            let gather = &gather;
            scope.spawn(move || {
                let mut feeder = gather.feeder();
                for number in (thread..keys).step_by(threads) {
                    feeder.add(&[Some(&key(number, is_text)), Some(&number.to_le_bytes())], number).unwrap();
                }
                feeder.finish().unwrap();
            });
        }
    });
    let built = write(path, gather, &settings).unwrap();
    let build_s = begin.elapsed().as_secs_f64();
    let table = Table::open(path).unwrap();
    let column = table.fixed_column(1).unwrap();
    let count = asked.len() as u64;
    let (get_ns, sum) = timed(count, || {
        asked
            .iter()
            .fold(0, |sum: u64, key| sum.wrapping_add(value_of(table.get(black_box(key.as_slice())).unwrap(), column)))
    });
    let (batch_ns, other) = timed(count, || {
        let mut sum = 0_u64;
        table.get_batch(asked, |_, row| sum = sum.wrapping_add(value_of(row, column))).unwrap();
        sum
    });
    assert_eq!(sum, other);
    let data = (if is_text { 16 } else { 8 } + 8) * built.keys;
    println!(
        "{{\"name\": \"Yunti, Rust\", \"build_s\": {build_s:.2}, \"bytes\": {}, \"data_bytes\": {data}, \"keys\": {}, \
         \"get_ns\": {get_ns:?}, \"batch_ns\": {batch_ns:?}, \"sum\": {sum}}}",
        built.bytes, built.keys
    );
    sum
}

/// Fills a map in the heap, prints its figures, and returns the sum of what is found.
fn map(keys: u64, is_text: bool, asked: &[Vec<u8>]) -> u64 {
    let begin = Instant::now();
    let count = asked.len() as u64;
    let (build_s, (get_ns, sum)) = if is_text {
        let mut map: HashMap<Box<[u8]>, u64> = HashMap::with_capacity(keys as usize);
        (0..keys).for_each(|number| _ = map.insert(key(number, true).into(), number));
        let find = |key: &Vec<u8>| map.get(black_box(key.as_slice())).copied();
        (begin.elapsed(), timed(count, || asked.iter().filter_map(find).fold(0, u64::wrapping_add)))
    } else {
        let mut map: HashMap<u64, u64> = HashMap::with_capacity(keys as usize);
        (0..keys).for_each(|number| _ = map.insert(mixed(number), number));
        let number = |key: &Vec<u8>| u64::from_le_bytes(black_box(key.as_slice()).try_into().unwrap());
        let find = |key: &Vec<u8>| map.get(&number(key)).copied();
        (begin.elapsed(), timed(count, || asked.iter().filter_map(find).fold(0, u64::wrapping_add)))
    };
    let build_s = build_s.as_secs_f64();
    println!("{{\"name\": \"hashbrown\", \"build_s\": {build_s:.2}, \"get_ns\": {get_ns:?}, \"sum\": {sum}}}");
    sum
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let number = |at: usize, usual: u64| words.get(at).map_or(usual, |word| word.parse().expect("a number"));
    let (keys, lookups) = (number(0, 10_000_000), number(2, 5_000_000));
    let is_text = words.get(1).is_some_and(|word| word == "texts");
    let own = std::env::temp_dir().join(format!("lookups-{}.ytab", std::process::id()));
    let path = words.get(3).map_or(own.clone(), Into::into);
    let asked: Vec<Vec<u8>> = (0..lookups).map(|at| key(mixed(at ^ 0x5555) % (keys + keys / 9), is_text)).collect();
    let sum = table(keys, is_text, &asked, &path);
    if path == own {
        std::fs::remove_file(&path).unwrap();
    }
    assert_eq!(sum, map(keys, is_text, &asked));
}
