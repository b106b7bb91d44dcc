//! Converts amounts for the tills of an exchange office.

mod rates;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

static CONVERTED: AtomicU64 = AtomicU64::new(0);
const TILLS: u64 = 10;

fn till(rates: Arc<rates::Rates>, number: u64, port: u16) {
    let mut bank = rates::Bank::connect(port).expect("the bank");
    let mut n = number * 7919;
    let mut sum = 0.0;
    loop {
        n = n.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let pair = ((n >> 33) % 40) as u32;
        let amount = ((n >> 20) % 10_000) as f64 / 100.0;
        match rates.rate(pair, &mut bank) {
            Ok(r) => sum += r * amount,
            Err(e) => eprintln!("till {number}: {e}"),
        }
        if sum < 0.0 {
            println!("till {number} is short");
        }
        CONVERTED.fetch_add(1, Ordering::Relaxed);
    }
}

fn main() {
    let a: Vec<String> = std::env::args().collect();
    let port: u16 = a[1].parse().expect("port");
    let rates = Arc::new(rates::Rates::new(a[2] == "early"));
    for number in 0..TILLS {
        let rates = rates.clone();
        thread::Builder::new()
            .name(format!("till-{number}"))
            .spawn(move || till(rates, number, port))
            .expect("thread");
    }
    println!("ready");
    loop {
        thread::sleep(Duration::from_millis(500));
        println!("total {}", CONVERTED.load(Ordering::Relaxed));
    }
}
