//! Scrubber of an object store: recomputes checksums of blobs.
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

fn crc(data: &[u8]) -> u32 {
    let mut c = !0u32;
    for &b in data {
        c ^= b as u32;
        for _ in 0..8 {
            c = if c & 1 != 0 { (c >> 1) ^ 0xedb88320 } else { c >> 1 };
        }
    }
    !c
}

fn blob(id: u64) -> Vec<u8> {
    (0..16384u64).map(|i| (i.wrapping_mul(id | 1) >> 3) as u8).collect()
}

fn main() {
    let (tx, rx) = sync_channel::<Vec<u8>>(16);
    let rx = Arc::new(Mutex::new(rx));
    let done = Arc::new(AtomicU64::new(0));
    thread::spawn(move || {
        for id in 0.. {
            tx.send(blob(id)).unwrap();
        }
    });
    for w in 0..2 {
        let (rx, done) = (rx.clone(), done.clone());
        thread::Builder::new()
            .name(format!("scrub-{}", w))
            .spawn(move || {
                let mut bad = 0u64;
                loop {
                    let b = rx.lock().unwrap().recv().unwrap();
                    if crc(&b) == 0 {
                        bad += 1;
                    }
                    done.fetch_add(1 + bad, Ordering::Relaxed);
                }
            })
            .unwrap();
    }
    loop {
        thread::sleep(Duration::from_secs(1));
        println!("done {}", done.load(Ordering::Relaxed));
    }
}
