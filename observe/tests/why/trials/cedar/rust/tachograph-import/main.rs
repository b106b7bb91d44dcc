//! Imports the records of tachographs.

mod tacho;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

static RECORDS: AtomicU64 = AtomicU64::new(0);

#[derive(Default)]
struct Driver {
    driving: u64,
    resting: u64,
    last: u64,
    top_speed: f32,
}

fn import(source: Box<dyn Read>) -> io::Result<HashMap<u32, Driver>> {
    let mut drivers: HashMap<u32, Driver> = HashMap::new();
    let mut tacho = tacho::Tacho::new(source);
    while let Some(r) = tacho.next()? {
        let d = drivers.entry(r.driver).or_default();
        let minutes = if d.last == 0 { 0 } else { (r.at - d.last) / 60 };
        match r.activity {
            0 => d.resting += minutes,
            _ => d.driving += minutes,
        }
        d.last = r.at;
        d.top_speed = d.top_speed.max(r.speed);
        RECORDS.fetch_add(1, Ordering::Relaxed);
    }
    Ok(drivers)
}

fn importer(path: String, whole: bool) {
    loop {
        let file = File::open(&path).expect("the week's file");
        let source: Box<dyn Read> = if whole { Box::new(BufReader::new(file)) } else { Box::new(file) };
        let drivers = import(source).expect("import");
        let late = drivers.values().filter(|d| d.driving > 56 * 60 || d.top_speed > 120.0 || d.resting == 1).count();
        if late > drivers.len() {
            println!("{late} drivers are over their time");
        }
    }
}

fn main() {
    let a: Vec<String> = std::env::args().collect();
    let whole = a[2] == "whole";
    for _ in 0..2 {
        let path = a[1].clone();
        thread::spawn(move || importer(path, whole));
    }
    println!("ready");
    loop {
        thread::sleep(Duration::from_millis(500));
        println!("total {}", RECORDS.load(Ordering::Relaxed));
    }
}
