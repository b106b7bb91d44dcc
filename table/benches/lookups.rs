//! Builds a table and looks keys up in random order, beside a hash map in the heap.
//!
//! ```text
//!   cargo bench -p yunti-table -- [KEYS] [integers|texts]
//! ```
//!
//! Rows have the key and a number of 8 bytes; a tenth of the keys that are looked up are not in the table.

use std::hint::black_box;
use std::time::Instant;

use hashbrown::HashMap;
use yunti_table::builder::{Gather, Settings, write};
use yunti_table::format::{Column, Kind, Schema};
use yunti_table::read::Table;

const LOOKUPS: u64 = 5_000_000;

/// SplitMix64: key number -> key.
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

fn ns(begin: Instant, count: u64) -> f64 {
    begin.elapsed().as_nanos() as f64 / count as f64
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let keys: u64 = words.first().map_or(10_000_000, |word| word.parse().expect("a number of keys"));
    let is_text = words.get(1).is_some_and(|word| word == "texts");
    let folder = words.get(2).map_or_else(std::env::temp_dir, Into::into);
    let path = folder.join(format!("lookups-{}.ytab", std::process::id()));
    let kind = if is_text { Kind::Utf8 } else { Kind::U64 };
    let schema =
        Schema::new(vec![Column::new("id", kind, false), Column::new("value", Kind::U64, false)], vec![0]).unwrap();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let settings = Settings {
        budget_bytes: 12 << 30,
        threads,
        duplicates: yunti_table::builder::Duplicates::KeepLast,
        ..Settings::default()
    };

    let begin = Instant::now();
    let gather = Gather::new(schema, &path, settings.budget_bytes);
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
    let gathered = begin.elapsed().as_secs_f64();
    let built = write(&path, gather, &settings).unwrap();
    let data = (if is_text { 16 } else { 8 } + 8) * built.keys;
    println!(
        "build {:.2} s ({gathered:.2} s to gather), {} keys, {:.2} bytes a key in the file, {:.3} x data",
        begin.elapsed().as_secs_f64(),
        built.keys,
        built.bytes as f64 / built.keys as f64,
        built.bytes as f64 / data as f64
    );

    let asked: Vec<Vec<u8>> = (0..LOOKUPS).map(|at| key(mixed(at ^ 0x5555) % (keys + keys / 9), is_text)).collect();
    let begin = Instant::now();
    let table = Table::open(&path).unwrap();
    println!("open {:.3} ms", begin.elapsed().as_secs_f64() * 1e3);
    let mut sums = Vec::new();
    for round in 0..3 {
        let begin = Instant::now();
        let mut sum = 0_u64;
        for key in &asked {
            if let Some(row) = table.get(black_box(key)).unwrap() {
                let value = row.raw_value(1).unwrap().unwrap();
                sum = sum.wrapping_add(u64::from_le_bytes(value.try_into().unwrap()));
            }
        }
        println!("get        {:.1} ns (round {round})", ns(begin, LOOKUPS));
        sums.push(sum);
    }
    for round in 0..2 {
        let begin = Instant::now();
        let mut sum = 0_u64;
        table
            .get_batch(&asked, |_, row| {
                if let Some(row) = row {
                    let value = row.raw_value(1).unwrap().unwrap();
                    sum = sum.wrapping_add(u64::from_le_bytes(value.try_into().unwrap()));
                }
            })
            .unwrap();
        println!("get_batch  {:.1} ns (round {round})", ns(begin, LOOKUPS));
        sums.push(sum);
    }
    drop(table);
    std::fs::remove_file(&path).unwrap();

    let begin = Instant::now();
    if is_text {
        let mut map: HashMap<Box<[u8]>, u64> = HashMap::with_capacity(keys as usize);
        (0..keys).for_each(|number| _ = map.insert(key(number, true).into(), number));
        println!("hashbrown  built in {:.2} s", begin.elapsed().as_secs_f64());
        for round in 0..2 {
            let begin = Instant::now();
            let sum = asked
                .iter()
                .filter_map(|key| map.get(black_box(key.as_slice())))
                .fold(0, |sum: u64, one| sum.wrapping_add(*one));
            println!("hashbrown  {:.1} ns (round {round})", ns(begin, LOOKUPS));
            sums.push(sum);
        }
    } else {
        let mut map: HashMap<u64, u64> = HashMap::with_capacity(keys as usize);
        (0..keys).for_each(|number| _ = map.insert(mixed(number), number));
        println!("hashbrown  built in {:.2} s", begin.elapsed().as_secs_f64());
        for round in 0..2 {
            let begin = Instant::now();
            let number = |key: &Vec<u8>| u64::from_le_bytes(black_box(key.as_slice()).try_into().unwrap());
            let sum =
                asked.iter().filter_map(|key| map.get(&number(key))).fold(0, |sum: u64, one| sum.wrapping_add(*one));
            println!("hashbrown  {:.1} ns (round {round})", ns(begin, LOOKUPS));
            sums.push(sum);
        }
    }
    assert!(sums.windows(2).all(|two| two[0] == two[1]), "the sums differ: {sums:?}");
}
