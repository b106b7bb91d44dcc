//! checksum-farm: verifies the blocks of an archive by their checksums, on four threads.
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{sync_channel, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const BLOCK: usize = 64 * 1024;

struct Block {
    number: u64,
    data: Vec<u8>,
    sum: u64,
}

fn checksum(data: &[u8]) -> u64 {
    let mut h = 0xcbf29ce484222325u64;
    for c in data.chunks(8) {
        let mut w = [0u8; 8];
        w[..c.len()].copy_from_slice(c);
        h = (h ^ u64::from_le_bytes(w)).wrapping_mul(0x100000001b3).rotate_left(23);
    }
    h
}

fn read_block(number: u64) -> Block {
    let mut x = number * 2 + 1;
    let mut data = vec![0u8; BLOCK];
    for b in data.chunks_mut(8) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        b.copy_from_slice(&x.to_le_bytes());
    }
    let sum = checksum(&data);
    Block { number, data, sum }
}

fn verify(blocks: Arc<Mutex<Receiver<Block>>>, done: Arc<AtomicU64>) {
    loop {
        let b = match blocks.lock().unwrap().recv() {
            Ok(b) => b,
            Err(_) => return,
        };
        for _ in 0..8 {
            if checksum(&b.data) != b.sum {
                eprintln!("block {} is damaged", b.number);
            }
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
}

fn main() {
    let (tx, rx) = sync_channel(16);
    let rx = Arc::new(Mutex::new(rx));
    let done = Arc::new(AtomicU64::new(0));
    for i in 0..4 {
        let (rx, done) = (rx.clone(), done.clone());
        thread::Builder::new().name(format!("verify-{i}")).spawn(move || verify(rx, done)).unwrap();
    }
    thread::Builder::new()
        .name("reader".into())
        .spawn(move || (0..).for_each(|n| tx.send(read_block(n)).unwrap()))
        .unwrap();
    loop {
        thread::sleep(Duration::from_millis(500));
        println!("done {}", done.load(Ordering::Relaxed));
    }
}
