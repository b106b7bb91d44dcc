//! Reads the day's price files of grain exchanges again and again and keeps the means; a file is a list of short lines.
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

#[derive(Default)]
struct Mean {
    sum: f64,
    count: u64,
}

type Book = Mutex<HashMap<String, Mean>>;

struct Quote {
    grain: String,
    price: f64,
}

fn parse(line: &str) -> Option<Quote> {
    let mut parts = line.split(';');
    let grain = parts.next()?.to_string();
    let _exchange = parts.next()?;
    let price = parts.next()?.parse().ok()?;
    Some(Quote { grain, price })
}

fn quotes<R: Read>(source: R, mut each: impl FnMut(Quote)) -> Result<()> {
    let mut line = Vec::with_capacity(80);
    for byte in source.bytes() {
        match byte? {
            b'\n' => {
                if let Some(q) = std::str::from_utf8(&line).ok().and_then(parse) {
                    each(q);
                }
                line.clear();
            }
            b => line.push(b),
        }
    }
    Ok(())
}

fn import(path: &Path, mode: &str, book: &Book, done: &AtomicU64) -> Result<()> {
    let file = File::open(path)?;
    let source: Box<dyn Read> = if mode == "b" { Box::new(BufReader::new(file)) } else { Box::new(file) };
    let mut day: HashMap<String, Mean> = HashMap::new();
    quotes(source, |q| {
        let mean = day.entry(q.grain).or_default();
        mean.sum += q.price;
        mean.count += 1;
        done.fetch_add(1, Ordering::Relaxed);
    })?;
    let mut book = book.lock().unwrap();
    for (grain, mean) in day {
        let all = book.entry(grain).or_default();
        all.sum += mean.sum;
        all.count += mean.count;
    }
    Ok(())
}

fn write_day(path: &Path, day: u32) -> Result<()> {
    let mut text = String::new();
    for n in 0..20_000u32 {
        let grain = ["wheat", "rye", "barley", "oats", "maize"][(n % 5) as usize];
        text += &format!("{grain};EX{:02};{}.{:02};EUR;t\n", n % 17, 180 + (n * day) % 90, n % 100);
    }
    File::create(path)?.write_all(text.as_bytes())
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let paths: Vec<PathBuf> = (1..9).map(|d| Path::new(&args[1]).join(format!("day{d}.txt"))).collect();
    for (day, path) in paths.iter().enumerate() {
        write_day(path, day as u32 + 1)?;
    }
    let (book, done) = (Arc::new(Book::default()), Arc::new(AtomicU64::new(0)));
    for half in paths.chunks(4) {
        let (half, mode, book, done) = (half.to_vec(), args[2].clone(), book.clone(), done.clone());
        thread::spawn(move || loop {
            for path in &half {
                import(path, &mode, &book, &done).expect("price file");
            }
        });
    }
    loop {
        thread::sleep(Duration::from_millis(200));
        println!("quotes {}", done.load(Ordering::Relaxed));
    }
}
