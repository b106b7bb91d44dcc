//! score-board: replays the games of a chess federation and rates its players.
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

type Shard = Mutex<HashMap<u32, f64>>;

fn play(a: f64, b: f64, x: u64) -> f64 {
    let mut position = x;
    let mut value = (a - b) / 400.0;
    for ply in 0..300 {
        position = position.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let swing = ((position >> 33) % 2000) as f64 / 1000.0 - 1.0;
        value += (swing / (ply + 2) as f64).sin();
    }
    1.0 / (1.0 + (-value).exp())
}

fn rating(shards: &[Shard], player: u32) -> f64 {
    *shards[player as usize % shards.len()].lock().unwrap().entry(player).or_insert(1500.0)
}

fn main() {
    let shards: Arc<Vec<Shard>> = Arc::new((0..256).map(|_| Mutex::new(HashMap::new())).collect());
    let games = Arc::new(AtomicU64::new(0));
    for t in 0..thread::available_parallelism().unwrap().get() as u64 {
        let (shards, games) = (shards.clone(), games.clone());
        thread::spawn(move || {
            let mut x = 0x9E3779B97F4A7C15u64 + t;
            loop {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                let (a, b) = ((x % 5000) as u32, (x >> 20) as u32 % 5000);
                let (ra, rb) = (rating(&shards, a), rating(&shards, b));
                let gain = 16.0 * (play(ra, rb, x) - 0.5);
                shards[a as usize % 256].lock().unwrap().insert(a, ra + gain);
                shards[b as usize % 256].lock().unwrap().insert(b, rb - gain);
                games.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    loop {
        thread::sleep(Duration::from_millis(500));
        println!("done {}", games.load(Ordering::Relaxed));
    }
}
