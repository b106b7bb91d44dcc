//! Plans the rounds of delivery vans: orders the stops of each round by repeated exchange (2-opt).
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{sync_channel, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

type Stop = (f32, f32);

struct Round {
    van: u32,
    stops: Vec<Stop>,
}

fn round(n: u32) -> Round {
    let mut seed = n.wrapping_mul(2_654_435_761).wrapping_add(17);
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        (seed % 10_000) as f32 / 100.0
    };
    Round { van: n % 40, stops: (0..120).map(|_| (next(), next())).collect() }
}

fn distance(a: Stop, b: Stop) -> f32 {
    ((a.0 - b.0).powi(2) + (a.1 - b.1).powi(2)).sqrt()
}

fn improve(stops: &mut [Stop]) -> bool {
    let n = stops.len();
    let mut better = false;
    for i in 0..n - 2 {
        for j in i + 2..n - 1 {
            let now = distance(stops[i], stops[i + 1]) + distance(stops[j], stops[j + 1]);
            let then = distance(stops[i], stops[j]) + distance(stops[i + 1], stops[j + 1]);
            if then + 1e-3 < now {
                stops[i + 1..=j].reverse();
                better = true;
            }
        }
    }
    better
}

fn length(stops: &[Stop]) -> f32 {
    stops.windows(2).map(|w| distance(w[0], w[1])).sum()
}

fn planner(rounds: &Mutex<Receiver<Round>>, totals: &Mutex<Vec<f32>>, done: &AtomicU64) {
    loop {
        let Ok(mut r) = rounds.lock().unwrap().recv() else { return };
        while improve(&mut r.stops) {}
        totals.lock().unwrap()[r.van as usize] += length(&r.stops);
        done.fetch_add(1, Ordering::Relaxed);
    }
}

fn main() {
    let (give, take) = sync_channel(32);
    let take = Arc::new(Mutex::new(take));
    let totals = Arc::new(Mutex::new(vec![0f32; 40]));
    let done = Arc::new(AtomicU64::new(0));
    for n in 0..3 {
        let (take, totals, done) = (take.clone(), totals.clone(), done.clone());
        let run = move || planner(&take, &totals, &done);
        thread::Builder::new().name(format!("planner-{n}")).spawn(run).unwrap();
    }
    let shown = done.clone();
    thread::spawn(move || loop {
        thread::sleep(Duration::from_millis(200));
        println!("planned {}", shown.load(Ordering::Relaxed));
    });
    for n in 0.. {
        give.send(round(n)).unwrap();
    }
}
