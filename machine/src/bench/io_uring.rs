//! Buffered random reads by io_uring compared with a thread pool: rate, latency and number of threads.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rustix::fs::{Advice, fadvise};
use yunti_base::{Code, Error, Result};

use super::comparison::Better::{Less, More};
use super::comparison::{Metric, compare, percentile};
use super::ring::{BLOCK, Ring};
use super::{Bench, MIB, Measurement, OF_2012, Published, PublishedRatio, Subject, failed, files};
use crate::scratch::image::chill;

/// Description of this comparison.
pub const SUBJECT: Subject = Subject {
    name: "io-uring",
    what: "buffered io_uring against a thread pool, random reads of 4 KiB",
    needs_root: false,
    tools: &[],
    published: &[
        Published {
            figure: "buffered AIO with one thread: 1,036 reads a second, 15,425 us; 8 threads with plain reads: 829, 9,635 us; 16 threads: 1,049, 15,230 us",
            source: OF_2012,
            ratio: Some(PublishedRatio { metric: "reads, cold", new: "io_uring, depth 8", value: 1036.0 / 829.0 }),
        },
        Published {
            figure: "the further copy by the page cache in buffered AIO: about 1 us a request",
            source: OF_2012,
            ratio: None,
        },
        Published {
            figure: "the AIO of an unchanged 2.6.32 is none for buffered reads: io_submit waits for them",
            source: "io_submit(2); io_uring came with Linux 5.1, buffered reads without a worker with 5.9",
            ratio: None,
        },
    ],
    measure,
};

fn metrics(cold: bool) -> [Metric; 4] {
    let name = |cold_name, warm_name| if cold { cold_name } else { warm_name };
    [
        Metric::timed(name("reads, cold", "reads, half in the cache"), "/s", More),
        Metric::timed(name("median, cold", "median, half in the cache"), "us", Less),
        Metric::timed(name("p99, cold", "p99, half in the cache"), "us", Less),
        Metric::timed(name("threads, cold", "threads, half in the cache"), "", Less),
    ]
}

fn measure(bench: &Bench) -> Result<Measurement> {
    if let Err(e) = Ring::new(1) {
        let known = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
        let error = Error::io(Code::Input, "io_uring cannot be used", &e);
        return Err(if known.trim().is_empty() {
            error
        } else {
            error.hint(format!("kernel.io_uring_disabled is {}", known.trim()))
        });
    }
    let (bytes, count) = bench.pick((512 * MIB, 20_000), (16 * MIB, 500));
    let path = bench.scratch.file("file");
    files::write_large(bench, &path, bytes)?;
    let file = File::open(&path).map_err(failed)?;
    // Neither side reads ahead.
    fadvise(&file, 0, None, Advice::Random).map_err(|e| failed(e.into()))?;
    let mut measured = Measurement::default();
    let mut seed = 0;
    for depth in bench.pick(vec![1, 8, 32, 64], vec![8]) {
        for cold in bench.pick(vec![true, false], vec![true]) {
            let names = (format!("{depth} threads"), format!("io_uring, depth {depth}"));
            measured.comparisons.extend(compare(bench, (&names.0, &names.1), &metrics(cold), |side| {
                chill(&path)?;
                if !cold {
                    let half = std::num::NonZeroU64::new(bytes / 2);
                    fadvise(&file, 0, half, Advice::WillNeed).map_err(|e| failed(e.into()))?;
                    let mut block = vec![0; MIB as usize];
                    for at in (0..bytes / 2).step_by(MIB as usize) {
                        file.read_exact_at(&mut block, at).map_err(failed)?;
                    }
                }
                seed += 1;
                let mut random = fastrand::Rng::with_seed(seed);
                let places: Vec<u64> = (0..count).map(|_| random.u64(0..bytes / BLOCK as u64) * BLOCK as u64).collect();
                let begun = Instant::now();
                let (mut took, threads) =
                    if side.is_new() { by_ring(&file, &places, depth) } else { by_threads(&file, &places, depth) }
                        .map_err(failed)?;
                let seconds = begun.elapsed().as_secs_f64();
                took.sort_unstable();
                let at = |share| percentile(&took, share) as f64 / 1e3;
                Ok(vec![count as f64 / seconds, at(0.5), at(0.99), threads as f64])
            })?);
        }
    }
    measured.notes.push(format!(
        "a file of {} MiB on the file system of --dir; threads counts the reading threads, \
        kernel workers (iou-wrk) included",
        bytes / MIB
    ));
    Ok(measured)
}

fn by_ring(file: &File, places: &[u64], depth: usize) -> std::io::Result<(Vec<u64>, usize)> {
    let (mut threads, mut calls) = (0, 0);
    let took = Ring::new(depth)?.read(file, places, || {
        calls += 1;
        if calls % 64 == 1 {
            threads = threads.max(kernel_workers());
        }
    })?;
    Ok((took, 1 + threads))
}

fn by_threads(file: &File, places: &[u64], depth: usize) -> std::io::Result<(Vec<u64>, usize)> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut took = Vec::with_capacity(places.len() / depth + 1);
        let mut block = [0; BLOCK];
        while let Some(at) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
            let begun = Instant::now();
            file.read_exact_at(&mut block, *at)?;
            took.push(begun.elapsed().as_nanos() as u64);
        }
        Ok(took)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..depth).map(|_| scope.spawn(worker)).collect();
        let mut all = Vec::with_capacity(places.len());
        for thread in threads {
            let took: std::io::Result<Vec<u64>> =
                thread.join().unwrap_or_else(|_| Err(std::io::Error::other("a thread has panicked")));
            all.extend(took?);
        }
        Ok((all, depth))
    })
}

/// Kernel threads that serve the rings of this process.
fn kernel_workers() -> usize {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let names = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
    names.filter(|name| name.starts_with("iou-wrk")).count()
}
